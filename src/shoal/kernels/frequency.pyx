# distutils: language = c++
"""Roll-up of frequency sets: recode, sort and sum. Twin: tests/naive/frequency.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

cdef enum:
    DIGIT_BITS = 11
    # Up to this many possible keys per row, keys are counted in an array; beyond, they are sorted.
    SPARSE = 6


cdef void sort_keys(vector[uint64_t]& keys, vector[int32_t]& rows, int bits) noexcept nogil:
    """Radix sort of keys with `bits` bits, and of their rows; stable."""
    cdef vector[uint64_t] other_keys
    cdef vector[int32_t] other_rows
    cdef vector[int64_t] begins
    cdef size_t i, n = keys.size()
    cdef int shift = 0
    cdef uint64_t digit
    cdef int64_t total, count
    other_keys.resize(n)
    other_rows.resize(n)
    while shift < bits:
        begins.assign(1 << DIGIT_BITS, 0)
        for i in range(n):
            begins[(keys[i] >> shift) & ((1 << DIGIT_BITS) - 1)] += 1
        total = 0
        for i in range(begins.size()):
            count = begins[i]
            begins[i] = total
            total += count
        for i in range(n):
            digit = (keys[i] >> shift) & ((1 << DIGIT_BITS) - 1)
            other_keys[begins[digit]] = keys[i]
            other_rows[begins[digit]] = rows[i]
            begins[digit] += 1
        keys.swap(other_keys)
        rows.swap(other_rows)
        shift += DIGIT_BITS


cdef int64_t count_keys(
    const vector[uint64_t]& keys, const int64_t[::1] counts, uint64_t span, vector[int32_t]& first, int64_t[::1] sums
) noexcept nogil:
    """Sum the counts of equal keys, in order of key; first: one row of each key. Return the number of keys."""
    cdef vector[int64_t] room
    cdef vector[int32_t] seen
    cdef size_t i
    cdef uint64_t key
    cdef int64_t n = 0
    room.assign(span, 0)
    seen.resize(span)
    for i in range(keys.size()):
        if room[keys[i]] == 0:
            seen[keys[i]] = <int32_t>i
        room[keys[i]] += counts[i]
    for key in range(span):
        if room[key]:
            first[n] = seen[key]
            sums[n] = room[key]
            n += 1
    return n


def roll_up(
    const int32_t[:, ::1] codes,    # IN  distinct rows
    const int64_t[::1] counts,      # IN  count of each row, positive
    const int32_t[::1] maps,        # IN  new code of each code, column after column
    const int64_t[::1] offsets,     # IN  start of each column in `maps`
    const uint64_t[::1] weights,    # IN  factor of each column's new code in the key; 0 for a column with one code
    uint64_t span,                  # IN  all keys are below this
    int32_t[:, ::1] rolled,         # OUT new rows, distinct and sorted; as long as `codes`, the rest is unchanged
    int64_t[::1] sums,              # OUT counts of the new rows
) -> int:
    """Recode all rows, sort them and sum those that have become equal; return the number of new rows."""
    cdef Py_ssize_t m = codes.shape[0], n_columns = codes.shape[1], row, c
    cdef vector[uint64_t] keys
    cdef vector[int32_t] first
    cdef vector[Py_ssize_t] telling
    cdef uint64_t key
    cdef int64_t n = 0
    cdef int32_t source
    cdef int bits = 0
    cdef size_t i
    with nogil:
        keys.resize(m)
        first.resize(m)
        for c in range(n_columns):
            if weights[c]:
                telling.push_back(c)
        for row in range(m):
            key = 0
            for i in range(telling.size()):
                c = telling[i]
                key += weights[c] * <uint64_t>maps[offsets[c] + codes[row, c]]
            keys[row] = key
            first[row] = <int32_t>row
        if span <= SPARSE * <uint64_t>m + 64:
            n = count_keys(keys, counts, span, first, sums)
        else:
            while bits < 64 and (span - 1) >> bits:
                bits += 1
            sort_keys(keys, first, bits)
            for row in range(m):
                source = first[row]
                if row == 0 or keys[row] != keys[row - 1]:
                    first[n] = source  # n never exceeds row
                    sums[n] = 0
                    n += 1
                sums[n - 1] += counts[source]
        for row in range(n):
            for c in range(n_columns):
                rolled[row, c] = maps[offsets[c] + codes[first[row], c]]
    return n
