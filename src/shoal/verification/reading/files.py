"""The verifier's own readers for files that are not plain CSV; they share no code with the readers of a release.

Rows are lists of texts, the first one is the header. A typed cell has exactly one text: integers as digits, floats as
Python prints them with -0.0 as 0.0, decimals with all places, dates and times in ISO format with a blank between date
and time, midnight as the date only, times with a zone in UTC, booleans as True and False, a null as "".
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, UsageError
from shoal.verification.cells import MOST_DIGITS
from shoal.verification.reading.limits import PathName, UnreadableError, check_expansion

if TYPE_CHECKING:
    from shoal.verification.reading.parquet.texts import TextCodes

__all__ = [
    "ARROW",
    "UNREAD",
    "UnreadableError",
    "cell_text",
    "kind_of",
    "not_text",
    "open_bytes",
    "parquet_columns",
    "parquet_rows",
    "parquet_texts",
    "refuse_unread",
    "unreadable",
    "utf8_blocks",
]

Rows = Iterator[list[list[str]]]

KINDS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "excel",
    b"ARROW1\0\0": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"SQLite format 3\0": "SQLite",
    b"$FL2@(#)": "SPSS",
    b"$FL3@(#)": "SPSS",
    b"<stata_dta>": "Stata",
    b"HEADER RECORD*******LIB": "SAS",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "SAS",
}
ARROW = ("arrow", "arrow stream")
UNREAD = (*ARROW, "SQLite", "DuckDB", "SPSS", "Stata", "SAS")  # kinds that the verifier does not read
OLD_STATA = frozenset(bytes([release, order, 1, 0]) for release in range(0x68, 0x74) for order in (1, 2))
# One thread reads rows in order and needs the least CPU time.
CONFIG: dict[str, Any] = {"temp_directory": "", "autoinstall_known_extensions": "false", "threads": "1"}
BLOCK_ROWS = 20_000
BLOCK_BYTES = 1 << 20
SUFFIXES = {".csv": "csv", ".gz": "gzip", ".parquet": "parquet", ".xlsx": "excel"}


def unreadable(path: PathName, error: Exception) -> FileError:
    """Return the error for a file that cannot be opened or read."""
    reason = getattr(error, "strerror", None) or type(error).__name__
    return FileError(f"{os.fspath(path)}: cannot be read: {reason}.")


def refuse_unread(path: PathName, kind: str) -> None:
    """Raise an UnreadableError if the verifier does not read a kind of file."""
    if kind in UNREAD:
        title = "an Arrow (Feather) file" if kind in ARROW else f"a file of {kind}"
        raise UnreadableError(
            path,
            f"it is {title}, which the verifier does not read. Pass the table as a frame, or write it as CSV, "
            "Parquet or Excel",
        )


def kind_of(path: PathName) -> str:
    """Return the kind of a file by its first bytes: "csv", "gzip", "zstd", "parquet", "excel", or one of UNREAD."""
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4))
            tail = file.read()
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}.") from None
    if head[:4] == b"PAR1" and (tail == b"PAR1" or 0 in head):
        return "parquet"
    if head[8:12] == b"DUCK" and 0 in head:
        return "DuckDB"
    if head[:4] in OLD_STATA:
        return "Stata"
    if b"SPSS PORT FILE" in head[:400] and os.path.splitext(path)[1].lower() in ("", ".por"):
        return "SPSS"
    return next((kind for magic, kind in KINDS.items() if head.startswith(magic)), "csv")


def open_bytes(path: PathName) -> Any:
    """Open a CSV file, decompressed if necessary; reading raises an UnreadableError if it expands too much."""
    kind = kind_of(path)
    if kind == "gzip":
        return _Bounded(gzip.open(path, "rb"), path)
    if kind == "zstd":
        from shoal.verification.reading.zstd import is_complete, open_zstd

        with open(path, "rb") as file:
            raw = file.read()
        if not is_complete(raw):
            raise EOFError
        return _Bounded(open_zstd(raw), path)
    return open(path, "rb")


class _Bounded(io.BufferedIOBase):
    """A decompressed file that counts what is read from it."""

    def __init__(self, file: Any, path: PathName) -> None:
        self._file, self._path = file, path
        self._n_read = 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def read(self, size: int | None = None) -> bytes:
        """Read at most so many bytes, or a block."""
        block: bytes = self._file.read(BLOCK_BYTES if size is None or size < 0 else size)
        self._n_read += len(block)
        check_expansion(self._path, self._n_read)
        return block


def cell_text(cell: Any) -> str:
    """Return the text of a typed cell, as the module docstring defines it."""
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float):
        return repr(cell if cell else 0.0)
    if isinstance(cell, Decimal):
        return f"{cell:f}" if abs(cell.adjusted()) < MOST_DIGITS else str(cell)
    if isinstance(cell, datetime):
        moment = cell.astimezone(UTC) if cell.tzinfo else cell
        text = moment.isoformat(" ")
        return text[:10] if text[10:] == " 00:00:00" else text
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):  # pandas counts billionths of a second too
        billionths = 1000 * cell.microseconds + int(getattr(cell, "nanoseconds", 0))
        fraction = f".{billionths:09}".rstrip("0") if billionths else ""
        hours, rest = divmod(cell.seconds, 3600)
        return f"P{cell.days}DT{hours}H{rest // 60}M{rest % 60}{fraction}S"
    return str(cell)


# ---- Text


def not_text(path: PathName, encoding: str) -> UnreadableError:
    """Return the error for a file that is not text."""
    return UnreadableError(path, f"it is not valid {encoding} text. Save it as UTF-8 and try again")


def utf8_blocks(path: PathName, encoding: str) -> Iterator[bytes]:
    """Yield the bytes of a text file in blocks, decompressed and converted to UTF-8."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'.") from None
    decoder = None if name in ("utf-8", "ascii") else codecs.getincrementaldecoder(name)()
    try:
        with open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                yield block if decoder is None else decoder.decode(block).encode()
            if decoder is not None and (rest := decoder.decode(b"", final=True)):
                yield rest.encode()
    except UnicodeError:
        raise not_text(path, encoding) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise UnreadableError(path, "it cannot be decompressed: it is damaged or cut short") from None
    except OSError as error:
        raise unreadable(path, error) from None


