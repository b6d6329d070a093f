"""Sizes of the groups of a release, and what the groups disclose about sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import counted as counted_words
from shoal.metrics.measure import starred_rows
from shoal.report.words import percent
from shoal.schema import Schema
from shoal.tables.table import Factor, Table

if TYPE_CHECKING:
    from shoal.release.release import Request

__all__ = [
    "SensitiveFacts",
    "SizeClass",
    "count_one_value",
    "look_at_sensitive",
    "look_at_target",
    "size_classes",
    "target_json",
    "target_words",
    "with_spread",
]


@dataclass(frozen=True)
class SizeClass:
    """The rows in groups whose size lies between `smallest` and `largest`, both included."""

    smallest: int
    largest: int
    rows: int


@dataclass(frozen=True)
class SensitiveFacts:
    """What the groups of a release disclose about a sensitive column.

    Attributes:
        name: Name of the column.
        fewest: Distinct values in the least diverse group.
        one_value: Rows in groups that share one value.
        highest_share: Highest share of one value in any group.
        lift: Highest ratio of a value's share in a group to its share in the release, over the values that make up at
            least half of a group and occur in at least k rows; 0 if there are none.
    """

    name: str
    fewest: int
    one_value: int
    highest_share: float
    lift: float


def size_classes(sizes: NDArray[np.int64], k: int) -> list[SizeClass]:
    """Count the rows in groups by group size, in classes that widen from k to the largest group; none is empty."""
    if not len(sizes):
        return []
    largest = int(sizes.max())
    edges = {k, k + 1, k + 2, k + 3, -(-3 * k // 2), 2 * k, 3 * k, 5 * k, 10 * k}
    edge = 10 * k
    while edge <= largest:
        edge *= 10
        edges |= {edge, edge // 2, edge // 5}
    starts = sorted(edge for edge in edges if k <= edge <= largest)
    classes = []
    for low, above in zip(starts, [*starts[1:], largest + 1], strict=True):
        inside = sizes[(sizes >= low) & (sizes < above)]
        if len(inside):
            classes.append(SizeClass(low, above - 1, int(inside.sum())))
    return classes


def with_spread(table: Table, names: list[str], spread: Mapping[str, Factor]) -> tuple[Table, list[str]]:
    """Return the released rows with the spread of their centres, and the columns that tell groups apart.

    Args:
        table: The released rows.
        names: The quasi-identifiers.
        spread: The spread of each, if groups show their centres with it.
    """
    if not spread:
        return table, names
    cells = {name: factor.texts.gather(factor.ranks) for name, factor in spread.items()}
    of_name = {name: f"{name} (spread)\0" for name in cells}  # no column of a table has such a name
    frame = table.frame.with_columns([own.alias(of_name[name]) for name, own in cells.items()])
    return Table(frame, weights=table.weights), [*names, *of_name.values()]


def count_one_value(table: Table, names: Sequence[str], sensitive: Sequence[str]) -> dict[str, int]:
    """Count for each sensitive column the rows in groups that share one value of it.

    Args:
        table: The released rows; those that show "*" in every quasi-identifier are in no group.
        names: What tells groups apart: the quasi-identifiers, and the spread of their centres.
        sensitive: The sensitive columns.
    """
    import polars as pl

    if not sensitive or not table.height:
        return dict.fromkeys(sensitive, 0)
    weights = table.weights if table.weights is not None else np.ones(table.height, dtype=np.int64)
    columns = {f"v{i}": table.factor(name).ranks for i, name in enumerate(sensitive)}
    frame = pl.DataFrame({"group": table.group_keys(names), "rows": weights, **columns})
    starred = starred_rows(table, list(names))
    if starred.any():
        frame = frame.filter(~starred)
    shares = [(pl.col(value).min() == pl.col(value).max()).alias(value) for value in columns]
    groups = frame.group_by("group").agg(pl.col("rows").sum(), *shares)
    return {
        name: int(groups.filter(pl.col(value))["rows"].sum()) for name, value in zip(sensitive, columns, strict=True)
    }


def look_at_sensitive(table: Table, names: Sequence[str], sensitive: Sequence[str], k: int) -> list[SensitiveFacts]:
    """Count the values of sensitive columns in each group.

    Args:
        table: The released rows that belong to a group.
        names: The quasi-identifiers.
        sensitive: The sensitive columns.
        k: Values in fewer rows do not count for the lift.
    """
    import polars as pl

    if not table.height:
        return []
    weights = table.weights if table.weights is not None else np.ones(table.height, dtype=np.int64)
    frame = pl.DataFrame({"group": table.group_labels(names), "rows": weights})
    facts = []
    for name in sensitive:
        counted = (
            frame.with_columns(value=pl.Series(table.factor(name).ranks))
            .group_by("group", "value")
            .agg(pl.col("rows").sum())
        )
        totals = counted.group_by("value").agg(pl.col("rows").sum().alias("all"))
        groups = counted.group_by("group").agg(
            pl.len().alias("distinct"), pl.col("rows").sum().alias("size"), pl.col("rows").max().alias("most")
        )
        n_rows = int(totals["all"].sum())
        joined = counted.join(totals, on="value").join(groups.select("group", "size"), on="group")
        lifts = joined.filter((pl.col("all") >= k) & (2 * pl.col("rows") >= pl.col("size"))).select(
            (pl.col("rows") * n_rows / (pl.col("size") * pl.col("all"))).max()
        )
        facts.append(
            SensitiveFacts(
                name,
                fewest=int(groups["distinct"].min() or 0),  # type: ignore[arg-type]
                one_value=int(groups.filter(pl.col("distinct") == 1)["size"].sum()),
                highest_share=float((groups["most"] / groups["size"]).max() or 0.0),  # type: ignore[arg-type]
                lift=float(lifts.item() or 0.0),
            )
        )
    return facts


def look_at_target(table: Table, schema: Schema, request: Request) -> SensitiveFacts | None:
    """Return what the groups disclose about the target of a release; None if it has none, or its rows are not here.

    Args:
        table: The released rows.
        schema: The columns.
        request: What the user requested.
    """
    if request.target is None or request.target not in table.names:
        return None
    names = [column.name for column in schema.qi]
    rows = table.part(np.flatnonzero(~starred_rows(table, names)))
    return next(iter(look_at_sensitive(rows, names, [request.target], request.k)), None)


def target_words(facts: SensitiveFacts, n_rows: int) -> str:
    """Say what a release was made for, and what its groups disclose about that.

    Args:
        facts: Of the target.
        n_rows: The number of released rows.
    """
    values = counted_words(facts.fewest, "value")
    return (
        f"{facts.name}: groups were preferred whose values say the same about it; every group has at least {values} of "
        f"it (l = {facts.fewest}), and {percent(facts.one_value / max(n_rows, 1))} of the rows are in groups with one"
    )


def target_json(facts: SensitiveFacts) -> dict[str, Any]:
    """Return the target of a release in the form of `anonymize --json`."""
    return {"column": facts.name, "l": facts.fewest, "rows_in_groups_of_one_value": facts.one_value}
