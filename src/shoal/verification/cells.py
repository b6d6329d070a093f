"""What a released cell says about a source cell."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

__all__ = ["Cells", "Cover", "Span", "normalise"]

SUPPRESSED = "*"
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
MEMBER = re.compile(r'"([^"]*(?:""[^"]*)*)"|([^",{}\n]+)')
MOST_KEPT_COVERS = 200_000


def normalise(text: str) -> str:
    """Return the text as quasi-identifiers are compared: without outer blanks, in Unicode form NFC."""
    return unicodedata.normalize("NFC", text.strip())


@dataclass(frozen=True, slots=True)
class Span:
    """A range of numbers or dates."""

    low: Any
    high: Any
    half_open: bool

    def holds(self, value: Any) -> bool:
        """Say whether the value lies in the range."""
        return bool(self.low <= value < self.high or (value == self.high and not self.half_open and self.low <= value))


@dataclass(frozen=True, slots=True)
class Cover:
    """The source cells that one released cell stands for."""

    everything: bool = False
    missing: bool = False
    texts: frozenset[str] = frozenset()
    spans: dict[str, Span] = field(default_factory=dict)  # by "number" or "date"
    places: frozenset[tuple[str, Any]] = frozenset()  # values told apart by what they mean, not by their text


class Cells:
    """The cells of one quasi-identifier, read as its kind says: "numeric", "date", "categorical", None for any.

    marks: the decimal and the thousands mark of its numbers. labels: the values that each label of a hierarchy stands
    for; a cell that is one of these labels covers them and nothing else.
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
        self._kept: dict[str, Cover] = {}

    def is_missing(self, text: str) -> bool:
        """Say whether a cell stands for a missing value."""
        return normalise(text) in self._missing

    def covers(self, source: str, cell: str) -> bool:
        """Say whether the released cell is a true statement about the source cell."""
        cover = self.read(cell)
        if cover.everything:
            return True
        text = normalise(source)
        if text in self._missing:
            return cover.missing
        if text in cover.texts:
            return True
        if not cover.spans and not cover.places:
            return False
        scale, value = self.place(text)
        return (scale, value) in cover.places or (scale in cover.spans and cover.spans[scale].holds(value))

    def place(self, text: str) -> tuple[str, Any]:
        """Return the scale of a normalised value ("number", "date" or "text") and its place there."""
        if self._kind in (None, "numeric") and (number := _number(text, *self._marks)) is not None:
            return "number", number
        if self._kind in (None, "date") and (date := _date(text, self._date_format)) is not None:
            return "date", date
        return "text", text

    def read(self, cell: str) -> Cover:
        """Return what a released cell covers."""
        cover = self._kept.get(cell)
        if cover is None:
            if len(self._kept) >= MOST_KEPT_COVERS:
                self._kept.clear()
            cover = self._kept[cell] = self._read(cell)
        return cover

    def _read(self, cell: str) -> Cover:
        text = normalise(cell)
        if text == SUPPRESSED:
            return Cover(everything=True)
        if text in self._labels:
            values = frozenset(map(normalise, self._labels[text]))
            return Cover(False, not self._missing.isdisjoint(values), values, places=frozenset(map(self.place, values)))
        if text in self._missing:
            return Cover(missing=True)
        members = _members(cell.strip()) if self._kind in (None, "categorical") else set()
        spans = {} if self._kind == "categorical" else self._spans(text)
        return Cover(False, not self._missing.isdisjoint(members), frozenset({text, *(members - self._missing)}), spans)

    def _spans(self, text: str) -> dict[str, Span]:
        scale, value = self.place(text)
        if scale != "text":
            return {scale: Span(value, value, False)}
        if text[:1] != "[" or text[-1:] not in ("]", ")"):
            return {}
        parts = text[1:-1].split(", ")
        for cut in range(1, len(parts)):  # a date may hold the separator itself: Jan 5, 2020
            (scale, low), (other, high) = (self.place(", ".join(part)) for part in (parts[:cut], parts[cut:]))
            if scale == other != "text":
                return {scale: Span(low, high, text[-1] == ")")}
        return {}


def _number(text: str, decimal: str = ".", thousands: str = "") -> Decimal | None:
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
    except InvalidOperation:  # an exponent beyond all limits
        return None
    return number if number.is_finite() else None


def _date(text: str, form: str) -> datetime.date | None:
    try:
        if form == "%Y-%m-%d":
            return datetime.date.fromisoformat(text)
        return datetime.datetime.strptime(text, form).replace(tzinfo=None)
    except ValueError:
        return None


def _members(cell: str) -> set[str]:
    """Return the normalised members of ``{a, "b, c"}``; none if the cell is not written as a set."""
    if cell[:1] != "{" or cell[-1:] != "}":
        return set()
    members, position = set(), 1
    while found := MEMBER.match(cell, position, len(cell) - 1):
        quoted, bare = found.groups()
        members.add(normalise(bare if quoted is None else quoted.replace('""', '"')))
        position = found.end()
        if position == len(cell) - 1:
            return members
        if not cell.startswith(", ", position):
            break
        position += 2
    return set()
