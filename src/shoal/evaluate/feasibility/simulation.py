"""Feasibility of k without recoding: how often a random table is already k-anonymous.

A table succeeds if every combination of values in it has at least k rows, so that it could be released unchanged. The
question comes from [S1], "Determining the Proper k-Value" (Table 12, Figure 23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.errors import CancelledError, UsageError, setting
from shoal.evaluate.confidence import CONFIDENCE, of_share
from shoal.evaluate.feasibility.probability import exact_chance, least_rows, poisson_chance, small_share
from shoal.evaluate.feasibility.urn import Urn
from shoal.methods.counter_random import draws, mix
from shoal.schema import check_k

__all__ = ["Feasibility", "Urn", "rows_needed", "simulate"]

WANTED = 0.95
MOST_REPETITIONS = 10**7
MOST_DRAWS = 10**11  # about ten minutes on one core
MOST_BYTES = 2**30  # for the counts of one table; each thread has one
# Largest number of cells that are counted in an array; a larger grid uses a hash table of the groups present.
DENSE_CELLS = 2**26
CELLS_PER_ROW = 8  # the same limit, per row
LARGEST_COUNTED_K = 2**16 - 1
BLOCK_DRAWS = 2**24  # draws between two progress reports


@dataclass(frozen=True)
class Feasibility:
    """The result of a simulation.

    Attributes:
        distribution: What rows were drawn from: "binary", "uniform", "independent" or "joint".
        attributes: Number of attributes.
        cells: Number of combinations of values.
        k: Rows that each combination must have.
        rows: Rows of each table; None if no table was drawn.
        repetitions: Number of tables.
        successes: Number of tables that succeeded.
        success_rate: Share of tables that succeeded.
        interval: Wilson's confidence interval of the success rate.
        confidence: Confidence of the interval.
        exact: Probability of success; None if it takes too long to compute.
        poisson: Probability of success if combinations were independent.
        small_share: Expected share of rows in groups smaller than k.
        wanted_success: The wanted probability of success.
        rows_needed: Number of rows from which on the probability is at least `wanted_success`; None if the search
            finds none.
        rows_needed_by: How `rows_needed` was computed: "exact" or "poisson".
        seed: Seed of the random numbers.
    """

    distribution: str
    attributes: int
    cells: int
    k: int
    rows: int | None
    repetitions: int
    successes: int
    success_rate: float | None
    interval: tuple[float, float] | None
    confidence: float
    exact: float | None
    poisson: float | None
    small_share: float | None
    wanted_success: float
    rows_needed: int | None
    rows_needed_by: str | None
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values for JSON."""
        return asdict(self)


