# Exact comparison of sums of fractions, whatever the size of their common denominator.

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    typedef unsigned __int128 Doubled;
    """
    ctypedef unsigned long long Doubled

ctypedef vector[uint64_t] Digits       # digits of an integer, lowest first


cdef inline void times(Digits& number, uint64_t factor) noexcept nogil:
    cdef size_t i
    cdef Doubled carry = 0
    for i in range(number.size()):
        carry += <Doubled>number[i] * factor
        number[i] = <uint64_t>carry
        carry >>= 64
    if carry > 0:
        number.push_back(<uint64_t>carry)


cdef inline void plus(Digits& number, const Digits& other) noexcept nogil:
    cdef size_t i
    cdef Doubled carry = 0
    while number.size() < other.size():
        number.push_back(0)
    for i in range(number.size()):
        carry += <Doubled>number[i] + (other[i] if i < other.size() else 0)
        number[i] = <uint64_t>carry
        carry >>= 64
    if carry > 0:
        number.push_back(<uint64_t>carry)


cdef inline int compare_digits(Digits& x, Digits& y) noexcept nogil:
    cdef size_t i
    while not x.empty() and x.back() == 0:
        x.pop_back()
    while not y.empty() and y.back() == 0:
        y.pop_back()
    if x.size() != y.size():
        return -1 if x.size() < y.size() else 1
    i = x.size()
    while i > 0:
        i -= 1
        if x[i] != y[i]:
            return -1 if x[i] < y[i] else 1
    return 0


cdef inline void add_up(const vector[int64_t]& numerators, const vector[int64_t]& denominators, Digits& total) noexcept nogil:
    """Compute the numerator of a sum of fractions over the product of their denominators."""
    cdef size_t i
    cdef Digits product, one
    product.assign(1, 1)
    total.assign(1, 0)
    for i in range(numerators.size()):
        one = product
        times(one, <uint64_t>numerators[i])
        times(total, <uint64_t>denominators[i])
        plus(total, one)
        times(product, <uint64_t>denominators[i])


cdef inline int compare_sums(
    const vector[int64_t]& numerators, const vector[int64_t]& denominators,
    const vector[int64_t]& other_numerators, const vector[int64_t]& other_denominators,
) noexcept nogil:
    """Compare two sums of fractions: -1 if the first is less, 0 if they are equal, 1 if it is greater.

    Numerators are not negative, denominators are positive.
    """
    cdef size_t i
    cdef Digits one, other
    add_up(numerators, denominators, one)
    add_up(other_numerators, other_denominators, other)
    for i in range(denominators.size()):
        times(other, <uint64_t>denominators[i])
    for i in range(other_denominators.size()):
        times(one, <uint64_t>other_denominators[i])
    return compare_digits(one, other)
