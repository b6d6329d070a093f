"""People in DuckDB: a table of ids and codes, which Python never has as a whole if there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.tables.sources.duck_session import literal
from shoal.tables.values.people import NORMAL, People, absent_ids, person_codes, persons_of

if TYPE_CHECKING:
    from shoal.tables.sources.dealing import Engine
    from shoal.tables.sources.duck_session import DuckSession

__all__ = ["all_ids", "load_people"]

SLICE_ROWS = 100_000  # ids that are normalised at once


def load_people(engine: Engine, people: People) -> int:
    """Make the table `people`, unless it is there: cells, their places among all in order, and codes of people.

    The codes are those of `person_codes`.

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
        session.load("people", pl.DataFrame({"cell": numbers, "place": ranks, "code": codes[ranks]}))
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
        "create or replace temp table people as select cell, (row_number() over (order by cell) - 1)::int as place, "
        f"code from ({known}) join persons using (person)"
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


def all_ids(engine: Engine, name: str) -> list[str]:
    """Return the distinct cells of a column, in order."""
    if numbering := engine.numbering(name):
        texts: list[str] = numbering.ranks()[0].to_list()
        return texts
    column = f"c{engine.names.index(name)}"
    ids: list[str] = engine.session.fetch(f"select distinct {column} as cell from cells")["cell"].sort().to_list()
    return ids
