# distutils: language = c++
"""Greedy k-member groups inside a block (Byun, Kamra, Bertino, Li 2007). Twin: tests/naive/gathering.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport (
    RANGE, RULE, SET, Block, lay_columns, load_block, measure_entries, range_price, rule_price, set_price, span_price,
)
from shoal.kernels.shoaling.requirement cimport Summary, has_rows, is_part, joined, nothing, parted, share
from shoal.kernels.shoaling.groups cimport School, cost_of, empty_school, open_group, price_with, put_in


def gather_members(
    const int32_t[:, ::1] codes,    # IN  one row a tuple, attributes in the order in which they are looked at
    int32_t[::1] picks,             # IN and OUT  the tuples of the block, with room for parts of them
    int64_t[::1] rows,              # IN and OUT  rows of each of them
    const int32_t[::1] places,      # IN  of each code of a range: where it lies; of a tree: price of it with the next
    const int64_t[::1] offsets,     # IN  where an attribute's codes begin, one more at the end
    const uint8_t[::1] kinds,       # IN  how each attribute is recoded: SET, RANGE, TREE; or a RULE
    const int32_t[::1] units,       # IN  price of a value of a set; of the whole of a range or tree
    int64_t k,                      # IN  rows that a group must have
    const int32_t[::1] classes,     # IN  of each tuple, what models know of its rows
    const int32_t[:, ::1] positions,    # IN  where a class stands in the tally of a group
    const double[:, ::1] terms,     # IN  what models ask of the tally
    const double[:, ::1] facts,     # IN  what they know of the whole table, two for each place of the tally
    int32_t n,                      # IN  how many of the picks are filled
    int32_t[::1] labels,            # OUT group of each picked tuple
) -> int:
    """Begin each group far from the one before and add what costs least until it is ripe; return how many picks there are.

    Rows that a group does not need stay behind for the next.
    """
    cdef Block block
    cdef School school
    cdef vector[int32_t] origin
    cdef Py_ssize_t i
    with nogil:
        load_block(codes, picks[:n], rows[:n], places, offsets, kinds, units, k, classes, positions, terms, facts, block)
        empty_school(block, school)
        for i in range(n):
            origin.push_back(<int32_t>i)
        gather(block, school, origin, <int32_t>picks.shape[0])
        for i in range(block.n):
            labels[i] = school.group[i]
            rows[i] = block.entries[i].rows
            picks[i] = picks[origin[i]]
    return block.n


cdef void gather(Block& block, School& school, vector[int32_t]& origin, int32_t room) noexcept nogil:
    cdef vector[int32_t] columns, distance, shares, prices
    cdef Summary left = nothing(), part
    cdef int32_t n = block.n, e, g, last = 0, best
    lay_columns(block, columns)
    distance.resize(n)
    shares.resize(<size_t>n * block.q)
    for e in range(n):
        left = joined(left, block.entries[e])
    while has_rows(block.need, left) or school.price.empty():
        measure_entries(block, columns, last, distance)
        best = -1
        for e in range(n):
            if school.group[e] < 0 and (best < 0 or distance[e] > distance[best]):
                best = e
        if best < 0:
            break
        g = open_group(block, school)
        prices.assign(n, 0)
        while best >= 0:
            part = share(block.need, school.summary[g], block.entries[best])
            last = best
            if is_part(part, block.entries[best]) and block.n < room:
                left = parted(left, part)
                origin.push_back(origin[best])
                take_part(block, school, g, best, part)
            else:
                left = parted(left, block.entries[best])
                put_in(block, school, g, best)
            if has_rows(block.need, school.summary[g]):
                break
            price_all(block, school, g, last, columns, shares, prices)
            best = cheapest(school, prices)
    for e in range(n):
        if school.group[e] < 0:
            put_in(block, school, cheapest_group(block, school, e), e)


cdef void price_all(
    const Block& block, const School& school, int32_t g, int32_t last, const vector[int32_t]& columns,
    vector[int32_t]& shares,        # IN and OUT  what each entry would make a row cost, attribute by attribute
    vector[int32_t]& prices,        # IN and OUT  their sums
) noexcept nogil:
    """Price the group with each entry, after `last` has joined it: only the attributes that it changed are new."""
    cdef int32_t a, c, e, low, high, unit, new, n = <int32_t>prices.size(), q = block.q
    cdef const int32_t* count
    cdef const int32_t* column
    cdef int32_t* own
    cdef int32_t* price = prices.data()
    cdef vector[int32_t] by_code
    if school.members[g].size() == 1:
        shares.assign(shares.size(), 0)
    for a in range(q):
        c = block.codes[last * q + a]
        count = &school.counts[<Py_ssize_t>g * block.base[q] + block.base[a]]
        if count[c] > 1 and school.members[g].size() > 1:
            continue
        column = columns.data() + <Py_ssize_t>a * n
        own = shares.data() + <Py_ssize_t>a * n
        unit = block.unit[a]
        if block.kinds[a] == RANGE:
            low = block.place[block.base[a] + school.low[g * q + a]]
            high = block.place[block.base[a] + school.high[g * q + a]]
            for e in range(n):
                new = range_price(unit, min(low, column[e]), max(high, column[e]))
                price[e] += new - own[e]
                own[e] = new
            continue
        by_code.clear()
        for c in range(block.base[a + 1] - block.base[a]):
            if block.kinds[a] == SET:
                by_code.push_back(set_price(unit, school.low[g * q + a] + (count[c] == 0)))
            elif block.kinds[a] == RULE:
                by_code.push_back(rule_price(unit, c == 0 or count[0] > 0, c == 1 or count[1] > 0))
            else:
                low, high = min(c, school.low[g * q + a]), max(c, school.high[g * q + a])
                by_code.push_back(span_price(block, a, low, high))
        for e in range(n):
            new = by_code[column[e]]
            price[e] += new - own[e]
            own[e] = new


cdef void take_part(Block& block, School& school, int32_t g, int32_t e, Summary part) noexcept nogil:
    """Put some rows of an entry that is in no group into a group."""
    cdef int32_t a, new = block.n
    block.n += 1
    for a in range(block.q):
        block.codes.push_back(block.codes[e * block.q + a])
    block.entries[e] = parted(block.entries[e], part)
    block.entries.push_back(part)
    block.classes.push_back(block.classes[e])
    school.group.push_back(-1)
    school.spot.push_back(0)
    put_in(block, school, g, new)


cdef int32_t cheapest(const School& school, const vector[int32_t]& prices) noexcept nogil:
    """Return the entry of no group at the least price, -1 where there is none."""
    cdef int32_t e, best = -1, least = 2147483647
    for e in range(<int32_t>prices.size()):
        if prices[e] < least and school.group[e] < 0:
            best = e
            least = prices[e]
    return best


cdef int32_t cheapest_group(const Block& block, const School& school, int32_t e) noexcept nogil:
    cdef int32_t g, best = 0
    cdef int64_t added, least = -1
    for g in range(<int32_t>school.price.size()):
        added = joined(school.summary[g], block.entries[e]).rows * price_with(block, school, g, e) - cost_of(school, g)
        if least < 0 or added < least:
            best = g
            least = added
    return best
