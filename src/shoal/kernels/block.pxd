# What the kernels of shoaling share: a block of entries, the price of a set of them, and when a group is ripe.
#
# An entry is a tuple of codes with some of its rows. Prices are whole numbers: the NCP of a row that lost everything is
# about 2^29, so that a price fits 32 bits and a price times rows fits 64, and no sum depends on its order.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.algorithm cimport lower_bound, sort as cpp_sort, unique as cpp_unique
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <cstdint>
    #include <vector>
    namespace shoaling {
    // What decides whether a group is ripe. More than rows may come to stand here (a greatest personal k, counts of
    // sensitive values): the functions of the section "ripe" are then all that has to follow.
    struct Summary { int64_t rows; };
    struct Need { int64_t rows; };
    // The entries of a block under local codes: only the values that occur in the block, and only the attributes that
    // are not the same everywhere in it.
    struct Block {
        int32_t n = 0, q = 0;
        Need need;
        std::vector<int32_t> codes;     // n x q
        std::vector<Summary> entries;   // n
        std::vector<uint8_t> ordered;   // q: 1 for numbers and dates
        std::vector<int32_t> unit;      // q: price of a value of a category; price of the whole range
        std::vector<int32_t> base;      // q + 1: where the local codes of an attribute begin among all
        std::vector<int32_t> place;     // of each local code of a number or date: where it lies in the range
    };
    }
    """
    cppclass Summary "shoaling::Summary":
        int64_t rows

    cppclass Need "shoaling::Need":
        int64_t rows

    cppclass Block "shoaling::Block":
        int32_t n
        int32_t q
        Need need
        vector[int32_t] codes
        vector[Summary] entries
        vector[uint8_t] ordered
        vector[int32_t] unit
        vector[int32_t] base
        vector[int32_t] place


# --- ripe: the one place that knows what every group must have ---

cdef inline bint is_ripe(const Need& need, Summary summary) noexcept nogil:
    return summary.rows >= need.rows


cdef inline Summary joined(Summary left, Summary right) noexcept nogil:
    left.rows += right.rows
    return left


cdef inline Summary parted(Summary whole, Summary part) noexcept nogil:
    whole.rows -= part.rows
    return whole


cdef inline Summary nothing() noexcept nogil:
    cdef Summary summary
    summary.rows = 0
    return summary


cdef inline Summary share(const Need& need, Summary have, Summary lender) noexcept nogil:
    """The least part of a lender that makes ripe what there is; all of it where no part does."""
    if lender.rows > need.rows - have.rows:
        lender.rows = need.rows - have.rows
    return lender


cdef inline bint is_part(Summary part, Summary whole) noexcept nogil:
    return part.rows < whole.rows


# --- randomness: the n-th number of a stream is a hash of the stream's key and n ---

cdef inline uint64_t draw(uint64_t* state) noexcept nogil:
    """SplitMix64 (Steele, Lea, Flood 2014)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline int32_t draw_below(uint64_t* state, int32_t bound) noexcept nogil:
    return <int32_t>(((draw(state) >> 32) * <uint64_t>bound) >> 32)


# --- the block ---

cdef inline void load_block(
    const int32_t[:, ::1] codes, const int32_t[::1] picks, const int64_t[::1] rows, const int32_t[::1] places,
    const int64_t[::1] offsets, const uint8_t[::1] ordered, const int32_t[::1] units, int64_t k, Block& block,
) noexcept nogil:
    """Make a block of the picked tuples."""
    cdef Py_ssize_t i, a, n = picks.shape[0]
    cdef vector[int32_t] column, columns
    cdef Summary summary
    block.need.rows = k
    start_block(block, <int32_t>n)
    for i in range(n):
        summary.rows = rows[i]
        block.entries.push_back(summary)
    column.resize(n)
    for a in range(codes.shape[1]):
        for i in range(n):
            column[i] = codes[picks[i], a]
        add_attribute(block, column, offsets[a + 1] - offsets[a], ordered[a], units[a], &places[offsets[a]], columns)
    finish_block(block, columns)


