"""Tables and views in files of SQLite and DuckDB, opened read-only; every cell becomes the text of its value.

SQLite stores whatever it is given: a text may stand in a column of integers. Such a cell keeps its text, the column is
read as text, and a note says so. Nothing is downloaded, and a view cannot read other files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shoal.errors import FileError, InputError, Note, counted, file_path, join_problems
from shoal.tables.csv import check_file
from shoal.tables.formats.memory_limit import available_memory, check_memory, refuse_expansion
from shoal.tables.sources.url import FileTable
from shoal.tables.table import LONGEST_CELL, Stamp, Table, check_cells, check_names, check_width, make_table
from shoal.tables.typed_text import ADVICE, cell_text, float32_text, ticks_text
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["DatabaseBlocks", "read_database_file"]

MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
TITLES = {"sqlite": "an SQLite database", "duckdb": "a DuckDB database"}
BLOCK_ROWS = 10_000
BLOCK_BYTES = 1 << 23
STEPS = 10_000  # of SQLite's machine between two looks at whether the run was cancelled
SHARE = 0.5  # of the memory for DuckDB
LEAST_MEMORY = 200_000_000  # DuckDB cannot start with less
UNREADABLE = "it is damaged, encrypted, in use by another program or of an unknown version"
LISTED = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
PLAIN = (*INTEGERS, "HUGEINT", "UHUGEINT", "BOOLEAN", "DOUBLE", "DATE", "TIME", "VARCHAR", "UUID", "FLOAT")

Text = Callable[[Any], str]


def read_database_file(place: FileTable, watch: Watch = UNWATCHED) -> Table:
    """Read a table or view.

    Args:
        place: The file and the table.
        watch: Hears of progress and may cancel.

    Raises:
        InputError: The file is not such a database, has no such table, or has a column or cell without a text.
        FileError: The file cannot be read, or the table does not fit into memory.
    """
    stamp, collector = _begin(place, watch)
    for _ in _blocks(place, collector, watch):
        pass
    if Stamp.of(place.path) != stamp:
        raise InputError(f"{place.shown}: the file changed while it was read. Run again when nothing writes to it.")
    if not collector.n_rows:
        raise InputError(f"{place.shown}: no data rows.")
    columns = collector.columns()
    notes = (_about(place, len(columns)), *collector.notes())
    return make_table(columns, place.shown, path=place.path, stamp=stamp, notes=notes, types=collector.types())


class DatabaseBlocks:
    """A table or view as blocks of rows, of which one at a time is in memory; they can be read only once.

    Args:
        place: The file and the table.
        watch: Hears of progress and may cancel.
        memory: The memory of DuckDB in bytes; by default a share of what is available.

    Attributes:
        names: Names of the columns.
        stamp: The state of the file when it was opened.
        n_cells: The number of cells, if it is known.
    """

    def __init__(self, place: FileTable, watch: Watch = UNWATCHED, memory: int | None = None) -> None:
        self.stamp, self._collector = _begin(place, watch, keeps=False, memory=memory)
        self._place = place
        self._blocks = _blocks(place, self._collector, watch)
        self._first = next(self._blocks, None)
        self.names = tuple(self._collector.names)
        self.n_cells = self._collector.n_cells
        self._of_names = check_names(list(self.names), place.shown)

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows."""
        import polars as pl

        block = self._first
        while block is not None:
            check_cells(block, self._place.shown)
            yield pl.DataFrame([cells.alias(name) for cells, name in zip(block, self.names, strict=True)])
            block = next(self._blocks, None)

    def notes(self) -> tuple[Note, ...]:
        """Return what was detected or noticed, after all rows were read."""
        return (_about(self._place, len(self.names)), *self._collector.notes(), *self._of_names)


def _begin(
    place: FileTable, watch: Watch, *, keeps: bool = True, memory: int | None = None
) -> tuple[Stamp, _Collector]:
    if not place.path.exists() and (absolute := Path("/") / place.path).exists():
        raise FileError(
            f"{place.path}: no such file. Write an absolute path with four slashes: {place.engine}:///{absolute}?..."
        )
    stamp = check_file(place.path)
    _check_magic(place)
    return stamp, _Collector(place, stamp.size, watch, keeps=keeps, memory=memory)


def _blocks(place: FileTable, collector: _Collector, watch: Watch) -> Iterator[list[pl.Series]]:
    return _read_sqlite(place, collector, watch) if place.engine == "sqlite" else _read_duckdb(place, collector)


def _about(place: FileTable, n_columns: int) -> Note:
    about = f"{TITLES[place.engine]}, table {place.table!r}, {counted(n_columns, 'column')}"
    return Note(file_path(place.path), about)


