"""What can be said about a release of centres without its witness: nobody says which rows of the original are a group.

The columns that are released unchanged are compared as usual. A centre is checked as far as any groups could show it;
if the rows are in the order of the original, against the rows that share its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from shoal.errors import Note
from shoal.schema import Column, Kind, Role
from shoal.verification.cells.centers import CenterCells, can_be_deviation, can_be_share
from shoal.verification.demand import Demand
from shoal.verification.examination.doubts import doubt_about
from shoal.verification.examination.readings import Readings
from shoal.verification.manifest.manifest import Manifest
from shoal.verification.matching.centers import CenteredColumn, Witnesses, spelling_violations
from shoal.verification.matching.groups import Groups
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.reading.layout import spread_names
from shoal.verification.verdict import Violation, plural

__all__ = [
    "center_contradictions",
    "center_notes",
    "center_violations",
    "spread_faults",
    "stated_center",
    "without_centers",
]


def stated_center(demand: Demand, manifest: Manifest | None) -> str | None:
    """Return "mean" or "median" if cells are centres: as the manifest states, or else as the demand says."""
    return demand.center if manifest is None else manifest.center


def center_contradictions(demand: Demand, manifest: Manifest | None) -> list[Violation]:
    """Return where the cells that a manifest states are not those of the settings."""
    if manifest is None or (demand.center is None and not demand.complete):
        return []
    named = {None: "values, ranges and sets", "mean": "centres (mean)", "median": "centres (median)"}
    if demand.center != manifest.center:
        text = f"{named[manifest.center]} in the manifest, {named[demand.center]} in the settings"
        return [Violation("cells", text)]
    if demand.center is not None and demand.spread != bool(manifest.spread) and (demand.complete or demand.spread):
        which = ("the manifest", "the settings") if manifest.spread else ("the settings", "the manifest")
        return [Violation("cells", f"with their spread in {which[0]}, without it in {which[1]}")]
    return []


def without_centers(release: CodedTable, names: Iterable[str]) -> CodedTable:
    """Return a release that says nothing about its quasi-identifiers, to compare its other columns."""
    hidden = set(names)
    columns = [
        replace(column, texts=["*"], codes=np.zeros_like(column.codes)) if name in hidden else column
        for name, column in zip(release.names, release.columns, strict=True)
    ]
    return replace(release, columns=columns)


def center_violations(readings: Readings, counter: Groups, choice: str, *, in_order: bool) -> list[Violation]:
    """Return the centres that no groups of the original could show.

    Args:
        readings: The release, its columns and its original.
        counter: The groups of the release.
        choice: "mean" or "median".
        in_order: Whether the rows are in the order of the original, and none is missing.
    """
    source, missing = readings.source, readings.schema.missing
    if source is None:
        return []
    witnesses = Witnesses.of(counter.of_row, readings.release.row_numbers(), None)
    is_complete = readings.release.n_rows == source.n_rows

    def violations_of(column: Column) -> tuple[CenteredColumn, list[Violation]]:
        original = source.column(column.name)
        centers = CenterCells(column, missing, original.texts, original.counts().tolist(), choice)
        centered = CenteredColumn(column, centers, readings.release.column(column.name))
        violations = centered.possible(original, counter, readings.release.row_numbers(), complete=is_complete)
        if in_order and is_complete and not violations:
            violations = centered.near(original, witnesses)
        return centered, violations

    columns, violations = [], []
    for column in readings.with_kinds():
        centered, found = violations_of(column)
        columns.append(centered)
        other = readings.told_apart(column)
        if not found and other is not None and (found := violations_of(other)[1]):
            found = [*found, doubt_about(column)]
        violations += found
    return violations + spelling_violations(columns)


def spread_faults(readings: Readings, spread: Mapping[str, tuple[str, CodedColumn]], choice: str) -> list[Violation]:
    """Return the columns whose spread no group could have: of another kind or form, or more than the original allows.

    Args:
        readings: The release, its columns and its original.
        spread: By column that is followed by its spread, the name and the cells of that one.
        choice: "mean" or "median".
    """
    violations, source = [], readings.source
    for column in readings.with_kinds():
        if column.name not in spread:
            continue
        name, cells = spread[column.name]
        is_deviation, is_measured = name == spread_names(column.name)[0], column.kind in (Kind.NUMERIC, Kind.DATE)
        is_known = readings.manifest is not None or source is not None
        greatest = None
        if source is not None and is_measured and column.name in source.names:
            original = source.column(column.name)
            centers = CenterCells(column, readings.schema.missing, original.texts, original.counts().tolist(), choice)
            greatest = centers.greatest_variance()
        texts = [text if "." in text else text.replace(",", ".") for text in cells.texts]
        if is_known and is_deviation != is_measured:
            is_false = np.ones(len(texts) or 1, dtype=bool)
        else:
            can_be = [can_be_deviation(text, greatest) if is_deviation else can_be_share(text) for text in texts]
            is_false = np.array([not (fits or text == "") for fits, text in zip(can_be, texts, strict=True)] or [False])
        rows = np.flatnonzero(is_false[cells.codes])
        if len(rows):
            text = f"the spread of {plural(cells.count(is_false), 'row')} is not that of any rows"
            violations.append(Violation(f"column {column.name!r}", text, int(readings.release.row_numbers()[rows[0]])))
    return violations


def center_notes(demand: Demand, manifest: Manifest | None, *, has_original: bool) -> list[Note]:
    """Return what an examination of centres leaves open; nothing if cells are no centres."""
    if stated_center(demand, manifest) is None:
        return []
    notes = [Note("cells", "they are centres of groups and not true of each row")]
    if not has_original:
        return notes
    counts_people = bool(demand.names(Role.PERSON)) or (manifest is not None and manifest.counts_people)
    has_own_k = bool(demand.names(Role.PERSONAL_K)) or any(
        spec["name"] == "personal-k" for spec in (manifest.models if manifest else None) or ()
    )
    limits = bool(demand.limits) or any(any(c.limits) for c in (manifest.columns if manifest else ()))
    parts = [
        (True, "each centre"),
        (counts_people, "the people behind the centres of each group"),
        (has_own_k, "each row's own k"),
        (bool(demand.rules), "the data constraint rules"),
        (limits, "the limits of cells"),
    ]
    words = ", ".join(text for applies, text in parts if applies)
    text = f"not checked: {words}; the file does not say which original rows are a group"
    cure = "the gate checked it when the release was written; only values that no group could show are found here"
    return [*notes, Note("centres", text, cure)]
