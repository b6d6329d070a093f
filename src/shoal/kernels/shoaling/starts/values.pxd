# Cuts of the values of an attribute in two, where the separated pairs of rows would have cost most.

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport COUNT, RANGE, REACH, RULE, TREE


cdef struct Segment:
    int32_t start
    int32_t stop


ctypedef pair[int64_t, int32_t] Weighted


cdef inline double split_values(
    const int32_t[:, ::1] codes, const int64_t[::1] rows, const int32_t[::1] places, const int64_t[::1] offsets,
    const uint8_t[::1] kinds, const int32_t[::1] units, Py_ssize_t a, int64_t least, const int32_t[::1] order,
    Segment segment,
    vector[int64_t]& histogram,     # all zero before and after
    vector[uint8_t]& goes_left,     # OUT 1 for each code of the segment that goes left
) noexcept nogil:
    """Split the values of an attribute in two; return the decrease of the mean price of a pair, 0 if there is no cut."""
    cdef vector[Weighted] present    # set: (-rows, code); else (code, code)
    cdef Py_ssize_t i, middle
    cdef int32_t code
    cdef int64_t total = 0
    cdef double gain
    if kinds[a] == REACH or kinds[a] == COUNT:  # the attribute that it limits is cut instead
        return 0
    for i in range(segment.start, segment.stop):
        code = codes[order[i], a]
        if histogram[code] == 0:
            present.push_back(Weighted(0, code))
        histogram[code] += rows[order[i]]
        total += rows[order[i]]
    for i in range(<Py_ssize_t>present.size()):
        code = present[i].second
        present[i].first = code if kinds[a] == RANGE or kinds[a] == TREE else -histogram[code]
    cpp_sort(present.begin(), present.end())
    if kinds[a] == TREE:
        gain = split_branches(places, offsets[a], histogram, present, total, least, goes_left)
    elif kinds[a] == RANGE:
        gain = split_at_median(places, offsets[a], units[a], histogram, present, total, least, &middle)
    else:
        gain = (1.0 if kinds[a] == RULE else 2.0) * units[a] * split_by_frequency(present, total, least, &middle)
    for i in range(<Py_ssize_t>present.size()):
        code = present[i].second
        if kinds[a] != TREE:
            goes_left[code] = i < middle
        histogram[code] = 0
    return gain


cdef inline double split_branches(
    const int32_t[::1] places, int64_t offset, const vector[int64_t]& histogram, const vector[Weighted]& present,
    int64_t total, int64_t least,
    vector[uint8_t]& goes_left,     # OUT 1 for each code that goes left
) noexcept nogil:
    """Split the branches below the lowest common node; return the decrease of the mean price."""
    cdef vector[Weighted] branches   # (-rows, number)
    cdef vector[int32_t] climbs     # price of each value with the one before it
    cdef vector[uint8_t] is_left
    cdef Py_ssize_t i, middle
    cdef int32_t code, top = 0, n = 0, climb
    cdef double gain
    for i in range(<Py_ssize_t>present.size()):
        climb = 0
        for code in range(present[i - 1].second if i > 0 else present[i].second, present[i].second):
            climb = max(climb, places[offset + code])
        climbs.push_back(climb)
        top = max(top, climb)
    for i in range(<Py_ssize_t>present.size()):
        if i == 0 or climbs[i] == top:
            branches.push_back(Weighted(0, <int32_t>branches.size()))
        branches[branches.size() - 1].first -= histogram[present[i].second]
    cpp_sort(branches.begin(), branches.end())
    gain = top * split_by_frequency(branches, total, least, &middle)
    is_left.assign(branches.size(), 0)
    for i in range(middle):
        is_left[branches[i].second] = 1
    for i in range(<Py_ssize_t>present.size()):
        n += i > 0 and climbs[i] == top
        goes_left[present[i].second] = is_left[n]
    return gain


cdef inline double split_by_frequency(
    const vector[Weighted]& present, int64_t total, int64_t least,
    Py_ssize_t* middle,             # OUT number of values that go left, most frequent first
) noexcept nogil:
    """Return the largest possible decrease of the Gini index."""
    cdef Py_ssize_t i
    cdef double squares = 0, left_squares = 0, gain, best = 0, left = 0, right, rows
    middle[0] = 0
    for i in range(<Py_ssize_t>present.size()):
        rows = <double>-present[i].first
        squares += rows * rows
    for i in range(<Py_ssize_t>present.size() - 1):
        rows = <double>-present[i].first
        left += rows
        right = total - left
        left_squares += rows * rows
        if left < least or right < least:
            continue
        gain = (left_squares * right / left + (squares - left_squares) * left / right) / total / total
        if gain > best:
            best = gain
            middle[0] = i + 1
    return best


cdef inline double split_at_median(
    const int32_t[::1] places, int64_t offset, int32_t unit, const vector[int64_t]& histogram,
    const vector[Weighted]& present, int64_t total, int64_t least,
    Py_ssize_t* middle,             # OUT number of values that go left, least first
) noexcept nogil:
    """Cut at the median; return the decrease of the mean distance of two rows."""
    cdef Py_ssize_t i
    cdef double below = 0, rows, gap, spread = 0, left_spread = 0, right_spread = 0, left = 0, right
    cdef int32_t place, last = 0
    middle[0] = 0
    for i in range(<Py_ssize_t>present.size()):
        rows = <double>histogram[present[i].second]
        if middle[0] == i and (i == 0 or 2 * left + rows <= total):
            middle[0] = i + 1
            left += rows
    right = total - left
    if left < least or right < least:
        return 0
    for i in range(<Py_ssize_t>present.size()):
        place = places[offset + present[i].second]
        gap = min(place - last, unit) if i > 0 else 0
        spread += gap * below * (total - below)
        if i < middle[0]:
            left_spread += gap * below * (left - below)
        elif i > middle[0]:
            right_spread += gap * (below - left) * (total - below)
        below += <double>histogram[present[i].second]
        last = place
    return 2 * (spread / total - left_spread / left - right_spread / right) / total
