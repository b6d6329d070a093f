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

from shoal.errors import Note
from shoal.schema import INPUT, NUMBERED, Dialect, Kind, Role
from shoal.verification.cells import SUPPRESSED, Cells, normalise
from shoal.verification.demand import (
    HELD_BACK,
    Demand,
    claimed_missing,
    expected_schema,
    keeps_order,
    open_notes,
    quasi_identifiers,
    require_columns,
    unchecked_notes,
)
from shoal.verification.examination.centers import (
    center_contradictions,
    center_notes,
    center_violations,
    spread_faults,
    stated_center,
    without_centers,
)
from shoal.verification.examination.judgement import Judgement
from shoal.verification.examination.people import people_notes
from shoal.verification.examination.readings import Readings, demanded_mark, with_forms
from shoal.verification.gate_streamed.distinct import ReadParts, distinct_original, distinct_written
from shoal.verification.manifest.manifest import Manifest
from shoal.verification.matching.comparison import Comparison
from shoal.verification.matching.groups import Groups, order_violations
from shoal.verification.matching.outliers import beyond_bounds, recode_source
from shoal.verification.matching.people import with_people
from shoal.verification.models.limits import limit_violations
from shoal.verification.models.sampling import NO_DRAW, is_sampled, sample_violations
from shoal.verification.reading import files
from shoal.verification.reading.coded import CodedColumn, CodedTable, read_original, read_written
from shoal.verification.reading.hidden import hidden_content
from shoal.verification.reading.layout import Layout, in_bounds, in_spread
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

