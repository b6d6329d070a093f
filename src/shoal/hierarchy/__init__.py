"""Hierarchies: ordered levels over the values of one attribute, level 0 the value, the last level "*".

To read one: `read` (by the file's name), `read_arx_csv`, `read_utd_xml`; to write it: `write_arx_csv`, `write_utd_xml`.
To make one: `intervals` for numbers and dates, `prefixes` for codes, `from_dict`, `from_function`.
To have one suggested: `propose`, `propose_for` a column of a table.
What they give is a `Hierarchy`, or a `Rule` that makes one for given values. All problems of a hierarchy are one
InputError with lines and levels, never with a value.
"""

from __future__ import annotations

import os

from shoal.errors import UsageError
from shoal.hierarchy.arx_csv import read_arx_csv, write_arx_csv
from shoal.hierarchy.base import TOP, Hierarchy, Rule, for_columns
from shoal.hierarchy.interval import IntervalHierarchy, intervals
from shoal.hierarchy.mapping import from_dict, from_function
from shoal.hierarchy.prefix import PrefixHierarchy, prefixes
from shoal.hierarchy.propose import propose, propose_for
from shoal.hierarchy.utd_xml import IntervalTree, read_utd_xml, write_utd_xml

__all__ = [
    "TOP",
    "Hierarchy",
    "IntervalHierarchy",
    "IntervalTree",
    "PrefixHierarchy",
    "Rule",
    "for_columns",
    "from_dict",
    "from_function",
    "intervals",
    "prefixes",
    "propose",
    "propose_for",
    "read",
    "read_arx_csv",
    "read_utd_xml",
    "write_arx_csv",
    "write_utd_xml",
]


def read(path: str | os.PathLike[str], *, column: str | None = None, trust: bool = False) -> Rule:
    """Read the hierarchy for a column: an ARX CSV file, or the attribute of that name in a UTD job file (.xml)."""
    if not os.fspath(path).lower().endswith(".xml"):
        return read_arx_csv(path, trust=trust)
    found = read_utd_xml(path)
    if column not in found:
        names = ", ".join(map(repr, found))
        raise UsageError(f"{path}: no hierarchy for column {column!r}. It has: {names}.")
    return found[column]
