"""Centres: what a group shows in place of ranges and sets, in exact arithmetic.

A number or date is the mean or the median of its group, rounded half to even to the precision of its column; an ordered
category is the lower median; any other category is the most frequent value of its group. Of values that are equally
frequent, the one that fewer rows of the table have is shown, and of these the first in order.

A missing category counts as a value. A number, date or ordered category is computed from the known values of a group;
its cell is empty where fewer than k rows (people, if these are counted) have one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.decode import Released
from shoal.encoding.partition import Partition
from shoal.errors import UsageError, setting
from shoal.methods.full_domain.sampling import find_sampling
from shoal.metrics.extent import spread_names
from shoal.models import Basis, PrivacyModel
from shoal.release.cells.scales import CenterScale, scale_of
from shoal.schema import Column, Kind, Schema
from shoal.tables.sorting import number_rows, number_texts
from shoal.tables.table import Factor, factorize

if TYPE_CHECKING:
    from shoal.release.release import Request

__all__ = ["MEAN", "MEDIAN", "Centers", "center_texts", "check_centers", "check_spread", "find_centers", "spread_name"]

MEAN, MEDIAN = "mean", "median"

Ints = NDArray[np.int64]


def check_centers(request: Request, schema: Schema, models: Sequence[PrivacyModel]) -> None:
    """Refuse settings that have no meaning for centres, or that a centre cannot keep to.

    Raises:
        UsageError: Such a setting is given.
    """
    or_else = f"or leave out {setting('cells', 'center')}."
    if request.ends is not None:
        raise UsageError(f"{setting('ends')}: centres are not ranges and have no ends. Leave it out, {or_else}")
    for column in schema.qi:
        if column.grid:
            raise UsageError(
                f"{setting('grids')} of column {column.name!r}: centres are not ranges and have no ends. Leave it out, "
                f"{or_else}"
            )
        for name in ("finest", "uniform"):
            if getattr(column.limits, name):
                raise UsageError(
                    f"{setting(name)} of column {column.name!r}: a centre is a single value, finer than any band. "
                    f"Leave it out, {or_else}"
                )
    for model in models:
        if model.basis is Basis.POPULATION or find_sampling((model,)):
            raise UsageError(
                f"{model.describe()} depends on what the released cells cover, and a centre covers one value. Leave "
                f"out the model, {or_else}"
            )


def check_spread(schema: Schema) -> None:
    """Refuse a table that already has a column with the name of a standard deviation or share."""
    names = {column.name for column in schema.columns}
    for column in schema.qi:
        if (name := spread_name(column)) in names:
            raise UsageError(f"{setting('spread', True)}: the table already has a column {name!r}. Rename it.")


def spread_name(column: Column) -> str:
    """Return the name of the column with the spread of another: its standard deviation, or the share of its value."""
    of_numbers, of_categories = spread_names(column.name)
    return of_numbers if column.kind is not None and column.kind.is_measured else of_categories


@dataclass(frozen=True)
class Centers:
    """The centres of the groups of a partition.

    Attributes:
        texts: By column, the centre of each group; empty for a group without rows.
        spread: By column, the standard deviation or the share of each group, empty where the centre is missing; no
            column if nobody asked for it.
        merged: For each group, the number of its group in the release. Groups with the same cells look alike.
        groups: For each canonical row, its group; -1 if it is suppressed.
    """

    texts: Mapping[str, list[str]]
    spread: Mapping[str, list[str]]
    merged: Ints
    groups: NDArray[np.int32]

    def by_source(self, encoded: Encoded, n_rows: int) -> Ints:
        """Return the group of each row of the source, -1 if it is not released."""
        groups = np.full(n_rows, -1, dtype=np.int64)
        groups[encoded.order] = self.groups
        return groups

    def spread_of(self, released: Released) -> dict[str, Factor]:
        """Return the spread of the group of each released row, by column."""
        return {
            name: Factor(factor.ranks[released.groups], factor.texts) for name, factor in self._spread_factors().items()
        }

    def spread_by_name(self, schema: Schema) -> dict[str, Factor]:
        """Return the spread of each group, by the name of the column that shows it."""
        factors = self._spread_factors()
        return {spread_name(column): factors[column.name] for column in schema.qi if column.name in factors}

    def _spread_factors(self) -> dict[str, Factor]:
        import polars as pl

        return {name: factorize(pl.Series(texts, dtype=pl.String)) for name, texts in self.spread.items()}


def find_centers(encoded: Encoded, partition: Partition, *, center: str, spread: bool, k: int) -> Centers:
    """Return the centres of the groups of a partition; see `center_texts`."""
    texts, spreads = center_texts(encoded, partition, center=center, spread=spread, k=k)
    return Centers(texts, spreads, _merged([*texts.values(), *spreads.values()]), partition.labels)


def center_texts(
    encoded: Encoded, partition: Partition, *, center: str, spread: bool, k: int, whole: Encoded | None = None
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return by column the centre of each group, and its standard deviation or share.

    Args:
        encoded: The table as codes.
        partition: Its groups; what they would show otherwise does not matter.
        center: "mean" or "median", for numbers and dates.
        spread: Whether to return standard deviations and shares, too.
        k: How many known values a number, date or ordered category needs.
        whole: The whole table, with the counts of each column, if `encoded` is a section of it.
    """
    in_table = (whole or encoded).histograms
    texts: dict[str, list[str]] = {}
    spreads: dict[str, list[str]] = {}
    for a, attribute in enumerate(encoded.attributes):
        bags = _Bags.of(encoded, partition, a)
        if attribute.kind in (Kind.CATEGORICAL, Kind.BOOLEAN):
            shown = bags.modes(in_table[a])
            cells = [attribute.texts[code] if code >= 0 else "" for code in shown.tolist()]
            shares = bags.shares(shown) if spread else []
        elif attribute.kind is Kind.ORDERED:
            known = bags.known(attribute, encoded, partition, a, k)
            shown = known.lower_medians()
            cells = [attribute.texts[code] if code >= 0 else "" for code in shown.tolist()]
            shares = known.shares(shown) if spread else []
        else:
            known = bags.known(attribute, encoded, partition, a, k)
            scale = scale_of(attribute)
            cells = known.centers(scale, center)
            shares = known.deviations(scale) if spread else []
        texts[attribute.name] = cells
        if spread:
            spreads[attribute.name] = shares
    return texts, spreads