_READERS = {True: distinct_original, False: read_original}


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
        released: The path of a file, or a pandas, polars or pyarrow table; or files that were read apart.
        demand: What it must meet.
        original: The table (or path) that it was made from; or files that were read apart.
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
    # Only a comparison of the order of rows needs all of them.
    is_distinct = original is None or not keeps_order(demand, manifest)
    if public_key is not None:
        violations += signature_violations(None if manifest is None else manifest.content, public_key)
    if isinstance(released, ReadParts):
        written = released.table
        if manifest is not None:
            violations += [*manifest.parts_violations(released.hashes), *written.faults]
        elif original is not None:
            written = replace(written, unsorted=0)  # whether the rows keep an order is known from all rows alone
    elif manifest is None:
        file = released if isinstance(released, str | os.PathLike) else file
        violations += [] if file is None else hidden_content(file)
        reading = replace(demand.reading, delimiter=demand.delimiter or demand.reading.delimiter)
        looked_for = quasi_identifiers(demand, None)
        written = coded_table(released, dialect, looked_for, reading, _READERS[is_distinct])
        if original is not None and order_violations(written):
            is_distinct = False
            if written.times is not None:
                written = coded_table(released, dialect, looked_for, reading)
    else:
        assert isinstance(released, str | os.PathLike)
        violations += manifest.violations(released)
        notes = manifest.notes(released)
        try:
            read = distinct_written if is_distinct else read_written
            written = read(released, delimiter=manifest.delimiter)
        except files.UnreadableError as error:
            return judge(k, 0, {}, [*violations, Violation("file", error.reason)])
        names = [column.name for column in manifest.columns if column.name not in manifest.bounds]
        names = written.names if manifest.center else names  # what follows a centre is typed, too
        violations += [*written.faults, *name_violations(released, files.kind_of(released), names)]
        violations += shape_violations(written.blank_lines, written.ragged_rows, len(written.names))
    source = None
    if original is not None:
        reading = demand.reading
        if manifest is not None and manifest.numbered:
            reading = replace(reading, duplicate_columns=NUMBERED)
        looked_for = quasi_identifiers(demand, manifest)
        if isinstance(original, ReadParts):
            source = original.table
        else:
            source = coded_table(original, original_dialect, looked_for, reading, _READERS[is_distinct])
    is_frame = not isinstance(released, str | os.PathLike | ReadParts)
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
        self._center = stated_center(demand, manifest)
        self._violations += center_contradictions(demand, manifest)
        self._release = self._lay_out()
        names = None if source is None else source.names
        self._schema, contradictions = expected_schema(demand, manifest, self._release.names, names)
        self._missing = self._schema.missing
        self._violations += contradictions
        self._source = source = self._recode(None if source is None else with_people(source, self._schema))
        self._population: CodedTable | None = None
        if demand.population is not None:
            looked_for = quasi_identifiers(demand, manifest)
            self._population = coded_table(demand.population, None, looked_for, demand.reading, distinct_original)
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
        n_source = None if source is None else source.n_rows
        names = [column.name for column in self._schema.qi]
        groups: dict[Group, int] = {}
        if not n_rows:
            self._violations.append(NO_ROWS)
        if set(names) <= set(self._release.names):
            counter = Groups(self._release, names, [column for _, column in self._spread.values()])
            groups = counter.rows
            self._count(counter, k)
        if self._manifest is not None:
            n_starred = sum(rows for group, rows in groups.items() if set(group) == {SUPPRESSED})
            counts = {"rows": n_rows, "groups": len(groups), "smallest_group": min(groups.values(), default=0)}
            self._violations += self._manifest.count_violations(counts, n_starred, n_source)
            self._violations += self._readings.kind_violations()
        self._violations += self._readings.bound_violations()
        self._violations += spread_faults(self._readings, self._spread, self._center or "")
        for limited in self._readings.limited() if self._center is None else ():
            if isinstance(limited, Note):
                self._unchecked.append(limited)
            elif limited.column.name in self._release.names:
                column = self._release.column(limited.column.name)
                self._violations += limit_violations(column, limited, self._release.row_numbers())
        if source is not None and self._limit is not None:
            self._violations += suppression_violations(source.n_rows - n_rows, source.n_rows, self._limit)
        specs = self._plain_models([*self._demand.models, *((self._manifest and self._manifest.models) or ())])
        if is_sampled(specs):
            qi = {column.name for column in self._schema.qi}
            uncounted = [name for name in self._release.names if name not in qi]
            self._violations += sample_violations(specs, n_rows, n_source, uncounted)
            self._unchecked.append(NO_DRAW)
        self._notes += open_notes(self._demand, self._manifest, self._release.names, n_rows, n_source)
        if self._manifest is None:
            self._notes += people_notes(self._release, self._demand.names(Role.QI))
        self._unchecked += unchecked_notes(self._demand, self._manifest, has_original=source is not None)
        self._unchecked += center_notes(self._demand, self._manifest, has_original=source is not None)
        verdict = judge(k, n_rows, groups, list(dict.fromkeys(self._violations)))
        return replace(
            verdict,
            models=tuple(dict.fromkeys(self._models)),
            counts_people=self._source is not None and bool(self._demand.names(Role.PERSON)),
            center=self._center,
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
            spread = qi if demand.spread else in_spread(qi, self._written.names) if self._center else ()
            layout = Layout(bounds, demand.spreadsheet_safe, typed=self._is_frame, mark=mark, spread=spread)
        else:
            spread = manifest.spread
            layout = Layout(manifest.bounds, manifest.spreadsheet_safe, mark=manifest.mark(), spread=spread)
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
        self._violations += [
            Violation(f"column {name!r}", "its spread does not follow it")
            for name in spread
            if name not in layout.spread
        ]
        self._pairs, self._spread = layout.pairs, layout.spread
        return release

    # ---- counts

    def _count(self, counter: Groups, k: int) -> None:
        """Count the groups, and compare the rows with the original."""
        cells = self._readings.cells() if self._center is None else self._centered()
        comparison, sizes, noun = None, counter.rows, "row"
        if self._source is not None and self._written.n_rows:
            comparison = self._compare(self._source, cells)
            for person in self._demand.names(Role.PERSON):
                people = np.maximum(self._count_people(comparison, counter, person), 1).tolist()
                sizes, noun = dict(zip(counter.groups, people, strict=True)), "person"
        self._violations += small_groups(sizes, k, counter.first_row, noun)
        judgement = Judgement(self._readings)
        judgement.judge(counter, sizes, cells)
        self._violations += judgement.violations
        self._unchecked += judgement.unchecked
        self._models += judgement.words
        if comparison is None or self._source is None:
            self._check_order(None)
            return
        if self._center is not None:
            in_order = keeps_order(self._demand, self._manifest)
            self._violations += comparison.violations()
            self._violations += center_violations(self._readings, counter, self._center, in_order=in_order)
            self._check_order(comparison)
            return
        by_row = np.array([sizes[group] for group in counter.groups], dtype=np.int64)[counter.of_row]
        own_k = self._own_k(self._source, by_row)
        self._models += ["each row's own k"] if own_k is not None else []
        if untrue := comparison.violations(own_k):
            self._violations += [*untrue, *self._readings.doubts()]
        self._violations += comparison.rule_violations(self._demand.rules, counter.of_row)
        self._check_order(comparison)

    def _count_people(self, comparison: Comparison, counter: Groups, person: str) -> NDArray[np.int64]:
        """Return the most people that the rows of each group can belong to."""
        if self._center is None or self._source is None:
            return comparison.count_people(counter.of_row, person)
        is_complete = self._release.n_rows == self._source.n_rows
        has_all_rows = self._release.times is None and self._source.times is None
        in_order = is_complete and has_all_rows and keeps_order(self._demand, self._manifest)
        return comparison.count_people_behind(counter.of_row, person, in_order=in_order)

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
        release = self._release if self._center is None else without_centers(self._release, qi)
        return Comparison(release, source, cells, list(dict.fromkeys(equal)))

    def _centered(self) -> list[tuple[str, Cells]]:
        """Return how to read quasi-identifiers whose cells are centres and cover nothing."""
        return [(column.name, Cells.of(column, self._missing)) for column in self._readings.with_kinds()]

    def _own_k(self, source: CodedTable, sizes: NDArray[np.int64]) -> tuple[CodedColumn, NDArray[np.int64]] | None:
        """Return the k that each original row asks for, beside the size of each released row's group."""
        for name in self._demand.names(Role.PERSONAL_K):
            requests, cells = source.column(name), Cells(Kind.NUMERIC)
            claims = claimed_missing(self._demand, self._manifest)
            # A manifest cannot turn a number into a missing one.
            missing = {normalise(t) for t in self._missing if t not in claims or cells.place(normalise(t))[0] == "text"}
            texts = ["0" if normalise(text) in missing else text for text in requests.texts]
            return replace(requests, texts=texts), sizes
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
