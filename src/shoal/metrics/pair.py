"""An original and a release of it, opened for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import UsageError
from shoal.hierarchy.base import Hierarchy, Rule, for_columns
from shoal.schema import Kind, Role, Schema, check_lists
from shoal.tables.formats import as_table
from shoal.tables.table import Table

__all__ = ["Pair", "open_pair"]


@dataclass(frozen=True)
class Pair:
    """An original and a release of it by any tool.

    Attributes:
        original: The original.
        released: The release.
        schema: The columns of the original.
        hierarchies: Over the values of the original, by column.
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
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    hierarchies: Mapping[str, Rule] | None = None,
    decimal: str = ".",
    thousands: str = "",
) -> Pair:
    """Read both tables, frames or paths, and tell the kinds of the quasi-identifiers from the original."""
    check_lists(qi=qi)
    tables = [as_table(data) for data in (original, released)]
    for table, which in zip(tables, ("original", "release"), strict=True):
        absent = [name for name in qi if name not in table.names]
        if absent:
            raise UsageError(f"column {absent[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    kinds = dict.fromkeys(numeric, Kind.NUMERIC) | dict.fromkeys(categorical, Kind.CATEGORICAL)
    schema = Schema.build(
        tables[0].names,
        {Role.QI: qi},
        kinds=kinds,
        date_formats=dates,
        others="insensitive",
        missing=missing,
        decimal=decimal,
        thousands=thousands,
    )
    schema = guess_kinds(tables[0], schema)
    trees = for_columns((hierarchies or {}).items(), qi)
    encoded = encode(tables[0], schema, trees, unknown="top") if trees else None
    bound = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None} if encoded else {}
    return Pair(tables[0], tables[1], schema, bound)
