# The nearest entries of each entry of a block: plain loops over columns, which compilers vectorise.

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport (
    COUNT, RANGE, REACH, RULE, TREE, Block, span_price, values_price,
)


cdef extern from *:
    """
    #include <cstdint>
    namespace shoaling {
    constexpr int32_t STRIDE = 16;

    // Which of the next STRIDE numbers are below a limit, one bit each: most are not.
    inline uint32_t mark_below(const int32_t* numbers, int32_t limit) {
        uint32_t found = 0;
        for (int32_t i = 0; i < STRIDE; ++i) found |= numbers[i] < limit ? 1u << i : 0u;
        return found;
    }

    // The same for a limit, and for one of its own for each number.
    inline uint32_t mark_below_either(const int32_t* numbers, int32_t limit, const int32_t* limits) {
        uint32_t found = 0;
        for (int32_t i = 0; i < STRIDE; ++i) found |= numbers[i] < (limits[i] > limit ? limits[i] : limit) ? 1u << i : 0u;
        return found;
    }

    inline int32_t first_mark(uint32_t marks) { return __builtin_ctz(marks); }
    }
    """
    const int32_t STRIDE "shoaling::STRIDE"
    uint32_t mark_below "shoaling::mark_below"(const int32_t* numbers, int32_t limit) noexcept nogil
    uint32_t mark_below_either "shoaling::mark_below_either"(
        const int32_t* numbers, int32_t limit, const int32_t* limits) noexcept nogil
    int32_t first_mark "shoaling::first_mark"(uint32_t marks) noexcept nogil


cdef enum:
    FAR = 2147483647    # above every distance


cdef inline uint32_t mark_all(int32_t n) noexcept nogil:
    """Mark the next n numbers, fewer than STRIDE."""
    return (<uint32_t>1 << n) - 1


cdef inline void copy_columns(const Block& block, vector[int32_t]& columns) noexcept nogil:
    """Copy the code (range: the position) of each entry, attribute by attribute."""
    cdef int32_t a, e, c
    columns.resize(<size_t>block.n * block.q)
    for e in range(block.n):
        for a in range(block.q):
            c = block.codes[e * block.q + a]
            columns[<Py_ssize_t>a * block.n + e] = block.place[block.base[a] + c] if block.kinds[a] == RANGE else c


cdef inline void measure_entries(
    const Block& block, const vector[int32_t]& columns, int32_t e,
    vector[int32_t]& distances,     # OUT price of a row of each entry together with e
    int32_t first,                  # IN  the first entry to measure
) noexcept nogil:
    cdef int32_t a, j, own, unit, gap, n = <int32_t>distances.size()
    cdef const int32_t* column
    cdef vector[int32_t] reach
    cdef int32_t* distance = distances.data()
    for j in range(first, n):
        distance[j] = 0
    for a in range(block.q):
        column = columns.data() + <Py_ssize_t>a * n
        own = column[e]
        unit = block.unit[a]
        if block.kinds[a] == RANGE:
            for j in range(first, n):
                gap = column[j] - own
                gap = gap if gap >= 0 else -gap
                distance[j] += gap if gap < unit else unit
        elif block.kinds[a] == TREE:
            reach_codes(block, a, own, reach)
            for j in range(first, n):
                distance[j] += reach[column[j]]
        elif block.kinds[a] == RULE:
            for j in range(first, n):
                distance[j] += unit if own + column[j] == 1 else 0
        elif block.kinds[a] == REACH:
            for j in range(first, n):
                distance[j] += span_price(block, a, min(own, column[j]), max(own, column[j]))
        elif block.kinds[a] == COUNT:
            unit = values_price(block, a, 2)
            for j in range(first, n):
                distance[j] += unit if column[j] != own else 0
        else:
            unit *= 2
            for j in range(first, n):
                distance[j] += unit if column[j] != own else 0


cdef inline void reach_codes(const Block& block, int32_t a, int32_t own, vector[int32_t]& reach) noexcept nogil:
    """Compute the price of a code of a tree with each code of the tree."""
    cdef int32_t b = block.base[a], n = block.base[a + 1] - b, c
    reach.assign(n, 0)
    for c in range(own + 1, n):
        reach[c] = max(reach[c - 1], block.place[b + c - 1])
    for c in range(own - 1, -1, -1):
        reach[c] = max(reach[c + 1], block.place[b + c])


cdef inline void find_nearest(
    const Block& block, int32_t width,
    const vector[uint8_t]& absent,  # IN  1 for each entry that takes no part
    vector[int32_t]& worst,         # IN and OUT  only nearer entries are kept: FAR, or -1 for an entry that needs none
    vector[int32_t]& near,          # OUT nearest entries of each entry, nearest first, ties by number; -1 if there are fewer
    vector[int32_t]& kept,          # OUT their distances
) noexcept nogil:
    """Find the nearest entries of each entry; each pair is measured once. Entries of one person are never near."""
    cdef vector[int32_t] columns, distance
    cdef int32_t e, i, j, n = block.n
    cdef uint32_t marks
    copy_columns(block, columns)
    distance.resize(n)
    kept.assign(<size_t>n * width, FAR)
    near.assign(<size_t>n * width, -1)
    for e in range(n):
        if absent[e]:
            continue
        measure_entries(block, columns, e, distance, e + 1)
        j = e + 1
        while j < n:
            if j + STRIDE <= n:
                marks = mark_below_either(distance.data() + j, worst[e], worst.data() + j)
            else:
                marks = mark_all(n - j)
            while marks != 0:
                i = j + first_mark(marks)
                marks &= marks - 1
                if absent[i] or (block.n_people > 0 and block.person[i] == block.person[e]):
                    continue
                if distance[i] < worst[e]:
                    worst[e] = insert_near(kept.data(), near.data(), width, e, i, distance[i])
                if distance[i] < worst[i]:
                    worst[i] = insert_near(kept.data(), near.data(), width, i, e, distance[i])
            j += STRIDE


cdef inline int32_t insert_near(
    int32_t* kept, int32_t* near, int32_t width, int32_t e, int32_t j, int32_t distance,
) noexcept nogil:
    """Insert j among the neighbours of e, behind those as near; return the distance of the last."""
    cdef int32_t at = width - 1
    kept += <Py_ssize_t>e * width
    near += <Py_ssize_t>e * width
    while at > 0 and kept[at - 1] > distance:
        kept[at] = kept[at - 1]
        near[at] = near[at - 1]
        at -= 1
    kept[at] = distance
    near[at] = j
    return kept[width - 1]
