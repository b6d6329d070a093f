"""Frequency sets by one query, or by one query for each generalisation string as in Morton's thesis: the cost of both.

python -m experiments.roll_ups            writes experiments/roll_ups.md and roll_ups.svg

Data: 1,000,000 rows drawn from the complete rows of Adult, six quasi-identifiers, in a CSV file that DuckDB counts.
"""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.pages import FULL, Scope, make_schema, new_figure, read_scope, write_table
from experiments.research_value import hierarchy_of
from shoal.encoding.encode import encode
from shoal.errors import InfeasibleError
from shoal.methods import Run, named
from shoal.methods.full_domain.levels import CountedTable
from shoal.models import KAnonymity
from shoal.release.counted_tables.pushdown import count_table
from shoal.tables.sources.base import GroupCounter, Grouping
from shoal.tables.sources.duckdb import DuckSource

NAMES = ("age", "workclass", "education-num", "marital-status", "race", "sex")
N_ROWS = 1_000_000
K = 5
METHODS = ("rv-local", "rv-global", "rv-hybrid", "datafly", "optimal", "incognito")


@dataclass
class CountingSource:
    """A source that counts its queries and the rows that they fetch."""

    source: GroupCounter
    queries: int = 0
    fetched: int = 0

    def prepare_groups(self, groupings: list[Grouping]) -> None:
        """Make the columns of the levels."""
        self.queries += 1
        self.source.prepare_groups(groupings)

    def count_groups(self, groupings: list[Grouping]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the table by groupings."""
        codes, counts = self.source.count_groups(groupings)
        self.queries += 1
        self.fetched += len(counts)
        return codes, counts

    def rows_below(self, groupings: list[Grouping], least: int) -> int:
        """Return the number of rows in small groups."""
        self.queries += 1
        self.fetched += 1
        return self.source.rows_below(groupings, least)


@dataclass(frozen=True)
class Cost:
    """What a search costs, from counted or countable table to partition."""

    seconds: float
    cpu: float
    queries: int
    fetched: int
    levels: dict[str, int] | None


def run_all(scope: Scope) -> tuple[int, dict[tuple[str, str], Cost]]:
    """Return the number of distinct tuples, and the cost of each method both ways."""
    frame = scope.adult().select(NAMES)
    rows = random.Random(0).choices(range(frame.height), k=scope.rows or N_ROWS)
    rules = {name: rule for name in NAMES if (rule := hierarchy_of(name, frame[name].to_list()))}
    costs = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame[rows].write_csv(folder / "rows.csv")
        (folder / "private").mkdir()
        with DuckSource(folder / "rows.csv").opened(folder / "private") as source:
            start, cpu = time.perf_counter(), time.process_time()
            schema = make_schema(NAMES)
            table = count_table(source, schema)
            counting = (time.perf_counter() - start, time.process_time() - cpu)
            encoded = encode(table, schema, rules)
            for method in METHODS:
                costs[method, "one query"] = measure_search(method, encoded, None, counting)
                counter = CountingSource(source)
                costs[method, "a query each"] = measure_search(method, encoded, CountedTable(counter, table.frame))
    return len(encoded.tuples), costs


def measure_search(
    method: str, encoded: Any, table: CountedTable | None, counting: tuple[float, float] = (0.0, 0.0)
) -> Cost:
    """Run a search and return its cost, with that of counting the table for the search in memory."""
    start, cpu = time.perf_counter(), time.process_time()
    limit = {"datafly": K}.get(method, 0)
    levels = None
    try:
        run = Run(table=table, suppression_limit=limit and 2 * limit / encoded.n_rows)  # type: ignore[arg-type]
        levels = named(method).partition(encoded, (KAnonymity(K),), run).levels
    except InfeasibleError:
        pass
    seconds, used = time.perf_counter() - start + counting[0], time.process_time() - cpu + counting[1]
    if table is None:
        return Cost(seconds, used, 1, len(encoded.tuples), levels)
    counter = table.counter
    assert isinstance(counter, CountingSource)
    return Cost(seconds, used, counter.queries, counter.fetched, levels)


def main(scope: Scope = FULL) -> None:
    """Run all searches both ways, then write the page and the picture."""
    n_distinct, costs = run_all(scope)
    figure, axis = new_figure()
    for way, marker in (("one query", "o"), ("a query each", "x")):
        axis.plot(METHODS, [costs[method, way].cpu for method in METHODS], marker, label=way)
    axis.set(ylabel="CPU seconds", yscale="log")
    axis.legend(fontsize=7)
    scope.save(figure, "roll_ups.svg")
    rows = []
    for method in METHODS:
        one, each = costs[method, "one query"], costs[method, "a query each"]
        assert one.levels == each.levels
        cells = [f"{cost.cpu:.2f} ({cost.seconds:.2f})" for cost in (one, each)]
        rows.append([method, *cells, each.queries, f"{one.fetched:,}", f"{each.fetched:,}"])
    head = ["method", "one query: CPU s (s)", "a query each: CPU s (s)", "queries", "rows fetched, one query"]
    table = write_table([*head, "rows fetched, a query each"], rows)
    scope.write("roll_ups.md", TEXT.format(table=table, distinct=n_distinct, rows=scope.rows or N_ROWS, k=K))


TEXT = """\
# Frequency sets: one query, or one for each string

`python -m experiments.roll_ups` measures two ways to test generalisation strings on a table that a database holds:
{rows:,} rows drawn from Adult with {distinct:,} distinct combinations of age, workclass, education-num, marital-status,
race and sex, counted by DuckDB on one thread; k = {k}.

- **One query** (`--roll-up memory`, the default) fetches the finest frequency set once. Coarser sets are rolled up in
  memory.
- **A query each** (`--roll-up database`) is the way of Morton's thesis: the levels become columns of the table, and
  each string is tested by a statement that groups by one column for each attribute. A test fetches a single number;
  only strings that pass are fetched with their groups, to price them.

Both ways choose the same levels. The time of one query includes counting the finest set; neither includes reading the
file or encoding. The machine was busy with other work, so times are indications.

![CPU seconds of each search](roll_ups.svg)

{table}

- **One query is cheaper for every method here**, and the more so the more strings a search tests: each test costs the
  database a pass over the rows, and memory a pass over the distinct combinations, of which there are a hundred times
  fewer.
- A query each fetches little for a test, but the searches by research value and by loss need the counts of single
  values first, which here are the finest set once more.
- The queries pay where distinct combinations are nearly as many as rows and do not fit into memory during the search.
"""


if __name__ == "__main__":
    main(read_scope(__doc__))
