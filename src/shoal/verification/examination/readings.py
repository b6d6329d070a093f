"""How the quasi-identifiers of a release are read: by a demand, by its manifest, or as the original suggests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.errors import Note, UsageError, setting
from shoal.schema import INPUT, NO_LIMITS, Column, Kind, Limits, Role, Schema
from shoal.verification.cells import SUPPRESSED, Cells, normalise, set_members
from shoal.verification.cells.forms import with_form
from shoal.verification.cells.marks import OtherMark, are_numbers, as_released
from shoal.verification.demand import Demand, claimed_missing
from shoal.verification.examination.doubts import doubt_about, doubtful_reading
from shoal.verification.manifest.manifest import Manifest
from shoal.verification.models.checks import guess_kind, read_column
from shoal.verification.models.limits import LimitedCells
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation, plural

__all__ = ["Readings", "demanded_mark", "read_as", "with_forms"]

PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def with_forms(schema: Schema, source: CodedTable | None, manifest: Manifest | None) -> Schema:
    """Return the columns; recoded ones with their kind and form, which recoded cells no longer show."""
    return replace(
        schema,
        columns=tuple(_formed(c, schema, source, manifest) if c.codings else c for c in schema.columns),
    )


def _formed(column: Column, schema: Schema, source: CodedTable | None, manifest: Manifest | None) -> Column:
    """Return a column with its kind and the form of its cells: as the original shows or, without it, as is stated."""
    if source is not None and column.name in source.names:
        return _found(column, _values(source.column(column.name), schema.missing))
    stated = manifest.column(column.name) if manifest else None
    if stated is None or column.kind is not None or stated.kind is Kind.CATEGORICAL:
        return column
    return read_as(column, stated)


def read_as(column: Column, other: Column) -> Column:
    """Return a column with the kind and the form of another one."""
    names = ("kind", "date_format", "decimal", "thousands", "unit", "order")
    return replace(column, **{name: getattr(other, name) for name in names})


def _found(column: Column, texts: Sequence[str]) -> Column:
    """Return a column with its kind and the form of its cells, as far as they are not declared."""
    if column.kind is None:
        kind = guess_kind(texts, column.marks)
        if kind is not Kind.CATEGORICAL:
            return replace(column, kind=kind)
    elif column.kind.is_measured and all(Cells.of(column).place(text)[0] != "text" for text in texts):
        return column
    return with_form(column, texts)


def _parts(cell: str) -> list[str]:
    """Return the members of a set, the ends of a range, or the cell."""
    ends = cell[1:-1].split(", ") if cell[:1] == "[" and cell[-1:] in ("]", ")") else [cell]
    return set_members(cell) or [normalise(end) for end in ends]


def _values(column: CodedColumn, missing: Iterable[str]) -> list[str]:
    """Return the distinct values of a column, without missing ones."""
    left_out = {"", *map(normalise, missing)}
    return [text for text in dict.fromkeys(map(normalise, column.texts)) if text not in left_out]


def demanded_mark(demand: Demand, source: CodedTable | None) -> OtherMark | None:
    """Return the decimal mark that a demand gives a file, if it is not that of the original."""
    if demand.decimal in (None, INPUT):
        return None
    reading, missing = demand.reading, ("", *demand.reading.missing)

    def column(name: str) -> Column | None:
        own = as_released(reading.column(name, demand.role_of(name) or Role.INSENSITIVE), reading.marks)
        own = replace(own, codings=demand.codings.get(name, ()))
        if source is None or name not in source.names:
            return own
        texts = [text for text in source.column(name).texts if normalise(text) not in missing]
        own = with_form(own, texts) if own.role is Role.QI else own
        return own if are_numbers(own, texts) else None

    return OtherMark(str(demand.decimal), column, missing, strict=source is not None)


@dataclass(frozen=True)
class Readings:
    """How the cells of a release are read.

    Attributes:
        demand: What the release must meet.
        manifest: Its manifest, if it has one.
        schema: Its columns.
        release: The released table.
        pairs: By column that is written as two bounds, the distinct pairs, each with its number of rows.
        source: The original, if it is there.
        population: The table of the population, if it is there.
    """

    demand: Demand
    manifest: Manifest | None
    schema: Schema
    release: CodedTable
    pairs: Mapping[str, list[tuple[str, str, int]]]
    source: CodedTable | None
    population: CodedTable | None

    def cells(self) -> list[tuple[str, Cells]]:
        """Return how to read each quasi-identifier; where the manifest alone decides, it is read in both ways.

        A kind that differs from that of the manifest is in dispute. So is a text that only the manifest calls missing:
        it may be released as it is, but not as another missing text. A reading that only the manifest states does not
        make cells equal that the original keeps apart.
        """
        claims = claimed_missing(self.demand, self.manifest)
        readings = []
        for column in self.schema.qi:
            labels = self._labels(column)
            column = self._with_kind(column)
            readings.append((column.name, self._reading_of(column, labels)))
            if claims:
                readings.append((column.name, Cells.of(column, (), labels)))
            other = self.manifest.column(column.name) if self.manifest else None
            if other is not None and other.kind not in (None, column.kind):
                readings.append((column.name, self._reading_of(self._with_kind(other), labels)))
            if (doubt := self._doubt(column)) is not None:
                doubtful, literal = doubt
                readings.append(
                    (column.name, Cells.of(doubtful, () if claims else self.schema.missing, labels, literal=literal))
                )
        return readings

    def with_kinds(self) -> list[Column]:
        """Return the quasi-identifiers with the forms of their cells, and a kind that these leave open.

        A column whose form is another than the usual one has numbers or dates.
        """
        columns = []
        for column in self.schema.qi:
            found = self._with_kind(column)
            if found.kind is None:
                is_dates = found.date_format != column.date_format
                is_formed = is_dates or (found.marks != column.marks)
                found = replace(
                    found, kind=(Kind.DATE if is_dates else Kind.NUMERIC) if is_formed else Kind.CATEGORICAL
                )
            columns.append(found)
        return columns

    def _doubt(self, column: Column) -> tuple[Column, bool] | None:
        """Return how a quasi-identifier must be read because only the manifest says how; None if it adds nothing."""
        tables = [t for t in (self.source, self.population) if t is not None and column.name in t.names]
        if self.manifest is None or not tables:
            return None
        declared = read_as(column, self.demand.reading.column(column.name, column.role))
        claims = {*map(normalise, claimed_missing(self.demand, self.manifest))}
        columns = [table.column(column.name) for table in tables]
        texts = dict.fromkeys(text for each in columns for text in _values(each, self.demand.reading.missing))
        return doubtful_reading(column, _found(declared, self.values(columns[0])), list(texts), claims)

    def told_apart(self, column: Column) -> Column | None:
        """Return how centres must be read as well, because only the manifest says which values are equal; see `_doubt`.

        Args:
            column: A quasi-identifier with its kind.
        """
        doubt = self._doubt(column)
        if doubt is None:
            return None
        doubtful, literal = doubt
        if not literal:
            return doubtful
        is_measured = column.kind is not None and column.kind.is_measured
        return None if is_measured else replace(column, kind=Kind.CATEGORICAL)

    def limited(self) -> Iterator[LimitedCells | Note]:
        """Yield the quasi-identifiers with limits, those of the demand and those of the manifest, or why not.

        What the demand asks for must also hold if the cells are read as they look, whatever the manifest says.
        """
        for column in self.schema.qi:
            stated = self.manifest.column(column.name) if self.manifest else None
            asked = self.demand.limits.get(column.name, NO_LIMITS)
            both = [asked, NO_LIMITS if stated is None else stated.limits]
            for limits in dict.fromkeys(each for each in both if any(each)):
                ladder = self._ladder(column.name)
                if ladder is None:
                    text = f"the limits of column {column.name!r} were not checked: they name levels of its hierarchy"
                    yield Note("", text, f"use {setting('original')} and {setting('hierarchies')}")
                    continue
                if self.source is None and column.name not in self.demand.reading.kinds:
                    column = replace(column, kind=None if column.kind is Kind.CATEGORICAL else column.kind)
                own = _formed(column, self.schema, self.source, self.manifest)
                is_closed = column.name in self.pairs
                yield LimitedCells(own, limits, self._reading_of(own, {}), ladder, is_closed)
                if limits == asked and not ladder:
                    yield from self._limited_by_look(own, limits, is_closed)

    def _limited_by_look(self, read: Column, limits: Limits, is_closed: bool) -> Iterator[LimitedCells]:
        """Yield a column with limits as the demand declares it and its cells look, if that is another reading."""
        column = read_as(read, self.demand.reading.column(read.name, read.role))
        table = self.release if self.source is None else self.source
        texts = self.values(table.column(read.name)) if read.name in table.names else []
        parts = dict.fromkeys(part for text in texts for part in _parts(text) if part != SUPPRESSED)
        look = read_column(column, list(parts))
        if look == read or look.kind not in (Kind.NUMERIC, Kind.DATE):
            return
        if read.kind not in (Kind.NUMERIC, Kind.DATE):
            limits = Limits(limits.max_width)
        if look.kind is Kind.NUMERIC:  # the others name periods of the calendar
            limits = Limits(*(text if PLAIN.fullmatch(text) else "" for text in limits))
        if any(limits):
            yield LimitedCells(look, limits, self._reading_of(look, {}), {}, is_closed)

    def _ladder(self, name: str) -> Mapping[str, Sequence[str]] | None:
        """Return the labels of each value of a hierarchy; none if there is no hierarchy, None if it is not here."""
        if name not in self.demand.labels and not (self.manifest and name in self.manifest.labelled):
            return {}
        ladder = self.demand.ladders.get(name)
        if ladder is None or self.source is None or name not in self.source.names:
            return None
        return ladder(self.values(self.source.column(name))) if callable(ladder) else ladder

    def _reading_of(self, column: Column, labels: Mapping[str, Iterable[str]]) -> Cells:
        return Cells.of(column, self.schema.missing, labels)

    def _with_kind(self, column: Column) -> Column:
        """Return a column with its kind and the form of its cells; what nobody declares is found in the original."""
        if self.source is None or column.name not in self.source.names:
            return column
        return _found(column, self.values(self.source.column(column.name)))

    def values(self, column: CodedColumn) -> list[str]:
        """Return the distinct values of a column, without missing ones."""
        return _values(column, self.schema.missing)

    def _labels(self, column: Column) -> Mapping[str, Iterable[str]]:
        """Return the values that each label of a quasi-identifier means."""
        name = column.name
        labels = self.demand.labels.get(name)
        if labels is None:
            if self.source is not None and self.manifest and name in self.manifest.labelled:
                self._need_hierarchy(column)
            return {}
        if not callable(labels):
            return labels
        tables = [table for table in (self.source, self.population) if table is not None and name in table.names]
        texts = [text for table in tables for text in table.column(name).texts]
        return labels(list(dict.fromkeys(map(normalise, texts)))) if texts else {}

    def _need_hierarchy(self, column: Column) -> None:
        """Raise a UsageError if a column shows labels that only its hierarchy explains."""
        if column.name in self.release.names and self._count_misfits(column):
            origin = self.manifest.origins.get(column.name, "") if self.manifest else ""
            given = setting("hierarchies", f"{column.name}={origin}") if origin else setting("hierarchies")
            raise UsageError(
                f"column {column.name!r} shows labels of a hierarchy, which the manifest does not contain. To compare "
                f"it with the original, give the hierarchy with {given} or {setting('config')}."
            )

    def _count_misfits(self, column: Column) -> int:
        """Count the cells that are neither numbers (dates), nor ranges, nor missing, nor suppressed."""
        if column.kind not in (Kind.NUMERIC, Kind.DATE):
            return 1
        cells, released = self._reading_of(column, {}), self.release.column(column.name)
        covers = [cells.read(text) for text in released.texts]
        is_odd = np.array([not (c.everything or c.missing or c.spans) for c in covers] or [False])
        return released.count(is_odd)

    def doubts(self) -> list[Violation]:
        """Return the columns of an original that are read, or whose cells are missing, as only the manifest says."""
        claims, violations = {*map(normalise, claimed_missing(self.demand, self.manifest))} - {""}, []
        for column in self.schema.qi:
            if self.source is None:
                break
            original = self.source.column(column.name)
            is_claimed = np.array([normalise(text) in claims for text in original.texts] or [False])
            if times := original.count(is_claimed):
                text = f"only the manifest says that {plural(times, 'original cell')} mean a missing value"
                cure = f"if that is so, name their texts with {setting('missing')}"
                violations.append(Violation(f"column {column.name!r}", f"{text}; {cure}"))
            read = self._with_kind(column)
            violations += [doubt_about(read)] if self._doubt(read) is not None else []
        return violations

    def kind_violations(self) -> list[Violation]:
        """Return the columns whose cells are not of the kind that the manifest states."""
        assert self.manifest is not None
        violations = []
        for column in self.manifest.columns:
            is_labelled = column.name in self.manifest.labelled or column.role is not Role.QI
            if is_labelled or column.kind not in (Kind.NUMERIC, Kind.DATE) or column.name not in self.release.names:
                continue
            times = self._count_misfits(column)
            if 2 * times > self.release.n_rows:  # a table that is released as it is may have some
                text = f"the manifest states that it is {column.kind}; {plural(times, 'cell')} cannot be read so"
                violations.append(Violation(f"column {column.name!r}", text))
        return violations

    def bound_violations(self) -> list[Violation]:
        """Return the columns with two bounds that are not two values, or twice the same one."""
        violations = []
        for column in self.schema.qi:
            pairs = self.pairs.get(column.name)
            if pairs is None:
                continue
            cells = self._reading_of(self._with_kind(column), {})
            if times := sum(n_rows for low, high, n_rows in pairs if not _is_range(low, high, cells)):
                text = f"the bounds of {plural(times, 'row')} are not the ends of a range"
                violations.append(Violation(f"column {column.name!r}", text))
        return violations


def _is_range(low: str, high: str, cells: Cells) -> bool:
    """Return whether two bounds are ends in their order, or the same cell twice, which is not a range itself."""
    (scale, least), (other, greatest) = (cells.place(normalise(text)) for text in (low, high))
    if low == high:
        return scale != "text" or not cells.read(low).spans
    return bool(scale == other != "text" and least < greatest and not (cells.is_missing(low) or cells.is_missing(high)))
