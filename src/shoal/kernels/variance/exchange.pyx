# This file is longer than most: moves, swaps, refills, splits and new groups work on the same groups and their neighbours.
# distutils: language = c++
"""Entries move and swap between the groups of a block while that lowers the sum of squares. Checked by tests/naive/spread.py (sums and optima)."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, draw, draw_below, load_block
from shoal.kernels.shoaling.groups cimport (
    MAX_PRICE, Groups, number_entries, passes_after, passes_with, passes_without, price_exchanged, price_with, start_groups,
    write_entries,
)
from shoal.kernels.shoaling.requirement cimport no_rows
from shoal.kernels.variance.near cimport N_NEAR, find_levels
from shoal.kernels.variance.spread cimport (
    Spread, between, divide, joined, left, load_points, open_group, put, replaced, take, to_center,
)

cdef enum:
    N_TRIED = 12        # members of a group tried in a swap
    N_STAGES = 40       # temperatures
    STRETCH = 1024      # entries of a stretch of the walk through all entries: few enough to stay in the processor's cache
    DISSOLVE_RATE = 4   # one proposal in so many, for each member of the group, tries to dissolve it
    FOUND_RATE = 8      # one proposal in so many, of an entry that its group can spare, tries to form a new group
    N_PARTS = 16        # k rows of an entry are split into at most so many parts
    MOST_PARTS = 3      # and only 3 k of its rows


cdef struct Deal:
    double bound        # what a change may add to the sum of squares
    int64_t breach      # least price of a group that breaks a ban or a limit; 0 if there are none
    int64_t k


def exchange(
    object work,                    # IN  the block, with the attributes that load_block reads
    int32_t n_groups,               # IN  number of groups
    int64_t proposals,              # IN  proposals for each entry
    double heat,                    # IN  first temperature, in units of the mean sum of squares of a row
    uint64_t seed,                  # IN  seed of the block
    int64_t breach,                 # IN  least price of a group that breaks a ban or a limit; 0 if there are none
    const int32_t[::1] points,      # IN  point of each entry
    const double[:, ::1] places,    # IN  coordinates of each point
    const int32_t[:, ::1] values,   # IN  categories of each point
    const double[::1] units,        # IN  half the squared distance of two values of each category
    int32_t[::1] entries,           # OUT entry of the block behind each new entry, with room for parts of entries
    int64_t[::1] rows,              # OUT rows of each new entry
    int32_t[::1] labels,            # IN and OUT  group of each entry
) -> int:
    """Propose moves and swaps at falling temperatures; return the number of new entries.

    If the sum of squares would not be lower, write nothing and return the number of entries of the block.
    """
    cdef Block block
    cdef Groups groups
    cdef Spread spread
    cdef Deal deal
    cdef vector[int32_t] origin, vacant
    cdef vector[vector[int32_t]] near, walk
    cdef int64_t stage, step, n_steps
    cdef int32_t g, e, n, start, width, level, end
    cdef double before, after, temperature
    load_block(work, block)
    n = block.n
    deal.breach = breach
    deal.k = block.requirement.rows
    with nogil:
        load_points(points, places, values, units, spread)
        start_groups(block, groups)
        for g in range(n_groups):
            open_group(block, groups, spread)
        for e in range(n):
            put(block, groups, spread, labels[e], e)
        number_entries(block, origin)
        before = total(spread)
        after = before
        if before > 0:
            divide_entries(block, groups, spread, origin, <int32_t>entries.shape[0])
            find_levels(block, spread, near, walk)
            temperature = heat
            for g in range(n_groups):
                deal.bound = 0
                split_group(block, groups, spread, vacant, deal, g)
            for stage in range(N_STAGES):
                if stage * 100 >= N_STAGES * 93:
                    temperature = 0
                for level in range(<int32_t>walk.size()):
                    start, end = 0, <int32_t>walk[level].size()
                    while start < end:
                        width = min(STRETCH, end - start)
                        n_steps = (stage + 1) * proposals * width // N_STAGES - stage * proposals * width // N_STAGES
                        for step in range(n_steps):
                            e = walk[level][start + draw_below(&seed, width)]
                            propose(block, groups, spread, near[level], vacant, deal, temperature, e, &seed)
                        start += width
                temperature *= 0.94
            after = total(spread)
        if after < before:
            write_entries(block, groups, origin, entries, rows, labels)
    return block.n if after < before else n


cdef double total(const Spread& spread) noexcept nogil:
    cdef double squares = 0
    cdef size_t g
    for g in range(spread.squares.size()):
        squares += spread.squares[g]
    return squares


cdef void divide_entries(
    Block& block, Groups& groups, Spread& spread, vector[int32_t]& origin, int32_t room,
) noexcept nogil:
    """Split entries of several rows into parts that can move on their own; k rows make at most 16 parts."""
    cdef int64_t k = block.requirement.rows, part = (k + N_PARTS - 1) // N_PARTS
    cdef int32_t e, i, n = block.n
    if block.n_people > 0:
        return
    for e in range(n):
        for i in range(<int32_t>(MOST_PARTS * k // part)):
            if block.entries[e].rows <= part or block.n >= room:
                break
            divide(block, groups, spread, e, part)
            origin.push_back(e)


# --- proposals ---

cdef inline double threshold(double temperature, uint64_t* seed) noexcept nogil:
    """Draw how much a proposal may add to the cost: nearly exponential, by chords of the logarithm."""
    cdef uint64_t word = draw(seed)
    cdef int32_t halvings = 0
    while word >> 63 == 0 and halvings < 40:
        word <<= 1
        halvings += 1
    return temperature * 0.6931471805599453 * (halvings + 1 - <double>(word << 1 >> 12) / 4503599627370496.0)


cdef inline bint admits(const Block& block, Groups& groups, const Deal& deal, int32_t g, int32_t e) noexcept nogil:
    """Say whether an entry may join a group."""
    if deal.breach > 0 and price_with(block, groups, g, e, MAX_PRICE) >= deal.breach:
        return False
    return passes_with(block, groups, g, e)


cdef inline bint may_replace(
    const Block& block, Groups& groups, const Deal& deal, int32_t g, int32_t out, int32_t e,
) noexcept nogil:
    """Say whether an entry may replace another in a group."""
    if deal.breach > 0 and price_exchanged(block, groups, g, out, e, deal.breach) >= deal.breach:
        return False
    return passes_after(block, groups, g, out, block.entries[out], e, block.entries[e])


cdef void propose(
    Block& block, Groups& groups, Spread& spread, const vector[int32_t]& near, vector[int32_t]& vacant, Deal& deal,
    double temperature, int32_t e, uint64_t* seed,
) noexcept nogil:
    """Draw a point near an entry, and try to move the entry to the group of an entry there."""
    cdef uint64_t word = draw(seed)
    cdef int32_t a = groups.group[e], b, point
    if spread.squares[a] == 0:
        return
    # The square of a uniform number prefers the nearest points; the first place is that of the entry's own point.
    word &= <uint64_t>0xFFFFFFFF
    b = <int32_t>(((word * word >> 32) * (N_NEAR + 1)) >> 32)
    point = spread.point[e] if b == 0 else near[spread.point[e] * N_NEAR + b - 1]
    if point < 0:
        return
    b = groups.group[spread.at[point][draw_below(seed, <int32_t>spread.at[point].size())]]
    if b == a:
        return
    deal.bound = 0
    if temperature > 0:
        deal.bound = threshold(temperature, seed) * (spread.squares[a] + spread.squares[b])
        deal.bound /= <double>(groups.summary[a].rows + groups.summary[b].rows)
    if passes_without(block, groups, a, e):
        if (word & 255) * FOUND_RATE < 256:
            found_group(block, groups, spread, near, vacant, deal, e)
        else:
            try_move(block, groups, spread, vacant, deal, e, b)
    # The lowest bits choose the proposal: dissolving a group takes as long as swaps for all of its members.
    elif (word & 255) * DISSOLVE_RATE * groups.members[a].size() < 256:
        dissolve_group(block, groups, spread, near, vacant, deal, a)
    elif word >> 8 & 3 == 0:
        try_swap(block, groups, spread, deal, e, b, seed)
    else:
        move_and_refill(block, groups, spread, near, vacant, deal, e, b, seed)


cdef void try_move(
    Block& block, Groups& groups, Spread& spread, vector[int32_t]& vacant, const Deal& deal, int32_t e, int32_t b,
) noexcept nogil:
    """Move an entry from a group that can spare it."""
    cdef int32_t a = groups.group[e], point = spread.point[e]
    cdef double rows = <double>block.entries[e].rows
    cdef double gain = left(<double>groups.summary[a].rows, rows, to_center(spread, groups, a, point))
    gain -= joined(<double>groups.summary[b].rows, rows, to_center(spread, groups, b, point))
    if gain <= -deal.bound or not admits(block, groups, deal, b, e):
        return
    take(block, groups, spread, e)
    put(block, groups, spread, b, e)
    split_group(block, groups, spread, vacant, deal, b)


cdef inline double swapped(
    const Spread& spread, const Groups& groups, int32_t one, int32_t other, int32_t out, int32_t new, double rows,
) noexcept nogil:
    """What two groups gain if as many rows at a point of each change places; for points without categories."""
    cdef double along = 0, squared = 0, gap
    cdef const double* here = &spread.places[<Py_ssize_t>out * spread.p]
    cdef const double* there = &spread.places[<Py_ssize_t>new * spread.p]
    cdef const double* center = &spread.centers[<Py_ssize_t>one * spread.p]
    cdef const double* others = &spread.centers[<Py_ssize_t>other * spread.p]
    cdef int32_t a
    for a in range(spread.p):
        gap = there[a] - here[a]
        along += gap * (center[a] - others[a])
        squared += gap * gap
    return -rows * (
        2 * along + rows * squared * (1 / <double>groups.summary[one].rows + 1 / <double>groups.summary[other].rows)
    )


cdef void try_swap(
    const Block& block, Groups& groups, Spread& spread, const Deal& deal, int32_t e, int32_t b, uint64_t* seed,
) noexcept nogil:
    """Swap an entry with the best of some members of another group."""
    cdef int32_t a = groups.group[e], size = <int32_t>groups.members[b].size(), at, i, partner, best = -1
    cdef double least = deal.bound, cost, rows = <double>block.entries[e].rows, others
    at = draw_below(seed, size)
    for i in range(min(<int32_t>N_TRIED, size)):
        partner = groups.members[b][at]
        at = at + 1 if at + 1 < size else 0
        if spread.point[partner] == spread.point[e]:
            continue
        others = <double>block.entries[partner].rows
        if others == rows and spread.q == 0:
            cost = swapped(spread, groups, a, b, spread.point[e], spread.point[partner], rows)
        else:
            cost = replaced(spread, groups, a, spread.point[e], rows, spread.point[partner], others)
            cost += replaced(spread, groups, b, spread.point[partner], others, spread.point[e], rows)
        if cost < least and may_replace(block, groups, deal, a, e, partner) and may_replace(
            block, groups, deal, b, partner, e
        ):
            least = cost
            best = partner
    if best >= 0:
        take(block, groups, spread, e)
        take(block, groups, spread, best)
        put(block, groups, spread, a, best)
        put(block, groups, spread, b, e)


cdef void move_and_refill(
    Block& block, Groups& groups, Spread& spread, const vector[int32_t]& near, vector[int32_t]& vacant,
    const Deal& deal, int32_t e, int32_t b, uint64_t* seed,
) noexcept nogil:
    """Move an entry and replace it by one that a third group, near another member, can spare."""
    cdef int32_t a = groups.group[e], f = groups.members[a][draw_below(seed, <int32_t>groups.members[a].size())]
    cdef int32_t i, other, filler = -1, d, near_point, point = spread.point[e]
    cdef double rows = <double>block.entries[e].rows, more, cost, least = deal.bound, base
    if f == e:
        return
    base = joined(<double>groups.summary[b].rows, rows, to_center(spread, groups, b, point))
    for i in range(N_NEAR):
        near_point = near[spread.point[f] * N_NEAR + i]
        if near_point < 0:
            break
        other = spread.at[near_point][draw_below(seed, <int32_t>spread.at[near_point].size())]
        d = groups.group[other]
        if d == a or d == b or not passes_without(block, groups, d, other):
            continue
        more = <double>block.entries[other].rows
        cost = base + replaced(spread, groups, a, point, rows, near_point, more)
        cost -= left(<double>groups.summary[d].rows, more, to_center(spread, groups, d, near_point))
        if cost < least and may_replace(block, groups, deal, a, e, other):
            least = cost
            filler = other
    if filler < 0 or not admits(block, groups, deal, b, e):
        return
    take(block, groups, spread, e)
    take(block, groups, spread, filler)
    put(block, groups, spread, a, filler)
    put(block, groups, spread, b, e)
    split_group(block, groups, spread, vacant, deal, b)


cdef void dissolve_group(
    Block& block, Groups& groups, Spread& spread, const vector[int32_t]& near, vector[int32_t]& vacant,
    const Deal& deal, int32_t g,
) noexcept nogil:
    """Move the members of a group one by one into the groups nearby to which they add least, if that pays."""
    cdef vector[int32_t] members = groups.members[g], hosts
    cdef double limit = spread.squares[g] + deal.bound, added, least, sum = 0
    cdef int32_t j, b, e, best, point
    cdef size_t i, placed = 0
    for i in range(members.size()):
        take(block, groups, spread, members[i])
    while placed < members.size():
        e = members[placed]
        best = -1
        least = 0
        for j in range(-1, N_NEAR):
            point = spread.point[e] if j < 0 else near[spread.point[e] * N_NEAR + j]
            if point < 0:
                break
            for i in range(min(<size_t>2, spread.at[point].size())):
                b = groups.group[spread.at[point][i]]
                if b < 0 or b == best:
                    continue
                added = joined(
                    <double>groups.summary[b].rows, <double>block.entries[e].rows, to_center(spread, groups, b, spread.point[e])
                )
                if (best < 0 or added < least) and admits(block, groups, deal, b, e):
                    best = b
                    least = added
        sum += least
        if best < 0 or sum >= limit:
            break
        put(block, groups, spread, best, e)
        hosts.push_back(best)
        placed += 1
    if placed == members.size():
        vacant.push_back(g)
        for i in range(hosts.size()):
            split_group(block, groups, spread, vacant, deal, hosts[i])
        return
    for i in range(placed):
        take(block, groups, spread, members[placed - 1 - i])
    for i in range(members.size()):
        put(block, groups, spread, g, members[i])


cdef inline int32_t empty_group(
    const Block& block, Groups& groups, Spread& spread, vector[int32_t]& vacant,
) noexcept nogil:
    """Return the number of an empty group."""
    if vacant.empty():
        return open_group(block, groups, spread)
    cdef int32_t g = vacant.back()
    vacant.pop_back()
    return g


cdef void found_group(
    Block& block, Groups& groups, Spread& spread, const vector[int32_t]& near, vector[int32_t]& vacant,
    const Deal& deal, int32_t e,
) noexcept nogil:
    """Form a group of an entry and those nearest to it that their groups can spare, if that pays."""
    cdef vector[int32_t] origins
    cdef double gained = 0
    cdef int32_t h, j, point, other, g
    cdef size_t i
    cdef bint ended = False
    h = empty_group(block, groups, spread, vacant)
    for j in range(-1, N_NEAR):
        point = spread.point[e] if j < 0 else near[spread.point[e] * N_NEAR + j]
        if point < 0:
            break
        for i in range(spread.at[point].size()):
            other = spread.at[point][i]
            g = groups.group[other]
            if g == h or not passes_without(block, groups, g, other):
                continue
            if not groups.members[h].empty() and not admits(block, groups, deal, h, other):
                continue
            gained += spread.squares[g]
            take(block, groups, spread, other)
            gained -= spread.squares[g]
            put(block, groups, spread, h, other)
            origins.push_back(g)
            ended = spread.squares[h] - gained >= deal.bound
            if not ended and passes_after(block, groups, h, -1, no_rows(), -1, no_rows()):
                return
            if ended:
                break
        if ended:
            break
    while not origins.empty():
        other = groups.members[h].back()
        take(block, groups, spread, other)
        put(block, groups, spread, origins.back(), other)
        origins.pop_back()
    vacant.push_back(h)


cdef void split_group(
    Block& block, Groups& groups, Spread& spread, vector[int32_t]& vacant, const Deal& deal, int32_t g,
) noexcept nogil:
    """Split a group of at least 2 k rows in two, where that lowers the sum of squares most.

    The members are sorted by their place between the one farthest from the center and the one farthest from that.
    """
    cdef vector[pair[double, int32_t]] order
    cdef int32_t first, second, h, e
    cdef size_t i, best = 0, n = groups.members[g].size()
    cdef double least = 0
    if groups.summary[g].rows < 2 * deal.k or n < 2 or spread.squares[g] == 0:
        return
    first = farthest(groups, spread, g, -1)
    second = farthest(groups, spread, g, spread.point[first])
    for i in range(n):
        e = groups.members[g][i]
        order.push_back(
            pair[double, int32_t](
                between(spread, spread.point[e], spread.point[first]) - between(spread, spread.point[e], spread.point[second]), e
            )
        )
    cpp_sort(order.begin(), order.end())
    h = empty_group(block, groups, spread, vacant)
    for i in range(n - 1):
        e = order[i].second
        take(block, groups, spread, e)
        put(block, groups, spread, h, e)
        if passes_after(block, groups, g, -1, no_rows(), -1, no_rows()) and passes_after(
            block, groups, h, -1, no_rows(), -1, no_rows()
        ):
            if best == 0 or spread.squares[g] + spread.squares[h] < least:
                least = spread.squares[g] + spread.squares[h]
                best = i + 1
    for i in range(n - 1 - best):
        e = order[n - 2 - i].second
        take(block, groups, spread, e)
        put(block, groups, spread, g, e)
    if best == 0:
        vacant.push_back(h)
        return
    split_group(block, groups, spread, vacant, deal, g)
    split_group(block, groups, spread, vacant, deal, h)


cdef int32_t farthest(const Groups& groups, const Spread& spread, int32_t g, int32_t point) noexcept nogil:
    """Return the member of a group farthest from a point, or from its center if that is -1; ties by number."""
    cdef int32_t e, best = -1
    cdef size_t i
    cdef double distance, most = -1
    for i in range(groups.members[g].size()):
        e = groups.members[g][i]
        if point < 0:
            distance = to_center(spread, groups, g, spread.point[e])
        else:
            distance = between(spread, spread.point[e], point)
        if distance > most or (distance == most and e < best):
            most = distance
            best = e
    return best
