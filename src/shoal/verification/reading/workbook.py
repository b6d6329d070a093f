"""The verifier's own reader for Excel workbooks, in plain Python over the XML.

A number is the shortest decimal of what is stored; dates and times are in ISO format, durations like P1DT2H3M4S.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from xml.etree import ElementTree

from shoal.errors import UsageError
from shoal.verification.reading.files import UnreadableError

__all__ = ["excel_rows", "has_choice"]

BROKEN = (OSError, EOFError, zlib.error, RuntimeError)
STRING_KINDS = ("str", "inlineStr", "e")


def excel_rows(
    path: str | os.PathLike[str], size: int, *, sheet: str | None = None, keep_blank: bool = False
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
    place = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            rows = list(_sheet_rows(_Workbook(archive, place), sheet, keep_blank))
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, ElementTree.ParseError, *BROKEN):
        raise UnreadableError(
            path, "it cannot be read as an Excel workbook: it is damaged or of another kind"
        ) from None
    used = sorted({column for row in rows for column in row if row[column]})
    if used:
        columns = range(0 if keep_blank else used[0], used[-1] + 1)
        hidden_columns = rows.pop()  # yielded last
        visible_columns = [column for column in columns if column not in hidden_columns]
        for begin in range(0, len(rows), size):
            yield [[row.get(column, "") for column in visible_columns] for row in rows[begin : begin + size]]


def has_choice(path: str | os.PathLike[str], sheet: str | None) -> bool:
    """Return whether a workbook has this sheet, or several visible ones to choose from."""
    try:
        with zipfile.ZipFile(path) as archive:
            visible = _Workbook(archive, os.fspath(path)).visible()
    except (zipfile.BadZipFile, KeyError, ValueError, ElementTree.ParseError, *BROKEN):
        return False  # `excel_rows` reports it
    return len(visible) > 1 or sheet in [each["name"] for each in visible]


class _Workbook:
    """The parts of a workbook that define what its cells mean."""

    def __init__(self, archive: zipfile.ZipFile, place: str) -> None:
        self.archive, self.place = archive, place
        book = self._tree("xl/workbook.xml")
        self.sheets = [dict(_bare(e.attrib)) for e in book.iter() if _tag(e) == "sheet"]
        self.is_1904 = any(_is_on(e.get("date1904")) for e in book.iter() if _tag(e) == "workbookPr")
        names = archive.namelist()
        strings = self._tree("xl/sharedStrings.xml") if "xl/sharedStrings.xml" in names else ()
        self.strings = [_string(item) for item in strings]
        self.formats = self._formats() if "xl/styles.xml" in names else []

    def visible(self) -> list[dict[str, str]]:
        """Return the visible sheets."""
        return [sheet for sheet in self.sheets if sheet.get("state", "visible") == "visible"]

    def part(self, name: str | None) -> str:
        """Return the part of a sheet; the first visible one if no name is given."""
        matches = [sheet for sheet in self.visible() if name in (None, sheet["name"])]
        if not matches:
            raise UsageError(f"{self.place}: sheet {name!r} is not a visible sheet of the workbook.")
        links = {e.get("Id"): e.get("Target", "") for e in self._tree("xl/_rels/workbook.xml.rels")}
        target = links[matches[0]["id"]]
        return target[1:] if target.startswith("/") else "xl/" + target

    def _tree(self, part: str) -> ElementTree.Element:
        return ElementTree.fromstring(self.archive.read(part))

    def _formats(self) -> list[str]:
        tree = self._tree("xl/styles.xml")
        codes = {int(e.get("numFmtId", 0)): e.get("formatCode", "") for e in tree.iter() if _tag(e) == "numFmt"}
        styles = [e for group in tree if _tag(group) == "cellXfs" for e in group]
        return [_format(int(e.get("numFmtId", 0)), codes) for e in styles]

    def text(self, cell: ElementTree.Element) -> str:
        """Return the text of a cell."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(_string(part) for part in cell if _tag(part) == "is")
        value = next((part.text or "" for part in cell if _tag(part) == "v"), "")
        if kind == "s":
            return self.strings[int(value)]
        if kind in STRING_KINDS:
            return _plain(value)
        if kind == "b":
            return str(value.strip() in ("1", "true")) if value else ""
        if kind == "d":
            return value.removesuffix("T00:00:00").replace("T", " ")
        if not value.strip():
            return ""
        style = int(cell.get("s", 0))
        form = self.formats[style] if style < len(self.formats) else "n"
        return _day_text(float(value), form, self.is_1904) if form != "n" else _shortest(float(value))


