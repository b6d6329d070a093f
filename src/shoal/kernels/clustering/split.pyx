# distutils: language = c++
"""Split groups in two around distant tuples, recursively. Twin: tests/naive/top_down.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.clustering.union_price cimport NO_LIMIT, Forms, lay_forms, unite, union_price, write_tuple

ctypedef pair[int64_t, int64_t] Segment
ctypedef pair[uint64_t, int32_t] Drawn

cdef enum:
    MOST_SEED_SEARCHES = 3       # searches for the two seeds


cdef class Splitting:
    """The tuples of a table, in segments that are split further."""

    cdef Forms forms
    cdef object kept                            # keeps the arrays alive that the forms point into
    cdef Py_ssize_t width
    cdef int64_t k
    cdef vector[uint64_t] words                 # of each tuple
    cdef vector[int64_t] counts
    cdef vector[uint64_t] draws
    cdef vector[int32_t] order
    cdef vector[uint8_t] begins
    cdef vector[Segment] stack

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple
        const int64_t[::1] counts,          # IN  rows of each tuple
        const uint64_t[::1] draws,           # IN  a random number for each tuple; tuples choose a side in this order
        object forms,                       # IN  the attributes: the arrays that lay_forms reads
        int64_t k,                          # IN  groups of at least 2 k rows are split
    ):
        cdef Py_ssize_t i
        self.kept, self.k = forms, k
        lay_forms(forms, self.forms)
        self.width = self.forms.width
        self.words.resize(codes.shape[0] * self.width)
        for i in range(codes.shape[0]):
            write_tuple(self.forms, &codes[i, 0], self.words.data() + i * self.width)
            self.counts.push_back(counts[i])
            self.draws.push_back(draws[i])
            self.order.push_back(<int32_t>i)
        self.begins.assign(codes.shape[0], 0)
        self.stack.push_back(Segment(0, codes.shape[0]))

    def split(self, int64_t n_tuples) -> int:
        """Split until about n_tuples tuples were processed; return the number of tuples that wait.

        Cost: O(q) for each tuple of a segment.
        """
        cdef Segment segment
        cdef int64_t middle, waiting = 0
        cdef Py_ssize_t i
        with nogil:
            while n_tuples > 0 and not self.stack.empty():
                segment = self.stack.back()
                self.stack.pop_back()
                n_tuples -= segment.second - segment.first
                if self.is_done(segment):
                    self.begins[segment.first] = 1
                    continue
                middle = self.part(segment)
                self.stack.push_back(Segment(middle, segment.second))
                self.stack.push_back(Segment(segment.first, middle))
            for i in range(<Py_ssize_t>self.stack.size()):
                waiting += self.stack[i].second - self.stack[i].first
        return waiting

    def fill(self, int32_t[::1] labels) -> None:
        """Write the group of each tuple into labels (OUT)."""
        cdef Py_ssize_t i
        cdef int32_t group = -1
        for i in range(<Py_ssize_t>self.order.size()):
            group += self.begins[i]
            labels[self.order[i]] = group

    cdef bint is_done(self, Segment segment) noexcept nogil:
        cdef int64_t i, rows = 0
        for i in range(segment.first, segment.second):
            rows += self.counts[self.order[i]]
        return segment.second - segment.first < 2 or rows < 2 * self.k

    cdef const uint64_t* set_of(self, int32_t tuple_) noexcept nogil:
        return self.words.data() + tuple_ * self.width

    cdef int32_t farthest(self, Segment segment, int32_t tuple_, int64_t* most) noexcept nogil:
        """Return the tuple of a segment whose union with a tuple is dearest, ties by lowest number."""
        cdef int64_t i, price
        cdef int32_t far = tuple_
        most[0] = -1
        for i in range(segment.first, segment.second):
            if self.order[i] == tuple_:
                continue
            price = union_price(self.forms, self.set_of(tuple_), self.set_of(self.order[i]), NO_LIMIT)
            if price > most[0]:
                far, most[0] = self.order[i], price
        return far

    cdef int64_t part(self, Segment segment) noexcept nogil:
        """Split a segment in two; return the start of the second part. Each part is sorted."""
        cdef vector[uint64_t] sides
        cdef vector[Drawn] draws
        cdef vector[int32_t] parts[2]
        cdef int64_t rows[2]
        cdef int64_t prices[2]
        cdef int64_t i, most = 0, found = 0
        cdef int32_t seeds[2]
        cdef int32_t one, side, look
        seeds[0] = self.order[segment.first]
        seeds[1] = self.farthest(segment, seeds[0], &most)
        for look in range(1, MOST_SEED_SEARCHES):
            one = self.farthest(segment, seeds[1], &found)
            if found <= most:
                break
            seeds[0], seeds[1], most = seeds[1], one, found
        for side in range(2):
            parts[side].push_back(seeds[side])
            rows[side] = self.counts[seeds[side]]
            sides.insert(sides.end(), self.set_of(seeds[side]), self.set_of(seeds[side]) + self.width)
        for i in range(segment.first, segment.second):
            if self.order[i] != seeds[0] and self.order[i] != seeds[1]:
                draws.push_back(Drawn(self.draws[self.order[i]], self.order[i]))
        cpp_sort(draws.begin(), draws.end())
        for i in range(<int64_t>draws.size()):
            one = draws[i].second
            for side in range(2):
                prices[side] = union_price(self.forms, sides.data() + side * self.width, self.set_of(one), NO_LIMIT)
            side = prices[1] < prices[0] or (prices[1] == prices[0] and rows[1] < rows[0])
            unite(self.forms, sides.data() + side * self.width, self.set_of(one))
            parts[side].push_back(one)
            rows[side] += self.counts[one]
        i = segment.first
        for side in range(2):
            cpp_sort(parts[side].begin(), parts[side].end())
            for one in parts[side]:
                self.order[i] = one
                i += 1
        return segment.first + <int64_t>parts[0].size()
