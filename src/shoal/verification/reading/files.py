"""The verifier's own readers for files that are not plain CSV; they share no code with the readers of a release.

Rows are lists of texts, the first one is the header. A typed cell has exactly one text: integers as digits, floats as
Python prints them with -0.0 as 0.0, decimals with all places, dates and times in ISO format with a blank between date
and time, midnight as the date only, times with a zone in UTC, booleans as True and False, a null as "".
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from shoal.errors import FileError, InputError
from shoal.verification.verdict import Violation

__all__ = [
    "ARROW",
    "UnreadableError",
    "cell_text",
    "kind_of",
    "leftovers",
    "open_bytes",
    "parquet_columns",
    "parquet_rows",
    "refuse_arrow",
    "unreadable",
]

PathName = str | os.PathLike[str]
Rows = Iterator[list[list[str]]]

KINDS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "excel",
    b"ARROW1\0\0": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
}
ARROW = ("arrow", "arrow stream")
BLOCK_ROWS = 20_000
SUFFIXES = {".csv": "csv", ".gz": "gzip", ".parquet": "parquet", ".xlsx": "excel"}


class UnreadableError(InputError):
    """A file that the verifier cannot read as a table.

    Args:
        path: The file.
        reason: Why it cannot be read.
    """

    reason = ""

    def __init__(self, path: PathName, reason: str) -> None:
        super().__init__(f"{os.fspath(path)}: {reason}.")
        self.reason = reason


def unreadable(path: PathName, error: Exception) -> FileError:
    """Return the error for a file that cannot be opened or read."""
    reason = getattr(error, "strerror", None) or type(error).__name__
    return FileError(f"{os.fspath(path)}: cannot be read: {reason}.")


def refuse_arrow(path: PathName, kind: str) -> None:
    """Raise an UnreadableError if a file is of an Arrow kind."""
    if kind in ARROW:
        raise UnreadableError(
            path,
            "it is an Arrow (Feather) file, which the verifier does not read. Pass the table as a frame, or write it "
            "as CSV, Parquet or Excel",
        )


def kind_of(path: PathName) -> str:
    """Return the kind of a file by its first bytes: "csv", "gzip", "zstd", "parquet", "excel" or "arrow"."""
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
    return next((kind for magic, kind in KINDS.items() if head.startswith(magic)), "csv")


def open_bytes(path: PathName) -> Any:
    """Open a CSV file, decompressed if necessary."""
    kind = kind_of(path)
    if kind == "gzip":
        return gzip.open(path, "rb")
    if kind == "zstd":
        with open(path, "rb") as file:
            return io.BytesIO(_unzstd(file.read(), path))
    return open(path, "rb")


def _unzstd(raw: bytes, path: PathName) -> bytes:
    try:
        content: bytes = importlib.import_module("compression.zstd").decompress(raw)  # Python 3.14 and later
        return content
    except ImportError:
        pass
    import polars

    # Read as one line without quotes, cut at each 0x1F, which loses nothing.
    options: dict[str, Any] = {"has_header": False, "infer_schema": False, "quote_char": None}
    try:
        frame = polars.read_csv(raw, separator="\x1f", eol_char="\0", **options)
    except polars.exceptions.PolarsError:
        raise UnreadableError(path, "it cannot be decompressed, or is not UTF-8") from None
    return "\0".join("\x1f".join(cell or "" for cell in row) for row in frame.iter_rows()).encode()


def cell_text(cell: Any) -> str:
    """Return the text of a typed cell, as the module docstring defines it."""
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float):
        return repr(cell if cell else 0.0)
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if isinstance(cell, datetime):
        moment = cell.astimezone(UTC) if cell.tzinfo else cell
        text = moment.isoformat(" ")
        return text[:10] if text[10:] == " 00:00:00" else text
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


# ---- Parquet


def parquet_columns(path: PathName) -> tuple[list[str], list[Iterator[list[str]]]]:
    """Return the names of the columns of a Parquet file, and for each column an iterator over its cells in blocks."""
    with _open_parquet(path) as parquet:
        names = parquet.names
    return names, [_parquet_cells(path, position) for position in range(len(names))]


def _parquet_cells(path: PathName, position: int) -> Iterator[list[str]]:
    with _open_parquet(path) as parquet:
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

    def select(self, expressions: str) -> None:
        """Start to read expressions over the columns, in the order of the rows."""
        self.connection.execute(f"select {expressions} {self._source}", [_pattern(self._place)])


@contextmanager
def _open_parquet(path: PathName) -> Iterator[_Parquet]:
    import duckdb

    try:
        with duckdb.connect(config={"temp_directory": "", "autoinstall_known_extensions": "false"}) as connection:
            yield _Parquet(connection, os.fspath(path))
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


# ---- what a released file may contain besides its cells

EXCEL_PARTS = frozenset(
    {
        "[Content_Types].xml",
        "_rels/.rels",
        "docProps/app.xml",
        "docProps/core.xml",
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/worksheets/sheet1.xml",
        "xl/styles.xml",
        "xl/theme/theme1.xml",
    }
)
EPOCH = "1980-01-01T00:00:00Z"


def leftovers(path: PathName, kind: str) -> list[Violation]:
    """Return what a released file contains besides its cells: names, times, hidden parts, metadata, statistics."""
    if kind == "gzip":
        with open(path, "rb") as file:
            head = file.read(10)
        texts = ["its gzip header contains a name, a time or a comment"] if any(head[3:8]) else []
    elif kind == "parquet":
        texts = _parquet_leftovers(os.fspath(path))
    elif kind == "excel":
        texts = _excel_leftovers(os.fspath(path))
    else:
        texts = []
    return [Violation("file", text) for text in texts]


def _parquet_leftovers(place: str) -> list[str]:
    import duckdb

    with duckdb.connect(config={"temp_directory": ""}) as connection:

        def ask(query: str) -> list[Any]:
            return list(connection.execute(query, [_pattern(place)]).fetchall())

        keys = {bytes(key) for (key,) in ask("select key from parquet_kv_metadata(?)")}
        types = {row[0] for row in ask("select type from parquet_schema(?) where num_children is null")}
        columns = "stats_min, stats_max, stats_min_value, stats_max_value, stats_distinct_count, bloom_filter_offset"
        facts = [fact for row in ask(f"select {columns} from parquet_metadata(?)") for fact in row if fact is not None]
    checks = [
        (keys - {b"ARROW:schema"}, "it contains metadata that no reader needs"),
        (types - {"BYTE_ARRAY"}, "it contains a column that is not text"),
        (facts, "it contains statistics or a filter"),
    ]
    return [text for fault, text in checks if fault]


def _excel_leftovers(place: str) -> list[str]:
    with zipfile.ZipFile(place) as archive:
        entries = archive.infolist()
        extra_parts = [entry for entry in entries if entry.filename not in EXCEL_PARTS]
        dated = [entry for entry in entries if entry.date_time != (1980, 1, 31, 0, 0, 0) or entry.comment]
        properties = _words(archive, "docProps/core.xml") - {EPOCH}
        properties |= _words(archive, "docProps/app.xml") - {
            "Microsoft Excel",
            "0",
            "false",
            "Worksheets",
            "1",
            "release",
            "12.0000",
        }
        sheet = _tags(archive, "xl/worksheets/sheet1.xml")
    extra_tags = {"f", "mergeCell", "hyperlink", "legacyDrawing", "drawing", "col", "dataValidation"} & sheet
    checks = [
        (extra_parts, "it contains parts that a table does not need"),
        (dated or archive.comment, "it reveals when it was made"),
        (properties, "it reveals who made it, or where"),
        (extra_tags, "it contains formulas, links, merged or hidden cells"),
    ]
    return [text for fault, text in checks if fault]


def _words(archive: zipfile.ZipFile, part: str) -> set[str]:
    tree = ElementTree.fromstring(archive.read(part))
    return {element.text.strip() for element in tree.iter() if element.text and element.text.strip()}


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _tags(archive: zipfile.ZipFile, part: str) -> set[str]:
    tags: set[str] = set()
    with archive.open(part) as file:
        for _, element in ElementTree.iterparse(file):
            tags.add(_tag(element))
            if _tag(element) == "row":
                if element.get("hidden") in ("1", "true"):
                    tags.add("col")
                element.clear()
    return tags