# ---- Parquet


def parquet_columns(path: PathName) -> tuple[list[str], list[TextCodes | Iterator[list[str]]]]:
    """Return the names of the columns of a Parquet file, and each column as codes or as its cells in blocks.

    Codes come from the pages themselves, which is far quicker than a Python object for each cell. A column that is not
    text, or has an encoding that few writers use, is read by DuckDB and comes in blocks.
    """
    from shoal.verification.reading.parquet.texts import text_columns

    with _open_parquet(path) as parquet:
        names, coded = parquet.names, text_columns(path, parquet.texts())
    return names, [coded.get(position) or _parquet_cells(path, position) for position in range(len(names))]


def parquet_texts(path: PathName) -> tuple[list[str], list[int]]:
    """Return the names of the columns of a Parquet file, and the positions of those that are text."""
    with _open_parquet(path) as parquet:
        return parquet.names, parquet.texts()


def _parquet_cells(path: PathName, position: int) -> Iterator[list[str]]:
    with _open_parquet(path, is_checked=True) as parquet:
        expression, text = parquet.column(position)
        parquet.select(expression)
        while rows := parquet.connection.fetchmany(BLOCK_ROWS):
            yield [cell if type(cell) is str else text(cell) for (cell,) in rows]


def parquet_rows(path: PathName, size: int) -> Rows:
    """Yield the header and then the rows of a Parquet file in chunks of a size, read by DuckDB."""
    with _open_parquet(path) as parquet:
        expressions, texts = zip(*map(parquet.column, range(len(parquet.names))), strict=True)
        parquet.select(", ".join(expressions))
        yield [parquet.names]
        while rows := parquet.connection.fetchmany(size):
            columns = [list(map(text, cells)) for text, cells in zip(texts, zip(*rows, strict=True), strict=True)]
            yield list(map(list, zip(*columns, strict=True)))


