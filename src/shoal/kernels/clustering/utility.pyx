# Longer than 400 lines: one class whose steps share all of its state.
# distutils: language = c++
"""Utility-driven clustering: merges that keep the most research value. Twin: tests/naive/utility.py."""

from libc.math cimport pow
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.vector cimport vector

from shoal.kernels.clustering.fractions cimport compare_sums
from shoal.kernels.clustering.roster cimport (
    Piece, Roster, enter_group, pop_smallest, sorted_numbers, strike_group, write_pieces,
)
from shoal.kernels.clustering.union_price cimport A_NODE, A_RANGE, Form, Forms, form_price, lay_forms, unite, write_tuple

cdef extern from *:
    """
    typedef __int128 Wide;
    """
    ctypedef long long Wide

cdef enum:
    NOTHING = 0     # may be suppressed
    ATTRIBUTES = 1
    ROWS = 2
    MOST_FOR_SUBSETS = 12   # up to this many attributes, several may be suppressed at once

# Losses with a smaller relative difference are compared exactly, in integers.
cdef double TOO_NEAR = 1e-13
# Scores that are not sums of fractions are equal if their relative difference is smaller.
cdef double TIE = 1e-11


cdef struct Offer:
    double loss         # of research value, if this merge is made
    double slack        # bound on the rounding error
    Py_ssize_t place    # of the other group