def simulate(
    urn: Urn,
    *,
    k: int,
    rows: int | None = None,
    repetitions: int = 500,
    wanted_success: float = WANTED,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> Feasibility:
    """Draw random tables from an urn and count how many need no recoding.

    Args:
        urn: What rows are drawn from: `Urn.binary(7)`, `Urn.uniform([2, 5, 80])` or `Urn.of_table(table, qi)`.
        k: Rows that each combination of values must have.
        rows: Rows of each table; without it, only the rows needed are computed.
        repetitions: Number of tables.
        wanted_success: The probability of success for which the rows needed are computed.
        seed: Seed of the random numbers; the result does not depend on the number of threads.
        threads: Number of threads.
        progress: Called with the completed share of the repetitions.

    Returns:
        The success rate, the probability of success and the rows needed.

    Raises:
        UsageError: An argument is not valid, or the simulation would take too long or too much memory.

    >>> answer = simulate(Urn.binary(3), k=3, rows=75, repetitions=50)
    >>> answer.success_rate, round(answer.exact, 3), answer.rows_needed
    (1.0, 0.976, 69)
    """
    k = check_k(k)
    if not 0 < wanted_success < 1:
        raise UsageError(
            f"a probability of success of {wanted_success!r} is not between 0 and 1. Use 0.95, for instance."
        )
    for name, number in (("rows", rows), ("repetitions", repetitions)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise UsageError(f"{setting(name, number)} is not a positive integer. Use 1 or more.")
    if repetitions > MOST_REPETITIONS:
        raise UsageError(f"{setting('repetitions', repetitions)} is too many. Use at most {MOST_REPETITIONS:,}.")
    n_tables = 0 if rows is None else repetitions
    successes = 0 if rows is None else _draw(urn, k, rows, repetitions, seed, threads, progress)
    needed, needed_by = rows_needed(urn, k, wanted_success)
    return Feasibility(
        distribution=urn.distribution,
        attributes=urn.attributes,
        cells=urn.n_cells,
        k=k,
        rows=rows,
        repetitions=n_tables,
        successes=successes,
        success_rate=successes / n_tables if n_tables else None,
        interval=of_share(successes / n_tables, n_tables) if n_tables else None,
        confidence=CONFIDENCE,
        exact=None if rows is None else exact_chance(urn.grid, rows, k),
        poisson=None if rows is None else poisson_chance(urn.grid, rows, k),
        small_share=None if rows is None else small_share(urn.grid, rows, k),
        wanted_success=wanted_success,
        rows_needed=needed,
        rows_needed_by=needed_by,
        seed=seed,
    )


def rows_needed(urn: Urn, k: int, wanted_success: float = WANTED) -> tuple[int | None, str | None]:
    """Return the number of rows from which on success is likely enough, and how it was computed.

    >>> rows_needed(Urn.binary(7), k=5)
    (2043, 'exact')
    """
    return least_rows(urn.grid, check_k(k), wanted_success) or (None, None)


def _draw(
    urn: Urn, k: int, rows: int, repetitions: int, seed: int, threads: int, progress: Callable[[float], None]
) -> int:
    """Return the number of tables that succeed."""
    from shoal.kernels.feasibility import repeat

    cells = urn.n_cells if _is_counted(urn.n_cells, k, rows) else 0
    _check_work(urn, k, rows, repetitions, cells)
    states = draws(mix(seed % 2**64), np.arange(repetitions))  # one random stream per table
    succeeded = np.zeros(repetitions, dtype=np.uint8)

    def run(block: slice) -> int:
        repeat(states[block], rows, k, cells, urn.sizes, urn.offsets, urn.pools, urn.places, succeeded[block])
        return len(states[block])

    done = 0
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        try:
            for n in pool.map(run, _blocks(repetitions, max(1, BLOCK_DRAWS // (rows * len(urn.sizes))))):
                done += n
                progress(done / repetitions)
        except (CancelledError, KeyboardInterrupt):
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return int(succeeded.sum())


def _blocks(n: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, n, size))


def _is_counted(n_cells: int, k: int, rows: int) -> bool:
    """Return whether to count all cells in an array; a large, sparse grid uses a hash table instead."""
    return k <= LARGEST_COUNTED_K and n_cells <= min(DENSE_CELLS, CELLS_PER_ROW * rows + 1024)


def _check_work(urn: Urn, k: int, rows: int, repetitions: int, cells: int) -> None:
    """Refuse a simulation that takes hours or too much memory; the error gives the probability instead."""
    n_draws = rows * repetitions * len(urn.sizes)
    # The hash table of keys and counts has a power of two of slots, at most four times the number of groups.
    n_bytes = 2 * cells if cells else 64 * (rows // k + 2)
    if n_draws <= MOST_DRAWS and n_bytes <= MOST_BYTES:
        return
    exact = exact_chance(urn.grid, rows, k)
    chance = poisson_chance(urn.grid, rows, k) if exact is None else exact
    problem, cure = (
        (f"this needs {n_draws:,} random values; {MOST_DRAWS:,} are allowed", "repetitions or rows")
        if n_draws > MOST_DRAWS
        else (f"counting takes up to {n_bytes / 2**30:,.1f} GB; {MOST_BYTES / 2**30:,.1f} GB are allowed", "rows")
    )
    raise UsageError(
        f"{repetitions:,} tables of {rows:,} rows over {urn.n_cells:,} combinations: {problem}. Use fewer {cure}. The "
        f"computed probability of success is {chance:.4f} ({'Poisson' if exact is None else 'exact'})."
    )