cdef inline void start_block(Block& block, int32_t n) noexcept nogil:
    block.n = n
    block.q = 0
    block.entries.clear()
    block.ordered.clear()
    block.unit.clear()
    block.place.clear()
    block.base.assign(1, 0)


cdef inline void add_attribute(
    Block& block,
    vector[int32_t]& column,        # IN  code of each entry; left in any state
    int64_t n_values,               # IN  codes that there can be
    uint8_t ordered, int32_t unit,
    const int32_t* places,          # IN  place of each code, where they are ordered
    vector[int32_t]& columns,       # OUT local codes, attribute by attribute
) noexcept nogil:
    """Give the values of an attribute local codes in the same order; one that is the same everywhere is left out."""
    cdef Py_ssize_t i, n = <Py_ssize_t>column.size()
    cdef vector[int32_t] known, local
    cdef int64_t c
    if n_values <= 4 * n:
        local.assign(n_values, -1)
        for i in range(n):
            local[column[i]] = 0
        for c in range(n_values):
            if local[c] == 0:
                local[c] = <int32_t>known.size()
                known.push_back(<int32_t>c)
        for i in range(n):
            column[i] = local[column[i]]
    else:
        known = column
        cpp_sort(known.begin(), known.end())
        known.erase(cpp_unique(known.begin(), known.end()), known.end())
        for i in range(n):
            column[i] = <int32_t>(lower_bound(known.begin(), known.end(), column[i]) - known.begin())
    if known.size() < 2:
        return
    block.q += 1
    block.ordered.push_back(ordered)
    block.unit.push_back(unit)
    for i in range(<Py_ssize_t>known.size()):
        block.place.push_back(places[known[i]] if ordered else 0)
    block.base.push_back(<int32_t>block.place.size())
    columns.insert(columns.end(), column.begin(), column.end())


cdef inline void finish_block(Block& block, const vector[int32_t]& columns) noexcept nogil:
    cdef Py_ssize_t i, a, n = block.n, q = block.q
    block.codes.resize(n * q)
    for a in range(q):
        for i in range(n):
            block.codes[i * q + a] = columns[a * n + i]


# --- prices of a set of values ---

cdef inline int32_t set_price(int32_t unit, int32_t n_values) noexcept nogil:
    return unit * n_values if n_values > 1 else 0


cdef inline int32_t range_price(int32_t unit, int32_t low, int32_t high) noexcept nogil:
    """Price of a range between two places; a missing value lies so far out that a range to it is the whole range."""
    return high - low if high - low < unit else unit


# --- distances of entries: plain loops over columns, which compilers turn into vector code ---

cdef inline void lay_columns(const Block& block, vector[int32_t]& columns) noexcept nogil:
    """Write, attribute by attribute, the code (of a number: the place) of each entry."""
    cdef int32_t a, e, c
    columns.resize(<size_t>block.n * block.q)
    for e in range(block.n):
        for a in range(block.q):
            c = block.codes[e * block.q + a]
            columns[<Py_ssize_t>a * block.n + e] = block.place[block.base[a] + c] if block.ordered[a] else c


cdef inline void measure_entries(
    const Block& block, const vector[int32_t]& columns, int32_t e,
    vector[int32_t]& distances,     # OUT price of a row of each entry together with e
) noexcept nogil:
    cdef int32_t a, j, own, unit, gap, n = <int32_t>distances.size()
    cdef const int32_t* column
    cdef int32_t* distance = distances.data()
    for j in range(n):
        distance[j] = 0
    for a in range(block.q):
        column = columns.data() + <Py_ssize_t>a * n
        own = column[e]
        unit = block.unit[a]
        if block.ordered[a]:
            for j in range(n):
                gap = column[j] - own
                gap = gap if gap >= 0 else -gap
                distance[j] += gap if gap < unit else unit
        else:
            unit *= 2
            for j in range(n):
                distance[j] += unit if column[j] != own else 0
