# distutils: language = c++
"""Groups of tuples that are equal at given levels of their hierarchies. Twin: tests/naive/covering.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector


def cover(
    const int32_t[:, ::1] codes,    # IN  codes of each tuple
    const int64_t[::1] counts,      # IN  rows of each tuple
    const uint64_t[::1] marks,      # IN  random number of the node of each code, level after level
    const int64_t[:, ::1] begins,   # IN  start of each attribute and level in `marks`
    const int32_t[:, ::1] vectors,  # IN  vectors of levels, in the order to try
    int64_t k,                      # IN  minimum rows of a group
    int32_t n_groups,               # IN  number of existing groups
    int32_t[::1] labels,            # IN and OUT  group of each tuple, -1 for none
) -> int:
    """For each vector, group the ungrouped tuples that are equal there and have k rows; return the number of groups.

    Tuples are compared by sums of 64 random bits. A collision would make a group less uniform, never smaller than k.
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
            count_equal_tuples(codes, counts, marks, begins, vectors[v], open_tuples, <int32_t>v, keys, rows, used, slots)
            n_groups = label_groups(k, n_groups, rows, group, slots, open_tuples, labels)
    return n_groups


def measure_progress(
    const int32_t[:, ::1] codes,    # IN  codes of each tuple
    const int64_t[::1] counts,      # IN  rows of each tuple
    const uint64_t[::1] marks,      # IN  random number of the node of each code, level after level
    const int64_t[:, ::1] begins,   # IN  start of each attribute and level in `marks`
    const int32_t[:, ::1] vectors,  # IN  vectors of levels
    int64_t k,                      # IN  minimum rows of a group
    const int32_t[::1] labels,      # IN  group of each tuple, -1 for none
    double[::1] progress,           # OUT for each vector, the sum over ungrouped rows of min(rows of their group / k, 1)
) -> None:
    """Measure how close each vector brings the ungrouped tuples to k rows."""
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
            count_equal_tuples(codes, counts, marks, begins, vectors[v], open_tuples, <int32_t>v, keys, rows, used, slots)
            total = 0
            for i in range(<Py_ssize_t>open_tuples.size()):
                total += counts[open_tuples[i]] * min(rows[slots[i]], k)
            progress[v] = <double>total / <double>k


cdef void count_equal_tuples(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, const uint64_t[::1] marks, const int64_t[:, ::1] begins,
    const int32_t[::1] levels, const vector[int32_t]& open_tuples, int32_t turn,
    vector[uint64_t]& keys,         # IN and OUT  keys of a hash table
    vector[int64_t]& rows,          # OUT rows in each slot
    vector[int32_t]& used,          # IN and OUT  the turn in which each slot was last used
    vector[int32_t]& slots,         # OUT slot of each open tuple
) noexcept nogil:
    """Count the rows of the ungrouped tuples that are equal at these levels."""
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


cdef int32_t label_groups(
    int64_t k, int32_t n_groups, const vector[int64_t]& rows,
    vector[int32_t]& group,         # all -1 before and after
    vector[int32_t]& slots, vector[int32_t]& open_tuples, int32_t[::1] labels,
) noexcept nogil:
    """Give the tuples of slots with k rows a group; the others stay ungrouped."""
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
