"""Profile of a table: facts and proposals for its columns, combinations that single people out, and warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.errors import Note, setting
from shoal.profile.columns import (
    COMMA_NUMBERS,
    Coded,
    ColumnFacts,
    Distinct,
    distinct_values,
    is_constant,
    profile_column,
)
from shoal.profile.detect import Proposal
from shoal.profile.markers import Markers, count_look_alikes, find_markers
from shoal.profile.roles import PROPOSED_K, propose_roles
from shoal.profile.shapes import EMAIL
from shoal.profile.singling_out import Singling, find_dependencies, find_singling
from shoal.schema import RELEASED_ROLES, Dialect, Kind, Role
from shoal.tables.values import ISO_DATE, NUMBER, PLAIN, Marks

if TYPE_CHECKING:
    from shoal.tables.table import Table

__all__ = ["PROPOSED_K", "Profile", "ProfiledColumn", "Warned", "profile_table", "warn_undecided"]

MOST_HINTS = 5  # warnings of one kind


@dataclass(frozen=True)
class Warned:
    """Something the user should check.

    Attributes:
        about: Topic, such as "missing" or "look-alikes".
        columns: Names of the columns concerned.
        text: What was noticed and what to do; contains no cell but markers of missing values.
    """

    about: str
    columns: tuple[str, ...]
    text: Note


@dataclass(frozen=True)
class ProfiledColumn:
    """The facts of a column and the proposal for it."""

    facts: ColumnFacts
    proposal: Proposal

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name

    def as_dict(self) -> dict[str, Any]:
        """Return facts and proposal in the form of `shoal init --json`."""
        facts = self.facts
        return {
            "name": facts.name,
            "role": str(self.proposal.role),
            "kind": str(self.proposal.kind),
            "format": facts.date_format if self.proposal.kind is Kind.DATE else None,
            "reason": self.proposal.reason,
            "decide": self.proposal.decide,
            "distinct": facts.distinct,
            "missing_share": round(facts.missing_share, 6),
            "unique_share": round(facts.unique_share, 6),
            "distinct_share": round(facts.distinct_share, 6),
            "most_frequent_shares": list(facts.top_shares),
            "lengths": [facts.shortest, facts.longest],
            "sparkline": facts.sparkline,
        }


@dataclass(frozen=True)
class Profile:
    """Facts about a table and proposals for its columns."""

    n_rows: int
    columns: tuple[ProfiledColumn, ...]
    missing: tuple[str, ...]
    singling: Singling
    warnings: tuple[Warned, ...]
    dialect: Dialect | None = field(default=None)
    sheet: str | None = field(default=None)

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Return the names of the columns for which one of these roles is proposed."""
        return tuple(column.name for column in self.columns if column.proposal.role in roles)

    def as_dict(self) -> dict[str, Any]:
        """Return the profile in the form of `shoal init --json`."""
        return {
            "columns": [column.as_dict() for column in self.columns],
            "combinations": [
                {"columns": list(combination.columns), "unique_share": round(combination.share, 6)}
                for combination in self.singling.combinations
            ],
            "warnings": [{"about": w.about, "columns": list(w.columns), "text": w.text} for w in self.warnings],
        }


def profile_table(table: Table, marks: Marks = PLAIN) -> Profile:
    """Profile every column of a table and propose its role and kind.

    Args:
        table: The table.
        marks: The decimal and thousands mark of its numbers, if the user declared them.

    Only `ColumnFacts.texts` and `.sample` contain cells, and no output shows them.

    >>> from shoal.datasets import patients_path
    >>> from shoal.tables.csv import read_csv
    >>> profile_table(read_csv(patients_path())).names(Role.SENSITIVE)
    ('disease', 'cost')
    """
    values = [distinct_values(table.frame[name]) for name in table.names]
    markers = find_markers(values)
    commas = table.dialect is not None and table.dialect.delimiter == ";"
    all_facts = [profile_column(cells, markers.declared, marks, commas=commas) for cells in values]
    coded = {cells.name: cells.coded for cells in values}
    columns = [
        ProfiledColumn(facts, proposal)
        for facts, proposal in zip(all_facts, propose_roles(all_facts, coded), strict=True)
    ]
    qi = [column.name for column in columns if column.proposal.role is Role.QI]
    singling = find_singling({name: coded[name] for name in qi})
    warnings = (
        *_warn_header(columns),
        *_warn_feasibility(table.n_rows, qi),
        *_warn_markers(values, markers, table.n_rows),
        *_warn_kinds(columns),
        *_warn_look_alikes(columns, values),
        *_warn_dependencies(coded, columns, qi),
        *_warn_persons(columns),
        *warn_undecided(columns),
        *_warn_work(singling),
    )
    return Profile(
        table.n_rows, tuple(columns), markers.declared, singling, warnings, dialect=table.dialect, sheet=table.sheet
    )


