"""Profile a whole table: facts and proposals of its columns, the combinations that single out, and warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.profile.columns import (
    POINT_NUMBERS,
    Coded,
    ColumnFacts,
    Distinct,
    distinct_values,
    is_constant,
    profile_column,
)
from shoal.profile.detect import Proposal, propose
from shoal.profile.markers import Markers, count_look_alikes, find_markers
from shoal.profile.shapes import EMAIL
from shoal.profile.singling_out import Singling, find_dependencies, find_singling
from shoal.schema import RELEASED_ROLES, Dialect, Kind, Role
from shoal.tables.values import ISO_DATE, NUMBER

if TYPE_CHECKING:
    from shoal.tables.table import Table

__all__ = ["PROPOSED_K", "Profile", "ProfiledColumn", "Warned", "profile_table"]

PROPOSED_K = 5
MANY_QI = 15


@dataclass(frozen=True)
class Warned:
    """Something the user should look at: what about, which columns, and a text without any cell."""

    about: str
    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class ProfiledColumn:
    """A column's facts and what is proposed for it."""

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
    """What was found in a table and what is proposed for it."""

    n_rows: int
    columns: tuple[ProfiledColumn, ...]
    missing: tuple[str, ...]
    singling: Singling
    warnings: tuple[Warned, ...]
    dialect: Dialect | None = field(default=None)

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Return the names of the columns for which one of these roles is proposed."""
        return tuple(column.name for column in self.columns if column.proposal.role in roles)

    def as_dict(self) -> dict[str, Any]:
        """Return the profile in the form of `shoal init --json`."""
        return {
            "columns": [column.as_dict() for column in self.columns],
            "combinations": [
                {"columns": list(one.columns), "unique_share": round(one.share, 6)}
                for one in self.singling.combinations
            ],
            "warnings": [{"about": w.about, "columns": list(w.columns), "text": w.text} for w in self.warnings],
        }


def profile_table(table: Table) -> Profile:
    """Profile every column of a table and propose its role and kind; nothing in the answer but `texts` holds a cell.

    >>> from shoal.datasets import patients_path
    >>> from shoal.tables.csv import read_csv
    >>> profile_table(read_csv(patients_path())).names(Role.SENSITIVE)
    ('disease', 'cost')
    """
    values = [distinct_values(table.frame[name]) for name in table.names]
    markers = find_markers(values)
    columns = []
    for one in values:
        facts = profile_column(one, markers.declared)
        columns.append(ProfiledColumn(facts, propose(facts)))
    qi = [column.name for column in columns if column.proposal.role is Role.QI]
    coded = {one.name: one.coded for one in values}
    singling = find_singling({name: coded[name] for name in qi})
    warnings = (
        *_warn_header(columns),
        *_warn_feasibility(table.n_rows, qi),
        *_warn_markers(values, markers, table.n_rows),
        *_warn_kinds(columns),
        *_warn_look_alikes(columns, values),
        *_warn_dependencies(coded, columns, qi),
        *_warn_persons(columns),
        *_warn_work(singling),
    )
    return Profile(table.n_rows, tuple(columns), markers.declared, singling, warnings, table.dialect)


def _warn_header(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    value_like = re.compile(f"{NUMBER.pattern}|{ISO_DATE.pattern}|{EMAIL}")
    odd = tuple(c.name for c in columns if value_like.fullmatch(c.name.strip()) or (c.facts.texts == c.name).any())
    if odd:
        yield Warned(
            "header",
            odd,
            f"{len(odd)} column names look like cells. If the first line of the file is data, say --no-header.",
        )


def _warn_feasibility(n_rows: int, qi: Sequence[str]) -> Iterator[Warned]:
    if n_rows < PROPOSED_K:
        yield Warned("rows", (), f"k = {PROPOSED_K} needs {PROPOSED_K} rows at least; the table has {n_rows}.")
    if not qi:
        yield Warned(
            "roles",
            (),
            "no column is proposed as quasi-identifier. Give one the role qi before shoal anonymize can run.",
        )
    if len(qi) > MANY_QI:
        yield Warned(
            "roles",
            tuple(qi),
            f"{len(qi)} columns are proposed as quasi-identifiers. With more than {MANY_QI} little of their meaning "
            "can be kept: drop those that nobody needs.",
        )


def _warn_markers(values: Sequence[Distinct], markers: Markers, n_rows: int) -> Iterator[Warned]:
    for one in values:
        declared = {text: rows for text, rows in markers.by_column[one.name].items() if text in markers.declared}
        if declared:
            shown = ", ".join(f"{text!r} ({rows / n_rows:.1%} of the rows)" for text, rows in sorted(declared.items()))
            yield Warned(
                "missing", (one.name,), f"column {one.name!r}: {shown} taken as missing. Check that this is so."
            )
        if one.blank:
            text = f"column {one.name!r}: {one.blank:,} cells hold blanks alone; they count as missing."
            yield Warned("missing", (one.name,), text)
    for name, text in markers.doubtful:
        yield Warned(
            "missing",
            (name,),
            f"column {name!r}: {text!r} may stand for a missing value, but looks like a true one here or in another "
            "column; it is not declared. Add it to missing if it is none.",
        )


def _warn_kinds(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    for column in columns:
        facts, name = column.facts, column.name
        if column.proposal.role is Role.IDENTIFIER:
            continue
        if facts.slips:
            comma = ' (for a decimal comma: decimal = "," under [file])' if facts.slips_kind == POINT_NUMBERS else ""
            yield Warned(
                "kind",
                (name,),
                f"column {name!r}: {facts.slips:,} of {facts.distinct:,} distinct values are not {facts.slips_kind}, "
                f"so it is proposed as categorical. Mend them, or add markers to missing{comma}, and change the kind.",
            )
        if facts.other_format:
            yield Warned(
                "kind",
                (name,),
                f"column {name!r}: every date fits {facts.date_format} and {facts.other_format}; the first is "
                "proposed. Say which one it is.",
            )
        if facts.emails:
            text = f"column {name!r}: {facts.emails:,} rows have an at sign. If these are e-mail addresses, drop it."
            yield Warned("identifier", (name,), text)
        braces = facts.texts.str.contains(r"^\{.*\}$").sum() if column.proposal.kind is Kind.CATEGORICAL else 0
        if column.proposal.role is Role.QI and braces:
            text = f"column {name!r}: {braces:,} distinct values stand in braces like released sets. Rename them first."
            yield Warned("kind", (name,), text)


def _warn_look_alikes(columns: Sequence[ProfiledColumn], values: Sequence[Distinct]) -> Iterator[Warned]:
    for column, one in zip(columns, values, strict=True):
        if column.proposal.role not in RELEASED_ROLES:
            continue
        alike = count_look_alikes(column.facts.texts) if column.facts.kind is Kind.CATEGORICAL else 0
        if alike:
            yield Warned(
                "look-alikes",
                (column.name,),
                f"column {column.name!r}: {alike:,} distinct values differ from another one only in case, kind of "
                "blank, invisible signs or look-alike letters. Unify them, or they count as different.",
            )
        if one.merged:
            yield Warned(
                "look-alikes",
                (column.name,),
                f"column {column.name!r}: {one.merged:,} spellings differ from another one only in outer blanks or "
                "Unicode composition; as a quasi-identifier they count as one.",
            )


def _warn_dependencies(
    coded: Mapping[str, Coded], columns: Sequence[ProfiledColumn], qi: Sequence[str]
) -> Iterator[Warned]:
    names = [c.name for c in columns if c.proposal.role in RELEASED_ROLES and not is_constant(c.facts)]
    for found in find_dependencies({name: coded[name] for name in names}, qi):
        pair = f"{found.column!r} and {found.target!r} give each other away"
        text = f"columns {pair}" if found.mutual else f"column {found.column!r} gives away {found.target!r}"
        yield Warned(
            "dependency",
            (found.column, found.target),
            f"{text} ({1 - found.share:.0%} of what the latter tells). Give both the role qi, or drop one.",
        )


def _warn_persons(columns: Sequence[ProfiledColumn]) -> Iterator[Warned]:
    for column in columns:
        facts = column.facts
        if column.proposal.role is Role.IDENTIFIER and column.proposal.personal and facts.distinct < facts.n_known:
            yield Warned(
                "person",
                (column.name,),
                f"column {column.name!r} names people but has {facts.distinct:,} values in {facts.n_known:,} rows: one "
                f"person may have several rows, and k counts rows. If so, say --person {column.name}, or role = "
                '"person" in shoal.toml.',
            )


def _warn_work(singling: Singling) -> Iterator[Warned]:
    if singling.examined < singling.possible:
        yield Warned(
            "combinations",
            (),
            f"{singling.examined:,} of {singling.possible:,} combinations of columns were looked at, those with the "
            "most different values first.",
        )