def _check_magic(place: FileTable) -> None:
    offset, magic = MAGIC[place.engine]
    try:
        with open(place.path, "rb") as file:
            head = file.read(offset + len(magic))
    except OSError as error:
        raise FileError(f"{place.path}: cannot be read: {error.strerror}.") from None
    if head[offset:] != magic:
        raise InputError(f"{place.path}: is not {TITLES[place.engine]}. Name another file.")


class _Collector:
    """Turns rows into columns of text, and keeps them within the memory that is available.

    Args:
        place: The file and the table.
        size: The size of the file.
        watch: Hears of progress and may cancel.
        keeps: Whether rows are kept.
        memory: The memory of DuckDB in bytes; by default a share of what is available.

    Attributes:
        names: Names of the columns.
        keeps: Whether rows are kept.
        memory: The memory of DuckDB in bytes.
        n_rows: The number of rows so far.
        n_cells: The number of cells, if it is known beforehand.
        known_types: Types of columns that a database states.
    """

    def __init__(
        self, place: FileTable, size: int, watch: Watch, *, keeps: bool = True, memory: int | None = None
    ) -> None:
        self._place, self._size, self._watch = place, size, watch
        self.keeps, self.n_cells = keeps, 0
        available = available_memory()
        self.memory = memory if memory is not None or available is None else int(available * SHARE)
        self.known_types: dict[str, Any] = {}
        self.names: list[str] = []
        self._texts: list[Text] = []
        self._blocks: list[list[pl.Series]] = []
        self._kinds: list[set[type]] = []
        self._odd: list[int] = []
        self._declared: list[str] = []
        self._n_bytes = self.n_rows = 0

    def begin(self, names: Sequence[str], texts: Sequence[Text], declared: Sequence[str] = ()) -> None:
        """Say which columns follow, how their cells become text, and what SQLite declares about them."""
        check_width(len(names), self._place.shown)
        self.names, self._texts, self._declared = list(names), list(texts), list(declared)
        self._kinds, self._odd = [set() for _ in names], [0] * len(names)

    def add(self, rows: Sequence[Sequence[Any]]) -> list[pl.Series]:
        """Add a block of rows; return its columns."""
        import polars as pl

        self._watch.check()
        block = []
        for position, cells in enumerate(zip(*rows, strict=True)):
            self._kinds[position] |= set(map(type, cells))
            if self._declared and "INT" in self._declared[position]:
                self._odd[position] += sum(type(cell) is str for cell in cells)
            text = self._texts[position]
            try:
                column = pl.Series([text(cell) for cell in cells], dtype=pl.String)
            except UnicodeError:
                raise InputError(
                    f"{self._place.shown}: column {self.names[position]!r} contains text that is not valid Unicode. "
                    "Correct it first."
                ) from None
            self._n_bytes += int(column.str.len_bytes().sum())
            block.append(column)
        self.n_rows += len(rows)
        n_cells = self.n_rows * len(self.names)
        refuse_expansion(self._place.path, self._size, self._n_bytes + n_cells)
        if self.keeps:
            self._blocks.append(block)
            check_memory(self._place.path, self._n_bytes, n_cells)
        return block

    def columns(self) -> dict[str, pl.Series]:
        """Return the columns."""
        import polars as pl

        return {name: pl.concat([b[i] for b in self._blocks]).alias(name) for i, name in enumerate(self.names)}

    def types(self) -> dict[str, Any]:
        """Return the types that a database states, and of SQLite those of columns of integers or of floats alone."""
        import polars as pl

        types = dict(self.known_types)
        if self._place.engine == "duckdb":
            return types
        for name, kinds in zip(self.names, self._kinds, strict=True):
            if (known := kinds - {type(None)}) in ({int}, {float}):
                types[name] = pl.Int64 if known == {int} else pl.Float64
        return types

    def notes(self) -> Iterator[Note]:
        """Note the columns of integers in which SQLite found texts."""
        for name, count in zip(self.names, self._odd, strict=True):
            if count:
                text = "is declared as integers, but {cells:cell is|cells are} text; all are read as they are"
                yield Note(f"column {name!r}", text, counts={"cells": count})


# ---- SQLite


