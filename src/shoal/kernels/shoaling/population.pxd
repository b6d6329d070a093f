# The population rows that the cells of some entries cover: one bit for each tuple of the population inside a block.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport RULE, SET, TREE, Block, span_price


cdef extern from *:
    """
    #include <cstddef>
    #include <cstdint>
    static inline size_t count_trailing_zeros(uint64_t word) {
        size_t n = 0;
        while (!(word & 0xFF)) { word >>= 8; n += 8; }
        while (!(word & 1)) { word >>= 1; n += 1; }
        return n;
    }
    """
    size_t count_trailing_zeros(uint64_t word) noexcept nogil


cdef inline int64_t covered_rows(
    const Block& block, const vector[int32_t]& members, int32_t out, int32_t e, int32_t other,
) noexcept nogil:
    """Count the population rows inside the cells of some entries without `out`, with e and another; -1: none."""
    cdef vector[uint64_t] inside, reached
    cdef vector[int32_t] entries
    cdef int32_t a, w
    cdef size_t i
    cdef int64_t rows = 0
    cdef uint64_t word
    for i in range(members.size()):
        if members[i] != out:
            entries.push_back(members[i])
    if e >= 0:
        entries.push_back(e)
    if other >= 0:
        entries.push_back(other)
    if entries.empty():
        return 0
    inside.assign(block.n_words, ~<uint64_t>0)
    for a in range(block.q):
        if block.kinds[a] == SET:
            reached.assign(block.n_words, 0)
            reach_values(block, a, entries, reached)
            for w in range(block.n_words):
                inside[w] &= reached[w]
        elif block.kinds[a] != RULE:
            keep_span(block, a, entries, inside)
    for w in range(block.n_words):
        word = inside[w]
        while word:
            i = count_trailing_zeros(word)
            word &= word - 1
            if 64 * <size_t>w + i < block.crowd.size():
                rows += block.crowd[64 * <size_t>w + i]
    return rows


cdef inline void reach_values(
    const Block& block, int32_t a, const vector[int32_t]& entries, vector[uint64_t]& reached,
) noexcept nogil:
    """Add the population tuples that have a value of the entries."""
    cdef const uint64_t* tuples
    cdef uint64_t seen = 0
    cdef int32_t c, w
    cdef size_t i
    for i in range(entries.size()):
        c = block.codes[entries[i] * block.q + a]
        if c < 64 and seen >> c & 1:
            continue
        seen |= <uint64_t>1 << (c & 63) if c < 64 else 0
        tuples = block.reaches.data() + <Py_ssize_t>(block.base[a] + c) * block.n_words
        for w in range(block.n_words):
            reached[w] |= tuples[w]


cdef inline void keep_span(
    const Block& block, int32_t a, const vector[int32_t]& entries, vector[uint64_t]& inside,
) noexcept nogil:
    """Keep the population tuples in the range of the entries, or below their lowest common node."""
    cdef int32_t c, w, price, low = block.codes[entries[0] * block.q + a], high = low, n = block.base[a + 1] - block.base[a]
    cdef const uint64_t* reaches
    cdef const uint64_t* below
    cdef size_t i
    for i in range(1, entries.size()):
        c = block.codes[entries[i] * block.q + a]
        low, high = min(low, c), max(high, c)
    if block.kinds[a] == TREE and low < high:
        price = span_price(block, a, low, high)
        while low > 0 and block.place[block.base[a] + low - 1] <= price:
            low -= 1
        while high + 1 < n and block.place[block.base[a] + high] <= price:
            high += 1
    reaches = block.reaches.data() + <Py_ssize_t>(block.base[a] + low) * block.n_words
    below = block.below.data() + <Py_ssize_t>(block.base[a] + high) * block.n_words
    for w in range(block.n_words):
        inside[w] &= reaches[w] & below[w]
