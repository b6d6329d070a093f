"""The columns of a file whose rows DuckDB deals: what groups show, and what is released as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.tables.sources.base import Change, Dealing
from shoal.tables.sources.duck_session import DuckSession, literal
from shoal.tables.sources.numbering import Numbering
from shoal.tables.table import factorize

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FileColumn", "Other", "file_columns"]

BLOCK_TEXTS = 200_000  # distinct cells of a column that are given another form at once


class Engine(Protocol):
    """What the columns ask of their source."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def session(self) -> DuckSession:
        """The open DuckDB."""

    def numbering(self, name: str) -> Numbering | None:
        """Return what the numbers of a column mean; None if it is stored as text."""


class FileColumn(NamedTuple):
    """A column of the file.

    Attributes:
        name: Its name there.
        of: The released column that it shows.
        change: What gives its cells another form; None if they are as they are.
        texts: The distinct cells that groups show, sorted; none if groups do not show the column.
        ranks: The place of each group's cell among them; None if groups do not show the column.
    """

    name: str
    of: str
    change: Change | None
    texts: pl.Series
    ranks: NDArray[np.int32] | None

    def cells(self, groups: NDArray[np.int32]) -> pl.Series:
        """Return the cells of rows by their groups."""
        assert self.ranks is not None
        return self.texts.gather(self.ranks[groups])


def file_columns(dealing: Dealing) -> list[FileColumn]:
    """Return the columns of the file, in order."""
    import polars as pl

    columns = []
    for name in dealing.names:
        forms: list[tuple[str, Change | None]] = [*dealing.layout.columns.get(name, ())] or [(name, None)]
        for shown_as, change in forms:
            if name not in dealing.cells:
                columns.append(FileColumn(shown_as, name, change, pl.Series(dtype=pl.String), None))
                continue
            texts, ranks = dealing.cells[name]
            if change is not None:
                places, texts = factorize(pl.Series(change(texts.to_list()), dtype=pl.String))
                ranks = places[ranks]
            columns.append(FileColumn(shown_as, name, change, texts, ranks))
    return columns


@dataclass(frozen=True)
class Other:
    """A column that groups do not show, in queries: ranks of its cells, or texts if they are too many.

    Attributes:
        table: The table of its distinct cells.
        kept: The column of what the source has.
        texts: The texts that its ranks mean; None if it has texts.
        shown: The column of what the file has.
        shown_texts: The texts that its ranks mean; None if it has texts.
    """

    table: str
    kept: str
    texts: pl.Series | None
    shown: str
    shown_texts: pl.Series | None

    @classmethod
    def make(cls, engine: Engine, j: int, name: str, change: Change | None) -> Other:
        """Make the table d{j}: the rank, or the text, of each distinct cell in the source and in the file."""
        import polars as pl

        numbering, shown = engine.numbering(name), f"o{j}" if change is None else f"f{j}"
        if numbering is None:
            column = f"c{engine.names.index(name)}"
            distinct = f"select distinct {column} as cell, {column} as o{j} from cells"
            if change is None:
                engine.session.ask(f"create or replace temp table d{j} as {distinct}")
            else:
                _load_changed(engine.session, f"d{j}", distinct, f"o{j}", shown, change)
            return cls(f"d{j}", f"o{j}", None, shown, None)
        texts, ranks = numbering.ranks()
        known = {"cell": np.arange(len(ranks), dtype=np.int32), f"o{j}": ranks}
        shown_texts = texts
        if change is not None:
            places, shown_texts = factorize(pl.Series(change(texts.to_list()), dtype=pl.String))
            known[shown] = places[ranks]
        engine.session.load(f"d{j}", pl.DataFrame(known))
        return cls(f"d{j}", f"o{j}", texts, shown, shown_texts)

    @property
    def n_shown(self) -> int:
        """The number of distinct cells in the file; 0 if they are not known."""
        return 0 if self.shown_texts is None else len(self.shown_texts)

    def cells(self, frame: pl.DataFrame) -> pl.Series:
        """Return the cells of rows in the file."""
        column = frame[self.shown]
        return column if self.shown_texts is None else self.shown_texts.gather(column)

    def originals(self, frame: pl.DataFrame) -> pl.Series:
        """Return the cells of rows in the source."""
        column = frame[self.kept]
        return column if self.texts is None else self.texts.gather(column)


def _load_changed(session: DuckSession, table: str, query: str, kept: str, shown: str, change: Change) -> None:
    """Make a table of distinct texts beside their other form, some of them at a time."""
    import polars as pl

    paths: list[Path] = []
    with session.stored(query, in_order=False) as stored:
        texts = pl.scan_parquet(stored, glob=False)
        while (frame := texts.slice(len(paths) * BLOCK_TEXTS, BLOCK_TEXTS).collect()).height:
            changed = pl.Series(shown, change(frame[kept].to_list()), dtype=pl.String)
            paths.append(session.folder / f"{table}-{len(paths)}.parquet")
            session.save(frame.with_columns(changed), paths[-1])
    files = ", ".join(map(literal, paths))
    session.ask(f"create or replace temp table {table} as select * from read_parquet([{files}])")
    for path in paths:
        path.unlink()
