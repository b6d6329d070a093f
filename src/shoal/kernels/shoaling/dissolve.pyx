# distutils: language = c++
"""Groups that cost more than their members would elsewhere are given up. Twin: tests/naive/shoaling.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block, load_block
from shoal.kernels.shoaling.requirement cimport joined
from shoal.kernels.shoaling.groups cimport School, cost_of, load_school, price_with, put_in, ripe_with, take_out

ctypedef pair[int64_t, int32_t] Costly


def eject(
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
    int32_t[::1] labels,            # IN and OUT  group of each picked tuple; groups that are given up have none
) -> int:
    """Re-place the members of each group singly in others, the dearest group first, where that is cheaper.

    Return the number of groups given up.
    """
    cdef Block block
    cdef School school
    cdef vector[Costly] order
    cdef Py_ssize_t i
    cdef int32_t g, given_up = 0
    with nogil:
        load_block(codes, picks, rows, places, offsets, kinds, units, k, classes, positions, terms, facts, block)
        load_school(block, labels, n_groups, school)
        for g in range(n_groups):
            order.push_back(Costly(-cost_of(school, g), g))
        cpp_sort(order.begin(), order.end())
        for i in range(<Py_ssize_t>order.size()):
            given_up += give_up(block, school, order[i].second)
        for i in range(block.n):
            labels[i] = school.group[i]
    return given_up


cdef bint give_up(const Block& block, School& school, int32_t g) noexcept nogil:
    """Empty the group if its members cost less elsewhere."""
    cdef vector[int32_t] members = school.members[g]
    cdef int64_t cost = cost_of(school, g), added = 0, least
    cdef int32_t best
    cdef size_t i, placed = 0
    for i in range(members.size()):
        take_out(block, school, members[i])
    while placed < members.size() and added < cost:
        best = cheapest_group(block, school, g, members[placed], cost - added, &least)
        if best < 0:
            break
        put_in(block, school, best, members[placed])
        added += least
        placed += 1
    if placed == members.size() and added < cost:
        return True
    for i in range(placed):
        take_out(block, school, members[placed - 1 - i])
    for i in range(members.size()):
        put_in(block, school, g, members[i])
    return False


cdef int32_t cheapest_group(
    const Block& block, School& school, int32_t besides, int32_t e, int64_t limit,
    int64_t* least,                 # OUT what the entry adds there
) noexcept nogil:
    """Return the group to which the entry adds least, -1 where it adds the limit or more to each."""
    cdef int32_t g, best = -1
    cdef int64_t added
    least[0] = limit
    for g in range(<int32_t>school.price.size()):
        # The price only grows, so that the entry adds at least its own rows at the price that is.
        if g == besides or school.members[g].empty() or block.entries[e].rows * school.price[g] >= least[0]:
            continue
        added = joined(school.summary[g], block.entries[e]).rows * price_with(block, school, g, e) - cost_of(school, g)
        if added < least[0] and ripe_with(block, school, g, e):
            least[0] = added
            best = g
    return best
