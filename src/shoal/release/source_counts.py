"""Frequency sets of a table that is counted where it lies: a file by DuckDB, a table by PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from shoal.encoding.attributes import Attribute
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.sensitive import Sensitive
from shoal.hierarchy.base import Rule
from shoal.methods.full_domain.frequency import NOTHING, Counted, FrequencySet, MemoryEngine
from shoal.schema import Schema
from shoal.tables.sources.base import Source
from shoal.tables.table import Table

__all__ = ["SourceEngine", "count_table", "narrowed"]


def count_table(source: Source, schema: Schema, sensitive: Sequence[str] = ()) -> Table:
    """Count a source by its quasi-identifiers and these columns: distinct rows, each with its weight."""
    counted = source.count([*(column.name for column in schema.qi), *sensitive])
    return Table(counted.frame, notes=source.notes, weights=counted.counts)


def narrowed(schema: Schema, names: Sequence[str]) -> Schema:
    """Return the schema of these columns alone."""
    return replace(schema, columns=tuple(column for column in schema.columns if column.name in names))


@dataclass(frozen=True)
class SourceEngine:
    """Counts a source with one query.

    more: the columns that may be asked for beside the quasi-identifiers.
    """

    source: Source
    schema: Schema
    hierarchies: Mapping[str, Rule] = field(default_factory=dict)
    unknown: str = "error"
    more: tuple[str, ...] = ()

    @cached_property
    def _memory(self) -> MemoryEngine:
        table = count_table(self.source, self.schema, self.more)
        schema = guess_kinds(table, narrowed(self.schema, table.names))
        return MemoryEngine(encode(table, schema, self.hierarchies, unknown=self.unknown))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers in the order of the schema, with their hierarchies."""
        return self._memory.attributes

    def finest(self, counted: Counted = NOTHING) -> FrequencySet:
        """Count the table by its quasi-identifiers and what the models need."""
        return self._memory.finest(counted)

    def sensitive(self, name: str) -> Sensitive:
        """Return what the codes of a sensitive column mean."""
        return self._memory.sensitive(name)
