"""The verifier's own reader for Excel workbooks, in plain Python over the XML.

A number is the shortest decimal of what is stored; dates and times are in ISO format, durations like P1DT2H3M4S. Two
number formats that only releases have say that a number is written as a float, or with fixed decimals.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache

from shoal.errors import InputError, UsageError
from shoal.verification.reading.archive import bare, opened_archive, parse_xml
from shoal.verification.reading.limits import (
    FREE_CELLS,
    MOST_BLANKS,
    MOST_BYTES,
    MOST_SHEET_COLUMNS,
    MOST_SHEET_ROWS,
    MOST_STRINGS,
    PathName,
    UnreadableError,
)

__all__ = ["excel_rows", "has_choice", "value_text"]

MOST_FORMAT = 1_000  # letters of a number format; Excel allows 255
STRING_KINDS = ("str", "inlineStr", "e")
DECIMALS = re.compile(r"0\.(0{1,9});-0\.\1")
PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})?")


def excel_rows(
    path: PathName, size: int, *, sheet: str | None = None, keep_blank: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the rows of a sheet in chunks, without hidden rows and columns.

    Args:
        path: The workbook.
        size: The rows of a chunk.
        sheet: The sheet; the first visible one by default.
        keep_blank: Whether to keep hidden and blank rows and leading blank columns, as in a release.

    Raises:
        UnreadableError: The file cannot be read as a workbook.
        UsageError: The workbook has no such visible sheet.
    """
    with opened_archive(path) as archive:
        content = _Workbook(archive, path).read(sheet, keep_blank)
    used = {column for row in content.rows.values() for column in row if row[column]}
    if not used:
        return
    columns = range(0 if keep_blank else min(used), max(used) + 1)
    numbers = range(1, max(content.rows) + 1) if keep_blank else list(content.rows)
    n_known = sum(map(len, content.rows.values()))
    if len(numbers) * len(columns) > max(FREE_CELLS, MOST_BLANKS * n_known):
        raise UnreadableError(
            path,
            f"its {n_known:,} cells are spread over {len(numbers):,} rows and {len(columns):,} columns, as in no "
            "table. Delete the cells far away from the others",
        )
    visible_columns = [column for column in columns if column not in content.hidden]
    blank: dict[int, str] = {}
    for begin in range(0, len(numbers), size):
        chunk = (content.rows.get(number, blank) for number in numbers[begin : begin + size])
        yield [[row.get(column, "") for column in visible_columns] for row in chunk]


def has_choice(path: PathName, sheet: str | None) -> bool:
    """Return whether a workbook has this sheet, or several visible ones to choose from."""
    try:
        with opened_archive(path) as archive:
            visible = _Workbook(archive, path).visible()
    except InputError:
        return False  # `excel_rows` reports it
    return len(visible) > 1 or sheet in [each["name"] for each in visible]


