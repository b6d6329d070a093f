"""People in DuckDB: a table of ids and codes, which Python never has as a whole if there are many."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.tables.sources.duck_session import literal
from shoal.tables.values.people import NORMAL, People, absent_ids, person_codes, persons_of

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.sources.dealing import Engine
    from shoal.tables.sources.duck_session import DuckSession

__all__ = ["MetIds", "count_sizes", "load_people"]

SLICE_ROWS = 100_000  # ids that are normalised at once


def load_people(engine: Engine, people: People) -> int:
    """Make the table `people`, unless it is there: cells, what states them, and codes of people.

    A cell that is stored as text is stated by itself; that of a column of few ids by its place among all in order. The
    codes are those of `person_codes`.

    Returns:
        The number of people.
    """
    import polars as pl

    session = engine.session
    if (known := session.kept.get("people")) and known[0] == people:
        return known[1]
    if numbering := engine.numbering(people.name):
        texts, ranks = numbering.ranks()
        codes, numbers = person_codes(texts, people.missing), np.arange(len(ranks), dtype=np.int32)
        session.load("people", pl.DataFrame({"cell": numbers, "stated": ranks, "code": codes[ranks]}))
        n_people = int(codes.max(initial=-1)) + 1
    else:
        n_people = _code_texts(session, f"c{engine.names.index(people.name)}", people)
    session.kept["people"] = people, n_people
    return n_people


def _code_texts(session: DuckSession, column: str, people: People) -> int:
    """Make the table of a column that is stored as text."""
    session.ask(f"create or replace temp table ids as select distinct {column} as cell from cells")
    _load_normal(session, people)
    known = "select cell, coalesce(person, cell) as person from ids left join normal using (cell)"
    session.ask(
        "create or replace temp table persons as select person, (row_number() over (order by min(cell)) - 1)::int as "
        f"code from ({known}) group by person"
    )
    session.ask(
        f"create or replace temp table people as select cell, cell as stated, code from ({known}) join persons using "
        "(person)"
    )
    n_people = int(session.ask("select count(*) from persons")[0][0])
    for table in ("ids", "normal", "persons"):
        session.ask(f"drop table {table}")
    return n_people


def _load_normal(session: DuckSession, people: People) -> None:
    """Make the table `normal`: the person of each id that is not its own normal form, some ids at a time."""
    import polars as pl

    odd = f"not regexp_matches(cell, '{NORMAL}') or list_contains(?, cell)"
    session.ask("create or replace temp table normal (cell varchar, person varchar)")
    session.ask(
        f"create or replace temp table odd as select cell from ids where {odd}", [list(absent_ids(people.missing))]
    )
    part = session.folder / "normal.parquet"
    with session.stored("select cell from odd", in_order=False) as stored:
        ids, first = pl.scan_parquet(stored, glob=False), 0
        while (frame := ids.slice(first, SLICE_ROWS).collect()).height:
            first += frame.height
            session.save(frame.with_columns(persons_of(frame["cell"], people.missing).alias("person")), part)
            session.ask(f"insert into normal select * from read_parquet({literal(part)})")
            part.unlink()
    session.ask("drop table odd")


def count_sizes(
    engine: Engine, names: Sequence[str], people: People | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many rows, or people, combinations of cells have, and how many combinations have as many."""
    columns, counted = ", ".join(f"c{engine.names.index(name)}" for name in names), "cells"
    if people is not None:
        load_people(engine, people)
        own = f"people.cell = cells.c{engine.names.index(people.name)}"
        counted = f"(select distinct {columns}, code from cells join people on {own})"
    groups = f"select count(*)::bigint as n from {counted} group by {columns}"
    found = engine.session.fetch(f"select n, count(*)::bigint as times from ({groups}) group by n").sort("n")
    return found["n"].to_numpy().astype(np.int64), found["times"].to_numpy().astype(np.int64)


class MetIds:
    """Ids that are stated with blocks of rows. They are forgotten once those of later rows were asked for.

    A place counts the distinct ids of all blocks before, and those of its own block.
    """

    def __init__(self) -> None:
        self._parts: deque[tuple[int, pl.Series]] = deque()  # the first place of each block, and its ids
        self._n_met = 0

    def places(self, ids: pl.Series) -> NDArray[np.int64]:
        """Return the places of the ids of the next block."""
        import polars as pl

        distinct = ids.unique()
        first, self._n_met = self._n_met, self._n_met + len(distinct)
        self._parts.append((first, distinct))
        own: NDArray[np.int64] = ids.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
        return own + first

    def gather(self, places: NDArray[np.int64]) -> list[str]:
        """Return the ids at ascending places; none before the first of them is asked for again."""
        while len(self._parts) > 1 and len(places) and self._parts[1][0] <= places[0]:
            self._parts.popleft()
        found: list[str] = []
        for first, ids in self._parts:
            own = places[(places >= first) & (places < first + len(ids))] - first
            found += ids.gather(own).to_list()
        return found
