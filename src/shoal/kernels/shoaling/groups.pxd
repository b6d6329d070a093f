# The groups of a block: their prices with or without an entry, and entries that join and leave.

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport RULE, Block, is_counted, rule_price, span_price, values_price
from shoal.kernels.shoaling.nearest cimport FAR, find_nearest
from shoal.kernels.shoaling.population cimport covered_rows
from shoal.kernels.shoaling.requirement cimport Summary, add_to_tally, is_fewer, meets_cover, plus, no_rows, minus, passes


cdef extern from *:
    """
    namespace shoaling {
    // Groups of a block, kept up to date while entries join and leave.
    struct Groups {
        std::vector<int32_t> counts;    // groups x local codes: entries with the code
        std::vector<int32_t> low;       // groups x q: set: number of values; else the least code
        std::vector<int32_t> high;      // groups x q: the greatest code (not for sets)
        std::vector<int32_t> price;     // of a row
        std::vector<Summary> summary;
        std::vector<int32_t> people;    // different people of each group, if people are counted
        std::vector<int32_t> met;       // groups x people: entries of the person in the group
        std::vector<int64_t> tally;     // groups x places of the tally
        std::vector<int64_t> trial;     // scratch tally of a hypothetical group
        std::vector<std::vector<int32_t>> members;
        std::vector<int32_t> group, spot;   // group of each entry, and its index among the members
    };
    }
    """
    cppclass Groups "shoaling::Groups":
        vector[int32_t] counts
        vector[int32_t] low
        vector[int32_t] high
        vector[int32_t] price
        vector[Summary] summary
        vector[int32_t] people
        vector[int32_t] met
        vector[int64_t] tally
        vector[int64_t] trial
        vector[vector[int32_t]] members
        vector[int32_t] group
        vector[int32_t] spot


# --- prices ---

cdef inline int32_t price_of(const Block& block, const Groups& groups, int32_t g) noexcept nogil:
    """Price of a row of a group."""
    cdef int32_t a, price = 0, q = block.q
    cdef const int32_t* count
    for a in range(q):
        if block.kinds[a] == RULE:
            count = &groups.counts[<Py_ssize_t>g * block.base[q] + block.base[a]]
            price += rule_price(block.unit[a], count[0] > 0, count[1] > 0)
        elif is_counted(block.kinds[a]):
            price += values_price(block, a, groups.low[g * q + a])
        else:
            price += span_price(block, a, groups.low[g * q + a], groups.high[g * q + a])
    return price


cdef enum:
    MAX_PRICE = 2147483647  # above every price


cdef inline int32_t price_with(
    const Block& block, const Groups& groups, int32_t g, int32_t e, int64_t most,
) noexcept nogil:
    """Price of a row of group g if entry e joined it; g is not empty.

    If the price exceeds `most`, the result may cover the first attributes only.
    """
    cdef int32_t a, c, price = 0, q = block.q
    cdef const int32_t* low = groups.low.data() + <Py_ssize_t>g * q
    cdef const int32_t* codes = block.codes.data() + <Py_ssize_t>e * q
    cdef const int32_t* count
    for a in range(q):
        c = codes[a]
        count = groups.counts.data() + <Py_ssize_t>g * block.base[q] + block.base[a]
        if block.kinds[a] == RULE:
            price += rule_price(block.unit[a], c == 0 or count[0] > 0, c == 1 or count[1] > 0)
        elif is_counted(block.kinds[a]):
            price += values_price(block, a, low[a] + (count[c] == 0))
        else:
            price += span_price(block, a, min(c, low[a]), max(c, groups.high[<Py_ssize_t>g * q + a]))
        if price > most:
            break
    return price


