"""Make a hierarchy of lines, or say everything that is wrong with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoal.errors import InputError, Note, file_path, join_problems
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.range_label import is_true_of
from shoal.tables.values import normalise

__all__ = ["Line", "build"]

HALF_A_RANGE = re.compile(r"[\[(]\s*[+-]?[0-9][^\])\[]*|[+-]?[0-9.]+\s*[\])]")


class Line(NamedTuple):
    """A value with its labels from level 1 up, and its number in the file or dictionary."""

    number: int
    value: str
    labels: tuple[str, ...]


class Finding:
    """One sort of problem: how often it occurs, and where first."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: list[tuple[int, int]] = []

    def add(self, line: int, level: int = 0) -> None:
        """Note one place."""
        self.places.append((line, level))

    def describe(self, source: str, unit: str) -> str:
        """Say where it is first and how often, then what it is."""
        line, level = min(self.places)
        where = f"{source}, {unit} {line}" + f", level {level}" * (level > 0)
        return f"{where}: {self.text}" + f" ({len(self.places)} such places.)" * (len(self.places) > 1)


def build(
    lines: Iterable[Line],
    *,
    source: str,
    unit: str = "line",
    trust: bool = False,
    add_root: bool = False,
    notes: Sequence[Note] = (),
) -> Hierarchy:
    """Return the hierarchy of these lines; all problems together are one InputError.

    A short line is padded at the value, which repeats itself on the levels that it lacks. Where all lines end in one
    label that is not "*", "*" comes above it; add_root: also where they end in several and none of them is "*".
    trust: take labels that are not true of their value, and say so in the notes.
    """
    lines = [Line(line.number, normalise(line.value), _trimmed(line.labels)) for line in lines]
    if not lines:
        raise InputError(f"{source}: the hierarchy is empty. Give one {unit} for each value.")
    findings = _check_cells(lines) + _check_roots(lines, add_root)
    _refuse(findings, source, unit)
    padded = _pad(lines)
    _refuse(_check_leaves(padded) + _check_levels(padded), source, unit)
    untrue = Finding("the label is a range (or masked code) that does not hold the value.")
    for line in padded:
        for level, label in enumerate(line.labels, start=1):
            if not is_true_of(label, line.value):
                untrue.add(line.number, level)
    if untrue.places and not trust:
        untrue.text += " Mend it, or take the hierarchy on trust (trust=True, --trust-hierarchies)."
        _refuse([untrue], source, unit)
    if untrue.places:
        number, level = min(untrue.places)
        place = f"{file_path(source)}, {unit} {number}, level {level}"
        text = "the label is a range or masked code that does not contain the value ({places} such labels)"
        notes = [*notes, Note(place, text, "check them: they were accepted on trust", {"places": len(untrue.places)})]
    rows = {line.value: line.labels for line in padded}
    return Hierarchy(rows, source=source, trusted=bool(untrue.places), notes=tuple(notes))


def _trimmed(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels in their one form, without empty ones at the end: a spreadsheet fills short lines with them."""
    kept = [normalise(label) for label in labels]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _refuse(findings: Iterable[Finding], source: str, unit: str) -> None:
    found = [finding.describe(source, unit) for finding in findings if finding.places]
    if found:
        raise InputError(join_problems(found))


def _check_cells(lines: Sequence[Line]) -> list[Finding]:
    """Look at each line by itself, and for values that stand twice."""
    token = Finding("the value reads like a released cell ('*' or a set in braces). Rename it.")
    empty = Finding("the label is empty. Give every level a label, or leave out the last levels of the line.")
    braces = Finding("the label stands in braces, as a released set does. Rename it.")
    half = Finding("the label is half a range. Put labels that hold the delimiter in double quotes.")
    below = Finding("'*' stands below another label. Once a value is '*', it is so on all higher levels.")
    same = Finding("the value is listed before, with the same labels. List each value once.")
    other = Finding("the value is listed before, with other labels: it has two parents. Decide on one.")
    seen: dict[str, tuple[str, ...]] = {}
    for number, value, labels in lines:
        if value == TOP or (value.startswith("{") and value.endswith("}")):
            token.add(number)
        if value in seen:
            (same if seen[value] == labels else other).add(number)
        seen.setdefault(value, labels)
        for level, label in enumerate(labels, start=1):
            if not label:
                empty.add(number, level)
            elif label.startswith("{") and label.endswith("}"):
                braces.add(number, level)
            elif HALF_A_RANGE.fullmatch(label):
                half.add(number, level)
            if label == TOP and any(above != TOP for above in labels[level:]):
                below.add(number, level)
    return [token, empty, braces, half, below, same, other]


def _check_roots(lines: Sequence[Line], add_root: bool) -> list[Finding]:
    if not any(line.labels for line in lines):
        return []  # values alone: keep or suppress
    ends = Counter(line.labels[-1] if line.labels else None for line in lines)
    if len(ends) == 1 or (add_root and TOP not in ends):
        return []
    root = TOP if TOP in ends else ends.most_common(1)[0][0]
    apart = Finding(
        f"no common root: the lines end in {len(ends)} different labels. End every line with '*' (and leave out a "
        "header, if this is one)."
    )
    for line in lines:
        if (line.labels[-1] if line.labels else None) != root:
            apart.add(line.number, len(line.labels))
    return [apart]


def _pad(lines: Sequence[Line]) -> list[Line]:
    """Put "*" on top where it is not, then make all lines equally long by repeating the value."""
    if any(not line.labels or line.labels[-1] != TOP for line in lines):
        lines = [line._replace(labels=(*line.labels, TOP)) for line in lines]
    height = max(len(line.labels) for line in lines)
    return [line._replace(labels=(line.value,) * (height - len(line.labels)) + line.labels) for line in lines]


def _check_leaves(lines: Sequence[Line]) -> list[Finding]:
    """Look for labels that are also values: of another line, or of the same one but not at its beginning."""
    leaf = Finding("the label is also a value of its own. Rename one of them.")
    values = {line.value for line in lines}
    for number, value, labels in lines:
        own = True
        for level, label in enumerate(labels, start=1):
            own = own and label == value
            if label in values and not own:
                leaf.add(number, level)
    return [leaf]


def _check_levels(lines: Sequence[Line]) -> list[Finding]:
    """Look for labels that split on the next level, and for those that mean two things on two levels."""
    splits = Finding("the label has two parents: an earlier line puts it below another label. Decide on one.")
    cycle = Finding("the label is its own ancestor: other labels stand between. Name each label once on the way up.")
    wider = Finding("the label stands for other values on a lower level. Give the higher one a name of its own.")
    parents: dict[tuple[int, str], str] = {}
    members: dict[tuple[int, str], list[str]] = {}
    for number, value, labels in lines:
        for level, label in enumerate(labels, start=1):
            if label == TOP:
                break
            above = labels[level]
            if parents.setdefault((level, label), above) != above:
                splits.add(number, level)
            if label in labels[level:] and above != label:
                cycle.add(number, level)
            members.setdefault((level, label), []).append(value)
    if not splits.places and not cycle.places:
        first: dict[str, list[str]] = {}
        wrong = set()
        for (level, label), values in sorted(members.items(), key=lambda item: item[0][0]):
            if first.setdefault(label, values) != values:
                wrong.add((level, label))
        for number, _, labels in lines:
            for level, label in enumerate(labels, start=1):
                if (level, label) in wrong:
                    wider.add(number, level)
    return [splits, cycle, wider]
