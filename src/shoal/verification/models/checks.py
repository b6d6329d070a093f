"""The verifier's own check of the privacy models, counted in dictionaries and compared as fractions.

A model is given as plain values, as in shoal.toml: {"name": "t-closeness", "column": "salary", "t": "0.2"}. An object
whose spec() returns such values is accepted too.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple, TypedDict

from shoal.errors import UsageError, setting
from shoal.schema import Column, Kind, Role, Schema
from shoal.verification.cells import Cells, normalise
from shoal.verification.cells.forms import with_form
from shoal.verification.models.judges import JUDGES, Evidence, TableFacts
from shoal.verification.models.population import count_fitting
from shoal.verification.reading.coded import CodedTable
from shoal.verification.verdict import FirstRow, Group, Violation, exact, plural

__all__ = [
    "POPULATION_MODELS",
    "Goal",
    "ModelChecks",
    "TableCounts",
    "failure",
    "guess_kind",
    "has_judge",
    "read_column",
]

LONGEST_K = 18  # digits
PADDED = re.compile(r"[+-]?0[0-9]")
ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
SIZE_MODELS = {"k-anonymity", "personal-k"}  # checked on the sizes of groups, not by a judge
POPULATION_MODELS = {"k-map", "delta-presence", "journalist-profit"}
MOST_SEARCHED = 100  # failing groups among which the first row is searched


class Goal(TypedDict, total=False):
    """What a release must meet besides k: the keywords that all gates share.

    Attributes:
        suppression_limit: The largest share of source rows that may be missing from the release; 0 by default.
        labels: By column, the values that each label of its hierarchy means.
        models: What every group must pass besides k, as plain values.
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.
        ladders: The same by quasi-identifier, for limits that name levels.
    """

    suppression_limit: float | Fraction
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None
    models: Iterable[Any]
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None
    ladders: Mapping[str, Mapping[str, Sequence[str]]] | None


class TableCounts(NamedTuple):
    """What was counted over all groups, for those who judge some of them.

    Attributes:
        cells: By sensitive column, the rows of each cell.
        sizes: How many groups have each size, in rows or people.
        rows: The number of rows.
        lone_rows: The rows of the groups of one row or person.
    """

    cells: Mapping[str, Mapping[str, int]]
    sizes: Counter[int]
    rows: int
    lone_rows: int


class ColumnValues(NamedTuple):
    """The values of a sensitive column.

    Attributes:
        groups: The rows of each value in each group.
        kind: The kind of the column.
        paths: The labels of each value.
        total: The rows of each value in the table, if these are known.
    """

    groups: dict[Group, Counter[Any]]
    kind: str | None
    paths: dict[Any, Sequence[str]]
    total: Counter[Any]


class ModelChecks:
    """The models that the groups of a release must pass besides k; rows are counted as they are read.

    Args:
        models: The models.
        columns: The columns of the table.
        missing: The texts that mean a missing value, besides the empty one.
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.

    Attributes:
        columns: The sensitive columns that the models count.
        uncounted: The others.

    Raises:
        UsageError: A model is not known, or its column is not a sensitive column of the table.
    """

    def __init__(
        self,
        models: Iterable[Any],
        columns: Iterable[Column],
        missing: Iterable[str],
        paths: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> None:
        self._models = [_plain(model) for model in models]
        self._column_of = {column.name: column for column in columns}
        self.columns = list(dict.fromkeys(str(spec["column"]) for spec in self._models if "column" in spec))
        for name in self.columns:
            if name not in self._column_of:
                raise UsageError(f"a model uses column {name!r}, which is not in the table.")
            role = self._column_of[name].role
            if role is not Role.SENSITIVE:
                raise UsageError(f"a model uses column {name!r}, whose role is {role}. Use a sensitive column.")
        self._missing = frozenset(map(normalise, missing)) | {""}
        self._paths = paths
        self._counts: dict[str, dict[Group, Counter[str]]] = {name: {} for name in self.columns}
        self._largest_k: dict[Group, int] = {}
        sensitive = [name for name, column in self._column_of.items() if column.role is Role.SENSITIVE]
        self.uncounted = [name for name in sensitive if name not in self.columns]

    @classmethod
    def of_goal(cls, goal: Goal, schema: Schema) -> ModelChecks:
        """Return the checks of the models of a goal."""
        return cls(goal.get("models", ()), schema.columns, schema.missing, goal.get("paths") or {})

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """The models as plain values, without those that count sizes only."""
        return [spec for spec in self._models if spec["name"] not in SIZE_MODELS]

    @property
    def needs_population(self) -> bool:
        """Whether a model counts the population."""
        return any(spec["name"] in POPULATION_MODELS for spec in self._models)

    def count(self, groups: Sequence[Group], cells: Mapping[str, Sequence[str]]) -> None:
        """Count the sensitive cells of some rows.

        Args:
            groups: The group of each row.
            cells: By sensitive column, the cell of each row.
        """
        for name in self.columns:
            for (group, cell), rows in Counter(zip(groups, cells[name], strict=True)).items():
                self.add(name, group, cell, rows)

    def add(self, name: str, group: Group, cell: str, rows: int) -> None:
        """Count rows of one group that have the same sensitive cell."""
        self._counts[name].setdefault(group, Counter())[cell] += rows

    def cell_counts(self, name: str) -> Mapping[Group, Mapping[str, int]]:
        """Return the rows of each sensitive cell in each group, as counted so far."""
        return self._counts[name]

    def ask(self, requests: Iterable[tuple[Group, str | None]]) -> None:
        """Record the personal k of rows, each with its group; a missing one asks for nothing."""
        for group, text in requests:
            if text is not None and normalise(text) not in self._missing:
                self._largest_k[group] = max(self._largest_k.get(group, 0), _personal_k(normalise(text)))

    def violations(
        self,
        rows: Mapping[Group, int],
        sizes: Mapping[Group, int],
        first_row: FirstRow | None,
        cells: Mapping[str, Cells],
        population: CodedTable | Mapping[str, Sequence[str]] | None = None,
    ) -> list[Violation]:
        """Return the models that groups fail, with the number of these groups.

        Args:
            rows: The rows of each group.
            sizes: The rows or persons of each group, which k counts.
            first_row: Returns the first row of a group; None if rows have no numbers.
            cells: How to read each quasi-identifier.
            population: The population: coded, or as text by column name.

        Raises:
            UsageError: A model needs a population, an order or a hierarchy that is not there.
        """
        return [
            failure(title, len(failing), len(rows), first_row and min(map(first_row, failing[:MOST_SEARCHED])))
            for title, failing in self.failing(rows, sizes, cells, population)
            if failing
        ]

    def failing(
        self,
        rows: Mapping[Group, int],
        sizes: Mapping[Group, int],
        cells: Mapping[str, Cells],
        population: CodedTable | Mapping[str, Sequence[str]] | None = None,
        table: TableCounts | None = None,
        shown: Mapping[Group, Group] | None = None,
    ) -> list[tuple[str, list[Group]]]:
        """Return each model with the groups that fail it; see `violations`.

        Args:
            rows: The rows of each group.
            sizes: The rows or persons of each group.
            cells: How to read each quasi-identifier.
            population: The population.
            table: What was counted over all groups; None if these groups are all.
            shown: The cells that each group shows; None if it is known by them.
        """
        small = [group for group, largest_k in self._largest_k.items() if sizes[group] < largest_k]
        failing_groups = [("each row's own k", small)]
        fitting: dict[Group, int] = {}
        if self.needs_population:
            if population is None:
                raise UsageError(f"a model counts the population. Use {setting('population')} to give its table.")
            names = {group: group for group in rows} if shown is None else shown
            covered = count_fitting(list(dict.fromkeys(names.values())), cells, population)
            fitting = {group: covered[names[group]] for group in rows}
        values = {name: self.values_of(name, table) for name in self.columns}
        for spec in self._models:
            if spec["name"] not in SIZE_MODELS:
                name = str(spec.get("column", ""))
                own, kind, paths, total = values[name] if name else ColumnValues({}, None, {}, Counter())
                whole = None if table is None else TableFacts(total, table.sizes, table.rows, table.lone_rows)
                evidence = Evidence(spec, rows, sizes, fitting, own, kind, paths, whole)
                failing_groups.append((_title(spec), JUDGES[spec["name"]](evidence)))
        return failing_groups

    def values_of(self, name: str, table: TableCounts | None = None) -> ColumnValues:
        """Return how the cells of a column count; its kind is that of all its cells, in these groups or the table."""
        column, groups = self._column_of[name], self._counts[name]
        known = chain.from_iterable(groups.values()) if table is None else table.cells[name]
        texts = set(map(normalise, known)) - self._missing
        column = read_column(column, sorted(texts))
        kind, cells = column.kind, Cells.of(column)

        def value(text: str) -> Any:
            normal = normalise(text)
            return None if normal in self._missing else cells.place(normal)

        def counted(counts: Mapping[str, int]) -> Counter[Any]:
            found: Counter[Any] = Counter()
            for cell, n in counts.items():
                found[value(cell)] += n
            return found

        paths = {value(text): labels for text, labels in self._paths.get(name, {}).items()}
        total = Counter[Any]() if table is None else counted(table.cells[name])
        return ColumnValues({group: counted(counts) for group, counts in groups.items()}, kind, paths, total)


def failure(title: str, n_failing: int, n_groups: int, row: int | None = None) -> Violation:
    """Return that some groups fail a model; row: the first row of one of them."""
    text = f"{n_failing} of {plural(n_groups, 'group')} {'fails' if n_failing == 1 else 'fail'}"
    return Violation(title, text, row)


def has_judge(spec: Mapping[str, Any]) -> bool:
    """Return whether the verifier can check a model, given as plain values."""
    return spec.get("name") in JUDGES or spec.get("name") in SIZE_MODELS


def _plain(model: Any) -> Mapping[str, Any]:
    spec = model if isinstance(model, Mapping) else model.spec() if hasattr(model, "spec") else {}
    if not has_judge(spec):
        raise UsageError(f"the verifier has no judge for model {spec.get('name')!r}. Its models: {', '.join(JUDGES)}.")
    return dict(spec)


def guess_kind(texts: Iterable[str], marks: tuple[str, ...]) -> Kind:
    """Return the kind of a column without a declared kind: numeric or date if all its values are."""
    cells = Cells("numeric", marks=marks)
    texts = list(texts)
    places = [cells.place(text) for text in texts]
    if places and all(scale == "number" for scale, _ in places) and not any(map(PADDED.match, texts)):
        return Kind.NUMERIC
    if places and all(map(_is_date, texts)):
        return Kind.DATE
    return Kind.CATEGORICAL


def read_column(column: Column, texts: Sequence[str]) -> Column:
    """Return a sensitive column with its kind and the form of its cells: numbers or dates if all its values are."""
    if column.kind is None:
        kind = guess_kind(texts, column.marks)
        if kind is not Kind.CATEGORICAL:
            return replace(column, kind=kind)
    read = with_form(column, texts)
    if column.kind is not None or read.kind is not None:
        return read if column.kind is not None else replace(column, kind=Kind.CATEGORICAL)
    for kind in (Kind.NUMERIC, Kind.DATE):
        cells = Cells.of(replace(read, kind=kind))
        if texts and all(cells.place(text)[0] != "text" for text in texts):
            return replace(read, kind=kind)
    return replace(column, kind=Kind.CATEGORICAL)


def _is_date(text: str) -> bool:
    try:
        return bool(ISO_DATE.fullmatch(text) and datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _title(spec: Mapping[str, Any]) -> str:
    options = [
        f"{name}={value if isinstance(value, bool) else _number_text(value)}"
        for name, value in spec.items()
        if name not in ("name", "column", "order", "distance", "estimator")
    ]
    return " ".join([str(spec["name"]), *([repr(spec["column"])] if "column" in spec else []), *options])


def _personal_k(text: str) -> int:
    """Return the k that a row asks for; one of more digits than any table has rows is that of no group."""
    return int(text) if len(text) < LONGEST_K else 10**LONGEST_K


def _number_text(value: Any) -> str:
    try:
        number = exact(value)
    except ValueError:
        return "?"
    return f"{Decimal(number.numerator) / Decimal(number.denominator):.6g}"