@dataclass
class _Content:
    """The cells of a sheet: the texts of each row by column, and the hidden columns."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)


class _Workbook:
    """The parts of a workbook that define what its cells mean."""

    def __init__(self, archive: zipfile.ZipFile, path: PathName) -> None:
        self._archive, self._path = archive, path
        book = self._elements("xl/workbook.xml", {"sheet", "workbookPr"})
        self._sheets = [attributes for tag, attributes in book if tag == "sheet"]
        self._is_1904 = any(_is_on(attributes.get("date1904")) for tag, attributes in book if tag == "workbookPr")

    def visible(self) -> list[dict[str, str]]:
        """Return the visible sheets."""
        return [sheet for sheet in self._sheets if sheet.get("state", "visible") == "visible"]

    def read(self, sheet: str | None, keep_blank: bool) -> _Content:
        """Read a sheet; the first visible one if no name is given."""
        names = self._archive.namelist()
        strings = self._strings("xl/sharedStrings.xml") if "xl/sharedStrings.xml" in names else []
        formats = self._formats() if "xl/styles.xml" in names else []
        reader = _SheetReader(self._path, strings, formats, self._is_1904, keep_blank)
        with self._archive.open(self._part(sheet)) as file:
            parse_xml(file, reader.start, reader.end, reader.text)
        return reader.content

    def _part(self, name: str | None) -> str:
        matches = [sheet for sheet in self.visible() if name in (None, sheet["name"])]
        if not matches:
            raise UsageError(f"{self._path}: sheet {name!r} is not a visible sheet of the workbook.")
        links = self._elements("xl/_rels/workbook.xml.rels", {"Relationship"})
        target = {link["Id"]: link.get("Target", "") for _, link in links}[matches[0]["id"]]
        return target[1:] if target.startswith("/") else "xl/" + target

    def _elements(self, part: str, tags: set[str]) -> list[tuple[str, dict[str, str]]]:
        """Return the elements of a part with these tags, with their attributes."""
        elements: list[tuple[str, dict[str, str]]] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            if bare(tag) in tags:
                elements.append((bare(tag), {bare(name): value for name, value in attributes.items()}))
                if len(elements) > MOST_SHEET_ROWS:
                    raise ValueError("too many elements")

        with self._archive.open(part) as file:
            parse_xml(file, start, _ignore, _ignore)
        return elements

    def _formats(self) -> list[str]:
        codes: dict[int, str] = {}
        formats: list[str] = []
        is_inside = False
        for tag, attributes in self._elements("xl/styles.xml", {"numFmt", "cellXfs", "cellStyles", "xf", "dxfs"}):
            if tag == "numFmt":
                codes[int(attributes.get("numFmtId", 0))] = attributes.get("formatCode", "")
            elif tag != "xf":
                is_inside = tag == "cellXfs"
            elif is_inside:
                formats.append(_format(int(attributes.get("numFmtId", 0)), codes))
        return formats

    def _strings(self, part: str) -> list[str]:
        """Return the shared strings, without phonetic readings."""
        strings: list[str] = []
        collector = _Letters()

        def start(tag: str, _: dict[str, str]) -> None:
            if bare(tag) == "si":
                collector.clear()
            collector.start(bare(tag))

        def end(tag: str) -> None:
            collector.end(bare(tag))
            if bare(tag) == "si":
                strings.append(_plain(collector.take()))
                if len(strings) > MOST_STRINGS:
                    raise UnreadableError(self._path, f"it has more than {MOST_STRINGS:,} shared strings")

        with self._archive.open(part) as file:
            parse_xml(file, start, end, collector.add)
        return strings


def _ignore(*_: object) -> None:
    """Ignore an event of a parser."""


class _Letters:
    """Collects the text of a cell or string: what stands in t, but not in phonetic readings, and in v."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._is_open = self._is_reading = False
        self._size = 0

    def clear(self) -> None:
        """Forget what was collected."""
        self._pieces, self._size = [], 0
        self._is_open = self._is_reading = False

    def start(self, tag: str) -> None:
        """See an element begin."""
        if tag == "rPh":
            self._is_reading = True
        self._is_open = tag in ("t", "v") and not self._is_reading

    def end(self, tag: str) -> None:
        """See an element end."""
        self._is_open = False
        if tag == "rPh":
            self._is_reading = False

    def add(self, text: str) -> None:
        """Add a piece of text, if it belongs to the cell."""
        if self._is_open:
            self._size += len(text)
            if self._size > MOST_BYTES:
                raise ValueError("a cell is too long")
            self._pieces.append(text)

    def take(self) -> str:
        """Return the text."""
        return "".join(self._pieces)


class _SheetReader:
    """Reads the cells of a sheet from the events of a parser."""

    def __init__(self, path: PathName, strings: list[str], formats: list[str], is_1904: bool, keep_blank: bool) -> None:
        self._path, self._strings, self._formats = path, strings, formats
        self._is_1904, self._keep_blank = is_1904, keep_blank
        self.content = _Content()
        self._letters = _Letters()
        self._number, self._column, self._n_hidden = 0, -1, 0
        self._row: dict[int, str] = {}
        self._is_hidden = False
        self._kind, self._style = "n", 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """See an element begin."""
        name = bare(tag)
        if name == "c":
            self._start_cell(attributes)
        elif name == "row":
            self._start_row(attributes)
        elif name == "col" and _is_on(attributes.get("hidden")):
            self._hide(max(int(attributes.get("min", 0)), 1), min(int(attributes.get("max", 0)), MOST_SHEET_COLUMNS))
        else:
            self._letters.start(name)

    def end(self, tag: str) -> None:
        """See an element end."""
        name = bare(tag)
        self._letters.end(name)
        if name == "c":
            self._row[self._column] = self._cell(self._letters.take())
        elif name == "row":
            hidden = self.content.hidden
            is_visible = not self._is_hidden and any(t for c, t in self._row.items() if c not in hidden)
            if self._keep_blank or is_visible:
                self.content.rows[self._number] = self._row

    def text(self, text: str) -> None:
        """See a piece of text."""
        self._letters.add(text)

    def _hide(self, first: int, final: int) -> None:
        """Hide columns; the settings of a sheet do not overlap, so they hide no more than it has."""
        self._n_hidden += max(0, final - first + 1)
        if self._n_hidden > MOST_SHEET_COLUMNS:
            raise UnreadableError(self._path, f"it hides more than {MOST_SHEET_COLUMNS:,} columns")
        self.content.hidden.update(range(first - 1, final))

    def _start_row(self, attributes: dict[str, str]) -> None:
        number = int(attributes.get("r", self._number + 1))
        if not self._number < number <= MOST_SHEET_ROWS:
            raise UnreadableError(self._path, f"a row after row {self._number:,} has no number that a sheet can have")
        self._number, self._column, self._row = number, -1, {}
        self._is_hidden = _is_on(attributes.get("hidden"))

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self._letters.clear()
        place = PLACE.fullmatch(attributes["r"]) if "r" in attributes else None
        column = _column(place[1].upper()) if place else self._column + 1
        is_elsewhere = "r" in attributes and (place is None or (place[2] is not None and int(place[2]) != self._number))
        if is_elsewhere or not self._column < column < MOST_SHEET_COLUMNS:
            raise UnreadableError(self._path, f"row {self._number:,} has a cell that is not in a place of that row")
        self._column = column
        self._kind, self._style = attributes.get("t", "n"), int(attributes.get("s", 0))

    def _cell(self, value: str) -> str:
        """Return the text of a cell."""
        if self._kind == "s":
            index = int(value or 0)
            if index < 0:
                raise IndexError
            return self._strings[index] if value else ""
        if self._kind in STRING_KINDS:
            return _plain(value)
        if self._kind == "b":
            return str(value.strip() in ("1", "true")) if value else ""
        if self._kind == "d":
            return value.removesuffix("T00:00:00").replace("T", " ")
        if not value.strip():
            return ""
        return value_text(value, self._formats[self._style] if self._style < len(self._formats) else "n", self._is_1904)


