# distutils: language = c++
"""Prices of the groups of a table, and the numbers of the compiled enums. Twin: tests/naive/shoaling.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport (
    COUNT, RANGE, REACH, RULE, SET, TREE, count_price, range_price, rule_price,
)
from shoal.kernels.shoaling.requirement cimport (
    CLOSE, COVERED, DISTINCT, ENTROPY, LARGEST, ORDERED, PERSONAL_K, PRESENCE, RECURSIVE, SHARES,
)

# The numbers that the compiled code uses, by their names in Python.
RECODINGS = {"SET": SET, "RANGE": RANGE, "TREE": TREE, "RULE": RULE, "REACH": REACH, "COUNT": COUNT}
TERM_KINDS = {
    "distinct": DISTINCT, "largest": LARGEST, "entropy": ENTROPY, "recursive": RECURSIVE, "close": CLOSE,
    "ordered": ORDERED, "shares": SHARES, "personal k": PERSONAL_K, "covered": COVERED, "presence": PRESENCE,
}


def price_groups(
    const int32_t[:, ::1] codes,    # IN  codes of each tuple
    const int32_t[::1] tuples,      # IN  tuple of each entry, group after group
    const int64_t[::1] starts,      # IN  start of each group in `tuples`, and the end; no group is empty
    const int32_t[::1] places,      # IN  by kind, as in a block
    const int64_t[::1] offsets,     # IN  start of each attribute in `places`, and the end of the last
    const uint8_t[::1] kinds,       # IN  kind of each attribute
    const int32_t[::1] units,       # IN  by kind, as in a block
    int64_t[::1] prices,            # OUT price of a row of each group
) -> None:
    """Compute the price of a row of each group."""
    cdef vector[int32_t] last
    cdef Py_ssize_t a, g, i
    cdef int32_t code, low, high, n_values, climb
    with nogil:
        last.assign(offsets[codes.shape[1]], -1)
        for g in range(prices.shape[0]):
            prices[g] = 0
            for a in range(codes.shape[1]):
                low = codes[tuples[starts[g]], a]
                high = low
                n_values = 0
                for i in range(starts[g], starts[g + 1]):
                    code = codes[tuples[i], a]
                    if kinds[a] == RANGE or kinds[a] == TREE or kinds[a] == REACH:
                        low, high = min(low, code), max(high, code)
                    elif last[offsets[a] + code] != g:
                        last[offsets[a] + code] = <int32_t>g
                        n_values += 1
                if kinds[a] == RANGE:
                    prices[g] += range_price(units[a], places[offsets[a] + low], places[offsets[a] + high])
                elif kinds[a] == REACH:
                    prices[g] += units[a] if high > places[offsets[a] + low] else 0
                elif kinds[a] == TREE:
                    climb = 0
                    for code in range(low, high):
                        climb = max(climb, places[offsets[a] + code])
                    prices[g] += climb
                elif kinds[a] == RULE:
                    prices[g] += rule_price(units[a], last[offsets[a]] == g, last[offsets[a] + 1] == g)
                else:
                    prices[g] += count_price(kinds[a], units[a], places[offsets[a]], n_values)
