"""Random tables with plain dictionaries, and the probability of success by exact enumeration in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from tests.naive.exchanges import Stream


def draw_evenly(stream: Stream, bound: int) -> int:
    """Draw a number below a bound; reject draws that would favour some numbers."""
    if bound >= 2**32:
        mask = 2 ** (bound - 1).bit_length() - 1
        while (number := stream.draw() & mask) >= bound:
            pass
        return number
    spare = 2**32 % bound
    while (product := (stream.draw() >> 32) * bound) % 2**32 < spare:
        pass
    return product >> 32


def succeeds(state: int, rows: int, k: int, attributes: Sequence[int | Sequence[int]]) -> bool:
    """Draw a table and return whether every group has k rows; an attribute is a number of codes, or a pool of codes."""
    stream = Stream(state)
    groups = Counter(
        tuple(
            draw_evenly(stream, each) if isinstance(each, int) else each[draw_evenly(stream, len(each))]
            for each in attributes
        )
        for _ in range(rows)
    )
    return all(count >= k for count in groups.values())


def chance(probabilities: Sequence[Fraction], rows: int, k: int) -> Fraction:
    """Return n! times the coefficient of x^n in the product over the cells of 1 + sum of (p x)^j / j! for j >= k."""
    product = [Fraction(1)] + [Fraction(0)] * rows
    for p in probabilities:
        series = [Fraction(1) if j == 0 else p**j / factorial(j) if j >= k else Fraction(0) for j in range(rows + 1)]
        product = [sum((product[i] * series[n - i] for i in range(n + 1)), Fraction(0)) for n in range(rows + 1)]
    return factorial(rows) * product[rows]


def small_share(probabilities: Sequence[Fraction], rows: int, k: int) -> Fraction:
    """Return the expected share of rows in groups below k: the cell of a row, and how many others fall into it."""
    share = Fraction(0)
    for p in probabilities:
        for others in range(min(k - 1, rows)):
            ways = factorial(rows - 1) // (factorial(others) * factorial(rows - 1 - others))
            share += p * ways * p**others * (1 - p) ** (rows - 1 - others)
    return share
