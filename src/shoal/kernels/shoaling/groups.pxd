# Groups of a block: what a row of each costs, with or without an entry, and entries that come and go.

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport RULE, Block, lay_columns, measure_entries, rule_price, set_price, span_price
from shoal.kernels.shoaling.requirement cimport Summary, count_in, joined, nothing, parted, passes


cdef extern from *:
    """
    namespace shoaling {
    // Groups of a block, ready to take in and give away entries.
    struct School {
        std::vector<int32_t> counts;    // groups x local codes: entries that have the code
        std::vector<int32_t> low;       // groups x q: number of values of a set; else the least code
        std::vector<int32_t> high;      // groups x q: the greatest code, but of a set
        std::vector<int32_t> price;     // of a row
        std::vector<Summary> summary;
        std::vector<int64_t> tally;     // groups x what models count
        std::vector<int64_t> trial;     // the tally of a group that is thought of
        std::vector<std::vector<int32_t>> members;
        std::vector<int32_t> group, spot;   // of each entry
    };
    }
    """
    cppclass School "shoaling::School":
        vector[int32_t] counts
        vector[int32_t] low
        vector[int32_t] high
        vector[int32_t] price
        vector[Summary] summary
        vector[int64_t] tally
        vector[int64_t] trial
        vector[vector[int32_t]] members
        vector[int32_t] group
        vector[int32_t] spot


# --- prices ---

cdef inline int32_t n_codes(const Block& block) noexcept nogil:
    return block.base[block.q]


cdef inline int32_t price_of(const Block& block, const School& school, int32_t g) noexcept nogil:
    """Price of a row of a group as it stands."""
    cdef int32_t a, price = 0, q = block.q
    cdef const int32_t* count
    for a in range(q):
        if block.kinds[a] == RULE:
            count = &school.counts[<Py_ssize_t>g * block.base[q] + block.base[a]]
            price += rule_price(block.unit[a], count[0] > 0, count[1] > 0)
        elif block.kinds[a]:
            price += span_price(block, a, school.low[g * q + a], school.high[g * q + a])
        else:
            price += set_price(block.unit[a], school.low[g * q + a])
    return price


cdef inline int32_t price_with(const Block& block, const School& school, int32_t g, int32_t e) noexcept nogil:
    """Price of a row of group g if entry e joined it. g is not empty."""
    cdef int32_t a, c, b, price = 0, q = block.q
    cdef int32_t total = n_codes(block)
    cdef const int32_t* count
    for a in range(q):
        c = block.codes[e * q + a]
        b = block.base[a]
        if block.kinds[a] == RULE:
            count = &school.counts[<Py_ssize_t>g * total + b]
            price += rule_price(block.unit[a], c == 0 or count[0] > 0, c == 1 or count[1] > 0)
        elif block.kinds[a]:
            price += span_price(block, a, min(c, school.low[g * q + a]), max(c, school.high[g * q + a]))
        else:
            price += set_price(
                block.unit[a], school.low[g * q + a] + (school.counts[<Py_ssize_t>g * total + b + c] == 0)
            )
    return price


cdef enum:
    MOST = 2147483647  # above every price


cdef inline int32_t price_exchanged(
    const Block& block, const School& school, int32_t g, int32_t out, int32_t e, int64_t most,
) noexcept nogil:
    """Price of a row of group g without entry `out` and, where e >= 0, with entry e. Something of g stays.

    Where the price is above the most that is asked about, the first attributes alone may be in it.
    """
    cdef int32_t a, c, o, b, low, high, price = 0, q = block.q
    cdef const int32_t* count
    for a in range(q):
        b = block.base[a]
        o = block.codes[out * q + a]
        c = block.codes[e * q + a] if e >= 0 else o
        count = &school.counts[<Py_ssize_t>g * block.base[q] + b]
        low = school.low[g * q + a]
        if block.kinds[a] == RULE:
            price += rule_price(
                block.unit[a], count[0] - (o == 0) + (c == 0 and e >= 0) > 0, count[1] - (o == 1) + (c == 1 and e >= 0) > 0
            )
            continue
        if not block.kinds[a]:
            if c != o or e < 0:
                low -= count[o] == 1
                if e >= 0:
                    low += count[c] == 0
            price += set_price(block.unit[a], low)
            if price > most:
                return price
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
        price += span_price(block, a, low, high)
        if price > most:
            return price
    return price