cdef inline int32_t price_exchanged(
    const Block& block, const Groups& groups, int32_t g, int32_t out, int32_t e, int64_t most,
) noexcept nogil:
    """Price of a row of group g without entry `out` and, if e >= 0, with entry e. At least one entry remains.

    If the price exceeds `most`, the result may cover the first attributes only.
    """
    cdef int32_t a, c, o, b, low, high, price = 0, q = block.q
    cdef const int32_t* count
    for a in range(q):
        b = block.base[a]
        o = block.codes[out * q + a]
        c = block.codes[e * q + a] if e >= 0 else o
        count = &groups.counts[<Py_ssize_t>g * block.base[q] + b]
        low = groups.low[g * q + a]
        if block.kinds[a] == RULE:
            price += rule_price(
                block.unit[a], count[0] - (o == 0) + (c == 0 and e >= 0) > 0, count[1] - (o == 1) + (c == 1 and e >= 0) > 0
            )
            continue
        if is_counted(block.kinds[a]):
            if c != o or e < 0:
                low -= count[o] == 1
                if e >= 0:
                    low += count[c] == 0
            price += values_price(block, a, low)
            if price > most:
                return price
            continue
        high = groups.high[g * q + a]
        if (c != o or e < 0) and count[o] == 1 and low != high:
            if o == low:
                low += 1
                while count[low] == 0:
                    low += 1
            elif o == high:
                high -= 1
                while count[high] == 0:
                    high -= 1
        elif c != o and count[o] == 1:  # the only code of the group is replaced by that of e
            low, high = c, c
        if e >= 0:
            low, high = min(low, c), max(high, c)
        price += span_price(block, a, low, high)
        if price > most:
            return price
    return price


cdef inline int32_t price_of_pair(const Block& block, int32_t e, int32_t other) noexcept nogil:
    """Price of a row of the union of two entries."""
    cdef int32_t a, c, d, price = 0
    for a in range(block.q):
        c = block.codes[e * block.q + a]
        d = block.codes[other * block.q + a]
        if block.kinds[a] == RULE:
            price += rule_price(block.unit[a], c == 0 or d == 0, c == 1 or d == 1)
        elif is_counted(block.kinds[a]):
            price += values_price(block, a, 1 + (c != d))
        else:
            price += span_price(block, a, min(c, d), max(c, d))
    return price


cdef inline int64_t cost_of(const Groups& groups, int32_t g) noexcept nogil:
    return groups.summary[g].rows * groups.price[g]


# --- the requirement ---

cdef inline bint passes_after(
    const Block& block, Groups& groups, int32_t g, int32_t out, Summary gone, int32_t e, Summary come,
) noexcept nogil:
    """Say whether a group passes after rows of entry `out` have left and rows of entry e have joined; -1: none."""
    cdef Summary rows = plus(minus(groups.summary[g], gone), come)
    cdef int32_t n = block.requirement.n_tallies
    cdef int64_t size = rows.rows
    cdef bint stays
    if block.n_people > 0:
        size = people_after(block, groups, g, out, gone, e)
    if size < block.requirement.rows or (n == 0 and not block.requirement.covers):
        return size >= block.requirement.rows
    if block.requirement.covers:
        stays = out >= 0 and is_fewer(gone, block.entries[out])
        if not meets_cover(block.requirement, rows, covered_rows(block, groups.members[g], -1 if stays else out, e, -1)):
            return False
    groups.trial.assign(groups.tally.begin() + <Py_ssize_t>g * n, groups.tally.begin() + <Py_ssize_t>(g + 1) * n)
    if out >= 0:
        add_to_tally(block.requirement, groups.trial.data(), block.classes[out], -gone.rows)
    if e >= 0:
        add_to_tally(block.requirement, groups.trial.data(), block.classes[e], come.rows)
    return passes(block.requirement, size, rows, groups.trial.data())


cdef inline int64_t people_after(
    const Block& block, const Groups& groups, int32_t g, int32_t out, Summary gone, int32_t e,
) noexcept nogil:
    """Count the people of a group after rows of entry `out` have left and rows of entry e have joined; -1: none."""
    cdef const int32_t* met = groups.met.data() + <Py_ssize_t>g * block.n_people
    cdef int64_t n = groups.people[g]
    cdef int32_t leaves = -1
    if out >= 0 and not is_fewer(gone, block.entries[out]):
        leaves = block.person[out]
        n -= met[leaves] == 1
    if e >= 0:
        n += met[block.person[e]] - (block.person[e] == leaves) == 0
    return n


