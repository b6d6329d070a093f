"""Columns that are released unchanged and reveal a quasi-identifier, found in a sample of rows that DuckDB draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Note
from shoal.profile.columns import Coded
from shoal.release import notes
from shoal.schema import Role, Schema
from shoal.tables.sources.base import Source
from shoal.tables.sources.dealing import SLICE_ROWS, Engine
from shoal.tables.sources.duck_session import literal

if TYPE_CHECKING:
    import polars as pl

__all__ = ["revealing_in"]


def revealing_in(source: Source, schema: Schema) -> Callable[[], list[Note]] | None:
    """Return what finds the columns of a source that reveal others, by the rows that the memory engine looks at.

    Args:
        source: The table.
        schema: All of its columns.

    Returns:
        A function that looks once; None if the engine is not DuckDB.
    """
    if not isinstance(source, Engine):
        return None
    engine = source

    @cache
    def find() -> list[Note]:
        released = [column.name for column in schema.released]
        if len(released) == len(schema.qi):
            return []
        person = next(iter(schema.names(Role.PERSON)), None)
        sizes = [_load_ranks(engine, i, name) for i, name in enumerate(released)]
        with _ranked(engine, released, person) as path:
            rows = _sample(engine, path, len(released), by_person=person is not None)
        codes = (rows[f"k{i}"].to_numpy().astype(np.int64) for i in range(len(released)))
        coded = {name: Coded(own, size) for name, own, size in zip(released, codes, sizes, strict=True)}
        return notes.about_revealing(coded, schema)

    return find


def _load_ranks(engine: Engine, i: int, name: str) -> int:
    """Make the table v{i}: the rank of each distinct cell of a column; return their number."""
    import polars as pl

    if (numbering := engine.numbering(name)) is not None:
        texts, ranks = numbering.ranks()
        numbers = np.arange(len(ranks), dtype=np.int32)
        engine.session.load(f"v{i}", pl.DataFrame({"cell": numbers, "rank": ranks}))
        return len(texts)
    cells = f"select distinct c{engine.names.index(name)} as cell from cells"
    engine.session.ask(
        f"create or replace temp table v{i} as select cell, (row_number() over (order by cell) - 1)::int as rank "
        f"from ({cells})"
    )
    return int(engine.session.ask(f"select count(*) from v{i}")[0][0])


@contextmanager
def _ranked(engine: Engine, names: list[str], person: str | None) -> Iterator[Path]:
    """Store the ranks of all rows as k0, k1 and so on, beside their line, and the person."""
    joins = [f"join v{i} on v{i}.cell = t.c{engine.names.index(name)}" for i, name in enumerate(names)]
    columns = ["t.line", *(f"v{i}.rank as k{i}" for i in range(len(names)))]
    columns += [f"t.c{engine.names.index(person)} as person"] if person is not None else []
    path = engine.session.store(
        f"select {', '.join(columns)} from cells as t {' '.join(joins)}", "looked", in_order=False
    )
    try:
        yield path
    finally:
        path.unlink()
        for i in range(len(names)):
            engine.session.ask(f"drop table v{i}")


def _sample(engine: Engine, path: Path, n_columns: int, *, by_person: bool) -> pl.DataFrame:
    """Return the rows to look at, one of each person; see `shoal.release.notes`."""
    import polars as pl

    session, rows = engine.session, pl.scan_parquet(path, glob=False)
    n_rows = int(rows.select(pl.len()).collect().item())
    if n_rows // notes.SAMPLE_ROWS < 2 and not by_person:
        return rows.collect()
    parts: list[Path] = []
    while (frame := rows.slice(len(parts) * SLICE_ROWS, SLICE_ROWS).collect()).height:
        mixed = notes.mix([frame[f"k{i}"].to_numpy() for i in range(n_columns)])
        kept = frame.select("line", *(["person"] if by_person else [])).with_columns(mixed=pl.Series(mixed))
        parts.append(session.folder / f"mixed-{len(parts):06}.parquet")
        session.save(kept, parts[-1])
    found = f"select line, mixed from read_parquet([{', '.join(map(literal, parts))}])"
    if by_person:
        found += " qualify row_number() over (partition by person order by mixed) = 1"
    session.ask(f"create or replace temp table mixed as {found}")
    step = max(1, int(session.ask("select count(*) from mixed")[0][0]) // notes.SAMPLE_ROWS)
    places = "select line, row_number() over (order by mixed) - 1 as place from mixed"
    chosen = session.fetch(f"select line from ({places}) where place % {step} = 0")["line"]
    session.ask("drop table mixed")
    for part in parts:
        part.unlink()
    return rows.filter(pl.col("line").is_in(chosen.implode())).collect()
