"""What columns say about each other: weights of quasi-identifiers, and numeric twins of categories for a target.

A release made for a target prefers groups whose categories say the same about it. Each value of a category gets a
number, the smoothed share of a class of the target among its rows, and the search prices the range of these numbers
beside the cells. The released cells stay those of the values; no twin leaves the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.errors import Note
from shoal.schema import Kind

__all__ = [
    "Beside",
    "Pairs",
    "Twin",
    "about_redundancy",
    "associations",
    "count_pairs",
    "derive_weights",
    "find_twins",
    "twins_beside",
]

REDUNDANT = 0.9  # from this association on, one of two columns is as informative as both
ROWS_PER_VALUE = 5  # a category with fewer rows for each value predicts any number
SMOOTHING = 10  # rows with the target of the whole table that are added to those of each value
MOST_CLASSES = 4  # of a target; all but the most frequent ones count as one class

Floats = NDArray[np.float64]
Codes = NDArray[Any]
# By the places of two attributes, the lower first: the pairs of their codes that occur, sorted, and their rows.
Pairs = Mapping[tuple[int, int], tuple[NDArray[np.int32], NDArray[np.int64]]]


def count_pairs(encoded: Encoded) -> Pairs:
    """Count the rows of each pair of codes, for each pair of quasi-identifiers.

    Associations are computed from these counts alone, so that they are the same whoever counts.
    """
    found = {}
    for a, b in combinations(range(len(encoded.attributes)), 2):
        card = len(encoded.attributes[b].texts)
        keys = encoded.tuples[:, a].astype(np.int64) * card + encoded.tuples[:, b]
        distinct, place = np.unique(keys, return_inverse=True)
        rows = np.bincount(place, encoded.counts, len(distinct)).astype(np.int64)
        found[a, b] = np.column_stack(np.divmod(distinct, card)).astype(np.int32), rows
    return found


def associations(encoded: Encoded, pairs: Pairs | None = None) -> Floats:
    """Return the association of each pair of quasi-identifiers, in [0, 1]; 0 if they are independent.

    Two numbers (or dates): the absolute value of Pearson's r. Two categories: Cramer's V, corrected for bias. A number
    and a category: the correlation ratio eta. Rows with a missing number are ignored for that column.

    Args:
        encoded: The table.
        pairs: The counts of its pairs of codes, if its rows only have the counts of single columns.
    """
    q = len(encoded.attributes)
    table = np.eye(q)
    for (a, b), counted in (pairs or count_pairs(encoded)).items():
        table[a, b] = table[b, a] = _association(encoded.attributes[a], encoded.attributes[b], *counted)
    return table


def derive_weights(encoded: Encoded, pairs: Pairs | None = None) -> dict[str, Fraction]:
    """Return weights that sum to 1, each proportional to 1 - the mean association with the others ([S1]).

    A column that others predict weighs less. If all columns predict each other, they weigh the same.

    Args:
        encoded: The table.
        pairs: The counts of its pairs of codes; see `associations`.
    """
    q = len(encoded.attributes)
    own = 1 - (associations(encoded, pairs).sum(axis=1) - 1) / max(1, q - 1)
    if own.max() < 1e-9:
        own = np.ones(q)
    # With a weight of 0, suppressing a column would cost nothing.
    shares = [Fraction(max(float(share), 1e-3)).limit_denominator(10**6) for share in own]
    return {attribute.name: share / sum(shares) for attribute, share in zip(encoded.attributes, shares, strict=True)}


def about_redundancy(encoded: Encoded, pairs: Pairs | None = None) -> Iterator[Note]:
    """Yield a note for each pair of quasi-identifiers that carry nearly the same information; see `associations`."""
    for (a, b), counted in (pairs or count_pairs(encoded)).items():
        one, other = encoded.attributes[a], encoded.attributes[b]
        mixed = [each for each in (one, other) if each.kind is Kind.CATEGORICAL]
        if len(mixed) == 1 and len(mixed[0].texts) * ROWS_PER_VALUE > encoded.n_rows:
            continue
        association = _association(one, other, *counted)
        if association >= REDUNDANT:
            yield Note(
                f"columns {one.name!r} and {other.name!r}",
                f"carry nearly the same information (association {association:.2f})",
                "drop one of them to lose less",
            )


def _association(one: Attribute, other: Attribute, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> float:
    """Return the association of two attributes by the measure for their kinds; codes: pairs, with their counts."""
    if one.kind is not Kind.CATEGORICAL and other.kind is Kind.CATEGORICAL:
        one, other, codes = other, one, codes[:, ::-1]
    known = (codes[:, 0] != one.missing) & (codes[:, 1] != other.missing)  # categories have no missing code
    codes, rows = codes[known], counts[known].astype(np.float64)
    if not len(rows):
        return 0.0
    if other.kind is Kind.CATEGORICAL:
        return cramers_v(codes[:, 0], codes[:, 1], rows)
    if one.kind is Kind.CATEGORICAL:
        return correlation_ratio(codes[:, 0], other.values[codes[:, 1]], rows)
    return pearson(one.values[codes[:, 0]], other.values[codes[:, 1]], rows)


def pearson(one: Floats, other: Floats, rows: Floats) -> float:
    """Return |r| of two numbers, 0 if one of them is constant; rows: how often each pair occurs."""
    total = rows.sum()
    one, other = (_scaled(each) for each in (one, other))
    one, other = (each - each @ rows / total for each in (one, other))
    spread = float(rows @ one**2) * float(rows @ other**2)
    return min(1.0, abs(float(rows @ (one * other))) / spread**0.5) if spread > 0 else 0.0


def _scaled(numbers: Floats) -> Floats:
    """Return numbers from -1 to 1 in the same proportions, so that the square of a huge one is finite.

    The divisor is a power of two, which leaves the digits of ordinary numbers as they are.
    """
    return np.asarray(np.ldexp(numbers, -int(np.frexp(np.abs(numbers).max(initial=0.0))[1])))


def correlation_ratio(categories: Codes, numbers: Floats, rows: Floats) -> float:
    """Return eta: the square root of the share of a number's variance that lies between the categories."""
    numbers = _scaled(numbers)
    numbers = numbers - numbers @ rows / rows.sum()
    _, place = np.unique(categories, return_inverse=True)
    sizes, sums = np.bincount(place, rows), np.bincount(place, rows * numbers)
    spread = float(rows @ numbers**2)
    return min(1.0, float((sums**2 / sizes).sum()) / spread) ** 0.5 if spread > 0 else 0.0


