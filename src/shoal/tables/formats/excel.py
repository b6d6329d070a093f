"""Read Excel workbooks (.xlsx): the values of one visible sheet, with notes about what the sheet hides.

We read the XML directly: the text of a cell depends on its type and number format, and the notes report formulas,
merged cells, and hidden rows and columns. A number becomes the shortest decimal of the stored value: 30, not 30.0.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import IO
from xml.parsers import expat

from shoal.errors import InputError, Note, UsageError, counted, file_path
from shoal.schema import Dialect
from shoal.tables.csv import check_file
from shoal.tables.dialect import has_header, numbered_names
from shoal.tables.formats.memory_limit import check_expansion
from shoal.tables.table import Stamp, Table, check_names, make_table
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["read_excel", "visible_sheets"]

ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\[\]]*\]')
DATE_FORMATS = frozenset([*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)])
SPAN_FORMATS = frozenset({46})
SAMPLE_ROWS = 200
BLOCK_BYTES = 1 << 20


@dataclass
class _Sheet:
    """The content of a sheet."""

    rows: list[dict[int, str]] = field(default_factory=list)  # visible rows that are not empty: texts by column number
    hidden_columns: set[int] = field(default_factory=set)
    hidden_used: set[int] = field(default_factory=set)  # hidden columns that contain values
    hidden_rows: int = 0  # only those that contain values
    merged: int = 0  # ranges of merged cells
    formulas: int = 0
    uncomputed: int = 0  # formulas without a computed value
    errors: int = 0  # cells with an error such as #N/A
    blank: int = 0  # visible rows without values


def read_excel(path: Path, *, sheet: str | None = None, header: bool | None = None, watch: Watch = UNWATCHED) -> Table:
    """Read the values of one visible sheet of a workbook; leave out hidden rows and columns.

    Args:
        path: The workbook.
        sheet: The name of the sheet; None reads the first visible one.
        header: Whether the first row contains the column names; detected if it is None.
        watch: Whom to ask whether the run was cancelled.

    Returns:
        The table, with notes about formulas, errors, merged cells and hidden parts.

    Raises:
        UsageError: If there is no visible sheet with this name.
        InputError: If the workbook cannot be read, changed meanwhile, or contains formulas without a computed value.
    """
    stamp = check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise InputError(f"{path}: is a zip archive, but not an Excel workbook. Extract the table first.")
            check_expansion(path, stamp.size, sum(entry.file_size for entry in archive.infolist()))
            name, part, notes, dates_1904 = _choose(archive, path, sheet)
            with archive.open(part) as file:
                strings = _strings(archive, watch)
                content = _SheetReader(strings, _styles(archive), dates_1904).read(file, watch)
    except (zipfile.BadZipFile, KeyError, expat.ExpatError, EOFError, RuntimeError, ValueError, IndexError):
        raise InputError(
            f"{path}: cannot be read as an Excel workbook: it is damaged, encrypted or in another format. Save it "
            "again "
            "as .xlsx without a password."
        ) from None
    if Stamp.of(path) != stamp:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    if content.uncomputed:
        raise InputError(
            f"{path}, sheet {name!r}: {counted(content.uncomputed, 'formula has', 'formulas have')} no computed value. "
            "Open the workbook in Excel, "
            "save it, and run again."
        )
    return _table(content, path, stamp, name, header, notes)


def visible_sheets(path: Path) -> tuple[str, ...]:
    """Return the names of the visible sheets of a workbook."""
    with zipfile.ZipFile(path) as archive:
        book = _attributes(archive, "xl/workbook.xml", {"sheet"})
    return tuple(attributes["name"] for _, attributes in book if attributes.get("state", "visible") == "visible")


def _table(content: _Sheet, path: Path, stamp: Stamp, name: str, header: bool | None, notes: list[Note]) -> Table:
    import polars as pl

    place = f"{path}, sheet {name!r}"
    used = sorted({column for row in content.rows for column in row})
    if not used:
        raise InputError(f"{place}: no data rows.")
    columns = [c for c in range(used[0], used[-1] + 1) if c not in content.hidden_columns]
    sample = [[row.get(c, "") for c in columns] for row in content.rows[:SAMPLE_ROWS]]
    is_headed = has_header(sample) if header is None else header
    names = sample[0] if is_headed else numbered_names(len(columns))
    rows = content.rows[1:] if is_headed else content.rows
    if not rows:
        raise InputError(f"{place}: no data rows.")
    check_names(list(names), place)
    texts = {
        name: pl.Series(name, [row.get(c, "") for row in rows], dtype=pl.String)
        for name, c in zip(names, columns, strict=True)
    }
    sheet = f"sheet {name!r}, {'with' if is_headed else 'without'} header"
    notes = [Note(file_path(path), sheet), *notes, *_remarks(content, f"{file_path(path)}, sheet {name!r}")]
    dialect = Dialect(header=is_headed)
    return make_table(texts, place, path=path, stamp=stamp, dialect=dialect, sheet=name, notes=tuple(notes))


def _remarks(sheet: _Sheet, place: str) -> Iterator[Note]:
    remarks = [
        (sheet.formulas, "{cells:cell is a formula|cells are formulas}, read as the last computed value"),
        (sheet.errors, "{cells:cell contains|cells contain} an error such as #N/A, read as text"),
        (sheet.merged, "{cells:merged range|merged ranges}, of which only the first cell has a value"),
        (sheet.hidden_rows, "{cells:hidden row was|hidden rows were} left out"),
        (len(sheet.hidden_used), "{cells:hidden column was|hidden columns were} left out"),
        (sheet.blank, "{cells:blank row was|blank rows were} skipped"),
    ]
    return (Note(place, text, counts={"cells": count}) for count, text in remarks if count)


def _choose(archive: zipfile.ZipFile, path: Path, requested: str | None) -> tuple[str, str, list[Note], bool]:
    """Return the sheet's name, its part of the archive, notes about other sheets, and whether dates count from 1904."""
    book = _attributes(archive, "xl/workbook.xml", {"sheet", "workbookPr"})
    targets = {a["Id"]: a["Target"] for _, a in _attributes(archive, "xl/_rels/workbook.xml.rels", {"Relationship"})}
    sheets = [(a["name"], a["id"], a.get("state", "visible")) for tag, a in book if tag == "sheet"]
    visible = [(name, key) for name, key, state in sheets if state == "visible"]
    if requested is not None and requested not in [name for name, _ in visible]:
        hidden = requested in [name for name, _, _ in sheets]
        why = "is hidden, and hidden sheets are never released; unhide it first" if hidden else "does not exist"
        visible_names = ", ".join(repr(name) for name, _ in visible)
        raise UsageError(f"{path}: sheet {requested!r} {why}. The visible sheets are {visible_names}.")
    if not visible:
        raise InputError(f"{path}: the workbook has no visible sheet.")
    name, key = next((n, k) for n, k in visible if requested is None or n == requested)
    notes = []
    if requested is None and len(visible) > 1:
        others = ", ".join(repr(n) for n, _ in visible if n != name)
        notes.append(Note(file_path(path), f"only the first sheet was read, not {others}"))
    if len(sheets) > len(visible):
        text = "{sheets:hidden sheet was|hidden sheets were} left out"
        notes.append(Note(file_path(path), text, counts={"sheets": len(sheets) - len(visible)}))
    target = targets[key]
    part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    dates_1904 = any(a.get("date1904", "0") in ("1", "true") for tag, a in book if tag == "workbookPr")
    return name, part, notes, dates_1904