def value_text(value: str, form: str, is_1904: bool = False) -> str:
    """Return the text of a stored number, with the meaning that its number format has."""
    amount = float(value)
    if form in ("d", "s"):
        return _day_text(amount, form, is_1904)
    if form == "f":
        return repr(amount)
    return _shortest(amount) if form == "n" else f"{amount:.{form}f}"


@lru_cache(maxsize=20_000)
def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _is_on(value: str | None) -> bool:
    return value in ("1", "true")


def _plain(text: str) -> str:
    if "_x" not in text:
        return text
    pieces = re.split("_x([0-9a-fA-F]{4})_", text)
    plain = "".join(chr(int(piece, 16)) if n % 2 else piece for n, piece in enumerate(pieces))
    plain.encode()  # half of a surrogate pair is a ValueError
    return plain


def _format(number: int, codes: dict[int, str]) -> str:
    """Return "n" for a number, "f" for a float, "2" if it has two decimals, "d" for a date or time, "s" for a span."""
    if number not in codes:
        dates = 14 <= number <= 22 or 27 <= number <= 36 or number in (45, 47) or 50 <= number <= 58
        return "s" if number == 46 else "d" if dates else "n"
    if len(codes[number]) > MOST_FORMAT:
        raise ValueError("a number format is too long")
    if codes[number] == "0.0" + "#" * 14:
        return "f"
    if (fixed := DECIMALS.fullmatch(codes[number])) is not None:
        return str(len(fixed[1]))
    code = codes[number].lower().replace("general", "")
    code = re.sub(r'"[^"]*"|\\.|_.|\*.', "", code).split(";")[0]
    brackets = re.findall(r"\[([^\]]*)\]", code)
    if any(inside and not set(inside) - set("hms") for inside in brackets):
        return "s"
    return "d" if set(re.sub(r"\[[^\]]*\]", "", code)) & set("dmyhs") else "n"


def _shortest(number: float) -> str:
    if number.is_integer() and abs(number) < 10**15:
        return f"{int(number)}"
    return f"{Decimal(repr(number)):f}".removesuffix(".0")


def _day_text(days: float, form: str, is_1904: bool) -> str:
    if form == "d" and (not 0 <= days < 2_958_466 or (not is_1904 and 60 <= days < 61)):
        return _shortest(days)
    total = round(days * 86_400_000)
    day, remainder = divmod(total, 86_400_000)
    clock = timedelta(milliseconds=remainder)
    minutes, seconds = divmod(clock.seconds, 60)
    milliseconds = f".{remainder % 1000:03}" if remainder % 1000 else ""
    if form == "s":
        return f"P{day}DT{minutes // 60}H{minutes % 60}M{seconds}{milliseconds.rstrip('0')}S"
    time_text = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{milliseconds}"
    if days < 1:
        return time_text
    base = date(1904, 1, 1) if is_1904 else date(1899, 12, 31) if days < 60 else date(1899, 12, 30)
    calendar_day = base + timedelta(days=day)
    return f"{calendar_day} {time_text}" if remainder else f"{calendar_day}"
