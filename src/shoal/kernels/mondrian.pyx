# Longer than 400 lines: cuts of numbers, categories and trees share one scratch space and one sort.
# distutils: language = c++
"""Mondrian's cuts over the distinct tuples of a table. Twin: tests/naive/mondrian.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as cbool
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

ctypedef pair[double, int32_t] Width
ctypedef pair[int64_t, int64_t] Weighted

# Sixteenths of the rows at which numbers and dates are cut in turn if the first cut is refused.
cdef int[15] SIXTEENTHS = [8, 4, 12, 6, 10, 2, 14, 7, 9, 5, 11, 3, 13, 1, 15]

cdef enum:
    N_PLACES = 15   # further places to cut an attribute at

cdef enum Form:
    CATEGORY = 0
    ORDERED = 1
    TREE = 2


cdef struct Segment:
    int32_t start
    int32_t stop


cdef cppclass Scratch:
    vector[Segment] stack
    vector[Width] widths            # (-width, attribute) of the attributes that can be cut
    vector[int64_t] histogram       # all zero between uses
    vector[Weighted] present         # codes or nodes that were counted, with their rows
    vector[int32_t] part            # part of each code or node
    vector[int32_t] ends            # end of each part, in order
    vector[int32_t] sorted
    vector[int64_t] seen            # last stamp of each person
    int64_t stamp


cdef class Cuts:
    """The tuples of a table, unchanged by cuts; split() is thread-safe."""

    cdef const int32_t[:, ::1] codes
    cdef const int64_t[::1] counts
    cdef const int64_t[::1] row_starts
    cdef const int32_t[::1] people
    cdef const uint8_t[::1] forms
    cdef const double[::1] spans
    cdef const int32_t[::1] missing
    cdef const double[::1] values
    cdef const int64_t[::1] value_starts
    cdef const int32_t[::1] heights
    cdef const int32_t[::1] nodes
    cdef const int64_t[::1] node_starts
    cdef const int32_t[::1] sizes
    cdef const int64_t[::1] size_starts
    cdef int64_t n_people, largest

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple; numbers and dates by rank, a missing value last
        const int64_t[::1] counts,          # IN  rows of each tuple
        const int32_t[::1] people,          # IN  person of each row, tuple after tuple; empty if each row is a person
        const uint8_t[::1] forms,           # IN  of each attribute: 0 for categories, 1 for numbers or dates, 2 for a tree
        const double[::1] spans,            # IN  range in the table (categories and trees: number of values)
        const int32_t[::1] missing,         # IN  code of the missing value of a number or date, or -1
        const double[::1] values,           # IN  value of each code, attribute after attribute (numbers and dates)
        const int64_t[::1] value_starts,    # IN  start of each attribute in `values`, and the end
        const int32_t[::1] heights,         # IN  levels above the codes of a tree
        const int32_t[::1] nodes,           # IN  node of each code at each level, tree after tree
        const int64_t[::1] node_starts,     # IN  start of each attribute in `nodes`
        const int32_t[::1] sizes,           # IN  codes below each node, tree after tree
        const int64_t[::1] size_starts,     # IN  start of each attribute in `sizes`, and the end
    ):
        cdef Py_ssize_t i
        cdef int64_t[::1] row_starts
        self.codes, self.counts, self.people, self.forms = codes, counts, people, forms
        self.spans, self.missing, self.values, self.value_starts = spans, missing, values, value_starts
        self.heights, self.nodes, self.node_starts = heights, nodes, node_starts
        self.sizes, self.size_starts = sizes, size_starts
        row_starts = counts.copy()
        for i in range(counts.shape[0]):
            row_starts[i] = row_starts[i - 1] + counts[i - 1] if i > 0 else 0
        self.row_starts = row_starts
        self.n_people = 0
        for i in range(people.shape[0]):
            self.n_people = max(self.n_people, people[i] + 1)
        self.largest = 1
        for i in range(forms.shape[0]):
            self.largest = max(self.largest, value_starts[i + 1] - value_starts[i], size_starts[i + 1] - size_starts[i])

    def split(
        self,
        int64_t k,                  # IN  minimum rows (or people) on each side of a cut
        bint relaxed,               # IN  whether rows of one value may go to several sides (every count must be 1)
        int64_t pending_below,      # IN  segments with fewer tuples are left for later (0: none)
        int32_t[::1] order,         # IN and OUT  tuples, permuted so that each group is one run
        uint8_t[::1] marks,         # OUT 1 where a finished group begins, 2 where a pending segment begins
    ) -> None:
        """Cut the tuples of `order` until no cut is allowable.

        Cost: O(q m) for a level of cuts over m tuples and q attributes.
        """
        cdef Scratch scratch
        cdef Segment segment
        cdef Py_ssize_t i
        cdef int32_t start
        if order.shape[0] == 0:
            return
        with nogil:
            self.clear(scratch)
            scratch.stack.push_back(Segment(0, <int32_t>order.shape[0]))
            while not scratch.stack.empty():
                segment = scratch.stack.back()
                scratch.stack.pop_back()
                if segment.stop - segment.start < pending_below:
                    marks[segment.start] = 2
                    continue
                if self.cut_from(0, 1, k, relaxed, order, segment, scratch) == 0:
                    marks[segment.start] = 1
                    continue
                for i in range(<Py_ssize_t>scratch.ends.size() - 1, -1, -1):
                    start = scratch.ends[i - 1] if i > 0 else segment.start
                    scratch.stack.push_back(Segment(start, scratch.ends[i]))

    def propose(
        self,
        int64_t k,                  # IN  as for split
        bint relaxed,               # IN  as for split
        int32_t n_choices,          # IN  cuts to try for each attribute: 1, or more if models may refuse the first
        const int64_t[::1] starts,  # IN  start of each segment in `order`
        const int64_t[::1] stops,   # IN  end of each segment
        int32_t[::1] tried,         # IN and OUT  number of cuts of each segment that were tried
        int32_t[::1] order,         # IN and OUT  tuples; segments that are cut are permuted
        int32_t[::1] parts,         # OUT for each place in `order`, the part of its segment; 0 if it is not cut
        uint8_t[::1] cuts,          # OUT whether each segment is cut
    ) -> None:
        """Make the next cut of each segment that leaves enough rows on each side.

        The first cuts of all attributes come first, widest attribute first, then the second cuts, and so on. Inside a
        part the tuples keep their order, so that sorting a segment undoes its cut.
        """
        cdef Scratch scratch
        cdef Segment segment
        cdef Py_ssize_t i, part, place
        cdef int32_t done
        with nogil:
            self.clear(scratch)
            for i in range(starts.shape[0]):
                segment = Segment(<int32_t>starts[i], <int32_t>stops[i])
                done = self.cut_from(tried[i], n_choices, k, relaxed, order, segment, scratch)
                cuts[i] = done > 0
                if done > 0:
                    tried[i] = done
                    place = segment.start
                    for part in range(<Py_ssize_t>scratch.ends.size()):
                        while place < scratch.ends[part]:
                            parts[place] = <int32_t>part
                            place += 1

    cdef void clear(self, Scratch& scratch) noexcept nogil:
        scratch.histogram.assign(self.largest, 0)
        scratch.part.assign(self.largest, 0)
        scratch.seen.assign(self.n_people, 0)
        scratch.stamp = 0

    cdef int32_t cut_from(self, int32_t tried, int32_t n_choices, int64_t k, bint relaxed, int32_t[::1] order,
                          Segment segment, Scratch& scratch) noexcept nogil:
        """Make the next allowable cut of a segment after the first `tried`; return the number of cuts tried, 0 if none."""
        cdef int32_t i, n_widths, choice, attribute
        cdef cbool found
        self.measure_widths(order, segment, scratch)
        cpp_sort(scratch.widths.begin(), scratch.widths.end())
        n_widths = <int32_t>scratch.widths.size()
        for i in range(tried, n_choices * n_widths):
            attribute, choice = scratch.widths[i % n_widths].second, i // n_widths
            if choice == 0:
                found = self.cut(attribute, k, relaxed, order, segment, scratch)
            else:
                found = self.cut_alternatively(attribute, choice, k, order, segment, scratch)
            if found:
                return i + 1
        return 0

    cdef cbool cut_alternatively(self, int32_t attribute, int32_t choice, int64_t k, int32_t[::1] order, Segment segment,
                             Scratch& scratch) noexcept nogil:
        """Cut numbers and dates at another share of the rows; separate a frequent category from the others."""
        cdef Py_ssize_t i
        cdef int64_t total, left = 0
        cdef int32_t pivot = -1
        if self.forms[attribute] == TREE:
            return False
        total = self.tally(attribute, 0, order, segment, scratch)
        if self.forms[attribute] == ORDERED:
            if choice > N_PLACES:
                return False
            cpp_sort(scratch.present.begin(), scratch.present.end())
            for i in range(<Py_ssize_t>scratch.present.size()):
                pivot = <int32_t>scratch.present[i].first
                left += scratch.present[i].second
                if 16 * left >= SIXTEENTHS[choice - 1] * total:
                    break
            if left < k or total - left < k:
                return False
            self.divide(attribute, pivot, 0, order, segment, scratch)
            return self.keeps_people(k, order, segment, scratch)
        if choice > <int32_t>scratch.present.size():
            return False
        sort_by_rows(scratch.present)
        left = -scratch.present[choice - 1].first
        if left < k or total - left < k:
            return False
        for i in range(<Py_ssize_t>scratch.present.size()):
            scratch.part[scratch.present[i].second] = i != choice - 1
        self.sort_parts(attribute, 0, 2, order, segment, scratch)
        return self.keeps_people(k, order, segment, scratch)

    cdef void measure_widths(self, const int32_t[::1] order, Segment segment, Scratch& scratch) noexcept nogil:
        """Measure the width of each attribute in a segment; skip attributes with a single value."""
        cdef Py_ssize_t attribute, i
        cdef int32_t code, low, high
        cdef int64_t distinct, base
        cdef cbool has_missing
        cdef double width
        scratch.widths.clear()
        for attribute in range(self.codes.shape[1]):
            if self.forms[attribute] == ORDERED:
                low, high, has_missing = 2147483647, -1, False
                for i in range(segment.start, segment.stop):
                    code = self.codes[order[i], attribute]
                    if code == self.missing[attribute]:
                        has_missing = True
                        continue
                    low, high = min(low, code), max(high, code)
                if high < 0 or (not has_missing and (high == low or self.spans[attribute] == 0)):
                    continue  # a span of 0 over several values: float64 cannot separate them
                base = self.value_starts[attribute]
                width = 1.0
                if not has_missing:
                    width = (self.values[base + high] - self.values[base + low]) / self.spans[attribute]
            elif self.forms[attribute] == TREE:
                i = self.common_level(attribute, order, segment)
                if i == 0:
                    continue
                code = self.node(attribute, i, self.codes[order[segment.start], attribute])
                width = self.sizes[self.size_starts[attribute] + code] / self.spans[attribute]
            else:
                distinct = 0
                for i in range(segment.start, segment.stop):
                    code = self.codes[order[i], attribute]
                    distinct += scratch.histogram[code] == 0
                    scratch.histogram[code] = 1
                for i in range(segment.start, segment.stop):
                    scratch.histogram[self.codes[order[i], attribute]] = 0
                if distinct < 2:
                    continue
                width = distinct / self.spans[attribute]
            scratch.widths.push_back(Width(-width, <int32_t>attribute))

    cdef int32_t node(self, Py_ssize_t attribute, Py_ssize_t level, int32_t code) noexcept nogil:
        cdef int64_t card = <int64_t>self.spans[attribute]
        return self.nodes[self.node_starts[attribute] + level * card + code]

    cdef Py_ssize_t common_level(self, Py_ssize_t attribute, const int32_t[::1] order, Segment segment) noexcept nogil:
        """Return the lowest level at which all tuples of a segment share a node."""
        cdef Py_ssize_t level = 0, i = segment.start + 1
        cdef int32_t first = self.codes[order[segment.start], attribute]
        while i < segment.stop:
            if self.node(attribute, level, first) == self.node(attribute, level, self.codes[order[i], attribute]):
                i += 1
            else:
                level += 1  # tuples that shared a node below share one here too
        return level

    cdef cbool cut(self, int32_t attribute, int64_t k, bint relaxed, int32_t[::1] order, Segment segment,
                   Scratch& scratch) noexcept nogil:
        """Cut a segment along an attribute if that is allowable; the parts end at scratch.ends.

        If people are counted, a cut that leaves too few of them is followed by the other places of the attribute.
        """
        cdef cbool found
        cdef int32_t choice
        if self.forms[attribute] == ORDERED:
            found = self.cut_ordered(attribute, k, relaxed, order, segment, scratch)
        elif self.forms[attribute] == TREE:
            found = self.cut_tree(attribute, k, relaxed, order, segment, scratch)
        else:
            found = self.cut_values(attribute, k, relaxed, order, segment, scratch)
        if found and self.keeps_people(k, order, segment, scratch):
            return True
        if self.people.shape[0] > 0:
            for choice in range(1, N_PLACES + 1):
                if self.cut_alternatively(attribute, choice, k, order, segment, scratch):
                    return True
        return False

    cdef cbool keeps_people(self, int64_t k, int32_t[::1] order, Segment segment, Scratch& scratch) noexcept nogil:
        """Say whether a cut leaves k people in every part, if people are counted; undo it if it does not."""
        if self.people.shape[0] == 0 or self.has_people(k, order, segment, scratch):
            return True
        cpp_sort(&order[segment.start], &order[segment.start] + (segment.stop - segment.start))  # restore the order
        return False

    cdef cbool has_people(self, int64_t k, const int32_t[::1] order, Segment segment, Scratch& scratch) noexcept nogil:
        """Say whether every part has rows of at least k people."""
        cdef Py_ssize_t part, i
        cdef int32_t start = segment.start
        cdef int64_t row, distinct
        for part in range(<Py_ssize_t>scratch.ends.size()):
            scratch.stamp += 1
            distinct = 0
            for i in range(start, scratch.ends[part]):
                for row in range(self.row_starts[order[i]], self.row_starts[order[i]] + self.counts[order[i]]):
                    distinct += scratch.seen[self.people[row]] != scratch.stamp
                    scratch.seen[self.people[row]] = scratch.stamp
            if distinct < k:
                return False
            start = scratch.ends[part]
        return True

    cdef int64_t tally(self, Py_ssize_t attribute, Py_ssize_t level, const int32_t[::1] order, Segment segment,
                       Scratch& scratch) noexcept nogil:
        """Count the rows of each code (or node of a level) of a segment, in any order; return the total."""
        cdef Py_ssize_t i
        cdef int32_t code
        cdef int64_t total = 0
        scratch.present.clear()
        for i in range(segment.start, segment.stop):
            code = self.codes[order[i], attribute]
            if level > 0:
                code = self.node(attribute, level, code)
            if scratch.histogram[code] == 0:
                scratch.present.push_back(Weighted(code, 0))
            scratch.histogram[code] += self.counts[order[i]]
        for i in range(<Py_ssize_t>scratch.present.size()):
            code = <int32_t>scratch.present[i].first
            scratch.present[i].second = scratch.histogram[code]
            total += scratch.histogram[code]
            scratch.histogram[code] = 0
        return total

    cdef cbool cut_ordered(self, Py_ssize_t attribute, int64_t k, bint relaxed, int32_t[::1] order, Segment segment,
                           Scratch& scratch) noexcept nogil:
        """Cut at the lower median; missing values are cut off first if possible, else they stay on the right."""
        cdef Py_ssize_t i
        cdef int64_t total, absent, below = 0, equal = 0
        cdef int32_t pivot = -1, missing = self.missing[attribute]
        total = self.tally(attribute, 0, order, segment, scratch)
        cpp_sort(scratch.present.begin(), scratch.present.end())
        if scratch.present.back().first == missing:
            absent = scratch.present.back().second
            if absent >= k and total - absent >= k:
                self.divide(attribute, missing - 1, 0, order, segment, scratch)
                return True
        for i in range(<Py_ssize_t>scratch.present.size()):
            pivot = <int32_t>scratch.present[i].first
            equal = scratch.present[i].second
            if below + equal >= (total + 1) // 2:
                break
            below += equal
        if relaxed:
            if total < 2 * k:
                return False
            self.divide(attribute, pivot - 1, total // 2 - below, order, segment, scratch)
            return True
        if below + equal < k or total - below - equal < k:
            return False
        self.divide(attribute, pivot, 0, order, segment, scratch)
        return True

    cdef void divide(self, Py_ssize_t attribute, int32_t pivot, int64_t quota, int32_t[::1] order, Segment segment,
                     Scratch& scratch) noexcept nogil:
        """Move the codes up to `pivot`, and the first `quota` tuples of the next code, to the left."""
        cdef Py_ssize_t i
        cdef int32_t code, write = segment.start
        scratch.sorted.clear()
        for i in range(segment.start, segment.stop):
            code = self.codes[order[i], attribute]
            if code > pivot and not (code == pivot + 1 and quota > 0):
                scratch.sorted.push_back(order[i])
                continue
            if code == pivot + 1:
                quota -= 1
            order[write] = order[i]
            write += 1
        for i in range(<Py_ssize_t>scratch.sorted.size()):
            order[write + i] = scratch.sorted[i]
        scratch.ends.clear()
        scratch.ends.push_back(write)
        scratch.ends.push_back(segment.stop)

    cdef cbool cut_values(self, Py_ssize_t attribute, int64_t k, bint relaxed, int32_t[::1] order, Segment segment,
                          Scratch& scratch) noexcept nogil:
        """Assign the values, most frequent first, to the side with fewer rows."""
        cdef Py_ssize_t i
        cdef int64_t left = 0, right = 0, half
        self.tally(attribute, 0, order, segment, scratch)
        sort_by_rows(scratch.present)
        for i in range(<Py_ssize_t>scratch.present.size()):
            if left <= right:
                scratch.part[scratch.present[i].second] = 0
                left -= scratch.present[i].first
            else:
                scratch.part[scratch.present[i].second] = 1
                right -= scratch.present[i].first
        if left >= k and right >= k:
            self.sort_parts(attribute, 0, 2, order, segment, scratch)
            return True
        if not relaxed or left + right < 2 * k:
            return False
        # Fill the left half with values, most frequent first; the first rows of the next value complete it.
        half = (left + right) // 2
        for i in range(<Py_ssize_t>scratch.present.size()):
            scratch.part[scratch.present[i].second] = 1
            scratch.histogram[scratch.present[i].second] = min(-scratch.present[i].first, half)
            half -= scratch.histogram[scratch.present[i].second]
        self.sort_parts(attribute, 0, 2, order, segment, scratch)
        return True

    cdef cbool cut_tree(self, Py_ssize_t attribute, int64_t k, bint relaxed, int32_t[::1] order, Segment segment,
                        Scratch& scratch) noexcept nogil:
        """Cut into the children of the segment's node, each with k rows.

        If relaxed, children with fewer rows stay together and, if needed, borrow the first rows of the largest child.
        """
        cdef Py_ssize_t i, level = self.common_level(attribute, order, segment) - 1
        cdef int64_t total = self.tally(attribute, level, order, segment, scratch), pooled = 0
        cdef int32_t n_parts = 0, largest
        sort_by_rows(scratch.present)
        for i in range(<Py_ssize_t>scratch.present.size()):
            if -scratch.present[i].first >= k:
                scratch.part[scratch.present[i].second] = n_parts
                n_parts += 1
            else:
                pooled -= scratch.present[i].first
        if pooled == 0:
            self.sort_parts(attribute, level, n_parts, order, segment, scratch)
            return True
        if not relaxed or n_parts == 0 or total < 2 * k:
            return False
        if pooled < k:
            largest = <int32_t>scratch.present[0].second
            if -scratch.present[0].first - (k - pooled) < k:
                return False
            # These rows go to part 0, the pool; the parts of the children move up by one.
            scratch.histogram[largest] = k - pooled
        for i in range(<Py_ssize_t>scratch.present.size()):
            scratch.part[scratch.present[i].second] = 1 + <int32_t>i if -scratch.present[i].first >= k else 0
        self.sort_parts(attribute, level, n_parts + 1, order, segment, scratch)
        return True

    cdef void sort_parts(self, Py_ssize_t attribute, Py_ssize_t level, int32_t n_parts, int32_t[::1] order,
                         Segment segment, Scratch& scratch) noexcept nogil:
        """Sort the tuples by the part of their code (or node); stable.

        The histogram says how many of the first rows of a code go to part 0; it is all zero afterwards.
        """
        cdef Py_ssize_t i, part
        cdef int32_t code
        cdef vector[int32_t] writes, chosen
        writes.assign(n_parts + 1, 0)
        chosen.resize(segment.stop - segment.start)
        for i in range(segment.start, segment.stop):
            code = self.codes[order[i], attribute]
            if level > 0:
                code = self.node(attribute, level, code)
            part = scratch.part[code]
            if scratch.histogram[code] > 0:
                scratch.histogram[code] -= 1
                part = 0
            chosen[i - segment.start] = <int32_t>part
            writes[part + 1] += 1
        scratch.ends.clear()
        for part in range(n_parts):
            writes[part + 1] += writes[part]
            scratch.ends.push_back(segment.start + writes[part + 1])
        scratch.sorted.resize(chosen.size())
        for i in range(<Py_ssize_t>chosen.size()):
            scratch.sorted[writes[chosen[i]]] = order[segment.start + i]
            writes[chosen[i]] += 1
        for i in range(<Py_ssize_t>chosen.size()):
            order[segment.start + i] = scratch.sorted[i]


cdef void sort_by_rows(vector[Weighted]& present) noexcept nogil:
    """Turn (code, rows) into (-rows, code), sorted: most rows first, then the lowest code."""
    cdef Py_ssize_t i
    cdef int64_t code
    for i in range(<Py_ssize_t>present.size()):
        code = present[i].first
        present[i].first = -present[i].second
        present[i].second = code
    cpp_sort(present.begin(), present.end())
