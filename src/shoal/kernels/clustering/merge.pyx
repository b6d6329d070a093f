# distutils: language = c++
"""Merge groups, smallest first, with the group that gives the cheapest union. Twin: tests/naive/bottom_up.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.clustering.roster cimport (
    Piece, Roster, enter_group, pop_smallest, sorted_numbers, strike_group, write_pieces,
)
from shoal.kernels.clustering.union_price cimport NO_LIMIT, Forms, lay_forms, union_price, write_tuple

ctypedef pair[int64_t, int32_t] Near            # a price, and a tuple


cdef class Merging:
    """Groups of rows; group numbers are never reused."""

    cdef Forms forms
    cdef const int32_t[:, ::1] codes
    cdef object kept                            # keeps the arrays alive that the forms point into
    cdef Py_ssize_t width
    cdef int64_t k
    cdef bint splits
    cdef Roster roster

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple
        const int32_t[::1] tuples,          # IN  tuple of each piece (some rows of a tuple)
        const int64_t[::1] rows,            # IN  rows of each piece
        const int32_t[::1] groups,          # IN  initial group of each piece, numbered without gaps
        object forms,                       # IN  the attributes: the arrays that lay_forms reads
        int64_t k,                          # IN  minimum rows of a group
        bint splits,                        # IN  whether groups of at least 2 k rows are split
    ):
        cdef Py_ssize_t i, n_groups = 0
        cdef vector[vector[Piece]] begun
        self.codes, self.kept, self.k, self.splits = codes, forms, k, splits
        lay_forms(forms, self.forms)
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
            while n_steps > 0 and self.roster.n_small > 0:
                self.step()
                n_steps -= 1
        return self.roster.n_small

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
                if self.roster.place[one] < 0 or self.roster.number.size() < 2:
                    continue
                other = self.tightest(self.roster.place[one])
                all_members.clear()
                join(self.roster.members[one], self.roster.members[other], all_members)
                self.close(one)
                self.close(other)
                parents[one] = parents[other] = <int32_t>self.roster.place.size()
                self.open(all_members)
        return <int64_t>self.roster.number.size()

    def pieces(self, int32_t[::1] tuples, int64_t[::1] rows, int32_t[::1] groups) -> int:
        """Write the pieces of all groups, renumbered, as far as there is room; return the number of pieces.

        tuples, rows and groups are OUT: the tuple, the rows and the group of each piece.
        """
        return write_pieces(self.roster, sorted_numbers(self.roster), tuples, rows, groups)

    cdef void step(self) noexcept nogil:
        """Merge the group with the fewest rows, ties by lowest tuple; split the result if it has 2 k rows."""
        cdef int32_t one = pop_smallest(self.roster), other
        cdef vector[Piece] all_members
        other = self.tightest(self.roster.place[one])
        join(self.roster.members[one], self.roster.members[other], all_members)
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
        cdef const uint64_t* x = self.roster.words.data() + own * self.width
        cdef const uint64_t* y = self.roster.words.data()
        for i in range(<Py_ssize_t>self.roster.number.size()):
            if i != own:
                price = union_price(self.forms, x, y, least)
                if price < least or (price == least and (best < 0 or self.before(i, best))):
                    best, least = i, price
            y += self.width
        return self.roster.number[best]

    cdef bint before(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        if self.roster.rows[i] != self.roster.rows[j]:
            return self.roster.rows[i] < self.roster.rows[j]
        if self.roster.lowest[i] != self.roster.lowest[j]:
            return self.roster.lowest[i] < self.roster.lowest[j]
        return self.roster.number[i] < self.roster.number[j]

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
        enter_group(self.forms, self.codes, self.k, members, self.roster)

    cdef void close(self, int32_t number) noexcept nogil:
        strike_group(self.forms, self.k, number, self.roster)


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
