# distutils: language = c++
"""Agglomeration inside a block. Twin: tests/naive/shoaling.py."""

from libc.stdint cimport int32_t

from shoal.kernels.shoaling.block cimport Block, load_block
from shoal.kernels.shoaling.groups cimport Groups, start_groups
from shoal.kernels.shoaling.clusters cimport grow_groups


def agglomerate(
    object work,                    # IN  the block, with the attributes that load_block reads
    int32_t[::1] labels,            # OUT group of each entry
) -> int:
    """Merge the nearest clusters until all meet the requirement; return the number of groups."""
    cdef Block block
    cdef Groups groups
    cdef Py_ssize_t e
    load_block(work, block)
    with nogil:
        start_groups(block, groups)
        grow_groups(block, groups)
        for e in range(block.n):
            labels[e] = groups.group[e]
    return <int>groups.price.size()
