"""The content of one sheet of a workbook, read in one pass over its XML.

A sheet has 1,048,576 rows and 16,384 columns. A reference beyond them is refused before anything is made of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import IO
from xml.parsers import expat

from shoal.tables.watch import Watch

__all__ = [
    "FLOAT",
    "DamagedError",
    "Sheet",
    "SheetReader",
    "make_parser",
    "number_text",
    "parse_part",
    "serial_text",
    "style_of",
    "unescape",
]

ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\[\]]*\]')
DATE_FORMATS = frozenset([*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)])
SPAN_FORMATS = frozenset({46})
# Formats of releases, in which a number has at least one decimal, or always the same number of decimals.
FLOAT = "0.0##############"
FIXED = re.compile(r"0\.(0{1,9});-0\.\1")
BLOCK_BYTES = 1 << 20
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
LONGEST_FORMAT = 1000  # characters; Excel allows 255


class DamagedError(ValueError):
    """Something in a sheet that no program writes; the text says where and what."""


@dataclass
class Sheet:
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
    kinds: dict[int, set[str]] = field(default_factory=dict)  # by column, what its cells are, but the first row
    first_kinds: dict[int, str] = field(default_factory=dict)  # what the cells of the first row are


def make_parser() -> expat.XMLParserType:
    """Return an XML parser that refuses document types."""
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ValueError("a document type")  # it could define entities that expand without limit

    parser.StartDoctypeDeclHandler = refuse
    return parser


def parse_part(parser: expat.XMLParserType, file: IO[bytes], watch: Watch) -> None:
    """Parse a large part of a workbook block by block, so that the caller can cancel."""
    while block := file.read(BLOCK_BYTES):
        watch.check()
        parser.Parse(block, False)
    parser.Parse(b"", True)


def style_of(number: int, code: str | None) -> str:
    """Return the meaning of numbers in a number format: "number", "float", "fixed2", "date" or "span"."""
    if code is None:
        return "span" if number in SPAN_FORMATS else "date" if number in DATE_FORMATS else "number"
    if len(code) > LONGEST_FORMAT:
        raise DamagedError(f"number format {number} is longer than {LONGEST_FORMAT} characters")
    if code == FLOAT:
        return "float"
    if fixed := FIXED.fullmatch(code):
        return f"fixed{len(fixed[1])}"
    plain = LITERAL.sub("", code.lower()).partition(";")[0].replace("general", "")
    if re.search(r"\[[hms]+\]", plain):
        return "span"
    return "date" if re.search("[dmyhs]", plain) else "number"


def unescape(text: str) -> str:
    """Replace escapes such as _x000D_ by their characters."""
    return ESCAPE.sub(_unescaped, text) if "_x" in text else text


def _unescaped(escape: re.Match[str]) -> str:
    if 0xD800 <= (code := int(escape[1], 16)) <= 0xDFFF:
        raise DamagedError("a text contains half of a surrogate pair, which is not a character")
    return chr(code)


def number_text(text: str, style: str = "number") -> str:
    """Return the shortest decimal of a stored number, without an exponent: 30, 0.1, 10000000000000000.

    In the formats of releases, it is the text of a float (30.0, 1e+16), or has fixed decimals (30.00).
    """
    number = float(text)
    if style == "float":
        return repr(number)
    if style != "number":
        return f"{number:.{style.removeprefix('fixed')}f}"
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


class SheetReader:
    """Collects the content of a sheet in one pass over its XML."""

    def __init__(self, strings: list[str], styles: list[str], dates_1904: bool) -> None:
        self._strings, self._styles, self._dates_1904 = strings, styles, dates_1904
        self._content = Sheet()
        self._row: dict[int, str] = {}
        self._hidden = False
        self._column = -1
        self._n_rows = self._n_settings = 0
        self._kind, self._style = "n", 0
        self._value: list[str] = []
        self._is_reading = self._has_value = self._has_formula = False

    def read(self, file: IO[bytes], watch: Watch) -> Sheet:
        """Read the sheet."""
        parser = make_parser()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data
        parse_part(parser, file, watch)
        return self._content

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            self._column = _column_number(letters) if letters else self._column + 1
            if not 0 <= self._column < MOST_COLUMNS:
                raise DamagedError(f"row {self._n_rows} has a cell beyond column XFD, the last one of a sheet")
            self._kind, self._style = attributes.get("t", "n"), int(attributes.get("s", "0"))
            self._value = []
            self._has_value = self._has_formula = False
        elif bare in ("v", "t"):
            self._is_reading = self._has_value = True
        elif bare == "f":
            self._has_formula = True
        elif bare == "row":
            self._n_rows = int(attributes.get("r", self._n_rows + 1))
            if not 0 < self._n_rows <= MOST_ROWS:
                raise DamagedError(f"a row has the number {self._n_rows:.3g}; a sheet has {MOST_ROWS:,} rows")
            self._row, self._column = {}, -1
            self._hidden = attributes.get("hidden", "0") in ("1", "true")
        elif bare == "col" and attributes.get("hidden", "0") in ("1", "true"):
            first, last = max(int(attributes["min"]), 1), min(int(attributes["max"]), MOST_COLUMNS)
            self._n_settings += max(0, last - first + 1)
            if self._n_settings > MOST_COLUMNS:
                raise DamagedError(f"it has settings for more than {MOST_COLUMNS:,} columns")
            self._content.hidden_columns |= set(range(first - 1, last))
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
                if len(self._content.rows) == MOST_ROWS:
                    raise DamagedError(f"it has more than {MOST_ROWS:,} rows")
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
            if not self._hidden:
                self._note_kind()

    def _note_kind(self) -> None:
        """Record what the last cell is; the first row may hold the names of the columns."""
        kind = {"n": "number", "b": "boolean", "d": "date"}.get(self._kind, "text")
        if self._kind == "n" and self._style < len(self._styles):
            kind = self._styles[self._style]
        if self._content.rows:
            self._content.kinds.setdefault(self._column, set()).add(kind)
        else:
            self._content.first_kinds[self._column] = kind

    def _text(self, value: str) -> str:
        if self._kind == "s":
            return self._strings[_index(value)]
        if self._kind == "b":
            return "True" if value.strip() in ("1", "true") else "False"
        if self._kind == "d":
            return value.removesuffix("T00:00:00").replace("T", " ")
        if self._kind != "n":
            return unescape(value)
        if not value.strip():
            return ""
        style = self._styles[self._style] if self._style < len(self._styles) else "number"
        return serial_text(value, style, self._dates_1904) if style in ("date", "span") else number_text(value, style)


def _index(text: str) -> int:
    """Return the index of a shared string; Python would count a negative one from the end."""
    index = int(text)
    if index < 0:
        raise IndexError
    return index


@lru_cache(maxsize=20_000)
def _column_number(letters: str) -> int:
    """Return the number of a column from its letters, counted from 0; -1 if it has none."""
    if not (letters.isascii() and letters.isalpha() and len(letters) <= 3):
        return -1
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1
