# distutils: language = c++
"""Mondrian's cuts over the distinct tuples of a table. Twin: tests/naive/mondrian.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as cbool
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector



cdef struct Segment:
    int32_t start
    int32_t stop


ctypedef pair[double, int32_t] Width
ctypedef pair[int64_t, int64_t] Weighed


def split_segments(
    const int32_t[:, ::1] codes,    # IN  one row a tuple; numbers and dates by rank, a missing one last
    const int64_t[::1] counts,      # IN  rows of each tuple
    const double[::1] values,       # IN  value of each code, attribute after attribute (categorical: unused)
    const int64_t[::1] offsets,     # IN  where an attribute's values begin, one more at the end
    const double[::1] spans,        # IN  range of the whole input (categorical: number of values)
    const int32_t[::1] missing,     # IN  code of the missing value of a number or date, -1 where there is none
    const uint8_t[::1] ordered,     # IN  1 for numbers and dates, 0 for categories
    int64_t k,                      # IN  least number of rows on each side of a cut
    bint relaxed,                   # IN  rows of the median value may go to both sides (every count must be 1)
    int64_t pending_below,          # IN  segments of fewer tuples are left for later (0: none are)
    int32_t[::1] order,             # IN and OUT  tuples, permuted so that each group is one run
    uint8_t[::1] marks,             # OUT 1 where a finished group begins, 2 where a pending segment begins
) -> None:
    """Cut the tuples of `order` until no allowable cut is left.

    Cost: O(q m) for a level of cuts over m tuples and q attributes. Widths tie by attribute order; the median is the
    lower one; a category's values go, from the most frequent on, to the side that has fewer rows.
    """
    cdef vector[Segment] stack
    cdef vector[Width] widths
    cdef vector[int64_t] histogram
    cdef vector[Weighed] present
    cdef vector[uint8_t] goes_left
    cdef vector[int32_t] keep
    cdef Segment segment
    cdef Py_ssize_t attribute, q = codes.shape[1]
    cdef int32_t middle
    cdef int64_t largest = 1
    cdef Py_ssize_t i
    if order.shape[0] == 0:
        return
    for attribute in range(q):
        if offsets[attribute + 1] - offsets[attribute] > largest:
            largest = offsets[attribute + 1] - offsets[attribute]
    with nogil:
        histogram.assign(largest, 0)
        goes_left.assign(largest, 0)
        segment.start = 0
        segment.stop = <int32_t>order.shape[0]
        stack.push_back(segment)
        while not stack.empty():
            segment = stack.back()
            stack.pop_back()
            if segment.stop - segment.start < pending_below:
                marks[segment.start] = 2
                continue
            measure_widths(codes, counts, values, offsets, spans, missing, ordered, order, segment, histogram, widths)
            cpp_sort(widths.begin(), widths.end())
            middle = -1
            for i in range(<Py_ssize_t>widths.size()):
                attribute = widths[i].second
                if ordered[attribute]:
                    middle = cut_ordered(codes, counts, attribute, missing[attribute], k, relaxed, order, segment,
                                         histogram, present, keep)
                else:
                    middle = cut_values(codes, counts, attribute, k, relaxed, order, segment,
                                        histogram, present, goes_left, keep)
                if middle >= 0:
                    break
            if middle < 0:
                marks[segment.start] = 1
                continue
            stack.push_back(Segment(middle, segment.stop))
            stack.push_back(Segment(segment.start, middle))


cdef void measure_widths(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, const double[::1] values, const int64_t[::1] offsets,
    const double[::1] spans, const int32_t[::1] missing, const uint8_t[::1] ordered, const int32_t[::1] order,
    Segment segment,
    vector[int64_t]& seen,      # all zero, given back all zero
    vector[Width]& widths,      # OUT (-width, attribute) of the attributes that can be cut
) noexcept nogil:
    cdef Py_ssize_t attribute, i
    cdef int32_t code, low, high
    cdef int64_t distinct
    cdef cbool has_missing
    cdef double width
    widths.clear()
    for attribute in range(codes.shape[1]):
        if ordered[attribute]:
            low, high, has_missing = 2147483647, -1, False
            for i in range(segment.start, segment.stop):
                code = codes[order[i], attribute]
                if code == missing[attribute]:
                    has_missing = True
                    continue
                if code < low:
                    low = code
                if code > high:
                    high = code
            if high < 0:
                continue
            if has_missing:
                width = 1.0
            elif high == low:
                continue
            else:
                width = (values[offsets[attribute] + high] - values[offsets[attribute] + low]) / spans[attribute]
        else:
            distinct = 0
            for i in range(segment.start, segment.stop):
                code = codes[order[i], attribute]
                if seen[code] == 0:
                    seen[code] = 1
                    distinct += 1
            for i in range(segment.start, segment.stop):
                seen[codes[order[i], attribute]] = 0
            if distinct < 2:
                continue
            width = distinct / spans[attribute]
        widths.push_back(Width(-width, <int32_t>attribute))


cdef void tally(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, Py_ssize_t attribute, const int32_t[::1] order,
    Segment segment,
    vector[int64_t]& histogram,     # all zero, given back all zero
    vector[Weighed]& present,       # OUT (code, rows), one for each code of the segment, unordered
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t code
    present.clear()
    for i in range(segment.start, segment.stop):
        code = codes[order[i], attribute]
        if histogram[code] == 0:
            present.push_back(Weighed(code, 0))
        histogram[code] += counts[order[i]]
    for i in range(<Py_ssize_t>present.size()):
        code = <int32_t>present[i].first
        present[i].second = histogram[code]
        histogram[code] = 0


cdef int32_t cut_ordered(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, Py_ssize_t attribute, int32_t missing, int64_t k,
    bint relaxed, int32_t[::1] order, Segment segment, vector[int64_t]& histogram, vector[Weighed]& present,
    vector[int32_t]& keep,
) noexcept nogil:
    """Cut at the lower median; a missing value first leaves the others, or else stays on the right."""
    cdef Py_ssize_t i
    cdef int64_t total = 0, absent = 0, below = 0, equal = 0, half
    cdef int32_t pivot = -1
    tally(codes, counts, attribute, order, segment, histogram, present)
    cpp_sort(present.begin(), present.end())
    for i in range(<Py_ssize_t>present.size()):
        total += present[i].second
    if present.back().first == missing:
        absent = present.back().second
        if absent >= k and total - absent >= k:
            return divide(codes, attribute, missing - 1, 0, order, segment, keep)
    half = (total + 1) // 2
    for i in range(<Py_ssize_t>present.size()):
        pivot = <int32_t>present[i].first
        equal = present[i].second
        if below + equal >= half:
            break
        below += equal
    if pivot == missing:
        return -1
    if relaxed:
        if total < 2 * k:
            return -1
        return divide(codes, attribute, pivot - 1, total // 2 - below, order, segment, keep)
    if below + equal < k or total - below - equal < k:
        return -1
    return divide(codes, attribute, pivot, 0, order, segment, keep)


cdef int32_t divide(
    const int32_t[:, ::1] codes, Py_ssize_t attribute, int32_t pivot,
    int64_t quota,              # how many tuples of code pivot + 1 go left as well, the first ones
    int32_t[::1] order, Segment segment, vector[int32_t]& keep,
) noexcept nogil:
    """Bring the codes up to `pivot` to the front, both sides in their old order; return where the right side begins."""
    cdef Py_ssize_t i
    cdef int32_t code, write = segment.start
    keep.clear()
    for i in range(segment.start, segment.stop):
        code = codes[order[i], attribute]
        if code > pivot and not (code == pivot + 1 and quota > 0):
            keep.push_back(order[i])
            continue
        if code == pivot + 1:
            quota -= 1
        order[write] = order[i]
        write += 1
    for i in range(<Py_ssize_t>keep.size()):
        order[write + i] = keep[i]
    return write


cdef int32_t cut_values(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, Py_ssize_t attribute, int64_t k, bint relaxed,
    int32_t[::1] order, Segment segment, vector[int64_t]& histogram, vector[Weighed]& present,
    vector[uint8_t]& goes_left, vector[int32_t]& keep,
) noexcept nogil:
    """Deal the values out to two sides of like weight, from the most frequent on."""
    cdef Py_ssize_t i
    cdef int64_t left = 0, right = 0
    cdef int32_t code, write = segment.start
    tally(codes, counts, attribute, order, segment, histogram, present)
    for i in range(<Py_ssize_t>present.size()):
        code = <int32_t>present[i].first
        present[i].first = -present[i].second
        present[i].second = code
    cpp_sort(present.begin(), present.end())
    for i in range(<Py_ssize_t>present.size()):
        code = <int32_t>present[i].second
        if left <= right:
            goes_left[code] = 1
            left -= present[i].first
        else:
            goes_left[code] = 0
            right -= present[i].first
    if left < k or right < k:
        if not relaxed or left + right < 2 * k:
            return -1
        return divide_values(codes, attribute, (left + right) // 2, order, segment, histogram, present, keep)
    keep.clear()
    for i in range(segment.start, segment.stop):
        if goes_left[codes[order[i], attribute]]:
            order[write] = order[i]
            write += 1
        else:
            keep.push_back(order[i])
    for i in range(<Py_ssize_t>keep.size()):
        order[write + i] = keep[i]
    return write


cdef int32_t divide_values(
    const int32_t[:, ::1] codes, Py_ssize_t attribute, int64_t half, int32_t[::1] order, Segment segment,
    vector[int64_t]& quota,         # all zero, given back all zero
    vector[Weighed]& present,       # (-rows, code), sorted
    vector[int32_t]& keep,
) noexcept nogil:
    """Fill the left half with values, from the most frequent on; the first rows of the last one fill it up."""
    cdef Py_ssize_t i
    cdef int32_t code, write = segment.start
    for i in range(<Py_ssize_t>present.size()):
        quota[present[i].second] = min(-present[i].first, half)
        half -= quota[present[i].second]
    keep.clear()
    for i in range(segment.start, segment.stop):
        code = codes[order[i], attribute]
        if quota[code] > 0:
            quota[code] -= 1
            order[write] = order[i]
            write += 1
        else:
            keep.push_back(order[i])
    for i in range(<Py_ssize_t>keep.size()):
        order[write + i] = keep[i]
    return write
