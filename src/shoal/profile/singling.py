"""Which columns single people out together, which give another one away, and which person may have several rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.table import Table

__all__ = ["Combination", "Dependency", "Singling", "find_dependencies", "find_singling"]

MOST_COMBINATIONS = 500
MOST_CELLS = 60_000_000  # rows times combinations looked at
MOST_SHOWN = 10
WORTH_MORE = 0.01  # a further column is told only if it singles out so many more of the rows
DETERMINED = 0.05
MOST_BINS = 4_000_000


@dataclass(frozen=True)
class Combination:
    """Columns, and the share of the rows that are the only one with their values there."""

    columns: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Singling:
    """The combinations that single out the most rows, and how many of all were looked at."""

    combinations: tuple[Combination, ...]
    examined: int
    possible: int


@dataclass(frozen=True)
class Dependency:
    """Knowing `column`, one knows `target`; share: what is left of its entropy. mutual: the other way round too."""

    column: str
    target: str
    share: float
    mutual: bool = False


def find_singling(table: Table, names: Sequence[str]) -> Singling:
    """Rank the combinations of up to three columns by the rows that they single out.

    The work is bounded: where there are too many combinations, those with the most entropy are looked at, single
    columns always. A combination is left out of the answer if a part of it does nearly the same.
    """
    ordered = sorted(names)
    entropy = {name: _entropy(_counts(table, (name,))) for name in ordered}
    singles = [(name,) for name in ordered]
    larger = [chosen for size in (2, 3) for chosen in combinations(ordered, size)]
    larger.sort(key=lambda chosen: (-round(sum(entropy[name] for name in chosen), 9), len(chosen), chosen))
    budget = max(0, min(MOST_COMBINATIONS, MOST_CELLS // max(table.n_rows, 1)) - len(singles))
    shares: dict[tuple[str, ...], float] = {}
    for chosen in [*singles, *larger[:budget]]:
        shares[chosen] = float((_counts(table, chosen) == 1).sum()) / table.n_rows
    told = [chosen for chosen in shares if shares[chosen] > 0 and _adds(chosen, shares)]
    told.sort(key=lambda chosen: (-shares[chosen], len(chosen), chosen))
    best = tuple(Combination(chosen, shares[chosen]) for chosen in told[:MOST_SHOWN])
    return Singling(best, len(shares), len(singles) + len(larger))


def _adds(chosen: tuple[str, ...], shares: dict[tuple[str, ...], float]) -> bool:
    parts = (part for size in range(1, len(chosen)) for part in combinations(chosen, size))
    return all(shares.get(part, 0.0) + WORTH_MORE <= shares[chosen] for part in parts)


def find_dependencies(table: Table, targets: Sequence[str], columns: Sequence[str]) -> list[Dependency]:
    """Return the columns that give a target away: H(target | column) / H(target) < 0.05.

    Values of the column that stand in one row alone determine everything and prove nothing: such rows are left out, and
    what chance would leave in the same groups must be clearly more.
    """
    found: dict[tuple[str, str], float] = {}
    for column in columns:
        ranks = table.factor(column).ranks
        repeated = _repeated(ranks, len(table.factor(column).texts))
        if repeated.sum() < max(20, 0.01 * table.n_rows):
            continue
        for target in targets:
            share = _left(table, column, target, repeated) if target != column else 1.0
            if share < DETERMINED:
                found[column, target] = share
    answers = []
    for (column, target), share in found.items():
        mutual = (target, column) in found
        if not mutual or column < target:
            answers.append(Dependency(column, target, share, mutual))
    return sorted(answers, key=lambda dependency: (dependency.column, dependency.target))


def _left(table: Table, column: str, target: str, repeated: NDArray[np.bool_]) -> float:
    """Return what is left of the target's entropy; 1 where chance alone would leave as little."""
    import numpy as np

    given = table.factor(column).ranks[repeated].astype(np.int64)
    wanted = table.factor(target).ranks[repeated].astype(np.int64)
    n_given, n_wanted = len(table.factor(column).texts), len(table.factor(target).texts)
    whole = _entropy(_count(wanted, n_wanted))
    if whole <= 0:
        return 1.0
    known = _entropy(_count(given, n_given))
    left = (_entropy(_count(given * n_wanted + wanted, n_given * n_wanted)) - known) / whole
    if left < DETERMINED:
        shuffled = np.random.default_rng(0).permutation(np.sort(wanted))  # of the values alone: row order is no matter
        order = np.argsort(given, kind="stable")
        by_chance = _entropy(_count(given[order] * n_wanted + shuffled, n_given * n_wanted)) - known
        if by_chance / whole < 2 * max(left, DETERMINED):
            return 1.0
    return max(left, 0.0)


def _repeated(ranks: NDArray[np.int32], n_values: int) -> NDArray[np.bool_]:
    import numpy as np

    repeated: NDArray[np.bool_] = np.bincount(ranks, minlength=n_values)[ranks] > 1
    return repeated


def _counts(table: Table, names: Sequence[str]) -> NDArray[np.int64]:
    import numpy as np

    key, n_keys = np.zeros(table.n_rows, dtype=np.int64), 1
    for name in names:
        factor = table.factor(name)
        if n_keys * len(factor.texts) >= 2**62:
            return table.group_sizes(names)
        key *= len(factor.texts)
        key += factor.ranks
        n_keys *= len(factor.texts)
    return _count(key, n_keys)


def _count(key: NDArray[np.int64], n_keys: int) -> NDArray[np.int64]:
    """Count the rows of each key; by table where the keys are few, else by sorting."""
    import numpy as np

    if n_keys <= MOST_BINS:
        counts = np.bincount(key, minlength=1)
        return counts[counts > 0].astype(np.int64)
    ordered = np.sort(key)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return np.diff(np.append(-1, ends)).astype(np.int64)


def _entropy(counts: NDArray[np.int64]) -> float:
    import numpy as np

    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())
