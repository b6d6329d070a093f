# distutils: language = c++
"""Groups of tuples that are equal at some levels of their hierarchies. Twin: tests/naive/covering.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector


def cover(
    const int32_t[:, ::1] codes,    # IN  one row a tuple
    const int64_t[::1] counts,      # IN  rows of each tuple
    const uint64_t[::1] marks,      # IN  of each node of each level, a random number; level after level, one a code
    const int64_t[:, ::1] begins,   # IN  where the marks of each attribute and level begin
    const int32_t[:, ::1] vectors,  # IN  the levels to try, one after the other
    int64_t k,                      # IN  rows that a group must have
    int32_t n_groups,               # IN  groups that there are already
    int32_t[::1] labels,            # IN and OUT  group of each tuple, -1 where it has none
) -> int:
    """At each vector make groups of the tuples without one that are equal there and have k rows; return how many there are.

    Tuples are told apart by sums of 64 random bits. Should two sums ever meet, a group is less alike and no less ripe.
    """
    cdef vector[int32_t] open_tuples
    cdef vector[uint64_t] keys
    cdef vector[int64_t] rows
    cdef vector[int32_t] used, group, slots
    cdef Py_ssize_t i, v
    cdef int64_t size = 2
    with nogil:
        for i in range(labels.shape[0]):
            if labels[i] < 0:
                open_tuples.push_back(<int32_t>i)
        while size < 2 * <int64_t>open_tuples.size():
            size *= 2
        keys.assign(size, 0)
        rows.assign(size, 0)
        group.assign(size, -1)
        used.assign(size, -1)
        slots.assign(open_tuples.size(), 0)
        for v in range(vectors.shape[0]):
            count_equals(codes, counts, marks, begins, vectors[v], open_tuples, <int32_t>v, keys, rows, used, slots)
            n_groups = take_ripe(k, n_groups, rows, group, slots, open_tuples, labels)
    return n_groups


def measure_ripeness(
    const int32_t[:, ::1] codes,    # IN  one row a tuple
    const int64_t[::1] counts,      # IN  rows of each tuple
    const uint64_t[::1] marks,      # IN  of each node of each level, a random number; level after level, one a code
    const int64_t[:, ::1] begins,   # IN  where the marks of each attribute and level begin
    const int32_t[:, ::1] vectors,  # IN  the levels to look at
    int64_t k,                      # IN  rows that a group must have
    const int32_t[::1] labels,      # IN  group of each tuple, -1 where it has none
    double[::1] ripeness,           # OUT of each vector: sum over rows without group of how ripe they would be, 1 where ripe
) -> None:
    """Say of each vector how near to ripe the tuples without group would be there."""
    cdef vector[int32_t] open_tuples
    cdef vector[uint64_t] keys
    cdef vector[int64_t] rows
    cdef vector[int32_t] used, slots
    cdef Py_ssize_t i, v
    cdef int64_t size = 2, total
    with nogil:
        for i in range(labels.shape[0]):
            if labels[i] < 0:
                open_tuples.push_back(<int32_t>i)
        while size < 2 * <int64_t>open_tuples.size():
            size *= 2
        keys.assign(size, 0)
        rows.assign(size, 0)
        used.assign(size, -1)
        slots.assign(open_tuples.size(), 0)
        for v in range(vectors.shape[0]):
            count_equals(codes, counts, marks, begins, vectors[v], open_tuples, <int32_t>v, keys, rows, used, slots)
            total = 0
            for i in range(<Py_ssize_t>open_tuples.size()):
                total += counts[open_tuples[i]] * min(rows[slots[i]], k)
            ripeness[v] = <double>total / <double>k


cdef void count_equals(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, const uint64_t[::1] marks, const int64_t[:, ::1] begins,
    const int32_t[::1] levels, const vector[int32_t]& open_tuples, int32_t turn,
    vector[uint64_t]& keys,         # IN and OUT  slots of a hash table
    vector[int64_t]& rows,          # OUT rows of the tuples of each slot
    vector[int32_t]& used,          # IN and OUT  the turn in which a slot was used last
    vector[int32_t]& slots,         # OUT slot of each open tuple
) noexcept nogil:
    """Count the rows of the open tuples that are equal at these levels."""
    cdef Py_ssize_t i, a, q = codes.shape[1]
    cdef uint64_t key, last = keys.size() - 1
    cdef Py_ssize_t slot
    cdef int32_t t
    for i in range(<Py_ssize_t>open_tuples.size()):
        t = open_tuples[i]
        key = 0
        for a in range(q):
            key += marks[begins[a, levels[a]] + codes[t, a]]
        slot = <Py_ssize_t>(key & last)
        while used[slot] == turn and keys[slot] != key:
            slot = <Py_ssize_t>(<uint64_t>(slot + 1) & last)
        if used[slot] != turn:
            used[slot] = turn
            keys[slot] = key
            rows[slot] = 0
        rows[slot] += counts[t]
        slots[i] = <int32_t>slot


cdef int32_t take_ripe(
    int64_t k, int32_t n_groups, const vector[int64_t]& rows,
    vector[int32_t]& group,         # all -1, given back all -1
    vector[int32_t]& slots, vector[int32_t]& open_tuples, int32_t[::1] labels,
) noexcept nogil:
    """Give the tuples of slots with k rows their group; the others stay open."""
    cdef Py_ssize_t i, n_left = 0
    cdef vector[int32_t] taken
    for i in range(<Py_ssize_t>open_tuples.size()):
        if rows[slots[i]] < k:
            open_tuples[n_left] = open_tuples[i]
            n_left += 1
            continue
        if group[slots[i]] < 0:
            group[slots[i]] = n_groups
            taken.push_back(slots[i])
            n_groups += 1
        labels[open_tuples[i]] = group[slots[i]]
    open_tuples.resize(n_left)
    for i in range(<Py_ssize_t>taken.size()):
        group[taken[i]] = -1
    return n_groups
