"""Tables and views in a file of DuckDB, which is opened read-only and reads no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, join_problems
from shoal.tables.formats.database_file.collector import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    TITLES,
    UNREADABLE,
    Collector,
    Text,
    find_table,
    quoted,
)
from shoal.tables.formats.memory_limit import check_memory, refuse_expansion
from shoal.tables.sources.url import FileTable
from shoal.tables.table import LONGEST_CELL
from shoal.tables.typed_text import ADVICE, cell_text, float32_text, ticks_text

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["read_duckdb"]

LEAST_MEMORY = 200_000_000  # DuckDB cannot start with less
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
PLAIN = (*INTEGERS, "HUGEINT", "UHUGEINT", "BOOLEAN", "DOUBLE", "DATE", "TIME", "VARCHAR", "UUID", "FLOAT")


def read_duckdb(place: FileTable, collector: Collector) -> Iterator[list[pl.Series]]:
    """Yield the rows of a table, block by block."""
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
        find_table(place, [name if schema == wanted else f"{schema}.{name}" for schema, name in tables])
        name = ".".join(quoted(part) for part in (place.schema, place.table) if part is not None)
        described = connection.execute(f"describe select * from {name}").fetchall()
        names, kinds = [row[0] for row in described], [str(row[1]) for row in described]
        _check_types(place, names, kinds)
        rows_per_block = _check_cells(connection, place, name, (names, kinds), collector)
        cells = [_duckdb_column(quoted(column), kind) for column, kind in zip(names, kinds, strict=True)]
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
    collector: Collector,
) -> int:
    """Refuse dates without a text, and texts that do not fit into memory; return how many rows to fetch at once.

    Nothing is fetched before: a compressed column may hold one long text for very many rows.
    """
    names, kinds = columns
    dated = [quoted(n) for n, kind in zip(names, kinds, strict=True) if kind.startswith(("DATE", "TIMESTAMP"))]
    odd = "".join(f" or not isfinite({date}) or year({date}) not between 1 and 9999" for date in dated)
    if connection.execute(f"select 1 from {table} where false{odd} limit 1").fetchone():
        raise OverflowError
    lengths = [f"strlen({quoted(n)})" for n, kind in zip(names, kinds, strict=True) if kind == "VARCHAR"]
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
