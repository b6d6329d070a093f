"""Risk row by row, and the hypergeometric probability by counting, as defined."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb


def prosecutor(rows: Sequence[object], threshold: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return the maximum risk, the mean over all rows, and the share of rows above the threshold."""
    chances = [Fraction(1, rows.count(row)) for row in rows]
    above = [chance for chance in chances if chance > threshold]
    return max(chances), sum(chances, Fraction(0)) / len(chances), Fraction(len(above), len(chances))


def zayatz(sizes: Sequence[int], population: int) -> Fraction:
    """Return Zayatz' estimate with exact binomial coefficients."""
    n_rows = sum(sizes)

    def one_row(size: int) -> Fraction:
        return Fraction(size * comb(population - size, n_rows - 1), comb(population, n_rows))

    alone = sizes.count(1)
    share = alone * one_row(1) / sum((one_row(size) for size in sizes), Fraction(0))
    return alone * share * Fraction(population, n_rows)
