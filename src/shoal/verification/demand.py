"""What a release must meet: the one form of what keywords, settings and manifests ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from shoal.errors import Note, UsageError, join_problems, setting
from shoal.schema import Coding, Column, Kind, Limits, Reading, Role, Schema
from shoal.verification.manifest.manifest import BY_ITSELF, Manifest
from shoal.verification.recount import header_violations
from shoal.verification.verdict import MOST_VIOLATIONS, Violation, plural

__all__ = [
    "HELD_BACK",
    "Demand",
    "Labels",
    "Paths",
    "claimed_missing",
    "expected_schema",
    "keeps_order",
    "missing_texts",
    "open_notes",
    "quasi_identifiers",
    "require_columns",
    "taken_for_comparison",
    "unchecked_notes",
]

RELEASED = (Role.QI, Role.SENSITIVE, Role.INSENSITIVE)
HELD_BACK = (Role.IDENTIFIER, Role.PERSON, Role.PERSONAL_K, Role.WEIGHT)

# The values of each label, or a function that makes them for the distinct values of a column.
Labels = Mapping[str, Iterable[str]] | Callable[[Sequence[str]], Mapping[str, Iterable[str]]]
# The labels of each value from level 1 up, or a function that makes them for the distinct values of a column.
Paths = Mapping[str, Sequence[str]] | Callable[[Sequence[str]], Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Demand:
    """What a release must meet.

    Attributes:
        k: The size that every group must have; None if it is not said.
        roles: The columns of each role.
        reading: How the files and their cells are read.
        complete: Whether the demand says everything, as a shoal.toml: every column that may be released has a role, and
            what is not said about the reading of cells and the order of rows has its default.
        others: What became of columns without a role: "drop" or "insensitive".
        models: What every group must pass besides k, as plain values or models.
        suppression_limit: The largest share of the original rows that may be missing; None if it is not limited.
        labels: By quasi-identifier, its hierarchy.
        paths: By sensitive column, its hierarchy.
        population: The table of the population, for models that count it.
        rules: The data constraint rules that no group may break, as plain values.
        bounds: Whether ranges may be written as two columns, NAME_min and NAME_max.
        center: "mean" or "median" if cells are the centres of groups; None if they must cover the original.
        spread: Whether a standard deviation or share must follow every centre.
        spreadsheet_safe: Whether formulas are escaped.
        delimiter: The separator of cells in a released CSV file; None if it is detected.
        decimal: The decimal mark of numbers in the release; "input" for that of the original, None if it is not said.
        keep_order: Whether the rows may keep the order of the original.
        has_marks: Whether the reading says which marks numbers have; a complete demand always does.
        codings: How outliers were recoded, by column.
        limits: What the cells of quasi-identifiers must keep to, by column.
        ladders: By quasi-identifier, the labels of each value in its hierarchy, for limits that name levels.
    """

    k: int | None = None
    roles: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    complete: bool = False
    others: str | None = None
    models: tuple[Any, ...] = ()
    suppression_limit: Fraction | None = None
    labels: Mapping[str, Labels] = field(default_factory=dict)
    paths: Mapping[str, Paths] = field(default_factory=dict)
    population: object = None
    rules: tuple[Mapping[str, Any], ...] = ()
    bounds: bool = False
    center: str | None = None
    spread: bool = False
    spreadsheet_safe: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    keep_order: bool = False
    has_marks: bool = False
    codings: Mapping[str, tuple[Coding, ...]] = field(default_factory=dict)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    ladders: Mapping[str, Paths] = field(default_factory=dict)

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Return the columns of these roles."""
        return tuple(name for role in roles for name in self.roles.get(role, ()))

    def role_of(self, name: str) -> Role | None:
        """Return the role of a column; None if it has none."""
        return next((role for role, names in self.roles.items() if name in names), None)


def expected_schema(
    demand: Demand, manifest: Manifest | None, header: Sequence[str], source_names: Sequence[str] | None
) -> tuple[Schema, list[Violation]]:
    """Return the columns that a release must have and those that must not be in it, and what contradicts them.

    Args:
        demand: What the release must meet.
        manifest: Its manifest, if it has one.
        header: The columns of the release.
        source_names: The columns of the original; None if it is not there.

    Raises:
        UsageError: Without a manifest or a complete demand: a column that is named is not in the release.
    """
    violations: list[Violation] = []
    roles: dict[str, Role | None]
    if manifest is not None:
        roles, violations = _stated_roles(demand, manifest)
    elif demand.complete:
        is_released = demand.others == "insensitive"
        unnamed = Role.INSENSITIVE if is_released else Role.IDENTIFIER if source_names is not None else None
        names = [*(header if source_names is None else source_names), *demand.names(*demand.roles)]
        roles = {name: demand.role_of(name) or unnamed for name in names}
    else:
        require_columns("the released table", header, [*demand.names(*RELEASED), *demand.reading.kinds])
        names = [*header, *demand.names(*HELD_BACK)]
        roles = {name: demand.role_of(name) or Role.INSENSITIVE for name in names}
    columns = tuple(_column(demand, manifest, name, role) for name, role in roles.items() if role is not None)
    schema = Schema(columns, ("", *missing_texts(demand, manifest)), quasi_identifiers(demand, manifest))
    return schema, violations + header_violations(list(header), schema)


