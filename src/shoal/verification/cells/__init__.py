"""What a released cell states about a source cell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

from shoal.schema import Column
from shoal.verification.cells.forms import MOST_DIGITS, read_date, read_number, read_truth

__all__ = ["MOST_DIGITS", "SUPPRESSED", "Cells", "Cover", "Span", "normalise", "set_members"]

SUPPRESSED = "*"
MEMBER = re.compile(r'"([^"]*(?:""[^"]*)*)"|([^",{}\n]+)')
MOST_KEPT_COVERS = 200_000
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
        kind: "numeric", "date", "categorical", "boolean" or "ordered"; None reads a range or a set as any of them, and
            a single value as text.
        date_format: The format of dates, as for strptime.
        missing: The texts that mean a missing value, besides the empty one.
        marks: The decimal and the thousands mark of numbers, and their unit.
        labels: The values that each label of a hierarchy means; a cell that is one of these labels covers exactly them.
        order: The values of ordered categories, lowest first. A set of them covers its members only if they are
            neighbours, and in this order.
        literal: Whether a single value covers its own text alone, and not another text of the same number, date or
            truth value.
    """

    def __init__(
        self,
        kind: str | None,
        date_format: str = "%Y-%m-%d",
        missing: Iterable[str] = (),
        marks: tuple[str, ...] = (".", ""),
        labels: Mapping[str, Iterable[str]] | None = None,
        order: Sequence[str] = (),
        *,
        literal: bool = False,
    ) -> None:
        self._kind = kind
        self._date_format = date_format
        self._missing = frozenset(map(normalise, missing)) | {""}
        self._marks = marks
        self._labels = labels or {}
        self._ranks = {normalise(value): rank for rank, value in enumerate(order)}
        self._is_literal = literal
        self._covers: dict[str, Cover] = {}
        self._sources: dict[str, tuple[str, tuple[str, Any]]] = {}

    @classmethod
    def of(
        cls,
        column: Column,
        missing: Iterable[str] = (),
        labels: Mapping[str, Iterable[str]] | None = None,
        *,
        literal: bool = False,
    ) -> Cells:
        """Return the cells of a column."""
        return cls(column.kind, column.date_format, missing, column.marks, labels, column.order, literal=literal)

    @property
    def has_ranks(self) -> bool:
        """Whether the values are ordered categories whose order is known."""
        return self._kind == "ordered" and bool(self._ranks)

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
        """Return the scale of a normalised value ("number", "date", "truth", "rank" or "text") and its position."""
        if self._kind in (None, "numeric") and (number := read_number(text, *self._marks)) is not None:
            return "number", number
        if self._kind in (None, "date") and (date := read_date(text, self._date_format)) is not None:
            return "date", date
        if self._kind == "boolean" and (truth := read_truth(text)) is not None:
            return "truth", truth
        if self._kind == "ordered" and text in self._ranks:
            return "rank", self._ranks[text]
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
        return set() if self._kind in ("numeric", "date") else set(set_members(cell.strip()))

    def _read(self, cell: str) -> Cover:
        text = normalise(cell)
        if text == SUPPRESSED:
            return Cover(everything=True)
        if text in self._labels:
            values = frozenset(map(normalise, self._labels[text]))
            places = frozenset(() if self._is_literal else map(self.place, values))
            return Cover(False, not self._missing.isdisjoint(values), values, places=places)
        if text in self._missing:
            return Cover(missing=True)
        if self._kind in ("boolean", "ordered"):
            return self._read_ranks(cell)
        members = self.members(cell)
        spans = {} if self._kind == "categorical" else self._spans(text)
        return Cover(False, not self._missing.isdisjoint(members), frozenset({text, *(members - self._missing)}), spans)

    def _read_ranks(self, cell: str) -> Cover:
        """Return what a value or a set of a boolean or of ordered categories covers."""
        members = set_members(cell.strip()) or [normalise(cell)]
        places = [self.place(member) for member in members]
        if len(places) > 1 and not all(
            scale == other in ("truth", "rank") and after == before + 1
            for (scale, before), (other, after) in pairwise(places)
        ):
            return Cover()
        return Cover(texts=frozenset(members), places=frozenset(() if self._is_literal else places))

    def _spans(self, text: str) -> dict[str, Span]:
        scale, value = self.place(text)
        if scale != "text":
            is_text = self._kind is None or self._is_literal  # 2139 is not 02139
            return {} if is_text else {scale: Span(value, value, False)}
        if text[:1] != "[" or text[-1:] not in ("]", ")"):
            return {}
        parts = text[1:-1].split(", ", MOST_PARTS)
        for cut in range(1, len(parts)):  # a date may contain the separator: Jan 5, 2020
            (scale, low), (other, high) = (self.place(", ".join(part)) for part in (parts[:cut], parts[cut:]))
            if scale == other != "text":
                return {} if self._is_literal and low == high else {scale: Span(low, high, text[-1] == ")")}
        return {}


def set_members(cell: str) -> list[str]:
    """Return the normalised members of a set such as ``{a, "b, c"}``; none if the cell is not a set."""
    if cell[:1] != "{" or cell[-1:] != "}":
        return []
    members, position = [], 1
    while match := MEMBER.match(cell, position, len(cell) - 1):
        quoted, bare = match.groups()
        members.append(normalise(bare if quoted is None else quoted.replace('""', '"')))
        position = match.end()
        if position == len(cell) - 1:
            return members
        if not cell.startswith(", ", position):
            break
        position += 2
    return []
