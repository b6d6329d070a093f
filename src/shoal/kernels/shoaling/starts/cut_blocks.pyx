# distutils: language = c++
"""Top-down cuts of a table into blocks of similar tuples. Twin: tests/naive/blocks.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.starts.values cimport Segment, split_values


cdef struct Cut:
    double gain                     # price of the pairs that it separates; 0 if there is no cut
    Py_ssize_t attribute


def cut_blocks(
    const int32_t[:, ::1] codes,    # IN  codes of each item
    const int64_t[::1] weights,     # IN  weight of each item, counted by the limit
    const int64_t[::1] rows,        # IN  rows of each item
    const int32_t[::1] places,      # IN  range: position of each code; tree: price of each code with the next
    const int64_t[::1] offsets,     # IN  start of each attribute in `places`, and the end of the last
    const uint8_t[::1] kinds,       # IN  kind of each attribute: SET, RANGE, TREE or RULE
    const int32_t[::1] units,       # IN  set: price of a value; range or tree: price of the full domain
    const double[::1] factors,      # IN  preference for cutting each attribute
    int64_t limit,                  # IN  maximum weight of a block
    int64_t least,                  # IN  minimum rows on each side of a cut
    int32_t[::1] order,             # IN and OUT  items, permuted so that each block is one run
    uint8_t[::1] marks,             # OUT 1 where a block begins
) -> None:
    """Cut blocks heavier than the limit, each time where the separated pairs would have cost most."""
    cdef vector[Segment] stack
    cdef vector[int64_t] histogram
    cdef vector[uint8_t] goes_left
    cdef vector[int32_t] keep
    cdef Segment segment
    cdef Cut best, cut
    cdef Py_ssize_t a, i
    cdef int64_t largest = 1, weight
    cdef int32_t write
    for a in range(codes.shape[1]):
        largest = max(largest, offsets[a + 1] - offsets[a])
    with nogil:
        histogram.assign(largest, 0)
        goes_left.assign(largest, 0)
        if order.shape[0] > 0:
            stack.push_back(Segment(0, <int32_t>order.shape[0]))
        while not stack.empty():
            segment = stack.back()
            stack.pop_back()
            weight = 0
            for i in range(segment.start, segment.stop):
                weight += weights[order[i]]
            best.gain = 0
            if weight > limit:
                for a in range(codes.shape[1]):
                    cut.attribute = a
                    cut.gain = factors[a] * split_values(codes, rows, places, offsets, kinds, units, a, least, order, segment,
                                                 histogram, goes_left)
                    if cut.gain > best.gain:
                        best = cut
            if best.gain <= 0:
                marks[segment.start] = 1
                continue
            split_values(codes, rows, places, offsets, kinds, units, best.attribute, least, order, segment, histogram,
                 goes_left)
            keep.clear()
            write = segment.start
            for i in range(segment.start, segment.stop):
                if goes_left[codes[order[i], best.attribute]]:
                    order[write] = order[i]
                    write += 1
                else:
                    keep.push_back(order[i])
            for i in range(<Py_ssize_t>keep.size()):
                order[write + i] = keep[i]
            stack.push_back(Segment(write, segment.stop))
            stack.push_back(Segment(segment.start, write))
