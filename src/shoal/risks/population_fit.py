"""How many rows of a population match the released cells of each group, whatever tool wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.encode import guess_kinds
from shoal.errors import InputError, UsageError, join_problems, setting
from shoal.hierarchy.base import Rule, over_values
from shoal.metrics.released_cells import SUPPRESSED, CategoryReader, OrderedReader, numbers_of, reader
from shoal.schema import Column, Schema
from shoal.tables import values
from shoal.tables.table import Table

__all__ = ["count_fitting"]


def count_fitting(
    release: Table, rows: NDArray[np.int64], population: Table, schema: Schema, hierarchies: Mapping[str, Rule]
) -> NDArray[np.int64]:
    """Return how many rows of the population match each group of a release.

    Cost: at most the number of groups times the distinct rows of the population.

    Args:
        release: The release.
        rows: One row of each group.
        population: The population.
        schema: The columns of the population.
        hierarchies: By column.

    Raises:
        UsageError: The release lacks a column.
        InputError: A cell cannot be read over the values of the population.
    """
    absent = [column.name for column in schema.qi if column.name not in release.names]
    if absent:
        raise UsageError(join_problems([f"the release has no column {name!r}. Add it." for name in absent]))
    schema = guess_kinds(population, schema)
    names = [column.name for column in schema.qi]
    labels = population.group_labels(names)
    counts = np.bincount(labels)
    first = np.zeros(len(counts), dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    fits = [_fits(release, rows, population, column, schema, hierarchies.get(column.name)) for column in schema.qi]
    places = [population.factor(name).ranks[first] for name in names]
    cells = [release.factor(name).ranks[rows] for name in names]
    # The attributes that match fewest rows come first.
    turns = sorted(range(len(names)), key=lambda i: float(np.mean([fit.mean() for fit in fits[i].values()])))
    matches = np.zeros(len(rows), dtype=np.int64)
    for group in range(len(rows)):
        inside: Any = slice(None)
        for i in turns:
            good = fits[i][int(cells[i][group])][places[i][inside]]
            inside = np.flatnonzero(good) if isinstance(inside, slice) else inside[good]
        matches[group] = counts[inside].sum()
    return matches


def _fits(
    release: Table, rows: NDArray[np.int64], population: Table, column: Column, schema: Schema, rule: Rule | None
) -> dict[int, NDArray[np.bool_]]:
    """Return for each cell of a column, by its rank, which distinct cells of the population it covers."""
    ranks, texts = release.factor(column.name)
    own = [values.normalise(text) for text in population.factor(column.name).texts.to_list()]
    bound = None
    if rule is not None:
        known_values = sorted(set(own))
        bound = over_values(rule, known_values, column, column=column.name, unknown="top", missing=schema.missing)
    read = reader(column, dict.fromkeys(own, 1), None, schema.missing, bound)
    missing = np.array([text in schema.missing for text in own])
    numbers = _numbers(column, own, schema.missing) if isinstance(read, OrderedReader) else np.empty(0)
    fits: dict[int, NDArray[np.bool_]] = {}
    fit: NDArray[np.bool_] | None
    for rank in np.unique(ranks[rows]).tolist():
        cell = values.normalise(texts[rank])
        if cell == "*":
            fit = np.ones(len(own), dtype=bool)
        elif cell in schema.missing:
            fit = missing
        elif isinstance(read, OrderedReader):
            bounds = read.bounds(cell)
            fit = None if bounds is None else (numbers >= bounds[0]) & (numbers <= bounds[1])
        else:
            assert isinstance(read, CategoryReader)
            fit = _members(read, cell, own, schema.missing)
        if fit is None:
            row = int(rows[np.argmax(ranks[rows] == rank)]) + 1
            raise InputError(
                f"column {column.name!r}, row {row} of the release: the cell cannot be read over the values of the "
                f"population. Pass its hierarchy with {setting('hierarchies')}, or its kind."
            )
        fits[rank] = fit
    return fits


def _numbers(column: Column, own: Sequence[str], missing: Sequence[str]) -> NDArray[np.float64]:
    """Return the number behind each text; that of a missing value is in no range."""
    known_values = [i for i, text in enumerate(own) if text not in missing]
    numbers = np.full(len(own), np.nan)
    parsed, _ = numbers_of(column, [own[i] for i in known_values])
    numbers[known_values] = [float(number) for number in parsed]
    return numbers


def _members(read: CategoryReader, cell: str, own: Sequence[str], missing: Sequence[str]) -> NDArray[np.bool_] | None:
    if cell in SUPPRESSED and cell not in read.domain:
        return np.ones(len(own), dtype=bool)
    # A value that the population lacks matches nobody.
    members = frozenset({cell}) if cell in read.domain else read.members(cell)
    return np.array([("" if text in missing else text) in members for text in own])
