"""An original and a release of it, ready to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import UsageError
from shoal.hierarchy.base import Hierarchy, Rule, for_columns
from shoal.hierarchy.propose import propose_open
from shoal.schema import Reading, Role, Schema, column_names
from shoal.tables.formats import as_table
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
    """

    original: Table
    released: Table
    schema: Schema
    hierarchies: Mapping[str, Hierarchy]


def open_pair(
    original: Any,
    released: Any,
    *,
    qi: Sequence[str],
    reading: Reading | None = None,
    hierarchies: Mapping[str, Rule] | None = None,
) -> Pair:
    """Read both tables, frames or paths, and detect the kinds of the quasi-identifiers from the original.

    Args:
        original: The original table.
        released: The release.
        qi: The quasi-identifiers.
        reading: How the cells of both are read.
        hierarchies: Hierarchies by column.

    Raises:
        UsageError: If a table lacks a quasi-identifier.
    """
    qi = column_names("qi", qi)
    tables = [as_table(table, qi) for table in (original, released)]
    for table, which in zip(tables, ("original", "release"), strict=True):
        absent = [name for name in qi if name not in table.names]
        if absent:
            raise UsageError(f"column {absent[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    schema = Schema.build(tables[0].names, {Role.QI: qi}, reading=reading, others="insensitive")
    schema = guess_kinds(tables[0], schema)
    rules = for_columns(((str(name), rule) for name, rule in (hierarchies or {}).items()), qi)
    rules, _ = propose_open(rules, tables[0], schema)
    encoded = encode(tables[0], schema, rules, unknown="top") if rules else None
    bound = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None} if encoded else {}
    return Pair(tables[0], tables[1], schema, bound)