def _sheet_rows(book: _Workbook, sheet: str | None, keep_blank: bool) -> Iterator[dict[int, str]]:
    """Yield each row as {column: text}, and at the end one more dictionary with the hidden columns as keys."""
    hidden: dict[int, str] = {}
    last = 0
    with book.archive.open(book.part(sheet)) as file:
        for _, element in ElementTree.iterparse(file):
            tag = _tag(element)
            if tag == "col" and _is_on(element.get("hidden")):
                first, final = int(element.get("min", 0)), min(int(element.get("max", 0)), 16_384)
                hidden |= dict.fromkeys(range(first - 1, final), "")
            elif tag == "row":
                number = int(element.get("r", last + 1))
                yield from ({} for _ in range(last + 1, number) if keep_blank)
                last = number
                row = _row(book, element)
                if keep_blank or (
                    any(t for c, t in row.items() if c not in hidden) and not _is_on(element.get("hidden"))
                ):
                    yield row
                element.clear()
    yield hidden


def _row(book: _Workbook, element: ElementTree.Element) -> dict[int, str]:
    row: dict[int, str] = {}
    column = -1
    for cell in element:
        letters = cell.get("r", "").rstrip("0123456789")
        column = _column(letters) if letters else column + 1
        row[column] = book.text(cell)
    return row


@lru_cache(maxsize=20_000)
def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _tag(element: ElementTree.Element) -> str:
    return _bare_tag(element.tag)


@lru_cache(maxsize=1_000)
def _bare_tag(tag: str) -> str:
    return tag.rpartition("}")[2]


def _bare(attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((name.rpartition("}")[2], value) for name, value in attributes.items())


def _is_on(value: str | None) -> bool:
    return value in ("1", "true")


def _string(item: ElementTree.Element) -> str:
    if len(item) == 1 and _tag(item[0]) == "t":
        return _plain(item[0].text or "")
    parts = [p for p in item if _tag(p) == "t"] + [p for run in item if _tag(run) == "r" for p in run if _tag(p) == "t"]
    return _plain("".join(part.text or "" for part in parts))


def _plain(text: str) -> str:
    if "_x" not in text:
        return text
    pieces = re.split("_x([0-9a-fA-F]{4})_", text)
    return "".join(chr(int(piece, 16)) if n % 2 else piece for n, piece in enumerate(pieces))


def _format(number: int, codes: dict[int, str]) -> str:
    """Return "n" for a number, "d" for a date or time, "s" for a duration."""
    if number not in codes:
        dates = 14 <= number <= 22 or 27 <= number <= 36 or number in (45, 47) or 50 <= number <= 58
        return "s" if number == 46 else "d" if dates else "n"
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
    total = round(days * 86_400_000)
    day, remainder = divmod(total, 86_400_000)
    clock = timedelta(milliseconds=remainder)
    minutes, seconds = divmod(clock.seconds, 60)
    milliseconds = f".{remainder % 1000:03}" if remainder % 1000 else ""
    if form == "s":
        return f"P{day}DT{minutes // 60}H{minutes % 60}M{seconds}{milliseconds.rstrip('0')}S"
    if days < 0 or days >= 2_958_466 or (not is_1904 and 60 <= days < 61):
        return _shortest(days)
    time_text = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{milliseconds}"
    if days < 1:
        return time_text
    base = date(1904, 1, 1) if is_1904 else date(1899, 12, 31) if days < 60 else date(1899, 12, 30)
    calendar_day = base + timedelta(days=day)
    return f"{calendar_day} {time_text}" if remainder else f"{calendar_day}"
