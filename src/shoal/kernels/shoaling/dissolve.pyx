# distutils: language = c++
"""Dissolve groups whose members cost less elsewhere. Twin: tests/naive/shoaling.py."""

from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, load_block
from shoal.kernels.shoaling.requirement cimport Summary
from shoal.kernels.shoaling.groups cimport Groups, cost_of, load_groups, price_with, add_entry, passes_with, remove_entry

ctypedef pair[int64_t, int32_t] Costly


def dissolve(
    object work,                    # IN  the block, with the attributes that load_block reads
    int32_t n_groups,               # IN  number of groups
    int32_t[::1] labels,            # IN and OUT  group of each entry; a dissolved group keeps none
) -> int:
    """Move the members of a group one by one into other groups if that is cheaper, dearest group first.

    Return the number of dissolved groups.
    """
    cdef Block block
    cdef Groups groups
    cdef vector[Costly] order
    cdef Py_ssize_t i
    cdef int32_t g, n_dissolved = 0
    load_block(work, block)
    with nogil:
        load_groups(block, labels, n_groups, groups)
        for g in range(n_groups):
            order.push_back(Costly(-cost_of(groups, g), g))
        cpp_sort(order.begin(), order.end())
        for i in range(<Py_ssize_t>order.size()):
            n_dissolved += dissolve_group(block, groups, order[i].second)
        for i in range(block.n):
            labels[i] = groups.group[i]
    return n_dissolved


cdef bint dissolve_group(const Block& block, Groups& groups, int32_t g) noexcept nogil:
    """Empty the group if its members cost less in other groups."""
    cdef vector[int32_t] members = groups.members[g]
    cdef int64_t cost = cost_of(groups, g) + block.charge, added = 0, least
    cdef int32_t best
    cdef size_t i, placed = 0
    for i in range(members.size()):
        remove_entry(block, groups, members[i])
    while placed < members.size() and added < cost:
        best = cheapest_group(block, groups, g, members[placed], cost - added, &least)
        if best < 0:
            break
        add_entry(block, groups, best, members[placed])
        added += least
        placed += 1
    if placed == members.size() and added < cost:
        return True
    for i in range(placed):
        remove_entry(block, groups, members[placed - 1 - i])
    for i in range(members.size()):
        add_entry(block, groups, g, members[i])
    return False


cdef int32_t cheapest_group(
    const Block& block, Groups& groups, int32_t besides, int32_t e, int64_t limit,
    int64_t* least,                 # OUT cost that the entry adds there
) noexcept nogil:
    """Return the group to which the entry adds the least cost, -1 if it adds the limit or more to every group."""
    cdef int32_t g, best = -1
    cdef int64_t added, rows, cost, own = block.entries[e].rows
    cdef const Summary* summary = groups.summary.data()
    cdef const int32_t* prices = groups.price.data()
    least[0] = limit
    for g in range(<int32_t>groups.price.size()):
        # Prices only grow, so the entry adds at least its own rows at the current price. A dissolved group has no rows.
        if own * prices[g] >= least[0] or g == besides or summary[g].rows == 0:
            continue
        rows = summary[g].rows + own
        cost = summary[g].rows * prices[g]
        # The quotient in floating point is quick and at most one too small.
        added = rows * price_with(block, groups, g, e, <int64_t>(<double>(least[0] + cost) / <double>rows) + 1) - cost
        if added < least[0] and passes_with(block, groups, g, e):
            least[0] = added
            best = g
    return best