cdef inline bint passes_without(const Block& block, Groups& groups, int32_t g, int32_t out) noexcept nogil:
    return passes_after(block, groups, g, out, block.entries[out], -1, no_rows())


cdef inline bint passes_with(const Block& block, Groups& groups, int32_t g, int32_t e) noexcept nogil:
    """Say whether a passing group still passes with another entry; models may refuse it."""
    if block.requirement.n_tallies == 0 and not block.requirement.covers:
        return True
    return passes_after(block, groups, g, -1, no_rows(), e, block.entries[e])


cdef inline bint pair_passes(
    const Block& block, Groups& groups, int32_t e, Summary rows, int32_t other, Summary more,
) noexcept nogil:
    """Say whether rows of two entries pass as a group; other = -1: rows of one entry only."""
    groups.trial.assign(block.requirement.n_tallies, 0)
    add_to_tally(block.requirement, groups.trial.data(), block.classes[e], rows.rows)
    cdef int64_t size = plus(rows, more).rows
    if other >= 0:
        add_to_tally(block.requirement, groups.trial.data(), block.classes[other], more.rows)
    if block.n_people > 0:
        size = 1 + (other >= 0 and block.person[other] != block.person[e])
    if block.requirement.covers and not meets_cover(
        block.requirement, plus(rows, more), covered_rows(block, vector[int32_t](), -1, e, other)
    ):
        return False
    return passes(block.requirement, size, plus(rows, more), groups.trial.data())


# --- groups and entries ---

cdef inline int32_t add_group(const Block& block, Groups& groups) noexcept nogil:
    """Add an empty group and return its number."""
    cdef Py_ssize_t g = <Py_ssize_t>groups.price.size()
    cdef vector[int32_t] none
    groups.counts.resize((g + 1) * block.base[block.q], 0)
    groups.low.resize((g + 1) * block.q, 0)
    groups.high.resize((g + 1) * block.q, 0)
    groups.price.push_back(0)
    groups.summary.push_back(no_rows())
    groups.people.push_back(0)
    groups.met.resize((g + 1) * block.n_people, 0)
    groups.tally.resize((g + 1) * block.requirement.n_tallies, 0)
    groups.members.push_back(none)
    return <int32_t>g


cdef inline void add_entry(const Block& block, Groups& groups, int32_t g, int32_t e) noexcept nogil:
    cdef int32_t a, c, q = block.q
    cdef bint first = groups.members[g].empty()
    cdef int32_t* count
    for a in range(q):
        c = block.codes[e * q + a]
        count = &groups.counts[<Py_ssize_t>g * block.base[q] + block.base[a] + c]
        count[0] += 1
        if is_counted(block.kinds[a]):
            groups.low[g * q + a] += count[0] == 1
        elif first:
            groups.low[g * q + a] = c
            groups.high[g * q + a] = c
        else:
            groups.low[g * q + a] = min(groups.low[g * q + a], c)
            groups.high[g * q + a] = max(groups.high[g * q + a], c)
    groups.summary[g] = plus(groups.summary[g], block.entries[e])
    add_to_tally(block.requirement, groups.tally.data() + <Py_ssize_t>g * block.requirement.n_tallies, block.classes[e], block.entries[e].rows)
    if block.n_people > 0:
        count = &groups.met[<Py_ssize_t>g * block.n_people + block.person[e]]
        groups.people[g] += count[0] == 0
        count[0] += 1
    groups.group[e] = g
    groups.spot[e] = <int32_t>groups.members[g].size()
    groups.members[g].push_back(e)
    groups.price[g] = price_of(block, groups, g)