def _read_sqlite(place: FileTable, collector: _Collector, watch: Watch) -> Iterator[list[pl.Series]]:
    journal = place.path.with_name(f"{place.path.name}-wal")
    # Without changes in a journal, SQLite need not make files beside the database to read it.
    mode = "mode=ro" if journal.exists() and journal.stat().st_size else "immutable=1"
    uri = f"file:{quote(str(place.path.absolute()))}?{mode}"
    with _guarded_sqlite(place, watch), closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.text_factory = _decoded
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
        connection.set_progress_handler(watch.cancelled, STEPS)
        for safety in ("query_only = on", "trusted_schema = off", "cell_size_check = on"):
            connection.execute(f"pragma {safety}")
        tables = [name for (name,) in connection.execute(LISTED)] if place.schema in (None, "main") else []
        _find_table(place, tables)
        name = ".".join(_quoted(part) for part in (place.schema, place.table) if part is not None)
        # A view has no declared types of its own; the pragma knows those that it passes on.
        listed = connection.execute("select name, type from pragma_table_info(?)", (place.table,))
        declared = {column: str(kind).upper() for column, kind in listed}
        cursor = connection.execute(f"select * from {name}")
        names = [column[0] for column in cursor.description]
        texts = [_sqlite_text(column, place) for column in names]
        collector.begin(names, texts, [declared.get(column, "") for column in names])
        rows: list[tuple[Any, ...]] = []
        n_bytes = 0
        for row in cursor:
            rows.append(row)
            n_bytes += sum(len(cell) for cell in row if isinstance(cell, str))
            if len(rows) == BLOCK_ROWS or n_bytes > BLOCK_BYTES:
                yield collector.add(rows)
                rows, n_bytes = [], 0
        if rows:
            yield collector.add(rows)


def _decoded(raw: bytes) -> str:
    """Decode a text; the error of SQLite's own decoding would show the cell."""
    return raw.decode("utf-8", "surrogateescape")


def _sqlite_text(column: str, place: FileTable) -> Text:
    def text(cell: Any) -> str:
        if isinstance(cell, bytes):
            raise InputError(f"{place.shown}: column {column!r} contains a BLOB, which has no text. {ADVICE}")
        return cell_text(cell)

    return text


@contextmanager
def _guarded_sqlite(place: FileTable, watch: Watch) -> Iterator[None]:
    """Replace errors of SQLite, whose texts may contain cells."""
    try:
        yield
    except (sqlite3.Error, UnicodeError) as error:
        watch.check()
        if isinstance(error, sqlite3.DataError) or getattr(error, "sqlite_errorname", "") == "SQLITE_TOOBIG":
            raise InputError(f"{place.shown}: a cell has more than {LONGEST_CELL >> 20} MB. {ADVICE}") from None
        raise InputError(f"{place.shown}: cannot be read as {TITLES['sqlite']}: {UNREADABLE}.") from None


# ---- DuckDB


