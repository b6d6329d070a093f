# distutils: language = c++
"""MDAV: groups of k rows around the two ends of what remains, in turn. Twin: tests/naive/mdav.py.

Coordinates are integers, held as doubles: squared distances are exact as long as they are below 2^53.
"""

from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector


cdef class Remaining:
    """The rows without a group."""

    cdef vector[double] places      # p x tuples: coordinates
    cdef vector[int32_t] values     # q x tuples: values of the categories, numbered across categories
    cdef vector[double] units       # q: half the squared distance of two values
    cdef vector[int64_t] rows       # of each tuple that remains
    cdef vector[int32_t] number     # of each tuple that remains
    cdef vector[double] sums        # p
    cdef vector[double] tallies     # rows of each value
    cdef vector[double] distance
    cdef int64_t n_rows, k
    cdef Py_ssize_t p, q

    def __init__(
        self,
        const double[:, ::1] places,    # IN  coordinates of each tuple, one row for each coordinate
        const int32_t[:, ::1] values,   # IN  values of each tuple, one row for each category, numbered across them
        const double[::1] units,        # IN  half the squared distance of two values of each category
        const int64_t[::1] rows,        # IN  rows of each tuple
        int64_t k,
    ) -> None:
        cdef Py_ssize_t i, a, n = rows.shape[0]
        self.k = k
        self.p, self.q = places.shape[0], values.shape[0]
        self.sums.assign(self.p, 0)
        for i in range(n):
            self.rows.push_back(rows[i])
            self.number.push_back(<int32_t>i)
            self.n_rows += rows[i]
        for a in range(self.p):
            for i in range(n):
                self.places.push_back(places[a, i])
                self.sums[a] += rows[i] * places[a, i]
        for a in range(self.q):
            self.units.push_back(units[a])
            for i in range(n):
                self.values.push_back(values[a, i])
                if values[a, i] >= <Py_ssize_t>self.tallies.size():
                    self.tallies.resize(values[a, i] + 1, 0)
                self.tallies[values[a, i]] += rows[i]
        self.distance.resize(n)

    def gather(
        self,
        int64_t n_rounds,               # IN  most groups, or pairs of groups, to form
        int32_t first,                  # IN  number of the first group
        int32_t[::1] tuples,            # OUT tuple of each piece: some rows of a tuple in a group
        int64_t[::1] rows,              # OUT its rows
        int32_t[::1] groups,            # OUT its group
        int64_t n_pieces,               # IN  pieces written so far
    ) -> tuple[int, int, int]:
        """Form groups; return the number of pieces, of groups and of rows that remain."""
        cdef int64_t i
        cdef Py_ssize_t end
        with nogil:
            for i in range(n_rounds):
                if self.n_rows < 2 * self.k:
                    n_pieces = self.take_rest(first, tuples, rows, groups, n_pieces)
                    first += 1
                    break
                self.measure_from_average()
                end = self.farthest()
                self.measure_from(end)
                n_pieces = self.take_nearest(first, tuples, rows, groups, n_pieces)
                first += 1
                if self.n_rows >= 2 * self.k:
                    self.measure_from(self.farthest())
                    n_pieces = self.take_nearest(first, tuples, rows, groups, n_pieces)
                    first += 1
                self.close_gaps()
        return n_pieces, first, self.n_rows

    cdef void measure_from_average(self) noexcept nogil:
        """Measure how far each tuple is from the average of all remaining rows, up to a constant."""
        cdef Py_ssize_t a, i, n = <Py_ssize_t>self.rows.size()
        cdef double average, gap, total = <double>self.n_rows, unit
        cdef double* distance = self.distance.data()
        cdef const double* place
        cdef const int32_t* value
        for i in range(n):
            distance[i] = 0
        for a in range(self.p):
            average = floor(self.sums[a] / total + 0.5)
            place = self.places.data() + a * n
            for i in range(n):
                gap = place[i] - average
                distance[i] += gap * gap
        for a in range(self.q):
            unit = self.units[a]
            value = self.values.data() + a * n
            for i in range(n):
                distance[i] += unit * (total - 2 * self.tallies[value[i]]) / total

    cdef void measure_from(self, Py_ssize_t one) noexcept nogil:
        """Measure how far each tuple is from one of them."""
        cdef Py_ssize_t a, i, n = <Py_ssize_t>self.rows.size()
        cdef double own, gap
        cdef double* distance = self.distance.data()
        cdef const double* place
        cdef const int32_t* value
        cdef int32_t code
        for i in range(n):
            distance[i] = 0
        for a in range(self.p):
            place = self.places.data() + a * n
            own = place[one]
            for i in range(n):
                gap = place[i] - own
                distance[i] += gap * gap
        for a in range(self.q):
            value = self.values.data() + a * n
            code = value[one]
            gap = 2 * self.units[a]
            for i in range(n):
                distance[i] += gap if value[i] != code else 0

    cdef Py_ssize_t farthest(self) noexcept nogil:
        """Return the tuple with rows that is farthest away, the first of equals."""
        cdef Py_ssize_t i, best = -1
        for i in range(<Py_ssize_t>self.rows.size()):
            if self.rows[i] > 0 and (best < 0 or self.distance[i] > self.distance[best]):
                best = i
        return best

    cdef int64_t take_nearest(
        self, int32_t group, int32_t[::1] tuples, int64_t[::1] rows, int32_t[::1] groups, int64_t n_pieces,
    ) noexcept nogil:
        """Make the k nearest rows a group; of equally near tuples the first."""
        cdef vector[pair[double, Py_ssize_t]] nearest
        cdef Py_ssize_t i, at, n = <Py_ssize_t>self.rows.size(), width
        cdef int64_t missing = self.k, taken
        cdef double worst = 0
        width = min(<Py_ssize_t>self.k, n)
        nearest.reserve(width + 1)
        for i in range(n):
            if self.rows[i] == 0 or (<Py_ssize_t>nearest.size() == width and self.distance[i] >= worst):
                continue
            if <Py_ssize_t>nearest.size() == width:
                nearest.pop_back()
            nearest.push_back(pair[double, Py_ssize_t](self.distance[i], i))
            at = <Py_ssize_t>nearest.size() - 1
            while at > 0 and nearest[at - 1].first > self.distance[i]:
                nearest[at] = nearest[at - 1]
                at -= 1
            nearest[at].first = self.distance[i]
            nearest[at].second = i
            worst = nearest.back().first
        for i in range(<Py_ssize_t>nearest.size()):
            at = nearest[i].second
            taken = min(missing, self.rows[at])
            n_pieces = self.take_rows(at, taken, group, tuples, rows, groups, n_pieces)
            missing -= taken
            if missing == 0:
                break
        return n_pieces

    cdef int64_t take_rest(
        self, int32_t group, int32_t[::1] tuples, int64_t[::1] rows, int32_t[::1] groups, int64_t n_pieces,
    ) noexcept nogil:
        """Make all remaining rows a group."""
        cdef Py_ssize_t i
        for i in range(<Py_ssize_t>self.rows.size()):
            if self.rows[i] > 0:
                n_pieces = self.take_rows(i, self.rows[i], group, tuples, rows, groups, n_pieces)
        return n_pieces

    cdef int64_t take_rows(
        self, Py_ssize_t one, int64_t taken, int32_t group, int32_t[::1] tuples, int64_t[::1] rows,
        int32_t[::1] groups, int64_t n_pieces,
    ) noexcept nogil:
        cdef Py_ssize_t a, n = <Py_ssize_t>self.rows.size()
        self.rows[one] -= taken
        self.n_rows -= taken
        for a in range(self.p):
            self.sums[a] -= taken * self.places[a * n + one]
        for a in range(self.q):
            self.tallies[self.values[a * n + one]] -= taken
        tuples[n_pieces] = self.number[one]
        rows[n_pieces] = taken
        groups[n_pieces] = group
        return n_pieces + 1

    cdef void close_gaps(self) noexcept nogil:
        """Drop the tuples without rows once they are a quarter of all."""
        cdef Py_ssize_t a, i, n = <Py_ssize_t>self.rows.size(), kept = 0, write = 0
        for i in range(n):
            kept += self.rows[i] > 0
        if 4 * kept > 3 * n:
            return
        for a in range(self.p):
            for i in range(n):
                if self.rows[i] > 0:
                    self.places[write] = self.places[a * n + i]
                    write += 1
        write = 0
        for a in range(self.q):
            for i in range(n):
                if self.rows[i] > 0:
                    self.values[write] = self.values[a * n + i]
                    write += 1
        write = 0
        for i in range(n):
            if self.rows[i] > 0:
                self.number[write] = self.number[i]
                self.rows[write] = self.rows[i]
                write += 1
        self.places.resize(self.p * kept)
        self.values.resize(self.q * kept)
        self.number.resize(kept)
        self.rows.resize(kept)