cdef inline void remove_entry(const Block& block, Groups& groups, int32_t e) noexcept nogil:
    """Remove an entry from its group; the last member moves to its index."""
    cdef int32_t a, c, last, g = groups.group[e], q = block.q
    cdef int32_t* count
    for a in range(q):
        c = block.codes[e * q + a]
        count = &groups.counts[<Py_ssize_t>g * block.base[q] + block.base[a]]
        count[c] -= 1
        if count[c] > 0:
            continue
        if is_counted(block.kinds[a]):
            groups.low[g * q + a] -= 1
        elif groups.members[g].size() > 1:
            while count[groups.low[g * q + a]] == 0:
                groups.low[g * q + a] += 1
            while count[groups.high[g * q + a]] == 0:
                groups.high[g * q + a] -= 1
    groups.summary[g] = minus(groups.summary[g], block.entries[e])
    add_to_tally(
        block.requirement, groups.tally.data() + <Py_ssize_t>g * block.requirement.n_tallies, block.classes[e], -block.entries[e].rows
    )
    if block.n_people > 0:
        count = &groups.met[<Py_ssize_t>g * block.n_people + block.person[e]]
        count[0] -= 1
        groups.people[g] -= count[0] == 0
    last = groups.members[g].back()
    groups.members[g][groups.spot[e]] = last
    groups.spot[last] = groups.spot[e]
    groups.members[g].pop_back()
    groups.group[e] = -1
    groups.price[g] = price_of(block, groups, g) if not groups.members[g].empty() else 0


cdef inline int32_t split_entry(Block& block, Groups& groups, int32_t e, Summary part) noexcept nogil:
    """Split some rows off an entry into a new entry of the same group; return its number."""
    cdef int32_t a, new = block.n, g = groups.group[e]
    block.n += 1
    for a in range(block.q):
        block.codes.push_back(block.codes[e * block.q + a])
        groups.counts[<Py_ssize_t>g * block.base[block.q] + block.base[a] + block.codes[e * block.q + a]] += 1
    block.entries[e] = minus(block.entries[e], part)
    block.entries.push_back(part)
    block.classes.push_back(block.classes[e])
    if block.n_people > 0:
        block.person.push_back(block.person[e])
        groups.met[<Py_ssize_t>g * block.n_people + block.person[e]] += 1
    groups.group.push_back(g)
    groups.spot.push_back(<int32_t>groups.members[g].size())
    groups.members[g].push_back(new)
    return new


cdef inline void start_groups(const Block& block, Groups& groups) noexcept nogil:
    """Start without groups."""
    groups.group.assign(block.n, -1)
    groups.spot.assign(block.n, 0)


cdef inline void load_groups(const Block& block, const int32_t[::1] labels, int32_t n_groups, Groups& groups) noexcept nogil:
    """Put each entry into the group of its label; -1 means no group."""
    cdef int32_t e
    start_groups(block, groups)
    for e in range(n_groups):
        add_group(block, groups)
    for e in range(block.n):
        if labels[e] >= 0:
            add_entry(block, groups, labels[e], e)


cdef inline void number_entries(const Block& block, vector[int32_t]& origin) noexcept nogil:
    """Write for each entry that it is a part of itself."""
    cdef int32_t e
    for e in range(block.n):
        origin.push_back(e)


cdef inline void write_entries(
    const Block& block, const Groups& groups, const vector[int32_t]& origin,
    int32_t[::1] entries,           # OUT original entry of each entry, which may be a part of it
    int64_t[::1] rows,              # OUT rows of each entry
    int32_t[::1] labels,            # OUT group of each entry
) noexcept nogil:
    cdef int32_t e
    for e in range(block.n):
        entries[e] = origin[e]
        rows[e] = block.entries[e].rows
        labels[e] = groups.group[e]


cdef inline void find_near(
    const Block& block, const Groups& groups, vector[int32_t]& near, int32_t width,
) noexcept nogil:
    """Write the nearest entries of each entry, nearest first, ties by number; -1 if there are fewer.

    Entries of groups that cost nothing gain nothing by moving and get none. If people are counted, entries of the same
    person are left out: they add nothing to a group that has the person already.
    """
    cdef vector[int32_t] worst, kept
    cdef vector[uint8_t] absent
    cdef int32_t e
    absent.assign(block.n, 0)
    worst.assign(block.n, FAR)
    for e in range(block.n):
        if groups.price[groups.group[e]] == 0:
            worst[e] = -1
    find_nearest(block, width, absent, worst, near, kept)