def _stated_roles(demand: Demand, manifest: Manifest) -> tuple[dict[str, Role | None], list[Violation]]:
    """Return the roles that the manifest states; where the demand differs, that is a violation."""
    stated: dict[str, Role | None] = {column.name: column.role for column in manifest.columns}
    texts = []
    for name, role in stated.items():
        asked = demand.role_of(name)
        if asked is None and demand.complete and demand.others != "insensitive":
            texts.append(f"{name!r} is released, but has no role in the settings")
        elif asked not in (None, role) and (asked, role) != (Role.SENSITIVE, Role.INSENSITIVE):
            texts.append(f"{name!r} is {role} in the manifest and {asked} in the settings")
    texts += [f"{name!r} is not in the manifest" for name in demand.names(*RELEASED) if name not in stated]
    held_back = {name: demand.role_of(name) for name in demand.names(*HELD_BACK) if name not in stated}
    texts += [text for column in manifest.columns if (text := _coding_contradiction(demand, column))]
    return stated | held_back, [Violation("columns", text) for text in texts]


def _coding_contradiction(demand: Demand, column: Column) -> str:
    """Return how the recoding that a manifest states differs from that of the demand."""
    asked = [coding[:2] for coding in demand.codings.get(column.name, ())]
    stated = [coding[:2] for coding in column.codings]
    if asked == stated or not (asked or demand.complete):
        return ""
    return f"the outliers of {column.name!r} are recoded in another way in the manifest than in the settings"


def _column(demand: Demand, manifest: Manifest | None, name: str, role: Role) -> Column:
    """Return a column with the kind that the demand declares, or else the manifest."""
    reading = demand.reading
    stated = None if manifest is None or demand.complete else manifest.column(name)
    in_manifest = None if manifest is None else manifest.column(name)
    codings = in_manifest.codings if in_manifest is not None else demand.codings.get(name, ())
    own = replace(reading.column(name, role), codings=codings)
    if stated is None:
        return own
    marks = reading.marks if demand.has_marks else (stated.decimal, stated.thousands)
    return replace(
        own,
        kind=own.kind or stated.kind,
        date_format=reading.dates.get(name) or stated.date_format,
        decimal=marks[0],
        thousands=marks[1],
        unit=own.unit or stated.unit,
        order=own.order or stated.order,
    )


def quasi_identifiers(demand: Demand, manifest: Manifest | None) -> tuple[str, ...]:
    """Return the quasi-identifiers: those of the manifest, in the order of the demand where it names them."""
    asked = demand.names(Role.QI)
    if manifest is None:
        return asked
    stated = manifest.names(Role.QI)
    return tuple(dict.fromkeys([*(name for name in asked if name in stated), *stated]))


def missing_texts(demand: Demand, manifest: Manifest | None) -> tuple[str, ...]:
    """Return the texts that mean a missing value: those of the demand, or else of the manifest."""
    return demand.reading.missing or claimed_missing(demand, manifest)


def claimed_missing(demand: Demand, manifest: Manifest | None) -> tuple[str, ...]:
    """Return the texts that mean a missing value only because the manifest says so."""
    return () if manifest is None or demand.complete or demand.reading.missing else manifest.missing


def taken_for_comparison(demand: Demand, manifest: Manifest) -> list[str]:
    """Return in words what the manifest alone says about reading cells, the order of rows and suppression."""
    words = []
    if texts := claimed_missing(demand, manifest):
        words.append(f"{plural(len(texts), 'text')} for missing values")
    columns = [_column(demand, manifest, name, Role.QI) for name in manifest.names(Role.QI)]
    columns = [column for column in columns if column.name not in demand.reading.kinds]
    for kind in Kind:
        named = [column for column in columns if column.kind is kind]
        names = [f"{c.name!r}{f' ({form!r})' if (form := _form(c)) else ''}" for c in named]
        words += [f"{kind} {', '.join(names)}"] if names else []
    marks = manifest.reading.marks
    if marks != Reading().marks and not (demand.complete or demand.has_marks):
        words.append(f"decimal mark {marks[0]!r}" + (f", thousands mark {marks[1]!r}" if marks[1] else ""))
    coded = [column for column in manifest.columns if column.codings and column.name not in demand.codings]
    words += [f"{column.name!r} recoded ({', '.join(each.words for each in column.codings)})" for column in coded]
    if keeps_order(demand, manifest) and not demand.keep_order:
        words.append("rows in the order of the original")
    if demand.suppression_limit is None and manifest.suppression_limit:
        words.append(f"suppression limit {float(manifest.suppression_limit):g}")
    return words


