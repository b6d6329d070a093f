# distutils: language = c++
"""Simulated annealing: entries move and swap between the groups of a block. Twin: tests/naive/exchanges.py."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, draw, draw_below, load_block
from shoal.kernels.shoaling.requirement cimport Summary, is_fewer, plus, no_rows, minus, rows_to_borrow
from shoal.kernels.shoaling.groups cimport (
    MAX_PRICE, Groups, cost_of, find_near, load_groups, add_group, price_exchanged, price_of_pair, price_with, add_entry,
    number_entries, pair_passes, passes_with, passes_without, split_entry, passes_after, remove_entry, write_entries,
)

cdef enum:
    N_NEAR = 12         # nearest entries that a proposal may choose
    N_TRIED = 8         # members of a group tried in a swap
    N_STAGES = 40       # temperatures
    DISSOLVE_RATE = 16  # one proposal in so many, for each member of the group, tries to dissolve it


def anneal(
    object work,                    # IN  the block, with the attributes that load_block reads
    int32_t n_groups,               # IN  number of groups
    int64_t proposals,              # IN  proposals for each entry
    double heat,                    # IN  first temperature, in units of the mean price of a row times sqrt(k)
    uint64_t seed,                  # IN  seed of the block
    int32_t[::1] entries,           # OUT entry of the block behind each new entry, with room for parts of entries
    int64_t[::1] rows,              # OUT rows of each new entry
    int32_t[::1] labels,            # IN and OUT  group of each entry
) -> int:
    """Propose moves and swaps at falling temperatures; return the number of new entries.

    If the groups would not cost less, write nothing and return the number of entries of the block.
    """
    cdef Block block
    cdef Groups groups
    cdef vector[int32_t] near, origin, vacant
    cdef int64_t before, after, stage, step, n_steps
    cdef int64_t costly_rows = 0
    cdef int32_t g, n
    cdef double temperature
    load_block(work, block)
    n = block.n
    with nogil:
        load_groups(block, labels, n_groups, groups)
        before = total_cost(block, groups)
        for g in range(n_groups):
            if groups.price[g] > 0:
                costly_rows += groups.summary[g].rows
        number_entries(block, origin)
        if n_groups > 1 and costly_rows > 0:
            find_near(block, groups, near, N_NEAR)
            temperature = heat * sqrt(<double>block.requirement.rows)
            temperature *= <double>(before - n_groups * block.charge) / <double>costly_rows
            n_steps = proposals * block.n // N_STAGES
            for stage in range(N_STAGES):
                if stage * 100 >= N_STAGES * 85:
                    temperature = 0
                for step in range(n_steps):
                    propose(block, groups, near, origin, vacant, <int32_t>entries.shape[0], temperature, &seed)
                temperature *= 0.935
        after = total_cost(block, groups)
        if after < before:
            write_entries(block, groups, origin, entries, rows, labels)
    return block.n if after < before else n


cdef int64_t total_cost(const Block& block, const Groups& groups) noexcept nogil:
    cdef int64_t cost = 0
    cdef int32_t g
    for g in range(<int32_t>groups.price.size()):
        cost += cost_of(groups, g)
        if not groups.members[g].empty():
            cost += block.charge
    return cost


cdef inline double threshold(double temperature, uint64_t* seed) noexcept nogil:
    """Draw how much a proposal may add to the cost: nearly exponential, by chords of the logarithm."""
    cdef uint64_t word = draw(seed)
    cdef int32_t halvings = 0
    while word >> 63 == 0 and halvings < 40:
        word <<= 1
        halvings += 1
    return temperature * 0.6931471805599453 * (halvings + 1 - <double>(word << 1 >> 12) / 4503599627370496.0)


cdef void propose(
    Block& block, Groups& groups, vector[int32_t]& near, vector[int32_t]& origin, vector[int32_t]& vacant, int32_t room,
    double temperature, uint64_t* seed,
) noexcept nogil:
    """Draw an entry and a neighbour, and try to move the entry to the group of the neighbour."""
    cdef uint64_t word = draw(seed)
    cdef int32_t e = <int32_t>(((word >> 32) * <uint64_t>block.n) >> 32), a = groups.group[e], b, other
    cdef int64_t stay, cost, rows
    cdef double bound
    cdef Summary left
    if groups.price[a] == 0:
        return
    # The square of a uniform number prefers the nearest neighbours.
    word &= <uint64_t>0xFFFFFFFF
    other = near[origin[e] * N_NEAR + <int32_t>(((word * word >> 32) * N_NEAR) >> 32)]
    if other < 0 or groups.group[other] == a:
        return
    b = groups.group[other]
    bound = threshold(temperature, seed)
    stay = cost_of(groups, a) + cost_of(groups, b)
    left = minus(groups.summary[a], block.entries[e])
    if not passes_without(block, groups, a, e):
        # The lowest bits choose the proposal: dissolving a group takes as long as swaps for all of its members. If people
        # are counted, no proposal starts a group of three people or more, so none is given up before the end.
        if (word & 255) * DISSOLVE_RATE * groups.members[a].size() < 256 and (block.n_people == 0 or temperature == 0):
            dissolve_group(block, groups, near, origin, vacant, a, bound)
        elif groups.price[b] > 0 and word >> 8 & 3:
            try_swap(block, groups, e, b, <int64_t>(<double>stay + bound), seed)
        elif block.n < room:
            move_and_refill(block, groups, near, origin, e, b, <int64_t>(<double>stay + bound), seed)
        return
    if block.n < room and start_new_group(block, groups, origin, vacant, e, other, bound):
        return
    rows = plus(groups.summary[b], block.entries[e]).rows
    cost = rows * price_with(block, groups, b, e, <int64_t>(<double>stay + bound) // rows)
    if cost > stay + bound:
        return
    cost += left.rows * price_exchanged(block, groups, a, e, -1, MAX_PRICE)
    if cost <= stay + bound and passes_with(block, groups, b, e):
        remove_entry(block, groups, e)
        add_entry(block, groups, b, e)


cdef bint start_new_group(
    Block& block, Groups& groups, vector[int32_t]& origin, vector[int32_t]& vacant, int32_t e, int32_t other,
    double bound,
) noexcept nogil:
    """Start a new group with e, alone or with rows of the other entry that its group can spare."""
    cdef int32_t a = groups.group[e], b = groups.group[other], part = other
    cdef int64_t cost
    cdef Summary lent = rows_to_borrow(block.requirement, block.entries[e], block.entries[other]), rest
    if block.charge > 0:
        bound -= <double>block.charge
    elif pair_passes(block, groups, e, block.entries[e], -1, no_rows()):
        remove_entry(block, groups, e)
        add_entry(block, groups, new_group(block, groups, vacant), e)
        return True
    rest = minus(groups.summary[b], lent)
    if not pair_passes(block, groups, e, block.entries[e], other, lent):
        return False
    if not passes_after(block, groups, b, other, lent, -1, no_rows()):
        return False
    cost = plus(block.entries[e], lent).rows * price_of_pair(block, e, other)
    cost += minus(groups.summary[a], block.entries[e]).rows * price_exchanged(block, groups, a, e, -1, MAX_PRICE)
    if is_fewer(lent, block.entries[other]):
        cost += rest.rows * groups.price[b]
    else:
        cost += rest.rows * price_exchanged(block, groups, b, other, -1, MAX_PRICE)
    if cost > cost_of(groups, a) + cost_of(groups, b) + bound:
        return False
    if is_fewer(lent, block.entries[other]):
        part = split_entry(block, groups, other, lent)
        origin.push_back(origin[other])
    remove_entry(block, groups, part)
    remove_entry(block, groups, e)
    a = new_group(block, groups, vacant)
    add_entry(block, groups, a, e)
    add_entry(block, groups, a, part)
    return True


cdef int32_t new_group(const Block& block, Groups& groups, vector[int32_t]& vacant) noexcept nogil:
    cdef int32_t g
    if vacant.empty():
        return add_group(block, groups)
    g = vacant.back()
    vacant.pop_back()
    return g


cdef void dissolve_group(
    const Block& block, Groups& groups, const vector[int32_t]& near, const vector[int32_t]& origin,
    vector[int32_t]& vacant, int32_t g, double bound,
) noexcept nogil:
    """Move the members of a group one by one into neighbouring groups if the bound allows the cost."""
    cdef vector[int32_t] members = groups.members[g]
    cdef double limit = <double>cost_of(groups, g) + <double>block.charge + bound
    cdef int64_t added, least, total = 0
    cdef int32_t j, b, best, e
    cdef size_t i, placed = 0
    for i in range(members.size()):
        remove_entry(block, groups, members[i])
    while placed < members.size():
        e = members[placed]
        best = -1
        least = 0
        for j in range(N_NEAR):
            b = near[origin[e] * N_NEAR + j]
            b = groups.group[b] if b >= 0 else -1
            if b < 0 or b == best:
                continue
            added = plus(groups.summary[b], block.entries[e]).rows * price_with(block, groups, b, e, MAX_PRICE)
            added -= cost_of(groups, b)
            if (best < 0 or added < least) and passes_with(block, groups, b, e):
                best = b
                least = added
        total += least
        if best < 0 or total > limit:
            break
        add_entry(block, groups, best, e)
        placed += 1
    if placed == members.size():
        vacant.push_back(g)
        return
    for i in range(placed):
        remove_entry(block, groups, members[placed - 1 - i])
    for i in range(members.size()):
        add_entry(block, groups, g, members[i])


cdef void move_and_refill(
    Block& block, Groups& groups, const vector[int32_t]& near, vector[int32_t]& origin, int32_t e, int32_t b,
    int64_t limit, uint64_t* seed,
) noexcept nogil:
    """Move e to group b and replace it by rows that another neighbouring group can spare."""
    cdef int32_t a = groups.group[e], size = <int32_t>groups.members[a].size(), f, filler, d
    cdef Summary left = minus(groups.summary[a], block.entries[e]), lent
    cdef int64_t cost
    if size < 2:
        return
    f = groups.members[a][draw_below(seed, size)]
    filler = near[origin[f] * N_NEAR + draw_below(seed, N_NEAR)]
    if f == e or filler < 0 or groups.group[filler] == a or groups.group[filler] == b:
        return
    d = groups.group[filler]
    lent = rows_to_borrow(block.requirement, left, block.entries[filler])
    if not passes_after(block, groups, a, e, block.entries[e], filler, lent):
        return
    if not passes_after(block, groups, d, filler, lent, -1, no_rows()):
        return
    limit += cost_of(groups, d)
    cost = plus(groups.summary[b], block.entries[e]).rows
    cost *= price_with(block, groups, b, e, limit // cost)
    if cost > limit:
        return
    cost += plus(left, lent).rows * price_exchanged(block, groups, a, e, filler, MAX_PRICE)
    if is_fewer(lent, block.entries[filler]):
        cost += minus(groups.summary[d], lent).rows * groups.price[d]
    else:
        cost += minus(groups.summary[d], lent).rows * price_exchanged(block, groups, d, filler, -1, MAX_PRICE)
    if cost > limit or not passes_with(block, groups, b, e):
        return
    if is_fewer(lent, block.entries[filler]):
        origin.push_back(origin[filler])
        filler = split_entry(block, groups, filler, lent)
    remove_entry(block, groups, e)
    remove_entry(block, groups, filler)
    add_entry(block, groups, a, filler)
    add_entry(block, groups, b, e)


cdef void try_swap(
    const Block& block, Groups& groups, int32_t e, int32_t b, int64_t limit, uint64_t* seed,
) noexcept nogil:
    """Swap e with the best of some members of group b if both groups then cost at most the limit."""
    cdef int32_t a = groups.group[e], partner, i, size = <int32_t>groups.members[b].size(), best = -1, at
    cdef int32_t without = price_exchanged(block, groups, a, e, -1, MAX_PRICE) if groups.members[a].size() > 1 else 0
    cdef Summary left, right, left_rest = minus(groups.summary[a], block.entries[e])
    cdef int64_t cost, most
    at = draw_below(seed, size)
    for i in range(min(N_TRIED, size)):
        partner = groups.members[b][at]
        at = at + 1 if at + 1 < size else 0
        left = plus(left_rest, block.entries[partner])
        right = plus(minus(groups.summary[b], block.entries[partner]), block.entries[e])
        if left.rows < block.requirement.rows or right.rows < block.requirement.rows:
            continue
        # The partner can only raise the price of the group that e leaves.
        most = limit - left.rows * without
        if most < 0:
            continue
        cost = right.rows * price_exchanged(block, groups, b, partner, e, most // right.rows)
        if cost > most:
            continue
        cost += left.rows * price_exchanged(block, groups, a, e, partner, (limit - cost) // left.rows)
        if cost > limit or (cost == limit and best >= 0):
            continue
        if not passes_after(block, groups, a, e, block.entries[e], partner, block.entries[partner]):
            continue
        if passes_after(block, groups, b, partner, block.entries[partner], e, block.entries[e]):
            limit = cost
            best = partner
    if best >= 0:
        remove_entry(block, groups, e)
        remove_entry(block, groups, best)
        add_entry(block, groups, a, best)
        add_entry(block, groups, b, e)
