"""Sections and the cuts between them: tasks count the codes of large ones, and the driver decides where to cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import SMALLEST_SHARE, find_cut
from shoal.methods.shoaling.pricing import Pricing
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["Cuts", "Run", "cut_tuples"]

Run = Callable[[Callable[[], Any]], Any]  # runs a job that can be cancelled


@dataclass
class Cuts:
    """Sections and the cuts between them, as a tree of nodes; the first is the whole table.

    Attributes:
        cut: For each node, the column by whose codes it is cut and which of them go left; None for a section.
        sides: For each node that is cut, its two sides.
    """

    cut: list[tuple[int, NDArray[np.bool_]] | None] = field(default_factory=lambda: [None])
    sides: dict[int, tuple[int, int]] = field(default_factory=dict)

    def divide(self, node: int, column: int, goes_left: NDArray[np.bool_]) -> tuple[int, int]:
        """Cut a section in two; return the numbers of the new nodes."""
        self.cut[node] = column, goes_left
        self.sides[node] = len(self.cut), len(self.cut) + 1
        self.cut += [None, None]
        return self.sides[node]

    def nodes_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the node of the section of each tuple."""
        found = np.zeros(len(codes), dtype=np.int32)
        pending = [(0, np.arange(len(codes)))]
        while pending:
            node, tuples = pending.pop()
            cut = self.cut[node]
            if cut is None or not len(tuples):
                found[tuples] = node
                continue
            is_left = cut[1][codes[tuples, cut[0]]]
            left, right = self.sides[node]
            pending += [(left, tuples[is_left]), (right, tuples[~is_left])]
        return found

    def close(self, node: int) -> None:
        """Undo the cuts of a node, which becomes a section."""
        self.cut[node] = None
        del self.sides[node]

    def parents(self) -> dict[int, int]:
        """Return the node that each node was cut from."""
        return {side: node for node, sides in self.sides.items() for side in sides}

    def numbers(self) -> dict[int, int]:
        """Return the number of each section by its node, in order: sections count from left to right."""
        order, pending = [], [0]
        while pending:
            node = pending.pop()
            if node in self.sides:
                pending += reversed(self.sides[node])
            else:
                order.append(node)
        return {node: number for number, node in enumerate(order)}


def cut_tuples(tuples: DataFrame, packing: Packing, pricing: Pricing, n_tuples: int, largest: int, run: Run) -> Cuts:
    """Cut the tuples into sections of at most so many, a level at a time; see `shoal.methods.sections`."""
    cuts, large = Cuts(), {0: n_tuples}
    while large := {node: n for node, n in large.items() if n > largest}:
        found = run(lambda: _histograms(tuples, packing, pricing, cuts, set(large)))  # noqa: B023 - run at once
        smaller: dict[int, int] = {}
        for node in large:
            cut = find_cut(found[node], pricing.prices, least=max(1, largest // SMALLEST_SHARE))
            if cut is not None:
                column, goes_left = cut
                n_left = int(found[node][column][goes_left].sum())
                left, right = cuts.divide(node, column, goes_left)
                smaller |= {left: n_left, right: large[node] - n_left}
        large = smaller
    return cuts


def _histograms(
    tuples: DataFrame, packing: Packing, pricing: Pricing, cuts: Cuts, nodes: set[int]
) -> dict[int, list[NDArray[np.int64]]]:
    """Count the tuples of some sections by code, column after column."""
    from pyspark.sql import functions as F  # noqa: N812

    offsets = pricing.prices.offsets
    n_codes = int(offsets[-1])

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        found: dict[int, NDArray[np.int64]] = {}
        for frame in frames:
            codes = pricing.codes(packing.tuples(frame))
            of_tuples = cuts.nodes_of(codes)
            for node in nodes.intersection(np.unique(of_tuples).tolist()):
                own = (codes[of_tuples == node] + offsets[:-1]).ravel()
                found[node] = found.get(node, 0) + np.bincount(own, minlength=n_codes)
        for node, counts in found.items():
            present = np.flatnonzero(counts)
            yield pl.DataFrame({"node": np.full(len(present), node), "code": present, "n": counts[present]})

    counted = tuples.mapInArrow(kernel_of_batches(kernel), "node bigint, code bigint, n bigint")
    sums = polars_of(counted.groupBy("node", "code").agg(F.sum("n").alias("n")))
    histograms = {node: np.zeros(n_codes, dtype=np.int64) for node in nodes}
    for (node,), own in sums.group_by("node"):
        histograms[int(str(node))][own["code"].to_numpy()] = own["n"].to_numpy()
    return {node: np.split(counts, offsets[1:-1]) for node, counts in histograms.items()}