def cramers_v(one: Codes, other: Codes, rows: Floats) -> float:
    """Return Cramer's V of two categories, corrected for bias (Bergsma 2013)."""
    n = float(rows.sum())
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    r, c = int(first.max()) + 1, int(second.max()) + 1
    if n <= 1 or r == 1 or c == 1:
        return 0.0
    cells, place = np.unique(first * np.int64(c) + second, return_inverse=True)
    observed = np.bincount(place, rows)
    expected = np.bincount(first, rows)[cells // c] * np.bincount(second, rows)[cells % c] / n
    phi = max(0.0, float((observed**2 / expected).sum()) / n - 1 - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, (phi / least) ** 0.5) if least > 0 else 0.0


@dataclass(frozen=True)
class Twin:
    """A hidden range of the search.

    Attributes:
        place: The attribute that it belongs to.
        values: The number of each code.
        weight: What its range counts; that of an attribute is 1.
    """

    place: int
    values: Floats = field(repr=False)
    weight: Fraction = Fraction(1)


class Beside(NamedTuple):
    """How often the codes of two columns occur together: both codes, and the rows."""

    codes: NDArray[np.int32]
    of_target: NDArray[np.int32]
    rows: NDArray[np.int64]


def find_twins(encoded: Encoded, target: Sensitive) -> tuple[Twin, ...]:
    """Return the twins of all categories of a table; the weights of those of one category add up to 1.

    A target of numbers or dates has one twin, the mean rank of its values; a target of two classes has one, the share
    of a class; further classes have one each.

    Args:
        encoded: The table.
        target: The target, with a code for each canonical row.
    """
    weights = encoded.row_weights
    rows = np.bincount(target.codes, weights, len(target.texts)).astype(np.int64)

    def beside(place: int) -> Beside:
        return Beside(encoded.tuples[encoded.row_tuple, place], target.codes, weights)

    return twins_beside(encoded.attributes, target, rows, beside)


def twins_beside(
    attributes: Sequence[Attribute], target: Sensitive, rows: NDArray[np.int64], beside: Callable[[int], Beside]
) -> tuple[Twin, ...]:
    """Return the twins of all categories of a table, from counts; see `find_twins`.

    Args:
        attributes: The quasi-identifiers.
        target: The target.
        rows: The rows of each of its codes.
        beside: Returns how often the codes of an attribute, given by its place, occur beside those of the target.
    """
    scores = _scores(target, rows)
    twins: list[Twin] = []
    for place, attribute in enumerate(attributes):
        if attribute.kind is not Kind.CATEGORICAL and attribute.tree is None:
            continue
        codes, of_target, counts = beside(place)
        means = [_smoothed(codes, score[of_target], counts, len(attribute.texts)) for score in scores]
        telling = [values for values in means if np.ptp(values) > 0]
        twins += [Twin(place, values, Fraction(1, len(telling))) for values in telling]
    return tuple(twins)


def _scores(target: Sensitive, rows: NDArray[np.int64]) -> Sequence[Floats]:
    """Return for each twin of a category what each code of the target adds to it; NaN if the target is missing."""
    rows = rows.copy()
    if target.missing >= 0:
        rows[target.missing] = 0
    if target.kind.is_measured:
        return [_without_missing((2 * np.cumsum(rows) - rows).astype(np.float64), target)]  # twice the mean rank
    classes = np.argsort(-rows, kind="stable")[: target.n_values]
    named = classes[: MOST_CLASSES - 1] if len(classes) > MOST_CLASSES else classes[: len(classes)]
    if len(classes) == 2:  # the share of the other one is the rest
        named = classes[:1]
    of_class = [(np.arange(len(rows)) == code).astype(np.float64) for code in named.tolist()]
    if len(classes) > MOST_CLASSES:
        of_class.append(1.0 - sum(of_class))
    return [_without_missing(score, target) for score in of_class]


def _without_missing(score: Floats, target: Sensitive) -> Floats:
    if target.missing >= 0:
        score[target.missing] = math.nan
    return score


def _smoothed(codes: NDArray[np.int32], scores: Floats, weights: NDArray[np.int64], n_codes: int) -> Floats:
    """Return the mean score of each code, drawn towards that of all rows.

    Scores are integers, so that sums do not depend on the order of rows.
    """
    known = ~np.isnan(scores)
    codes, scores, counts = codes[known], scores[known], weights[known].astype(np.float64)
    total = counts.sum()
    mean = float((scores * counts).sum() / total) if total else 0.0
    rows = np.bincount(codes, counts, n_codes)
    return (np.bincount(codes, scores * counts, n_codes) + SMOOTHING * mean) / (rows + SMOOTHING)
