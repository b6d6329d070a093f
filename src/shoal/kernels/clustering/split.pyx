# distutils: language = c++
"""Groups split in two around far tuples, again and again. Twin: tests/naive/top_down.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.clustering.union_price cimport NO_LIMIT, Forms, lay_forms, unite, union_price, write_tuple

ctypedef pair[int64_t, int64_t] Stretch
ctypedef pair[uint64_t, int32_t] Lot

cdef enum:
    LOOKS = 3       # how often the two seeds are looked for


cdef class Splitting:
    """The tuples of a table, cut into stretches that are split on."""

    cdef Forms forms
    cdef object kept                            # what the forms point into
    cdef Py_ssize_t width
    cdef int64_t k
    cdef vector[uint64_t] words                 # of each tuple
    cdef vector[int64_t] counts
    cdef vector[uint64_t] lots
    cdef vector[int32_t] order
    cdef vector[uint8_t] begins
    cdef vector[Stretch] stack

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  one row a tuple
        const int64_t[::1] counts,          # IN  rows of each tuple
        const uint64_t[::1] lots,           # IN  a random number for each tuple: the order in which they choose a side
        object forms,                       # IN  the attributes: the arguments of lay_forms
        int64_t k,                          # IN  groups of 2 k rows or more are split
    ):
        cdef const uint8_t[::1] kinds = forms[0]
        cdef const int64_t[::1] cards = forms[1], units = forms[2], firsts = forms[3], fulls = forms[4]
        cdef const int64_t[::1] places = forms[5], starts = forms[6], node_starts = forms[8], leaf_starts = forms[10]
        cdef const int32_t[::1] nodes = forms[7], leaves = forms[9]
        cdef Py_ssize_t i
        self.kept, self.k = forms, k
        lay_forms(kinds, cards, units, firsts, fulls, places, starts, nodes, node_starts, leaves, leaf_starts, self.forms)
        self.width = self.forms.width
        self.words.resize(codes.shape[0] * self.width)
        for i in range(codes.shape[0]):
            write_tuple(self.forms, &codes[i, 0], self.words.data() + i * self.width)
            self.counts.push_back(counts[i])
            self.lots.push_back(lots[i])
            self.order.push_back(<int32_t>i)
        self.begins.assign(codes.shape[0], 0)
        self.stack.push_back(Stretch(0, codes.shape[0]))

    def split(self, int64_t n_tuples) -> int:
        """Split until about so many tuples were gone through; return how many wait to be split on.

        Cost: O(q) for each tuple of a stretch.
        """
        cdef Stretch stretch
        cdef int64_t middle, waiting = 0
        cdef Py_ssize_t i
        with nogil:
            while n_tuples > 0 and not self.stack.empty():
                stretch = self.stack.back()
                self.stack.pop_back()
                n_tuples -= stretch.second - stretch.first
                if self.is_done(stretch):
                    self.begins[stretch.first] = 1
                    continue
                middle = self.part(stretch)
                self.stack.push_back(Stretch(middle, stretch.second))
                self.stack.push_back(Stretch(stretch.first, middle))
            for i in range(<Py_ssize_t>self.stack.size()):
                waiting += self.stack[i].second - self.stack[i].first
        return waiting

    def fill(self, int32_t[::1] labels) -> None:
        """Write the group of each tuple."""
        cdef Py_ssize_t i
        cdef int32_t group = -1
        for i in range(<Py_ssize_t>self.order.size()):
            group += self.begins[i]
            labels[self.order[i]] = group

    cdef bint is_done(self, Stretch stretch) noexcept nogil:
        cdef int64_t i, rows = 0
        for i in range(stretch.first, stretch.second):
            rows += self.counts[self.order[i]]
        return stretch.second - stretch.first < 2 or rows < 2 * self.k

    cdef const uint64_t* set_of(self, int32_t tuple_) noexcept nogil:
        return self.words.data() + tuple_ * self.width

    cdef int32_t farthest(self, Stretch stretch, int32_t tuple_, int64_t* most) noexcept nogil:
        """Return the tuple of a stretch whose union with a tuple is dearest, the lowest of equals."""
        cdef int64_t i, price
        cdef int32_t far = tuple_
        most[0] = -1
        for i in range(stretch.first, stretch.second):
            if self.order[i] == tuple_:
                continue
            price = union_price(self.forms, self.set_of(tuple_), self.set_of(self.order[i]), NO_LIMIT)
            if price > most[0]:
                far, most[0] = self.order[i], price
        return far

    cdef int64_t part(self, Stretch stretch) noexcept nogil:
        """Part a stretch in two and return where the second part begins; each part is left sorted."""
        cdef vector[uint64_t] sides
        cdef vector[Lot] lots
        cdef vector[int32_t] parts[2]
        cdef int64_t rows[2]
        cdef int64_t prices[2]
        cdef int64_t i, most = 0, found = 0
        cdef int32_t seeds[2]
        cdef int32_t one, side, look
        seeds[0] = self.order[stretch.first]
        seeds[1] = self.farthest(stretch, seeds[0], &most)
        for look in range(1, LOOKS):
            one = self.farthest(stretch, seeds[1], &found)
            if found <= most:
                break
            seeds[0], seeds[1], most = seeds[1], one, found
        for side in range(2):
            parts[side].push_back(seeds[side])
            rows[side] = self.counts[seeds[side]]
            sides.insert(sides.end(), self.set_of(seeds[side]), self.set_of(seeds[side]) + self.width)
        for i in range(stretch.first, stretch.second):
            if self.order[i] != seeds[0] and self.order[i] != seeds[1]:
                lots.push_back(Lot(self.lots[self.order[i]], self.order[i]))
        cpp_sort(lots.begin(), lots.end())
        for i in range(<int64_t>lots.size()):
            one = lots[i].second
            for side in range(2):
                prices[side] = union_price(self.forms, sides.data() + side * self.width, self.set_of(one), NO_LIMIT)
            side = prices[1] < prices[0] or (prices[1] == prices[0] and rows[1] < rows[0])
            unite(self.forms, sides.data() + side * self.width, self.set_of(one))
            parts[side].push_back(one)
            rows[side] += self.counts[one]
        i = stretch.first
        for side in range(2):
            cpp_sort(parts[side].begin(), parts[side].end())
            for one in parts[side]:
                self.order[i] = one
                i += 1
        return stretch.first + <int64_t>parts[0].size()
