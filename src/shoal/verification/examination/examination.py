"""The examination of a released table of any tool: with or without its original, by a demand and by its manifest.

It uses the parts of the gate. Where the gate knows the source row of each released row, the examination looks for an
assignment of released rows to original rows (see `matching.rows`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Note, UsageError, setting
from shoal.schema import INPUT, NUMBERED, Dialect, Kind, Role
from shoal.verification.cells import SUPPRESSED, Cells, normalise
from shoal.verification.demand import (
    HELD_BACK,
    Demand,
    claimed_missing,
    expected_schema,
    keeps_order,
    quasi_identifiers,
    require_columns,
    unchecked_notes,
)
from shoal.verification.examination.readings import Readings, demanded_mark, with_forms
from shoal.verification.manifest.manifest import Manifest
from shoal.verification.matching.comparison import Comparison
from shoal.verification.matching.groups import Groups, order_violations
from shoal.verification.matching.outliers import beyond_bounds, recode_source
from shoal.verification.models.checks import POPULATION_MODELS, ModelChecks
from shoal.verification.models.limits import limit_violations
from shoal.verification.models.plain_values import model_words
from shoal.verification.models.sampling import SAMPLING, is_sampled, sample_violations
from shoal.verification.reading import files
from shoal.verification.reading.coded import CodedColumn, CodedTable, read_written
from shoal.verification.reading.hidden import hidden_content
from shoal.verification.reading.layout import Layout, in_bounds
from shoal.verification.reading.signature import signature_violations
from shoal.verification.reading.tables import PathName, coded_table
from shoal.verification.recount import name_violations, shape_violations
from shoal.verification.verdict import (
    MOST_VIOLATIONS,
    NO_ROWS,
    Group,
    Verdict,
    Violation,
    judge,
    share,
    small_groups,
    suppression_violations,
)

__all__ = ["examine"]


def examine(
    released: object,
    demand: Demand,
    *,
    original: object = None,
    manifest: Manifest | None = None,
    dialect: Dialect | None = None,
    original_dialect: Dialect | None = None,
    public_key: PathName | None = None,
    file: PathName | None = None,
) -> Verdict:
    """Return the verdict on a released table.

    Args:
        released: The path of a file, or a pandas, polars or pyarrow table.
        demand: What it must meet.
        original: The table (or path) that it was made from.
        manifest: Its manifest; the file must meet it too, and be written exactly as releases are.
        dialect: How the released file is written; detected by default.
        original_dialect: How the file of the original is written; detected by default.
        public_key: The PEM file of a public Ed25519 key, whose owner must have signed the manifest.
        file: The file that a released table was read from, if the verifier cannot read it itself.

    Raises:
        UsageError: A column or a table that the demand needs is missing.
        InputError: A file cannot be read as a table.
        FileError: A file cannot be opened.
    """
    k = max(demand.k or 1, manifest.k if manifest else 1)
    violations: list[Violation] = []
    notes: list[Note] = []
    if public_key is not None:
        violations += signature_violations(None if manifest is None else manifest.content, public_key)
    if manifest is None:
        file = released if isinstance(released, str | os.PathLike) else file
        violations += [] if file is None else hidden_content(file)
        reading = replace(demand.reading, delimiter=demand.delimiter or demand.reading.delimiter)
        written = coded_table(released, dialect, quasi_identifiers(demand, None), reading)
    else:
        assert isinstance(released, str | os.PathLike)
        violations += manifest.violations(released)
        notes = manifest.notes(released)
        try:
            written = read_written(released, delimiter=manifest.delimiter)
        except files.UnreadableError as error:
            return judge(k, 0, {}, [*violations, Violation("file", error.reason)])
        unchanged = [column.name for column in manifest.columns if column.role is not Role.QI]
        violations += [*written.faults, *name_violations(released, files.kind_of(released), unchanged)]
        violations += shape_violations(written.blank_lines, written.ragged_rows, len(written.names))
    source = None
    if original is not None:
        reading = demand.reading
        if manifest is not None and manifest.numbered:
            reading = replace(reading, duplicate_columns=NUMBERED)
        source = coded_table(original, original_dialect, quasi_identifiers(demand, manifest), reading)
    is_frame = not isinstance(released, str | os.PathLike)
    return _Examination(written, demand, manifest, source, violations, notes, is_frame=is_frame).verdict(k)


class _Examination:
    """One released table, read, with what is known about it."""

    def __init__(
        self,
        written: CodedTable,
        demand: Demand,
        manifest: Manifest | None,
        source: CodedTable | None,
        violations: list[Violation],
        notes: list[Note],
        *,
        is_frame: bool = False,
    ) -> None:
        self._written, self._demand, self._manifest, self._source = written, demand, manifest, source
        self._violations, self._notes = violations, notes
        self._is_frame = is_frame
        self._unchecked: list[Note] = []
        self._models: list[str] = []
        self._release = self._lay_out()
        names = None if source is None else source.names
        self._schema, contradictions = expected_schema(demand, manifest, self._release.names, names)
        self._missing = self._schema.missing
        self._violations += contradictions
        self._source = source = self._recode(source)
        self._population: CodedTable | None = None
        if demand.population is not None:
            self._population = coded_table(demand.population, None, quasi_identifiers(demand, manifest), demand.reading)
        self._readings = Readings(demand, manifest, self._schema, self._release, self._pairs, source, self._population)

    def _recode(self, source: CodedTable | None) -> CodedTable | None:
        """Recode the outliers of the original as the release states, and look for cells beyond the bounds."""
        self._schema = with_forms(self._schema, source, self._manifest)
        self._violations += beyond_bounds(self._release, self._schema)
        if source is None or not any(column.codings for column in self._schema.columns):
            return source
        manifest, own_k = self._manifest, self._demand.names(Role.PERSONAL_K)
        k = self._demand.k or 1 if manifest is None else manifest.k
        for name in own_k:
            cells = source.column(name).texts if name in source.names else []
            k = max(k, min((int(text) if text.strip().isdecimal() else 0 for text in cells), default=0))
        asks_own_k = any(spec["name"] == "personal-k" for spec in (manifest.models if manifest else None) or ())
        recoded, wrong = recode_source(source, self._schema, k, trusting=asks_own_k and not own_k)
        self._violations += wrong
        return recoded

    @property
    def _is_strict(self) -> bool:
        """Whether a shoal.toml or a manifest says what every column is."""
        return self._demand.complete or self._manifest is not None

    def verdict(self, k: int) -> Verdict:
        """Return the verdict."""
        n_rows, source = self._written.n_rows, self._source
        names = [column.name for column in self._schema.qi]
        groups: dict[Group, int] = {}
        if not n_rows:
            self._violations.append(NO_ROWS)
        if set(names) <= set(self._release.names):
            counter = Groups(self._release, names)
            groups = counter.rows
            self._count(counter, k)
        if self._manifest is not None:
            n_starred = sum(rows for group, rows in groups.items() if set(group) == {SUPPRESSED})
            counts = {"rows": n_rows, "groups": len(groups), "smallest_group": min(groups.values(), default=0)}
            self._violations += self._manifest.count_violations(
                counts, n_starred, None if source is None else source.n_rows
            )
            self._violations += self._readings.kind_violations()
        self._violations += self._readings.bound_violations()
        for limited in self._readings.limited():
            if isinstance(limited, Note):
                self._unchecked.append(limited)
            elif limited.column.name in self._release.names:
                self._violations += limit_violations(self._release.column(limited.column.name), limited)
        if source is not None and self._limit is not None:
            self._violations += suppression_violations(source.n_rows - n_rows, source.n_rows, self._limit)
        self._check_sample()
        self._count_absent()
        self._list_unnamed()
        self._unchecked += unchecked_notes(self._demand, self._manifest, has_original=source is not None)
        verdict = judge(k, n_rows, groups, list(dict.fromkeys(self._violations)))
        return replace(
            verdict,
            models=tuple(dict.fromkeys(self._models)),
            counts_people=self._source is not None and bool(self._demand.names(Role.PERSON)),
            notes=tuple(self._notes),
            unchecked=tuple(self._unchecked),
        )

    # ---- columns

    def _lay_out(self) -> CodedTable:
        """Return the table that the file represents."""
        demand, manifest = self._demand, self._manifest
        if manifest is None:
            qi = demand.names(Role.QI)
            bounds = qi if demand.bounds else in_bounds(qi, self._written.names)
            mark = demanded_mark(demand, self._source)
            layout = Layout(bounds, demand.spreadsheet_safe, typed=self._is_frame, mark=mark)
        else:
            layout = Layout(manifest.bounds, manifest.spreadsheet_safe, mark=manifest.mark())
            if demand.decimal not in (None, INPUT, manifest.decimal):
                text = (
                    f"the decimal mark is {manifest.decimal!r} in the manifest and {demand.decimal!r} in the settings"
                )
                self._violations.append(Violation("decimal mark", text))
        release = layout.table(self._written)
        for name in () if manifest is None else manifest.bounds:
            if name in self._written.names:
                text = "it is not written as two columns of bounds, as the manifest states"
                self._violations.append(Violation(f"column {name!r}", text))
        self._violations += layout.violations()
        self._pairs = layout.pairs
        return release

    # ---- counts

    def _count(self, counter: Groups, k: int) -> None:
        """Count the groups, and compare the rows with the original."""
        cells = self._readings.cells()
        comparison, sizes, noun = None, counter.rows, "row"
        if self._source is not None and self._written.n_rows:
            comparison = self._compare(self._source, cells)
            for person in self._demand.names(Role.PERSON):
                people = np.maximum(comparison.count_people(counter.of_row, person), 1).tolist()
                sizes, noun = dict(zip(counter.groups, people, strict=True)), "person"
        self._violations += small_groups(sizes, k, counter.first_row, noun)
        self._judge_models(counter, sizes, cells)
        if comparison is None or self._source is None:
            self._check_order(None)
            return
        by_row = np.array([sizes[group] for group in counter.groups], dtype=np.int64)[counter.of_row]
        own_k = self._own_k(self._source, by_row)
        self._models += ["each row's own k"] if own_k is not None else []
        if untrue := comparison.violations(own_k):
            self._violations += [*untrue, *self._readings.doubtful_missing()]
        self._violations += comparison.rule_violations(self._demand.rules, counter.of_row)
        self._check_order(comparison)

    def _compare(self, source: CodedTable, cells: Sequence[tuple[str, Cells]]) -> Comparison:
        """Return the comparison with the original; it must have the columns that this takes."""
        demand, names = self._demand, self._release.names
        require_columns(
            "the original table", source.names, [*(name for name, _ in cells), *demand.names(Role.SENSITIVE)]
        )
        require_columns("the original table", source.names, demand.names(Role.PERSON, Role.PERSONAL_K))
        held_back = demand.names(*HELD_BACK)
        if extra := [name for name in names if name not in source.names]:
            names_text = ", ".join(map(repr, extra[:MOST_VIOLATIONS]))
            text = f"{share(len(extra), len(names), 'column')} not in the original ({names_text})"
            self._violations.append(Violation("columns", text))
        qi = [name for name, _ in cells]
        equal = [name for name in names if name in source.names and name not in (*qi, *held_back)]
        return Comparison(self._release, source, cells, list(dict.fromkeys(equal)))

    def _own_k(self, source: CodedTable, sizes: NDArray[np.int64]) -> tuple[CodedColumn, NDArray[np.int64]] | None:
        """Return the k that each original row asks for, beside the size of each released row's group."""
        for name in self._demand.names(Role.PERSONAL_K):
            requests, cells = source.column(name), Cells(Kind.NUMERIC)
            claims = claimed_missing(self._demand, self._manifest)
            # A manifest cannot turn a number into a missing one.
            missing = {normalise(t) for t in self._missing if t not in claims or cells.place(normalise(t))[0] == "text"}
            texts = ["0" if normalise(text) in missing else text for text in requests.texts]
            return CodedColumn(texts, requests.codes), sizes
        return None

    def _judge_models(self, counter: Groups, sizes: Mapping[Group, int], cells: Sequence[tuple[str, Cells]]) -> None:
        """Judge the models of the demand, and those of the manifest that can be judged."""
        released = [
            column if column.role is Role.QI else replace(column, role=Role.SENSITIVE)
            for column in self._schema.columns
            if column.name in self._release.names
        ]
        names = [column.name for column in released if column.role is not Role.QI]
        stated = []
        for spec in (self._manifest.models if self._manifest else None) or ():
            if reason := self._not_judged(spec):
                self._unchecked.append(Note(str(spec["name"]), f"not checked: {reason[0]}", reason[1]))
            elif "column" not in spec or spec["column"] in names:
                stated.append(spec)  # another column contradicts the manifest or the file, a violation of its own
        paths = {
            name: labels(self._readings.values(self._release.column(name))) if callable(labels) else labels
            for name, labels in self._demand.paths.items()
            if name in names
        }
        for specs in (self._demand.models, stated):
            checks = ModelChecks(specs, released, self._missing, paths)
            for name in checks.columns:
                for group, cell, times in counter.with_cells(self._release.column(name)):
                    checks.add(name, group, cell, times)
            readings = dict(cells[::-1])  # the first of two readings
            ordered = {name: readings[name] for name, _ in cells}
            try:
                self._violations += checks.violations(counter.rows, sizes, counter.first_row, ordered, self._population)
            except UsageError:
                if specs is self._demand.models:
                    raise
                self._violations.append(Violation("manifest, 'requirements'", "a model cannot be counted in this file"))
            self._models += map(model_words, checks.models)

    def _not_judged(self, spec: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return why a model of the manifest cannot be judged, and what it would take."""
        assert self._manifest is not None
        if spec["name"] in POPULATION_MODELS and self._population is None:
            return "it counts the population", f"use {setting('population')}"
        column = str(spec.get("column", ""))
        is_hierarchical = spec.get("distance") == "hierarchical" or (
            spec["name"] == "t-closeness" and not spec.get("distance") and column in self._manifest.labelled
        )
        if is_hierarchical and column not in self._demand.paths:
            return f"it measures distances in the hierarchy of column {column!r}", f"use {setting('hierarchies')}"
        return None

    # ---- order, and what was not said

    def _check_order(self, comparison: Comparison | None) -> None:
        """Check that the order of the rows says nothing about the original, unless it is meant to."""
        manifest = self._manifest
        unsorted = order_violations(self._written)
        if keeps_order(self._demand, manifest):
            if comparison is not None and not comparison.is_in_order():
                self._violations.append(Violation("order", "the rows are not in the order of the original"))
        elif manifest is not None:
            self._violations += unsorted
        elif unsorted and comparison is not None and comparison.is_in_order():
            text = "the rows are still in the order of the original, which can identify people"
            if self._is_strict:
                self._violations.append(Violation("order", text))
            else:
                self._notes.append(Note("order", text))

    @property
    def _limit(self) -> Fraction | None:
        """The largest share of original rows that may be missing; None if it is not limited."""
        asked = None if is_sampled(self._plain_models(self._demand.models)) else self._demand.suppression_limit
        if self._manifest is None:
            return asked
        stated = self._manifest.suppression_limit
        return stated if asked is None else min(asked, stated)

    @staticmethod
    def _plain_models(models: Iterable[Any]) -> list[Mapping[str, Any]]:
        """Return models as plain values."""
        return [model if isinstance(model, Mapping) else model.spec() for model in models]

    def _check_sample(self) -> None:
        """Check what a sample demands of the columns and, with the original, of the number of rows."""
        specs = self._plain_models([*self._demand.models, *((self._manifest and self._manifest.models) or ())])
        if not is_sampled(specs):
            return
        uncounted = [name for name in self._release.names if name not in {column.name for column in self._schema.qi}]
        if uncounted:
            text = f"{', '.join(map(repr, uncounted[:MOST_VIOLATIONS]))} released, which no group counts"
            self._violations.append(Violation(SAMPLING, text))
        if self._source is not None:
            sampled = [spec for spec in specs if is_sampled([spec])]
            self._violations += sample_violations(sampled, self._written.n_rows, self._source.n_rows)
        self._unchecked.append(
            Note(SAMPLING, "not checked: whether the rows were drawn at random, and the levels without the data")
        )

    def _count_absent(self) -> None:
        """Note how many original rows are not in the release."""
        n_rows, n_source = self._written.n_rows, 0 if self._source is None else self._source.n_rows
        if n_source > n_rows:
            text = f"{n_source - n_rows} of {n_source} original rows are not in the release"
            self._notes.append(Note("rows", text))

    def _list_unnamed(self) -> None:
        """Note the columns that nobody gave a role."""
        if self._manifest is not None:
            return
        names = [name for name in self._release.names if self._demand.role_of(name) is None]
        if self._demand.complete:
            names = names if self._demand.others == "insensitive" and self._source is None else []
        if names:
            columns = ", ".join(map(repr, names[:MOST_VIOLATIONS])) + (", ..." if len(names) > MOST_VIOLATIONS else "")
            said = "compared with the original" if self._source else f"not checked; use {setting('original')}"
            self._notes.append(Note("", f"columns without a role: {columns}; {said}"))
