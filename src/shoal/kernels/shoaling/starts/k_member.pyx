# distutils: language = c++
"""Greedy k-member clustering inside a block (Byun, Kamra, Bertino, Li 2007). Twin: tests/naive/gathering.py."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport (
    RANGE, RULE, Block, is_counted, load_block, range_price, rule_price, span_price, values_price,
)
from shoal.kernels.shoaling.nearest cimport STRIDE, copy_columns, first_mark, mark_all, mark_below, measure_entries
from shoal.kernels.shoaling.requirement cimport Summary, has_k_rows, is_fewer, plus, no_rows, minus, rows_to_borrow
from shoal.kernels.shoaling.groups cimport (
    MAX_PRICE, Groups, cost_of, start_groups, add_group, number_entries, price_with, add_entry, write_entries,
)


def gather_members(
    object work,                    # IN  the block, with the attributes that load_block reads
    int32_t[::1] entries,           # OUT entry of the block behind each new entry, with room for parts of entries
    int64_t[::1] rows,              # OUT rows of each new entry
    int32_t[::1] labels,            # OUT group of each new entry
) -> int:
    """Start each group far from the previous one and add the cheapest entries up to k rows.

    Rows that a group does not need remain for the next. Return the number of new entries.
    """
    cdef Block block
    cdef Groups groups
    cdef vector[int32_t] origin
    load_block(work, block)
    with nogil:
        start_groups(block, groups)
        number_entries(block, origin)
        gather(block, groups, origin, <int32_t>entries.shape[0])
        write_entries(block, groups, origin, entries, rows, labels)
    return block.n


cdef void gather(Block& block, Groups& groups, vector[int32_t]& origin, int32_t room) noexcept nogil:
    cdef vector[int32_t] columns, distance, shares, prices
    cdef Summary left = no_rows(), part
    cdef int32_t n = block.n, e, g, last = 0, best
    copy_columns(block, columns)
    distance.resize(n)
    shares.resize(<size_t>n * block.q)
    for e in range(n):
        left = plus(left, block.entries[e])
    while has_k_rows(block.requirement, left) or groups.price.empty():
        measure_entries(block, columns, last, distance, 0)
        best = -1
        for e in range(n):
            if groups.group[e] < 0 and (best < 0 or distance[e] > distance[best]):
                best = e
        if best < 0:
            break
        g = add_group(block, groups)
        prices.assign(n, 0)
        while best >= 0:
            part = rows_to_borrow(block.requirement, groups.summary[g], block.entries[best])
            last = best
            if is_fewer(part, block.entries[best]) and block.n < room:
                left = minus(left, part)
                origin.push_back(origin[best])
                add_part(block, groups, g, best, part)
            else:
                left = minus(left, block.entries[best])
                add_entry(block, groups, g, best)
            if has_k_rows(block.requirement, groups.summary[g]):
                break
            price_all(block, groups, g, last, columns, shares, prices)
            best = cheapest(groups, prices)
    for e in range(n):
        if groups.group[e] < 0:
            add_entry(block, groups, cheapest_group(block, groups, e), e)


cdef void price_all(
    const Block& block, const Groups& groups, int32_t g, int32_t last, const vector[int32_t]& columns,
    vector[int32_t]& shares,        # IN and OUT  price of a row with each entry, attribute by attribute
    vector[int32_t]& prices,        # IN and OUT  sums of `shares` over the attributes
) noexcept nogil:
    """Price the group with each entry, after `last` has joined; only attributes that it changed are computed."""
    cdef int32_t a, c, e, low, high, unit, new, n = <int32_t>prices.size(), q = block.q
    cdef const int32_t* count
    cdef const int32_t* column
    cdef int32_t* own
    cdef int32_t* price = prices.data()
    cdef vector[int32_t] by_code
    if groups.members[g].size() == 1:
        shares.assign(shares.size(), 0)
    for a in range(q):
        c = block.codes[last * q + a]
        count = &groups.counts[<Py_ssize_t>g * block.base[q] + block.base[a]]
        if count[c] > 1 and groups.members[g].size() > 1:
            continue
        column = columns.data() + <Py_ssize_t>a * n
        own = shares.data() + <Py_ssize_t>a * n
        unit = block.unit[a]
        if block.kinds[a] == RANGE:
            low = block.place[block.base[a] + groups.low[g * q + a]]
            high = block.place[block.base[a] + groups.high[g * q + a]]
            for e in range(n):
                new = range_price(unit, min(low, column[e]), max(high, column[e]))
                price[e] += new - own[e]
                own[e] = new
            continue
        by_code.clear()
        for c in range(block.base[a + 1] - block.base[a]):
            if is_counted(block.kinds[a]):
                by_code.push_back(values_price(block, a, groups.low[g * q + a] + (count[c] == 0)))
            elif block.kinds[a] == RULE:
                by_code.push_back(rule_price(unit, c == 0 or count[0] > 0, c == 1 or count[1] > 0))
            else:
                low, high = min(c, groups.low[g * q + a]), max(c, groups.high[g * q + a])
                by_code.push_back(span_price(block, a, low, high))
        for e in range(n):
            new = by_code[column[e]]
            price[e] += new - own[e]
            own[e] = new


cdef void add_part(Block& block, Groups& groups, int32_t g, int32_t e, Summary part) noexcept nogil:
    """Put some rows of an ungrouped entry into a group."""
    cdef int32_t a, new = block.n
    block.n += 1
    for a in range(block.q):
        block.codes.push_back(block.codes[e * block.q + a])
    block.entries[e] = minus(block.entries[e], part)
    block.entries.push_back(part)
    block.classes.push_back(block.classes[e])
    if block.n_people > 0:
        block.person.push_back(block.person[e])
    groups.group.push_back(-1)
    groups.spot.push_back(0)
    add_entry(block, groups, g, new)


cdef int32_t cheapest(const Groups& groups, const vector[int32_t]& prices) noexcept nogil:
    """Return the cheapest ungrouped entry, -1 if there is none."""
    cdef int32_t e = 0, i, best = -1, least = MAX_PRICE, n = <int32_t>prices.size()
    cdef uint32_t marks
    while e < n:
        marks = mark_below(prices.data() + e, least) if e + STRIDE <= n else mark_all(n - e)
        while marks != 0:
            i = e + first_mark(marks)
            marks &= marks - 1
            if prices[i] < least and groups.group[i] < 0:
                best = i
                least = prices[i]
        e += STRIDE
    return best


cdef int32_t cheapest_group(const Block& block, const Groups& groups, int32_t e) noexcept nogil:
    cdef int32_t g, best = 0
    cdef int64_t added, least = -1
    for g in range(<int32_t>groups.price.size()):
        added = plus(groups.summary[g], block.entries[e]).rows * price_with(block, groups, g, e, MAX_PRICE) - cost_of(groups, g)
        if least < 0 or added < least:
            best = g
            least = added
    return best