def _warn_header(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    value_like = re.compile(f"{NUMBER.pattern}|{ISO_DATE.pattern}|{EMAIL}")
    suspects = tuple(c.name for c in columns if value_like.fullmatch(c.name.strip()) or (c.facts.texts == c.name).any())
    if suspects:
        cure = f"if the first line of the file is data, use {setting('header', False)}"
        note = Note(
            "", "{columns:column name looks like a cell|column names look like cells}", cure, {"columns": len(suspects)}
        )
        yield Warned("header", suspects, note)


def _warn_feasibility(n_rows: int, qi: Sequence[str]) -> Iterator[Warned]:
    if n_rows < PROPOSED_K:
        text = f"k = {PROPOSED_K} needs at least {PROPOSED_K} rows, but the table has only {{rows}}"
        yield Warned("rows", (), Note("", text, counts={"rows": n_rows}))
    if not qi:
        cure = "give one the role qi before the release"
        yield Warned("roles", (), Note("", "no column is proposed as a quasi-identifier", cure))


def _warn_markers(values: Sequence[Distinct], markers: Markers, n_rows: int) -> Iterator[Warned]:
    for cells in values:
        about = f"column {cells.name!r}"
        declared = {text: rows for text, rows in markers.by_column[cells.name].items() if text in markers.declared}
        if declared:
            shares = ", ".join(f"{text!r} ({rows / n_rows:.1%} of the rows)" for text, rows in sorted(declared.items()))
            yield Warned(
                "missing", (cells.name,), Note(about, f"{shares} counts as missing", "check that this is right")
            )
        if cells.blank:
            text = "{cells:cell contains only blanks and counts|cells contain only blanks and count} as missing"
            yield Warned("missing", (cells.name,), Note(about, text, counts={"cells": cells.blank}))
    for name, marker in markers.doubtful:
        text = f"{marker!r} may mark a missing value, but looks like a real value here or in another column"
        cure = "add it to missing if it is a marker"
        yield Warned("missing", (name,), Note(f"column {name!r}", text, cure))


def _warn_kinds(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    for column in columns:
        facts, name, about = column.facts, column.name, f"column {column.name!r}"
        if column.proposal.role is Role.IDENTIFIER:
            continue
        if facts.slips:
            text = f"all but {{values}} of {{distinct}} distinct values are {facts.slips_kind}; proposed as categorical"
            cure = "correct them, or add markers to missing, and change the kind"
            if facts.slips_kind == COMMA_NUMBERS:
                text = "{values} of {distinct} distinct values are numbers with a comma; proposed as categorical"
                cure = 'if the comma is the decimal mark, set decimal = "," under [file] and change the kind to numeric'
            counts = {"values": facts.slips, "distinct": facts.distinct}
            yield Warned("kind", (name,), Note(about, text, cure, counts))
        if facts.other_format:
            text = f"every date fits {facts.date_format} and {facts.other_format}; the first is proposed"
            yield Warned("kind", (name,), Note(about, text, "check which one is right"))
        if facts.emails:
            cure = "if these are e-mail addresses, drop the column"
            note = Note(about, "{rows:row contains|rows contain} an at sign", cure, {"rows": facts.emails})
            yield Warned("identifier", (name,), note)
        braces = facts.texts.str.contains(r"^\{.*\}$").sum() if column.proposal.kind is Kind.CATEGORICAL else 0
        if column.proposal.role is Role.QI and braces:
            text = "{values:distinct value is|distinct values are} written in braces, like released sets"
            yield Warned("kind", (name,), Note(about, text, "rename them first", {"values": int(braces)}))


def _warn_look_alikes(columns: Sequence[ProfiledColumn], values: Sequence[Distinct]) -> Iterator[Warned]:
    for column, cells in zip(columns, values, strict=True):
        if column.proposal.role not in RELEASED_ROLES:
            continue
        about = f"column {column.name!r}"
        alike = count_look_alikes(column.facts.texts) if column.facts.kind is Kind.CATEGORICAL else 0
        if alike:
            text = (
                "{values:distinct value differs|distinct values differ} from another one only in case, kind of blank, "
                "invisible characters or look-alike letters"
            )
            cure = "give them one spelling, or they count as different values"
            yield Warned("look-alikes", (column.name,), Note(about, text, cure, {"values": alike}))
        if cells.merged:
            text = (
                "{values:spelling differs|spellings differ} from another one only in outer blanks or Unicode "
                "composition"
            )
            cure = "in a quasi-identifier they count as one value"
            yield Warned("look-alikes", (column.name,), Note(about, text, cure, {"values": cells.merged}))


def _warn_dependencies(
    coded: Mapping[str, Coded], columns: Sequence[ProfiledColumn], qi: Sequence[str]
) -> Iterator[Warned]:
    names = [c.name for c in columns if c.proposal.role in RELEASED_ROLES and not is_constant(c.facts)]
    person = next((coded[c.name] for c in columns if c.proposal.role is Role.PERSON), None)
    looked_at = {name: coded[name] if person is None else coded[name].of_people(person) for name in names}
    found = [f for f in find_dependencies(looked_at, qi) if f.mutual or f.column not in qi]
    found.sort(key=lambda dependency: dependency.share)
    for dependency in found[:MOST_HINTS]:
        column, target, share = dependency.column, dependency.target, f"{1 - dependency.share:.0%}"
        if dependency.mutual:
            about, text = f"columns {column!r} and {target!r}", f"reveal each other ({share} of their information)"
        else:
            about, text = f"column {column!r}", f"reveals {target!r} ({share} of its information)"
        needless = "drop one of them, unless readers need both"
        note = Note(about, text, needless if column in qi else "give both the role qi, or drop one of them")
        yield Warned("dependency", (column, target), note)
    if len(found) > MOST_HINTS:
        text = "{pairs:further pair of columns reveals|further pairs of columns reveal} each other"
        yield Warned("dependency", (), Note("", text, counts={"pairs": len(found) - MOST_HINTS}))


def _warn_persons(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    for column in columns:
        if column.proposal.role is Role.PERSON:
            whose = "households" if column.proposal.key_of == "household" else "people"
            text = f"has {{values:value}} in {{rows:row}}, so {whose} seem to have several rows; k counts {whose}"
            cure = 'if k should count rows, give it the role "identifier"'
            counts = {"values": column.facts.distinct, "rows": column.facts.n_known}
            yield Warned("person", (column.name,), Note(f"column {column.name!r}", text, cure, counts))


def warn_undecided(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    """Count the columns that are left to the user."""
    names = tuple(column.name for column in columns if column.proposal.decide)
    if names:
        text = "{columns:column is|columns are} left to you and dropped until you decide"
        cure = 'look for "decide:" in the proposal, and give ' + ("it a role" if len(names) == 1 else "each a role")
        yield Warned("decide", names, Note("", text, cure, {"columns": len(names)}))


def _warn_work(singling: Singling) -> Iterator[Warned]:
    if singling.examined < singling.possible:
        text = (
            f"{singling.examined:,} of {singling.possible:,} combinations of columns were examined, those with the "
            "most distinct values first"
        )
        yield Warned("combinations", (), Note("", text))
