"""Which categories are alike: those that go along with the same values of the other columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from shoal.tables.values import normalise, parse_numbers

if TYPE_CHECKING:
    from shoal.tables.table import Table

__all__ = ["merge_order", "profiles_of"]

MOST_DISTINCT = 60  # values of another column beyond which numbers are taken in bins and texts left out
N_BINS = 10


def profiles_of(table: Table, column: str, others: Iterable[str]) -> dict[str, list[float]]:
    """Return, for each value of a column, the shares of the values of the other columns among its rows.

    A column of numbers with many values counts in ten bins of equally many rows; one of texts with many values, which
    tells rows apart more than it describes them, is left out.
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
            both = np.bincount(value_of * n_codes + codes, minlength=len(names) * n_codes).reshape(len(names), n_codes)
            parts.append(both / both.sum(axis=1, keepdims=True))
    shares = np.hstack(parts)
    return {name: shares[i].tolist() for i, name in enumerate(names)}


def _codes(table: Table, name: str) -> tuple[Any, int]:
    """Return a code for each row of another column, and their number; None for a column to leave out."""
    import numpy as np

    ranks, texts = table.factor(name)
    if len(texts) <= MOST_DISTINCT:
        return ranks, len(texts)
    normal = [normalise(text) for text in texts.to_list()]
    known = [i for i, text in enumerate(normal) if text]
    numbers, misfits = parse_numbers([normal[i] for i in known])
    if misfits:
        return None, 0
    value = np.full(len(normal), np.nan)
    value[known] = [float(number) for number in numbers]
    cells = value[ranks]
    edges = np.unique(np.nanquantile(cells, np.arange(1, N_BINS) / N_BINS))
    return np.where(np.isnan(cells), len(edges) + 1, np.searchsorted(edges, cells, side="right")), len(edges) + 2


def merge_order(weights: Sequence[float], profiles: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs of groups to merge, one after the other, until one group is left; each goes into the first.

    Ward's rule on the square roots of the shares (Hellinger distance): the merge that moves the profiles least comes
    first, so small and alike values go together. Ties fall to the lowest numbers. Quadratic memory.
    """
    import numpy as np

    count = len(weights)
    weight = np.array(weights, dtype=np.float64)
    centre = np.sqrt(np.array([list(p) or [0.0] for p in profiles], dtype=np.float64)).reshape(count, -1)
    cost = np.full((count, count), np.inf)
    for i in range(count):
        cost[i, i + 1 :] = _ward(weight, centre, i, np.arange(i + 1, count))
    alive = np.ones(count, dtype=bool)
    merges = []
    for _ in range(count - 1):
        kept, gone = divmod(int(np.argmin(cost)), count)
        merges.append((kept, gone))
        total = weight[kept] + weight[gone]
        centre[kept] = (weight[kept] * centre[kept] + weight[gone] * centre[gone]) / total
        weight[kept] = total
        alive[gone] = False
        cost[gone, :] = cost[:, gone] = np.inf
        rest = np.flatnonzero(alive)
        rest = rest[rest != kept]
        renewed = _ward(weight, centre, kept, rest)
        below = rest < kept
        cost[rest[below], kept] = renewed[below]
        cost[kept, rest[~below]] = renewed[~below]
    return merges


def _ward(weight: Any, centre: Any, one: int, rest: Any) -> Any:
    """Return what merging one group with each of the rest costs, rounded so that equal costs stay ties."""
    import numpy as np

    squared = ((centre[rest] - centre[one]) ** 2).sum(axis=1)
    return np.round(weight[one] * weight[rest] / (weight[one] + weight[rest]) * squared, 9)