def _parser() -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ValueError("a document type")  # it could define entities that expand without limit

    parser.StartDoctypeDeclHandler = refuse
    return parser


def _attributes(archive: zipfile.ZipFile, part: str, tags: set[str]) -> list[tuple[str, dict[str, str]]]:
    """Return the elements with these tags and their attributes, without namespaces."""
    elements = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if (bare := tag.rpartition(":")[2]) in tags:
            elements.append((bare, {name.rpartition(":")[2]: value for name, value in attributes.items()}))

    parser = _parser()
    parser.StartElementHandler = start
    with archive.open(part) as file:
        parser.ParseFile(file)
    return elements


def _strings(archive: zipfile.ZipFile, watch: Watch) -> list[str]:
    """Return the shared strings, without the phonetic readings of Japanese text."""
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    texts: list[str] = []
    parts: list[str] = []
    state = {"text": False, "reading": False}

    def start(tag: str, _: dict[str, str]) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "si":
            parts.clear()
        elif bare == "rPh":
            state["reading"] = True
        elif bare == "t":
            state["text"] = not state["reading"]

    def end(tag: str) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "si":
            texts.append(_unescape("".join(parts)))
        elif bare == "rPh":
            state["reading"] = False
        elif bare == "t":
            state["text"] = False

    parser = _parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda data: parts.append(data) if state["text"] else None
    with archive.open("xl/sharedStrings.xml") as file:
        _parse(parser, file, watch)
    return texts


def _parse(parser: expat.XMLParserType, file: IO[bytes], watch: Watch) -> None:
    """Parse a large part of a workbook block by block, so that the caller can cancel."""
    while block := file.read(BLOCK_BYTES):
        watch.check()
        parser.Parse(block, False)
    parser.Parse(b"", True)


def _styles(archive: zipfile.ZipFile) -> list[str]:
    """Return the meaning of numbers in each cell style: "number", "date" or "span"."""
    if "xl/styles.xml" not in archive.namelist():
        return []
    codes: dict[int, str] = {}
    styles: list[int] = []
    inside = [False]

    def start(tag: str, attributes: dict[str, str]) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "numFmt":
            codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
        elif bare == "cellXfs":
            inside[0] = True
        elif bare == "xf" and inside[0]:
            styles.append(int(attributes.get("numFmtId", "0")))

    def end(tag: str) -> None:
        if tag.rpartition(":")[2] == "cellXfs":
            inside[0] = False

    parser = _parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with archive.open("xl/styles.xml") as file:
        parser.ParseFile(file)
    return [_style(number, codes.get(number)) for number in styles]


