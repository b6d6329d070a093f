"""Tables of numbers, for methods that lower the sum of squares inside groups."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

__all__ = ["BIG_MIXTURE", "NUMERIC", "SENSITIVE", "adult_columns", "write_numeric_table"]

SENSITIVE = "row"  # a number of the row, because a table needs a column beside the quasi-identifiers
LEARNING = ("diabetes", "wine", "breast_cancer")  # of scikit-learn
MIXTURE = "mixture"
BIG_MIXTURE = "mixture-1000000"
ADULT = {
    "adult-5": ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
    "adult-6": ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week", "fnlwgt"),
}
NUMERIC = (*LEARNING, MIXTURE, *ADULT, BIG_MIXTURE)


def adult_columns(name: str) -> tuple[str, ...]:
    """Return the columns of Adult that a table has; none if it is not drawn from Adult."""
    return ADULT.get(name, ())


def write_numeric_table(name: str, path: Path, adult: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """Write a table, and return its quasi-identifiers with their kinds; adult: its rows, if the table needs them."""
    columns: dict[str, Sequence[str]]
    if name in ADULT:
        assert adult is not None
        columns = {column: adult[column] for column in ADULT[name]}
    else:
        numbers = _mixture(int(name.partition("-")[2] or 4_000)) if name.startswith(MIXTURE) else _loaded(name)
        columns = {f"x{j}": [f"{value:.6g}" for value in numbers[:, j].tolist()] for j in range(numbers.shape[1])}
    n_rows = len(next(iter(columns.values())))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, SENSITIVE])
        writer.writerows(zip(*columns.values(), range(n_rows), strict=True))
    return dict.fromkeys(columns, "numeric")


def _loaded(name: str) -> np.ndarray:
    datasets = import_module("sklearn.datasets")
    found: np.ndarray = getattr(datasets, f"load_{name}")().data
    return found


def _mixture(n_rows: int) -> np.ndarray:
    """Return points of eight Gaussian clusters in five dimensions."""
    draw = np.random.default_rng(5)
    centers, spreads = draw.normal(0, 4, (8, 5)), draw.uniform(0.3, 1.5, (8, 5))
    cluster = draw.integers(0, 8, n_rows)
    return centers[cluster] + spreads[cluster] * draw.normal(size=(n_rows, 5))
