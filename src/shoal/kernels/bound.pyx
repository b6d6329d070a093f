# This file is longer than most: finding floors and sharing loss work on the same balls and boxes.
# distutils: language = c++
"""Lower bounds on the loss of any group that contains a tuple (docs/concepts/lower-bound.md). Twin: tests/naive/bound.py."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

ctypedef pair[double, int64_t] Keyed    # a sort key, and what it belongs to

# The radii of the balls form a geometric sequence that is the same for every k, so no floor decreases as k grows.
cdef double NARROWEST = 1e-6, WIDER = 1.2
# The first ball around a tuple: a little narrower than the mean of the balls before, then wider until it has k rows. A ball
# twice as wide as needed costs many times more.
cdef double SHRINK = 0.7, GROW = 1.25

cdef extern from *:
    """
    // A tuple of a ball. code: of its lead number; differing: bit b is set if category b differs from the centre.
    struct Near {
        int32_t code; int32_t place; uint32_t differing; double distance;
        bool operator<(const Near& o) const { return code != o.code ? code < o.code : place < o.place; }
    };
    """
    cppclass Near:
        int32_t code, place
        uint32_t differing
        double distance


cdef cppclass Scratch:
    vector[Near] ball
    vector[Near] wide               # an earlier, wider ball around the same centre
    vector[int32_t] box             # tuples that a group may contain, by the code of the lead number
    vector[int64_t] rows            # cumulative rows of the box, starting with 0
    vector[int32_t] begins          # start of each code of the lead number in the box, and the end
    vector[int64_t] histogram       # by code, all zero between uses
    vector[int32_t] present         # codes with rows in the histogram
    vector[int64_t] others          # their rows, negative
    vector[Keyed] entries, sorted
    int64_t steps                   # steps left; below zero the search gives up


cdef class Floors:
    """The distinct tuples of a table, in the order of their codes. Methods are thread-safe."""

    cdef const int32_t[:, ::1] codes, skips
    cdef const int64_t[::1] counts, starts
    cdef const uint8_t[::1] ordered
    cdef const double[::1] spans, values
    cdef const int32_t[::1] missing
    cdef vector[int32_t] categories, numbers, bits
    cdef vector[Keyed] choices              # sets of categories that vary, by their minimum cost
    cdef int64_t largest

    def __init__(
        self,
        const int32_t[:, ::1] codes,    # IN  codes of each tuple, sorted; numbers and dates by rank, a missing value last
        const int64_t[::1] counts,      # IN  rows of each tuple
        const uint8_t[::1] ordered,     # IN  of each attribute: 1 for numbers or dates, 0 for categories
        const double[::1] spans,        # IN  range or number of values of each attribute in the table
        const int32_t[::1] missing,     # IN  code of the missing value of a number or date, or -1
        const double[::1] values,       # IN  value of each code, attribute after attribute (categories: unused)
        const int64_t[::1] starts,      # IN  start of each attribute in `values`, and the end
        const int32_t[:, ::1] skips,    # IN  by attribute and tuple: the next tuple that differs in this attribute or an earlier one
    ):
        cdef Py_ssize_t a, b
        cdef double base
        cdef int64_t chosen
        self.codes, self.counts, self.ordered, self.spans = codes, counts, ordered, spans
        self.missing, self.values, self.starts, self.skips = missing, values, starts, skips
        self.largest = 1
        for a in range(ordered.shape[0]):
            self.bits.push_back(0 if ordered[a] else 1 << <int32_t>self.categories.size())
            if ordered[a]:
                self.numbers.push_back(<int32_t>a)
            else:
                self.categories.push_back(<int32_t>a)
            self.largest = max(self.largest, starts[a + 1] - starts[a])
        self.choices.push_back(Keyed(0.0, 0))
        for b in range(<Py_ssize_t>self.categories.size()):
            for chosen in range(1 << b):
                base = self.choices[chosen].first + 2.0 / spans[self.categories[b]]
                self.choices.push_back(Keyed(base, chosen | 1 << b))
        cpp_sort(self.choices.begin(), self.choices.end())

    def find(
        self,
        int64_t k,              # IN  minimum rows of a group; at most the rows of the table
        int64_t patience,       # IN  steps for one tuple; with too few steps its floor is lower, at worst 0
        double[::1] floors,     # OUT minimum loss of a row, over all attributes, of any group with the tuple
    ) -> None:
        """Find the floor of every tuple. Cost: up to O(patience) for each."""
        cdef Scratch scratch
        cdef Py_ssize_t i
        cdef double hint = 0.05
        with nogil:
            scratch.histogram.assign(self.largest, 0)
            for i in range(floors.shape[0]):
                scratch.steps = patience
                floors[i] = 0.0 if self.counts[i] >= k else self.floor_of(i, k, &hint, scratch)

    def share(
        self,
        int64_t k,                      # IN  minimum rows of a group
        int64_t patience,               # IN  steps for one tuple; with too few steps it is not raised
        int64_t n_levels,               # IN  number of levels between a floor and its cap
        const double[::1] floors,       # IN  floor of each tuple, from find()
        const double[::1] caps,         # IN  upper limit of each tuple, at least its floor; the same in each call
        const double[::1] weights,      # IN  share of each tuple in the slack
        const double[::1] carried,      # IN  loss carried by each tuple so far; initially its floor
        double[::1] raised,             # OUT loss carried by each tuple afterwards
    ) -> None:
        """Let each tuple carry part of what the other members of its groups lose beyond their own floors."""
        cdef Scratch scratch
        cdef Py_ssize_t i
        with nogil:
            for i in range(floors.shape[0]):
                scratch.steps = patience
                raised[i] = carried[i]
                if weights[i] > 0.0 and caps[i] > carried[i]:
                    raised[i] += self.raise_of(i, k, n_levels, floors, caps, weights, carried, scratch)

    cdef double floor_of(self, Py_ssize_t centre, int64_t k, double* hint, Scratch& scratch) noexcept nogil:
        """Widen a ball until the cheapest group inside costs less than anything outside."""
        cdef double radius = SHRINK * hint[0], floor = 0.0, least, widest = 0.0
        cdef int64_t rows = 0
        cdef Py_ssize_t i
        while rows < k:
            self.reach(centre, radius, scratch)
            if scratch.steps < 0:
                return 0.0
            rows = 0
            scratch.sorted.clear()
            for i in range(<Py_ssize_t>scratch.ball.size()):
                rows += self.counts[scratch.ball[i].place]
                scratch.sorted.push_back(Keyed(scratch.ball[i].distance, self.counts[scratch.ball[i].place]))
            widest = radius
            radius *= GROW
        scratch.wide.swap(scratch.ball)
        cpp_sort(scratch.sorted.begin(), scratch.sorted.end())
        i = rows = 0
        while rows < k:     # k rows have at least this distance
            floor = scratch.sorted[i].first
            rows += scratch.sorted[i].second
            i += 1
        hint[0] += 0.25 * (floor - hint[0])
        radius = NARROWEST
        while True:
            while radius <= floor:
                radius = radius * WIDER
            if radius > widest:
                self.reach(centre, radius, scratch)
            else:
                self.narrow(radius, scratch)
            if scratch.steps < 0:
                return floor
            least = self.least_cost(centre, k, radius, scratch)
            if least < radius:
                return max(floor, least)
            floor = radius

    cdef void reach(self, Py_ssize_t centre, double radius, Scratch& scratch) noexcept nogil:
        """Fill the ball with the tuples closer to the centre than the radius."""
        scratch.ball.clear()
        self.descend(centre, radius, 0, 0, <Py_ssize_t>self.codes.shape[0], 0.0, 0, scratch)

    cdef void narrow(self, double radius, Scratch& scratch) noexcept nogil:
        """Fill the ball with the tuples of the wide one that are closer to the centre than the radius."""
        cdef Py_ssize_t i
        scratch.ball.clear()
        scratch.steps -= <int64_t>scratch.wide.size() // 4      # cheaper than finding them again
        for i in range(<Py_ssize_t>scratch.wide.size()):
            if scratch.wide[i].distance < radius:
                scratch.ball.push_back(scratch.wide[i])

    cdef void descend(
        self, Py_ssize_t centre, double radius, Py_ssize_t a, Py_ssize_t begin, Py_ssize_t end, double cost,
        uint32_t differing, Scratch& scratch
    ) noexcept nogil:
        """Visit the tuples from begin to end, which are equal up to attribute a, by their values of a."""
        cdef int32_t own, code
        cdef Py_ssize_t place = begin
        cdef double more, lowest
        cdef Near near
        if a == self.codes.shape[1]:
            near.code = 0 if self.numbers.empty() else self.codes[begin, self.numbers[0]]
            near.place, near.differing, near.distance = <int32_t>begin, differing, cost
            scratch.ball.push_back(near)
            return
        own = self.codes[centre, a]
        if self.ordered[a] and own != self.missing[a]:
            lowest = self.values[self.starts[a] + own] - (radius - cost) * self.spans[a] * (1.0 + 1e-9)
            place = self.first_from(a, lowest, begin, end)
        while place < end and scratch.steps >= 0:
            scratch.steps -= 1
            code = self.codes[place, a]
            more = cost + self.gap(a, own, code)
            if more < radius:
                self.descend(
                    centre, radius, a + 1, place, self.skips[a, place], more,
                    differing | (<uint32_t>self.bits[a] if code != own else 0), scratch
                )
            elif self.ordered[a] and code > own and code != self.missing[a]:
                # Beyond this value only the missing value, which is the last, can be close.
                place = self.first_from(a, INFINITY, place, end)
                continue
            place = self.skips[a, place]

    cdef Py_ssize_t first_from(self, Py_ssize_t a, double lowest, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Find the first tuple between begin and end whose value of a is at least `lowest`, or missing."""
        cdef Py_ssize_t middle
        cdef int32_t code
        while begin < end:
            middle = (begin + end) // 2
            code = self.codes[middle, a]
            if code != self.missing[a] and self.values[self.starts[a] + code] < lowest:
                begin = middle + 1
            else:
                end = middle
        return begin

    cdef double gap(self, Py_ssize_t a, int32_t one, int32_t other) noexcept nogil:
        """Return the minimum loss in attribute a of a group with these two codes."""
        cdef double width
        if one == other:
            return 0.0
        if not self.ordered[a]:
            return 2.0 / self.spans[a]
        if one == self.missing[a] or other == self.missing[a]:
            return 1.0
        width = self.values[self.starts[a] + one] - self.values[self.starts[a] + other]
        return (width if width > 0.0 else -width) / self.spans[a]

    cdef double least_cost(self, Py_ssize_t centre, int64_t k, double radius, Scratch& scratch) noexcept nogil:
        """Return the minimum loss of a group inside the ball, at most the radius, over all sets of varying categories."""
        cdef Py_ssize_t i, j
        cdef double best = radius
        cdef uint32_t varying
        cpp_sort(scratch.ball.begin(), scratch.ball.end())
        for i in range(<Py_ssize_t>self.choices.size()):
            if self.choices[i].first >= best:
                break
            varying = <uint32_t>self.choices[i].second
            scratch.steps -= <int64_t>scratch.ball.size()
            scratch.box.clear()
            scratch.rows.assign(1, 0)
            for j in range(<Py_ssize_t>scratch.ball.size()):
                if scratch.ball[j].differing & ~varying == 0:
                    scratch.box.push_back(scratch.ball[j].place)
                    scratch.rows.push_back(scratch.rows.back() + self.counts[scratch.ball[j].place])
            if scratch.rows.back() >= k:
                best = min(best, self.cost_of_box(centre, k, varying, best, scratch))
        return best

    cdef double cost_of_box(
        self, Py_ssize_t centre, int64_t k, uint32_t varying, double best, Scratch& scratch
    ) noexcept nogil:
        """Return the minimum cost over the windows of the lead number; exact only if it is below `best`."""
        cdef Py_ssize_t size = <Py_ssize_t>scratch.box.size(), own = 0, i, low, high, a
        cdef double least = self.cost_of(centre, k, varying, 0, size, scratch), width
        cdef int32_t first
        if self.numbers.empty() or least >= best:
            return least
        a = self.numbers[0]
        if least + self.width_of(a, centre, k, 0, size, scratch) >= best:
            return best
        scratch.begins.clear()
        for i in range(size):
            if i == 0 or self.codes[scratch.box[i], a] != self.codes[scratch.box[i - 1], a]:
                own += self.codes[scratch.box[i], a] < self.codes[centre, a]
                scratch.begins.push_back(<int32_t>i)
        scratch.begins.push_back(<int32_t>size)
        if self.missing[a] >= 0:    # a group of known and missing numbers loses the attribute entirely
            best = min(best, 1.0 + least)
        for low in range(own, -1, -1):
            first = self.codes[scratch.box[scratch.begins[low]], a]
            if self.gap(a, first, self.codes[centre, a]) + least >= best:
                break
            for high in range(own, <Py_ssize_t>scratch.begins.size() - 1):
                width = self.gap(a, self.codes[scratch.box[scratch.begins[high]], a], first)
                if width + least >= best:
                    break
                i = scratch.begins[high + 1]
                if scratch.rows[i] - scratch.rows[scratch.begins[low]] >= k:
                    best = min(best, width + self.cost_of(centre, k, varying, scratch.begins[low], i, scratch))
            if scratch.steps < 0:   # too many windows: skipping them lowers the bound, which stays valid
                return min(best, least)
        return best

    cdef double cost_of(
        self, Py_ssize_t centre, int64_t k, uint32_t varying, Py_ssize_t begin, Py_ssize_t end, Scratch& scratch
    ) noexcept nogil:
        """Return the minimum loss of k rows from this part of the box, without the lead number."""
        cdef Py_ssize_t i, a
        cdef double cost = 0.0
        for i in range(<Py_ssize_t>self.categories.size()):
            if varying >> i & 1:
                a = self.categories[i]
                cost += self.values_needed(a, centre, k, begin, end, scratch) / self.spans[a]
        for i in range(1, <Py_ssize_t>self.numbers.size()):
            cost += self.width_of(self.numbers[i], centre, k, begin, end, scratch)
        return cost

    cdef double values_needed(
        self, Py_ssize_t a, Py_ssize_t centre, int64_t k, Py_ssize_t begin, Py_ssize_t end, Scratch& scratch
    ) noexcept nogil:
        """Count the values needed for k rows: the centre's own and the most frequent others; at least two."""
        cdef Py_ssize_t i
        cdef int64_t rows
        cdef int32_t code, own = self.codes[centre, a]
        scratch.steps -= end - begin
        scratch.present.clear()
        scratch.others.clear()
        for i in range(begin, end):
            code = self.codes[scratch.box[i], a]
            if scratch.histogram[code] == 0:
                scratch.present.push_back(code)
            scratch.histogram[code] += self.counts[scratch.box[i]]
        rows = scratch.histogram[own]
        for i in range(<Py_ssize_t>scratch.present.size()):
            code = scratch.present[i]
            if code != own:
                scratch.others.push_back(-scratch.histogram[code])
            scratch.histogram[code] = 0
        cpp_sort(scratch.others.begin(), scratch.others.end())
        for i in range(<Py_ssize_t>scratch.others.size()):
            rows -= scratch.others[i]
            if rows >= k:
                return 2.0 + i
        return INFINITY     # no other value, so it does not vary

    cdef double width_of(
        self, Py_ssize_t a, Py_ssize_t centre, int64_t k, Py_ssize_t begin, Py_ssize_t end, Scratch& scratch
    ) noexcept nogil:
        """Return the smallest range around the centre's value with k rows, 1 if there is none."""
        cdef Py_ssize_t i, right = 0
        cdef int32_t code, own = self.codes[centre, a]
        cdef int64_t rows = 0
        cdef double best = 1.0, x = self.values[self.starts[a] + own], width
        scratch.steps -= 4 * (end - begin)      # for the sort
        scratch.sorted.clear()
        for i in range(begin, end):
            code = self.codes[scratch.box[i], a]
            if (code == self.missing[a]) == (own == self.missing[a]):
                scratch.sorted.push_back(Keyed(self.values[self.starts[a] + code], self.counts[scratch.box[i]]))
        cpp_sort(scratch.sorted.begin(), scratch.sorted.end())
        for i in range(<Py_ssize_t>scratch.sorted.size()):
            while right < <Py_ssize_t>scratch.sorted.size() and (rows < k or scratch.sorted[right].first <= x):
                rows += scratch.sorted[right].second
                right += 1
            if rows < k or scratch.sorted[i].first > x:
                break
            width = scratch.sorted[right - 1].first - scratch.sorted[i].first
            best = min(best, width / self.spans[a] if width > 0.0 else 0.0)
            rows -= scratch.sorted[i].second
        return best

    cdef double raise_of(
        self, Py_ssize_t centre, int64_t k, int64_t n_levels, const double[::1] floors, const double[::1] caps,
        const double[::1] weights, const double[::1] carried, Scratch& scratch
    ) noexcept nogil:
        """Return what the centre can carry in addition: its share in the slack of the worst group below its cap."""
        cdef double cap = caps[centre], floor = floors[centre], low, high = floor, entry
        cdef double rate = (cap - carried[centre]) / weights[centre]
        cdef Py_ssize_t i, level, end = 0
        self.reach(centre, cap, scratch)
        scratch.entries.clear()
        for i in range(<Py_ssize_t>scratch.ball.size()):
            entry = max(max(scratch.ball[i].distance, floors[scratch.ball[i].place]), floor)
            scratch.entries.push_back(Keyed(entry, scratch.ball[i].place))
        cpp_sort(scratch.entries.begin(), scratch.entries.end())
        for level in range(n_levels):
            low = high
            high = floor + (cap - floor) * (level + 1) / n_levels
            while end < <Py_ssize_t>scratch.entries.size() and scratch.entries[end].first < high:
                end += 1
            rate = self.rate_at(centre, k, low, high, rate, end, caps, weights, carried, scratch)
        return rate * weights[centre]

    cdef double rate_at(
        self, Py_ssize_t centre, int64_t k, double low, double high, double rate, Py_ssize_t end,
        const double[::1] caps, const double[::1] weights, const double[::1] carried, Scratch& scratch
    ) noexcept nogil:
        """Lower the rate until every group with a loss from low to high has the slack that is claimed."""
        cdef double slack, weight, worth
        cdef int64_t rows, taken
        cdef Py_ssize_t i, place
        while scratch.steps >= 0:
            scratch.steps -= end + 1
            scratch.sorted.clear()
            for i in range(end):
                place = <Py_ssize_t>scratch.entries[i].second
                if caps[place] <= low:
                    worth = low - caps[place]
                else:
                    worth = low - carried[place] - rate * weights[place]
                    if caps[place] < high:      # at some losses of this level it neither claims nor gives
                        worth = min(worth, 0.0)
                scratch.sorted.push_back(Keyed(worth, <int64_t>place))
            cpp_sort(scratch.sorted.begin(), scratch.sorted.end())
            slack, weight, rows = low - carried[centre], weights[centre], 1
            for i in range(end):
                worth, place = scratch.sorted[i].first, <Py_ssize_t>scratch.sorted[i].second
                taken = min(self.counts[place] - (place == centre), (k if worth >= 0.0 else 2 * k - 1) - rows)
                if taken <= 0:
                    continue
                rows += taken
                if caps[place] <= low:
                    slack += taken * worth
                elif worth < 0.0 or caps[place] >= high:
                    slack += taken * (low - carried[place])
                    weight += taken * weights[place]
            if rate == 0.0 or rows < k or slack - rate * weight >= -1e-15:
                return rate
            rate = max(slack / weight, 0.0)
        return 0.0