def _style(number: int, code: str | None) -> str:
    if code is None:
        return "span" if number in SPAN_FORMATS else "date" if number in DATE_FORMATS else "number"
    plain = LITERAL.sub("", code.lower()).partition(";")[0].replace("general", "")
    if re.search(r"\[[hms]+\]", plain):
        return "span"
    return "date" if re.search("[dmyhs]", plain) else "number"


def _unescape(text: str) -> str:
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def number_text(text: str) -> str:
    """Return the shortest decimal of a stored number, without an exponent: 30, 0.1, 10000000000000000."""
    number = float(text)
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    decimal = format(Decimal(repr(number)), "f")
    return decimal.removesuffix(".0")


def serial_text(text: str, style: str, dates_1904: bool) -> str:
    """Return the date, time or duration that a number of days represents; a number out of range stays a number."""
    days = float(text)
    if style == "span":
        seconds = Decimal(round(days * 86_400_000)) / 1000
        full_days, remainder = divmod(int(seconds), 86_400)
        fraction = f"{seconds % 1:.3f}"[1:].rstrip("0").rstrip(".")
        return f"P{full_days}DT{remainder // 3600}H{remainder // 60 % 60}M{remainder % 60}{fraction}S"
    if not 0 <= days < 2_958_466 or (60 <= days < 61 and not dates_1904):
        return number_text(text)
    thousandths = round(days * 86_400_000)
    # Excel counts 29 February 1900, which never existed.
    epoch = datetime(1904, 1, 1) if dates_1904 else datetime(1899, 12, 30) + timedelta(days=days < 60)
    moment = epoch + timedelta(milliseconds=thousandths)
    if days < 1:
        return moment.time().isoformat("milliseconds" if thousandths % 1000 else "seconds")
    if thousandths % 86_400_000 == 0:
        return moment.date().isoformat()
    return moment.isoformat(" ", "milliseconds" if thousandths % 1000 else "seconds")


class _SheetReader:
    """Collects the content of a sheet in one pass over its XML."""

    def __init__(self, strings: list[str], styles: list[str], dates_1904: bool) -> None:
        self._strings, self._styles, self._dates_1904 = strings, styles, dates_1904
        self._content = _Sheet()
        self._row: dict[int, str] = {}
        self._hidden = False
        self._column = -1
        self._kind, self._style = "n", 0
        self._value: list[str] = []
        self._is_reading = self._has_value = self._has_formula = False

    def read(self, file: IO[bytes], watch: Watch) -> _Sheet:
        """Read the sheet."""
        parser = _parser()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data
        _parse(parser, file, watch)
        return self._content

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "c":
            place = attributes.get("r", "").rstrip("0123456789")
            self._column = _column_number(place) if place else self._column + 1
            self._kind, self._style = attributes.get("t", "n"), int(attributes.get("s", "0"))
            self._value = []
            self._has_value = self._has_formula = False
        elif bare in ("v", "t"):
            self._is_reading = self._has_value = True
        elif bare == "f":
            self._has_formula = True
        elif bare == "row":
            self._row, self._column = {}, -1
            self._hidden = attributes.get("hidden", "0") in ("1", "true")
        elif bare == "col" and attributes.get("hidden", "0") in ("1", "true"):
            last = min(int(attributes["max"]), 16_384)
            self._content.hidden_columns |= set(range(int(attributes["min"]) - 1, last))
        elif bare == "mergeCell":
            self._content.merged += 1

    def _data(self, data: str) -> None:
        if self._is_reading:
            self._value.append(data)

    def _end(self, tag: str) -> None:
        bare = tag.rpartition(":")[2]
        if bare in ("v", "t"):
            self._is_reading = False
        elif bare == "c":
            self._end_cell()
        elif bare == "row":
            if self._hidden:
                self._content.hidden_rows += bool(self._row)
            elif self._row:
                self._content.rows.append(self._row)
            else:
                self._content.blank += 1

    def _end_cell(self) -> None:
        if self._column in self._content.hidden_columns:
            if self._has_value:
                self._content.hidden_used.add(self._column)
            return
        self._content.formulas += self._has_formula
        self._content.uncomputed += self._has_formula and not self._has_value and not self._hidden
        self._content.errors += self._kind == "e"
        if self._has_value and (text := self._text("".join(self._value))):
            self._row[self._column] = text

    def _text(self, value: str) -> str:
        if self._kind == "s":
            return self._strings[int(value)]
        if self._kind == "b":
            return "True" if value.strip() in ("1", "true") else "False"
        if self._kind == "d":
            return value.removesuffix("T00:00:00").replace("T", " ")
        if self._kind != "n":
            return _unescape(value)
        if not value.strip():
            return ""
        style = self._styles[self._style] if self._style < len(self._styles) else "number"
        return number_text(value) if style == "number" else serial_text(value, style, self._dates_1904)


@lru_cache(maxsize=20_000)
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1
