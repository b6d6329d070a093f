"""Synthetic tables unlike Adult, generated from a seed: equal arguments give equal bytes."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["MADE", "SENSITIVE", "write_made_table"]

SENSITIVE = "diagnosis"
SEED = 5
ZIPS = 20_000  # distinct values, each in at least one row
MISSING = 0.03  # share of the skewed incomes

Column = NDArray[np.str_]
Draw = np.random.Generator


def _numeric(draw: Draw, n_rows: int) -> dict[str, Column]:
    """Generate six dependent numbers; the places lie in a few towns."""
    age = draw.integers(0, 100, n_rows)
    height = 80 + 95 * (1 - np.exp(-age / 7)) + draw.normal(0, 7, n_rows)
    weight = np.maximum(22 * (height / 100) ** 2 * draw.lognormal(0, 0.15, n_rows), 3)
    income = draw.lognormal(10, 0.6, n_rows) * np.clip(age, 15, 60) / 40
    town = draw.integers(0, 12, n_rows)
    north, east = draw.uniform(47, 55, 12)[town], draw.uniform(6, 15, 12)[town]
    return {
        "age": _text(age, 0),
        "height": _text(height, 1),
        "weight": _text(weight, 1),
        "income": _text(income, 0),
        "north": _text(north + draw.normal(0, 0.1, n_rows), 3),
        "east": _text(east + draw.normal(0, 0.1, n_rows), 3),
    }


def _zips(draw: Draw, n_rows: int) -> dict[str, Column]:
    """Generate five categories of 90 to 20,000 values, more than the bits of a machine word, and a year."""
    n_zips = min(ZIPS, n_rows)
    zips = draw.permutation(np.concatenate([np.arange(n_zips), draw.integers(0, n_zips, n_rows - n_zips)]))
    return {
        "zip": _names("z", zips),
        "town": _names("t", zips // 10 + draw.integers(0, 3, n_rows)),
        "employer": _names("e", _zipf(draw, 600, n_rows)),
        "job": _names("j", (zips + _zipf(draw, 300, n_rows)) % 300),
        "nationality": _names("n", _zipf(draw, 90, n_rows)),
        "born": _text(draw.integers(1930, 2010, n_rows), 0),
    }


def _skewed(draw: Draw, n_rows: int) -> dict[str, Column]:
    """Generate Zipf frequencies, and numbers with such heavy tails that most rows lie in a thousandth of the range."""
    income = _text(20_000 * (1 + draw.pareto(1.1, n_rows)), 0)
    income[draw.random(n_rows) < MISSING] = ""
    return {
        "income": income,
        "visits": _text(np.minimum(draw.zipf(1.8, n_rows), 10_000), 0),
        "job": _names("j", _zipf(draw, 200, n_rows)),
        "city": _names("c", _zipf(draw, 1000, n_rows)),
        "ward": _names("w", (draw.random(n_rows) < MISSING).astype(np.int64)),
    }


def _categorical(draw: Draw, n_rows: int) -> dict[str, Column]:
    """Generate eight categories of 2 to 48 values that depend on a hidden class of the row."""
    hidden_class = _zipf(draw, 15, n_rows)
    columns = {}
    for i, n_values in enumerate((2, 3, 5, 7, 11, 16, 30, 48)):
        usual_value = draw.integers(0, n_values, 15)[hidden_class]
        is_stray = draw.random(n_rows) < 0.4
        columns[f"c{n_values}"] = _names("abcdefgh"[i], np.where(is_stray, _zipf(draw, n_values, n_rows), usual_value))
    return columns


# By name: the generator of the columns, the number of rows, and the numeric columns; the others are categorical.
MADE: Mapping[str, tuple[Callable[[Draw, int], dict[str, Column]], int, tuple[str, ...]]] = {
    "numeric": (_numeric, 10_000, ("age", "height", "weight", "income", "north", "east")),
    "categorical": (_categorical, 10_000, ()),
    "skewed": (_skewed, 10_000, ("income", "visits")),
    "zips": (_zips, 25_000, ("born",)),
}


def write_made_table(name: str, path: Path, n_rows: int | None = None) -> dict[str, str]:
    """Write a table as CSV, with a sensitive last column; return the kind of each quasi-identifier."""
    make, usual_rows, numbers = MADE[name]
    draw = np.random.default_rng(SEED)
    n_rows = n_rows or usual_rows
    columns = make(draw, n_rows)
    columns[SENSITIVE] = _names("d", draw.integers(0, 9, n_rows))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return {column: "numeric" if column in numbers else "categorical" for column in columns if column != SENSITIVE}


def _zipf(draw: Draw, n_values: int, n_rows: int) -> NDArray[np.int64]:
    """Draw numbers below n_values, the i-th in proportion to 1 / i."""
    shares = 1 / np.arange(1, n_values + 1)
    return draw.choice(n_values, n_rows, p=shares / shares.sum())


def _names(letter: str, numbers: NDArray[np.int64]) -> Column:
    return np.array([f"{letter}{number}" for number in numbers.tolist()])


def _text(numbers: NDArray[np.float64] | NDArray[np.int64], decimals: int) -> Column:
    return np.array([f"{number:.{decimals}f}" for number in numbers.tolist()])
