# distutils: language = c++
"""SBCA: groups of the rows nearest to the first remaining row. Twin: tests/naive/sbca.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport pop_heap, push_heap, sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

ctypedef pair[int64_t, int64_t] Near        # (distance, place in the sort order)
ctypedef pair[int64_t, Near] Ranked         # (difference of counts, (-rows of the value, value))


cdef class Remaining:
    """The tuples of a table in sort order, with their ungrouped rows."""

    cdef int64_t n_rows, k, most
    cdef Py_ssize_t m, q, n_categories, first
    cdef vector[vector[int32_t]] codes          # attribute by attribute: categories by ascending cardinality, then numbers
    cdef vector[vector[int64_t]] places         # position of each code of a number, -1 if missing
    cdef vector[vector[int64_t]] marginal       # remaining rows of each value of a category
    cdef vector[vector[int64_t]] table          # distance of each code from that of the first tuple
    cdef vector[vector[int32_t]] similar        # values of a category, most similar first
    cdef vector[int64_t] ranges                 # range of each number
    cdef vector[int64_t] left                   # remaining rows of each tuple
    cdef vector[int32_t] order                  # tuple at each place; exhausted tuples are removed from time to time
    cdef vector[int64_t] distance
    cdef Py_ssize_t dead

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple, in sort order; categories first, then numbers
        const int64_t[::1] counts,          # IN  rows of each tuple
        const int64_t[::1] cards,           # IN  number of values of each attribute
        Py_ssize_t n_categories,            # IN  number of attributes that are categories
        const int64_t[::1] places,          # IN  integer position of each code, number after number
        const int64_t[::1] ranges,          # IN  range of each number in the same unit
        int64_t k,                          # IN  rows of a group
        int64_t most,                       # IN  largest common denominator for exact distances
    ):
        cdef Py_ssize_t a, i, begin = 0
        self.m, self.q, self.n_categories = codes.shape[0], codes.shape[1], n_categories
        self.k, self.most, self.dead = k, most, 0
        self.n_rows = 0
        self.codes.resize(self.q)
        self.marginal.resize(n_categories)
        self.similar.resize(n_categories)
        self.places.resize(self.q)
        self.table.resize(self.q)
        for i in range(self.m):
            self.left.push_back(counts[i])
            self.order.push_back(<int32_t>i)
            self.n_rows += counts[i]
        self.distance.resize(self.m)
        for a in range(self.q):
            self.table[a].assign(cards[a], 0)
            self.codes[a].resize(self.m)
            for i in range(self.m):
                self.codes[a][i] = codes[i, a]
            if a < n_categories:
                self.marginal[a].assign(cards[a], 0)
                for i in range(self.m):
                    self.marginal[a][codes[i, a]] += counts[i]
                continue
            for i in range(begin, begin + cards[a]):
                self.places[a].push_back(places[i])
            begin += cards[a]
            self.ranges.push_back(ranges[a - n_categories])

    def gather(
        self,
        int64_t n_groups,           # IN  maximum number of groups to form
        int32_t group,              # IN  number of the first group
        int32_t[::1] tuples,        # OUT tuple of each piece, by its place in the sort order
        int64_t[::1] rows,          # OUT rows of each piece
        int32_t[::1] groups,        # OUT group of each piece
        Py_ssize_t n_pieces,        # IN  number of pieces in use
    ) -> tuple[int, int]:
        """Form groups while k rows remain; return the number of pieces and of remaining rows.

        Cost: O(q m) for a group with m remaining tuples.
        """
        cdef vector[Near] nearest
        cdef Py_ssize_t i
        cdef int64_t taken, wanted
        cdef int32_t at
        with nogil:
            while n_groups > 0 and self.n_rows >= self.k:
                self.measure()
                self.choose(nearest)
                cpp_sort(nearest.begin(), nearest.end())
                wanted = self.k
                for i in range(<Py_ssize_t>nearest.size()):
                    at = self.order[nearest[i].second]
                    taken = min(wanted, self.left[at])
                    wanted -= taken
                    tuples[n_pieces] = at
                    rows[n_pieces] = taken
                    groups[n_pieces] = group
                    n_pieces += 1
                    self.remove(at, taken)
                group += 1
                n_groups -= 1
                if self.dead * 4 > <Py_ssize_t>self.order.size():
                    self.compact()
        return n_pieces, self.n_rows

    def rest(self, int64_t[::1] rows) -> None:
        """Write the remaining rows of each tuple into rows (OUT)."""
        cdef Py_ssize_t i
        for i in range(self.m):
            rows[i] = self.left[i]

    cdef void remove(self, int32_t at, int64_t n) noexcept nogil:
        cdef Py_ssize_t a
        self.left[at] -= n
        self.n_rows -= n
        self.dead += self.left[at] == 0
        for a in range(self.n_categories):
            self.marginal[a][self.codes[a][at]] -= n

    cdef void compact(self) noexcept nogil:
        """Remove the places of exhausted tuples."""
        cdef Py_ssize_t i, n = 0
        for i in range(<Py_ssize_t>self.order.size()):
            if self.left[self.order[i]] > 0:
                self.order[n] = self.order[i]
                n += 1
        self.order.resize(n)
        self.dead = 0

    cdef void measure(self) noexcept nogil:
        """Compute the distance of every remaining tuple from the first."""
        cdef Py_ssize_t a, i, n = <Py_ssize_t>self.order.size()
        cdef const int32_t* code
        cdef const int64_t* table
        cdef int64_t scale
        self.first = 0
        while self.left[self.order[self.first]] == 0:
            self.first += 1
        for a in range(self.n_categories):
            self.rank(a)
        scale = self.find_scale()
        for i in range(n):
            self.distance[i] = 0
        for a in range(self.q):
            self.fill(a, scale)
            code, table = self.codes[a].data(), self.table[a].data()
            for i in range(n):
                self.distance[i] += table[code[self.order[i]]]

    cdef void rank(self, Py_ssize_t a) noexcept nogil:
        """Order the values of a category by similarity to that of the first tuple [S3 section 5.1]."""
        cdef vector[int64_t] counts
        cdef vector[uint8_t] merged
        cdef vector[Ranked] ranked
        cdef Py_ssize_t i
        cdef int32_t own = self.codes[a][self.order[self.first]], value
        cdef int64_t total = 0
        if a == 0:
            counts = self.marginal[0]
        else:
            merged.assign(self.marginal[a - 1].size(), 0)
            for i in range(<Py_ssize_t>self.similar[a - 1].size()):
                value = self.similar[a - 1][i]
                merged[value] = 1
                total += self.marginal[a - 1][value]
                if total >= self.k:
                    break
            counts.assign(self.marginal[a].size(), 0)
            for i in range(<Py_ssize_t>self.order.size()):
                value = self.order[i]
                if merged[self.codes[a - 1][value]]:
                    counts[self.codes[a][value]] += self.left[value]
        for value in range(<int32_t>counts.size()):
            if self.marginal[a][value] > 0 and value != own:
                ranked.push_back(Ranked(apart(counts[value], counts[own]), Near(-counts[value], value)))
        cpp_sort(ranked.begin(), ranked.end())
        self.similar[a].clear()
        self.similar[a].push_back(own)
        for i in range(<Py_ssize_t>ranked.size()):
            self.similar[a].push_back(<int32_t>ranked[i].second.second)

    cdef int64_t find_scale(self) noexcept nogil:
        """Return the least common denominator of the distances, at most `most`."""
        cdef int64_t scale = 1, other, rest, part
        cdef Py_ssize_t a
        for a in range(self.q):
            other = self.denominator(a)
            if other < 2:
                continue
            rest, part = scale, other
            while part > 0:
                rest, part = part, rest % part
            other //= rest
            if scale > self.most // other:
                return self.most
            scale *= other
        return scale

    cdef int64_t denominator(self, Py_ssize_t a) noexcept nogil:
        if a >= self.n_categories:
            return self.ranges[a - self.n_categories]
        return <int64_t>self.similar[a].size() - 1

    cdef void fill(self, Py_ssize_t a, int64_t scale) noexcept nogil:
        """Compute the distance of each code of an attribute from that of the first tuple."""
        cdef int64_t whole = self.denominator(a), own, place
        cdef Py_ssize_t i
        if a < self.n_categories:
            for i in range(<Py_ssize_t>self.similar[a].size()):
                self.table[a][self.similar[a][i]] = share(i, whole, scale)
            return
        own = self.places[a][self.codes[a][self.order[self.first]]]
        for i in range(<Py_ssize_t>self.places[a].size()):
            place = self.places[a][i]
            if own < 0 or place < 0:
                self.table[a][i] = 0 if own == place else scale
            else:
                self.table[a][i] = share(apart(own, place), whole, scale)

    cdef void choose(self, vector[Near]& nearest) noexcept nogil:
        """Find the fewest tuples with the k nearest rows, in a heap with the farthest on top."""
        cdef Py_ssize_t i
        cdef int64_t held = 0, top
        nearest.clear()
        for i in range(self.first, <Py_ssize_t>self.order.size()):
            if self.left[self.order[i]] == 0 or (held >= self.k and self.distance[i] >= nearest.front().first):
                continue
            nearest.push_back(Near(self.distance[i], i))
            push_heap(nearest.begin(), nearest.end())
            held += self.left[self.order[i]]
            top = self.left[self.order[nearest.front().second]]
            while held - top >= self.k:
                pop_heap(nearest.begin(), nearest.end())
                nearest.pop_back()
                held -= top
                top = self.left[self.order[nearest.front().second]]


cdef inline int64_t share(int64_t part, int64_t whole, int64_t scale) noexcept nogil:
    """Return part / whole in units of 1 / scale, rounded down."""
    if whole == 0:
        return 0
    return part * (scale // whole) + part * (scale % whole) // whole


cdef inline int64_t apart(int64_t x, int64_t y) noexcept nogil:
    return x - y if x > y else y - x
