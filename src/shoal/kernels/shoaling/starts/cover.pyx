# distutils: language = c++
"""Groups of tuples that are equal at given levels of their hierarchies. Twin: tests/naive/covering.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <cstdint>
    #include <vector>
    namespace covering {
    // The ungrouped tuples, and a hash table of twice their number or more that counts the rows of equal tuples.
    struct Table {
        std::vector<int32_t> open_tuples;
        std::vector<uint64_t> keys;     // of each slot
        std::vector<int64_t> rows;      // in each slot
        std::vector<int32_t> used;      // the turn in which each slot was last used
        std::vector<int32_t> slots;     // of each open tuple
    };
    }
    """
    cppclass Table "covering::Table":
        vector[int32_t] open_tuples
        vector[uint64_t] keys
        vector[int64_t] rows
        vector[int32_t] used
        vector[int32_t] slots


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
    cdef Table table
    cdef vector[int32_t] group
    cdef Py_ssize_t v
    with nogil:
        open_table(labels, table)
        group.assign(table.keys.size(), -1)
        for v in range(vectors.shape[0]):
            count_equal_tuples(codes, counts, marks, begins, vectors[v], <int32_t>v, table)
            n_groups = label_groups(k, n_groups, group, table, labels)
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
    cdef Table table
    cdef Py_ssize_t i, v
    cdef int64_t total
    with nogil:
        open_table(labels, table)
        for v in range(vectors.shape[0]):
            count_equal_tuples(codes, counts, marks, begins, vectors[v], <int32_t>v, table)
            total = 0
            for i in range(<Py_ssize_t>table.open_tuples.size()):
                total += counts[table.open_tuples[i]] * min(table.rows[table.slots[i]], k)
            progress[v] = <double>total / <double>k


cdef void open_table(const int32_t[::1] labels, Table& table) noexcept nogil:
    """List the ungrouped tuples and make room for them in the hash table."""
    cdef Py_ssize_t i
    cdef int64_t size = 2
    for i in range(labels.shape[0]):
        if labels[i] < 0:
            table.open_tuples.push_back(<int32_t>i)
    while size < 2 * <int64_t>table.open_tuples.size():
        size *= 2
    table.keys.assign(size, 0)
    table.rows.assign(size, 0)
    table.used.assign(size, -1)
    table.slots.assign(table.open_tuples.size(), 0)


cdef void count_equal_tuples(
    const int32_t[:, ::1] codes, const int64_t[::1] counts, const uint64_t[::1] marks, const int64_t[:, ::1] begins,
    const int32_t[::1] levels, int32_t turn, Table& table,
) noexcept nogil:
    """Count the rows of the ungrouped tuples that are equal at these levels."""
    cdef Py_ssize_t i, a, q = codes.shape[1]
    cdef uint64_t key, last = table.keys.size() - 1
    cdef Py_ssize_t slot
    cdef int32_t t
    for i in range(<Py_ssize_t>table.open_tuples.size()):
        t = table.open_tuples[i]
        key = 0
        for a in range(q):
            key += marks[begins[a, levels[a]] + codes[t, a]]
        slot = <Py_ssize_t>(key & last)
        while table.used[slot] == turn and table.keys[slot] != key:
            slot = <Py_ssize_t>(<uint64_t>(slot + 1) & last)
        if table.used[slot] != turn:
            table.used[slot] = turn
            table.keys[slot] = key
            table.rows[slot] = 0
        table.rows[slot] += counts[t]
        table.slots[i] = <int32_t>slot


cdef int32_t label_groups(
    int64_t k, int32_t n_groups,
    vector[int32_t]& group,         # all -1 before and after
    Table& table, int32_t[::1] labels,
) noexcept nogil:
    """Give the tuples of slots with k rows a group; the others stay ungrouped."""
    cdef Py_ssize_t i, n_left = 0
    cdef int32_t slot
    cdef vector[int32_t] new_slots
    for i in range(<Py_ssize_t>table.open_tuples.size()):
        slot = table.slots[i]
        if table.rows[slot] < k:
            table.open_tuples[n_left] = table.open_tuples[i]
            n_left += 1
            continue
        if group[slot] < 0:
            group[slot] = n_groups
            new_slots.push_back(slot)
            n_groups += 1
        labels[table.open_tuples[i]] = group[slot]
    table.open_tuples.resize(n_left)
    for i in range(<Py_ssize_t>new_slots.size()):
        group[new_slots[i]] = -1
    return n_groups
