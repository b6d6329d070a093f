"""Tables of databases that DuckDB counts: read once, block by block, into a private copy.

The database is only read. The verifier reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InternalError
from shoal.schema import Dialect
from shoal.tables.formats.blocks import Blocks
from shoal.tables.formats.database_file import DatabaseBlocks
from shoal.tables.sources.base import Rows, Verifier
from shoal.tables.sources.duck_session import DISK_OF_CELL, DISK_OF_TEXT, LEAST_MEMORY
from shoal.tables.sources.duckdb import DuckSource
from shoal.tables.sources.postgres import PostgresSource
from shoal.tables.sources.session import ask
from shoal.tables.sources.url import FileTable, TableURL
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DatabaseFileSource", "ServerSource"]


class _Copied(DuckSource):
    """A table of a database, copied to a private folder and counted there; see `Source` for the methods."""

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Refuse: the rows are not in memory."""
        raise InternalError("rows of a copied table were asked for.")

    def verify_table(self, verifier: Verifier) -> Any:
        """Have the verifier read the table block by block, as codes."""

        def columns(names: Sequence[str]) -> Iterator[list[tuple[str, ...]]]:
            return (list(zip(*block, strict=True)) for block in self.verify_rows(verifier, names) if block)

        return verifier.SourceTable(columns, Dialect())


class DatabaseFileSource(_Copied):
    """A table or view in a file of SQLite or DuckDB."""

    def __init__(
        self, table: FileTable, *, memory: int | None = None, threads: int = 1, numbered: Sequence[str] = ()
    ) -> None:
        """Describe the source; `opened` reads the table.

        Args:
            table: The file and the table.
            memory: The largest number of bytes of memory to use.
            threads: The number of threads to use.
            numbered: Columns whose distinct cells are kept in memory, however many they are.
        """
        super().__init__(table.path, memory=memory, threads=threads, numbered=numbered)
        self._url = table
        self._n_cells = 0

    @property
    def place(self) -> str:
        """The URL."""
        return self._url.shown

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Read the file again: the verifier has no reader of such files."""
        blocks = DatabaseBlocks(self._url, memory=LEAST_MEMORY)
        return (list(map(list, frame.select(names).iter_rows())) for frame in blocks.frames())

    def _open_blocks(self, watch: Watch) -> Blocks:
        blocks = DatabaseBlocks(self._url, watch, LEAST_MEMORY)
        self._n_cells = blocks.n_cells

        def frames() -> Iterator[pl.DataFrame]:
            yield from blocks.frames()
            self._notes = blocks.notes()

        return Blocks(blocks.names, frames(), (), blocks.stamp, None)

    def _disk_needed(self) -> int:
        return DISK_OF_CELL * self._n_cells or DISK_OF_TEXT * self._url.path.stat().st_size


class ServerSource(_Copied):
    """A table of a PostgreSQL server, read in one transaction, which sees one state of it."""

    def __init__(
        self, url: TableURL, *, memory: int | None = None, threads: int = 1, numbered: Sequence[str] = ()
    ) -> None:
        """Describe the source; `opened` reads the table.

        Args:
            url: The server, the database and the table.
            memory: The largest number of bytes of memory to use.
            threads: The number of threads to use.
            numbered: Columns whose distinct cells are kept in memory, however many they are.
        """
        super().__init__(Path(url.table), memory=memory, threads=threads, numbered=numbered)
        self._server = PostgresSource(url)

    @contextmanager
    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> Iterator[DuckSource]:
        """Begin the transaction, copy the cells of the table to the folder and open DuckDB over them."""
        with self._server.opened(folder, watch), super().opened(folder, watch):
            yield self

    @property
    def place(self) -> str:
        """The URL without its password."""
        return self._server.place

    @property
    def path(self) -> None:
        """None: the table is not a file."""
        return None

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the table, block by block."""
        return self._server.verify_rows(verifier, names)

    def check_unchanged(self) -> None:
        """Check that the transaction, which sees one state of the table, is still open."""
        self._server.check_unchanged()

    def signature(self, key: bytes) -> str:
        """Refuse: a table of a database has no bytes to hash."""
        return self._server.signature(key)

    def identity(self) -> tuple[object, ...]:
        """Return what distinguishes the table from all others."""
        return self._server.identity()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of the server and of DuckDB, whose text may contain cells, into a FileError."""
        with self._server.guarded(), super().guarded():
            yield

    def _open_blocks(self, watch: Watch) -> Blocks:
        return Blocks(self._server.names, self._server.blocks(), self._server.notes, None, None)

    def _disk_needed(self) -> int:
        """Estimate the bytes that a run needs on disk, by the number of rows that the server remembers."""
        server = self._server
        with server.guarded():
            known = ask(server.connection, "select reltuples from pg_class where oid = %s", (server.relation.oid,))
        return DISK_OF_CELL * max(0, int(known[0][0])) * len(server.names)
