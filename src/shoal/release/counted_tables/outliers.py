"""Outliers of a table that is counted where it is: what to show in the place of which cells follows from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from shoal.encoding.encode import guess_kinds
from shoal.encoding.outliers import code_outliers, recode_cells
from shoal.errors import InputError, Note
from shoal.models import PrivacyModel
from shoal.release.release import Request
from shoal.schema import Column, Role, Schema
from shoal.tables.sources.base import Source
from shoal.tables.table import RankedTable, Table

__all__ = ["Outliers", "Recoder", "can_recode", "find_outliers"]


@runtime_checkable
class Recoder(Protocol):
    """A source that shows other cells in the place of some."""

    @property
    def counts_by_person(self) -> bool:
        """Whether it may count cells beside people, of whom there may be as many as rows."""

    def recode(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        """Count, recode and deal other cells; by column, the cells to replace and what is shown in their place."""


@dataclass(frozen=True)
class Outliers:
    """The outliers of a source, found in the counts of single columns.

    Attributes:
        source: The table.
        schema: Its columns, with the bounds and labels that were found.
        cells: By column, the cells to replace and what is shown in their place.
        notes: What the user should know.
    """

    source: Source
    schema: Schema
    cells: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def recode(self, *, back: bool = False) -> None:
        """Have the source show recoded cells; back: those that it has."""
        if self.cells:
            assert isinstance(self.source, Recoder)
            self.source.recode({} if back else self.cells)

    def recoded(self, table: Table) -> Table:
        """Return some columns of the table with recoded cells."""
        texts = {}
        for name in table.names:
            if shown := self.cells.get(name):
                texts[name] = [shown.get(text, text) for text in table.factor(name).texts.to_list()]
        return recode_cells(table, texts)


def can_recode(source: Source, schema: Schema) -> bool:
    """Say whether a source can find and recode the outliers of its columns."""
    if not isinstance(source, Recoder):
        return False
    by_person = schema.names(Role.PERSON) and any(_beside(column, schema) for column in schema.columns)
    return source.counts_by_person or not by_person


def find_outliers(source: Source, schema: Schema, request: Request, models: Sequence[PrivacyModel]) -> Outliers:
    """Find out which cells of a source are recoded, and how; see `code_outliers`.

    Args:
        source: The table, as it is.
        schema: Its columns, some of them with codings.
        request: What the user requested.
        models: The privacy models besides k-anonymity.
    """
    guessing = any(column.codings for column in schema.qi)  # as with rows in memory
    k = max((request.k, *(model.minimum_size for model in models)))
    columns, cells, notes = {}, {}, list[Note]()
    for column in schema.columns:
        if not column.codings:
            continue
        beside = _beside(column, schema)
        counted = source.count([column.name, *beside])
        table = RankedTable(counted.factors, counted.counts, dialect=source.dialect)
        narrow = replace(schema, columns=tuple(c for c in schema.columns if c.name in (column.name, *beside)))
        try:
            found, coded, about = code_outliers(table, guess_kinds(table, narrow) if guessing else narrow, k)
        except InputError as error:  # the rows of counts are not those of the table
            raise error.without_rows() from None
        columns[column.name] = next(each for each in coded.columns if each.name == column.name)
        ranks = table.factor(column.name)
        cells[column.name] = {
            before: after
            for before, after in zip(ranks.cells().to_list(), found.factor(column.name).cells().to_list(), strict=True)
            if before != after
        }
        notes += about
    return Outliers(source, schema.with_columns(columns), cells, tuple(notes))


def _beside(column: Column, schema: Schema) -> list[str]:
    """Return the columns that decide, together with a column, where the bounds of its shares are."""
    if all(coding.share is None for coding in column.codings):
        return []
    return [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
