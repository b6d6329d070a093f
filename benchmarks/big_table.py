"""A table of any size that looks like Adult: rows drawn from it, then blurred. Equal arguments give equal bytes."""

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
YOUNGEST, OLDEST = 17, 90  # of Adult: no blurred age leaves this range
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
    """Write a CSV file of n_rows rows drawn with replacement from the complete rows of Adult.

    Every age moves by up to two years: whole years, or with continuous_age any number of four decimals, which makes
    nearly all rows distinct. After that the share `redraw` of each column but salary is drawn afresh from the column.
    The order of the draws is part of the format: another order gives another table.
    """
    generator = np.random.default_rng(seed)
    source = {name: np.array(adult[name]) for name in COLUMNS}
    chosen = generator.integers(0, len(source["age"]), n_rows)
    made = []
    for name in COLUMNS:
        cells = source[name][chosen]
        if name == "age":
            cells = _blur(cells, continuous_age, generator)
        if name != "salary":
            afresh = generator.random(n_rows) < redraw
            cells[afresh] = generator.choice(source[name], int(afresh.sum()))
        made.append(cells.tolist())
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*made, strict=True))


def _blur(cells: NDArray[np.str_], continuous: bool, generator: np.random.Generator) -> NDArray[np.str_]:
    if continuous:
        shift: NDArray[np.float64] = generator.uniform(-LARGEST_SHIFT, LARGEST_SHIFT, len(cells))
    else:
        shift = generator.integers(-LARGEST_SHIFT, LARGEST_SHIFT + 1, len(cells)).astype(np.float64)
    ages = np.clip(cells.astype(np.float64) + shift, YOUNGEST, OLDEST)
    return np.array([f"{age:.4f}" for age in ages.tolist()]) if continuous else ages.astype(int).astype(str)
