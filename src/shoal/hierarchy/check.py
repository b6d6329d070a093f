"""Build a hierarchy from lines, and report all problems of the lines together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoal.errors import InputError, Note, file_path, join_problems, setting
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.range_label import is_true_of
from shoal.tables.values import normalise

__all__ = ["Line", "build"]

HALF_A_RANGE = re.compile(r"[\[(]\s*[+-]?[0-9][^\])\[]*|[+-]?[0-9.]+\s*[\])]")


class Line(NamedTuple):
    """A value with its labels from level 1 up, and its position in the file or dictionary."""

    number: int
    value: str
    labels: tuple[str, ...]


class Problem:
    """One kind of problem and the places where it occurs.

    Args:
        text: What is wrong and what to do about it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: list[tuple[int, int]] = []

    def add(self, line: int, level: int = 0) -> None:
        """Record a place; level 0 is the value."""
        self.places.append((line, level))

    def first_place(self, source: str, unit: str) -> str:
        """Return the first place, such as "zip.csv, line 3, level 1"."""
        line, level = min(self.places)
        return f"{file_path(source)}, {unit} {line}" + f", level {level}" * (level > 0)

    def describe(self, source: str, unit: str) -> str:
        """Return the error message: the first place, the number of places and the problem."""
        count = f" (first of {len(self.places)} places)" if len(self.places) > 1 else ""
        return f"{self.first_place(source, unit)}{count}: {self.text}"


def build(
    lines: Iterable[Line],
    *,
    source: str,
    unit: str = "line",
    trust: bool = False,
    add_root: bool = False,
    notes: Sequence[Note] = (),
) -> Hierarchy:
    """Return the hierarchy that these lines describe.

    A short line is padded at the bottom: the value repeats itself on the levels that it lacks. If all lines end in the
    same label, that label is the root, whatever its name; values without labels get the root "*".

    Args:
        lines: One line for each value.
        source: Where the lines come from, for messages.
        unit: What a line is called in messages: "line" or "value".
        trust: Accept labels that do not contain their values, and add a note about them.
        add_root: Add "*" also above several roots, unless one of them is "*".
        notes: Other notes for the hierarchy.

    Raises:
        InputError: The lines do not form a hierarchy; the message lists all problems.
    """
    lines = [Line(line.number, normalise(line.value), _trimmed(line.labels)) for line in lines]
    if not lines:
        raise InputError(f"{source}: the hierarchy is empty. Give one {unit} for each value.")
    _refuse(_check_cells(lines) + _check_roots(lines, add_root), source, unit)
    padded = _pad(lines)
    _refuse(_check_leaves(padded) + _check_levels(padded), source, unit)
    untrue = Problem(
        "the label is a range or masked code that does not contain the value. Correct it, or accept such labels with "
        f"{setting('trust', True)}."
    )
    for line in padded:
        for level, label in enumerate(line.labels, start=1):
            if not is_true_of(label, line.value):
                untrue.add(line.number, level)
    if not trust:
        _refuse([untrue], source, unit)
    all_notes = list(notes)
    if untrue.places:
        text = "this label, of {labels} in all, is a range or masked code that does not contain its value"
        count = {"labels": len(untrue.places)}
        all_notes.append(Note(untrue.first_place(source, unit), text, "the hierarchy was accepted on trust", count))
    rows = {line.value: line.labels for line in padded}
    return Hierarchy(rows, source=source, trusted=bool(untrue.places), notes=tuple(all_notes))


def _trimmed(labels: Sequence[str]) -> tuple[str, ...]:
    """Return normalised labels without empty ones at the end; spreadsheets fill short lines with them."""
    normal = [normalise(label) for label in labels]
    while normal and not normal[-1]:
        normal.pop()
    return tuple(normal)


def _refuse(problems: Iterable[Problem], source: str, unit: str) -> None:
    texts = [problem.describe(source, unit) for problem in problems if problem.places]
    if texts:
        raise InputError(join_problems(texts))


