"""What a released cell states about a source cell."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import chain
from operator import itemgetter
from typing import Any

__all__ = ["MOST_DIGITS", "SUPPRESSED", "Cells", "Cover", "Span", "normalise"]

SUPPRESSED = "*"
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")  # in linear time
WORD = re.compile(r"\d+|[^\W\d_]+")  # a number or a name in a date
MEMBER = re.compile(r'"([^"]*(?:""[^"]*)*)"|([^",{}\n]+)')
MOST_KEPT_COVERS = 200_000
MOST_DIGITS = 1_000  # letters of a number or a date, and zeros that are written out
SHORT = 256  # letters up to which Python's normalisation is fast
MOST_PARTS = 10  # of a range at the separator of its ends, which dates may contain too


def normalise(text: str) -> str:
    """Return the form in which cells of quasi-identifiers are compared: stripped, in Unicode form NFC."""
    text = text.strip()
    if len(text) > SHORT and not text.isascii():
        text = _ordered(text)
    return unicodedata.normalize("NFC", text)


def _ordered(text: str) -> str:
    """Decompose a text and order the marks of each letter; Python does that in quadratic time."""
    keyed: list[tuple[int, int, str]] = []
    letter = 0
    for sign in chain.from_iterable(unicodedata.normalize("NFD", sign) for sign in text):
        rank = unicodedata.combining(sign)
        letter += rank == 0
        keyed.append((letter, rank, sign))
    return "".join(sign for *_, sign in sorted(keyed, key=itemgetter(0, 1)))


@dataclass(frozen=True, slots=True)
class Span:
    """A range of numbers or dates; a half-open one does not include its upper bound."""

    low: Any
    high: Any
    half_open: bool

    def contains(self, value: Any) -> bool:
        """Return whether the value lies in the range."""
        return bool(self.low <= value < self.high or (value == self.high and not self.half_open and self.low <= value))


@dataclass(frozen=True, slots=True)
class Cover:
    """The source cells that one released cell covers.

    Attributes:
        everything: Whether it covers all cells.
        missing: Whether it covers missing values.
        texts: The texts that it covers.
        spans: The ranges that it covers, by "number" or "date".
        places: The values that it covers, compared by meaning and not by text.
    """

    everything: bool = False
    missing: bool = False
    texts: frozenset[str] = frozenset()
    spans: dict[str, Span] = field(default_factory=dict)
    places: frozenset[tuple[str, Any]] = frozenset()


class Cells:
    """The cells of one quasi-identifier.

    Args:
        kind: "numeric", "date" or "categorical"; None reads a range or a set as any of them, and a single value as
            text.
        date_format: The format of dates, as for strptime.
        missing: The texts that mean a missing value, besides the empty one.
        marks: The decimal and the thousands mark of numbers.
        labels: The values that each label of a hierarchy means; a cell that is one of these labels covers exactly them.
    """

    def __init__(
        self,
        kind: str | None,
        date_format: str = "%Y-%m-%d",
        missing: Iterable[str] = (),
        marks: tuple[str, str] = (".", ""),
        labels: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self._kind = kind
        self._date_format = date_format
        self._missing = frozenset(map(normalise, missing)) | {""}
        self._marks = marks
        self._labels = labels or {}
        self._covers: dict[str, Cover] = {}
        self._sources: dict[str, tuple[str, tuple[str, Any]]] = {}

    def is_missing(self, text: str) -> bool:
        """Return whether a cell means a missing value."""
        return normalise(text) in self._missing

    def covers(self, source: str, cell: str) -> bool:
        """Return whether a released cell is true of a source cell."""
        cover = self.read(cell)
        if cover.everything:
            return True
        text, (scale, value) = self._source(source)
        if text in self._missing:
            return cover.missing
        if text in cover.texts:
            return True
        return (scale, value) in cover.places or (scale in cover.spans and cover.spans[scale].contains(value))

    def _source(self, source: str) -> tuple[str, tuple[str, Any]]:
        """Return a source cell in its normal form, and its place; the result is cached."""
        known = self._sources.get(source)
        if known is None:
            if len(self._sources) >= MOST_KEPT_COVERS:
                self._sources.clear()
            text = normalise(source)
            known = self._sources[source] = text, self.place(text)
        return known

    def place(self, text: str) -> tuple[str, Any]:
        """Return the scale of a normalised value ("number", "date" or "text") and its position there."""
        if self._kind in (None, "numeric") and (number := _number(text, *self._marks)) is not None:
            return "number", number
        if self._kind in (None, "date") and (date := _date(text, self._date_format)) is not None:
            return "date", date
        return "text", text

    def read(self, cell: str) -> Cover:
        """Return what a released cell covers."""
        cover = self._covers.get(cell)
        if cover is None:
            if len(self._covers) >= MOST_KEPT_COVERS:
                self._covers.clear()
            cover = self._covers[cell] = self._read(cell)
        return cover

    def members(self, cell: str) -> set[str]:
        """Return the members of a set; none if the cell is not one, or its kind has no sets."""
        return _members(cell.strip()) if self._kind in (None, "categorical") else set()

    def _read(self, cell: str) -> Cover:
        text = normalise(cell)
        if text == SUPPRESSED:
            return Cover(everything=True)
        if text in self._labels:
            values = frozenset(map(normalise, self._labels[text]))
            return Cover(False, not self._missing.isdisjoint(values), values, places=frozenset(map(self.place, values)))
        if text in self._missing:
            return Cover(missing=True)
        members = self.members(cell)
        spans = {} if self._kind == "categorical" else self._spans(text)
        return Cover(False, not self._missing.isdisjoint(members), frozenset({text, *(members - self._missing)}), spans)

    def _spans(self, text: str) -> dict[str, Span]:
        scale, value = self.place(text)
        if scale != "text":
            return {} if self._kind is None else {scale: Span(value, value, False)}  # 2139 is not 02139
        if text[:1] != "[" or text[-1:] not in ("]", ")"):
            return {}
        parts = text[1:-1].split(", ", MOST_PARTS)
        for cut in range(1, len(parts)):  # a date may contain the separator: Jan 5, 2020
            (scale, low), (other, high) = (self.place(", ".join(part)) for part in (parts[:cut], parts[cut:]))
            if scale == other != "text":
                return {scale: Span(low, high, text[-1] == ")")}
        return {}


def _number(text: str, decimal: str = ".", thousands: str = "") -> Decimal | None:
    if len(text) > MOST_DIGITS:
        return None
    if thousands:
        mark = "[ \u00a0\u202f]" if thousands.isspace() else re.escape(thousands)
        if re.fullmatch(rf"[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:{re.escape(decimal)}[0-9]*)?", text):
            text = re.sub(mark, "", text)
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    if not NUMBER.fullmatch(text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:  # the exponent is too large
        return None
    return number if number.is_finite() else None


def _date(text: str, form: str) -> datetime.date | None:
    if len(text) > MOST_DIGITS:
        return None
    try:
        if form == "%Y-%m-%d":
            return datetime.date.fromisoformat(text)
        moment = datetime.datetime.strptime(text, form)
        printed = moment.strftime(form)
    except ValueError:
        return None
    return moment if moment.tzinfo is None and _is_same_date(text, printed, "%f" in form) else None


def _is_same_date(text: str, printed: str, has_fraction: bool) -> bool:
    """Return whether a date prints as it is written, apart from case, blanks, padding and the zeros of a fraction.

    strptime ignores some parts (the week of %Y-W%W) and carries others over (day 366 of 2023 becomes 1 January 2024).
    """
    words, others = WORD.findall(text.lower()), WORD.findall(printed.lower())
    return len(words) == len(others) and all(
        a == b or ((a + b).isdecimal() and (int(a) == int(b) or (has_fraction and float(f".{a}") == float(f".{b}"))))
        for a, b in zip(words, others, strict=True)
    )


def _members(cell: str) -> set[str]:
    """Return the normalised members of a set such as ``{a, "b, c"}``; none if the cell is not a set."""
    if cell[:1] != "{" or cell[-1:] != "}":
        return set()
    members, position = set(), 1
    while match := MEMBER.match(cell, position, len(cell) - 1):
        quoted, bare = match.groups()
        members.add(normalise(bare if quoted is None else quoted.replace('""', '"')))
        position = match.end()
        if position == len(cell) - 1:
            return members
        if not cell.startswith(", ", position):
            break
        position += 2
    return set()
