# distutils: language = c++
"""Groups grown bottom-up inside a block. Twin: tests/naive/shoaling.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from shoal.kernels.shoaling.block cimport Block, load_block
from shoal.kernels.shoaling.groups cimport School, empty_school
from shoal.kernels.shoaling.clusters cimport grow_groups


def agglomerate(
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
    int32_t[::1] labels,            # OUT group of each picked tuple
) -> int:
    """Merge the nearest clusters until all are ripe; return the number of groups."""
    cdef Block block
    cdef School school
    cdef Py_ssize_t e
    with nogil:
        load_block(codes, picks, rows, places, offsets, kinds, units, k, classes, positions, terms, facts, block)
        empty_school(block, school)
        grow_groups(block, school)
        for e in range(block.n):
            labels[e] = school.group[e]
    return <int>school.price.size()
