"""The corpus of column lists: reading it, its two halves, and the figures of a proposal on it."""

from __future__ import annotations

import csv
import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shoal.profile.columns import distinct_values, profile_column
from shoal.profile.detect import Proposal
from shoal.profile.roles import propose_roles
from shoal.schema import Role
from shoal.tables.table import Table
from tests.profile_corpus.cells import KEY, ROWS, make_cells, runs

FOLDER = Path(__file__).parent
HALVES = ("development", "held-out")
FRESH = "fresh"  # held-out tables that were listed after the rules were written, measured apart
OPAQUE = re.compile(r"(?!(?i:id|nr|no)$)(?:[^\W\d]{1,2}|[^\W\d]{1,3}[0-9]{1,5}[A-Za-z]?(_[A-Za-z0-9])?)")


@dataclass(frozen=True)
class Listed:
    """A column of the corpus, with the role that an expert gives it."""

    name: str
    shape: str
    role: Role

    @property
    def is_opaque(self) -> bool:
        """Whether only a codebook explains the name: two letters at most, or up to three and a number, as in EF44."""
        return OPAQUE.fullmatch(self.name) is not None


@dataclass(frozen=True)
class ListedTable:
    """A table of the corpus."""

    name: str
    language: str
    origin: str
    columns: tuple[Listed, ...]
    late: bool = False

    @property
    def half(self) -> str:
        """The half that the table belongs to, by the hash of its name; held-out tables of a later list are apart."""
        half = HALVES[hashlib.sha256(self.name.encode()).digest()[0] & 1]
        return FRESH if self.late and half == HALVES[1] else half

    def made(self) -> Table:
        """Make the table with invented cells."""
        draw = random.Random(self.name)
        person = list(range(ROWS))
        for column in self.columns:
            if column.role is Role.PERSON and (found := KEY.fullmatch(column.shape)):
                person = runs(draw, int(found[3] or 1))
        cells = {c.name: make_cells(self.name, c.name, c.shape, person) for c in self.columns}
        return Table(pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String)))


def read_corpus(half: str | None = None) -> list[ListedTable]:
    """Read the tables of a half, or all."""
    columns: dict[str, list[Listed]] = {}
    with (FOLDER / "columns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            columns.setdefault(row["table"], []).append(Listed(row["column"], row["shape"], Role(row["role"])))
    with (FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        tables = [
            ListedTable(row["table"], row["language"], row["origin"], tuple(columns[row["table"]]), row["list"] == "2")
            for row in csv.DictReader(file)
        ]
    return [table for table in tables if half in (None, table.half)]


@dataclass
class Score:
    """Counts of (expert's role, proposed role) pairs.

    Columns that are left to the user count apart, and so do names that only a codebook explains.
    """

    pairs: Counter[tuple[Role, Role]] = field(default_factory=Counter)
    opaque: Counter[bool] = field(default_factory=Counter)
    undecided: Counter[Role] = field(default_factory=Counter)
    most_qi: int = 0
    missed: list[tuple[str, str, Role, Role, bool]] = field(default_factory=list)

    def total(self, role: Role) -> int:
        """Count the columns to which the expert gives this role."""
        return sum(n for (expert, _), n in self.pairs.items() if expert is role) + self.undecided[role]

    def recall(self, role: Role) -> float:
        """Return the share of the columns of this role for which it is proposed outright.

        An identifier is found if it is proposed as identifier or person: neither is released.
        """
        found = self.pairs[role, role] + (self.pairs[role, Role.PERSON] if role is Role.IDENTIFIER else 0)
        return found / max(1, self.total(role))

    def precision(self, role: Role) -> float:
        """Return the share of the outright proposals of this role that are right."""
        return self.pairs[role, role] / max(1, sum(n for (_, proposed), n in self.pairs.items() if proposed is role))

    @property
    def false_identifiers(self) -> float:
        """The share of the columns that identify nobody which are proposed outright as identifier or person."""
        keys = (Role.IDENTIFIER, Role.PERSON)
        others = sum(self.total(role) for role in (Role.QI, Role.SENSITIVE, Role.INSENSITIVE))
        return sum(n for (a, b), n in self.pairs.items() if a not in keys and b in keys) / max(1, others)

    @property
    def false_sensitives(self) -> float:
        """The share of the identifiers, person keys and quasi-identifiers which are proposed outright as sensitive.

        A sensitive column is released unchanged, so each of them is a leak.
        """
        known = (Role.IDENTIFIER, Role.PERSON, Role.QI)
        return sum(self.pairs[role, Role.SENSITIVE] for role in known) / max(1, sum(map(self.total, known)))


def _proposals(table: Table) -> list[Proposal]:
    values = [distinct_values(table.frame[name]) for name in table.names]
    facts = [profile_column(cells) for cells in values]
    return propose_roles(facts, {cells.name: cells.coded for cells in values})


def _swap_equivalent_keys(table: ListedTable, made: Table, proposals: dict[str, Proposal]) -> None:
    """Take a key that has one value for each person, and one person for each value, for the key of the expert."""
    expert = next((c.name for c in table.columns if c.role is Role.PERSON), None)
    proposed = next((name for name, p in proposals.items() if p.role is Role.PERSON), None)
    if expert is None or proposed is None or proposals[expert].role is not Role.IDENTIFIER or proposals[expert].decide:
        return
    frame = made.frame
    if frame[expert].n_unique() == frame[proposed].n_unique() == frame.select(expert, proposed).n_unique():
        proposals[expert], proposals[proposed] = proposals[proposed], proposals[expert]


def score(tables: Iterable[ListedTable]) -> Score:
    """Compare the proposals for these tables with the roles that the expert gives."""
    result = Score()
    for table in tables:
        made = table.made()
        proposals = dict(zip(made.names, _proposals(made), strict=True))
        _swap_equivalent_keys(table, made, proposals)
        result.most_qi = max(result.most_qi, sum(p.role is Role.QI for p in proposals.values()))
        for column in table.columns:
            proposal = proposals[column.name]
            decide = proposal.decide
            if column.is_opaque:
                result.opaque[decide or proposal.role in (Role.IDENTIFIER, Role.PERSON)] += 1
                continue
            if decide:
                result.undecided[column.role] += 1
            else:
                result.pairs[column.role, proposal.role] += 1
            if decide or proposal.role is not column.role:
                result.missed.append((table.name, column.name, column.role, proposal.role, decide))
    return result


def figures(result: Score) -> Iterator[str]:
    """Yield the lines of a report on a score."""
    yield f"{'role':12} {'columns':>8} {'precision':>10} {'recall':>8} {'left to the user':>17}"
    for role in (Role.IDENTIFIER, Role.PERSON, Role.QI, Role.SENSITIVE, Role.INSENSITIVE):
        yield (
            f"{role:12} {result.total(role):8,} {result.precision(role):10.1%} {result.recall(role):8.1%} "
            f"{result.undecided[role] / max(1, result.total(role)):17.1%}"
        )
    dropped = result.opaque[True]
    yield f"names that only a codebook explains: {result.opaque.total()}; {dropped} are left to the user or dropped"
    keys = result.pairs[Role.IDENTIFIER, Role.SENSITIVE] + result.pairs[Role.PERSON, Role.SENSITIVE]
    yield f"false identifiers: {result.false_identifiers:.1%}; most quasi-identifiers in a table: {result.most_qi}"
    yield f"false sensitive columns: {result.false_sensitives:.1%}; of them identifiers and person keys: {keys}"
