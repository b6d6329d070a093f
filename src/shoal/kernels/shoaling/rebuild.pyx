# distutils: language = c++
"""Neighbouring groups are pooled and grown again. Twin: tests/naive/rebuilding.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, add_attribute, finish_block, load_block, start_block
from shoal.kernels.shoaling.groups cimport School, cost_of, empty_school, find_near, load_school, open_group, put_in, stays_ripe, take_out
from shoal.kernels.shoaling.clusters cimport grow_groups
from shoal.kernels.shoaling.requirement cimport nothing

# (-votes, group)
ctypedef pair[int32_t, int32_t] Voted

# Nearest entries of each member that vote for their groups.
cdef enum:
    N_NEAR = 8


def rebuild(
    const int32_t[:, ::1] codes,    # IN  one row a tuple, attributes in the order in which they are looked at
    const int32_t[::1] picks,       # IN  the tuples of the block
    const int64_t[::1] rows,        # IN  rows of each of them
    const int32_t[::1] places,      # IN  of each code of a range: where it lies; of a tree: price of it with the next
    const int64_t[::1] offsets,     # IN  where an attribute's codes begin, one more at the end
    const uint8_t[::1] kinds,       # IN  how each attribute is recoded: SET, RANGE, TREE; or a RULE
    const int32_t[::1] units,       # IN  price of a value of a set; of the whole of a range or tree
    int64_t k,                      # IN  rows that a group must have
    const int32_t[::1] classes,     # IN  of each tuple, what models know of its rows
    const int32_t[:, ::1] positions,    # IN  where a class stands in the tally of a group
    const double[:, ::1] terms,     # IN  what models ask of the tally
    const double[:, ::1] facts,     # IN  what they know of the whole table, two for each place of the tally
    int32_t n_groups,               # IN  number of groups
    int32_t partners,               # IN  how many groups are pooled with each
    int32_t[::1] labels,            # IN and OUT  group of each picked tuple
) -> int:
    """Pool each group with its nearest ones and grow groups of the pool, kept if cheaper; return the number of groups."""
    cdef Block block
    cdef School school
    cdef vector[int32_t] near, chosen
    cdef int32_t g
    cdef Py_ssize_t e
    with nogil:
        load_block(codes, picks, rows, places, offsets, kinds, units, k, classes, positions, terms, facts, block)
        load_school(block, labels, n_groups, school)
        find_near(block, school, near, N_NEAR)
        g = 0
        while g < <int32_t>school.price.size() and <int32_t>school.price.size() < 4 * n_groups + 4:
            if school.price[g] > 0:
                nearest_groups(school, near, N_NEAR, g, partners, chosen)
                grow_again(block, school, chosen)
            g += 1
        for e in range(block.n):
            labels[e] = school.group[e]
    return <int>school.price.size()


cdef void grow_again(const Block& block, School& school, const vector[int32_t]& chosen) noexcept nogil:
    """Grow groups of the members of some groups, and keep those if they cost less."""
    cdef Block pool
    cdef School grown
    cdef vector[int32_t] entries
    cdef int32_t i, j, new
    cdef int64_t cost = 0
    for i in range(<int32_t>chosen.size()):
        cost += cost_of(school, chosen[i])
        entries.insert(entries.end(), school.members[chosen[i]].begin(), school.members[chosen[i]].end())
    cpp_sort(entries.begin(), entries.end())
    pool_entries(block, entries, pool)
    empty_school(pool, grown)
    grow_groups(pool, grown)
    for i in range(<int32_t>grown.price.size()):
        cost -= cost_of(grown, i)
        if not stays_ripe(pool, grown, i, -1, nothing(), -1, nothing()):
            return
    if cost <= 0:
        return
    for j in range(<int32_t>entries.size()):
        take_out(block, school, entries[j])
    for i in range(<int32_t>grown.price.size()):
        new = chosen[i] if i < <int32_t>chosen.size() else open_group(block, school)
        for j in range(<int32_t>grown.members[i].size()):
            put_in(block, school, new, entries[grown.members[i][j]])


cdef void nearest_groups(
    const School& school, const vector[int32_t]& near, int32_t width, int32_t g, int32_t partners,
    vector[int32_t]& chosen,        # OUT the group and those that most of its members are near to
) noexcept nogil:
    cdef vector[int32_t] seen
    cdef vector[Voted] votes
    cdef Py_ssize_t i, j
    cdef int32_t other
    for i in range(<Py_ssize_t>school.members[g].size()):
        for j in range(width):
            other = near[school.members[g][i] * width + j]
            if other >= 0 and school.group[other] != g:
                seen.push_back(school.group[other])
    cpp_sort(seen.begin(), seen.end())
    for i in range(<Py_ssize_t>seen.size()):
        if i == 0 or seen[i] != seen[i - 1]:
            votes.push_back(Voted(0, seen[i]))
        votes[votes.size() - 1].first -= 1
    cpp_sort(votes.begin(), votes.end())
    chosen.assign(1, g)
    for i in range(min(<Py_ssize_t>votes.size(), partners)):
        chosen.push_back(votes[i].second)


cdef void pool_entries(const Block& block, const vector[int32_t]& entries, Block& pool) noexcept nogil:
    """Make a block of some entries of a block."""
    cdef Py_ssize_t i, a, q = block.q, n = <Py_ssize_t>entries.size()
    cdef vector[int32_t] column, columns
    pool.need = block.need
    start_block(pool, <int32_t>n)
    for i in range(n):
        pool.entries.push_back(block.entries[entries[i]])
        pool.classes.push_back(block.classes[entries[i]])
    column.resize(n)
    for a in range(q):
        for i in range(n):
            column[i] = block.codes[entries[i] * q + a]
        add_attribute(
            pool, column, block.base[a + 1] - block.base[a], block.kinds[a], block.unit[a],
            block.place.data() + block.base[a], columns,
        )
    finish_block(pool, columns)
