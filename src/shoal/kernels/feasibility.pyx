# distutils: language = c++
"""Random tables, and whether each of their groups has k rows. Twin: tests/naive/feasibility.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport draw


cdef inline uint64_t draw_evenly(uint64_t* state, uint64_t bound) noexcept nogil:
    """Draw a number below a bound, each exactly as likely: a draw that would favour some is thrown away."""
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
    """Draw a code for each attribute, and return the key of the row."""
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
    """Draw a table and count every cell of its grid, up to k."""
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
    """Draw a table and count the groups that it has; give up once the rows left are fewer than its groups lack.

    The rooms, a power of two, are more than twice rows / k: a table with more groups than that lacks rows before.
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
    const uint64_t[::1] states,     # IN  of the random numbers, one a repetition
    int64_t rows,                   # IN  of each table
    int64_t k,                      # IN  below 2^16 where cells are counted
    uint64_t cells,                 # IN  keys are below this, and every cell is counted; 0: keys are looked up
    const uint64_t[::1] sizes,      # IN  of each attribute, how many codes or entries of its pool there are to draw from
    const int64_t[::1] offsets,     # IN  where the pool of an attribute begins; -1: the number drawn is the code
    const int32_t[::1] pools,       # IN  codes to draw from, attribute after attribute
    const uint64_t[::1] places,     # IN  what a code counts in the key, one an attribute
    uint8_t[::1] succeeded,         # OUT one a repetition: whether every group has k rows
) -> None:
    """Draw tables and say of each one whether every group that it has reaches k."""
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
