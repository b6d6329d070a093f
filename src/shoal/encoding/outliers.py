"""Recode outliers before a run: top and bottom coding of numbers and dates, one label for rare categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.dictionary import Distinct
from shoal.encoding.grid import DateScale, NumberScale, Scale
from shoal.errors import Note, UsageError, setting
from shoal.schema import Coding, Column, Kind, Role, Schema
from shoal.tables import values
from shoal.tables.table import Factor, RankedTable, Table, factorize
from shoal.tables.values.forms import find_form, parse_texts
from shoal.tables.values.people import person_codes

__all__ = ["Holders", "code_outliers", "least_own_k", "recode_cells"]

Flags = NDArray[np.bool_]
Holders = Callable[[str, Flags], int]  # counts the people who have one of some distinct cells of a column

LABELS = ("other", "other values")
PERIODS = ("day", "month", "quarter", "year", "decade", "century")  # to which a date is rounded


def code_outliers(
    table: Table, schema: Schema, k: int, holders: Holders | None = None
) -> tuple[Table, Schema, list[Note]]:
    """Recode the outliers of a table.

    Missing values stay as they are and do not count. All bounds of a column come from its original values. The bound of
    a share is the value at that rank. If fewer than k rows have that value (people, if people are counted), the bound
    moves towards the other values, to the nearest point of the finest round grid on which at least k rows lie between
    that point and the next.

    Args:
        table: The table.
        schema: Its columns, some of them with codings.
        k: How many rows or people must share the bound of a share.
        holders: Counts people; by default those of the table, if it has a column of them.

    Returns:
        The table and the schema, with the bounds and labels that were used, and what the user should know.

    Raises:
        InputError: A column has values that are not of its kind.
        UsageError: A coding does not suit the kind of its column.
    """
    if not any(column.codings for column in schema.columns):
        return table, schema, []
    columns, coded, notes = [], dict[str, list[str]](), []
    least = max(k, *(least_own_k(table.factor(name).texts.to_list()) for name in schema.names(Role.PERSONAL_K)), 0)
    holders = holders or _holders_in(table, schema)
    has_semicolons = table.dialect is not None and table.dialect.delimiter == ";"
    for column in schema.columns:
        if column.codings:
            distinct = Distinct.of(table, column.name)
            column = _with_form(column, distinct, schema.missing, commas=has_semicolons)
            of_cells = holders and partial(holders, column.name)
            coding = _Column(column, distinct, schema.missing, of_cells, least)
            column, texts = coding.coded()
            coded[column.name] = texts
            changed = np.array([a != b for a, b in zip(texts, distinct.texts.to_list(), strict=True)], dtype=bool)
            n_rows = int(distinct.counts[changed].sum())
            for each in column.codings:
                notes.append(_note(column, each))
            notes.append(Note(f"column {column.name!r}", "{rows:row was|rows were} recoded", counts={"rows": n_rows}))
        columns.append(column)
    return recode_cells(table, coded), replace(schema, columns=tuple(columns)), notes


def recode_cells(table: Table, texts: Mapping[str, Sequence[str]]) -> Table:
    """Return a table with other cells in some columns; texts: by column, that of each distinct cell, in order."""
    import polars as pl

    if not isinstance(table, RankedTable):
        cells = {name: pl.Series(own, dtype=pl.String).gather(table.factor(name).ranks) for name, own in texts.items()}
        kept = {name: table.factor(name) for name in table.names if name not in texts and name in table._factors}
        return replace(table, frame=table.frame.with_columns(**cells), _factors=kept)
    factors = {name: table.factor(name) for name in table.names}
    for name, own in texts.items():
        places, distinct = factorize(pl.Series(own, dtype=pl.String))
        factors[name] = Factor(places[factors[name].ranks], distinct)
    return RankedTable(factors, table.weights, table.notes, table.dialect)


def _with_form(column: Column, distinct: Distinct, missing: tuple[str, ...], *, commas: bool) -> Column:
    """Return a column with the kind, the unit and the marks of its cells, if a bound needs them."""
    if column.codings[0].form == "rare":
        return column
    known = [text for text in distinct.normalised if text not in missing]
    found = find_form(column, known, commas=commas)
    return found.certain if found.question else found.column


def _note(column: Column, coding: Coding) -> Note:
    return Note(f"column {column.name!r}", coding.words if coding.text else "no value is rare, so none was recoded")


def least_own_k(cells: Iterable[str]) -> int:
    """Return the least k that a row asks for, 0 if some row asks for none; cells: those of the column of personal k."""
    normal = map(values.normalise, cells)
    return min((int(text) if text.isascii() and text.isdecimal() else 0 for text in normal), default=0)


def _holders_in(table: Table, schema: Schema) -> Holders | None:
    """Return what counts the people of a table; None if rows are counted."""
    persons = schema.names(Role.PERSON)
    if not persons:
        return None
    ids = table.factor(persons[0])
    people = person_codes(ids.texts, schema.missing)[ids.ranks]
    return lambda name, cells: len(np.unique(people[cells[table.factor(name).ranks]]))


@dataclass(frozen=True)
class _Column:
    """A column with outliers.

    Attributes:
        column: The column.
        distinct: Its distinct cells.
        missing: The texts that mean a missing value.
        holders: Counts the people who have one of some distinct cells; None if rows are counted.
        k: How many must share the bound of a share.
    """

    column: Column
    distinct: Distinct
    missing: tuple[str, ...]
    holders: Callable[[Flags], int] | None
    k: int

    @property
    def _known(self) -> list[int]:
        return [i for i, text in enumerate(self.distinct.normalised) if text not in self.missing]

    def coded(self) -> tuple[Column, list[str]]:
        """Return the column with what its codings found, and the new text of each distinct cell."""
        known = self._known
        normal = [self.distinct.normalised[i] for i in known]
        kind = self.column.kind or values.guess_kind(normal, values.Marks(*self.column.marks))[0]
        self._check_kind(kind)
        if self.column.codings[0].form == "rare":
            return self._label_rare(known)
        numbers = self.distinct.read_values(self.column, kind, known)
        texts = self.distinct.texts.to_list()
        codings = []
        for coding in self.column.codings:
            text = coding.given
            if coding.share is not None:
                text = coding.text or self._bound_of_share(coding, kind, known, numbers)
            (bound,) = self._read_bound(coding, kind, text)
            codings.append(coding._replace(text=text))
            for i, number in zip(known, numbers, strict=True):
                if number >= bound if coding.form == "top" else number <= bound:
                    texts[i] = text
        return replace(self.column, codings=self._in_order(codings, kind)), texts

    def _check_kind(self, kind: Kind) -> None:
        form, name = self.column.codings[0].form, self.column.name
        if form == "rare" and kind is not Kind.CATEGORICAL:
            raise UsageError(
                f"{setting('recode')} of column {name!r}: rare needs categories, but its values are {kind}. Use top or "
                f"bottom, or pass {setting('categorical', [name])}."
            )
        if form != "rare" and kind not in (Kind.NUMERIC, Kind.DATE):
            raise UsageError(
                f"{setting('recode')} of column {name!r}: {form} needs numbers or dates, but its values are {kind}. "
                "Use rare, or declare the kind of the column."
            )

    def _label_rare(self, known: list[int]) -> tuple[Column, list[str]]:
        (coding,) = self.column.codings
        normal, texts = self.distinct.normalised, self.distinct.texts.to_list()
        rows: dict[str, int] = {}
        for i in known:
            rows[normal[i]] = rows.get(normal[i], 0) + int(self.distinct.counts[i])
        rare = {text for text, count in rows.items() if count < int(coding.given)}
        if not rare:
            return self.column, texts
        label = free_label({*normal, *self.missing})
        for i in known:
            if normal[i] in rare:
                texts[i] = label
        return replace(self.column, codings=(coding._replace(text=label),)), texts

    def _read_bound(self, coding: Coding, kind: Kind, text: str) -> list[object]:
        numbers, misfits = parse_texts(self.column, kind, [values.normalise(text)])
        if misfits:
            form = f"in the format {self.column.date_format}" if kind is Kind.DATE else "as the column writes numbers"
            raise UsageError(
                f"{setting('recode')} {self.column.name}={coding.form}:{coding.given}: the bound cannot be read. Write "
                f"it {form}, or give a share such as 99%."
            )
        return numbers

    def _in_order(self, codings: list[Coding], kind: Kind) -> tuple[Coding, ...]:
        """Refuse a bottom bound that is not below the top bound."""
        bounds: Mapping[str, object] = {c.form: self._read_bound(c, kind, c.text)[0] for c in codings}
        if len(bounds) == 2 and not bounds["bottom"] < bounds["top"]:  # type: ignore[operator]
            raise UsageError(
                f"{setting('recode')} of column {self.column.name!r}: the bottom bound is not below the top bound. "
                "Leave out one of them, or choose bounds that leave values between them."
            )
        return tuple(codings)

    def _bound_of_share(self, coding: Coding, kind: Kind, known: list[int], numbers: list[object]) -> str:
        """Return the text of the bound that a share of the rows does not exceed."""
        assert coding.share is not None
        in_order, texts, codes = self.distinct.code_values(numbers, known)
        if not in_order:
            raise UsageError(
                f"{setting('recode')} of column {self.column.name!r}: all values are missing. Give a bound."
            )
        rows = np.bincount(codes, self.distinct.counts, len(in_order) + 1).astype(np.int64)[: len(in_order)]
        total = int(rows.sum())
        rank = -(-total * coding.share.numerator // coding.share.denominator)  # rounded up
        at = int(np.searchsorted(np.cumsum(rows), max(rank, 1)))
        measured = np.array([float(number) for number in in_order])
        if self._is_shared(codes, np.arange(len(in_order)) == at):
            return texts[at]
        column, scale = replace(self.column, kind=kind, grid=""), self._scale(kind, texts, measured)
        upper = coding.form == "bottom"
        steps = PERIODS if kind is Kind.DATE else scale.steps()
        for step in steps:
            points = scale.above(scale.units, step) if upper else scale.below(scale.units, step)
            text = scale.text(int(points[at]), upper=upper)
            is_written = not parse_texts(column, kind, [text])[1]
            if is_written and (step == steps[-1] or self._is_shared(codes, points == points[at])):
                return text
        return texts[at]

    def _scale(self, kind: Kind, texts: list[str], measured: NDArray[np.float64]) -> Scale:
        column = replace(self.column, kind=kind, grid="")
        return (
            DateScale.of(column, texts, measured) if kind is Kind.DATE else NumberScale.of(column, texts, measured, "1")
        )

    def _is_shared(self, codes: NDArray[np.int32], chosen: Flags) -> bool:
        """Say whether enough rows, or people, have one of the chosen values; codes: the value of each distinct cell."""
        cells = np.append(chosen, False)[codes]
        n_rows = int(self.distinct.counts[cells].sum())
        return n_rows >= self.k and (self.holders is None or self.holders(cells) >= self.k)


def free_label(taken: set[str]) -> str:
    """Return a label for rare values that no value looks like, whatever its case."""
    folded = {text.casefold() for text in taken}
    names = [*LABELS, *(f"{LABELS[-1]} {i}" for i in range(2, len(folded) + 3))]
    return next(name for name in names if name not in folded)
