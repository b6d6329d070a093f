"""Outliers of a table that is counted where it is: what to show in the place of which cells follows from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.encode import guess_kinds
from shoal.encoding.outliers import code_outliers, least_own_k, recode_cells
from shoal.errors import InputError, Note
from shoal.models import PrivacyModel
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.counted_tables.searcher import UnitSearcher
from shoal.release.release import Request
from shoal.schema import Role, Schema
from shoal.tables.sources.base import Source
from shoal.tables.sources.dealing import Engine
from shoal.tables.table import RankedTable, Table
from shoal.tables.values.people import People

__all__ = ["Outliers", "Recoder", "find_outliers"]


@runtime_checkable
class Recoder(Protocol):
    """A source that shows other cells in the place of some."""

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
    has_shares = any(coding.share is not None for column in schema.columns for coding in column.codings)
    for name in schema.names(Role.PERSONAL_K) if has_shares else ():
        k = max(k, least_own_k(source.count([name]).factors[name].texts.to_list()))
    searcher = _searcher_of_people(source, schema) if has_shares else None
    columns, cells, notes = {}, {}, list[Note]()
    for column in schema.columns:
        if not column.codings:
            continue
        counted = source.count([column.name])
        table = RankedTable(counted.factors, counted.counts, dialect=source.dialect)
        narrow = replace(schema, columns=(column,))
        holders = None if searcher is None else partial(_holders, searcher, table)
        try:
            found, coded, about = code_outliers(table, guess_kinds(table, narrow) if guessing else narrow, k, holders)
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


def _searcher_of_people(source: Source, schema: Schema) -> UnitSearcher | None:
    """Return what counts the people of a source, who have codes then; None if rows are counted."""
    persons = schema.names(Role.PERSON)
    if not persons:
        return None
    searcher = DuckSearcher(source) if isinstance(source, Engine) else source
    assert isinstance(searcher, UnitSearcher)
    searcher.code_people(People(persons[0], tuple(schema.missing)))
    return searcher


def _holders(searcher: UnitSearcher, table: Table, name: str, cells: NDArray[np.bool_]) -> int:
    """Count the people who have one of some distinct cells of a column; table: that column."""
    return searcher.count_holders(name, table.factor(name).texts.gather(np.flatnonzero(cells)))
