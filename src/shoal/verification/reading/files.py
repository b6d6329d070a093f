"""The verifier's own readers of files that are not plain CSV; they share no code with those that read for a release.

Rows come as lists of text, the first one the header. A typed cell has one text: whole numbers as digits, floats as
Python prints them with -0.0 as 0.0, decimals with all places, dates and moments in ISO form with a blank between date
and time, midnight as the date alone, moments with a time zone in UTC, booleans as True and False, nothing as "".
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

__all__ = ["cell_text", "kind_of", "leftovers", "open_bytes", "parquet_columns", "parquet_rows", "unreadable"]

PathName = str | os.PathLike[str]
Rows = Iterator[list[list[str]]]

KINDS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "excel",
    b"ARROW1\0\0": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
}
BLOCK_ROWS = 20_000
SUFFIXES = {".csv": "csv", ".gz": "gzip", ".parquet": "parquet", ".xlsx": "excel"}


def unreadable(path: PathName, error: Exception) -> FileError:
    """Return the error for a file that cannot be read."""
    reason = getattr(error, "strerror", None) or type(error).__name__
    return FileError(f"{os.fspath(path)}: cannot be read: {reason}.")


def kind_of(path: PathName) -> str:
    """Return "csv", "gzip", "zstd", "parquet", "excel" or "arrow", by the first bytes."""
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
    """Open a CSV file that may be compressed."""
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

    # As one line without quotes, the text comes out whole, cut at each 0x1F.
    options: dict[str, Any] = {"has_header": False, "infer_schema": False, "quote_char": None}
    try:
        frame = polars.read_csv(raw, separator="\x1f", eol_char="\0", **options)
    except polars.exceptions.PolarsError:
        raise InputError(f"{os.fspath(path)}: cannot be decompressed, or is not UTF-8.") from None
    return "\0".join("\x1f".join(cell or "" for cell in row) for row in frame.iter_rows()).encode()


def cell_text(cell: Any) -> str:
    """Return the text of a typed cell; see the top of this module."""
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
        shown = moment.isoformat(" ")
        return shown[:10] if shown[10:] == " 00:00:00" else shown
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


# ---- Parquet


def parquet_columns(path: PathName) -> tuple[list[str], list[Iterator[list[str]]]]:
    """Return the names of a Parquet file's columns, and for each column its cells in blocks, read one by one."""
    with _parquet(path) as parquet:
        return parquet.names, [parquet_cells(path, position) for position in range(len(parquet.names))]


def parquet_cells(path: PathName, position: int) -> Iterator[list[str]]:
    """Yield the cells of one column of a Parquet file, a block at a time."""
    with _parquet(path) as parquet:
        expression, text = parquet.column(position)
        parquet.ask(expression)
        while rows := parquet.connection.fetchmany(BLOCK_ROWS):
            cells = [row[0] for row in rows]
            yield cells if text is cell_text and all(type(cell) is str for cell in cells) else list(map(text, cells))


def parquet_rows(path: PathName, size: int) -> Rows:
    """Yield the header and then the rows of a Parquet file."""
    with _parquet(path) as parquet:
        expressions, texts = zip(*map(parquet.column, range(len(parquet.names))), strict=True)
        parquet.ask(", ".join(expressions))
        yield [parquet.names]
        while rows := parquet.connection.fetchmany(size):
            columns = [list(map(text, cells)) for text, cells in zip(texts, zip(*rows, strict=True), strict=True)]
            yield list(map(list, zip(*columns, strict=True)))


class _Parquet:
    """A Parquet file that DuckDB has open; its columns have the aliases c0, c1 and so on."""

    def __init__(self, connection: Any, place: str) -> None:
        self.connection, self.place = connection, place
        self.names = _parquet_names(connection, place)
        aliases = ", ".join(f"c{n}" for n in range(len(self.names)))
        self._source = f"from read_parquet(?, hive_partitioning=false) as t({aliases})"
        described = connection.execute(f"describe select * {self._source}", [_pattern(place)]).fetchall()
        self._types = [str(row[1]) for row in described]

    def column(self, position: int) -> tuple[str, Callable[[Any], str]]:
        """Return the expression that reads a column, and what turns its cells into text."""
        return _parquet_column(self.place, self.names[position], f"c{position}", self._types[position])

    def ask(self, expressions: str) -> None:
        """Begin to read these expressions, in the order of the rows."""
        self.connection.execute(f"select {expressions} {self._source}", [_pattern(self.place)])


@contextmanager
def _parquet(path: PathName) -> Iterator[_Parquet]:
    import duckdb

    place = os.fspath(path)
    try:
        with duckdb.connect(config={"temp_directory": "", "autoinstall_known_extensions": "false"}) as connection:
            yield _Parquet(connection, place)
    except duckdb.Error:
        raise InputError(f"{place}: cannot be read as Parquet: it is damaged, encrypted or cut short.") from None


