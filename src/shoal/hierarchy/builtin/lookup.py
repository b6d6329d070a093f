"""Hierarchies of known names and codes, looked up in a table: countries and states."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from shoal.hierarchy.base import TOP, LabelRule, Misfit

__all__ = ["LookupHierarchy", "read_facts"]

OTHERS = "others"  # the column of further spellings, separated by |


def read_facts(name: str) -> list[dict[str, str]]:
    """Return the rows of a built-in table."""
    with open(Path(__file__).parent / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class LookupHierarchy(LabelRule):
    """A rule that looks up each value; case, accents, hyphens and leading zeros of codes do not matter.

    Attributes:
        name: The name of the table.
        forms: Its columns of spellings; the first one is shown by default.
        levels: Its columns of labels from level 1 up.
        what: What a value must be; completes "is not ..." in a message.
    """

    name: str
    forms: tuple[str, ...]
    levels: tuple[str, ...]
    what: str

    @property
    def _source_name(self) -> str:
        return f"builtin:{self.name}"

    def _height_over(self, texts: Sequence[str]) -> int:
        return len(self.levels) + 1

    def _labels_of(self, text: str, height: int) -> tuple[str, ...] | None:
        return _paths(self).get(_key(text))

    def _misfit(self, texts: Sequence[str], positions: Sequence[int]) -> Misfit:
        cure = f"Correct their spelling (shoal hierarchy builtin {self.name} lists them), declare them missing"
        return Misfit(positions, f"not {self.what}", cure)

    def values(self, form: str | None = None) -> list[str]:
        """Return the values that the table knows, in one form."""
        return [row[form or self.forms[0]] for row in read_facts(self.name)]

    def knows(self, text: str) -> bool:
        """Return whether a value is in the table."""
        return _key(text) in _paths(self)


@cache
def _paths(rule: LookupHierarchy) -> Mapping[str, tuple[str, ...]]:
    """Return the labels of each spelling."""
    paths = {}
    for row in read_facts(rule.name):
        labels = (*(row[level] for level in rule.levels), TOP)
        for spelling in (*(row[form] for form in rule.forms), *filter(None, row[OTHERS].split("|"))):
            paths[_key(spelling)] = labels
    return MappingProxyType(paths)


def _key(text: str) -> str:
    """Return a spelling without what people write differently.

    >>> _key("Côte d'Ivoire"), _key("Trinidad & Tobago"), _key("United-States"), _key("004"), _key("The Gambia")
    ('cote d ivoire', 'trinidad and tobago', 'united states', '4', 'gambia')
    """
    if text.isascii() and text.isdigit():
        return text.lstrip("0")
    plain = unicodedata.normalize("NFKD", text.replace("&", " and ")).casefold()
    letters = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    words = letters.split()
    return " ".join(words[1:] if words[:1] == ["the"] else words)
