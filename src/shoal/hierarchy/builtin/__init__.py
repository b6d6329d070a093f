"""Built-in hierarchies; docs/reference/builtin-hierarchies.md names their sources."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import UsageError
from shoal.hierarchy.builtin.icd10 import Icd10Hierarchy
from shoal.hierarchy.builtin.lookup import LookupHierarchy
from shoal.hierarchy.interval import intervals
from shoal.hierarchy.prefix import prefixes
from shoal.schema import ISO
from shoal.tables.values import PLAIN, Marks

if TYPE_CHECKING:
    from shoal.hierarchy.base import Rule

__all__ = ["BUILTINS", "PREFIX", "Builtin", "builtin", "matching"]

PREFIX = "builtin:"  # before the name, where a path could stand
COUNTRIES = LookupHierarchy(
    "countries", ("name", "alpha2", "alpha3", "numeric"), ("area", "subregion", "region"), "a country or territory"
)
STATES = LookupHierarchy("us-states", ("name", "code", "fips"), ("division", "region"), "a state of the US")
ICD10 = Icd10Hierarchy()
LEAST_VALUES = 3  # fewer values may be known by chance


@dataclass(frozen=True)
class Builtin:
    """A built-in hierarchy.

    Attributes:
        name: Its name.
        summary: The levels from the values up, in one line.
        forms: The ways to write its values; empty if it generalises any value of its kind.
        examples: Values to show it with.
    """

    name: str
    summary: str
    forms: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


BUILTINS = {
    each.name: each
    for each in (
        Builtin("countries", "country to UN area, subregion and region", COUNTRIES.forms),
        Builtin("us-states", "US state to census division and region", STATES.forms),
        Builtin(
            "icd-10", "ICD-10 code to category, block and chapter", examples=("E11.9", "E10", "I21.4", "i25", "S52501A")
        ),
        Builtin("ages", "age to intervals of 5, 10, 20 and 40 years", examples=("0", "7", "34", "38", "65", "91")),
        Builtin(
            "dates",
            "date to month, quarter, year and decade",
            examples=("1984-02-11", "1984-03-30", "1987-11-02", "2001-07-15"),
        ),
        Builtin(
            "zip", "ZIP or ZIP+4 code to 5, 3 and 1 digits", examples=("02139", "02139-4307", "02141", "021424307")
        ),
        Builtin(
            "codes", "code of any length to its first characters", examples=("SW1A 1AA", "SW1A 2AA", "SW1A", "SE1 7PB")
        ),
    )
}


def builtin(name: str, *, date_format: str = ISO, marks: Marks = PLAIN) -> Rule:
    """Return a built-in hierarchy.

    Args:
        name: Its name; `shoal hierarchy builtin` lists them.
        date_format: How dates are written in the column, as for strptime.
        marks: The decimal and thousands marks of numbers in the column.

    Raises:
        UsageError: There is no such hierarchy.

    >>> builtin("countries").over(["Kenya", "DE"]).rows["Kenya"]
    ('Eastern Africa', 'Sub-Saharan Africa', 'Africa', '*')
    >>> builtin("zip").over(["02139", "02139-4307"]).rows
    {'02139': ('02139*', '021*', '0*', '*'), '02139-4307': ('02139*', '021*', '0*', '*')}
    """
    if name not in BUILTINS:
        raise UsageError(f"{name!r} is not a built-in hierarchy. They are: {', '.join(BUILTINS)}.")
    rules: dict[str, Rule] = {
        "countries": COUNTRIES,
        "us-states": STATES,
        "icd-10": ICD10,
        "ages": intervals([5, 10, 20, 40], marks=marks),
        "zip": prefixes([5, 3, 1], meet=True),
        "codes": prefixes(mask=1, meet=True),
    }
    return rules[name] if name in rules else intervals([1, 3, 12, 120], unit="month", date_format=date_format)


# What the name of a column must contain for values that could be something else.
HINTS = {"countries": "country|countries|nation|origin|land", "us-states": "state", "icd-10": "icd|diag"}


def matching(column: str, values: Collection[str]) -> str | None:
    """Return the name of the built-in table that knows all values of a column; None if none does, or if in doubt.

    Short codes fit several tables, so the name of the column must confirm them.
    """
    if len(values) < LEAST_VALUES:
        return None
    fits = [rule for rule in (COUNTRIES, STATES, ICD10) if all(map(rule.knows, values))]
    names = [rule._source_name.removeprefix(PREFIX) for rule in fits]
    hinted = [name for name in names if re.search(HINTS[name], column, re.IGNORECASE)]
    if hinted:
        return hinted[0]
    is_short = all(len(value) <= 4 or any(map(str.isdigit, value)) for value in values)
    return names[0] if len(names) == 1 and not is_short else None
