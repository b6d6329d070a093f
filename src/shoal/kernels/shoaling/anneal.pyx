# distutils: language = c++
"""Rows move between the groups of a block and change places. Twin: tests/naive/exchanges.py."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, draw, draw_below, load_block
from shoal.kernels.shoaling.requirement cimport Summary, is_part, joined, nothing, parted, share
from shoal.kernels.shoaling.groups cimport (
    MOST, School, cost_of, find_near, load_school, open_group, price_exchanged, price_of_pair, price_with, put_in,
    ripe_pair, ripe_with, ripe_without, split_entry, stays_ripe, take_out,
)

# Nearest entries that a proposal may look to, members of a group that are tried in a swap, steps of the temperature.
cdef enum:
    N_NEAR = 12
    N_TRIED = 8
    N_STAGES = 40
    GIVE_UP = 16  # of how many proposals for each member of a group one tries to give it up


def anneal(
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
    int32_t n_groups,               # IN  number of groups
    int64_t proposals,              # IN  for each entry
    double heat,                    # IN  first temperature, in mean prices of a row of the block times root k
    uint64_t seed,                  # IN  of the block
    int32_t[::1] labels,            # IN and OUT  group of each picked tuple
) -> int:
    """Propose moves and swaps under a falling temperature; return how many of the picks are filled then."""
    cdef Block block
    cdef School school
    cdef vector[int32_t] near, origin, vacant
    cdef int64_t before, after, stage, step, n_steps
    cdef int64_t costly_rows = 0
    cdef int32_t g
    cdef double temperature
    cdef Py_ssize_t i
    with nogil:
        load_block(codes, picks[:n], rows[:n], places, offsets, kinds, units, k, classes, positions, terms, facts, block)
        load_school(block, labels[:n], n_groups, school)
        before = total_cost(school)
        for g in range(n_groups):
            if school.price[g] > 0:
                costly_rows += school.summary[g].rows
        for i in range(n):
            origin.push_back(<int32_t>i)
        if n_groups > 1 and before > 0:
            find_near(block, school, near, N_NEAR)
            temperature = heat * sqrt(<double>k) * (<double>before / <double>costly_rows)
            n_steps = proposals * block.n // N_STAGES
            for stage in range(N_STAGES):
                if stage * 100 >= N_STAGES * 85:
                    temperature = 0
                for step in range(n_steps):
                    propose(block, school, near, origin, vacant, <int32_t>picks.shape[0], temperature, &seed)
                temperature *= 0.935
        after = total_cost(school)
        if after < before:
            for i in range(block.n):
                labels[i] = school.group[i]
                rows[i] = block.entries[i].rows
                picks[i] = picks[origin[i]]
    return block.n if after < before else n


cdef int64_t total_cost(const School& school) noexcept nogil:
    cdef int64_t cost = 0
    cdef int32_t g
    for g in range(<int32_t>school.price.size()):
        cost += cost_of(school, g)
    return cost


cdef inline double threshold(double temperature, uint64_t* seed) noexcept nogil:
    """Draw how much worse a proposal may make it: about exponential, by a chord of the logarithm between powers of two."""
    cdef uint64_t word = draw(seed)
    cdef int32_t halvings = 0
    while word >> 63 == 0 and halvings < 40:
        word <<= 1
        halvings += 1
    return temperature * 0.6931471805599453 * (halvings + 1 - <double>(word << 1 >> 12) / 4503599627370496.0)


cdef void propose(
    Block& block, School& school, vector[int32_t]& near, vector[int32_t]& origin, vector[int32_t]& vacant, int32_t room,
    double temperature, uint64_t* seed,
) noexcept nogil:
    """Draw an entry and one near to it, and try to bring the first to the other's group."""
    cdef uint64_t word = draw(seed)
    cdef int32_t e = <int32_t>(((word >> 32) * <uint64_t>block.n) >> 32), a = school.group[e], b, other
    cdef int64_t stay, cost
    cdef double bound
    cdef Summary left
    if school.price[a] == 0:
        return
    # The square of a random share: the nearest are looked at most often.
    word &= <uint64_t>0xFFFFFFFF
    other = near[origin[e] * N_NEAR + <int32_t>(((word * word >> 32) * N_NEAR) >> 32)]
    if other < 0 or school.group[other] == a:
        return
    b = school.group[other]
    bound = threshold(temperature, seed)
    stay = cost_of(school, a) + cost_of(school, b)
    left = parted(school.summary[a], block.entries[e])
    if not ripe_without(block, school, a, e):
        # The lowest bits tell what is tried: giving up a group takes as long as swaps for all of its members.
        if (word & 255) * GIVE_UP * school.members[a].size() < 256:
            give_up(block, school, near, origin, vacant, a, bound)
        elif school.price[b] > 0 and word >> 8 & 3:
            swap(block, school, e, b, <int64_t>(<double>stay + bound), seed)
        elif block.n < room:
            move_and_refill(block, school, near, origin, e, b, <int64_t>(<double>stay + bound), seed)
        return
    if block.n < room and found_group(block, school, origin, vacant, e, other, bound):
        return
    cost = joined(school.summary[b], block.entries[e]).rows * price_with(block, school, b, e)
    if cost > stay + bound:
        return
    cost += left.rows * price_exchanged(block, school, a, e, -1, MOST)
    if cost <= stay + bound and ripe_with(block, school, b, e):
        take_out(block, school, e)
        put_in(block, school, b, e)