class _Parquet:
    """A Parquet file opened by DuckDB; its columns have the aliases c0, c1 and so on."""

    def __init__(self, connection: Any, place: str) -> None:
        self.connection, self._place = connection, place
        self.names = _parquet_names(connection, place)
        aliases = ", ".join(f"c{n}" for n in range(len(self.names)))
        self._source = f"from read_parquet(?, hive_partitioning=false) as t({aliases})"
        columns = connection.execute(f"describe select * {self._source}", [_pattern(place)]).fetchall()
        self._types = [str(column[1]) for column in columns]

    def column(self, position: int) -> tuple[str, Callable[[Any], str]]:
        """Return the expression that reads a column, and the function that turns its cells into text."""
        return _parquet_column(self._place, self.names[position], f"c{position}", self._types[position])

    def texts(self) -> list[int]:
        """Return the positions of the columns of text."""
        return [position for position, kind in enumerate(self._types) if kind == "VARCHAR"]

    def select(self, expressions: str) -> None:
        """Start to read expressions over the columns, in the order of the rows."""
        self.connection.execute(f"select {expressions} {self._source}", [_pattern(self._place)])


@contextmanager
def _open_parquet(path: PathName, *, is_checked: bool = False) -> Iterator[_Parquet]:
    """Open a Parquet file; its bounds are checked first, unless that was done already."""
    import duckdb

    from shoal.verification.reading.parquet.footer import check_parquet

    if not is_checked:
        try:
            check_parquet(path)
        except OSError as error:
            raise unreadable(path, error) from None
    try:
        with duckdb.connect(config=CONFIG) as connection:
            yield _Parquet(connection, os.fspath(path))
    except (OverflowError, ValueError):
        raise UnreadableError(path, "it has a date before the year 1 or after the year 9999") from None
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException) or "allocate" in str(error).lower():
            raise MemoryError("DuckDB has not enough memory to read the file") from None
        raise UnreadableError(path, "it cannot be read as Parquet: it is damaged, encrypted or cut short") from None


def _pattern(place: str) -> str:
    """Escape the wildcards of a path for DuckDB."""
    return re.sub(r"([*?\[])", r"[\1]", place)


def _parquet_names(connection: Any, place: str) -> list[str]:
    fields = connection.execute(
        "select name, num_children, repetition_type from parquet_schema(?)", [_pattern(place)]
    ).fetchall()
    nested = [name for name, children, repeated in fields[1:] if children or repeated == "REPEATED"]
    if nested:
        raise UnreadableError(place, f"column {nested[0]!r} is nested; convert it to plain columns first")
    return [name for name, *_ in fields[1:]]


def _parquet_column(place: str, name: str, alias: str, kind: str) -> tuple[str, Callable[[Any], str]]:
    if kind.startswith("TIMESTAMP"):
        if "NS" in kind:
            return f"epoch_ns({alias})", lambda ticks: _ticks_text(ticks, 9, False)
        return f"epoch_us({alias})", lambda ticks: _ticks_text(ticks, 6, "ZONE" in kind)
    if kind == "FLOAT":
        return alias, _single_text
    if kind in ("BLOB", "INTERVAL", "BIT") or kind.endswith("]"):
        raise UnreadableError(place, f"column {name!r} has type {kind}; convert it to text, numbers or dates first")
    return alias, cell_text


def _ticks_text(ticks: int | None, places: int, zoned: bool) -> str:
    if ticks is None:
        return ""
    seconds, remainder = divmod(ticks, 10**places)
    days, seconds = divmod(seconds, 86_400)
    text = f"{date.fromordinal(719_163 + days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if remainder:
        digits = f"{remainder:0{places}}"
        text += "." + (digits[:6] if digits[6:].strip("0") == "" else digits)
    if zoned:
        return text + "+00:00"
    return text[:10] if text.endswith(" 00:00:00") else text


def _single_text(cell: float | None) -> str:
    """Return the shortest text that gives the same float32."""
    if cell is None or cell != cell:
        return ""
    bits = struct.pack("<f", cell)
    for digits in range(6, 10):
        text = f"{cell:.{digits}g}"
        try:
            if struct.pack("<f", float(text)) == bits:
                break
        except OverflowError:
            continue
    return cell_text(float(text))
