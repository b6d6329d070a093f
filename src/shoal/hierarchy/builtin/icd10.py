"""The hierarchy of ICD-10 codes: categories, blocks and chapters, all of them codes and ranges of codes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from shoal.hierarchy.base import TOP, LabelRule, Misfit
from shoal.hierarchy.builtin.lookup import read_facts

__all__ = ["Icd10Hierarchy"]

CODE = re.compile(r"([A-Z][0-9][0-9A-Z])(?:\.?[0-9A-Z]{1,4}|\.-)?[*+!†]?", re.IGNORECASE)

Range = tuple[str, str]  # a block and its chapter


@dataclass(frozen=True)
class Icd10Hierarchy(LabelRule):
    """A rule that generalises a code to its category, which ends in `.-`, its block and its chapter, which are ranges.

    A code may be written with or without its point, and in small letters.
    """

    @property
    def _source_name(self) -> str:
        return "builtin:icd-10"

    def _height_over(self, texts: Sequence[str]) -> int:
        return 4

    def _labels_of(self, text: str, height: int) -> tuple[str, ...] | None:
        match = CODE.fullmatch(text)
        found = _find(match[1].upper()) if match else None
        return None if match is None or found is None else (f"{match[1].upper()}.-", *found, TOP)

    def _misfit(self, texts: Sequence[str], positions: Sequence[int]) -> Misfit:
        return Misfit(positions, "not a code of ICD-10", "Correct them, declare them missing")

    def values(self) -> list[str]:
        """Return the first category of each block."""
        return [row["block"][:3] for row in read_facts("icd10")]

    def knows(self, text: str) -> bool:
        """Return whether a value is a code of ICD-10."""
        return self._labels_of(text, 4) is not None


def _find(category: str) -> Range | None:
    """Return the block and the chapter of a category."""
    alone, firsts, ranges = _blocks()
    if category in alone:
        return alone[category]
    at = bisect_right(firsts, category) - 1
    return ranges[at] if at >= 0 and category <= ranges[at][0][-3:] else None


@cache
def _blocks() -> tuple[Mapping[str, Range], tuple[str, ...], tuple[Range, ...]]:
    """Return the categories that are looked up by themselves, and the other blocks in order by their first category."""
    alone: dict[str, Range] = {}
    ranges: list[Range] = []
    for row in read_facts("icd10"):
        found = row["block"], row["chapter"]
        first, last = row["block"].split("-")
        if first == last:
            alone[first] = found
        else:
            ranges.append(found)
        if row["also"]:  # national categories whose letter sorts them elsewhere
            alone[row["also"]] = found
    return alone, tuple(block[:3] for block, _ in ranges), tuple(ranges)
