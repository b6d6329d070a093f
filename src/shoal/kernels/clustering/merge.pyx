# distutils: language = c++
"""Merge groups, smallest first, with the group that gives the cheapest union. Twin: tests/naive/bottom_up.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.queue cimport priority_queue
from libcpp.vector cimport vector

from shoal.kernels.clustering.union_price cimport NO_LIMIT, Forms, lay_forms, unite, union_price, write_tuple

ctypedef pair[int32_t, int64_t] Piece           # a tuple, and the number of its rows
ctypedef pair[int64_t, int32_t] Near            # a price, and a tuple
ctypedef pair[int32_t, int32_t] Named           # the lowest tuple of a group, and its number
ctypedef pair[int64_t, Named] Small             # its rows; all negated, so that the smallest is on top


cdef class Merging:
    """Groups of rows; group numbers are never reused."""

    cdef Forms forms
    cdef const int32_t[:, ::1] codes
    cdef object kept                            # keeps the arrays alive that the forms point into
    cdef Py_ssize_t width
    cdef int64_t k, n_small
    cdef bint splits
    cdef vector[uint64_t] words                 # of the existing groups, one after another
    cdef vector[int32_t] number                 # of the group at each of these places
    cdef vector[int64_t] rows                   # of the existing groups
    cdef vector[int32_t] lowest                 # their lowest tuples
    cdef vector[int32_t] place                  # of each group, -1 if it no longer exists
    cdef vector[vector[Piece]] members          # of each group, sorted
    cdef priority_queue[Small] queue

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple
        const int32_t[::1] tuples,          # IN  tuple of each piece (some rows of a tuple)
        const int64_t[::1] rows,            # IN  rows of each piece
        const int32_t[::1] groups,          # IN  initial group of each piece, numbered without gaps
        object forms,                       # IN  the attributes: the arguments of lay_forms
        int64_t k,                          # IN  minimum rows of a group
        bint splits,                        # IN  whether groups of at least 2 k rows are split
    ):
        cdef Py_ssize_t i, n_groups = 0
        cdef vector[vector[Piece]] begun
        self.codes, self.kept, self.k, self.splits, self.n_small = codes, forms, k, splits, 0
        lay(forms, self.forms)
        self.width = self.forms.width
        for i in range(groups.shape[0]):
            n_groups = max(n_groups, groups[i] + 1)
        begun.resize(n_groups)
        for i in range(groups.shape[0]):
            begun[groups[i]].push_back(Piece(tuples[i], rows[i]))
        for i in range(n_groups):
            cpp_sort(begun[i].begin(), begun[i].end())
            self.open(begun[i])

    def merge(self, int64_t n_steps) -> int:
        """Merge n_steps small groups; return the number of small groups left. Cost of a step: O(q) for each group."""
        with nogil:
            while n_steps > 0 and self.n_small > 0:
                self.step()
                n_steps -= 1
        return self.n_small

    def merge_each(
        self,
        const int32_t[::1] numbers,     # IN  groups to merge, in this order
        int32_t[::1] parents,           # OUT the new group of each merged group; others unchanged
    ) -> int:
        """Merge each of these groups that still exists with the nearest, without splits; return the number of groups."""
        cdef Py_ssize_t i
        cdef int32_t one, other
        cdef vector[Piece] all_members
        with nogil:
            for i in range(numbers.shape[0]):
                one = numbers[i]
                if self.place[one] < 0 or self.number.size() < 2:
                    continue
                other = self.tightest(self.place[one])
                all_members.clear()
                join(self.members[one], self.members[other], all_members)
                self.close(one)
                self.close(other)
                parents[one] = parents[other] = <int32_t>self.place.size()
                self.open(all_members)
        return <int64_t>self.number.size()

    def pieces(self, int32_t[::1] tuples, int64_t[::1] rows, int32_t[::1] groups) -> int:
        """Write the pieces of all groups, renumbered, as far as there is room; return the number of pieces.

        tuples, rows and groups are OUT: the tuple, the rows and the group of each piece.
        """
        cdef Py_ssize_t i, j, n = 0
        cdef vector[int32_t] numbers = self.number
        cpp_sort(numbers.begin(), numbers.end())
        for i in range(<Py_ssize_t>numbers.size()):
            for j in range(<Py_ssize_t>self.members[numbers[i]].size()):
                if n < tuples.shape[0]:
                    tuples[n] = self.members[numbers[i]][j].first
                    rows[n] = self.members[numbers[i]][j].second
                    groups[n] = <int32_t>i
                n += 1
        return n

    cdef void step(self) noexcept nogil:
        """Merge the group with the fewest rows, ties by lowest tuple; split the result if it has 2 k rows."""
        cdef int32_t one = -1, other
        cdef vector[Piece] all_members
        while one < 0 or self.place[one] < 0:
            one = -self.queue.top().second.second
            self.queue.pop()
        other = self.tightest(self.place[one])
        join(self.members[one], self.members[other], all_members)
        self.close(one)
        self.close(other)
        if self.splits:
            while self.divisible(all_members):
                self.peel(all_members)
        self.open(all_members)

    cdef int32_t tightest(self, Py_ssize_t own) noexcept nogil:
        """Return the group with the cheapest union; ties by fewest rows, then by lowest tuple."""
        cdef Py_ssize_t i, best = -1
        cdef int64_t price, least = NO_LIMIT
        cdef const uint64_t* x = self.words.data() + own * self.width
        cdef const uint64_t* y = self.words.data()
        for i in range(<Py_ssize_t>self.number.size()):
            if i != own:
                price = union_price(self.forms, x, y, least)
                if price < least or (price == least and (best < 0 or self.before(i, best))):
                    best, least = i, price
            y += self.width
        return self.number[best]

    cdef bint before(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        if self.rows[i] != self.rows[j]:
            return self.rows[i] < self.rows[j]
        if self.lowest[i] != self.lowest[j]:
            return self.lowest[i] < self.lowest[j]
        return self.number[i] < self.number[j]

    cdef bint divisible(self, const vector[Piece]& members) noexcept nogil:
        cdef Py_ssize_t i
        cdef int64_t rows = 0
        for i in range(<Py_ssize_t>members.size()):
            rows += members[i].second
        return members.size() > 1 and rows >= 2 * self.k

    cdef void peel(self, vector[Piece]& members) noexcept nogil:
        """Split off k rows: the tuple farthest from the lowest tuple and the rows nearest to it."""
        cdef Py_ssize_t i
        cdef vector[uint64_t] end, one
        cdef vector[Near] near
        cdef vector[Piece] taken, rest
        cdef int64_t wanted = self.k, part
        cdef int32_t far = self.farthest(members, members[0].first)
        end.resize(self.width)
        one.resize(self.width)
        write_tuple(self.forms, &self.codes[far, 0], end.data())
        for i in range(<Py_ssize_t>members.size()):
            write_tuple(self.forms, &self.codes[members[i].first, 0], one.data())
            near.push_back(Near(union_price(self.forms, end.data(), one.data(), NO_LIMIT), <int32_t>i))
            if members[i].first == far:
                near.back().first = -1
        cpp_sort(near.begin(), near.end())
        for i in range(<Py_ssize_t>near.size()):
            part = min(wanted, members[near[i].second].second)
            wanted -= part
            if part > 0:
                taken.push_back(Piece(members[near[i].second].first, part))
            if part < members[near[i].second].second:
                rest.push_back(Piece(members[near[i].second].first, members[near[i].second].second - part))
        cpp_sort(taken.begin(), taken.end())
        cpp_sort(rest.begin(), rest.end())
        self.open(taken)
        members.swap(rest)

    cdef int32_t farthest(self, const vector[Piece]& members, int32_t tuple_) noexcept nogil:
        """Return the member whose union with a tuple is dearest, ties by lowest number."""
        cdef Py_ssize_t i
        cdef int64_t price, most = -1
        cdef int32_t far = tuple_
        cdef vector[uint64_t] end, one
        end.resize(self.width)
        one.resize(self.width)
        write_tuple(self.forms, &self.codes[tuple_, 0], end.data())
        for i in range(<Py_ssize_t>members.size()):
            write_tuple(self.forms, &self.codes[members[i].first, 0], one.data())
            price = union_price(self.forms, end.data(), one.data(), NO_LIMIT)
            if price > most:
                far, most = members[i].first, price
        return far

    cdef void open(self, const vector[Piece]& members) noexcept nogil:
        """Make a group of these members, which are sorted."""
        cdef Py_ssize_t i, begin = <Py_ssize_t>self.words.size()
        cdef int32_t number = <int32_t>self.place.size()
        cdef int64_t rows = 0
        cdef vector[uint64_t] one
        one.resize(self.width)
        self.words.resize(begin + self.width)
        for i in range(<Py_ssize_t>members.size()):
            rows += members[i].second
            write_tuple(self.forms, &self.codes[members[i].first, 0], one.data())
            if i == 0:
                write_tuple(self.forms, &self.codes[members[i].first, 0], self.words.data() + begin)
            else:
                unite(self.forms, self.words.data() + begin, one.data())
        self.place.push_back(<int32_t>self.number.size())
        self.number.push_back(number)
        self.rows.push_back(rows)
        self.lowest.push_back(members[0].first)
        self.members.push_back(members)
        if rows < self.k:
            self.n_small += 1
            self.queue.push(Small(-rows, Named(-members[0].first, -number)))

    cdef void close(self, int32_t number) noexcept nogil:
        """Remove a group; the last group moves to its place."""
        cdef Py_ssize_t w, at = self.place[number], last = <Py_ssize_t>self.number.size() - 1
        self.n_small -= self.rows[at] < self.k
        for w in range(self.width):
            self.words[at * self.width + w] = self.words[last * self.width + w]
        self.number[at] = self.number[last]
        self.rows[at] = self.rows[last]
        self.lowest[at] = self.lowest[last]
        self.place[self.number[at]] = <int32_t>at
        self.place[number] = -1
        self.members[number].clear()
        self.number.pop_back()
        self.rows.pop_back()
        self.lowest.pop_back()
        self.words.resize(last * self.width)


cdef void lay(object forms, Forms& laid):
    """Lay out the attributes; the arrays must outlive the forms."""
    cdef const uint8_t[::1] kinds = forms[0]
    cdef const int64_t[::1] cards = forms[1], units = forms[2], firsts = forms[3], fulls = forms[4], places = forms[5]
    cdef const int64_t[::1] starts = forms[6], node_starts = forms[8], leaf_starts = forms[10]
    cdef const int32_t[::1] nodes = forms[7], leaves = forms[9]
    lay_forms(kinds, cards, units, firsts, fulls, places, starts, nodes, node_starts, leaves, leaf_starts, laid)


cdef void join(const vector[Piece]& one, const vector[Piece]& other, vector[Piece]& out) noexcept nogil:
    """Join the members of two groups; rows of one tuple become one piece."""
    cdef Py_ssize_t i
    cdef vector[Piece] both = one
    both.insert(both.end(), other.begin(), other.end())
    cpp_sort(both.begin(), both.end())
    for i in range(<Py_ssize_t>both.size()):
        if i > 0 and out.back().first == both[i].first:
            out[out.size() - 1].second += both[i].second
        else:
            out.push_back(both[i])
