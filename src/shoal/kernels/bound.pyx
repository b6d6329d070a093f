# distutils: language = c++
"""The least loss of any group that holds a tuple, from below. Twin: tests/naive/bound.py."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

ctypedef pair[double, int64_t] Measured      # a distance, base loss or value, and a mask or a number of rows

# A ball is widened by this factor as long as no group inside it is cheap enough. Any factor above 1 is valid.
cdef double WIDER = 1.2


cdef struct Near:
    int32_t code        # of the lead attribute: balls are sorted by it
    int32_t place
    uint32_t differing  # bit b: category b is another than that of the centre
    double distance


cdef extern from *:
    """
    #include <algorithm>
    template <class It> static inline void sort_by_code(It from, It to) {
        std::sort(from, to, [](const auto& a, const auto& b) {
            return a.code != b.code ? a.code < b.code : a.place < b.place;
        });
    }
    template <class It> static inline void sort_by_worth(It from, It to) {
        std::sort(from, to, [](const auto& a, const auto& b) {
            return a.worth != b.worth ? a.worth < b.worth : a.place < b.place;
        });
    }
    template <class It> static inline void sort_by_entry(It from, It to) {
        std::sort(from, to, [](const auto& a, const auto& b) {
            return a.entry != b.entry ? a.entry < b.entry : a.place < b.place;
        });
    }
    """
    void sort_by_code(vector[Near].iterator, vector[Near].iterator) nogil
    void sort_by_worth(vector[Claim].iterator, vector[Claim].iterator) nogil
    void sort_by_entry(vector[Claim].iterator, vector[Claim].iterator) nogil


cdef struct Claim:
    double entry        # least loss of a group with the centre and this tuple
    double worth        # slack less what is claimed of it: claims are sorted by it
    double slack
    double weight
    int64_t rows
    int32_t place


cdef cppclass Scratch:
    vector[Near] ball
    vector[int32_t] box             # places in the ball: what may be in a group, by the code of the lead attribute
    vector[int64_t] rows            # of the box, summed up; one more at the start
    vector[int32_t] begins          # where in the box each code of the lead attribute begins; one more at the end
    vector[int64_t] histogram       # by code, all zero between uses
    vector[int32_t] present         # codes with rows in the histogram
    vector[int64_t] others
    vector[int32_t] inside          # tuples of a part of the box, in order
    vector[int32_t] fewest, most, chosen    # by category that varies: values needed, values there, values allowed
    vector[vector[int64_t]] slices  # by depth
    vector[Measured] sorted
    vector[Claim] claims, offered
    int64_t steps


cdef class Floors:
    """The distinct tuples of a table, in the order of their codes; find() may be called from several threads."""

    cdef const int32_t[:, ::1] codes
    cdef const int64_t[::1] counts
    cdef const uint8_t[::1] ordered
    cdef const double[::1] spans
    cdef const int32_t[::1] missing
    cdef const double[::1] values
    cdef const int64_t[::1] starts
    cdef const int32_t[:, ::1] skips
    cdef vector[int32_t] categories, numbers
    cdef vector[Measured] choices
    cdef int64_t largest

    def __init__(
        self,
        const int32_t[:, ::1] codes,    # IN  one row a tuple, sorted; numbers and dates by rank, a missing one last
        const int64_t[::1] counts,      # IN  rows of each tuple
        const uint8_t[::1] ordered,     # IN  of each attribute: 1 numbers or dates, 0 categories
        const double[::1] spans,        # IN  range of the whole table, or its number of values
        const int32_t[::1] missing,     # IN  code of the missing value of a number or date, or -1
        const double[::1] values,       # IN  value of each code, attribute after attribute (categories: any)
        const int64_t[::1] starts,      # IN  where an attribute's values begin, one more at the end
        const int32_t[:, ::1] skips,    # IN  by attribute and tuple: the next tuple that differs in it or before it
    ):
        cdef Py_ssize_t a, b
        cdef double base
        cdef int64_t chosen
        self.codes, self.counts, self.ordered, self.spans = codes, counts, ordered, spans
        self.missing, self.values, self.starts, self.skips = missing, values, starts, skips
        self.largest = 1
        for a in range(ordered.shape[0]):
            if ordered[a]:
                self.numbers.push_back(<int32_t>a)
            else:
                self.categories.push_back(<int32_t>a)
            self.largest = max(self.largest, starts[a + 1] - starts[a])
        for chosen in range(<int64_t>1 << self.categories.size()):
            base = 0.0
            for b in range(<Py_ssize_t>self.categories.size()):
                if chosen >> b & 1:
                    base += 2.0 / spans[self.categories[b]]
            self.choices.push_back(Measured(base, chosen))
        cpp_sort(self.choices.begin(), self.choices.end())

    def find(
        self,
        int64_t k,                  # IN  least number of rows of a group
        int64_t patience,           # IN  steps for one tuple; its floor is lower where they are too few
        const double[::1] known,    # IN  floor of each tuple from an earlier call, or zeros
        Py_ssize_t first,           # IN  the tuples from this one on
        Py_ssize_t last,            # IN  up to here, exclusive
        double[::1] floors,         # OUT of each of them, what every group with it loses at least (of one row, unweighted sum)
    ) -> int:
        """Find the floors and return the steps taken."""
        cdef Scratch scratch
        cdef Py_ssize_t i
        cdef int64_t total = 0
        cdef double hint = 0.05
        with nogil:
            scratch.histogram.assign(self.largest, 0)
            scratch.slices.resize(self.categories.size())
            for i in range(first, last):
                scratch.steps = patience
                if self.counts[i] >= k:
                    floors[i] = 0.0
                else:
                    floors[i] = max(known[i], self.floor_of(i, k, known, &hint, scratch))
                total += patience - scratch.steps
        return total

    cdef double floor_of(self, Py_ssize_t centre, int64_t k, const double[::1] known, double* hint, Scratch& scratch) noexcept nogil:
        """Widen a ball until the cheapest group that fits into it is cheaper than what lies outside."""
        cdef double radius = hint[0], floor = 0.0, least
        cdef int64_t rows
        cdef Py_ssize_t i
        while True:
            self.reach(centre, radius, known, scratch)
            rows = 0
            for i in range(<Py_ssize_t>scratch.ball.size()):
                rows += self.counts[scratch.ball[i].place]
            if scratch.steps < 0 or (rows < k and radius > 2.0 * self.ordered.shape[0]):
                return 0.0
            if rows >= k:
                break
            radius *= 2.0
        scratch.sorted.clear()
        for i in range(<Py_ssize_t>scratch.ball.size()):
            scratch.sorted.push_back(Measured(max(scratch.ball[i].distance, known[scratch.ball[i].place]), self.counts[scratch.ball[i].place]))
        cpp_sort(scratch.sorted.begin(), scratch.sorted.end())
        rows = 0
        for i in range(<Py_ssize_t>scratch.sorted.size()):
            rows += scratch.sorted[i].second
            if rows >= k:
                floor = scratch.sorted[i].first
                break
        hint[0] = radius = floor
        hint[0] = max(1.2 * floor, 1e-9)
        while True:
            radius *= WIDER
            self.reach(centre, radius, known, scratch)
            if scratch.steps < 0:
                return floor
            least = self.least_cost(centre, k, radius, scratch)
            if least < radius:
                return max(floor, least)
            floor = radius

    cdef void reach(self, Py_ssize_t centre, double radius, const double[::1] known, Scratch& scratch) noexcept nogil:
        """Fill the ball with the tuples that a group with the centre and a loss below the radius can hold."""
        cdef Py_ssize_t i, kept = 0
        scratch.ball.clear()
        self.descend(centre, radius, 0, 0, <Py_ssize_t>self.codes.shape[0], 0.0, 0, scratch)
        for i in range(<Py_ssize_t>scratch.ball.size()):
            if known[scratch.ball[i].place] < radius:
                scratch.ball[kept] = scratch.ball[i]
                kept += 1
        scratch.ball.resize(kept)

    cdef void descend(
        self, Py_ssize_t centre, double radius, Py_ssize_t a, Py_ssize_t begin, Py_ssize_t end, double cost,
        uint32_t differing, Scratch& scratch
    ) noexcept nogil:
        """Go through the tuples from begin to end, which are equal up to attribute a, by their values of a."""
        cdef int32_t own, code
        cdef Py_ssize_t place = begin, following, bit = 0
        cdef double lowest, more
        if a == self.codes.shape[1]:
            code = self.codes[begin, self.numbers[0]] if not self.numbers.empty() else 0
            scratch.ball.push_back(Near(code, <int32_t>begin, differing, cost))
            return
        own = self.codes[centre, a]
        if self.ordered[a] and own != self.missing[a]:
            lowest = self.values[self.starts[a] + own] - (radius - cost) * self.spans[a] * (1.0 + 1e-9)
            place = self.first_from(a, lowest, begin, end)
        elif not self.ordered[a]:
            while self.categories[bit] != a:
                bit += 1
        while place < end and scratch.steps >= 0:
            scratch.steps -= 1
            following = self.skips[a, place]
            code = self.codes[place, a]
            more = cost
            if code != own:
                more += self.gap(a, own, code) if self.ordered[a] else 2.0 / self.spans[a]
            if more < radius:
                self.descend(
                    centre, radius, a + 1, place, following, more,
                    differing | <uint32_t>(not self.ordered[a] and code != own) << bit, scratch
                )
            elif self.ordered[a] and code > own and code != self.missing[a] and self.missing[a] >= 0 and radius > 1.0:
                # Only the missing value, which is the last, can still be near.
                place = end - 1
                if self.codes[place, a] != self.missing[a]:
                    return
                while place > begin and self.codes[place - 1, a] == self.missing[a]:
                    place -= 1
                continue
            elif self.ordered[a] and code > own:
                return
            place = following

    cdef Py_ssize_t first_from(self, Py_ssize_t a, double lowest, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Find the first tuple between begin and end with a value of a from `lowest` on, or a missing one."""
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
        """Return what a group loses in a number or date that holds these two codes."""
        cdef double width
        if one == other:
            return 0.0
        if one == self.missing[a] or other == self.missing[a]:
            return 1.0
        width = self.values[self.starts[a] + one] - self.values[self.starts[a] + other]
        return (width if width > 0.0 else -width) / self.spans[a]

    cdef double least_cost(self, Py_ssize_t centre, int64_t k, double radius, Scratch& scratch) noexcept nogil:
        """Return the least loss of a group from the ball, or the radius: over the categories that it lets vary."""
        cdef Py_ssize_t i, j
        cdef double best = radius
        cdef int64_t rows
        cdef uint32_t varying
        sort_by_code(scratch.ball.begin(), scratch.ball.end())
        for i in range(<Py_ssize_t>self.choices.size()):
            if self.choices[i].first >= best:
                break
            varying = <uint32_t>self.choices[i].second
            scratch.box.clear()
            scratch.rows.assign(1, 0)
            rows = 0
            for j in range(<Py_ssize_t>scratch.ball.size()):
                if scratch.ball[j].differing & ~varying == 0:
                    scratch.box.push_back(scratch.ball[j].place)
                    rows += self.counts[scratch.ball[j].place]
                    scratch.rows.push_back(rows)
            scratch.steps -= <int64_t>scratch.ball.size()
            if rows >= k:
                best = min(best, self.cost_of_box(centre, k, varying, best, scratch))
        return best

    cdef double cost_of_box(self, Py_ssize_t centre, int64_t k, uint32_t varying, double best, Scratch& scratch) noexcept nogil:
        """Return the least cost over the windows of the lead number; inexact where it is `best` or more."""
        cdef Py_ssize_t size = <Py_ssize_t>scratch.box.size(), i, own, low, high, a
        cdef double least = self.cost_of(centre, k, varying, best, 0, size, scratch), width, cost
        cdef int32_t code, first, last
        if self.numbers.empty() or least >= best:
            return least
        if least + self.width_of(self.numbers[0], centre, k, 0, size, scratch) >= best:
            return best
        a = self.numbers[0]
        scratch.begins.clear()
        own = 0
        for i in range(size):
            code = self.codes[scratch.box[i], a]
            if i == 0 or code != self.codes[scratch.box[i - 1], a]:
                if code == self.codes[centre, a]:
                    own = <Py_ssize_t>scratch.begins.size()
                scratch.begins.push_back(<int32_t>i)
        scratch.begins.push_back(<int32_t>size)
        # Numbers with a missing one: this attribute is lost whole, and so needs no window.
        if self.missing[a] >= 0 and scratch.begins.size() > 2:
            best = min(best, 1.0 + least)
        for low in range(own, -1, -1):
            first = self.codes[scratch.box[scratch.begins[low]], a]
            if self.gap(a, first, self.codes[centre, a]) + least >= best or scratch.steps < 0:
                break
            for high in range(own, <Py_ssize_t>scratch.begins.size() - 1):
                last = self.codes[scratch.box[scratch.begins[high]], a]
                width = self.gap(a, last, first)
                if width + least >= best:
                    break
                if scratch.rows[scratch.begins[high + 1]] - scratch.rows[scratch.begins[low]] >= k:
                    cost = width + self.cost_of(
                        centre, k, varying, best - width, scratch.begins[low], scratch.begins[high + 1], scratch
                    )
                    best = min(best, cost)
        return best if scratch.steps >= 0 else min(best, least)

    cdef double cost_of(
        self, Py_ssize_t centre, int64_t k, uint32_t varying, double best, Py_ssize_t begin, Py_ssize_t end,
        Scratch& scratch
    ) noexcept nogil:
        """Return what k rows from this part of the box lose at least, but for the lead number."""
        cdef Py_ssize_t i
        cdef double cost = 0.0, widths = 0.0, needed
        scratch.fewest.clear()
        scratch.most.clear()
        for i in range(<Py_ssize_t>self.categories.size()):
            if varying >> i & 1:
                needed = self.values_needed(self.categories[i], centre, k, begin, end, scratch)
                if needed == INFINITY:
                    return INFINITY
                cost += needed / self.spans[self.categories[i]]
                scratch.fewest.push_back(<int32_t>needed)
                scratch.most.push_back(<int32_t>scratch.others.size() + 1)
        for i in range(1, <Py_ssize_t>self.numbers.size()):
            widths += self.width_of(self.numbers[i], centre, k, begin, end, scratch)
        if cost + widths >= best or scratch.fewest.size() < 2:
            return cost + widths
        scratch.inside.assign(scratch.box.begin() + begin, scratch.box.begin() + end)
        cpp_sort(scratch.inside.begin(), scratch.inside.end())
        scratch.chosen = scratch.fewest
        needed = self.choose(centre, k, varying, 0, 0, cost, best - widths, scratch)
        return widths + (needed if scratch.steps >= 0 else cost)

    cdef double choose(
        self, Py_ssize_t centre, int64_t k, uint32_t varying, Py_ssize_t depth, Py_ssize_t bit, double cost,
        double best, Scratch& scratch
    ) noexcept nogil:
        """Return the least cost of numbers of values, from this depth on, with which k rows may come together."""
        cdef double added
        while bit < <Py_ssize_t>self.categories.size() and not varying >> bit & 1:
            bit += 1
        if bit == <Py_ssize_t>self.categories.size():
            scratch.steps -= <int64_t>scratch.inside.size()
            if self.rows_within(centre, varying, 0, 0, 0, <Py_ssize_t>scratch.inside.size(), scratch) >= k:
                return cost
            return INFINITY
        scratch.chosen[depth] = scratch.fewest[depth]
        while scratch.chosen[depth] <= scratch.most[depth] and scratch.steps >= 0:
            added = (scratch.chosen[depth] - scratch.fewest[depth]) / self.spans[self.categories[bit]]
            if cost + added >= best:
                break
            best = min(best, self.choose(centre, k, varying, depth + 1, bit + 1, cost + added, best, scratch))
            scratch.chosen[depth] += 1
        return best

    cdef int64_t rows_within(
        self, Py_ssize_t centre, uint32_t varying, Py_ssize_t depth, Py_ssize_t bit, Py_ssize_t begin, Py_ssize_t end,
        Scratch& scratch
    ) noexcept nogil:
        """Count the rows that the chosen numbers of values can hold at most, each slice with values of its own."""
        cdef Py_ssize_t a, i = begin, j
        cdef int64_t rows = 0, part
        cdef int32_t code
        while bit < <Py_ssize_t>self.categories.size() and not varying >> bit & 1:
            bit += 1
        if bit == <Py_ssize_t>self.categories.size():
            for i in range(begin, end):
                rows += self.counts[scratch.inside[i]]
            return rows
        a = self.categories[bit]
        scratch.slices[depth].clear()
        while i < end:
            code = self.codes[scratch.inside[i], a]
            j = i + 1
            while j < end and self.codes[scratch.inside[j], a] == code:
                j += 1
            part = self.rows_within(centre, varying, depth + 1, bit + 1, i, j, scratch)
            if code == self.codes[centre, a]:
                rows = part
            else:
                scratch.slices[depth].push_back(-part)
            i = j
        if <Py_ssize_t>scratch.slices[depth].size() > scratch.chosen[depth] - 1:
            cpp_sort(scratch.slices[depth].begin(), scratch.slices[depth].end())
            scratch.slices[depth].resize(scratch.chosen[depth] - 1)
        for i in range(<Py_ssize_t>scratch.slices[depth].size()):
            rows -= scratch.slices[depth][i]
        return rows

    cdef double values_needed(
        self, Py_ssize_t a, Py_ssize_t centre, int64_t k, Py_ssize_t begin, Py_ssize_t end, Scratch& scratch
    ) noexcept nogil:
        """Count the values, the centre's own and the most frequent others, that bring k rows together; at least two."""
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
        return INFINITY     # no other value, or too few rows: no group of this kind

    cdef double width_of(
        self, Py_ssize_t a, Py_ssize_t centre, int64_t k, Py_ssize_t begin, Py_ssize_t end, Scratch& scratch
    ) noexcept nogil:
        """Return the least range around the centre's value that holds k rows; 1 where only missing ones bring them."""
        cdef Py_ssize_t i, right = 0
        cdef int32_t code, own = self.codes[centre, a]
        cdef int64_t rows = 0
        cdef double best = 1.0, x = self.values[self.starts[a] + own]
        scratch.steps -= end - begin
        scratch.sorted.clear()
        for i in range(begin, end):
            code = self.codes[scratch.box[i], a]
            if (code == self.missing[a]) == (own == self.missing[a]):
                scratch.sorted.push_back(Measured(self.values[self.starts[a] + code], self.counts[scratch.box[i]]))
        cpp_sort(scratch.sorted.begin(), scratch.sorted.end())
        for i in range(<Py_ssize_t>scratch.sorted.size()):
            if scratch.sorted[i].first > x:
                break
            while right < <Py_ssize_t>scratch.sorted.size() and (rows < k or scratch.sorted[right].first <= x):
                rows += scratch.sorted[right].second
                right += 1
            if rows < k:
                break
            if right > 0 and scratch.sorted[right - 1].first > scratch.sorted[i].first:
                best = min(best, (scratch.sorted[right - 1].first - scratch.sorted[i].first) / self.spans[a])
            else:
                best = 0.0
            rows -= scratch.sorted[i].second
        return best

    def share(
        self,
        int64_t k,                      # IN  least number of rows of a group
        int64_t patience,               # IN  steps for one tuple; it is not raised where they are too few
        int64_t n_levels,               # IN  levels of loss that are told apart between floor and cap
        const double[::1] floors,       # IN  of each tuple: no group with it loses less
        const double[::1] caps,         # IN  what a tuple may be raised to; at least the floor
        const double[::1] weights,      # IN  share of each tuple in what is left over
        const double[::1] duals,        # IN  what each tuple carries so far
        double[::1] raised,             # OUT what each tuple carries now
    ) -> int:
        """Let tuples carry part of what the others of their groups lose beyond their own floors."""
        cdef Scratch scratch
        cdef Py_ssize_t i
        cdef int64_t total = 0
        with nogil:
            for i in range(floors.shape[0]):
                scratch.steps = patience
                raised[i] = duals[i]
                if weights[i] > 0.0 and caps[i] > duals[i]:
                    raised[i] += self.raise_of(i, k, n_levels, floors, caps, weights, duals, scratch)
                total += patience - scratch.steps
        return total

    cdef double raise_of(
        self, Py_ssize_t centre, int64_t k, int64_t n_levels, const double[::1] floors, const double[::1] caps,
        const double[::1] weights, const double[::1] duals, Scratch& scratch
    ) noexcept nogil:
        """Return what the centre can carry more: its share in the slack of the worst group below its cap."""
        cdef double cap = caps[centre], floor = floors[centre], low, high
        cdef double rate = (cap - duals[centre]) / weights[centre]
        cdef Py_ssize_t i, level, place, end = 0
        cdef Claim claim
        self.reach(centre, cap, floors, scratch)
        if scratch.steps < 0:
            return 0.0
        scratch.claims.clear()
        for i in range(<Py_ssize_t>scratch.ball.size()):
            place = scratch.ball[i].place
            claim.place = <int32_t>place
            claim.entry = max(max(scratch.ball[i].distance, floors[place]), floor)
            claim.rows = self.counts[place] - (place == centre)
            if claim.rows > 0:
                scratch.claims.push_back(claim)
        sort_by_entry(scratch.claims.begin(), scratch.claims.end())
        for level in range(n_levels):
            low = floor + (cap - floor) * level / n_levels
            high = floor + (cap - floor) * (level + 1) / n_levels
            while end < <Py_ssize_t>scratch.claims.size() and scratch.claims[end].entry < high:
                end += 1
            rate = self.rate_at(centre, k, low, high, rate, end, caps, weights, duals, scratch)
            if rate <= 0.0 or scratch.steps < 0:
                return 0.0
        return rate * weights[centre]

    cdef double rate_at(
        self, Py_ssize_t centre, int64_t k, double low, double high, double rate, Py_ssize_t end, const double[::1] caps,
        const double[::1] weights, const double[::1] duals, Scratch& scratch
    ) noexcept nogil:
        """Lower the rate until no group with a loss from low to high has less slack than is claimed of it."""
        cdef double slack, weight, worth
        cdef int64_t rows, taken
        cdef Py_ssize_t i
        cdef Claim claim
        while rate > 0.0:
            scratch.steps -= end
            scratch.offered.clear()
            for i in range(end):
                claim = scratch.claims[i]
                if caps[claim.place] <= low:
                    claim.slack, claim.weight = low - caps[claim.place], 0.0
                else:
                    claim.slack, claim.weight = low - duals[claim.place], weights[claim.place]
                    if caps[claim.place] < high and claim.slack - rate * claim.weight > 0.0:
                        claim.slack, claim.weight = 0.0, 0.0
                claim.worth = claim.slack - rate * claim.weight
                scratch.offered.push_back(claim)
            sort_by_worth(scratch.offered.begin(), scratch.offered.end())
            slack, weight, rows = low - duals[centre], weights[centre], 1
            for i in range(<Py_ssize_t>scratch.offered.size()):
                claim = scratch.offered[i]
                if rows >= 2 * k - 1 or (rows >= k and claim.worth >= 0.0):
                    break
                taken = min(claim.rows, (k if claim.worth >= 0.0 else 2 * k - 1) - rows)
                slack += taken * claim.slack
                weight += taken * claim.weight
                rows += taken
            if rows < k or slack - rate * weight >= -1e-15:
                return rate
            rate = slack / weight
        return 0.0
