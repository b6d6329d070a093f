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
    // sensitive values): joined, parted and is_ripe are then all that has to follow.
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
    // Groups of a block, ready to take in and give away entries.
    struct School {
        std::vector<int32_t> counts;    // groups x local codes: entries that have the code
        std::vector<int32_t> low;       // groups x q: number of values of a category; least code of a number
        std::vector<int32_t> high;      // groups x q: greatest code of a number
        std::vector<int32_t> price;     // of a row
        std::vector<Summary> summary;
        std::vector<std::vector<int32_t>> members;
        std::vector<int32_t> group, spot;   // of each entry
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

    cppclass School "shoaling::School":
        vector[int32_t] counts
        vector[int32_t] low
        vector[int32_t] high
        vector[int32_t] price
        vector[Summary] summary
        vector[vector[int32_t]] members
        vector[int32_t] group
        vector[int32_t] spot


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


# --- prices ---

cdef inline int32_t set_price(int32_t unit, int32_t n_values) noexcept nogil:
    return unit * n_values if n_values > 1 else 0


cdef inline int32_t range_price(int32_t unit, int32_t low, int32_t high) noexcept nogil:
    """Price of a range between two places; a missing value lies so far out that a range to it is the whole range."""
    return high - low if high - low < unit else unit


cdef inline int32_t n_codes(const Block& block) noexcept nogil:
    return block.base[block.q]


cdef inline int32_t price_of(const Block& block, const School& school, int32_t g) noexcept nogil:
    """Price of a row of a group as it stands."""
    cdef int32_t a, price = 0, q = block.q
    for a in range(q):
        if block.ordered[a]:
            price += range_price(
                block.unit[a], block.place[block.base[a] + school.low[g * q + a]],
                block.place[block.base[a] + school.high[g * q + a]],
            )
        else:
            price += set_price(block.unit[a], school.low[g * q + a])
    return price


cdef inline int32_t price_with(const Block& block, const School& school, int32_t g, int32_t e) noexcept nogil:
    """Price of a row of group g if entry e joined it. g is not empty."""
    cdef int32_t a, c, b, price = 0, q = block.q
    cdef int32_t total = n_codes(block)
    for a in range(q):
        c = block.codes[e * q + a]
        b = block.base[a]
        if block.ordered[a]:
            price += range_price(
                block.unit[a], block.place[b + min(c, school.low[g * q + a])],
                block.place[b + max(c, school.high[g * q + a])],
            )
        else:
            price += set_price(
                block.unit[a], school.low[g * q + a] + (school.counts[<Py_ssize_t>g * total + b + c] == 0)
            )
    return price


cdef inline int32_t price_exchanged(
    const Block& block, const School& school, int32_t g, int32_t out, int32_t e,
) noexcept nogil:
    """Price of a row of group g without entry `out` and, where e >= 0, with entry e. Something of g stays."""
    cdef int32_t a, c, o, b, low, high, price = 0, q = block.q
    cdef const int32_t* count
    for a in range(q):
        b = block.base[a]
        o = block.codes[out * q + a]
        c = block.codes[e * q + a] if e >= 0 else o
        count = &school.counts[<Py_ssize_t>g * block.base[q] + b]
        low = school.low[g * q + a]
        if not block.ordered[a]:
            if c != o or e < 0:
                low -= count[o] == 1
                if e >= 0:
                    low += count[c] == 0
            price += set_price(block.unit[a], low)
            continue
        high = school.high[g * q + a]
        if (c != o or e < 0) and count[o] == 1 and low != high:
            if o == low:
                low += 1
                while count[low] == 0:
                    low += 1
            elif o == high:
                high -= 1
                while count[high] == 0:
                    high -= 1
        elif c != o and count[o] == 1:  # the only code of the group leaves, e brings the next
            low, high = c, c
        if e >= 0:
            low, high = min(low, c), max(high, c)
        price += range_price(block.unit[a], block.place[b + low], block.place[b + high])
    return price


cdef inline int32_t price_of_pair(const Block& block, int32_t e, int32_t other) noexcept nogil:
    """Price of a row of two entries together."""
    cdef int32_t a, c, d, b, price = 0
    for a in range(block.q):
        c = block.codes[e * block.q + a]
        d = block.codes[other * block.q + a]
        b = block.base[a]
        if block.ordered[a]:
            price += range_price(block.unit[a], block.place[b + min(c, d)], block.place[b + max(c, d)])
        else:
            price += set_price(block.unit[a], 1 + (c != d))
    return price


cdef inline int64_t cost_of(const School& school, int32_t g) noexcept nogil:
    return school.summary[g].rows * school.price[g]


# --- the school ---

cdef inline int32_t open_group(const Block& block, School& school) noexcept nogil:
    """Add an empty group and return its number."""
    cdef Py_ssize_t g = <Py_ssize_t>school.price.size()
    cdef vector[int32_t] none
    school.counts.resize((g + 1) * n_codes(block), 0)
    school.low.resize((g + 1) * block.q, 0)
    school.high.resize((g + 1) * block.q, 0)
    school.price.push_back(0)
    school.summary.push_back(nothing())
    school.members.push_back(none)
    return <int32_t>g


cdef inline void put_in(const Block& block, School& school, int32_t g, int32_t e) noexcept nogil:
    cdef int32_t a, c, q = block.q
    cdef bint first = school.members[g].empty()
    cdef int32_t* count
    for a in range(q):
        c = block.codes[e * q + a]
        count = &school.counts[<Py_ssize_t>g * block.base[q] + block.base[a] + c]
        count[0] += 1
        if not block.ordered[a]:
            school.low[g * q + a] += count[0] == 1
        elif first:
            school.low[g * q + a] = c
            school.high[g * q + a] = c
        else:
            school.low[g * q + a] = min(school.low[g * q + a], c)
            school.high[g * q + a] = max(school.high[g * q + a], c)
    school.summary[g] = joined(school.summary[g], block.entries[e])
    school.group[e] = g
    school.spot[e] = <int32_t>school.members[g].size()
    school.members[g].push_back(e)
    school.price[g] = price_of(block, school, g)


cdef inline void take_out(const Block& block, School& school, int32_t e) noexcept nogil:
    """Take an entry out of its group; the last member takes its spot."""
    cdef int32_t a, c, last, g = school.group[e], q = block.q
    cdef int32_t* count
    for a in range(q):
        c = block.codes[e * q + a]
        count = &school.counts[<Py_ssize_t>g * block.base[q] + block.base[a]]
        count[c] -= 1
        if count[c] > 0:
            continue
        if not block.ordered[a]:
            school.low[g * q + a] -= 1
        elif school.members[g].size() > 1:
            while count[school.low[g * q + a]] == 0:
                school.low[g * q + a] += 1
            while count[school.high[g * q + a]] == 0:
                school.high[g * q + a] -= 1
    school.summary[g] = parted(school.summary[g], block.entries[e])
    last = school.members[g].back()
    school.members[g][school.spot[e]] = last
    school.spot[last] = school.spot[e]
    school.members[g].pop_back()
    school.group[e] = -1
    school.price[g] = price_of(block, school, g) if not school.members[g].empty() else 0


cdef inline int32_t split_entry(Block& block, School& school, int32_t e, Summary part) noexcept nogil:
    """Make a new entry of some rows of an entry, in the same group; return its number."""
    cdef int32_t a, new = block.n, g = school.group[e]
    block.n += 1
    for a in range(block.q):
        block.codes.push_back(block.codes[e * block.q + a])
        school.counts[<Py_ssize_t>g * block.base[block.q] + block.base[a] + block.codes[e * block.q + a]] += 1
    block.entries[e] = parted(block.entries[e], part)
    block.entries.push_back(part)
    school.group.push_back(g)
    school.spot.push_back(<int32_t>school.members[g].size())
    school.members[g].push_back(new)
    return new


cdef inline void empty_school(const Block& block, School& school) noexcept nogil:
    """Begin without groups."""
    school.group.assign(block.n, -1)
    school.spot.assign(block.n, 0)


cdef inline void load_school(const Block& block, const int32_t[::1] labels, int32_t n_groups, School& school) noexcept nogil:
    """Put each entry in the group of its label, -1 in none."""
    cdef int32_t e
    empty_school(block, school)
    for e in range(n_groups):
        open_group(block, school)
    for e in range(block.n):
        if labels[e] >= 0:
            put_in(block, school, labels[e], e)


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


cdef inline void find_near(
    const Block& block, const School& school, vector[int32_t]& near, int32_t width,
) noexcept nogil:
    """Write the nearest entries of each, nearest first, of equals the lower; -1 where there are not as many.

    Entries of groups that cost nothing have no cause to look around and get none.
    """
    cdef vector[int32_t] columns, distance, kept
    cdef int32_t e, j, at, worst, n = block.n
    cdef int32_t* own
    lay_columns(block, columns)
    distance.resize(n)
    kept.resize(width)
    near.assign(<size_t>n * width, -1)
    for e in range(n):
        if school.price[school.group[e]] == 0:
            continue
        measure_entries(block, columns, e, distance)
        distance[e] = 2147483647
        kept.assign(width, 2147483647)
        own = near.data() + <Py_ssize_t>e * width
        worst = 2147483647
        for j in range(n):
            if distance[j] >= worst:
                continue
            at = width - 1
            while at > 0 and kept[at - 1] > distance[j]:
                kept[at] = kept[at - 1]
                own[at] = own[at - 1]
                at -= 1
            kept[at] = distance[j]
            own[at] = j
            worst = kept[width - 1]