def _form(column: Column) -> str:
    """Return how the values of a column are written, if its kind does not say it."""
    if column.kind is Kind.DATE:
        return column.date_format
    return column.unit if column.kind is Kind.NUMERIC else ":".join(column.order)


def keeps_order(demand: Demand, manifest: Manifest | None) -> bool:
    """Return whether the rows are meant to be in the order of the original."""
    if manifest is None:
        return demand.keep_order
    return manifest.keep_order and (demand.keep_order or not demand.complete)


def require_columns(where: str, names: Sequence[str], needed: Iterable[str]) -> None:
    """Raise a UsageError if columns are not in a table.

    No hint names another column: where one is missing, the first line of the file may be data.
    """
    problems = []
    for name in dict.fromkeys(needed):
        if name not in names:
            columns = plural(len(names), "column")
            problems.append(f"column {name!r} is not in {where}. It has {columns}; is its first line a header?")
    if problems:
        raise UsageError(join_problems(problems))


def open_notes(
    demand: Demand, manifest: Manifest | None, names: Sequence[str], n_rows: int, n_source: int | None
) -> list[Note]:
    """Return how many original rows are not in the release, and which of its columns nobody gave a role.

    Args:
        demand: What the release must meet.
        manifest: Its manifest, if it has one.
        names: Its columns.
        n_rows: The number of its rows.
        n_source: The number of rows of the original; None if it is not there.
    """
    notes = []
    if n_source is not None and n_source > n_rows:
        notes.append(Note("rows", f"{n_source - n_rows} of {n_source} original rows are not in the release"))
    unnamed = [name for name in names if manifest is None and demand.role_of(name) is None]
    if demand.complete:
        unnamed = unnamed if demand.others == "insensitive" and n_source is None else []
    if unnamed:
        columns = ", ".join(map(repr, unnamed[:MOST_VIOLATIONS])) + (", ..." if len(unnamed) > MOST_VIOLATIONS else "")
        said = f"not checked; use {setting('original')}" if n_source is None else "compared with the original"
        notes.append(Note("", f"columns without a role: {columns}; {said}"))
    return notes


def unchecked_notes(demand: Demand, manifest: Manifest | None, *, has_original: bool) -> list[Note]:
    """Return what an examination leaves open, and what it would take to close it."""
    people, own_k = demand.names(Role.PERSON), demand.names(Role.PERSONAL_K)
    rules, is_strict = bool(demand.rules), demand.complete or manifest is not None
    counts_people, asks_own_k, has_rules = bool(people), bool(own_k), rules
    if manifest is not None:
        counts_people |= manifest.counts_people
        asks_own_k |= any(spec["name"] == "personal-k" for spec in manifest.models or ())
        has_rules |= bool(manifest.rules)
    notes = []
    if not has_original:
        parts = [
            (is_strict, "whether the rows are true to the original"),
            (is_strict, "how many rows were suppressed"),
            (counts_people, "whether every group has rows of k people"),
            (asks_own_k, "each row's own k"),
            (has_rules, "the data constraint rules"),
        ]
        if texts := [text for applies, text in parts if applies]:
            text = f"not checked without the original: {', '.join(texts)}"
            notes.append(Note("", text, f"use {setting('original')}"))
    else:
        if counts_people and not people:
            notes.append(Note("", "the manifest counts people, here rows were counted", f"use {setting('person')}"))
        if asks_own_k and not own_k:
            notes.append(Note("", "each row's own k was not checked", f"use {setting('k_column')}"))
        if has_rules and not rules:
            notes.append(Note("", "the data constraint rules were not checked", f"use {setting('config')}"))
    if manifest is not None:
        if manifest.models is None and len(manifest.words) > 1:
            text = "the models of the manifest, made by an older version of shoal, were not checked"
            notes.append(Note("", text, f"use {setting('models')}"))
        notes += [Note("", f"not checked here: {text}") for text in manifest.words if BY_ITSELF in text]
    return notes
