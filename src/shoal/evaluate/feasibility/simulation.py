"""Is k within reach before anything is recoded? Random tables are drawn and counted, and chances computed.

A table succeeds if every combination of values that it has stands in at least k rows, so that it could leave as it is.
The question is that of Morton's thesis, "Determining the Proper k-Value" (Table 12, Figure 23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.errors import CancelledError, UsageError
from shoal.evaluate.confidence import CONFIDENCE, of_share
from shoal.evaluate.feasibility.probability import exact_chance, least_rows, poisson_chance, small_share
from shoal.evaluate.feasibility.urn import Urn
from shoal.methods.counter_random import draws, mix
from shoal.schema import check_k

__all__ = ["Feasibility", "Urn", "rows_needed", "simulate"]

WANTED = 0.95
MOST_REPETITIONS = 10**7
MOST_DRAWS = 10**11  # about ten minutes of a core
MOST_BYTES = 2**30  # of the counts of one table; each thread has one
DENSE_CELLS = 2**26  # at most so many are counted in a table of all cells, else the groups present are looked up
CELLS_A_ROW = 8  # the same, for each row
LARGEST_COUNTED_K = 2**16 - 1
BLOCK_DRAWS = 2**24  # between two looks at progress


@dataclass(frozen=True)
class Feasibility:
    """What was asked, how often random tables succeeded, and how likely that is.

    interval: Wilson's, for the success rate; confidence: its own. exact: the chance of success, None where it takes too
    long; poisson: as if the cells filled independently. small_share: the share of the rows expected in groups below k.
    rows_needed: from so many rows on the chance is at least wanted_success, None where the search found none;
    rows_needed_by: "exact" or "poisson". With no rows asked for, nothing is drawn and the rate is None.
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
        """Return plain values."""
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
    """Draw tables of so many rows from an urn and say how many of them need no recoding.

    urn: what rows are drawn from: Urn.binary(7), Urn.uniform([2, 5, 80]), Urn.of_table(table, qi). rows: of each table;
    without it only the rows needed are told. repetitions: how many tables are drawn. wanted_success: the chance that
    rows_needed stands for. seed: the same one gives the same answer, whatever the threads. progress: is told the share
    of the repetitions that is done.

    >>> answer = simulate(Urn.binary(3), k=3, rows=75, repetitions=50)
    >>> answer.success_rate, round(answer.exact, 3), answer.rows_needed
    (1.0, 0.976, 69)
    """
    k = check_k(k)
    if not 0 < wanted_success < 1:
        raise UsageError(f"a chance of success of {wanted_success!r} is not between 0 and 1. Use 0.95, for instance.")
    for name, number in (("rows", rows), ("repetitions", repetitions)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise UsageError(f"{name}={number!r} is not a positive whole number.")
    if repetitions > MOST_REPETITIONS:
        raise UsageError(f"repetitions={repetitions:,} are too many. Use {MOST_REPETITIONS:,} at most.")
    drawn = 0 if rows is None else repetitions
    successes = 0 if rows is None else _draw(urn, k, rows, repetitions, seed, threads, progress)
    needed, needed_by = rows_needed(urn, k, wanted_success)
    return Feasibility(
        distribution=urn.distribution,
        attributes=urn.attributes,
        cells=urn.n_cells,
        k=k,
        rows=rows,
        repetitions=drawn,
        successes=successes,
        success_rate=successes / drawn if drawn else None,
        interval=of_share(successes / drawn, drawn) if drawn else None,
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
    """Return from how many rows on success is likely enough, and how that is known: "exact" or "poisson".

    >>> rows_needed(Urn.binary(7), k=5)
    (2043, 'exact')
    """
    return least_rows(urn.grid, check_k(k), wanted_success) or (None, None)


def _draw(
    urn: Urn, k: int, rows: int, repetitions: int, seed: int, threads: int, progress: Callable[[float], None]
) -> int:
    """Return how many of the tables succeed."""
    from shoal.kernels.feasibility import repeat

    cells = urn.n_cells if _is_counted(urn.n_cells, k, rows) else 0
    _check_work(urn, k, rows, repetitions, cells)
    states = draws(mix(seed % 2**64), np.arange(repetitions))  # a stream of its own for each table
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
    """Say whether all cells are counted in place; a large empty grid is better looked up, and never laid out."""
    return k <= LARGEST_COUNTED_K and n_cells <= min(DENSE_CELLS, CELLS_A_ROW * rows + 1024)


def _check_work(urn: Urn, k: int, rows: int, repetitions: int, cells: int) -> None:
    """Refuse what would take hours or more memory than there is, with what can be told without drawing."""
    n_draws = rows * repetitions * len(urn.sizes)
    # Keys and counts of groups, in a power of two of rooms: at most four times as many as there may be groups.
    n_bytes = 2 * cells if cells else 64 * (rows // k + 2)
    if n_draws <= MOST_DRAWS and n_bytes <= MOST_BYTES:
        return
    exact = exact_chance(urn.grid, rows, k)
    chance = poisson_chance(urn.grid, rows, k) if exact is None else exact
    found, cure = (
        (f"{n_draws:,} values would have to be drawn; {MOST_DRAWS:,} are allowed", "repetitions or rows")
        if n_draws > MOST_DRAWS
        else (f"counting takes up to {n_bytes / 2**30:,.1f} GB; {MOST_BYTES / 2**30:,.1f} GB are allowed", "rows")
    )
    raise UsageError(
        f"{rows:,} rows over {urn.n_cells:,} combinations, {repetitions:,} times: {found}. Use fewer {cure}. Without "
        f"drawing, the chance of success is {chance:.4f} ({'Poisson' if exact is None else 'exact'})."
    )
