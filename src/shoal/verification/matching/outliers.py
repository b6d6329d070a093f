"""Outliers that were recoded before a release was made: the verifier recodes the original itself."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Coding, Column, Kind, Role, Schema, split_unit
from shoal.verification.cells import Cells, Span, normalise
from shoal.verification.matching.packing import merged_column
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation, plural

__all__ = ["Holders", "beyond_bounds", "recode_source"]

MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
PLAIN_LABELS = ("other", "other values")

Flags = NDArray[np.bool_]
Holders = Callable[[str, Flags], int]  # counts the people who have one of some distinct cells of a column


def recode_source(
    source: CodedTable, schema: Schema, k: int, *, trusting: bool = False, holders: Holders | None = None
) -> tuple[CodedTable, list[Violation]]:
    """Recode the outliers of the original, as the columns ask for.

    Args:
        source: The original.
        schema: Its columns. A coding that states its bound or label must state the right one.
        k: How many rows or people must share the bound of a share.
        trusting: Whether a stated bound of a share is taken as it is, because the k that it depends on is not known.
        holders: Counts people; by default those of the original, if it has a column of them.

    Returns:
        The original with recoded columns, and the bounds and labels that are wrong.
    """
    columns = dict(zip(source.names, source.columns, strict=True))
    violations = []
    persons = [source.column(name) for name in schema.names(Role.PERSON) if name in columns]
    if persons and holders is None:
        holders = partial(_count_holders, source, persons[0].codes)
    for column in schema.columns:
        if not column.codings or column.name not in columns:
            continue
        original = columns[column.name]
        recoded = _Recoded(column, original, schema.missing, holders and partial(holders, column.name), k)
        texts = list(original.texts)
        for coding in column.codings:
            shown, changes = recoded.apply(coding, trusting=trusting)
            if coding.text and not recoded.is_same(coding, shown):
                text = f"the manifest states another {'label' if coding.form == 'rare' else 'bound'} of its recoding"
                violations.append(Violation(f"column {column.name!r}", f"{text} ({coding.form}) than the original has"))
            if coding.form != "rare" and shown and not recoded.is_measured(shown):
                text = f"the bound of its recoding ({coding.form}) is neither a number nor a date of the column"
                violations.append(Violation(f"column {column.name!r}", text))
            for i in changes:
                texts[i] = coding.text if coding.text and recoded.is_same(coding, shown) else shown
        columns[column.name] = merged_column(texts, original)
    return replace(source, names=list(columns), columns=list(columns.values())), violations


def _count_holders(source: CodedTable, people: NDArray[np.int32], name: str, cells: Flags) -> int:
    """Return how many people have one of some distinct cells of a column; people: the person of each row."""
    return len(np.unique(people[cells[source.column(name).codes]]))


def beyond_bounds(release: CodedTable, schema: Schema) -> list[Violation]:
    """Return the released cells that lie beyond a bound of a recoding, which needs no original."""
    violations = []
    for column in schema.released:
        for coding in column.codings:
            if coding.form == "rare" or not coding.text or column.name not in release.names:
                continue
            cells = Cells.of(column, schema.missing)
            scale, bound = cells.place(normalise(coding.text))
            released = release.column(column.name)
            is_beyond = np.array(
                [_lies_beyond(cells, text, coding, scale, bound) for text in released.texts] or [False]
            )
            rows = np.flatnonzero(is_beyond[released.codes])
            if len(rows):
                side = "above" if coding.form == "top" else "below"
                text = f"{plural(released.count(is_beyond), 'cell')} {side} the bound of its recoding"
                violations.append(Violation(f"column {column.name!r}", text, int(release.row_numbers()[rows[0]])))
    return violations


def _lies_beyond(cells: Cells, text: str, coding: Coding, scale: str, bound: Any) -> bool:
    if cells.is_missing(text):
        return False
    own, value = cells.place(normalise(text))
    span = Span(value, value, False) if own == scale else cells.read(text).spans.get(scale)
    if span is None:
        return False
    return bool(span.low > bound if coding.form == "top" else span.high < bound)


@dataclass(frozen=True)
class _Recoded:
    """A column of the original whose outliers are recoded.

    Attributes:
        column: The column.
        original: Its cells.
        missing: The texts that mean a missing value.
        holders: Counts the people who have one of some distinct cells; None if rows are counted.
        k: How many must share the bound of a share.
    """

    column: Column
    original: CodedColumn
    missing: tuple[str, ...]
    holders: Callable[[Flags], int] | None
    k: int

    @cached_property
    def _cells(self) -> Cells:
        return Cells.of(self.column, self.missing)

    def apply(self, coding: Coding, *, trusting: bool) -> tuple[str, list[int]]:
        """Return the bound or label of a coding, and the places of the distinct cells that it replaces."""
        cells = self._cells
        known = [i for i, text in enumerate(self.original.texts) if not cells.is_missing(text)]
        if coding.form == "rare":
            return self._rare(int(coding.given), known)
        place_of = {i: cells.place(normalise(self.original.texts[i])) for i in known}
        text = coding.given
        if coding.share is not None:
            is_stated = trusting and bool(coding.text)
            text = coding.text if is_stated else self._bound(coding.form, coding.share, place_of)
        scale, bound = cells.place(normalise(text))
        is_top = coding.form == "top"
        changes = [
            i
            for i, (other, value) in place_of.items()
            if other == scale in ("number", "date") and (value >= bound if is_top else value <= bound)
        ]
        return text, changes

    def is_measured(self, bound: str) -> bool:
        """Return whether a bound is a number or a date, so that values can lie beyond it."""
        return self._cells.place(normalise(bound))[0] in ("number", "date")

    def is_same(self, coding: Coding, shown: str) -> bool:
        """Return whether a coding states the bound or label that was found."""
        if coding.form == "rare":
            return coding.text == shown
        return self._cells.place(normalise(coding.text)) == self._cells.place(normalise(shown))

    def _rare(self, least: int, known: list[int]) -> tuple[str, list[int]]:
        counts = self.original.counts()
        rows: dict[str, int] = {}
        normal = {i: normalise(self.original.texts[i]) for i in range(len(self.original.texts))}
        for i in known:
            rows[normal[i]] = rows.get(normal[i], 0) + int(counts[i])
        changes = [i for i in known if rows[normal[i]] < least]
        taken = {text.casefold() for text in (*normal.values(), *self.missing)}
        names = [*PLAIN_LABELS, *(f"{PLAIN_LABELS[1]} {i}" for i in range(2, len(taken) + 3))]
        return (next(name for name in names if name not in taken) if changes else ""), changes

    def _bound(self, form: str, share: Fraction, place_of: dict[int, tuple[str, Any]]) -> str:
        """Return the bound that follows from a share of the rows."""
        counts = self.original.counts()
        rows: dict[Any, int] = {}
        for i, (scale, value) in place_of.items():
            if scale != "text":
                rows[value] = rows.get(value, 0) + int(counts[i])
        rank, seen = max(1, -(-sum(rows.values()) * share.numerator // share.denominator)), 0
        value = None
        for value in sorted(rows):
            seen += rows[value]
            if seen >= rank:
                break
        if value is None:
            return ""
        own = min((self.original.texts[i] for i, (_, other) in place_of.items() if other == value), key=len)
        if self._is_shared({value}, place_of, rows):
            return normalise(own)
        points = _date_points if self.column.kind is Kind.DATE or isinstance(value, datetime.date) else _number_points
        for point_of, is_last in points(list(rows), upper=form == "bottom"):
            point = point_of(value)
            text = self._written(point)
            alike = {other for other in rows if point_of(other) == point}
            if self._cells.place(text)[0] != "text" and (is_last or self._is_shared(alike, place_of, rows)):
                return text
        return normalise(own)

    def _is_shared(self, chosen: set[Any], place_of: dict[int, tuple[str, Any]], rows: dict[Any, int]) -> bool:
        """Return whether enough rows, or people, have one of some values."""
        if sum(rows[value] for value in chosen) < self.k:
            return False
        cells = [i in place_of and place_of[i][1] in chosen for i in range(len(self.original.texts))]
        return self.holders is None or self.holders(np.array(cells)) >= self.k

    def _written(self, point: Any) -> str:
        """Return a bound as the column writes it."""
        if isinstance(point, Decimal):
            text = f"{point:f}"
            text = text.rstrip("0").rstrip(".") if "." in text else text
            before, after = split_unit(self.column.unit) if self.column.unit else ("", "")
            return before + text.replace(".", self.column.decimal) + after
        if self.column.date_format == Column.date_format:
            return str(point.date().isoformat())
        return str(point.strftime(self.column.date_format))


def _number_points(values: list[Decimal], *, upper: bool) -> Iterator[tuple[Callable[[Decimal], Decimal], bool]]:
    """Yield what rounds a number on each grid, from fine to coarse, and whether it is the last one."""
    unit = min(0, *(int(value.normalize().as_tuple().exponent) for value in values))
    span = Fraction(max(values)) - Fraction(min(values))
    for number in range(10_000):
        step = Fraction((1, 2, 5)[number % 3]) * Fraction(10) ** (unit + number // 3)

        def point_of(value: Decimal, step: Fraction = step) -> Decimal:
            times = -(-Fraction(value) // step) if upper else Fraction(value) // step
            point = times * step
            return Decimal(point.numerator) / Decimal(point.denominator)

        yield point_of, step >= span
        if step >= span:
            return


def _date_points(values: list[Any], *, upper: bool) -> Iterator[tuple[Callable[[Any], Any], bool]]:
    """Yield what rounds a date to each period, and whether it is the last one."""
    for months in (0, *MONTHS.values()):
        yield partial(_edge, months=months, upper=upper), months == MONTHS["century"]


def _edge(moment: Any, *, months: int, upper: bool) -> datetime.datetime:
    """Return the first moment of the period of a date, or its last; months: of the period, 0 for a day."""
    day = datetime.datetime(moment.year, moment.month, moment.day)
    if months:
        first = (day.year * 12 + day.month - 1) // months * months
        day = datetime.datetime(max(first // 12, 1), first % 12 + 1, 1)
    if not upper:
        return day
    if not months:
        return day + datetime.timedelta(days=1, microseconds=-1)
    after = first + months
    if after // 12 > 9999:
        return datetime.datetime.max
    return datetime.datetime(after // 12, after % 12 + 1, 1) - datetime.timedelta(microseconds=1)
