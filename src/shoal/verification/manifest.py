"""The manifest beside a release: read with bounds, and compared with the bytes of the release.

A manifest states what its maker claims; nothing in it is believed. Whoever can change the file can change the manifest
too, so only a signature says who made it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from shoal.errors import FileError, InputError, UsageError, setting
from shoal.schema import ISO, Column, Kind, Reading, Role
from shoal.verification.cells import SUPPRESSED
from shoal.verification.models.plain_values import can_be_judged, model_words
from shoal.verification.reading.files import unreadable
from shoal.verification.verdict import Violation

__all__ = ["Manifest", "manifest_beside", "read_manifest", "sha256_of"]

PathName = str | os.PathLike[str]

MOST_BYTES = 1 << 24
BLOCK_BYTES = 1 << 20
MOST_ENTRIES = 1_000  # models, and files beside the release
SUFFIX = ".manifest.json"
FEW = "<k"  # how a count from 1 to k - 1 is published
ANY = "not limited"  # how any number of suppressed rows is published
AT_MOST = re.compile(r"<=[0-9]{1,15}")
K_ANONYMITY = "k-anonymity"
NEWEST_FORMAT = 2
BY_ITSELF = "checked by the model itself"  # marks a model without a judge
ROLES = {str(role): role for role in (Role.QI, Role.SENSITIVE, Role.INSENSITIVE)}


@dataclass(frozen=True)
class Manifest:
    """What a manifest states about a release.

    Attributes:
        place: The path of the manifest, for messages.
        file: The name of the released file.
        sha256: The hash of the released file.
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
        labelled: The quasi-identifiers that were generalised to labels of a hierarchy.
        rules: The data constraint rules in words.
        keep_order: Whether the rows keep the order of the original.
        spreadsheet_safe: Whether formulas are escaped.
        beside: The hashes of further files, by name.
        format: The version of its form.
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
    labelled: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    keep_order: bool = False
    spreadsheet_safe: bool = False
    beside: Mapping[str, str] = field(default_factory=dict)
    format: int = 1
    content: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the released columns of a role."""
        return tuple(column.name for column in self.columns if column.role is role)

    def column(self, name: str) -> Column | None:
        """Return a released column by its name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def reading(self) -> Reading:
        """How the cells of the release are read."""
        named = {kind: tuple(c.name for c in self.columns if c.kind is kind) for kind in Kind}
        marks = next(((column.decimal, column.thousands) for column in self.columns), (".", ""))
        return Reading(
            numeric=named[Kind.NUMERIC],
            categorical=named[Kind.CATEGORICAL],
            dates={column.name: column.date_format for column in self.columns if column.kind is Kind.DATE},
            missing=self.missing,
            decimal=marks[0],
            thousands=marks[1],
        )

    def violations(self, path: PathName) -> list[Violation]:
        """Return where the manifest contradicts itself, or the files that it names."""
        violations = []
        if sha256_of(path) != self.sha256:
            text = "its hash differs from that of the manifest: the file or the manifest was changed"
            violations.append(Violation("file", text))
        folder = os.path.dirname(os.path.abspath(path))
        for name, digest in self.beside.items():
            place = os.path.join(folder, name)
            if os.path.isfile(place) and sha256_of(place) != digest:
                violations.append(Violation(f"file {name!r}", "its hash differs from that of the manifest"))
        return violations + self._contradictions()

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
        losses = self.content["measures"].get("per_attribute", {})
        if isinstance(losses, dict) and losses and set(losses) != set(self.names(Role.QI)):
            text = "the roles are not those of the measures: other columns are quasi-identifiers"
            violations.append(Violation("manifest, 'columns'", text))
        return violations


def manifest_beside(path: object) -> str | None:
    """Return the path of the manifest beside a released file, if there is one."""
    if not isinstance(path, str | os.PathLike):
        return None
    place = os.fspath(path) + SUFFIX
    return place if os.path.lexists(place) else None


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


def read_manifest(path: PathName) -> Manifest:
    """Read a manifest.

    Raises:
        InputError: It is not a manifest: too large, not JSON, or a value has the wrong type.
        FileError: It cannot be opened.
    """
    place = os.fspath(path)
    return _Reader(place, _load(place)).manifest()


