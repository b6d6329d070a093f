"""The least loss that any partition of a small table can have, by set partitioning (HiGHS).

A group of 2k rows or more can be halved at no cost, so that groups of k to 2k - 1 rows are all there is to choose from.
The linear relaxation is solved with a few columns at a time; what it leaves out for good is every group whose reduced
cost exceeds the gap between the relaxation and a known solution, so that the answer is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded

# For each attribute: the values of all rows as numbers (missing: nan), or None; and the codes of a category, or None.
Columns = Sequence[tuple[NDArray[np.float64] | None, NDArray[np.int64] | None, float]]

MORE_COLUMNS = 2000


def columns_of(encoded: Encoded) -> Columns:
    """Return the columns of a table, row by row."""
    columns: list[tuple[NDArray[np.float64] | None, NDArray[np.int64] | None, float]] = []
    for a, attribute in enumerate(encoded.attributes):
        codes = encoded.tuples[encoded.row_tuple, a].astype(np.int64)
        if not attribute.ordered:
            columns.append((None, codes, float(len(attribute.texts))))
            continue
        values = attribute.values[codes].copy()
        values[codes == attribute.missing] = np.nan
        columns.append((values, None, attribute.span))
    return columns


def least_total(columns: Columns, n_rows: int, k: int) -> float:
    """Return the minimum sum of NCP over rows and attributes; `columns`: values or codes, and span or number."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    groups, costs = _all_groups(columns, n_rows, k)
    chosen, bound, reduced = _relax(groups, costs, n_rows)
    start, _ = _solve(groups, costs, chosen, n_rows)
    kept = np.flatnonzero(reduced <= start - bound + 1e-9)
    matrix = _matrix(groups, kept, n_rows)
    found = milp(costs[kept], constraints=LinearConstraint(matrix, 1, 1), integrality=1, bounds=Bounds(0, 1))
    assert found.success
    return float(found.fun)


def _all_groups(columns: Columns, n_rows: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows of every group that may be chosen, filled up with -1, and what each costs."""
    sizes = [size for size in range(k, 2 * k) if size <= n_rows]
    blocks, costs = [], []
    for size in sizes:
        flat = chain.from_iterable(combinations(range(n_rows), size))
        rows = np.fromiter(flat, dtype=np.int64, count=comb(n_rows, size) * size).reshape(-1, size)
        blocks.append(np.pad(rows, ((0, 0), (0, 2 * k - 1 - size)), constant_values=-1))
        costs.append(size * sum(_losses(*column, rows) for column in columns))
    return np.vstack(blocks), np.concatenate(costs)


def _losses(
    values: NDArray[np.float64] | None, codes: NDArray[np.int64] | None, scale: float, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the NCP of one attribute for every group of rows."""
    if values is not None:
        inside = values[rows]
        absent = np.isnan(inside)
        filled_low, filled_high = np.where(absent, np.inf, inside), np.where(absent, -np.inf, inside)
        width = np.where(absent.all(axis=1), 0.0, filled_high.max(axis=1) - filled_low.min(axis=1))
        share = width / scale if scale > 0 else np.zeros(len(rows))
        return np.where(absent.any(axis=1) & ~absent.all(axis=1), 1.0, np.where(absent.all(axis=1), 0.0, share))
    assert codes is not None
    inside = np.sort(codes[rows], axis=1)
    distinct = 1 + (np.diff(inside, axis=1) != 0).sum(axis=1)
    return np.where(distinct > 1, distinct / scale, 0.0)


def _matrix(groups: NDArray[np.int64], kept: NDArray[np.int64], n_rows: int) -> object:
    from scipy.sparse import csc_matrix

    members = groups[kept]
    present = members >= 0
    column = np.repeat(np.arange(len(kept)), present.sum(axis=1))
    return csc_matrix((np.ones(len(column)), (members[present], column)), shape=(n_rows, len(kept)))


def _relax(
    groups: NDArray[np.int64], costs: NDArray[np.float64], n_rows: int
) -> tuple[NDArray[np.int64], float, NDArray[np.float64]]:
    """Return the columns that the relaxation needed, its value and the reduced cost of every group."""
    from scipy.optimize import linprog

    chosen = np.union1d(np.argsort(costs, kind="stable")[:MORE_COLUMNS], _covering(groups, n_rows))
    padded = np.where(groups >= 0, groups, n_rows)
    while True:
        solved = linprog(costs[chosen], A_eq=_matrix(groups, chosen, n_rows), b_eq=np.ones(n_rows), method="highs")
        assert solved.success
        duals = np.append(solved.eqlin.marginals, 0.0)
        reduced = costs - duals[padded].sum(axis=1)
        missing = np.flatnonzero(reduced < -1e-9)
        if not len(missing):
            return chosen, float(solved.fun), reduced
        chosen = np.union1d(chosen, missing[np.argsort(reduced[missing], kind="stable")[:MORE_COLUMNS]])


def _covering(groups: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """Return groups that cover all rows without overlap: runs of rows, the last one taking what is left."""
    k = int((groups[0] >= 0).sum())
    starts = list(range(0, n_rows - k + 1, k))
    runs = [range(s, n_rows if s == starts[-1] else s + k) for s in starts]
    index = {tuple(group[group >= 0].tolist()): i for i, group in enumerate(groups)}
    return np.array([index[tuple(run)] for run in runs])


def _solve(
    groups: NDArray[np.int64], costs: NDArray[np.float64], chosen: NDArray[np.int64], n_rows: int
) -> tuple[float, NDArray[np.int64]]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    found = milp(
        costs[chosen],
        constraints=LinearConstraint(_matrix(groups, chosen, n_rows), 1, 1),
        integrality=1,
        bounds=Bounds(0, 1),
    )
    assert found.success
    return float(found.fun), chosen