def _merged(columns: list[list[str]]) -> Ints:
    """Return the number of the distinct row of cells of each group."""
    return number_rows([number_texts(cells) for cells in columns], [len(cells) for cells in columns])


@dataclass(frozen=True)
class _Bags:
    """How often each value of an attribute occurs in each group; sorted by group, then by code.

    Attributes:
        n_groups: The number of groups.
        owner: The group of each pair of a group and a value.
        code: Its value.
        rows: Its rows.
    """

    n_groups: int
    owner: Ints
    code: Ints
    rows: Ints

    @classmethod
    def of(cls, encoded: Encoded, partition: Partition, a: int) -> _Bags:
        """Count the values of an attribute, given by its place, in the groups of a partition."""
        entries, card = partition.entries, max(len(encoded.attributes[a].texts), 1)
        kept = entries.groups >= 0
        keys = entries.groups[kept].astype(np.int64) * card + encoded.tuples[entries.tuples[kept], a]
        distinct, place = np.unique(keys, return_inverse=True)
        rows = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(rows, place, entries.rows[kept])
        return cls(partition.n_groups, distinct // card, distinct % card, rows)

    def known(self, attribute: Attribute, encoded: Encoded, partition: Partition, a: int, k: int) -> _Bags:
        """Return the known values of the groups in which at least k rows, or people, have one."""
        if attribute.missing < 0:
            return self
        is_known = self.code != attribute.missing
        if encoded.people is None:
            holders = np.zeros(self.n_groups, dtype=np.int64)
            np.add.at(holders, self.owner[is_known], self.rows[is_known])
        else:
            labels = partition.labels.astype(np.int64)
            counts = (labels >= 0) & (encoded.tuples[encoded.row_tuple, a] != attribute.missing)
            n_people = int(encoded.people.max(initial=0)) + 1
            pairs = np.unique(labels[counts] * n_people + encoded.people[counts])
            holders = np.bincount(pairs // n_people, minlength=self.n_groups)
        is_known &= holders[self.owner] >= k
        return _Bags(self.n_groups, self.owner[is_known], self.code[is_known], self.rows[is_known])

    def modes(self, in_table: Ints) -> Ints:
        """Return the most frequent value of each group; -1 for a group without rows.

        Args:
            in_table: The rows of each value in the table.
        """
        order = np.lexsort((self.code, in_table[self.code], -self.rows, self.owner))
        first = np.append(True, np.diff(self.owner[order]) > 0)[: len(order)]
        modes = np.full(self.n_groups, -1, dtype=np.int64)
        modes[self.owner[order][first]] = self.code[order][first]
        return modes

    def shares(self, shown: Ints) -> list[str]:
        """Return the share of each group's rows that have the value it shows."""
        totals, same = np.zeros(self.n_groups, dtype=np.int64), np.zeros(self.n_groups, dtype=np.int64)
        np.add.at(totals, self.owner, self.rows)
        is_shown = shown[self.owner] == self.code
        same[self.owner[is_shown]] = self.rows[is_shown]
        return [_share(n, of) if of else "" for n, of in zip(same.tolist(), totals.tolist(), strict=True)]

    def lower_medians(self) -> Ints:
        """Return the lower median of the codes of each group; -1 for a group without values."""
        return self._ranked(lambda totals: (totals - 1) // 2)

    def centers(self, scale: CenterScale, center: str) -> list[str]:
        """Return the mean or the median of each group as the column writes it; empty for a group without values."""
        if center == MEDIAN:
            low, high = self.lower_medians(), self._ranked(lambda totals: totals // 2)
            middles = enumerate(zip(low.tolist(), high.tolist(), strict=True))
            sums = {g: (int(scale.units[a]) + int(scale.units[b]), 2) for g, (a, b) in middles if a >= 0}
        else:
            sums = {g: (total, n) for g, (n, total) in self._totals(scale.units).items()}
        texts: dict[int, str] = {}
        cells = [""] * self.n_groups
        for group, (total, n) in sums.items():
            unit = _nearest(total, n * scale.step) * scale.step
            if unit not in texts:
                texts[unit] = scale.text(unit)
            cells[group] = texts[unit]
        return cells

    def deviations(self, scale: CenterScale) -> list[str]:
        """Return the standard deviation of each group, in the unit of the column; empty for a group without values."""
        texts = [""] * self.n_groups
        squares = self._totals(scale.fine.astype(object) ** 2)
        for group, (n, total) in self._totals(scale.fine).items():
            texts[group] = _deviation(Fraction(n * squares[group][1] - total**2, n * n) * scale.width**2)
        return texts

    def _ranked(self, rank: Callable[[Ints], Ints]) -> Ints:
        """Return the code of the row with a rank (from 0) in each group; -1 for a group without values."""
        codes = np.full(self.n_groups, -1, dtype=np.int64)
        if not len(self.owner):
            return codes
        starts = np.flatnonzero(np.append(True, np.diff(self.owner) > 0))
        upto = np.cumsum(self.rows)
        before = upto[starts] - self.rows[starts]
        totals = np.add.reduceat(self.rows, starts)
        places = np.searchsorted(upto, before + rank(totals), side="right")
        codes[self.owner[starts]] = self.code[places]
        return codes

    def _totals(self, units: NDArray[np.object_] | Ints) -> dict[int, tuple[int, int]]:
        """Return by group with values their number and the exact sum of their units."""
        if not len(self.owner):
            return {}
        starts = np.flatnonzero(np.append(True, np.diff(self.owner) > 0))
        largest = max(abs(int(units.min())), abs(int(units.max())))
        exact = units if largest * int(self.rows.sum()) < 2**62 else units.astype(object)
        sums = np.add.reduceat(exact[self.code] * self.rows, starts).tolist()
        counts = np.add.reduceat(self.rows, starts).tolist()
        return {g: (n, int(total)) for g, n, total in zip(self.owner[starts].tolist(), counts, sums, strict=True)}


def _nearest(total: int, n: int) -> int:
    """Return the integer nearest to a quotient; of two that are equally near, the even one.

    >>> _nearest(5, 2), _nearest(7, 2), _nearest(-5, 2), _nearest(8, 3)
    (2, 4, -2, 3)
    """
    quotient, rest = divmod(2 * total + n, 2 * n)
    return quotient - (rest == 0 and quotient % 2)


def _deviation(variance: Fraction) -> str:
    """Return the root of a variance with two significant digits.

    >>> _deviation(Fraction(2)), _deviation(Fraction(0)), _deviation(Fraction(160_000))
    ('1.4', '0.0', '400.0')
    """
    if not variance:
        return "0.0"
    power = len(str(isqrt(variance.numerator // variance.denominator))) - 1
    while variance >= Fraction(100) ** (power + 1):
        power += 1
    while variance < Fraction(100) ** power:
        power -= 1
    scaled = variance / Fraction(100) ** (power - 1)
    digits = (isqrt(4 * scaled.numerator // scaled.denominator) + 1) // 2
    return repr(float(Fraction(digits) * Fraction(10) ** (power - 1)))


def _share(n: int, of: int) -> str:
    """Return a share with two decimals; one below 1 never reads 1.

    >>> _share(2, 3), _share(999, 1000), _share(5, 5)
    ('0.67', '0.99', '1.0')
    """
    hundredths = min((200 * n + of) // (2 * of), 100 if n == of else 99)
    return repr(hundredths / 100)
