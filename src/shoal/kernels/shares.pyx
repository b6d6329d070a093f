# This file is longer than most: the search for groups and the shares that it lowers are one recursion.
# distutils: language = c++
"""Shares of rows whose sum no group exceeds (docs/concepts/lower-bound.md). Twin: tests/naive/bound.py."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

ctypedef pair[double, int32_t] Keyed    # a sort key, and the tuple that it belongs to

cdef double TOLERANCE = 1e-12   # a sum of shares that exceeds the loss of a group by less is rounding

cdef enum:
    SCANNED = 8     # tuples that are looked at in one step


cdef enum State:    # of a value of a category
    UNDECIDED
    INSIDE          # the groups that are searched have it
    OUTSIDE         # they do not


cdef cppclass Search:
    int32_t centre                  # the tuple whose share is lowered
    double share                    # its share so far
    int64_t steps                   # steps left; below zero the search gives up
    bint is_last                    # then the share is lowered without a further search
    vector[int32_t] low, high       # the box, which every group contains: by code, its window in each number
    vector[int32_t] least, most     # the widest window that a group may have
    vector[int32_t] n_values        # values of the box in each category
    vector[Keyed] group             # the worst group: its tuples by falling share
    vector[int64_t] taken           # its rows of each, besides the first row of the centre
    double farthest, lowest         # no group with an excess loses more, or has a tuple with a lower share
    vector[Keyed] best              # tuples by falling share, while the worst group is sought


cdef class Shares:
    """The distinct tuples of a table, in the order of their codes."""

    cdef const int32_t[:, ::1] codes, skips
    cdef const int64_t[::1] counts, starts
    cdef const uint8_t[::1] ordered
    cdef const double[::1] spans, values
    cdef const int32_t[::1] missing
    cdef vector[uint8_t] state

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
        self.codes, self.counts, self.ordered, self.spans = codes, counts, ordered, spans
        self.missing, self.values, self.starts, self.skips = missing, values, starts, skips
        self.state.assign(starts[starts.shape[0] - 1], UNDECIDED)

    def price_groups(
        self,
        const int32_t[::1] tuples,      # IN  tuples of groups, group after group
        const int64_t[::1] begins,      # IN  start of each group in `tuples`, and the end
        double[::1] own,                # OUT least loss of a group that has the tuple
        double[::1] joined,             # OUT least loss of a group together with the tuple
    ) -> None:
        """Price the groups of a release for each tuple. Cost: up to O(groups x tuples x attributes), mostly much less."""
        cdef Py_ssize_t g, i, a, n_groups = begins.shape[0] - 1, q = self.codes.shape[1]
        cdef Py_ssize_t n_values = self.starts[q]
        cdef vector[uint8_t] has
        cdef vector[int32_t] low, high, count
        cdef double loss
        cdef int32_t code
        with nogil:
            has.assign(n_groups * n_values, 0)
            low.assign(n_groups * q, 2147483647)
            high.assign(n_groups * q, -1)
            count.assign(n_groups * q, 0)
            for i in range(own.shape[0]):
                own[i] = joined[i] = INFINITY
            for g in range(n_groups):
                for i in range(begins[g], begins[g + 1]):
                    for a in range(q):
                        code = self.codes[tuples[i], a]
                        low[g * q + a], high[g * q + a] = min(low[g * q + a], code), max(high[g * q + a], code)
                        count[g * q + a] += has[g * n_values + self.starts[a] + code] == 0
                        has[g * n_values + self.starts[a] + code] = 1
                loss = 0.0
                for a in range(q):
                    loss += self.loss_in(a, low[g * q + a], high[g * q + a], count[g * q + a])
                for i in range(begins[g], begins[g + 1]):
                    own[tuples[i]] = min(own[tuples[i]], loss)
            for i in range(joined.shape[0]):
                for g in range(n_groups):
                    loss = 0.0
                    for a in range(q):
                        code = self.codes[i, a]
                        loss += self.loss_in(
                            a, min(low[g * q + a], code), max(high[g * q + a], code),
                            count[g * q + a] + (has[g * n_values + self.starts[a] + code] == 0),
                        )
                        if loss >= joined[i]:
                            break
                    joined[i] = min(joined[i], loss)

    def lower(
        self,
        int64_t k,                      # IN  minimum rows of a group
        int64_t steps,                  # IN  steps for all tuples
        int64_t patience,               # IN  steps for one share of one tuple; with too few its share is lower
        int64_t tries,                  # IN  shares to try for one tuple
        double factor,                  # IN  each share over the one tried before
        const int32_t[::1] order,       # IN  the tuples, by ascending share
        const double[::1] floors,       # IN  minimum loss of a row of any group with the tuple
        const double[::1] wanted,       # IN  share of each tuple to start with
        double[::1] shares,             # OUT share of each tuple: no group of k to 2k - 1 rows loses less than their sum
    ) -> bool:
        """Lower the share of each tuple until no group of it and of tuples before it has a greater sum than its loss.

        Return whether the steps sufficed; if not, the shares are unfinished.
        """
        cdef Search search
        cdef Py_ssize_t i
        cdef vector[uint8_t] seen
        cdef vector[Keyed] near
        cdef double widest = 0.0
        cdef int64_t trial, most
        with nogil:
            seen.assign(self.counts.shape[0], 0)
            for i in range(order.shape[0]):
                search.centre, search.share = order[i], wanted[order[i]]
                widest = max(widest, search.share)
                seen[search.centre] = 1
                near.clear()
                steps -= self.reach(search.centre, widest, seen, floors, near) // SCANNED
                # Steps that the tuples before did not need are left for this one.
                most = min(patience, steps // (order.shape[0] - i))
                for trial in range(tries):
                    self.start(search)
                    search.steps, search.is_last = most, trial == tries - 1
                    self.settle(k, near, shares, search)
                    steps -= most - search.steps
                    if search.steps >= 0 or search.is_last:
                        break
                    search.share = min(search.share, search.share * factor)
                if steps < 0:
                    break
                shares[search.centre] = search.share
        return steps >= 0

    cdef void start(self, Search& search) noexcept nogil:
        """Make the box that of the centre alone."""
        cdef Py_ssize_t a, q = self.codes.shape[1]
        search.low.resize(q)
        search.high.resize(q)
        search.least.assign(q, 0)
        search.most.assign(q, 2147483647)
        search.n_values.assign(q, 1)
        for a in range(q):
            search.low[a] = search.high[a] = self.codes[search.centre, a]

    cdef int64_t reach(
        self, int32_t centre, double radius, const vector[uint8_t]& seen, const double[::1] floors,
        vector[Keyed]& near,        # OUT the least loss of a group with the centre and the tuple, if below the radius
    ) noexcept nogil:
        """Find the tuples seen so far whose groups with the centre may lose less than the radius; return the tuples looked at."""
        cdef Py_ssize_t place = 0, n = self.codes.shape[0], q = self.codes.shape[1], a
        cdef int64_t looks = 0
        cdef double distance
        while place < n:
            looks += 1
            distance = 0.0
            a = 0
            while a < q:
                if self.codes[place, a] != self.codes[centre, a]:
                    distance += self.gap(a, self.codes[centre, a], self.codes[place, a])
                    if distance >= radius:
                        break
                a += 1
            if a < q:
                place = self.skips[a, place]
                continue
            distance = max(distance, max(floors[place], floors[centre]))
            if seen[place] and distance < radius:
                near.push_back(Keyed(distance, <int32_t>place))
            place += 1
        return looks

    cdef double gap(self, Py_ssize_t a, int32_t one, int32_t other) noexcept nogil:
        """Return the minimum loss in attribute a of a group with these two codes, which differ."""
        cdef double width
        if not self.ordered[a]:
            return 2.0 / self.spans[a]
        if one == self.missing[a] or other == self.missing[a]:
            return 1.0
        width = self.values[self.starts[a] + one] - self.values[self.starts[a] + other]
        return (width if width > 0.0 else -width) / self.spans[a]

    cdef double loss_in(self, Py_ssize_t a, int32_t low, int32_t high, int32_t n_values) noexcept nogil:
        """Return the loss in attribute a of a group with this window or this number of values."""
        if not self.ordered[a]:
            return n_values / self.spans[a] if n_values > 1 else 0.0
        return self.gap(a, low, high) if low != high else 0.0

    cdef bint fits(self, Py_ssize_t a, int32_t code, const Search& search) noexcept nogil:
        """Say whether the box may be extended to a value."""
        if self.ordered[a]:
            return search.least[a] <= code <= search.most[a]
        return self.state[self.starts[a] + code] != OUTSIDE

    cdef bint is_inside(self, Py_ssize_t a, int32_t code, const Search& search) noexcept nogil:
        if self.ordered[a]:
            return search.low[a] <= code <= search.high[a]
        return code == self.codes[search.centre, a] or self.state[self.starts[a] + code] == INSIDE

    cdef double more_with(self, Py_ssize_t a, int32_t code, const Search& search) noexcept nogil:
        """Return what a box loses more in attribute a if it is extended to a value outside."""
        if not self.ordered[a]:
            return (2.0 if search.n_values[a] == 1 else 1.0) / self.spans[a]
        return self.loss_in(a, min(code, search.low[a]), max(code, search.high[a]), 0) - self.loss_in(
            a, search.low[a], search.high[a], 0
        )

    cdef void settle(
        self, int64_t k, const vector[Keyed]& near, const double[::1] shares, Search& search,
    ) noexcept nogil:
        """Lower the share until no group that contains the box, within its limits, has a greater sum than its loss."""
        cdef vector[Keyed] inside
        cdef double excess, real
        cdef int32_t code, attribute = -1
        if search.steps < 0 and not search.is_last:
            return
        self.price_near(near, inside, search)
        while True:
            excess = self.worst_group(k, inside, shares, search)
            if excess <= TOLERANCE:
                return
            real = self.real_excess(search)
            if real <= TOLERANCE:
                break
            self.lower_by(real, search)
        code = self.choose_value(search, &attribute)
        if search.steps < 0 or attribute < 0:
            if search.is_last or attribute < 0:
                search.share -= excess      # the group has at least one row of the centre
            return
        self.drop_useless(inside, shares, search)
        if not self.ordered[attribute]:
            self.state[self.starts[attribute] + code] = INSIDE
            search.n_values[attribute] += 1
            self.settle(k, inside, shares, search)
            search.n_values[attribute] -= 1
            self.state[self.starts[attribute] + code] = OUTSIDE
            self.settle(k, inside, shares, search)
            self.state[self.starts[attribute] + code] = UNDECIDED
        elif code < search.low[attribute]:
            self.settle_window(k, inside, shares, &search.low[attribute], code, &search.least[attribute], code + 1, search)
        else:
            self.settle_window(k, inside, shares, &search.high[attribute], code, &search.most[attribute], code - 1, search)

    cdef void settle_window(
        self, int64_t k, const vector[Keyed]& inside, const double[::1] shares, int32_t* end, int32_t wider, int32_t* limit,
        int32_t narrower, Search& search,
    ) noexcept nogil:
        """Settle the groups whose window reaches a value, then those whose window ends before it."""
        cdef int32_t end_before = end[0], limit_before = limit[0]
        end[0] = wider
        self.settle(k, inside, shares, search)
        end[0] = end_before
        limit[0] = narrower
        self.settle(k, inside, shares, search)
        limit[0] = limit_before

    cdef void price_near(
        self, const vector[Keyed]& near,
        vector[Keyed]& inside,          # OUT those that the limits allow, by the least loss of a group with the box and them
        Search& search,
    ) noexcept nogil:
        cdef double box = 0.0, loss
        cdef Py_ssize_t i, a, q = self.codes.shape[1]
        cdef int32_t place, code
        search.steps -= 2 * <int64_t>near.size() + 1
        for a in range(q):
            box += self.loss_in(a, search.low[a], search.high[a], search.n_values[a])
        for i in range(<Py_ssize_t>near.size()):
            place = near[i].second
            loss = box
            a = 0
            while a < q:
                code = self.codes[place, a]
                if not self.is_inside(a, code, search):
                    if not self.fits(a, code, search):
                        break
                    loss += self.more_with(a, code, search)
                a += 1
            if a == q:
                inside.push_back(Keyed(max(loss, near[i].first), place))
        cpp_sort(inside.begin(), inside.end())

    cdef void drop_useless(self, vector[Keyed]& inside, const double[::1] shares, const Search& search) noexcept nogil:
        """Drop the tuples that no group with an excess contains."""
        cdef Py_ssize_t i, kept = 0
        for i in range(<Py_ssize_t>inside.size()):
            if inside[i].first > search.farthest:
                break
            if inside[i].second == search.centre or shares[inside[i].second] >= search.lowest:
                inside[kept] = inside[i]
                kept += 1
        inside.resize(kept)

    cdef double worst_group(
        self, int64_t k, const vector[Keyed]& inside, const double[::1] shares, Search& search,
    ) noexcept nogil:
        """Return the most by which the sum of shares of a group can exceed its loss; the group is kept.

        Its loss counts as the greatest that one of its tuples causes together with the box, which it is at least.
        """
        cdef double worst = 0.0, loss, share, excess, last, lowest = -INFINITY
        cdef int64_t rows, room, taken, held = 1
        cdef Py_ssize_t i, j
        cdef int32_t place
        search.best.clear()
        search.farthest, search.lowest = -INFINITY, INFINITY
        search.steps -= <int64_t>inside.size() * (1 + k // 10)
        for i in range(<Py_ssize_t>inside.size()):
            loss, place = inside[i].first, inside[i].second
            share = search.share if place == search.centre else shares[place]
            room = self.counts[place] - (place == search.centre)
            if room == 0 or (held >= 2 * k - 1 and share <= lowest):
                continue
            search.best.push_back(Keyed(share, place))
            j = <Py_ssize_t>search.best.size() - 1
            while j > 0 and search.best[j - 1].first < share:
                search.best[j] = search.best[j - 1]
                j -= 1
            search.best[j] = Keyed(share, place)
            held += room
            # Forget tuples that no group has room for.
            while True:
                place = search.best.back().second
                room = self.counts[place] - (place == search.centre)
                if held - room < 2 * k - 1:
                    break
                held -= room
                search.best.pop_back()
            lowest = search.best.back().first
            if held < k:
                continue
            rows, excess, last = 1, search.share - loss, search.share
            for j in range(<Py_ssize_t>search.best.size()):
                share, place = search.best[j].first, search.best[j].second
                taken = min(self.counts[place] - (place == search.centre), (2 * k - 1 if share > loss else k) - rows)
                if taken <= 0:
                    break
                if rows < k:
                    last = share        # of the k rows that a group needs
                rows += taken
                excess += taken * (share - loss)
            if excess > 0.0:
                search.farthest = max(search.farthest, loss + excess / k)
                search.lowest = min(search.lowest, last - excess)
            if excess > worst:
                worst = excess
                self.keep_group(k, loss, search)
        return worst

    cdef void keep_group(self, int64_t k, double loss, Search& search) noexcept nogil:
        """Keep the worst group of this loss: k rows of the greatest shares, and up to k - 1 more above the loss."""
        cdef int64_t rows = 1, taken
        cdef Py_ssize_t j
        cdef int32_t place
        search.group.clear()
        search.taken.clear()
        for j in range(<Py_ssize_t>search.best.size()):
            place = search.best[j].second
            taken = min(
                self.counts[place] - (place == search.centre), (2 * k - 1 if search.best[j].first > loss else k) - rows
            )
            if taken <= 0:
                break
            rows += taken
            search.group.push_back(search.best[j])
            search.taken.push_back(taken)

    cdef double real_excess(self, Search& search) noexcept nogil:
        """Return the excess of the worst group over what it loses really."""
        search.steps -= <int64_t>(search.group.size() * search.group.size()) // 4
        cdef double loss = 0.0, excess
        cdef Py_ssize_t a, i, j
        cdef int32_t low, high, n, code
        for a in range(self.codes.shape[1]):
            low = high = self.codes[search.centre, a]
            n = 1
            for i in range(<Py_ssize_t>search.group.size()):
                code = self.codes[search.group[i].second, a]
                if not self.ordered[a] and code != self.codes[search.centre, a]:
                    n += 1
                    for j in range(i):
                        if self.codes[search.group[j].second, a] == code:
                            n -= 1
                            break
                low, high = min(low, code), max(high, code)
            loss += self.loss_in(a, low, high, n)
        excess = search.share - loss
        for i in range(<Py_ssize_t>search.group.size()):
            excess += search.taken[i] * (search.group[i].first - loss)
        return excess

    cdef void lower_by(self, double excess, Search& search) noexcept nogil:
        """Lower the share so far that the worst group no longer exceeds its loss."""
        cdef int64_t own = 1
        cdef Py_ssize_t i
        for i in range(<Py_ssize_t>search.group.size()):
            if search.group[i].second == search.centre:
                own += search.taken[i]
        search.share -= excess / own

    cdef int32_t choose_value(
        self, const Search& search,
        int32_t* attribute,             # OUT its attribute, -1 if no value of the group is outside the box
    ) noexcept nogil:
        """Return the value of the worst group outside the box that is dearest, times its rows."""
        cdef Py_ssize_t a, i, j
        cdef int32_t code, other, best = -1
        cdef int64_t rows
        cdef double score, most = -1.0
        for i in range(<Py_ssize_t>search.group.size()):
            for a in range(self.codes.shape[1]):
                code = self.codes[search.group[i].second, a]
                if self.is_inside(a, code, search):
                    continue
                rows = 0
                for j in range(<Py_ssize_t>search.group.size()):
                    other = self.codes[search.group[j].second, a]
                    if other == code or (self.ordered[a] and (other < code if code < search.low[a] else other > code)):
                        rows += search.taken[j]
                score = rows * self.more_with(a, code, search)
                if score > most:
                    most = score
                    best = code
                    attribute[0] = <int32_t>a
        return best
