"""What a release lost: NCP and its relatives, and the sizes of its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal import values
from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import Hierarchy
from shoal.metrics.cells import SUPPRESSED, Domain, Reader, reader
from shoal.schema import Column, Schema, check_k
from shoal.table import Table

__all__ = ["Measures", "measure_tables"]


@dataclass(frozen=True)
class Measures:
    """What a release lost and how its rows are grouped.

    ncp: normalised certainty penalty, mean over rows and quasi-identifiers (weighted), in [0, 1], lower is better:
    the range of a cell over that of its column, or the values in its set over all; 1 where suppressed.
    utility: 1 - ncp. dm: discernibility, the sum of squared group sizes plus n for each suppressed row, lower is
    better. c_avg: mean group size over k, at least 1, lower is better. modification_rate: share of quasi-identifier
    cells changed. groups, smallest_group: over the released rows. per_attribute: mean loss of each quasi-identifier.
    """

    ncp: float
    utility: float
    dm: int
    c_avg: float
    modification_rate: float
    rows: int
    groups: int
    smallest_group: int
    suppressed_rows: int
    per_attribute: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the measures by name."""
        return asdict(self)


def measure_tables(
    original: Table,
    released: Table,
    schema: Schema,
    *,
    k: int | None = None,
    weights: Mapping[str, float] | None = None,
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Measures:
    """Measure a release against its original; rows that are missing from it count as suppressed.

    k: what c_avg divides by and dm judges groups by (the smallest group's size where it is not given).
    weights: of the attributes in ncp. domains: a declared range (low, high) or list of values in place of the
    original's own. hierarchies: over the values of the original, for releases with labels.
    """
    k = None if k is None else check_k(k)
    names = [column.name for column in schema.qi]
    strange = [name for name in domains or {} if name not in names]
    if strange:
        raise UsageError(f"domain for {strange[0]!r}: not a quasi-identifier. They are: {', '.join(map(repr, names))}.")
    n_rows, n_kept = original.n_rows, released.n_rows
    if n_kept > n_rows:
        raise InputError(f"the release has {n_kept} rows, more than the original's {n_rows}. Are they the same table?")
    weight = _weights(schema, weights)
    per_attribute: dict[str, float] = {}
    changed = Fraction(0)
    for column in schema.qi:
        lost, n_changed = _column_loss(
            original,
            released,
            column,
            schema,
            (domains or {}).get(column.name),
            (hierarchies or {}).get(column.name),
        )
        per_attribute[column.name] = (lost + (n_rows - n_kept)) / n_rows
        changed += n_changed + n_rows - n_kept
    sizes = released.group_sizes(names)
    # Where "*" is a value of the original, it says nothing about suppression.
    told = not any("*" in original.factor(name).texts for name in names)
    n_starred = _count_starred(released, names) if told else 0
    smallest = int(sizes.min())
    suppressed = n_rows - n_kept + n_starred
    least = smallest if k is None else k
    total = sum(per_attribute[name] * weight[name] for name in per_attribute) / sum(weight.values())
    n_in_groups = n_kept - n_starred
    n_groups = len(sizes) - (n_starred > 0)
    return Measures(
        ncp=total,
        utility=1.0 - total,
        dm=_discernibility(sizes, n_starred, n_rows, n_kept, least),
        c_avg=n_in_groups / n_groups / least if n_groups and least else 0.0,
        modification_rate=float(changed / (n_rows * len(per_attribute))),
        rows=n_kept,
        groups=len(sizes),
        smallest_group=smallest,
        suppressed_rows=suppressed,
        per_attribute=per_attribute,
    )


def _discernibility(sizes: NDArray[np.int64], n_starred: int, n_rows: int, n_kept: int, k: int) -> int:
    squares = sum(size * size if size >= k else n_rows * size for size in sizes.tolist())
    if n_starred:  # a group of fully suppressed rows counts as suppressed, whatever its size
        squares += n_rows * n_starred - (n_starred**2 if n_starred >= k else n_rows * n_starred)
    return int(squares) + n_rows * (n_rows - n_kept)


def _weights(schema: Schema, weights: Mapping[str, float] | None) -> dict[str, float]:
    names = [column.name for column in schema.qi]
    for name, weight in (weights or {}).items():
        if name not in names:
            raise UsageError(f"weight for {name!r}: not a quasi-identifier. They are: {', '.join(map(repr, names))}.")
        if not 0 <= weight < float("inf"):
            raise UsageError(f"weight of {name!r} is {weight}. Use a number from 0 on.")
    chosen = {name: float((weights or {}).get(name, 1.0)) for name in names}
    if sum(chosen.values()) <= 0:
        raise UsageError("all weights are 0. Give at least one quasi-identifier a weight above 0.")
    return chosen


def _column_loss(
    original: Table,
    released: Table,
    column: Column,
    schema: Schema,
    domain: Domain | None,
    hierarchy: Hierarchy | None,
) -> tuple[float, int]:
    """Return the summed loss of a column's released cells, and how many are changed.

    An empty cell in the release is an untouched missing value as long as the original has as many.
    """
    before = _distinct(original, column.name)
    after = _distinct(released, column.name)
    n_missing = sum(count for text, count in before.items() if text in schema.missing)
    cells: Reader = reader(column, before, domain, schema.missing, hierarchy)
    lost, changed = 0.0, 0
    for text in sorted(after):  # sums of floats in one order, so that the last digit never varies
        count = after[text]
        if text in schema.missing and (n_missing or text not in SUPPRESSED):
            surplus = max(0, count - n_missing)
            n_missing -= count - surplus
            lost, changed = lost + surplus, changed + surplus
            continue
        loss = cells.loss(text)
        if loss is None:
            row = _first_row(released, column.name, text)
            raise InputError(
                f"column {column.name!r} of the release: the cell at row {row} cannot be read. Allowed: a value of the "
                "original, a range such as [25, 40], a set such as {a, b}, or *."
            )
        lost += loss * count
        changed += count * (text not in before)
    return lost, changed


def _distinct(table: Table, name: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text, count in zip(table.factor(name).texts.to_list(), table.counts(name).tolist(), strict=True):
        text = values.normalise(text)
        counts[text] = counts.get(text, 0) + count
    return counts


def _first_row(table: Table, name: str, text: str) -> int:
    """Return the number of the first row with a cell of this normal form."""
    ranks, texts = table.factor(name)
    same = np.array([values.normalise(raw) == text for raw in texts.to_list()])
    return int(np.argmax(same[ranks])) + 1


def _count_starred(table: Table, names: list[str]) -> int:
    """Count the rows that are suppressed in every quasi-identifier."""
    starred = np.ones(table.frame.height, dtype=bool)
    for name in names:
        ranks, texts = table.factor(name)
        starred &= (texts == "*").to_numpy()[ranks]
    return int(starred.sum() if table.weights is None else table.weights[starred].sum())
