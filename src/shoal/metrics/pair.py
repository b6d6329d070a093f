"""An original and a release of it, ready to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.outliers import code_outliers
from shoal.errors import UsageError
from shoal.hierarchy.base import Hierarchy, Rule, for_columns
from shoal.hierarchy.propose import Auto, propose_open
from shoal.metrics.released_cells import cell_counts, rare_labels
from shoal.schema import Reading, Role, Schema, column_names, parse_codings
from shoal.tables.formats import as_table
from shoal.tables.sources.counted import as_counted
from shoal.tables.table import Table

__all__ = ["Pair", "open_pair"]


@dataclass(frozen=True)
class Pair:
    """An original and a release of it, made by any tool.

    Attributes:
        original: The original table.
        released: The release.
        schema: The columns of the original, with the kinds of the quasi-identifiers.
        hierarchies: Hierarchies over the values of the original, by column.
        coded: The original with its outliers recoded.
    """

    original: Table
    released: Table
    schema: Schema
    hierarchies: Mapping[str, Hierarchy]
    coded: Table

    @property
    def labels(self) -> dict[str, Mapping[str, frozenset[str]]]:
        """By column, the values that each label of its hierarchy, or of its recoding, stands for."""
        labels: dict[str, Mapping[str, frozenset[str]]] = {}
        for column in self.schema.qi:
            counts = cell_counts(self.original.factor(column.name).texts.to_list(), self.original.counts(column.name))
            tree = self.hierarchies.get(column.name)
            found = (tree.values_under() if tree else {}) | rare_labels(column, counts, self.schema.missing)
            labels |= {column.name: found} if found else {}
        return labels


def open_pair(
    original: Any,
    released: Any,
    *,
    qi: Sequence[str],
    reading: Reading | None = None,
    hierarchies: Mapping[str, Rule] | None = None,
    recode: Mapping[str, str] | None = None,
    k: int | None = None,
    counted: Sequence[str] | None = None,
) -> Pair:
    """Read both tables, frames or paths, and detect the kinds of the quasi-identifiers from the original.

    Args:
        original: The original table.
        released: The release.
        qi: The quasi-identifiers.
        reading: How the cells of both are read.
        hierarchies: Hierarchies by column.
        recode: The recoding of outliers by column, which the release was made with.
        k: The k of the release, on which the bounds of recodings may depend.
        counted: Columns besides the quasi-identifiers that are needed if distinct rows are enough; None for all rows.

    Raises:
        UsageError: If a table lacks a quasi-identifier.
    """
    qi = column_names("qi", qi)
    if counted is None or any(isinstance(rule, Auto) for rule in (hierarchies or {}).values()):
        tables = [as_table(table, qi) for table in (original, released)]
    else:
        tables = [as_counted(table, qi, counted) for table in (original, released)]
    for table, which in zip(tables, ("original", "release"), strict=True):
        absent = [name for name in qi if name not in table.names]
        if absent:
            raise UsageError(f"column {absent[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    codings = {name: parse_codings(name, text) for name, text in (recode or {}).items() if name in qi}
    names = tables[0].known_names
    schema = Schema.build(names, {Role.QI: qi}, reading=reading, others="insensitive", codings=codings)
    schema = replace(schema, columns=tuple(column for column in schema.columns if column.name in tables[0].names))
    coded, schema, _ = code_outliers(tables[0], guess_kinds(tables[0], schema), k or 1)
    rules = for_columns(((str(name), rule) for name, rule in (hierarchies or {}).items()), qi)
    rules, _ = propose_open(rules, coded, schema)
    encoded = encode(coded, schema, rules, unknown="top") if rules else None
    bound = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None} if encoded else {}
    return Pair(tables[0], tables[1], schema, bound, coded)