def _load(place: str) -> dict[str, Any]:
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):  # a pipe would block
            raise FileError(f"{place}: cannot be read: it is not a regular file.")
        with open(place, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise unreadable(place, error) from None
    if len(raw) > MOST_BYTES:
        _refuse(place, f"it has more than {MOST_BYTES:,} bytes")
    try:
        content = json.loads(raw.decode(), object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        _refuse(place, "it is not valid JSON")
    if not isinstance(content, dict):
        _refuse(place, "it is not a JSON object")
    return content


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key occurs twice")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse(place: str, reason: str) -> NoReturn:
    raise InputError(
        f"{place}: the manifest is damaged: {reason}. Get it again from its maker, or use "
        f"{setting('manifest', False)} to check the file without it."
    )


class _Reader:
    """Reads the values of a manifest and refuses those of a wrong type."""

    def __init__(self, place: str, content: Mapping[str, Any]) -> None:
        self._place, self._content = place, content

    def manifest(self) -> Manifest:
        """Return the manifest."""
        measures = self._value("measures", dict, required=True)
        layout = _Reader(self._place, self._value("layout", dict) or {})
        columns = self._columns()
        names = [column.name for column in columns]
        return Manifest(
            place=self._place,
            file=self._value("file", str, required=True),
            sha256=self._hash("sha256", self._value("sha256", str, required=True)),
            k=self._count("k", self._content, least=1),
            words=self._texts("models"),
            models=self._models(),
            columns=columns,
            missing=self._missing(),
            counts={name: self._count(name, measures) for name in ("rows", "groups", "smallest_group")},
            suppressed=self._suppressed(),
            suppression_limit=self._share("suppression_limit"),
            counts_people=(self._value("counts", str) or "").startswith("persons"),
            bounds=layout._names("bounds", names) if "layout" in self._content else self._old_bounds(columns),
            labelled=layout._names("hierarchies", names),
            rules=self._texts("rules"),
            keep_order=self._flag("keep_order"),
            spreadsheet_safe=self._flag("spreadsheet_safe"),
            beside=self._beside(),
            format=self._format(),
            content=self._content,
        )

    def _format(self) -> int:
        version = self._count("format", {"format": 1} | dict(self._content), least=1)
        if version > NEWEST_FORMAT:
            raise InputError(
                f"{self._place}: the manifest has format {version}, but this version of shoal reads formats up to "
                f"{NEWEST_FORMAT}. Install a newer version."
            )
        return version

    def _old_bounds(self, columns: Sequence[Column]) -> tuple[str, ...]:
        """Return the columns that a manifest without a layout may mean: all numbers and dates."""
        if self._value("cells", str) != "bounds":
            return ()
        return tuple(c.name for c in columns if c.kind in (Kind.NUMERIC, Kind.DATE))

    def _fail(self, key: str, expected: str) -> NoReturn:
        _refuse(self._place, f"key {key!r} is not {expected}")

    def _value(self, key: str, kind: type, *, required: bool = False) -> Any:
        value = self._content.get(key)
        if value is None and not required:
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            words = {str: "a text", dict: "an object", list: "a list", bool: "true or false"}
            self._fail(key, words[kind])
        return value

    def _flag(self, key: str) -> bool:
        return bool(self._value(key, bool))

    def _texts(self, key: str) -> tuple[str, ...]:
        texts = self._value(key, list) or []
        if not all(isinstance(text, str) for text in texts):
            self._fail(key, "a list of texts")
        return tuple(texts)

    def _missing(self) -> tuple[str, ...]:
        texts = self._texts("missing")
        if SUPPRESSED in texts:
            self._fail("missing", f"a list of texts without {SUPPRESSED!r}")
        return texts

    def _names(self, key: str, names: Sequence[str]) -> tuple[str, ...]:
        chosen = self._texts(key)
        if any(name not in names for name in chosen):
            self._fail(key, "a list of released columns")
        return chosen

    def _count(self, key: str, content: Mapping[str, Any], least: int = 0) -> int:
        value = content.get(key)
        if type(value) is not int or value < least:
            self._fail(key, f"an integer of at least {least}")
        return value

    def _share(self, key: str) -> Fraction:
        value = self._content.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self._fail(key, "a number from 0 to 1")
        return Fraction(str(value))

    def _hash(self, key: str, text: object) -> str:
        if not isinstance(text, str) or len(text) != 64 or set(text) - set("0123456789abcdef"):
            self._fail(key, "a SHA-256 hash in hexadecimal digits")
        return text

    def _suppressed(self) -> int | str | None:
        value = self._content.get("suppressed_rows")
        if value is None or (isinstance(value, str) and (value in (FEW, ANY) or AT_MOST.fullmatch(value))):
            return value
        n_suppressed = self._count("suppressed_rows", self._content)
        if 0 < n_suppressed < self._count("k", self._content, least=1):
            self._fail("suppressed_rows", f"0, {FEW!r}, or at least k")
        return n_suppressed

    def _models(self) -> tuple[Mapping[str, Any], ...] | None:
        specs = self._value("requirements", list, required=self._content.get("format", 1) != 1)
        if specs is None:
            return None
        if len(specs) > MOST_ENTRIES:
            self._fail("requirements", f"a list of at most {MOST_ENTRIES} models")
        for spec in specs:
            if not isinstance(spec, dict) or not can_be_judged(spec):
                self._fail("requirements", "a list of models that this version knows")
        return tuple(specs)

    def _columns(self) -> tuple[Column, ...]:
        entries = self._value("columns", list, required=True)
        marks = self._value("decimal", str) or ".", self._value("thousands", str) or ""
        columns = []
        for entry in entries:
            facts = entry if isinstance(entry, dict) else {}
            name, role, kind = facts.get("name"), facts.get("role"), facts.get("kind")
            form = facts.get("format", ISO)
            if not isinstance(name, str) or not isinstance(form, str) or not isinstance(role, str):
                self._fail("columns", "a list of columns with a name and a role")
            if role not in ROLES or (kind is not None and kind not in list(Kind)):
                self._fail("columns", f"a list of columns with a role of {', '.join(ROLES)} and a known kind")
            columns.append(Column(name, ROLES[role], kind and Kind(kind), form, *marks))
        if len({column.name for column in columns}) < len(columns):
            self._fail("columns", "a list of different columns")
        try:
            Reading(decimal=marks[0], thousands=marks[1], dates={c.name: c.date_format for c in columns})
        except UsageError:
            self._fail("columns", "a list of columns with formats and marks that can be used")
        return tuple(columns)

    def _beside(self) -> dict[str, str]:
        files = self._value("beside", dict) or {}
        if len(files) > MOST_ENTRIES or any(
            os.path.basename(name) != name or name in ("", ".", "..") or "\0" in name for name in files
        ):
            self._fail("beside", "an object of file names without folders")
        return {name: self._hash("beside", digest) for name, digest in files.items()}
