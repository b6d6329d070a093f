"""The verifier's own reading of the privacy models: counted with dictionaries, compared as fractions.

A model is plain values, as in shoal.toml: {"name": "t-closeness", "column": "salary", "t": "0.2"}; an object with a
spec() that returns such values is taken too.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.errors import UsageError
from shoal.schema import Column, Kind, Role
from shoal.verification.cells import Cells, normalise
from shoal.verification.model_judges import JUDGES, Evidence
from shoal.verification.population import count_fitting

__all__ = ["Promises", "has_judge"]

Group = tuple[str, ...]
PADDED = re.compile(r"[+-]?0[0-9]")
ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
ALIKE = {"k-anonymity", "personal-k"}  # what is counted apart from the other models


class Promises:
    """What the groups of a release must pass beside their size; rows are taken as they are read."""

    def __init__(
        self,
        models: Iterable[Any],
        columns: Iterable[Column],
        missing: Iterable[str],
        paths: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> None:
        self._models = [_plain(model) for model in models]
        known = {column.name: column for column in columns}
        self.columns = list(dict.fromkeys(str(spec["column"]) for spec in self._models if "column" in spec))
        for name in self.columns:
            if name not in known:
                raise UsageError(f"a model counts column {name!r}, which is not in the table.")
            if known[name].role is not Role.SENSITIVE:
                raise UsageError(f"column {name!r} is {known[name].role}; a model counts sensitive columns.")
        self._known = known
        self._missing = frozenset(map(normalise, missing)) | {""}
        self._paths = paths
        self._counts: dict[str, dict[Group, Counter[str]]] = {name: {} for name in self.columns}
        self._asked: dict[Group, int] = {}

    @property
    def needs_population(self) -> bool:
        """Say whether a model counts the population."""
        return any(spec["name"] in ("k-map", "delta-presence") for spec in self._models)

    def take(self, groups: Sequence[Group], cells: Mapping[str, Sequence[str]]) -> None:
        """Count the sensitive cells of some rows."""
        for name in self.columns:
            counts = self._counts[name]
            for (group, cell), rows in Counter(zip(groups, cells[name], strict=True)).items():
                counts.setdefault(group, Counter())[cell] += rows

    def add(self, name: str, group: Group, cell: str, rows: int) -> None:
        """Count rows of one group that have the same sensitive cell."""
        self._counts[name].setdefault(group, Counter())[cell] += rows

    def ask(self, asked: Iterable[tuple[Group, str | None]]) -> None:
        """Note the k that rows ask for; a missing one asks for none."""
        for group, text in asked:
            if text is not None and normalise(text) not in self._missing:
                self._asked[group] = max(self._asked.get(group, 0), _own_k(text))

    def violations(
        self,
        rows: Mapping[Group, int],
        sizes: Mapping[Group, int],
        first_row: Callable[[Group], int],
        cells: Mapping[str, Cells],
        population: Mapping[str, Sequence[str]] | None = None,
    ) -> list[str]:
        """Say of each model how many groups break it; cells: how the quasi-identifiers are read."""
        found = []
        short = [group for group, asked in self._asked.items() if sizes[group] < asked]
        if short:
            found.append(_told("each row's own k", short, rows, first_row))
        fitting: dict[Group, int] = {}
        if self.needs_population:
            if population is None:
                raise UsageError("a model counts the population. Give its table (command line: --population).")
            fitting = count_fitting(list(rows), cells, population)
        values = {name: self._values(name) for name in self.columns}
        for spec in self._models:
            if spec["name"] in ALIKE:
                continue
            name = str(spec.get("column", ""))
            evidence = Evidence(spec, rows, sizes, fitting, *(values[name] if name else ({}, None, {})))
            failing = JUDGES[spec["name"]](evidence)
            if failing:
                found.append(_told(_title(spec), failing, rows, first_row))
        return found

    def _values(self, name: str) -> tuple[dict[Group, Counter[Any]], str | None, dict[Any, Sequence[str]]]:
        """Return the rows of each value in each group, the kind of the column, and its hierarchy by value."""
        column = self._known[name]
        texts = {normalise(cell) for counts in self._counts[name].values() for cell in counts} - self._missing
        marks = (column.decimal, column.thousands)
        kind = column.kind or _kind(texts, marks)
        read = Cells(kind, column.date_format, (), marks)

        def value(text: str) -> Any:
            form = normalise(text)
            return None if form in self._missing else read.place(form)

        counted: dict[Group, Counter[Any]] = {}
        for group, counts in self._counts[name].items():
            counted[group] = Counter()
            for cell, n in counts.items():
                counted[group][value(cell)] += n
        paths = {value(text): labels for text, labels in self._paths.get(name, {}).items()}
        return counted, kind, paths


def has_judge(spec: Mapping[str, Any]) -> bool:
    """Say whether the verifier can count a model, given as plain values."""
    return spec.get("name") in JUDGES or spec.get("name") in ALIKE


def _plain(model: Any) -> Mapping[str, Any]:
    spec = model if isinstance(model, Mapping) else model.spec() if hasattr(model, "spec") else {}
    if not has_judge(spec):
        raise UsageError(f"the verifier has no judge for model {spec.get('name')!r}. Its models: {', '.join(JUDGES)}.")
    return dict(spec)


def _own_k(text: str) -> int:
    return int(normalise(text))


def _kind(texts: Iterable[str], marks: tuple[str, str]) -> str | None:
    """Return the kind of a column that nobody declared: numbers or dates where all its values are."""
    read = Cells("numeric", marks=marks)
    placed = [read.place(text) for text in texts]
    if placed and all(scale == "number" for scale, _ in placed) and not any(map(PADDED.match, texts)):
        return Kind.NUMERIC
    if placed and all(map(_is_date, texts)):
        return Kind.DATE
    return Kind.CATEGORICAL


def _is_date(text: str) -> bool:
    try:
        return bool(ISO_DATE.fullmatch(text) and datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _title(spec: Mapping[str, Any]) -> str:
    shown = [
        f"{name}={value if isinstance(value, bool) else _number(value)}"
        for name, value in spec.items()
        if name not in ("name", "column", "order", "distance")
    ]
    return " ".join([str(spec["name"]), *([repr(spec["column"])] if "column" in spec else []), *shown])


def _number(value: Any) -> str:
    number = Fraction(str(value))
    return f"{Decimal(number.numerator) / Decimal(number.denominator):.6g}"


def _told(title: str, failing: Sequence[Group], rows: Mapping[Group, int], first_row: Callable[[Group], int]) -> str:
    first = min(map(first_row, failing[:100]))
    return f"{title}: {len(failing)} of {len(rows)} groups fail; one of them begins at row {first}."
