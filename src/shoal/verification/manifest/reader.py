"""Reads the manifest beside a release, within bounds; a damaged one is refused."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

from shoal.errors import FileError, InputError, UsageError, setting
from shoal.schema import (
    INPUT,
    ISO,
    NUMBERED,
    OUTPUT_DECIMALS,
    Coding,
    Column,
    Kind,
    Limits,
    Reading,
    Role,
    check_delimiter,
    parse_codings,
)
from shoal.verification.cells import SUPPRESSED
from shoal.verification.manifest.manifest import ANY, AT_MOST, FEW, Manifest
from shoal.verification.models.plain_values import can_be_judged
from shoal.verification.reading.files import unreadable

__all__ = ["manifest_beside", "read_manifest"]

PathName = str | os.PathLike[str]

MOST_BYTES = 1 << 24
MOST_ENTRIES = 1_000  # models, and files beside the release
MOST_PARTS = 100_000
LONGEST_LIMIT = 50  # characters: a number, a period of the calendar, or the number of a level
LONGEST_CODING = 1_000  # characters: what a recoding was given, and the text that it shows
SUFFIX = ".manifest.json"
NEWEST_FORMAT = 2
CENTERS = ("mean", "median")
ROLES = {str(role): role for role in (Role.QI, Role.SENSITIVE, Role.INSENSITIVE)}


def manifest_beside(path: object) -> str | None:
    """Return the path of the manifest beside a released file, if there is one."""
    if not isinstance(path, str | os.PathLike):
        return None
    place = os.fspath(path) + SUFFIX
    return place if os.path.lexists(place) else None


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
        columns, parts = self._columns(), self._files("parts", MOST_PARTS)
        names = [column.name for column in columns]
        return Manifest(
            place=self._place,
            file=self._value("file", str, required=True),
            sha256="" if parts else self._hash("sha256", self._value("sha256", str, required=True)),
            parts=parts,
            k=self._count("k", self._content, least=1),
            words=self._texts("models"),
            models=self._models(),
            columns=columns,
            missing=self._missing(),
            counts={name: self._count(name, measures) for name in ("rows", "groups", "smallest_group")},
            suppressed=self._suppressed(),
            suppression_limit=self._share("suppression_limit"),
            counts_people=(self._value("counts", str) or "").startswith("persons"),
            center=self._center(),
            spread=layout._names("spread", [column.name for column in columns if column.role is Role.QI]),
            bounds=layout._names("bounds", names) if "layout" in self._content else self._old_bounds(columns),
            labelled=layout._names("hierarchies", names),
            rules=self._texts("rules"),
            keep_order=self._flag("keep_order"),
            spreadsheet_safe=self._flag("spreadsheet_safe"),
            delimiter=layout._delimiter(),
            decimal=layout._decimal(),
            numbers=layout._names("numbers", names),
            numbered=self._value("duplicate_columns", str) == NUMBERED,
            beside=self._files("beside", MOST_ENTRIES),
            format=self._format(),
            marks=self._marks(),
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

    def _delimiter(self) -> str:
        text = self._value("delimiter", str) or ","
        try:
            check_delimiter(text)
        except UsageError:
            self._fail("delimiter", "one ASCII character")
        return str(text)

    def _decimal(self) -> str:
        mark = self._value("decimal", str) or INPUT
        if mark not in OUTPUT_DECIMALS:
            self._fail("decimal", f"one of {', '.join(map(repr, OUTPUT_DECIMALS))}")
        return str(mark)

    def _center(self) -> str | None:
        if self._value("cells", str) != "center":
            return None
        choice = self._value("center", str, required=True)
        if choice not in CENTERS:
            self._fail("center", f"one of {', '.join(map(repr, CENTERS))}")
        return str(choice)

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

    def _marks(self) -> tuple[str, str]:
        return self._value("decimal", str) or ".", self._value("thousands", str) or ""

    def _columns(self) -> tuple[Column, ...]:
        entries = self._value("columns", list, required=True)
        marks = self._marks()
        columns = []
        for entry in entries:
            facts = entry if isinstance(entry, dict) else {}
            name, role, kind = facts.get("name"), facts.get("role"), facts.get("kind")
            form = facts.get("format", ISO)
            if not isinstance(name, str) or not isinstance(form, str) or not isinstance(role, str):
                self._fail("columns", "a list of columns with a name and a role")
            if role not in ROLES or (kind is not None and kind not in list(Kind)):
                self._fail("columns", f"a list of columns with a role of {', '.join(ROLES)} and a known kind")
            form_of = self._with_form(Column(name, ROLES[role], kind and Kind(kind), form, *marks), facts)
            codings = self._codings(name, facts.get("recode", []))
            columns.append(replace(form_of, codings=codings, limits=self._limits(facts.get("limits", {}))))
        if len({column.name for column in columns}) < len(columns):
            self._fail("columns", "a list of different columns")
        try:
            Reading(decimal=marks[0], thousands=marks[1], dates={c.name: c.date_format for c in columns})
            for column in columns:
                Reading(decimal=column.decimal, thousands=column.thousands)
                Reading(units={column.name: column.unit} if column.unit else {})
        except UsageError:
            self._fail("columns", "a list of columns with formats and marks that can be used")
        return tuple(columns)

    def _codings(self, column: str, entries: Any) -> tuple[Coding, ...]:
        """Return the recodings that a column states, each with its bound or label."""
        codings = []
        for entry in entries if isinstance(entries, list) and len(entries) <= MOST_ENTRIES else [None]:
            facts = entry if isinstance(entry, dict) else {}
            form, given, text = (facts.get(key) for key in ("form", "given", "text"))
            if not (isinstance(form, str) and isinstance(given, str) and isinstance(text, str)):
                self._fail("columns", "a list of columns whose recodings have a form, what was given, and a text")
            if max(len(given), len(text)) > LONGEST_CODING:
                self._fail("columns", f"a list of columns whose recodings have at most {LONGEST_CODING:,} characters")
            codings.append(Coding(form, given, text))
        try:
            if codings:
                parse_codings(column, ",".join(f"{coding.form}:{coding.given}" for coding in codings))
        except UsageError:
            self._fail("columns", "a list of columns with recodings that this version knows")
        return tuple(codings)

    def _limits(self, entry: Any) -> Limits:
        """Return the limits that a column states."""
        if not isinstance(entry, dict) or not all(isinstance(text, str) and text for text in entry.values()):
            self._fail("columns", "a list of columns whose limits are texts by name")
        if not set(entry) <= set(Limits._fields) or any(len(text) > LONGEST_LIMIT for text in entry.values()):
            self._fail("columns", "a list of columns with limits that this version knows")
        return Limits(**entry)

    def _with_form(self, column: Column, facts: Mapping[str, Any]) -> Column:
        """Return a column with what its entry says about its cells: unit, marks and order."""
        texts = {key: facts.get(key, getattr(column, key)) for key in ("unit", "decimal", "thousands")}
        order = facts.get("order", [])
        if not all(isinstance(text, str) for text in texts.values()) or not isinstance(order, list):
            self._fail("columns", "a list of columns with texts for unit and marks")
        if not all(isinstance(value, str) for value in order) or len(set(order)) < len(order):
            self._fail("columns", "a list of columns whose order is a list of different texts")
        return replace(column, **texts, order=tuple(order))

    def _files(self, key: str, most: int) -> dict[str, str]:
        files = self._value(key, dict) or {}
        if len(files) > most or any(
            os.path.basename(name) != name or name in ("", ".", "..") or "\0" in name for name in files
        ):
            self._fail(key, "an object of file names without folders")
        return {name: self._hash(key, digest) for name, digest in files.items()}