cdef inline int32_t price_of_pair(const Block& block, int32_t e, int32_t other) noexcept nogil:
    """Price of a row of two entries together."""
    cdef int32_t a, c, d, price = 0
    for a in range(block.q):
        c = block.codes[e * block.q + a]
        d = block.codes[other * block.q + a]
        if block.kinds[a] == RULE:
            price += rule_price(block.unit[a], c == 0 or d == 0, c == 1 or d == 1)
        elif block.kinds[a]:
            price += span_price(block, a, min(c, d), max(c, d))
        else:
            price += set_price(block.unit[a], 1 + (c != d))
    return price


cdef inline int64_t cost_of(const School& school, int32_t g) noexcept nogil:
    return school.summary[g].rows * school.price[g]


# --- ripe ---

cdef inline bint stays_ripe(
    const Block& block, School& school, int32_t g, int32_t out, Summary gone, int32_t e, Summary come,
) noexcept nogil:
    """Say whether a group is ripe when rows of entry `out` have gone and rows of entry e come; -1: of none."""
    cdef Summary rows = joined(parted(school.summary[g], gone), come)
    cdef int32_t n = block.need.n_tallies
    if rows.rows < block.need.rows or n == 0:
        return rows.rows >= block.need.rows
    school.trial.assign(school.tally.begin() + <Py_ssize_t>g * n, school.tally.begin() + <Py_ssize_t>(g + 1) * n)
    if out >= 0:
        count_in(block.need, school.trial.data(), block.classes[out], -gone.rows)
    if e >= 0:
        count_in(block.need, school.trial.data(), block.classes[e], come.rows)
    return passes(block.need, rows, school.trial.data())


cdef inline bint ripe_without(const Block& block, School& school, int32_t g, int32_t out) noexcept nogil:
    return stays_ripe(block, school, g, out, block.entries[out], -1, nothing())


cdef inline bint ripe_with(const Block& block, School& school, int32_t g, int32_t e) noexcept nogil:
    """Say whether a ripe group is still ripe with another entry, which models may refuse."""
    return block.need.n_tallies == 0 or stays_ripe(block, school, g, -1, nothing(), e, block.entries[e])


cdef inline bint ripe_pair(
    const Block& block, School& school, int32_t e, Summary rows, int32_t other, Summary more,
) noexcept nogil:
    """Say whether rows of two entries are ripe together; other -1: of one alone."""
    school.trial.assign(block.need.n_tallies, 0)
    count_in(block.need, school.trial.data(), block.classes[e], rows.rows)
    if other >= 0:
        count_in(block.need, school.trial.data(), block.classes[other], more.rows)
    return passes(block.need, joined(rows, more), school.trial.data())


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
    school.tally.resize((g + 1) * block.need.n_tallies, 0)
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
        if not block.kinds[a]:
            school.low[g * q + a] += count[0] == 1
        elif first:
            school.low[g * q + a] = c
            school.high[g * q + a] = c
        else:
            school.low[g * q + a] = min(school.low[g * q + a], c)
            school.high[g * q + a] = max(school.high[g * q + a], c)
    school.summary[g] = joined(school.summary[g], block.entries[e])
    count_in(block.need, school.tally.data() + <Py_ssize_t>g * block.need.n_tallies, block.classes[e], block.entries[e].rows)
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
        if not block.kinds[a]:
            school.low[g * q + a] -= 1
        elif school.members[g].size() > 1:
            while count[school.low[g * q + a]] == 0:
                school.low[g * q + a] += 1
            while count[school.high[g * q + a]] == 0:
                school.high[g * q + a] -= 1
    school.summary[g] = parted(school.summary[g], block.entries[e])
    count_in(
        block.need, school.tally.data() + <Py_ssize_t>g * block.need.n_tallies, block.classes[e], -block.entries[e].rows
    )
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
    block.classes.push_back(block.classes[e])
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
