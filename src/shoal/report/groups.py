"""The groups of a release: their sizes, and what they show of sensitive columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.tables.table import Table

__all__ = ["SensitiveFacts", "SizeClass", "look_at_sensitive", "size_classes"]


@dataclass(frozen=True)
class SizeClass:
    """The rows in groups of a stretch of sizes; largest: both ends are in it."""

    smallest: int
    largest: int
    rows: int


@dataclass(frozen=True)
class SensitiveFacts:
    """What groups show of a sensitive column.

    fewest: distinct values in the group that has least. one_value: rows in groups that show one value alone.
    highest_share: of one value in any group. lift: how many times more frequent than in the whole release a value is in
    any group of which it makes up half or more; values of fewer than k rows are left out. 0 where there is none.
    """

    name: str
    fewest: int
    one_value: int
    highest_share: float
    lift: float


def size_classes(sizes: NDArray[np.int64], k: int) -> list[SizeClass]:
    """Return the rows in groups by their size: narrow classes near k, then wider ones up to the largest group."""
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
        classes.append(SizeClass(low, above - 1, int(inside.sum())))
    return classes


def look_at_sensitive(table: Table, names: Sequence[str], sensitive: Sequence[str], k: int) -> list[SensitiveFacts]:
    """Count the values of sensitive columns in each group; table: the released rows that are in groups.

    names: the quasi-identifiers.
    """
    import polars as pl

    if not table.frame.height:
        return []
    weights = table.weights if table.weights is not None else np.ones(table.frame.height, dtype=np.int64)
    frame = pl.DataFrame({"group": table.group_labels(names), "rows": weights})
    found = []
    for name in sensitive:
        counted = (
            frame.with_columns(value=pl.Series(table.factor(name).ranks))
            .group_by("group", "value")
            .agg(pl.col("rows").sum())
        )
        whole = counted.group_by("value").agg(pl.col("rows").sum().alias("all"))
        groups = counted.group_by("group").agg(
            pl.len().alias("distinct"), pl.col("rows").sum().alias("size"), pl.col("rows").max().alias("most")
        )
        n_rows = int(whole["all"].sum())
        joined = counted.join(whole, on="value").join(groups.select("group", "size"), on="group")
        lifts = joined.filter((pl.col("all") >= k) & (2 * pl.col("rows") >= pl.col("size"))).select(
            (pl.col("rows") * n_rows / (pl.col("size") * pl.col("all"))).max()
        )
        found.append(
            SensitiveFacts(
                name,
                fewest=int(groups["distinct"].min() or 0),  # type: ignore[arg-type]
                one_value=int(groups.filter(pl.col("distinct") == 1)["size"].sum()),
                highest_share=float((groups["most"] / groups["size"]).max() or 0.0),  # type: ignore[arg-type]
                lift=float(lifts.item() or 0.0),
            )
        )
    return found