def _check_cells(lines: Sequence[Line]) -> list[Problem]:
    """Check each line on its own, and look for values that occur twice."""
    token = Problem("the value looks like a released cell ('*' or a set in braces). Rename it.")
    empty = Problem("the label is empty. Give every level a label, or leave out the last levels of the line.")
    braces = Problem("the label is in braces, like a released set. Rename it.")
    half = Problem("the label is half a range. Put labels that contain the delimiter in double quotes.")
    below = Problem("'*' is below another label. Once a value is '*', all higher levels must be '*' too.")
    same = Problem("the value occurs before, with the same labels. List each value once.")
    two_parents = Problem("the value occurs before, with other labels: it has two parents. Keep one of them.")
    labels_of: dict[str, tuple[str, ...]] = {}
    for number, value, labels in lines:
        if value == TOP or (value.startswith("{") and value.endswith("}")):
            token.add(number)
        if value in labels_of:
            (same if labels_of[value] == labels else two_parents).add(number)
        labels_of.setdefault(value, labels)
        for level, label in enumerate(labels, start=1):
            if not label:
                empty.add(number, level)
            elif label.startswith("{") and label.endswith("}"):
                braces.add(number, level)
            elif HALF_A_RANGE.fullmatch(label):
                half.add(number, level)
            if label == TOP and any(above != TOP for above in labels[level:]):
                below.add(number, level)
    return [token, empty, braces, half, below, same, two_parents]


def _check_roots(lines: Sequence[Line], add_root: bool) -> list[Problem]:
    if not any(line.labels for line in lines):
        return []  # values without labels: keep or suppress
    roots = Counter(line.labels[-1] if line.labels else None for line in lines)
    if len(roots) == 1 or (add_root and TOP not in roots):
        return []
    main_root = TOP if TOP in roots else roots.most_common(1)[0][0]
    apart = Problem(
        f"there is no common root: the lines end in {len(roots)} different labels. End every line with '*'. If this "
        "line is a header, remove it."
    )
    for line in lines:
        if (line.labels[-1] if line.labels else None) != main_root:
            apart.add(line.number, len(line.labels))
    return [apart]


def _pad(lines: Sequence[Line]) -> list[Line]:
    """Add "*" at the top if there is no root, then repeat the value in short lines until all have the same length."""
    if len({line.labels[-1:] for line in lines}) > 1 or not lines[0].labels:
        lines = [line._replace(labels=(*line.labels, TOP)) for line in lines]
    height = max(len(line.labels) for line in lines)
    return [line._replace(labels=(line.value,) * (height - len(line.labels)) + line.labels) for line in lines]


def _check_leaves(lines: Sequence[Line]) -> list[Problem]:
    """Look for labels that are also values; a value may give its name to a label that covers it."""
    leaf = Problem("the label is also a value that it does not cover. Rename one of them.")
    labels_of = {line.value: line.labels for line in lines}
    for number, _, labels in lines:
        for level, label in enumerate(labels, start=1):
            if label in labels_of and set(labels_of[label][:level]) != {label}:
                leaf.add(number, level)
    return [leaf]


def _check_levels(lines: Sequence[Line]) -> list[Problem]:
    """Look for labels with two parents, and for labels that lose values from one level to a higher one."""
    splits = Problem("the label has two parents: an earlier line puts it below another label. Keep one of them.")
    cycle = Problem("the label is its own ancestor, with other labels in between. Use each label once on a path.")
    fewer = Problem("the label covers values on a lower level that it does not cover here. Rename one of them.")
    parents: dict[tuple[int, str], str] = {}
    members: dict[tuple[int, str], set[str]] = {}
    for number, value, labels in lines:
        for level, label in enumerate(labels[:-1], start=1):
            above = labels[level]
            if label in labels[level:] and above != label:
                cycle.add(number, level)
            if label == labels[-1]:
                break
            if parents.setdefault((level, label), above) != above:
                splits.add(number, level)
            members.setdefault((level, label), set()).add(value)
    if not splits.places and not cycle.places:
        below: dict[str, set[str]] = {}
        shrunk = set()
        for (level, label), values in sorted(members.items(), key=lambda item: item[0][0]):
            if not below.get(label, set()) <= values:
                shrunk.add((level, label))
            below[label] = values
        for number, _, labels in lines:
            for level, label in enumerate(labels, start=1):
                if (level, label) in shrunk:
                    fewer.add(number, level)
    return [splits, cycle, fewer]
