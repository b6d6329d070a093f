"""A table in memory as a source: read from a file, or made from a frame."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import Note
from shoal.schema import Dialect
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources.base import SAMPLE, DistinctRows, Facts, Recoding, Rows, Verifier
from shoal.tables.sources.url import is_file_url, parse_file_url
from shoal.tables.table import Table
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TableSource", "sign_file"]

BLOCK_ROWS = 50_000
BLOCK_BYTES = 1 << 20


class TableSource:
    """A `Table`, read from a file when the source is opened or made before; see `Source` for the methods."""

    in_memory = True

    def __init__(
        self,
        table: Table | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Name the table or its file.

        Args:
            table: The table; None if it is still to be read.
            path: The file to read, or the URL of a table in a file of SQLite or DuckDB.
            options: How to read it: keyword arguments of `read_table`.
        """
        self._table = table
        self._place = "the frame" if table is not None and table.path is None else str(path or (table and table.path))
        self._named = path
        if table is not None:
            self._path = table.path
        else:
            self._path = parse_file_url(path).path if isinstance(path, str) and is_file_url(path) else Path(path or "")
        self._options = dict(options or {})

    @property
    def table(self) -> Table:
        """The table."""
        assert self._table is not None, "the source is closed"
        return self._table

    @property
    def place(self) -> str:
        """The path of the file, or "the frame"."""
        return self._place

    @property
    def path(self) -> Path | None:
        """The file."""
        return self._path

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.table.names

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was detected or noticed on reading."""
        return self.table.notes

    @property
    def dialect(self) -> Dialect | None:
        """How a text file is written; None for any other source."""
        return self.table.dialect

    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> AbstractContextManager[TableSource]:
        """Read the file, unless that was done before."""
        if self._table is None:
            from shoal.tables.formats import read_table

            assert self._named is not None
            watch.stage("reading")
            self._table = read_table(self._named, **self._options, watch=watch)
        return nullcontext(self)

    def check(self, names: Sequence[str]) -> None:
        """Do nothing: every cell is text already."""

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns."""
        import polars as pl

        columns = {f"c{i}": self.table.frame[name] for i, name in enumerate(names)}
        frame = pl.DataFrame(columns).group_by(list(columns)).agg(pl.len().alias("n"))
        cells = frame.drop("n")
        counts = frame["n"].to_numpy().astype(np.int64)
        return DistinctRows(cells.rename(dict(zip(cells.columns, names, strict=True))), counts)

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return the figures of one column; a rare value occurs in fewer than k rows."""
        texts, counts = self.table.factor(name).texts, self.table.counts(name)
        absent = int(counts[texts.is_in(list(missing)).to_numpy()].sum())
        return Facts(tuple(texts.head(SAMPLE)), len(texts), int((counts < k).sum()), absent)

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""
        return self.table.frame.iter_slices(BLOCK_ROWS)

    def read(self) -> Table:
        """Return the table."""
        return self.table

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""
        import polars as pl

        frame = self.table.frame.select(recoding.names)
        for name, texts in recoding.maps.items():
            labels = pl.Series(texts.values(), dtype=pl.String)
            cells = frame[name].replace_strict(pl.Series(texts.keys(), dtype=pl.String), labels, default=None)
            frame = frame.with_columns(cells.alias(name)).filter(cells.is_not_null())
        if recoding.kept is not None:
            labels_kept = list(zip(*recoding.kept, strict=True)) or [()] * len(recoding.maps)
            columns = {name: list(column) for name, column in zip(recoding.maps, labels_kept, strict=True)}
            groups = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
            frame = frame.join(groups, on=list(recoding.maps), how="semi")
        write_csv(frame.sort(recoding.names), path)

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the original, block by block."""
        if self.path is not None and self.table.sheet is None and verifier.can_read(self.path):
            return verifier.source_rows(self.path, self.table.dialect or Dialect(), names)
        return (list(map(list, block.select(names).iter_rows())) for block in self.blocks())

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Have the verifier read the file again; a frame, or a file that only we can read, is passed on as text."""
        if self.path is not None and verifier.can_read(self.path):
            return verifier.read_original(self.path, self.table.dialect or Dialect(), self.table.sheet, step)
        return {name: self.table.frame[name].to_list() for name in self.names}

    def guarded(self) -> AbstractContextManager[None]:
        """Do nothing: no engine is involved."""
        return nullcontext()

    def check_unchanged(self) -> None:
        """Raise an InputError if the file changed since it was read."""
        self.table.check_unchanged()

    def signature(self, key: bytes) -> str:
        """Return the keyed hash of the file, or of a frame as CSV."""
        if self.path is not None:
            return sign_file(self.path, key)
        return hmac.new(key, self.table.frame.write_csv().encode(), "sha256").hexdigest()

    def identity(self) -> None:
        """Return None: the table is not in a database."""

    def dealer(self) -> None:
        """Return None: the rows are in memory."""

    def snapshot(self) -> None:
        """Return None: the table is not in a database."""


def sign_file(path: Path, key: bytes) -> str:
    """Return the keyed hash of a file."""
    digest = hmac.new(key, digestmod=hashlib.sha256)
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
