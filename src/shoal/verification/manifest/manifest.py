"""What the manifest of a release states, compared with the bytes of the release.

A manifest states what its maker claims; nothing in it is believed. Whoever can change the file can change the manifest
too, so only a signature says who made it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from shoal.errors import Note
from shoal.schema import INPUT, Column, Kind, Reading, Role
from shoal.verification.cells.marks import OtherMark, as_released
from shoal.verification.models.plain_values import model_words
from shoal.verification.reading.files import unreadable
from shoal.verification.verdict import Violation, plural

__all__ = ["ANY", "AT_MOST", "BY_ITSELF", "FEW", "Manifest", "sha256_of"]

PathName = str | os.PathLike[str]

BLOCK_BYTES = 1 << 20
FEW = "<k"  # how a count from 1 to k - 1 is published
ANY = "not limited"  # how any number of suppressed rows is published
ORIGIN = re.compile(r"auto|builtin:[a-z0-9_-]{1,40}")
AT_MOST = re.compile(r"<=[0-9]{1,15}")
K_ANONYMITY = "k-anonymity"
BY_ITSELF = "checked by the model itself"  # marks a model without a judge


@dataclass(frozen=True)
class Manifest:
    """What a manifest states about a release.

    Attributes:
        place: The path of the manifest, for messages.
        file: The name of the released file.
        sha256: The hash of the released file; empty for a release in parts.
        parts: The hash of each part of such a release, by name.
        k: The size that every group must have.
        words: The privacy models in words.
        models: The same models as plain values; None if the manifest does not state them.
        columns: The released columns in their order.
        missing: The texts that mean a missing value.
        counts: "rows", "groups" and "smallest_group".
        suppressed: The suppressed rows: a number, or "<k", "<=N" or "not limited" for what is possible; None if the
            manifest does not state it.
        suppression_limit: The largest share of rows that may be suppressed.
        counts_people: Whether k counts people.
        bounds: The columns that are written as NAME_min and NAME_max.
        center: "mean" or "median" if cells are the centres of groups; None if they cover the original.
        spread: The columns that are followed by a standard deviation or share.
        labelled: The quasi-identifiers that were generalised to labels of a hierarchy.
        rules: The data constraint rules in words.
        keep_order: Whether the rows keep the order of the original.
        spreadsheet_safe: Whether formulas are escaped.
        delimiter: The separator of cells in a CSV file.
        decimal: The decimal mark of numbers in the file; "input" for that of the original, which `marks` and the
            columns state.
        numbers: The columns whose numbers have the decimal mark of the file.
        numbered: Whether columns of the original that share a name are numbered.
        beside: The hashes of further files, by name.
        format: The version of its form.
        marks: The decimal and the thousands mark of columns that have none of their own.
        content: The whole manifest.
    """

    place: str
    file: str
    sha256: str
    k: int
    words: tuple[str, ...]
    models: tuple[Mapping[str, Any], ...] | None
    columns: tuple[Column, ...]
    missing: tuple[str, ...]
    counts: Mapping[str, int]
    suppressed: int | str | None
    suppression_limit: Fraction
    counts_people: bool = False
    bounds: tuple[str, ...] = ()
    center: str | None = None
    spread: tuple[str, ...] = ()
    labelled: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    keep_order: bool = False
    spreadsheet_safe: bool = False
    delimiter: str = ","
    decimal: str = INPUT
    numbers: tuple[str, ...] = ()
    numbered: bool = False
    beside: Mapping[str, str] = field(default_factory=dict)
    format: int = 1
    marks: tuple[str, str] = (".", "")
    content: Mapping[str, Any] = field(default_factory=dict, repr=False)
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def origins(self) -> dict[str, str]:
        """By column, the hierarchy that it was generalised with, if that comes with shoal or was proposed."""
        stated = self.content.get("hierarchies")
        pairs = stated.items() if isinstance(stated, dict) else ()
        return {name: origin for name, origin in pairs if isinstance(origin, str) and ORIGIN.fullmatch(origin)}

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the released columns of a role."""
        return tuple(column.name for column in self.columns if column.role is role)

    def column(self, name: str) -> Column | None:
        """Return a released column by its name."""
        return next((column for column in self.columns if column.name == name), None)

    def mark(self) -> OtherMark | None:
        """Return the decimal mark of the file, if it is not that of the original."""
        if self.decimal == INPUT:
            return None
        columns = {each.name: as_released(each, self.marks) for each in self.columns if each.name in self.numbers}
        return OtherMark(self.decimal, columns.get, self.missing)

    @property
    def reading(self) -> Reading:
        """How the cells of the release are read."""
        named = {kind: [c for c in self.columns if c.kind is kind] for kind in Kind}
        return Reading(
            numeric=tuple(column.name for column in named[Kind.NUMERIC]),
            categorical=tuple(column.name for column in named[Kind.CATEGORICAL]),
            dates={column.name: column.date_format for column in named[Kind.DATE]},
            boolean=tuple(column.name for column in named[Kind.BOOLEAN]),
            ordered={column.name: column.order for column in named[Kind.ORDERED] if len(column.order) > 1},
            missing=self.missing,
            decimal=self.marks[0],
            thousands=self.marks[1],
            forms={column.name: column for column in self.columns if column.kind is not None},
        )

    def violations(self, path: PathName) -> list[Violation]:
        """Return where the manifest contradicts itself, or the files that it names."""
        violations = []
        if sha256_of(path) != self.sha256:
            text = "its hash differs from that of the manifest: the file or the manifest was changed"
            violations.append(Violation("file", text))
        for name, place in self._places_beside(path):
            if os.path.isfile(place) and sha256_of(place) != self.beside[name]:
                violations.append(Violation(f"file {name!r}", "its hash differs from that of the manifest"))
        return violations + self._contradictions()

    def parts_violations(self, hashes: Mapping[str, str]) -> list[Violation]:
        """Return where the manifest contradicts itself, or the parts of a release; hashes: those found, by name."""
        n_absent, n_extra = len(self.parts.keys() - hashes.keys()), len(hashes.keys() - self.parts.keys())
        n_changed = sum(self.parts[name] != found for name, found in hashes.items() if name in self.parts)
        counts = [
            (n_absent, "of the manifest {} missing"),
            (n_extra, "{} not in the manifest"),
            (n_changed, "{} another hash than in the manifest"),
        ]
        verbs = {True: ("is", "is", "has"), False: ("are", "are", "have")}
        return [
            Violation("parts", f"{plural(n, 'part')} {text.format(verbs[n == 1][i])}")
            for i, (n, text) in enumerate(counts)
            if n
        ] + self._contradictions()

    def notes(self, path: PathName) -> list[Note]:
        """Return the files that the manifest names and that are not beside the release."""
        text = "the manifest states its hash, but it is not beside the release, so it was not checked"
        absent_names = [name for name, place in self._places_beside(path) if not os.path.isfile(place)]
        return [Note(f"file {name!r}", text) for name in absent_names]

    def _places_beside(self, path: PathName) -> list[tuple[str, str]]:
        """Return each file beside the release, by its name, with its path."""
        folder = os.path.dirname(os.path.abspath(path))
        return [(name, os.path.join(folder, name)) for name in self.beside]

    def count_violations(self, counts: Mapping[str, int], n_starred: int, n_source: int | None) -> list[Violation]:
        """Compare the counts that the manifest states with those of the file.

        Args:
            counts: What was counted: "rows", "groups" and "smallest_group".
            n_starred: The rows that show "*" in every quasi-identifier.
            n_source: The number of rows of the original; None if it is not known.
        """
        violations = [
            Violation(f"manifest, {name!r}", f"{stated} stated, {counts.get(name, 'none')} counted")
            for name, stated in self.counts.items()
            if counts.get(name) != stated
        ]
        violations += self._limit_violations(counts["rows"])
        if n_source is None or self.suppressed is None:
            return violations
        n_absent = n_source - counts["rows"]
        if isinstance(self.suppressed, int):  # version 0.1 counted rows that are suppressed in every cell too
            is_true = self.suppressed in (n_absent, n_absent + n_starred)
        else:
            most = {FEW: self.k - 1, ANY: n_source}.get(self.suppressed)
            is_true = n_absent <= (int(self.suppressed[2:]) if most is None else most)
        if not is_true:
            text = f"{self.suppressed} stated, {n_absent} counted in comparison with the original"
            violations.append(Violation("manifest, 'suppressed_rows'", text))
        return violations

    def _limit_violations(self, n_rows: int) -> list[Violation]:
        """Return a violation if the rows that may have been suppressed do not follow from the limit."""
        if self.format < 2 or self.suppressed is None:
            return []
        limit = self.suppression_limit
        most = 0 if limit == 1 else int(n_rows * limit / (1 - limit))
        # The limit is a rounded fraction, so the last row may be missing.
        expected = (
            ["0"]
            if not limit
            else [ANY]
            if limit == 1
            else [f"<={n}" if n >= self.k else FEW for n in (most, most + 1)]
        )
        if str(self.suppressed) in expected:
            return []
        text = f"{self.suppressed} stated, which does not follow from the limit that the manifest states"
        return [Violation("manifest, 'suppressed_rows'", text)]

    def _contradictions(self) -> list[Violation]:
        violations = []
        if self.models is not None:
            judged = [text for text in self.words if BY_ITSELF not in text]
            stated = [model_words(spec) for spec in self.models]
            if Counter(judged) != Counter(stated):
                text = "the models in words are not those that the manifest lists as requirements"
                violations.append(Violation("manifest, 'models'", text))
            least = max((int(spec["k"]) for spec in self.models if spec.get("name") == K_ANONYMITY), default=1)
            if self.k < least:
                text = f"{self.k} stated, but the requirements ask for {least}"
                violations.append(Violation("manifest, 'k'", text))
        counted = {str(spec["column"]) for spec in self.models or () if "column" in spec}
        if unknown_names := sorted(counted - set(self.names(Role.SENSITIVE))):
            text = f"a model uses column {unknown_names[0]!r}, which is not a sensitive column of the release"
            violations.append(Violation("manifest, 'models'", text))
        if self.spread and self.center is None:
            text = "columns are followed by a spread, but cells are not the centres of groups"
            violations.append(Violation("manifest, 'layout'", text))
        if self.bounds and self.center is not None:
            text = "columns are written as two bounds, but cells are the centres of groups"
            violations.append(Violation("manifest, 'layout'", text))
        losses = self.content["measures"].get("per_attribute", {})
        if isinstance(losses, dict) and losses and set(losses) != set(self.names(Role.QI)):
            text = "the roles are not those of the measures: other columns are quasi-identifiers"
            violations.append(Violation("manifest, 'columns'", text))
        return violations


def sha256_of(path: PathName) -> str:
    """Return the hash of a file."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise unreadable(path, error) from None
    return digest.hexdigest()
