"""Hierarchies: ordered levels over the values of one attribute. Level 0 is the value, the last level is "*".

Read one with `read` (chosen by the file name), `read_arx_csv` or `read_utd_xml`; write one with `write_arx_csv` or
`write_utd_xml`. Build one with `intervals` (numbers and dates), `prefixes` (codes), `from_dict` or `from_function`.
Propose one from data with `propose` or `propose_for`. `builtin` returns one of those that come with shoal.

Each of them returns a `Hierarchy`, or a `Rule` that makes a hierarchy for the values of a column. All problems of a
hierarchy are reported together as one InputError that gives lines and levels, never a value.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.hierarchy.base import TOP, Hierarchy, Rule, for_columns
from shoal.hierarchy.builtin import BUILTINS, PREFIX, builtin
from shoal.hierarchy.interval import IntervalHierarchy, intervals
from shoal.hierarchy.prefix import PrefixHierarchy, prefixes
from shoal.hierarchy.propose import AUTO, Auto, propose, propose_for, propose_open

if TYPE_CHECKING:
    from shoal.hierarchy.arx_csv import read_arx_csv, write_arx_csv
    from shoal.hierarchy.mapping import from_dict, from_function
    from shoal.hierarchy.utd_xml import IntervalTree, read_utd_xml, write_utd_xml

__all__ = [
    "AUTO",
    "BUILTINS",
    "PREFIX",
    "TOP",
    "Auto",
    "Hierarchy",
    "IntervalHierarchy",
    "IntervalTree",
    "PrefixHierarchy",
    "Rule",
    "builtin",
    "for_columns",
    "from_dict",
    "from_function",
    "intervals",
    "is_file",
    "prefixes",
    "propose",
    "propose_for",
    "propose_open",
    "read",
    "read_arx_csv",
    "read_utd_xml",
    "write_arx_csv",
    "write_utd_xml",
]


_MODULES = {
    "IntervalTree": "utd_xml",
    "from_dict": "mapping",
    "from_function": "mapping",
    "read_arx_csv": "arx_csv",
    "read_utd_xml": "utd_xml",
    "write_arx_csv": "arx_csv",
    "write_utd_xml": "utd_xml",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def is_file(rule: object) -> bool:
    """Return whether the value of a setting names a file; `auto` and `builtin:NAME` name none."""
    if isinstance(rule, str) and (rule == AUTO or rule.startswith(PREFIX)):
        return False
    return isinstance(rule, str | os.PathLike)


def read(path: str | os.PathLike[str], *, column: str | None = None, trust: bool = False) -> Rule:
    """Read the hierarchy of a column from an ARX CSV file or from a UTD job file (.xml).

    Args:
        path: The file. A name that ends in ".xml" is a job file, any other name an ARX CSV file. "builtin:NAME" is a
            built-in hierarchy.
        column: The attribute to look up in a job file.
        trust: Accept labels of a CSV file that do not contain their values.

    Returns:
        The hierarchy, or the rule that makes it.

    Raises:
        UsageError: The job file has no hierarchy for the column.
        InputError: The hierarchy is malformed.
        FileError: The file cannot be read.
    """
    if isinstance(path, str) and path.startswith(PREFIX):
        return builtin(path.removeprefix(PREFIX))
    if not os.fspath(path).lower().endswith(".xml"):
        from shoal.hierarchy.arx_csv import read_arx_csv

        return read_arx_csv(path, trust=trust)
    from shoal.hierarchy.utd_xml import read_utd_xml

    rules = read_utd_xml(path)
    if column not in rules:
        names = ", ".join(map(repr, rules))
        raise UsageError(f"{path}: there is no hierarchy for column {column!r}. The file has: {names}.")
    return rules[column]
