"""A table of any size that resembles Adult: rows drawn from it, then perturbed. Equal arguments give equal bytes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMNS", "write_big_table"]

COLUMNS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary",
)
YOUNGEST, OLDEST = 17, 90  # of Adult: no perturbed age leaves this range
LARGEST_SHIFT = 2  # years


def write_big_table(
    adult: Mapping[str, Sequence[str]],
    n_rows: int,
    path: Path,
    *,
    redraw: float = 0.05,
    continuous_age: bool = False,
    seed: int = 11,
) -> None:
    """Write a CSV file of rows drawn with replacement from the complete rows of Adult.

    The order of the draws is part of the format: another order gives another table.

    Args:
        adult: The complete rows of Adult, by column.
        n_rows: The number of rows to draw.
        path: The file to write.
        redraw: The share of the cells of each column except salary that are drawn again from the column.
        continuous_age: Shift ages by up to two years in four decimals, which makes nearly all rows distinct; by
            default they shift by integers.
        seed: The seed of all draws.
    """
    generator = np.random.default_rng(seed)
    source = {name: np.array(adult[name]) for name in COLUMNS}
    drawn_rows = generator.integers(0, len(source["age"]), n_rows)
    columns = []
    for name in COLUMNS:
        cells = source[name][drawn_rows]
        if name == "age":
            cells = _shift_ages(cells, continuous_age, generator)
        if name != "salary":
            redrawn = generator.random(n_rows) < redraw
            cells[redrawn] = generator.choice(source[name], int(redrawn.sum()))
        columns.append(cells.tolist())
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*columns, strict=True))


def _shift_ages(cells: NDArray[np.str_], continuous: bool, generator: np.random.Generator) -> NDArray[np.str_]:
    if continuous:
        shift: NDArray[np.float64] = generator.uniform(-LARGEST_SHIFT, LARGEST_SHIFT, len(cells))
    else:
        shift = generator.integers(-LARGEST_SHIFT, LARGEST_SHIFT + 1, len(cells)).astype(np.float64)
    ages = np.clip(cells.astype(np.float64) + shift, YOUNGEST, OLDEST)
    return np.array([f"{age:.4f}" for age in ages.tolist()]) if continuous else ages.astype(int).astype(str)
