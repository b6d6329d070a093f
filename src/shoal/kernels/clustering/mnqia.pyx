# distutils: language = c++
"""MNQIA: sub-groups of each dimension, crossed into buckets that fill the groups. Twin: tests/naive/mnqia.py."""

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector


cdef extern from *:
    """
    typedef __int128 Wide;
    """
    ctypedef long long Wide


cdef enum:
    PARTS = 1024        # fractions of a squared step; the spread of a sub-group is rounded down to them
    FULL_SEARCH = 1024  # up to this many values every cut is tried


cdef struct Sums:
    Wide rows
    Wide first          # of rows times place
    Wide second         # of rows times squared place


cdef Wide spread(const vector[Sums]& sums, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Sum of squared distances from the mean of the values i to j - 1, in 1 / PARTS of a squared step."""
    cdef Wide rows = sums[j].rows - sums[i].rows
    cdef Wide first = sums[j].first - sums[i].first
    cdef Wide second = sums[j].second - sums[i].second
    return (second * rows - first * first) * PARTS // rows


cdef void fill_row(
    const vector[Sums]& sums, const vector[Wide]& before, vector[Wide]& least, int32_t* cut,
    Py_ssize_t n_parts, Py_ssize_t low, Py_ssize_t high, Py_ssize_t from_cut, Py_ssize_t to_cut, bint by_halves,
) noexcept nogil:
    """Find the best last cut of the first j values into n_parts, for j from low to high; ties by lowest cut."""
    cdef Py_ssize_t j, i, middle
    cdef Wide price
    if low > high:
        return
    middle = (low + high) // 2
    for j in range(middle if by_halves else low, (middle if by_halves else high) + 1):
        cut[j] = -1
        for i in range(max(from_cut, n_parts - 1), min(to_cut, j - 1) + 1):
            price = before[i] + spread(sums, i, j)
            if cut[j] < 0 or price < least[j]:
                cut[j] = <int32_t>i
                least[j] = price
    if by_halves:
        fill_row(sums, before, least, cut, n_parts, low, middle - 1, from_cut, cut[middle], True)
        fill_row(sums, before, least, cut, n_parts, middle + 1, high, cut[middle], to_cut, True)


def cut_numbers(
    const int64_t[::1] places,      # IN  distinct values in ascending order, in integer steps
    const int64_t[::1] rows,        # IN  rows of each value
    Py_ssize_t n_parts,             # IN  number of sub-groups, at most the number of values
    int32_t[::1] parts,             # OUT sub-group of each value
) -> None:
    """Cut numbers into the sub-groups of minimum spread: optimal k-means in one dimension.

    Cost: O(n_parts m^2) for m values; above FULL_SEARCH values O(n_parts m log m), because cuts are monotone except
    for rounding.
    """
    cdef Py_ssize_t m = places.shape[0], p, j
    cdef vector[Sums] sums
    cdef vector[Wide] before, least
    cdef vector[vector[int32_t]] cuts
    cdef bint by_halves = m > FULL_SEARCH
    cdef Wide place
    with nogil:
        sums.resize(m + 1)
        sums[0].rows = sums[0].first = sums[0].second = 0
        for j in range(m):
            place = places[j]
            sums[j + 1].rows = sums[j].rows + rows[j]
            sums[j + 1].first = sums[j].first + rows[j] * place
            sums[j + 1].second = sums[j].second + rows[j] * place * place
        least.resize(m + 1)
        before.resize(m + 1)
        cuts.resize(n_parts + 1)
        for j in range(1, m + 1):
            before[j] = spread(sums, 0, j)
        cuts[1].assign(m + 1, 0)
        for p in range(2, n_parts + 1):
            cuts[p].assign(m + 1, 0)
            fill_row(sums, before, least, cuts[p].data(), p, p, m, p - 1, m - 1, by_halves)
            before.swap(least)
        p = n_parts
        j = m
        while p > 0:
            for place in range(cuts[p][j], j):
                parts[<Py_ssize_t>place] = <int32_t>(p - 1)
            j = cuts[p][j]
            p -= 1


cdef class Buckets:
    """Buckets of rows, sorted by their sub-groups; a list for each sub-group of the last dimension."""

    cdef Py_ssize_t d
    cdef int64_t n_left
    cdef vector[int32_t] parts                  # sub-group of each bucket in each dimension
    cdef vector[int64_t] row_starts             # first remaining row of each bucket
    cdef vector[int64_t] left                   # remaining rows of each bucket
    cdef vector[vector[int64_t]] sizes          # remaining rows of each sub-group of each dimension
    cdef vector[vector[int64_t]] at_start       # `sizes` when the group was started
    cdef vector[int64_t] own_at_start           # `left` when the group was started
    cdef vector[vector[int32_t]] used           # by dimension and sub-group: the last shield number under which it was used
    cdef vector[vector[int32_t]] columns        # non-empty buckets of each sub-group of the last dimension
    cdef int32_t shield

    def __init__(
        self,
        const int32_t[:, ::1] parts,        # IN  sub-group of each bucket in each dimension, sorted
        const int64_t[::1] row_starts,      # IN  first row of each bucket, and the end
    ):
        cdef Py_ssize_t b, a
        cdef int64_t rows
        self.d, self.n_left, self.shield = parts.shape[1], 0, 0
        self.sizes.resize(self.d)
        self.used.resize(self.d)
        for b in range(parts.shape[0]):
            rows = row_starts[b + 1] - row_starts[b]
            self.row_starts.push_back(row_starts[b])
            self.left.push_back(rows)
            self.n_left += rows
            for a in range(self.d):
                self.parts.push_back(parts[b, a])
                while <Py_ssize_t>self.sizes[a].size() <= parts[b, a]:
                    self.sizes[a].push_back(0)
                    self.used[a].push_back(-1)
                self.sizes[a][parts[b, a]] += rows
        self.columns.resize(self.sizes[self.d - 1].size())
        for b in range(parts.shape[0]):
            self.columns[parts[b, self.d - 1]].push_back(<int32_t>b)

    def deal(
        self,
        int64_t k,                  # IN  rows of a group
        int32_t group,              # IN  number of the first group
        int64_t n_groups,           # IN  maximum number of groups to form
        int32_t[::1] labels,        # OUT group of each row, in the order of the buckets
    ) -> int:
        """Form groups while k rows remain; return the number of remaining rows.

        Cost: O(d) for each bucket and pass through the last dimension; a group takes a few passes.
        """
        with nogil:
            while n_groups > 0 and self.n_left >= k:
                self.make_group(k, group, labels)
                group += 1
                n_groups -= 1
        return self.n_left

    cdef void make_group(self, int64_t k, int32_t group, int32_t[::1] labels) noexcept nogil:
        """Pass through the last dimension, taking a row from the best bucket of each sub-group, until there are k."""
        cdef Py_ssize_t c, a
        cdef int32_t bucket
        cdef int64_t taken = 0, in_pass
        self.at_start = self.sizes
        self.own_at_start = self.left
        self.shield += 1
        while taken < k:
            in_pass = 0
            for c in range(<Py_ssize_t>self.columns.size()):
                bucket = self.best(c)
                if bucket < 0:
                    continue
                for a in range(self.d):
                    self.sizes[a][self.parts[bucket * self.d + a]] -= 1
                    self.used[a][self.parts[bucket * self.d + a]] = self.shield
                labels[self.row_starts[bucket]] = group
                self.row_starts[bucket] += 1
                self.left[bucket] -= 1
                self.n_left -= 1
                in_pass += 1
                taken += 1
                if taken == k:
                    break
            if in_pass == 0:
                self.shield += 1
        for c in range(<Py_ssize_t>self.columns.size()):
            self.drop_empty(self.columns[c])

    cdef int32_t best(self, Py_ssize_t c) noexcept nogil:
        """Return the admissible bucket of highest priority, ties by lowest number; -1 if there is none."""
        cdef Py_ssize_t i, a
        cdef int32_t bucket, found = -1
        cdef const int32_t* part
        cdef int64_t priority, most = -1
        cdef bint shielded
        for i in range(<Py_ssize_t>self.columns[c].size()):
            bucket = self.columns[c][i]
            if self.left[bucket] == 0:
                continue
            part = self.parts.data() + <Py_ssize_t>bucket * self.d
            shielded = False
            priority = self.own_at_start[bucket] + self.at_start[self.d - 1][c]
            for a in range(self.d - 1):
                if self.used[a][part[a]] == self.shield:
                    shielded = True
                    break
                priority += self.at_start[a][part[a]]
            if not shielded and priority > most:
                found, most = bucket, priority
        return found

    cdef void drop_empty(self, vector[int32_t]& column) noexcept nogil:
        cdef Py_ssize_t i, n = 0
        for i in range(<Py_ssize_t>column.size()):
            if self.left[column[i]] > 0:
                column[n] = column[i]
                n += 1
        column.resize(n)
