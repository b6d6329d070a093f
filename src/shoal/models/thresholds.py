"""Comparisons that are exact at the threshold: decimals as users write them, counts as integers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.tables.values import exact_fraction

__all__ = [
    "above_limits",
    "compare",
    "entropy_falls_short",
    "exact_number",
    "grassberger_falls_short",
    "grassberger_sums",
    "natural_log",
    "round_up",
    "whole_number",
]

NEAR = 1e-9  # floats that differ by less are compared exactly
EXACT_ROWS = 20_000  # up to this many rows, powers of counts are computed as integers
DIGITS = 50
# The largest threshold, and the largest denominator: 20 decimals, more than a float has. The verifier agrees.
MOST = 10**9
MOST_PARTS = 10**20


def exact_number(
    model: str, name: str, value: object, low: Fraction | int, high: Fraction | int | None = None
) -> Fraction:
    """Return a threshold as the fraction that its decimal text denotes: 0.2 is one fifth."""
    number = exact_fraction(value)
    if number is None or number < low or (high is not None and number > high):
        allowed = f"from {low} to {high}" if high is not None else f"from {low} on"
        raise UsageError(f"{model}: {name}={value!r} is not a number {allowed}.")
    if number > MOST or number.denominator > MOST_PARTS:
        raise UsageError(f"{model}: {name}={value!r} is too large or too fine. Use at most {MOST:,} and 20 decimals.")
    return number


def whole_number(model: str, name: str, value: object) -> int:
    """Return a positive integer."""
    try:
        # int() takes digits of any script, and raises a ValueError for thousands of them.
        number = int(value) if isinstance(value, str) and value.isdecimal() else operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = 0
    if isinstance(value, bool) or number < 1:
        raise UsageError(f"{model}: {name}={value!r} is not a positive integer.")
    if number > MOST:
        raise UsageError(f"{model}: {name}={value!r} is too large. Use at most {MOST:,}.")
    return number


def compare(a: NDArray[np.int64], b: NDArray[np.int64], bound: Fraction) -> NDArray[np.int8]:
    """Return the sign of a - bound * b, element by element."""
    largest = max(int(np.abs(a).max(initial=0)) * bound.denominator, int(np.abs(b).max(initial=0)) * bound.numerator)
    largest = max(largest, bound.denominator, bound.numerator)
    kind: Any = np.int64 if largest < 2**62 else object
    excess: NDArray[Any] = a.astype(kind) * bound.denominator - b.astype(kind) * bound.numerator
    signs: NDArray[np.int8] = np.sign(excess).astype(np.int8)
    return signs


def above_limits(
    rows: NDArray[np.int64], sizes: NDArray[np.int64], codes: NDArray[np.int64], limits: Sequence[Fraction]
) -> NDArray[np.bool_]:
    """Return for each pair of group and value whether its share, rows / sizes, is above the limit of its code."""
    rounded_limits = np.array([float(limit) for limit in limits])[codes]
    shares = rows / sizes
    above = np.asarray(shares > rounded_limits)
    for i in np.flatnonzero(np.abs(shares - rounded_limits) <= NEAR).tolist():
        above[i] = Fraction(int(rows[i]), int(sizes[i])) > limits[codes[i]]
    return above


@lru_cache(maxsize=100_000)
def natural_log(number: Fraction) -> Fraction:
    """Return the natural logarithm to 50 digits, the same on every machine."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())


def entropy_falls_short(counts: Sequence[int], least: Fraction) -> bool:
    """Say whether the entropy of these counts is below log(least), in any base.

    The entropy is at least log l if and only if n^n >= l^n * product of c^c. Up to 20,000 rows (after division by the
    common divisor of the counts) this is computed in integers, so a tie passes; beyond, with 50 digits, and a tie that
    these cannot decide fails.
    """
    divisor = math.gcd(*counts)
    counts = [count // divisor for count in counts]
    n = sum(counts)
    if n <= EXACT_ROWS:
        product: int = math.prod(count**count for count in counts)
        return bool(product * least.numerator**n > n**n * least.denominator**n)
    with localcontext() as context:
        context.prec = DIGITS
        spent = sum((Decimal(count) * Decimal(count).ln() for count in counts), Decimal(0))
        allowed = n * (Decimal(n) * least.denominator / least.numerator).ln()
        return bool(spent >= allowed - abs(allowed) * Decimal(10) ** (10 - DIGITS))


# The constant of Euler plus the natural logarithm of 2, to 50 digits: minus G(1).
GAMMA_AND_LOG_2 = Decimal("1.2703628454614781700237442115405789991176594703002")


def grassberger_sums(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return c G(c) of each count: G(1) = -gamma - log 2, G(2m) = G(1) + 2 (1 + 1/3 + ... + 1/(2m - 1)) = G(2m + 1)."""
    odd_sums = np.concatenate([[0.0], np.cumsum(1 / (2 * np.arange(int(counts.max(initial=0)) // 2) + 1))])
    return np.asarray(counts * (2 * odd_sums[counts // 2] - float(GAMMA_AND_LOG_2)))


def grassberger_falls_short(counts: Sequence[int], least: Fraction) -> bool:
    """Say whether Grassberger's estimate of the entropy of these counts is below log(least), with 50 digits."""
    n = sum(counts)
    with localcontext() as context:
        context.prec = DIGITS
        spent = sum((count / Decimal(2 * j + 1) for count in counts for j in range(count // 2)), Decimal(0))
        return bool((Decimal(n) * least.denominator / least.numerator).ln() + GAMMA_AND_LOG_2 < 2 * spent / n)


def round_up(number: Fraction, digits: int = 4) -> str:
    """Round a number up to some decimals and format it."""
    scale = 10**digits
    return f"{math.ceil(number * scale) / scale:.{digits}f}".rstrip("0").rstrip(".")