cdef bint found_group(
    Block& block, School& school, vector[int32_t]& origin, vector[int32_t]& vacant, int32_t e, int32_t other,
    double bound,
) noexcept nogil:
    """Let e found a new group, alone or with rows of the other entry that its group can spare."""
    cdef int32_t a = school.group[e], b = school.group[other], part = other
    cdef int64_t cost
    cdef Summary lent = share(block.need, block.entries[e], block.entries[other]), rest
    if ripe_pair(block, school, e, block.entries[e], -1, nothing()):
        take_out(block, school, e)
        put_in(block, school, new_group(block, school, vacant), e)
        return True
    rest = parted(school.summary[b], lent)
    if not ripe_pair(block, school, e, block.entries[e], other, lent):
        return False
    if not stays_ripe(block, school, b, other, lent, -1, nothing()):
        return False
    cost = joined(block.entries[e], lent).rows * price_of_pair(block, e, other)
    cost += parted(school.summary[a], block.entries[e]).rows * price_exchanged(block, school, a, e, -1, MOST)
    if is_part(lent, block.entries[other]):
        cost += rest.rows * school.price[b]
    else:
        cost += rest.rows * price_exchanged(block, school, b, other, -1, MOST)
    if cost > cost_of(school, a) + cost_of(school, b) + bound:
        return False
    if is_part(lent, block.entries[other]):
        part = split_entry(block, school, other, lent)
        origin.push_back(origin[other])
    take_out(block, school, part)
    take_out(block, school, e)
    a = new_group(block, school, vacant)
    put_in(block, school, a, e)
    put_in(block, school, a, part)
    return True


cdef int32_t new_group(const Block& block, School& school, vector[int32_t]& vacant) noexcept nogil:
    cdef int32_t g
    if vacant.empty():
        return open_group(block, school)
    g = vacant.back()
    vacant.pop_back()
    return g


cdef void give_up(
    const Block& block, School& school, const vector[int32_t]& near, const vector[int32_t]& origin,
    vector[int32_t]& vacant, int32_t g, double bound,
) noexcept nogil:
    """Place the members of a group one by one in groups near by, if that costs no more than the bound allows."""
    cdef vector[int32_t] members = school.members[g]
    cdef double limit = <double>cost_of(school, g) + bound
    cdef int64_t added, least, total = 0
    cdef int32_t j, b, best, e
    cdef size_t i, placed = 0
    for i in range(members.size()):
        take_out(block, school, members[i])
    while placed < members.size():
        e = members[placed]
        best = -1
        least = 0
        for j in range(N_NEAR):
            b = near[origin[e] * N_NEAR + j]
            b = school.group[b] if b >= 0 else -1
            if b < 0 or b == best:
                continue
            added = joined(school.summary[b], block.entries[e]).rows * price_with(block, school, b, e)
            added -= cost_of(school, b)
            if (best < 0 or added < least) and ripe_with(block, school, b, e):
                best = b
                least = added
        total += least
        if best < 0 or total > limit:
            break
        put_in(block, school, best, e)
        placed += 1
    if placed == members.size():
        vacant.push_back(g)
        return
    for i in range(placed):
        take_out(block, school, members[placed - 1 - i])
    for i in range(members.size()):
        put_in(block, school, g, members[i])


