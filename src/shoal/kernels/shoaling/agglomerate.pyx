# distutils: language = c++
"""Agglomeration inside a block. Twin: tests/naive/shoaling.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from shoal.kernels.shoaling.block cimport Block, load_block
from shoal.kernels.shoaling.groups cimport Groups, start_groups
from shoal.kernels.shoaling.clusters cimport grow_groups


def agglomerate(
    const int32_t[:, ::1] codes,    # IN  codes of each tuple, dearest attribute first
    const int32_t[::1] picks,       # IN  tuples of the block
    const int64_t[::1] rows,        # IN  rows of each picked tuple
    const int32_t[::1] places,      # IN  range: position of each code; tree: price of each code with the next
    const int64_t[::1] offsets,     # IN  start of each attribute in `places`, and the end of the last
    const uint8_t[::1] kinds,       # IN  kind of each attribute: SET, RANGE, TREE or RULE
    const int32_t[::1] units,       # IN  set: price of a value; range or tree: price of the full domain
    int64_t k,                      # IN  minimum rows of a group
    const int32_t[::1] classes,     # IN  class of each tuple; models cannot tell the rows of a class apart
    const int32_t[:, ::1] positions,    # IN  places of each class in the tally of a group
    const double[:, ::1] terms,     # IN  terms of the models
    const double[:, ::1] facts,     # IN  two numbers for each place of the tally
    int32_t[::1] labels,            # OUT group of each picked tuple
) -> int:
    """Merge the nearest clusters until all meet the requirement; return the number of groups."""
    cdef Block block
    cdef Groups groups
    cdef Py_ssize_t e
    with nogil:
        load_block(codes, picks, rows, places, offsets, kinds, units, k, classes, positions, terms, facts, block)
        start_groups(block, groups)
        grow_groups(block, groups)
        for e in range(block.n):
            labels[e] = groups.group[e]
    return <int>groups.price.size()