cdef class Utility:
    """Groups with their value sets, spans and sides of rules; group numbers are never reused."""

    cdef Forms forms
    cdef const int32_t[:, ::1] codes
    cdef object kept                            # keeps the arrays alive that the forms point into
    cdef Py_ssize_t width, q, n_words
    cdef int64_t k, room_for_rows
    cdef int32_t may_suppress
    cdef bint nested                            # ranges of an attribute must not overlap in part
    cdef bint by_cluster                        # score a merge by the merged group alone
    cdef double alpha                           # balance of granularity and rules; 0.5 is the plain product
    cdef int64_t n_rows
    cdef vector[int64_t] full_worth             # of each attribute, with all its rules
    cdef vector[int64_t] ones                   # span of a single value of each attribute
    cdef vector[int64_t] sums                   # sum over all rows of the span of their group
    cdef vector[int64_t] worth                  # of each attribute, including the rules that are kept
    cdef vector[int64_t] bases, rule_worth
    cdef vector[int32_t] pair_rule, rule_attribute, breaks  # breaks: number of groups that break each pair
    cdef vector[uint64_t] unbroken              # a bit for each pair whose rule no group breaks
    cdef vector[uint64_t] settled               # a bit for each pair that more than two groups break
    cdef vector[uint8_t] is_special              # of each group: whether an attribute is suppressed or a rule broken
    cdef vector[int64_t] lost, plain, without, hidden, worth_after, sums_after   # scratch space
    cdef vector[uint8_t] stars_after, broken
    cdef vector[uint64_t] union_sides
    cdef vector[uint64_t] tuple_sides           # of each tuple: words of one side, then of the other
    cdef Roster roster
    cdef vector[uint64_t] sides                 # of the existing groups, one after another
    cdef vector[int64_t] spans
    cdef vector[uint8_t] starred                # whether an attribute of a group is suppressed
    cdef vector[Piece] dropped                  # suppressed rows

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple
        const int64_t[::1] counts,          # IN  rows of each tuple
        object forms,                       # IN  the attributes: the arrays that lay_forms reads
        const int64_t[::1] ones,            # IN  span of a single value of each attribute
        const int64_t[::1] bases,           # IN  worth of each attribute without its rules
        const int64_t[::1] rule_worth,      # IN  worth of each rule
        const int32_t[::1] rule_attribute,  # IN  attribute of each rule
        const int32_t[::1] pair_rule,       # IN  rule of each pair of sides
        const uint64_t[:, ::1] one_side,    # IN  of each tuple, a bit for each pair: whether it is on one side
        const uint64_t[:, ::1] other_side,  # IN  the same for the other side
        int64_t k,                          # IN  minimum rows of a group
        int32_t may_suppress,               # IN  what may be suppressed: 0 nothing, 1 attributes of groups, 2 rows
        int64_t room_for_rows,              # IN  maximum number of suppressed rows
        bint nested,                        # IN  whether ranges of an attribute must not overlap in part
        bint by_cluster,                    # IN  whether a merge is scored by the merged group alone
        double alpha,                       # IN  balance of granularity and rules, from 0 to 1
    ):
        cdef Py_ssize_t i, w
        cdef vector[Piece] alone
        cdef vector[uint8_t] none
        lay_forms(forms, self.forms)
        self.codes, self.kept, self.k, self.may_suppress, self.nested = codes, forms, k, may_suppress, nested
        self.width, self.q, self.n_words = self.forms.width, codes.shape[1], one_side.shape[1]
        self.room_for_rows, self.by_cluster, self.alpha = room_for_rows, by_cluster, alpha
        self.n_rows = 0
        for i in range(counts.shape[0]):
            self.n_rows += counts[i]
        for i in range(self.q):
            self.ones.push_back(ones[i])
            self.bases.push_back(bases[i])
        self.full_worth = self.bases
        self.sums.assign(self.q, 0)
        for i in range(rule_worth.shape[0]):
            self.full_worth[rule_attribute[i]] += rule_worth[i]
            self.rule_worth.push_back(rule_worth[i])
            self.rule_attribute.push_back(rule_attribute[i])
        for i in range(pair_rule.shape[0]):
            self.pair_rule.push_back(pair_rule[i])
        self.breaks.assign(pair_rule.shape[0], 0)
        for i in range(codes.shape[0]):
            for w in range(self.n_words):
                self.tuple_sides.push_back(one_side[i, w])
            for w in range(self.n_words):
                self.tuple_sides.push_back(other_side[i, w])
        none.assign(self.q, 0)
        for i in range(codes.shape[0]):
            alone.assign(1, Piece(<int32_t>i, counts[i]))
            self.open(alone, none)
        self.update_worth()

    def merge(self, int64_t n_steps) -> int:
        """Merge n_steps small groups; return the number of small groups left. Cost of a step: O(q) for each group."""
        with nogil:
            while n_steps > 0 and self.roster.n_small > 0:
                self.step()
                n_steps -= 1
        return self.roster.n_small

    def pieces(self, int32_t[::1] tuples, int64_t[::1] rows, int32_t[::1] groups, uint8_t[:, ::1] starred) -> int:
        """Write all pieces, with renumbered groups and -1 if suppressed, as far as there is room; return their number.

        All arguments are OUT: tuple, rows and group of each piece; starred: the suppressed attributes of each group.
        """
        cdef vector[int32_t] numbers = sorted_numbers(self.roster)
        cdef Py_ssize_t i, j, n = write_pieces(self.roster, numbers, tuples, rows, groups)
        for i in range(min(<Py_ssize_t>numbers.size(), starred.shape[0])):
            for j in range(self.q):
                starred[i, j] = self.starred[self.roster.place[numbers[i]] * self.q + j]
        for j in range(<Py_ssize_t>self.dropped.size()):
            if n < tuples.shape[0]:
                tuples[n], rows[n], groups[n] = self.dropped[j].first, self.dropped[j].second, -1
            n += 1
        return n

    def count(self) -> int:
        """Return the number of groups."""
        return <int64_t>self.roster.number.size()

    cdef void step(self) noexcept nogil:
        """Merge the group with the fewest rows, ties by lowest tuple, where most research value remains."""
        cdef int32_t one = pop_smallest(self.roster), other
        cdef Py_ssize_t own = self.roster.place[one], best = self.find_best(own)
        cdef vector[Piece] members
        cdef vector[uint8_t] starred
        if best < 0 or self.better_dropped(own, best):
            self.drop(one)
        else:
            self.choose_stars(own, best, starred)
            other = self.roster.number[best]
            join(self.roster.members[one], self.roster.members[other], members)
            self.close(one)
            self.close(other)
            if self.nested:
                self.absorb_overlaps(members, starred)
            self.open(members, starred)
        self.update_worth()

    cdef void update_worth(self) noexcept nogil:
        """Update the worth of the attributes and the rules that are kept."""
        cdef Py_ssize_t p
        self.weigh(self.worth, NULL, NULL, NULL)
        self.unbroken.assign(self.n_words, 0)
        self.settled.assign(self.n_words, 0)
        for p in range(<Py_ssize_t>self.pair_rule.size()):
            if self.breaks[p] > 2:
                self.settled[p // 64] |= <uint64_t>1 << (p % 64)
            if not self.broken[self.pair_rule[p]]:
                self.unbroken[p // 64] |= <uint64_t>1 << (p % 64)

    cdef Py_ssize_t find_best(self, Py_ssize_t own) noexcept nogil:
        """Return the place of the group whose merge loses least, ties by lowest tuple."""
        cdef Py_ssize_t i
        cdef Offer best, offer
        cdef int sign
        if self.by_cluster or self.alpha != 0.5:
            return self.find_best_score(own)
        best.place = -1
        for i in range(<Py_ssize_t>self.roster.number.size()):
            if i == own:
                continue
            offer = self.weigh_offer(own, i, best)
            if best.place < 0 or offer.loss < best.loss - offer.slack - best.slack:
                best = offer
            elif offer.loss <= best.loss + offer.slack + best.slack:
                sign = self.compare_offers(own, i, best.place)
                if sign > 0 or (sign == 0 and self.lower(i, best.place)):
                    best = offer
        return best.place

    cdef Py_ssize_t find_best_score(self, Py_ssize_t own) noexcept nogil:
        """Return the place of the group whose merge scores most, ties by fewest suppressed attributes, lowest tuple."""
        cdef Py_ssize_t i, a, best = -1
        cdef double score, most = 0
        cdef int stars, fewest = 0
        for i in range(<Py_ssize_t>self.roster.number.size()):
            if i == own:
                continue
            score = self.score(own, i, self.stars_after)
            stars = 0
            for a in range(self.q):
                stars += self.stars_after[a]
            if best >= 0 and score < most - TIE * most:
                continue
            if best < 0 or score > most + TIE * most or stars < fewest or (stars == fewest and self.lower(i, best)):
                best, most, fewest = i, score, stars
        return best

    cdef double score(self, Py_ssize_t own, Py_ssize_t i, vector[uint8_t]& starred) noexcept nogil:
        """Return the sum of the research values after a merge, and the attributes to suppress in it."""
        cdef Py_ssize_t a, best = -1
        cdef int64_t span
        cdef double shown, hidden, gain, total = 0, most = 0
        cdef const uint64_t* x = self.roster.words.data() + own * self.width
        cdef const uint64_t* y = self.roster.words.data() + i * self.width
        starred.assign(self.q, 0)
        self.union_of_sides(own, i, self.union_sides)
        self.weigh_union(own, i, True, self.plain)
        if self.may_suppress == ATTRIBUTES:
            self.weigh_union(own, i, False, self.without)
        for a in range(self.q):
            span = form_price(&self.forms.each[a], x, y) + self.ones[a]
            shown = self.value(a, self.plain[a], own, i, span)
            total += shown
            if self.may_suppress == ATTRIBUTES:
                hidden = self.value(a, self.without[a], own, i, self.forms.each[a].full + self.ones[a])
                gain = hidden - shown
                if gain > TIE * hidden:
                    starred[a] = 1
                    if best < 0 or gain > most:
                        best, most = a, gain
                    if self.q <= MOST_FOR_SUBSETS:
                        total += gain
        if self.q > MOST_FOR_SUBSETS and best >= 0:
            starred.assign(self.q, 0)
            starred[best] = 1
            total += most
        return total

    cdef void weigh_union(self, Py_ssize_t own, Py_ssize_t i, bint shown, vector[int64_t]& worth) noexcept nogil:
        """Compute the worth of each attribute after a merge that shows its attributes, or suppresses them."""
        cdef Py_ssize_t p
        if not self.by_cluster:
            self.weigh(
                worth, &self.union_sides if shown else NULL, self.roster.number.data() + own, self.roster.number.data() + i
            )
            return
        worth = self.bases
        self.broken.assign(self.rule_worth.size(), 0)
        for p in range(<Py_ssize_t>self.pair_rule.size()):
            if shown and is_set(self.union_sides.data(), p) and is_set(self.union_sides.data() + self.n_words, p):
                self.broken[self.pair_rule[p]] = 1
        for p in range(<Py_ssize_t>self.broken.size()):
            if not self.broken[p]:
                worth[self.rule_attribute[p]] += self.rule_worth[p]

    cdef double value(self, Py_ssize_t a, int64_t worth, Py_ssize_t own, Py_ssize_t i, int64_t span) noexcept nogil:
        """Return the research value of an attribute after a merge with this span."""
        if self.by_cluster:
            return self.balanced(a, worth, <double>self.ones[a] / <double>span)
        return self.balanced_sum(a, worth, self.sums[a] + self.added(a, own, i, span))

    cdef double balanced_sum(self, Py_ssize_t a, int64_t worth, int64_t sum_of_spans) noexcept nogil:
        return self.balanced(a, worth, <double>self.n_rows * <double>self.ones[a] / <double>sum_of_spans)

    cdef double balanced(self, Py_ssize_t a, int64_t worth, double granularity) noexcept nogil:
        """Return weight x granularity^(2 alpha) x rules kept^(2 - 2 alpha)."""
        cdef double weight = <double>self.full_worth[a] / <double>self.ones[a], kept
        if self.full_worth[a] == 0:
            return 0
        kept = <double>worth / <double>self.full_worth[a]
        if self.alpha == 0.5:
            return weight * granularity * kept
        return weight * pow(granularity, 2 * self.alpha) * pow(kept, 2 - 2 * self.alpha)

    cdef bint lower(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        if self.roster.lowest[i] != self.roster.lowest[j]:
            return self.roster.lowest[i] < self.roster.lowest[j]
        return self.roster.number[i] < self.roster.number[j]

    cdef Offer weigh_offer(self, Py_ssize_t own, Py_ssize_t i, Offer best) noexcept nogil:
        """Compute the loss of a merge; once it exceeds the best loss, any loss above it."""
        cdef Py_ssize_t a
        cdef Offer offer
        cdef int64_t added
        cdef double value, left
        cdef bint breaks, hides = False
        cdef const uint64_t* x = self.roster.words.data() + own * self.width
        cdef const uint64_t* y = self.roster.words.data() + i * self.width
        if self.may_suppress == ATTRIBUTES and self.stars_may_pay(own, i):
            if self.q > MOST_FOR_SUBSETS or self.is_special[own] or self.is_special[i]:
                return self.weigh_stars(own, i)
            hides = True
        breaks = self.find_lost(own, i)
        offer.loss, offer.slack, offer.place = 0, 0, i
        for a in range(self.q):
            added = self.added(a, own, i, form_price(&self.forms.each[a], x, y) + self.ones[a])
            value = <double>self.worth[a] / <double>self.sums[a]
            if breaks and self.lost[a] > 0:
                left = <double>(self.worth[a] - self.lost[a]) / <double>(self.sums[a] + added)
                if hides:
                    added = self.added(a, own, i, self.forms.each[a].full + self.ones[a])
                    left = max(left, <double>self.worth[a] / <double>(self.sums[a] + added))
                offer.loss += value - left
                offer.slack += TOO_NEAR * value
            else:
                offer.loss += value * <double>added / <double>(self.sums[a] + added)
            if best.place >= 0 and offer.loss > best.loss * (1 + 4 * TOO_NEAR) + best.slack + 2 * offer.slack:
                break
        offer.slack += TOO_NEAR * offer.loss
        return offer

    cdef bint stars_may_pay(self, Py_ssize_t own, Py_ssize_t i) noexcept nogil:
        """Say whether suppression could pay: if it saves a rule, or if an attribute is suppressed already."""
        cdef Py_ssize_t w
        cdef const uint64_t* x = self.sides.data() + own * 2 * self.n_words
        cdef const uint64_t* y = self.sides.data() + i * 2 * self.n_words
        if self.is_special[own] or self.is_special[i]:
            return True
        for w in range(self.n_words):
            if (x[w] | y[w]) & (x[self.n_words + w] | y[self.n_words + w]) & ~self.settled[w]:
                return True
        return False

    cdef Offer weigh_stars(self, Py_ssize_t own, Py_ssize_t i) noexcept nogil:
        """Compute the loss of a merge in which attributes may be suppressed."""
        cdef Py_ssize_t a
        cdef Offer offer
        cdef double value
        self.outcome(own, i, self.worth_after, self.sums_after, self.stars_after)
        offer.loss, offer.slack, offer.place = 0, 0, i
        for a in range(self.q):
            value = <double>self.worth[a] / <double>self.sums[a]
            offer.loss += value - <double>self.worth_after[a] / <double>self.sums_after[a]
            offer.slack += TOO_NEAR * value
        return offer

    cdef bint find_lost(self, Py_ssize_t own, Py_ssize_t i) noexcept nogil:
        """Sum, by attribute, the worth of the rules that only this union breaks; say whether there are any."""
        cdef Py_ssize_t w, p
        cdef uint64_t bits, fresh = 0
        cdef const uint64_t* x = self.sides.data() + own * 2 * self.n_words
        cdef const uint64_t* y = self.sides.data() + i * 2 * self.n_words
        for w in range(self.n_words):
            fresh |= (x[w] | y[w]) & (x[self.n_words + w] | y[self.n_words + w]) & self.unbroken[w]
        if fresh == 0:
            return False
        self.lost.assign(self.q, 0)
        self.broken.assign(self.rule_worth.size(), 0)
        for p in range(<Py_ssize_t>self.pair_rule.size()):
            w = p // 64
            bits = (x[w] | y[w]) & (x[self.n_words + w] | y[self.n_words + w]) & self.unbroken[w]
            if is_set(&bits, p % 64) and not self.broken[self.pair_rule[p]]:
                self.broken[self.pair_rule[p]] = 1
                self.lost[self.rule_attribute[self.pair_rule[p]]] += self.rule_worth[self.pair_rule[p]]
        return True

    cdef int64_t added(self, Py_ssize_t a, Py_ssize_t own, Py_ssize_t i, int64_t span) noexcept nogil:
        """Return the increase of the sum of spans of an attribute if a merge has this span."""
        return (
            span * (self.roster.rows[own] + self.roster.rows[i])
            - self.spans[own * self.q + a] * self.roster.rows[own] - self.spans[i * self.q + a] * self.roster.rows[i]
        )

    cdef void outcome(
        self, Py_ssize_t own, Py_ssize_t i, vector[int64_t]& worth, vector[int64_t]& sums, vector[uint8_t]& starred,
    ) noexcept nogil:
        """Compute the worth and the sum of spans of each attribute after a merge, and the attributes to suppress."""
        cdef Py_ssize_t a, best = -1
        cdef int64_t span, full
        cdef double gain, most = 0
        cdef const uint64_t* x = self.roster.words.data() + own * self.width
        cdef const uint64_t* y = self.roster.words.data() + i * self.width
        starred.assign(self.q, 0)
        self.union_of_sides(own, i, self.union_sides)
        self.weigh(self.plain, &self.union_sides, self.roster.number.data() + own, self.roster.number.data() + i)
        worth = self.plain
        sums = self.sums
        for a in range(self.q):
            span = form_price(&self.forms.each[a], x, y) + self.ones[a]
            sums[a] += self.added(a, own, i, span)
        if self.may_suppress != ATTRIBUTES:
            return
        self.weigh(self.without, NULL, self.roster.number.data() + own, self.roster.number.data() + i)
        self.hidden.resize(self.q)
        for a in range(self.q):
            full = self.forms.each[a].full + self.ones[a]
            self.hidden[a] = self.sums[a] + self.added(a, own, i, full)
            if <Wide>self.without[a] * sums[a] > <Wide>self.plain[a] * self.hidden[a]:
                starred[a] = 1
                gain = <double>self.without[a] / <double>self.hidden[a] - <double>self.plain[a] / <double>sums[a]
                if best < 0 or gain > most:
                    best, most = a, gain
        for a in range(self.q):
            if self.q > MOST_FOR_SUBSETS and a != best:
                starred[a] = 0
            if starred[a]:
                worth[a], sums[a] = self.without[a], self.hidden[a]

    cdef int compare_offers(self, Py_ssize_t own, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Compare exactly what two merges leave; ties go to the merge that suppresses fewer attributes."""
        cdef vector[int64_t] worth, sums, other_worth, other_sums
        cdef vector[uint8_t] starred, other_starred
        cdef Py_ssize_t a
        cdef int sign
        self.outcome(own, i, worth, sums, starred)
        self.outcome(own, j, other_worth, other_sums, other_starred)
        sign = 0 if worth == other_worth and sums == other_sums else compare_sums(worth, sums, other_worth, other_sums)
        if sign == 0:
            for a in range(self.q):
                sign += other_starred[a] - starred[a]
        return sign

    cdef void choose_stars(self, Py_ssize_t own, Py_ssize_t i, vector[uint8_t]& starred) noexcept nogil:
        cdef vector[int64_t] worth, sums
        if self.by_cluster or self.alpha != 0.5:
            self.score(own, i, starred)
        else:
            self.outcome(own, i, worth, sums, starred)

    cdef bint better_dropped(self, Py_ssize_t own, Py_ssize_t i) noexcept nogil:
        """Say whether suppressing the rows of a group is allowed and leaves more than its best merge."""
        cdef vector[int64_t] worth, sums, dropped_worth, dropped_sums
        cdef vector[uint8_t] starred
        cdef Py_ssize_t a
        cdef int64_t span
        cdef double gain = 0, most = 0
        if self.may_suppress != ROWS or self.roster.rows[own] > self.room_for_rows:
            return False
        self.outcome(own, i, worth, sums, starred)
        self.weigh(dropped_worth, NULL, self.roster.number.data() + own, NULL)
        for a in range(self.q):
            span = self.forms.each[a].full + self.ones[a]
            dropped_sums.push_back(self.sums[a] + (span - self.spans[own * self.q + a]) * self.roster.rows[own])
        if self.alpha != 0.5:
            for a in range(self.q):
                gain += self.balanced_sum(a, dropped_worth[a], dropped_sums[a])
                most += self.balanced_sum(a, worth[a], sums[a])
            return gain > most + TIE * most
        return compare_sums(dropped_worth, dropped_sums, worth, sums) > 0

    cdef void drop(self, int32_t number) noexcept nogil:
        """Suppress the rows of a group; they count with the full span."""
        cdef Py_ssize_t a, at = self.roster.place[number]
        cdef int64_t rows = self.roster.rows[at]
        self.dropped.insert(self.dropped.end(), self.roster.members[number].begin(), self.roster.members[number].end())
        self.room_for_rows -= rows
        self.close(number)
        for a in range(self.q):
            self.sums[a] += (self.forms.each[a].full + self.ones[a]) * rows

    cdef void union_of_sides(self, Py_ssize_t own, Py_ssize_t i, vector[uint64_t]& out) noexcept nogil:
        cdef Py_ssize_t w
        out.clear()
        for w in range(2 * self.n_words):
            out.push_back(self.sides[own * 2 * self.n_words + w] | self.sides[i * 2 * self.n_words + w])

    cdef void weigh(
        self, vector[int64_t]& worth, const vector[uint64_t]* sides, const int32_t* gone, const int32_t* also_gone,
    ) noexcept nogil:
        """Compute the worth of each attribute after adding a group with these sides and removing two groups."""
        cdef Py_ssize_t p
        cdef int32_t n
        worth = self.bases
        self.broken.assign(self.rule_worth.size(), 0)
        for p in range(<Py_ssize_t>self.pair_rule.size()):
            n = self.breaks[p]
            if gone != NULL:
                n -= self.group_breaks(self.roster.place[gone[0]], p)
            if also_gone != NULL:
                n -= self.group_breaks(self.roster.place[also_gone[0]], p)
            if sides != NULL:
                n += is_set(sides.data(), p) and is_set(sides.data() + self.n_words, p)
            if n > 0:
                self.broken[self.pair_rule[p]] = 1
        for p in range(<Py_ssize_t>self.broken.size()):
            if not self.broken[p]:
                worth[self.rule_attribute[p]] += self.rule_worth[p]

    cdef int32_t group_breaks(self, Py_ssize_t at, Py_ssize_t p) noexcept nogil:
        cdef const uint64_t* sides = self.sides.data() + at * 2 * self.n_words
        if self.starred[at * self.q + self.rule_attribute[self.pair_rule[p]]]:
            return 0
        return is_set(sides, p) and is_set(sides + self.n_words, p)

    cdef void open(self, const vector[Piece]& members, const vector[uint8_t]& starred) noexcept nogil:
        """Make a group of these members, which are sorted."""
        cdef Py_ssize_t i, a, w, at = <Py_ssize_t>self.roster.number.size()
        cdef int64_t span
        cdef const uint64_t* words
        enter_group(self.forms, self.codes, self.k, members, self.roster)
        words = self.roster.words.data() + at * self.width
        self.sides.resize((at + 1) * 2 * self.n_words, 0)
        for i in range(<Py_ssize_t>members.size()):
            for w in range(2 * self.n_words):
                self.sides[at * 2 * self.n_words + w] |= self.tuple_sides[members[i].first * 2 * self.n_words + w]
        self.starred.insert(self.starred.end(), starred.begin(), starred.end())
        self.is_special.push_back(0)
        for a in range(self.q):
            self.is_special[at] |= starred[a]
            span = self.forms.each[a].full
            if not starred[a]:
                span = form_price(&self.forms.each[a], words, words)
            self.spans.push_back(span + self.ones[a])
            self.sums[a] += (span + self.ones[a]) * self.roster.rows[at]
        for i in range(<Py_ssize_t>self.breaks.size()):
            self.breaks[i] += self.group_breaks(at, i)
            self.is_special[at] |= self.group_breaks(at, i)

    cdef void close(self, int32_t number) noexcept nogil:
        """Remove a group; the last group moves to its place."""
        cdef Py_ssize_t i, at = self.roster.place[number], last = <Py_ssize_t>self.roster.number.size() - 1
        cdef Py_ssize_t two = 2 * self.n_words
        for i in range(<Py_ssize_t>self.breaks.size()):
            self.breaks[i] -= self.group_breaks(at, i)
        for i in range(self.q):
            self.sums[i] -= self.spans[at * self.q + i] * self.roster.rows[at]
            self.spans[at * self.q + i] = self.spans[last * self.q + i]
            self.starred[at * self.q + i] = self.starred[last * self.q + i]
        for i in range(two):
            self.sides[at * two + i] = self.sides[last * two + i]
        self.is_special[at] = self.is_special[last]
        self.is_special.pop_back()
        strike_group(self.forms, self.k, number, self.roster)
        self.sides.resize(last * two)
        self.spans.resize(last * self.q)
        self.starred.resize(last * self.q)

    cdef void absorb_overlaps(self, vector[Piece]& members, const vector[uint8_t]& starred) noexcept nogil:
        """Merge the groups that overlap the members in part, lowest tuple first."""
        cdef Py_ssize_t i, found
        cdef int32_t lowest = 0
        cdef vector[uint64_t] whole, one
        cdef vector[Piece] more
        whole.resize(self.width)
        one.resize(self.width)
        write_tuple(self.forms, &self.codes[members[0].first, 0], whole.data())
        for i in range(<Py_ssize_t>members.size()):
            write_tuple(self.forms, &self.codes[members[i].first, 0], one.data())
            unite(self.forms, whole.data(), one.data())
        while True:
            found = -1
            for i in range(<Py_ssize_t>self.roster.number.size()):
                if found >= 0 and self.roster.members[self.roster.number[i]][0].first > lowest:
                    continue
                if self.overlaps(whole.data(), starred, i):
                    found, lowest = i, self.roster.members[self.roster.number[i]][0].first
            if found < 0:
                break
            unite(self.forms, whole.data(), self.roster.words.data() + found * self.width)
            more.clear()
            join(members, self.roster.members[self.roster.number[found]], more)
            members.swap(more)
            self.close(self.roster.number[found])

    cdef bint overlaps(self, const uint64_t* x, const vector[uint8_t]& starred, Py_ssize_t i) noexcept nogil:
        """Say whether a set and a group share values of an attribute while each has values of its own."""
        cdef Py_ssize_t a
        cdef int32_t w
        cdef bint shared, own, others
        cdef const Form* form
        cdef const uint64_t* y = self.roster.words.data() + i * self.width
        for a in range(self.q):
            form = &self.forms.each[a]
            w = form.word
            if starred[a] or self.starred[i * self.q + a] or form.kind == A_NODE:
                continue
            if form.kind == A_RANGE:
                if <int64_t>x[w] < 0 or <int64_t>y[w] < 0:  # missing values are released as they are, or as *
                    continue
                shared = max(<int64_t>x[w], <int64_t>y[w]) <= min(<int64_t>x[w + 1], <int64_t>y[w + 1])
                own = <int64_t>x[w] < <int64_t>y[w] or <int64_t>x[w + 1] > <int64_t>y[w + 1]
                others = <int64_t>y[w] < <int64_t>x[w] or <int64_t>y[w + 1] > <int64_t>x[w + 1]
            else:
                shared = own = others = False
                for w in range(form.word, form.end):
                    shared = shared or (x[w] & y[w]) != 0
                    own = own or (x[w] & ~y[w]) != 0
                    others = others or (y[w] & ~x[w]) != 0
            if shared and own and others:
                return True
        return False


cdef inline int32_t is_set(const uint64_t* words, Py_ssize_t bit) noexcept nogil:
    return <int32_t>(words[bit // 64] >> (bit % 64) & 1)


cdef void join(const vector[Piece]& one, const vector[Piece]& other, vector[Piece]& out) noexcept nogil:
    """Join the members of two groups, sorted; no tuple is in both."""
    out = one
    out.insert(out.end(), other.begin(), other.end())
    cpp_sort(out.begin(), out.end())
