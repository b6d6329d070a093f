"""What a table looks like: the role and kind of its columns, its missing markers, the dialect of its file."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from shoal.errors import UsageError, join_problems

__all__ = ["Column", "Dialect", "Kind", "Role", "Schema", "check_k", "check_lists"]


class Role(StrEnum):
    """What a column is to the people in the table."""

    IDENTIFIER = "identifier"  # names a person: never released
    QI = "qi"  # quasi-identifier: known to others, recoded until every row has its look-alikes
    SENSITIVE = "sensitive"  # what must not be learned about a person: released as it is
    INSENSITIVE = "insensitive"  # neither known nor harmful: released as it is
    PERSON = "person"  # says which rows belong to one person: never released
    PERSONAL_K = "k"  # the k that this row asks for: never released
    WEIGHT = "weight"  # how many people the row stands for: never released


RELEASED_ROLES = frozenset({Role.QI, Role.SENSITIVE, Role.INSENSITIVE})


class Kind(StrEnum):
    """How the values of a column compare."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    DATE = "date"


@dataclass(frozen=True)
class Column:
    """One column: its name, its role and, for a quasi-identifier, its kind (None: to be told from the cells).

    decimal, thousands: the marks in its numbers (German: "," and "."; no thousands mark where it is empty). grid: what
    the ends of its ranges are widened to where that is asked for, a step or a stretch of the calendar.
    """

    name: str
    role: Role
    kind: Kind | None = None
    date_format: str = "%Y-%m-%d"
    decimal: str = "."
    thousands: str = ""
    grid: str = ""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    initial_space: one or more blanks follow every delimiter and belong to it (``39, Private, 77516``).
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    header: bool = True
    initial_space: bool = False

    def describe(self) -> str:
        """Say in words what was found: ``delimiter ',', encoding utf-8, with header``."""
        shown = {"\t": "tab"}.get(self.delimiter, f"'{self.delimiter}{' ' if self.initial_space else ''}'")
        return f"delimiter {shown}, encoding {self.encoding}, {'with' if self.header else 'without'} header"


@dataclass(frozen=True)
class Schema:
    """Every column of a table with its role; the order is the table's.

    missing: the texts that stand for a missing value; the empty cell always does.
    qi_order: the quasi-identifiers as the user gave them: ties between attributes fall to the first one.
    """

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = ("",)
    qi_order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", tuple(dict.fromkeys(("", *self.missing))))
        if "*" in self.missing:
            raise UsageError("missing='*': that is what a suppressed cell shows. Rename the marker in the table.")

    @property
    def qi(self) -> tuple[Column, ...]:
        """The quasi-identifiers, in the order in which they were given."""
        given = {name: position for position, name in enumerate(self.qi_order)}
        return tuple(sorted((c for c in self.columns if c.role is Role.QI), key=lambda c: given.get(c.name, 0)))

    @property
    def released(self) -> tuple[Column, ...]:
        """The columns that leave with the release, in the order of the table."""
        return tuple(c for c in self.columns if c.role in RELEASED_ROLES)

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with this role."""
        return tuple(c.name for c in self.columns if c.role is role)

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Schema:
        """Return the schema with these kinds filled in."""
        return replace(self, columns=tuple(replace(c, kind=kinds.get(c.name, c.kind)) for c in self.columns))

    @classmethod
    def build(
        cls,
        names: Iterable[str],
        roles: Mapping[Role, Iterable[str]],
        *,
        kinds: Mapping[str, Kind] | None = None,
        date_formats: Mapping[str, str] | None = None,
        others: str | None = None,
        missing: Iterable[str] = (),
        decimal: str = ".",
        thousands: str = "",
        grids: Mapping[str, str] | None = None,
    ) -> Schema:
        """Give every column its one role; a problem with any of them is a UsageError that lists all.

        others: what to do with columns that no role names: None (an error), "drop" or "insensitive".
        """
        names, kinds, date_formats = tuple(names), dict(kinds or {}), dict(date_formats or {})
        if others not in (None, "drop", "insensitive"):
            raise UsageError(f"others={others!r} is not known. Use 'drop' or 'insensitive'.")
        taken, problems = _assign(names, roles)
        for what, given in (("kind", (*kinds, *date_formats)), ("grid", grids or {})):
            problems += [_unknown(name, what, names) for name in dict.fromkeys(given) if name not in names]
        unnamed = [name for name in names if name not in taken]
        if unnamed and others is None and not problems:
            problems.append(
                f"no role for column{'s' * (len(unnamed) > 1)} {', '.join(map(repr, unnamed))}. Name each as "
                "quasi-identifier, sensitive or dropped, or say others='drop' or others='insensitive' "
                "(command line: --others) for all of them."
            )
        if not problems and Role.QI not in taken.values():
            problems.append("no quasi-identifier is named. Name at least one column with qi (command line: --qi).")
        if problems:
            raise UsageError(join_problems(problems))
        rest = Role.INSENSITIVE if others == "insensitive" else Role.IDENTIFIER
        columns = []
        for name in names:
            date_format = date_formats.get(name, Column.date_format)
            kind = Kind.DATE if name in date_formats else kinds.get(name)
            grid = (grids or {}).get(name, "")
            columns.append(Column(name, taken.get(name, rest), kind, date_format, decimal, thousands, grid))
        return cls(tuple(columns), tuple(missing), tuple(name for name in taken if taken[name] is Role.QI))


def check_lists(**roles: object) -> None:
    """Refuse a single text where a list of column names is due: its letters would be taken for names."""
    for role, names in roles.items():
        if isinstance(names, str):
            raise UsageError(f"{role}={names!r} is a text. Give a list of column names.")


def check_k(k: object) -> int:
    """Return k if it is a positive whole number, else raise a UsageError."""
    try:
        whole = 0 if isinstance(k, bool) else operator.index(k)  # type: ignore[arg-type]
    except TypeError:
        whole = 0
    if whole < 1:
        raise UsageError(f"k={k!r} is not a positive whole number. Use k >= 2; 5 is a common start.")
    return whole


def _assign(names: tuple[str, ...], roles: Mapping[Role, Iterable[str]]) -> tuple[dict[str, Role], list[str]]:
    taken: dict[str, Role] = {}
    problems = []
    for role, wanted in roles.items():
        for name in wanted:
            if name not in names:
                problems.append(_unknown(name, role, names))
            elif name in taken and taken[name] is role:
                problems.append(f"column {name!r} is named twice as {role}. Name it once.")
            elif name in taken:
                problems.append(f"column {name!r} is named as {taken[name]} and as {role}. Give it one role.")
            else:
                taken[name] = role
    return taken, problems


def _unknown(name: str, where: str, names: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else f" The columns are: {', '.join(map(repr, names[:30]))}."
    return f"column {name!r} ({where}) is not in the table.{hint}"
