"""Combinations of columns that single people out, and columns that determine another column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from shoal.profile.columns import Coded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = ["Combination", "Dependency", "Singling", "count_unique", "find_dependencies", "find_singling"]

LARGEST = 3  # columns of a combination that is not of all columns
MOST_COMBINATIONS = 500
MOST_CELLS = 40_000_000  # rows times combinations to examine
MOST_SHOWN = 10
WORTH_MORE = 0.01  # share of rows that a further column must single out in addition to be shown
DETERMINED = 0.05
MOST_BINS = 4_000_000


@dataclass(frozen=True)
class Combination:
    """Columns, and the share of the rows with a unique combination of their values."""

    columns: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Singling:
    """The combinations that single out the most rows, and how many of those of up to three columns were examined."""

    combinations: tuple[Combination, ...]
    examined: int
    possible: int


@dataclass(frozen=True)
class Dependency:
    """A column that determines another one.

    Attributes:
        column: The column that is known.
        target: The column that it determines.
        share: Share of the target's entropy that remains.
        mutual: Whether the target determines the column too.
    """

    column: str
    target: str
    share: float
    mutual: bool = False


def find_singling(columns: Mapping[str, Coded]) -> Singling:
    """Rank the combinations of up to three columns, and of all columns, by the rows that they single out.

    The work is bounded: of too many combinations, only single columns, those with the most entropy and all columns
    together are examined. A combination is not reported if a part of it singles out nearly as many rows.
    """
    ordered = sorted(columns)
    n_rows = max((len(column.codes) for column in columns.values()), default=1)
    entropy = {name: _entropy(_counts([columns[name]])) for name in ordered}
    singles = [(name,) for name in ordered]
    larger = [combination for size in range(2, LARGEST + 1) for combination in combinations(ordered, size)]
    larger.sort(
        key=lambda combination: (-round(sum(entropy[name] for name in combination), 9), len(combination), combination)
    )
    budget = max(0, min(MOST_COMBINATIONS, MOST_CELLS // n_rows) - len(singles))
    shares: dict[tuple[str, ...], float] = {}
    everything = [tuple(ordered)] if len(ordered) > LARGEST else []
    for combination in [*singles, *larger[:budget], *everything]:
        shares[combination] = float((_counts([columns[name] for name in combination]) == 1).sum()) / n_rows
    reported = [combination for combination in shares if shares[combination] > 0 and _adds(combination, shares)]
    reported.sort(key=lambda combination: (-shares[combination], len(combination), combination))
    best = tuple(Combination(combination, shares[combination]) for combination in reported[:MOST_SHOWN])
    return Singling(best, len(shares) - len(everything), len(singles) + len(larger))


def _adds(combination: tuple[str, ...], shares: dict[tuple[str, ...], float]) -> bool:
    if len(combination) > LARGEST:  # all columns, of which every other combination is a part
        parts: Iterable[tuple[str, ...]] = (part for part in shares if part != combination)
    else:
        parts = (part for size in range(1, len(combination)) for part in combinations(combination, size))
    return all(shares.get(part, 0.0) + WORTH_MORE <= shares[combination] for part in parts)


def find_dependencies(
    columns: Mapping[str, Coded], targets: Sequence[str], candidates: Sequence[str] | None = None
) -> list[Dependency]:
    """Return the columns that determine a target: H(target | column) / H(target) < 0.05.

    Values of a column that occur in only one row determine everything and prove nothing, so those rows are left out.

    Args:
        columns: The columns by name.
        targets: The columns that may be determined.
        candidates: The columns that may determine them; all by default.
    """
    import numpy as np

    remaining: dict[tuple[str, str], float] = {}
    for name in columns if candidates is None else candidates:
        codes, n_values = columns[name]
        repeated = np.bincount(codes, minlength=n_values)[codes] > 1
        if repeated.sum() < max(20, 0.01 * len(codes)):
            continue
        all_repeat = bool(repeated.all())
        column = Coded(codes if all_repeat else codes[repeated], n_values)
        entropy = _entropy(_count(*column))
        for target in targets:
            if target == name:
                continue
            codes, n_values = columns[target]
            share = _remaining(column, entropy, Coded(codes if all_repeat else codes[repeated], n_values))
            if share < DETERMINED:
                remaining[name, target] = share
    dependencies = []
    for (name, target), share in remaining.items():
        mutual = (target, name) in remaining
        if not mutual or name < target:
            dependencies.append(Dependency(name, target, share, mutual))
    return sorted(dependencies, key=lambda dependency: (dependency.column, dependency.target))


def _remaining(column: Coded, entropy: float, target: Coded) -> float:
    """Return the share of a target's entropy that remains when a column, with its entropy, is known."""
    target_entropy = _entropy(_count(*target))
    joint_entropy = _entropy(_counts([column, target]))
    return max(0.0, joint_entropy - entropy) / target_entropy if target_entropy > 0 else 1.0


def count_unique(columns: Sequence[Coded], person: Coded | None = None) -> tuple[int, int]:
    """Count the rows whose combination of values nobody else has, and the people of these rows.

    Args:
        columns: The quasi-identifiers. Each costs a pass over the rows, and several together a sort.
        person: The person of each row; by default every row is a person.
    """
    import numpy as np

    if not columns or not len(columns[0].codes):
        return 0, 0
    if person is None:
        n_alone = int((_counts(columns) == 1).sum())
        return n_alone, n_alone
    key, _ = _key(columns)
    order = np.argsort(key)
    key, people = key[order], person.codes[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    lowest = np.minimum.reduceat(people, starts)
    is_alone = lowest == np.maximum.reduceat(people, starts)  # all rows of the combination are of one person
    n_rows = np.diff(starts, append=len(key))
    return int(n_rows[is_alone].sum()), len(np.unique(lowest[is_alone]))


def _counts(columns: Sequence[Coded]) -> NDArray[np.int64]:
    """Count the rows of each combination."""
    return _count(*_key(columns))


def _key(columns: Sequence[Coded]) -> tuple[NDArray[np.int64], int]:
    """Return a number for each row that is the same for rows with the same combination, and a bound of the numbers."""
    import numpy as np

    key, n_keys = columns[0]
    for codes, n_values in columns[1:]:
        if n_keys * n_values >= 2**62:  # the product of the codes would not fit
            _, key = np.unique(key, return_inverse=True)
            n_keys = len(key)
        key = key * n_values + codes
        n_keys *= n_values
    return key, n_keys


def _count(key: NDArray[np.int64], n_keys: int) -> NDArray[np.int64]:
    """Count the rows of each key, with a table if there are few keys and by sorting otherwise."""
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