cdef void move_and_refill(
    Block& block, School& school, const vector[int32_t]& near, vector[int32_t]& origin, int32_t e, int32_t b,
    int64_t limit, uint64_t* seed,
) noexcept nogil:
    """Move e to group b and fill its place with rows that another group near by can spare."""
    cdef int32_t a = school.group[e], size = <int32_t>school.members[a].size(), f, filler, d
    cdef Summary left = parted(school.summary[a], block.entries[e]), lent
    cdef int64_t cost
    if size < 2:
        return
    f = school.members[a][draw_below(seed, size)]
    filler = near[origin[f] * N_NEAR + draw_below(seed, N_NEAR)]
    if f == e or filler < 0 or school.group[filler] == a or school.group[filler] == b:
        return
    d = school.group[filler]
    lent = share(block.need, left, block.entries[filler])
    if not stays_ripe(block, school, a, e, block.entries[e], filler, lent):
        return
    if not stays_ripe(block, school, d, filler, lent, -1, nothing()):
        return
    limit += cost_of(school, d)
    cost = joined(school.summary[b], block.entries[e]).rows * price_with(block, school, b, e)
    if cost > limit:
        return
    cost += joined(left, lent).rows * price_exchanged(block, school, a, e, filler, MOST)
    if is_part(lent, block.entries[filler]):
        cost += parted(school.summary[d], lent).rows * school.price[d]
    else:
        cost += parted(school.summary[d], lent).rows * price_exchanged(block, school, d, filler, -1, MOST)
    if cost > limit or not ripe_with(block, school, b, e):
        return
    if is_part(lent, block.entries[filler]):
        origin.push_back(origin[filler])
        filler = split_entry(block, school, filler, lent)
    take_out(block, school, e)
    take_out(block, school, filler)
    put_in(block, school, a, filler)
    put_in(block, school, b, e)


cdef void swap(
    const Block& block, School& school, int32_t e, int32_t b, int64_t limit, uint64_t* seed,
) noexcept nogil:
    """Let e change places with the best of some members of group b, if both groups then cost no more than the limit."""
    cdef int32_t a = school.group[e], partner, i, size = <int32_t>school.members[b].size(), best = -1, at
    cdef int32_t without = price_exchanged(block, school, a, e, -1, MOST) if school.members[a].size() > 1 else 0
    cdef Summary left, right, left_rest = parted(school.summary[a], block.entries[e])
    cdef int64_t cost, most
    at = draw_below(seed, size)
    for i in range(min(N_TRIED, size)):
        partner = school.members[b][at]
        at = at + 1 if at + 1 < size else 0
        left = joined(left_rest, block.entries[partner])
        right = joined(parted(school.summary[b], block.entries[partner]), block.entries[e])
        if left.rows < block.need.rows or right.rows < block.need.rows:
            continue
        # The partner can only raise the price of the group that e leaves.
        most = limit - left.rows * without
        if most < 0:
            continue
        cost = right.rows * price_exchanged(block, school, b, partner, e, most // right.rows)
        if cost > most:
            continue
        cost += left.rows * price_exchanged(block, school, a, e, partner, (limit - cost) // left.rows)
        if cost > limit or (cost == limit and best >= 0):
            continue
        if not stays_ripe(block, school, a, e, block.entries[e], partner, block.entries[partner]):
            continue
        if stays_ripe(block, school, b, partner, block.entries[partner], e, block.entries[e]):
            limit = cost
            best = partner
    if best >= 0:
        take_out(block, school, e)
        take_out(block, school, best)
        put_in(block, school, a, best)
        put_in(block, school, b, e)
