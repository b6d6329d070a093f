# distutils: language = c++
"""Pool neighbouring groups and agglomerate them again. Twin: tests/naive/rebuilding.py."""

from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, add_attribute, add_people, finish_block, load_block, start_block
from shoal.kernels.shoaling.groups cimport Groups, cost_of, start_groups, find_near, load_groups, add_group, add_entry, passes_after, remove_entry
from shoal.kernels.shoaling.clusters cimport grow_groups
from shoal.kernels.shoaling.requirement cimport no_rows

# (-votes, group)
ctypedef pair[int32_t, int32_t] Voted

cdef enum:
    N_NEAR = 8      # nearest entries of each member that vote for their groups


def rebuild(
    object work,                    # IN  the block, with the attributes that load_block reads
    int32_t n_groups,               # IN  number of groups
    int32_t partners,               # IN  number of groups pooled with each
    int32_t[::1] labels,            # IN and OUT  group of each entry
) -> int:
    """Pool each group with its neighbours and regroup the pool if that is cheaper; return the number of groups."""
    cdef Block block
    cdef Groups groups
    cdef vector[int32_t] near, chosen
    cdef int32_t g
    cdef Py_ssize_t e
    load_block(work, block)
    with nogil:
        load_groups(block, labels, n_groups, groups)
        find_near(block, groups, near, N_NEAR)
        g = 0
        while g < <int32_t>groups.price.size() and <int32_t>groups.price.size() < 4 * n_groups + 4:
            if groups.price[g] > 0:
                nearest_groups(groups, near, N_NEAR, g, partners, chosen)
                grow_again(block, groups, chosen)
            g += 1
        for e in range(block.n):
            labels[e] = groups.group[e]
    return <int>groups.price.size()


cdef void grow_again(const Block& block, Groups& groups, const vector[int32_t]& chosen) noexcept nogil:
    """Regroup the members of some groups; keep the result if it costs less."""
    cdef Block pool
    cdef Groups grown
    cdef vector[int32_t] entries
    cdef int32_t i, j, new
    cdef int64_t cost = 0
    for i in range(<int32_t>chosen.size()):
        cost += cost_of(groups, chosen[i]) + block.charge
        entries.insert(entries.end(), groups.members[chosen[i]].begin(), groups.members[chosen[i]].end())
    cpp_sort(entries.begin(), entries.end())
    pool_entries(block, entries, pool)
    start_groups(pool, grown)
    grow_groups(pool, grown)
    for i in range(<int32_t>grown.price.size()):
        cost -= cost_of(grown, i) + block.charge
        if not passes_after(pool, grown, i, -1, no_rows(), -1, no_rows()):
            return
    if cost <= 0:
        return
    for j in range(<int32_t>entries.size()):
        remove_entry(block, groups, entries[j])
    for i in range(<int32_t>grown.price.size()):
        new = chosen[i] if i < <int32_t>chosen.size() else add_group(block, groups)
        for j in range(<int32_t>grown.members[i].size()):
            add_entry(block, groups, new, entries[grown.members[i][j]])


cdef void nearest_groups(
    const Groups& groups, const vector[int32_t]& near, int32_t width, int32_t g, int32_t partners,
    vector[int32_t]& chosen,        # OUT the group and the groups that most of its members are near to
) noexcept nogil:
    cdef vector[int32_t] seen
    cdef vector[Voted] votes
    cdef Py_ssize_t i, j
    cdef int32_t other
    for i in range(<Py_ssize_t>groups.members[g].size()):
        for j in range(width):
            other = near[groups.members[g][i] * width + j]
            if other >= 0 and groups.group[other] != g:
                seen.push_back(groups.group[other])
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
    """Copy some entries of a block into a block of their own."""
    cdef Py_ssize_t i, a, q = block.q, n = <Py_ssize_t>entries.size()
    cdef vector[int32_t] column, columns
    pool.requirement = block.requirement
    start_block(pool, <int32_t>n)
    for i in range(n):
        pool.entries.push_back(block.entries[entries[i]])
        pool.classes.push_back(block.classes[entries[i]])
    column.resize(n)
    if block.n_people > 0:
        for i in range(n):
            column[i] = block.person[entries[i]]
        add_people(pool, column)
    for a in range(q):
        for i in range(n):
            column[i] = block.codes[entries[i] * q + a]
        add_attribute(
            pool, column, block.base[a + 1] - block.base[a], block.kinds[a], block.unit[a],
            block.place.data() + block.base[a], columns,
        )
    finish_block(pool, columns)