def _read_duckdb(place: FileTable, collector: _Collector) -> Iterator[list[pl.Series]]:
    import duckdb

    config: dict[str, Any] = {
        "threads": 1,
        "temp_directory": "",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if collector.memory is not None:
        config["memory_limit"] = f"{max(LEAST_MEMORY, collector.memory)}B"
    with _guarded_duckdb(place), closing(duckdb.connect(place.path, read_only=True, config=config)) as connection:
        connection.execute("set enable_external_access = false")  # a view could read any file
        connection.execute("set lock_configuration = true")
        listed = "select schema_name, name from ({}) where not internal and database_name = current_database()"
        parts = ["select schema_name, table_name as name, internal, database_name from duckdb_tables()"]
        parts.append(parts[0].replace("table", "view"))
        tables = connection.execute(listed.format(" union all ".join(parts))).fetchall()
        wanted = place.schema or "main"
        _find_table(place, [name if schema == wanted else f"{schema}.{name}" for schema, name in tables])
        name = ".".join(_quoted(part) for part in (place.schema, place.table) if part is not None)
        described = connection.execute(f"describe select * from {name}").fetchall()
        names, kinds = [row[0] for row in described], [str(row[1]) for row in described]
        _check_types(place, names, kinds)
        rows_per_block = _check_cells(connection, place, name, (names, kinds), collector)
        cells = [_duckdb_column(_quoted(column), kind) for column, kind in zip(names, kinds, strict=True)]
        collector.begin(names, [text for _, text in cells])
        connection.execute(f"select {', '.join(expression for expression, _ in cells)} from {name}")
        types = ((name, _polars_type(kind)) for name, kind in zip(names, kinds, strict=True))
        collector.known_types = {name: dtype for name, dtype in types if dtype is not None}
        while rows := connection.fetchmany(rows_per_block):
            yield collector.add(rows)


def _check_cells(
    connection: duckdb.DuckDBPyConnection,
    place: FileTable,
    table: str,
    columns: tuple[Sequence[str], Sequence[str]],
    collector: _Collector,
) -> int:
    """Refuse dates without a text, and texts that do not fit into memory; return how many rows to fetch at once.

    Nothing is fetched before: a compressed column may hold one long text for very many rows.
    """
    names, kinds = columns
    dated = [_quoted(n) for n, kind in zip(names, kinds, strict=True) if kind.startswith(("DATE", "TIMESTAMP"))]
    odd = "".join(f" or not isfinite({date}) or year({date}) not between 1 and 9999" for date in dated)
    if connection.execute(f"select 1 from {table} where false{odd} limit 1").fetchone():
        raise OverflowError
    lengths = [f"strlen({_quoted(n)})" for n, kind in zip(names, kinds, strict=True) if kind == "VARCHAR"]
    sums = "".join(f", coalesce(sum({length}), 0), coalesce(max({length}), 0)" for length in lengths)
    n_rows, *sizes = connection.execute(f"select count(*){sums} from {table}").fetchone() or (0,)
    n_bytes, n_cells = int(sum(sizes[::2])), int(n_rows) * len(names)
    if max(sizes[1::2], default=0) > LONGEST_CELL:
        raise InputError(f"{place.shown}: a cell has more than {LONGEST_CELL >> 20} MB. {ADVICE}")
    refuse_expansion(place.path, place.path.stat().st_size, n_bytes + n_cells)
    collector.n_cells = n_cells
    if collector.keeps:
        check_memory(place.path, n_bytes, n_cells)
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES * int(n_rows) // max(1, n_bytes)))


def _check_types(place: FileTable, names: Sequence[str], kinds: Sequence[str]) -> None:
    def is_supported(kind: str) -> bool:
        return kind in PLAIN or (kind.startswith(("DECIMAL(", "ENUM(", "TIMESTAMP")) and not kind.endswith("]"))

    problems = [
        f"{place.shown}: column {name!r} has type {kind.partition('(')[0]}. {ADVICE}"
        for name, kind in zip(names, kinds, strict=True)
        if not is_supported(kind)
    ]
    if problems:
        raise InputError(join_problems(problems))


def _duckdb_column(column: str, kind: str) -> tuple[str, Text]:
    """Return what to select for a column, and how a cell of it becomes text."""
    if kind.startswith("TIMESTAMP"):  # as ticks: a Python datetime has no nanoseconds
        zoned, unit = "ZONE" in kind, 9 if kind.endswith("NS") else 6
        expression = f"epoch_{'ns' if unit == 9 else 'us'}({column})"
        return expression, lambda ticks: "" if ticks is None else ticks_text(ticks, 10**unit, zoned)
    if kind == "FLOAT":
        return column, lambda cell: "" if cell is None or cell != cell else float32_text(cell)
    return column, cell_text


def _polars_type(kind: str) -> Any:
    import polars as pl

    if kind in INTEGERS:
        bits, sign = 8 << INTEGERS.index(kind) % 4, "U" * (INTEGERS.index(kind) > 3)
        return getattr(pl, f"{sign}Int{bits}")
    if kind.startswith("DECIMAL("):
        return pl.Decimal(*map(int, kind[8:-1].split(",")))
    if kind.startswith("TIMESTAMP"):
        return pl.Datetime("ns" if kind.endswith("NS") else "us", "UTC" if "ZONE" in kind else None)
    others = {"DOUBLE": pl.Float64, "FLOAT": pl.Float32, "DATE": pl.Date, "TIME": pl.Time, "BOOLEAN": pl.Boolean}
    return others.get(kind)


@contextmanager
def _guarded_duckdb(place: FileTable) -> Iterator[None]:
    """Replace errors of DuckDB, whose texts may contain cells."""
    import duckdb

    try:
        yield
    except (OverflowError, ValueError):
        raise InputError(
            f"{place.shown}: a column contains a date outside the years 1 to 9999. Correct it, or convert the column "
            "to text."
        ) from None
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException):
            raise MemoryError("DuckDB has not enough memory to read the table") from None
        raise InputError(f"{place.shown}: cannot be read as {TITLES['duckdb']}: {UNREADABLE}.") from None


# ---- both


def _find_table(place: FileTable, tables: Sequence[str]) -> None:
    """Raise an InputError if a file has no such table; SQL does not distinguish the case of a name."""
    if place.table.lower() in (name.lower() for name in tables):
        return
    known = ", ".join(map(repr, sorted(tables)[:10])) or "none"
    raise InputError(f"{place.shown}: the file has no table or view {place.table!r}. Its tables: {known}.")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
