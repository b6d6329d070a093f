"""Differential privacy by sampling: the verifier's own k, and the rows that a sample can have.

The draw itself cannot be seen in a file. What can be seen is that every group has k rows, that no column is released
that groups do not count and, with the original, that the file has no more rows than such a sample has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from shoal.errors import Note
from shoal.verification.verdict import MOST_VIOLATIONS, Violation, exact

__all__ = ["NO_DRAW", "is_sampled", "least_group", "sample_violations"]

SAMPLING = "differential-privacy"
NO_DRAW = Note(SAMPLING, "not checked: whether the rows were drawn at random, and the levels without the data")
DIGITS = 40
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 100), 5
IMPOSSIBLE = Decimal("1e-12")  # a sample of so many rows is less likely than this


def is_sampled(specs: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a model draws a sample of the rows."""
    return any(spec.get("name") == SAMPLING for spec in specs)


def least_group(epsilon: Fraction, delta: Fraction) -> int | None:
    """Return the k of a sample with the share beta = 1 - exp(-epsilon); None if there is none.

    k is the least number so that for every n with n > k / gamma - 2 the chance to draw more than gamma n of n rows is
    at most delta, gamma = 1 - (1 - beta) exp(-epsilon).
    """
    if not (LEAST_EPSILON <= epsilon <= MOST_EPSILON and 0 < delta < 1):
        return None
    with localcontext() as context:
        context.prec = DIGITS
        most = Decimal(delta.numerator) / delta.denominator
        unseen = (-Decimal(epsilon.numerator) / epsilon.denominator).exp()  # 1 - beta
        gamma = 1 - unseen * unseen
        n = int(-most.ln() / _divergence(gamma, 1 - unseen)) + 1  # from here on, by the bound of Chernoff
        while n and _chance_of_more(n, 1 - unseen, gamma) <= most:
            n -= 1
        return int(gamma * (n + 1)) + 1


def _divergence(share: Decimal, beta: Decimal) -> Decimal:
    """Return the relative entropy of two shares."""
    rest = 1 - share
    return share * (share / beta).ln() + (rest * (rest / (1 - beta)).ln() if rest else Decimal(0))


def _chance_of_more(n: int, beta: Decimal, gamma: Decimal) -> Decimal:
    """Return the chance to draw more than gamma n of n rows."""
    drawn = int(gamma * n) + 1
    if drawn > n:
        return Decimal(0)
    term = math.comb(n, drawn) * beta**drawn * (1 - beta) ** (n - drawn)
    total = Decimal(0)
    while term > total * Decimal("1e-30"):
        total += term
        term *= beta * (n - drawn) / ((1 - beta) * (drawn + 1))
        drawn += 1
    return total


def sample_violations(
    specs: Iterable[Mapping[str, Any]], n_rows: int, n_source: int | None, uncounted: Sequence[str] = ()
) -> list[Violation]:
    """Return a violation for each model whose sample cannot have as many rows as the file has, or its columns.

    Args:
        specs: The models as plain values.
        n_rows: The rows of the file.
        n_source: The rows of the original; None if it is not there.
        uncounted: The released columns that are no quasi-identifiers.
    """
    violations = []
    if uncounted:
        text = f"{', '.join(map(repr, uncounted[:MOST_VIOLATIONS]))} released, which no group counts"
        violations.append(Violation(SAMPLING, text))
    for spec in specs:
        if spec.get("name") == SAMPLING and n_source:
            with localcontext() as context:
                context.prec = DIGITS
                epsilon = exact(spec["epsilon"])
                beta = 1 - (-Decimal(epsilon.numerator) / epsilon.denominator).exp()
                share = Decimal(n_rows) / n_source
                if share > beta and n_source * _divergence(share, beta) > -IMPOSSIBLE.ln():
                    text = f"{n_rows} of {n_source} original rows; a sample with a share of {beta:.4f} has fewer"
                    violations.append(Violation(SAMPLING, text))
    return violations
