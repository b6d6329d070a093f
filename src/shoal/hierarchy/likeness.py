"""Similarity of categories: two are similar if they occur with the same values of the other columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from shoal.tables.values import normalise, parse_numbers

if TYPE_CHECKING:
    from shoal.tables.table import Table

__all__ = ["merge_order", "profiles_of"]

MOST_DISTINCT = 60  # a column with more distinct values is binned if numeric, else left out
N_BINS = 10


def profiles_of(table: Table, column: str, others: Iterable[str]) -> dict[str, list[float]]:
    """Return the profile of each value of a column: the distribution of the other columns among its rows.

    A numeric column with many values counts in ten bins of equal frequency. A text column with many values is left
    out, because it identifies rows rather than describes them.

    Args:
        table: The table.
        column: The column whose values are profiled.
        others: The columns to describe them by.
    """
    import numpy as np

    ranks, texts = table.factor(column)
    normal = [normalise(text) for text in texts.to_list()]
    names = sorted(set(normal))
    position = {name: i for i, name in enumerate(names)}
    value_of = np.array([position[text] for text in normal])[ranks]
    parts = [np.zeros((len(names), 1))]
    for name in others:
        codes, n_codes = _codes(table, name)
        if codes is not None:
            cells = value_of * n_codes + codes
            both = np.bincount(cells, table.weights, len(names) * n_codes).reshape(len(names), n_codes)
            parts.append(both / both.sum(axis=1, keepdims=True))
    shares = np.hstack(parts)
    return {name: shares[i].tolist() for i, name in enumerate(names)}


def _codes(table: Table, name: str) -> tuple[Any, int]:
    """Return a code for each row of a column and the number of codes; None for a column to leave out."""
    import numpy as np

    ranks, texts = table.factor(name)
    if len(texts) <= MOST_DISTINCT:
        return ranks, len(texts)
    normal = [normalise(text) for text in texts.to_list()]
    present = [i for i, text in enumerate(normal) if text]
    numbers, misfits = parse_numbers([normal[i] for i in present])
    if misfits:
        return None, 0
    value = np.full(len(normal), np.nan)
    value[present] = [float(number) for number in numbers]
    cells = value[ranks]
    edges = np.unique(_quantiles(value, table.counts(name)))
    return np.where(np.isnan(cells), len(edges) + 1, np.searchsorted(edges, cells, side="right")), len(edges) + 2


def _quantiles(value: Any, rows: Any) -> Any:
    """Return the bounds of the bins, as numpy's quantiles of one number for each row."""
    import numpy as np

    known = np.flatnonzero(~np.isnan(value))
    order = known[np.argsort(value[known], kind="stable")]
    upto = np.cumsum(rows[order])
    places = np.arange(1, N_BINS) / N_BINS * (upto[-1] - 1)
    low, high = (value[order][np.searchsorted(upto, at, side="right")] for at in (np.floor(places), np.ceil(places)))
    return low + (high - low) * (places - np.floor(places))


def merge_order(weights: Sequence[float], profiles: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the order in which to merge categories until one group is left.

    Ward's method on the square roots of the shares (Hellinger distance): the merge that changes the profiles least
    comes first, so small and similar categories merge early. Ties go to the lowest numbers. Quadratic memory.

    Args:
        weights: The rows of each category.
        profiles: The profile of each category.

    Returns:
        Pairs of groups, the second of which merges into the first; a group has the number of its first category.
    """
    import numpy as np

    count = len(weights)
    weight = np.array(weights, dtype=np.float64)
    centre = np.sqrt(np.array([list(p) or [0.0] for p in profiles], dtype=np.float64)).reshape(count, -1)
    cost = np.full((count, count), np.inf)
    for i in range(count):
        cost[i, i + 1 :] = _merge_costs(weight, centre, i, np.arange(i + 1, count))
    alive = np.ones(count, dtype=bool)
    merges = []
    for _ in range(count - 1):
        target, merged = divmod(int(np.argmin(cost)), count)
        merges.append((target, merged))
        total = weight[target] + weight[merged]
        centre[target] = (weight[target] * centre[target] + weight[merged] * centre[merged]) / total
        weight[target] = total
        alive[merged] = False
        cost[merged, :] = cost[:, merged] = np.inf
        other_groups = np.flatnonzero(alive)
        other_groups = other_groups[other_groups != target]
        new_costs = _merge_costs(weight, centre, target, other_groups)
        below = other_groups < target
        cost[other_groups[below], target] = new_costs[below]
        cost[target, other_groups[~below]] = new_costs[~below]
    return merges


def _merge_costs(weight: Any, centre: Any, group: int, other_groups: Any) -> Any:
    """Return the cost of merging a group with each of the rest, rounded so that equal costs stay ties."""
    import numpy as np

    squared = ((centre[other_groups] - centre[group]) ** 2).sum(axis=1)
    return np.round(weight[group] * weight[other_groups] / (weight[group] + weight[other_groups]) * squared, 9)