def _pattern(place: str) -> str:
    """Write a path so that DuckDB takes its marks as they are."""
    return re.sub(r"([*?\[])", r"[\1]", place)


def _parquet_names(connection: Any, place: str) -> list[str]:
    found = connection.execute(
        "select name, num_children, repetition_type from parquet_schema(?)", [_pattern(place)]
    ).fetchall()
    nested = [name for name, children, repeated in found[1:] if children or repeated == "REPEATED"]
    if nested:
        raise InputError(f"{place}: column {nested[0]!r} is nested. Turn it into plain columns first.")
    return [name for name, *_ in found[1:]]


def _parquet_column(place: str, name: str, alias: str, kind: str) -> tuple[str, Callable[[Any], str]]:
    if kind.startswith("TIMESTAMP"):
        if "NS" in kind:
            return f"epoch_ns({alias})", lambda ticks: _ticks_text(ticks, 9, False)
        return f"epoch_us({alias})", lambda ticks: _ticks_text(ticks, 6, "ZONE" in kind)
    if kind == "FLOAT":
        return alias, _single_text
    if kind in ("BLOB", "INTERVAL", "BIT") or kind.endswith("]"):
        raise InputError(f"{place}: column {name!r} has type {kind}. Turn it into text, numbers or dates first.")
    return alias, cell_text


def _ticks_text(ticks: int | None, places: int, zoned: bool) -> str:
    if ticks is None:
        return ""
    seconds, rest = divmod(ticks, 10**places)
    days, seconds = divmod(seconds, 86_400)
    shown = f"{date.fromordinal(719_163 + days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if rest:
        digits = f"{rest:0{places}}"
        shown += "." + (digits[:6] if digits[6:].strip("0") == "" else digits)
    if zoned:
        return shown + "+00:00"
    return shown[:10] if shown.endswith(" 00:00:00") else shown


def _single_text(cell: float | None) -> str:
    if cell is None or cell != cell:
        return ""
    bits = struct.pack("<f", cell)
    for digits in range(6, 10):
        shown = f"{cell:.{digits}g}"
        try:
            if struct.pack("<f", float(shown)) == bits:
                break
        except OverflowError:
            continue
    return cell_text(float(shown))


# ---- what a released file may hold beside its cells

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


def leftovers(path: PathName, kind: str) -> list[str]:
    """Return what a released file holds beside its cells: names, times, hidden parts, metadata, statistics."""
    if kind == "gzip":
        with open(path, "rb") as file:
            head = file.read(10)
        return ["the file: its gzip header holds a name, a time or a remark."] if any(head[3:8]) else []
    found = {"parquet": _parquet_leftovers, "excel": _excel_leftovers}.get(kind, lambda _: [])(os.fspath(path))
    return [f"the file: {text}." for text in found]


def _parquet_leftovers(place: str) -> list[str]:
    import duckdb

    with duckdb.connect(config={"temp_directory": ""}) as connection:

        def ask(query: str) -> list[Any]:
            return list(connection.execute(query, [_pattern(place)]).fetchall())

        keys = {bytes(key) for (key,) in ask("select key from parquet_kv_metadata(?)")}
        types = {row[0] for row in ask("select type from parquet_schema(?) where num_children is null")}
        columns = "stats_min, stats_max, stats_min_value, stats_max_value, stats_distinct_count, bloom_filter_offset"
        told = [fact for row in ask(f"select {columns} from parquet_metadata(?)") for fact in row if fact is not None]
    checks = [
        (keys - {b"ARROW:schema"}, "holds metadata that no reader needs"),
        (types - {"BYTE_ARRAY"}, "holds a column that is not text"),
        (told, "holds statistics or a filter"),
    ]
    return [text for wrong, text in checks if wrong]


def _excel_leftovers(place: str) -> list[str]:
    with zipfile.ZipFile(place) as archive:
        entries = archive.infolist()
        strange = [entry for entry in entries if entry.filename not in EXCEL_PARTS]
        dated = [entry for entry in entries if entry.date_time != (1980, 1, 31, 0, 0, 0) or entry.comment]
        told = _words(archive, "docProps/core.xml") - {EPOCH}
        told |= _words(archive, "docProps/app.xml") - {
            "Microsoft Excel",
            "0",
            "false",
            "Worksheets",
            "1",
            "release",
            "12.0000",
        }
        sheet = _tags(archive, "xl/worksheets/sheet1.xml")
    odd = {"f", "mergeCell", "hyperlink", "legacyDrawing", "drawing", "col", "dataValidation"} & sheet
    checks = [
        (strange, "holds parts that a table does not need"),
        (dated or archive.comment, "tells when it was made"),
        (told, "tells who made it, or where"),
        (odd, "holds formulas, links, merged or hidden cells"),
    ]
    return [text for wrong, text in checks if wrong]


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
