"""The models that the groups of a release must pass: those of a demand, and those of its manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.errors import Note, UsageError, setting
from shoal.schema import Column, Role
from shoal.verification.cells import Cells, normalise
from shoal.verification.demand import claimed_missing
from shoal.verification.examination.readings import Readings, read_as
from shoal.verification.manifest.manifest import Manifest
from shoal.verification.matching.groups import Groups
from shoal.verification.models.checks import POPULATION_MODELS, ModelChecks
from shoal.verification.models.plain_values import model_words
from shoal.verification.verdict import Group, Violation

__all__ = ["Judgement"]


@dataclass
class Judgement:
    """What the models say about a release.

    Attributes:
        readings: How the cells of the release are read.
        violations: The models that groups fail.
        unchecked: The models of the manifest that cannot be judged, and what it would take.
        words: The models that were judged.
    """

    readings: Readings
    violations: list[Violation] = field(default_factory=list)
    unchecked: list[Note] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def judge(self, counter: Groups, sizes: Mapping[Group, int], cells: Sequence[tuple[str, Cells]]) -> None:
        """Judge the models of the demand, and those of the manifest that can be judged.

        What the demand asks for is judged twice if the manifest describes the columns in another way than the demand:
        a manifest could call values equal, or near each other, that are not.

        Args:
            counter: The groups of the release.
            sizes: The rows or people of each group.
            cells: The quasi-identifiers, and how to read each; one may be listed with several readings.
        """
        demand, columns, missing = self.readings.demand, self._columns(), self.readings.schema.missing
        names = [column.name for column in columns if column.role is not Role.QI]
        stated = self._stated(names)
        first, last = dict(cells[::-1]), dict(cells)
        readings = {name: first[name] for name in last}
        self._judge(demand.models, columns, missing, counter, sizes, readings)
        try:
            self._judge(stated, columns, missing, counter, sizes, readings)
        except UsageError:
            text = "a model cannot be counted in this file"
            self.violations.append(Violation("manifest, 'requirements'", text))
        declared = [read_as(column, demand.reading.column(column.name, column.role)) for column in columns]
        confirmed = self._confirmed(names)
        if last == readings and declared == columns and confirmed == missing:
            return
        try:
            self._judge(demand.models, declared, confirmed, counter, sizes, last)
        except UsageError:  # what the demand leaves open does not have what the model needs
            return

    def _columns(self) -> list[Column]:
        """Return the released columns; models may count all of them that are not quasi-identifiers."""
        schema, release = self.readings.schema, self.readings.release
        return [
            column if column.role is Role.QI else replace(column, role=Role.SENSITIVE)
            for column in schema.columns
            if column.name in release.names
        ]

    def _confirmed(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the texts that mean a missing value; no more than one of them because the manifest says so."""
        demand, missing = self.readings.demand, self.readings.schema.missing
        claims = {*map(normalise, claimed_missing(demand, self.readings.manifest))}
        for name in names:
            if len(claims & {*map(normalise, self.readings.release.column(name).texts)}) > 1:
                return ("", *demand.reading.missing)
        return missing

    def _judge(
        self,
        specs: Iterable[Any],
        columns: Sequence[Column],
        missing: tuple[str, ...],
        counter: Groups,
        sizes: Mapping[Group, int],
        cells: Mapping[str, Cells],
    ) -> None:
        readings = self.readings
        names = [column.name for column in columns if column.role is not Role.QI]
        paths = {
            name: labels(readings.values(readings.release.column(name))) if callable(labels) else labels
            for name, labels in readings.demand.paths.items()
            if name in names
        }
        checks = ModelChecks(specs, columns, missing, paths)
        for name in checks.columns:
            for group, cell, times in counter.with_cells(readings.release.column(name)):
                checks.add(name, group, cell, times)
        self.violations += checks.violations(counter.rows, sizes, counter.first_row, cells, readings.population)
        self.words += map(model_words, checks.models)

    def _stated(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the models of the manifest that can be judged; note the others."""
        manifest, stated = self.readings.manifest, []
        for spec in (manifest.models if manifest else None) or ():
            assert manifest is not None
            if reason := self._not_judged(spec, manifest):
                self.unchecked.append(Note(str(spec["name"]), f"not checked: {reason[0]}", reason[1]))
            elif "column" not in spec or spec["column"] in names:
                stated.append(spec)  # another column contradicts the manifest or the file, a violation of its own
        return stated

    def _not_judged(self, spec: Mapping[str, Any], manifest: Manifest) -> tuple[str, str] | None:
        """Return why a model of the manifest cannot be judged, and what it would take."""
        if spec["name"] in POPULATION_MODELS and self.readings.population is None:
            return "it counts the population", f"use {setting('population')}"
        column = str(spec.get("column", ""))
        is_hierarchical = spec.get("distance") == "hierarchical" or (
            spec["name"] == "t-closeness" and not spec.get("distance") and column in manifest.labelled
        )
        if is_hierarchical and column not in self.readings.demand.paths:
            return f"it measures distances in the hierarchy of column {column!r}", f"use {setting('hierarchies')}"
        return None
