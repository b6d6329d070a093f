# distutils: language = c++
"""Draw random tables and check whether every group has k rows. Twin: tests/naive/feasibility.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport draw


cdef inline uint64_t draw_evenly(uint64_t* state, uint64_t bound) noexcept nogil:
    """Draw a uniform number below a bound; draws that would bias the result are rejected."""
    cdef uint64_t product, mask
    if bound >> 32:
        mask = bound - 1
        mask |= mask >> 1
        mask |= mask >> 2
        mask |= mask >> 4
        mask |= mask >> 8
        mask |= mask >> 16
        mask |= mask >> 32
        product = draw(state) & mask
        while product >= bound:
            product = draw(state) & mask
        return product
    product = (draw(state) >> 32) * bound
    if (product & 0xFFFFFFFFu) < bound:  # Lemire 2019
        mask = ((<uint64_t>1 << 32) - bound) % bound
        while (product & 0xFFFFFFFFu) < mask:
            product = (draw(state) >> 32) * bound
    return product >> 32


cdef inline uint64_t draw_row(
    uint64_t* state, const uint64_t[::1] sizes, const int64_t[::1] offsets, const int32_t[::1] pools,
    const uint64_t[::1] places,
) noexcept nogil:
    """Draw a code for each attribute and return the key of the row."""
    cdef uint64_t key = 0, code
    cdef Py_ssize_t a
    for a in range(sizes.shape[0]):
        code = draw_evenly(state, sizes[a])
        if offsets[a] >= 0:
            code = <uint64_t>pools[offsets[a] + <int64_t>code]
        key += places[a] * code
    return key


cdef bint succeeds_counted(
    uint64_t state, int64_t rows, uint16_t k, uint64_t cells, const uint64_t[::1] sizes, const int64_t[::1] offsets,
    const int32_t[::1] pools, const uint64_t[::1] places, vector[uint16_t]& counts,
) noexcept nogil:
    """Draw a table and count the rows of every cell of its grid, up to k."""
    cdef int64_t row
    cdef uint64_t key
    counts.assign(cells, 0)
    for row in range(rows):
        key = draw_row(&state, sizes, offsets, pools, places)
        counts[key] += counts[key] < k
    for key in range(cells):
        if 0 < counts[key] < k:
            return False
    return True


cdef bint succeeds_looked_up(
    uint64_t state, int64_t rows, int64_t k, const uint64_t[::1] sizes, const int64_t[::1] offsets,
    const int32_t[::1] pools, const uint64_t[::1] places, vector[uint64_t]& keys, vector[int64_t]& counts,
) noexcept nogil:
    """Draw a table and count its groups in a hash table; stop once the remaining rows cannot complete the groups.

    The number of slots, a power of two, exceeds 2 rows / k: a table with more groups fails before the slots run out.
    """
    cdef int64_t row, lacking = 0
    cdef uint64_t key, room, last = keys.size() - 1
    counts.assign(counts.size(), 0)
    for row in range(rows):
        key = draw_row(&state, sizes, offsets, pools, places)
        room = ((key ^ (key >> 31)) * <uint64_t>0x9E3779B97F4A7C15) >> 20 & last
        while counts[room] and keys[room] != key:
            room = (room + 1) & last
        if counts[room] == 0:
            keys[room] = key
            lacking += k
        lacking -= counts[room] < k
        counts[room] += 1
        if lacking > rows - row - 1:
            return False
    return True


def repeat(
    const uint64_t[::1] states,     # IN  random state of each repetition
    int64_t rows,                   # IN  rows of each table
    int64_t k,                      # IN  minimum rows of a group; below 2^16 if cells are counted
    uint64_t cells,                 # IN  number of cells if every cell is counted; 0: keys are looked up
    const uint64_t[::1] sizes,      # IN  number of codes, or of entries of the pool, of each attribute
    const int64_t[::1] offsets,     # IN  start of each attribute's pool; -1: the drawn number is the code
    const int32_t[::1] pools,       # IN  codes to draw from, attribute after attribute
    const uint64_t[::1] places,     # IN  factor of each attribute's code in the key
    uint8_t[::1] succeeded,         # OUT of each repetition, whether every group has k rows
) -> None:
    """Draw tables and say of each whether every group has k rows."""
    cdef vector[uint16_t] counts
    cdef vector[uint64_t] keys
    cdef vector[int64_t] sums
    cdef Py_ssize_t i
    cdef size_t rooms = 4
    with nogil:
        if cells:
            counts.resize(cells)
        else:
            while rooms < 2 * <size_t>(rows // k + 2):
                rooms *= 2
            keys.resize(rooms)
            sums.resize(rooms)
        for i in range(states.shape[0]):
            if cells:
                succeeded[i] = succeeds_counted(
                    states[i], rows, <uint16_t>k, cells, sizes, offsets, pools, places, counts
                )
            else:
                succeeded[i] = succeeds_looked_up(
                    states[i], rows, k, sizes, offsets, pools, places, keys, sums
                )
