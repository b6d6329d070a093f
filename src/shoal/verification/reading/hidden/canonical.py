"""Whether a sheet is written in the one way in which releases are: no byte could be another one."""

from __future__ import annotations

import re
from typing import IO

from shoal.verification.reading.workbook import value_text

__all__ = ["is_plain_sheet"]

DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# The sheet of a release: rows of cells, each with its text. Nothing in it can be written in another way.
HEAD = (
    DECLARATION + '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
).encode()
TAIL = b"</sheetData></worksheet>"
NUMBER = rb"[1-9][0-9]{0,6}"
# An escape stands for what XML cannot contain, or for an underscore that would begin an escape.
HEX = rb"[0-9A-Fa-f]{4}_"
ESCAPE = rb"_x(?:(?:000[0-8BCDEF]|001[0-9A-F]|FFF[EF])_|005F_(?=x%s))" % HEX
TEXT = rb"(?:[^<>&\r_]++|_(?!x%s)|%s|&amp;|&lt;|&gt;)++" % (HEX, ESCAPE)
CELL = rb'<c r="[A-Z]{1,3}%s" t="inlineStr"><is><t(?: xml:space="preserve")?>%s</t></is></c>' % (NUMBER, TEXT)
TEXTS = re.compile(rb'<t( xml:space="preserve")?>([^<]+)</t>')
ESCAPES = re.compile("_x([0-9A-F]{4})_")
ROWS = re.compile(rb'(?:<row r="%s"(?:/>|>(?:%s)++</row>))*+' % (NUMBER, CELL))
# A workbook with styles has columns of numbers, dates, times and booleans, too.
VALUE = rb"-?[0-9]{1,17}(?:\.[0-9]{1,330})?(?:e[+-][0-9]{2,3})?"
TYPED = rb'<c r="[A-Z]{1,3}%s"(?: s="[1-9][0-9]?"| t="b")?><v>%s</v></c>' % (NUMBER, VALUE)
TYPED_ROWS = re.compile(rb'(?:<row r="%s"(?:/>|>(?:%s|%s)++</row>))*+' % (NUMBER, CELL, TYPED))
CELLS = re.compile(rb'<c r="([A-Z]+)([0-9]+)"([^>]*)>(?:<v>([^<]*)</v>)?')
# What the styles of a release mean, from the second on: see `value_text`.
MEANINGS = ("d", "d", "d", "d", "d", "s", "s", "f", *"123456789")
SHOWS = (0, 1000, 1, 1000, 1, 1000, 1)  # the thousandths of a second that a format shows; none but days
DAY_MS = 86_400_000
MOST_DAYS = 10_000_000
FIRST_DAY = 61  # 1 March 1900; programs disagree about the days before
EXACT = 1 << 53
BLOCK_BYTES = 1 << 20
MOST_BYTES = 1 << 28  # of a row


def is_plain_sheet(file: IO[bytes], *, typed: bool) -> bool:
    """Return whether the bytes of a sheet are rows of cells as a release has them, from the first to the last.

    Args:
        file: The sheet.
        typed: Whether the workbook has styles, so that columns may hold values other than text.
    """
    if file.read(len(HEAD)) != HEAD:
        return False
    columns, pattern = _Columns(), TYPED_ROWS if typed else ROWS
    rest, size = b"", BLOCK_BYTES
    while block := file.read(size):
        rest += block
        end = pattern.match(rest).end()  # type: ignore[union-attr]
        if not _are_marked(rest[:end]) or (typed and not columns.add(rest[:end])):
            return False
        size = BLOCK_BYTES if end else min(2 * size, MOST_BYTES)  # a long row is not looked at again and again
        rest = rest[end:]
        if len(rest) > MOST_BYTES:
            return False
    return rest == TAIL and columns.has_values == typed


class _Columns:
    """The columns of a sheet: each has cells of one type and style, and no value could be spelled in another way."""

    def __init__(self) -> None:
        self._form_of: dict[bytes, bytes] = {}
        self._known: set[tuple[bytes, bytes]] = set()
        self.has_values = False

    def add(self, rows: bytes) -> bool:
        """Return whether the cells of further rows fit the columns so far; the first row holds names."""
        found = {(column, row == b"1", form, value) for column, row, form, value in CELLS.findall(rows)}
        for column, is_name, form, value in found:
            is_text = form == b' t="inlineStr"'
            if is_name:
                if not is_text:
                    return False
                continue
            if self._form_of.setdefault(column, form) != form:
                return False
            if not is_text and (form, value) not in self._known:
                if not _is_spelled(form.decode(), value.decode()):
                    return False
                self._known.add((form, value))
                self.has_values = True
        return True


def _is_spelled(form: str, value: str) -> bool:
    """Return whether a value is spelled as in a release, and has nothing that its number format does not show."""
    if form == ' t="b"':
        return value in ("0", "1")
    style = int(form[4:-1]) if form else 0
    if style > len(MEANINGS):
        return False
    meaning = MEANINGS[style - 1] if style else "n"
    if meaning not in ("d", "s"):
        is_whole = not set(value) & set(".e")
        return (
            value_text(value, meaning) == value
            and not (float(value) == 0 and value[0] == "-")
            and (not is_whole or abs(int(value)) < EXACT)
        )
    if not float(value) < MOST_DAYS:
        return False
    total = round(float(value) * DAY_MS)
    unit = SHOWS[style - 1] or DAY_MS
    is_in_range = total < DAY_MS if style in (4, 5) else meaning == "s" or total >= FIRST_DAY * DAY_MS
    return f"{total / DAY_MS!r}".removesuffix(".0") == value and total >= 0 and total % unit == 0 and is_in_range


def _are_marked(rows: bytes) -> bool:
    """Return whether those cells are marked whose blanks a reader may remove otherwise, and no others."""
    for mark, raw in set(TEXTS.findall(rows)):
        text = raw.decode("utf-8", "replace")
        if "_x" in text:
            text = ESCAPES.sub(lambda match: chr(int(match[1], 16)), text)
        if bool(mark) != (text[0].isspace() or text[-1].isspace() or "\n" in text):
            return False
    return True
