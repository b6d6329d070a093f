"""The corpus of column lists: reading it, its two halves, and the figures of a proposal on it."""

from __future__ import annotations

import csv
import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shoal.profile import profile_table
from shoal.schema import Role
from shoal.tables.table import Table
from tests.profile_corpus.cells import KEY, ROWS, make_cells, runs

FOLDER = Path(__file__).parent
HALVES = ("development", "held-out")
MOST_QI = 12


@dataclass(frozen=True)
class Listed:
    """A column of the corpus, with the role that an expert gives it."""

    name: str
    shape: str
    role: Role


@dataclass(frozen=True)
class ListedTable:
    """A table of the corpus."""

    name: str
    language: str
    origin: str
    columns: tuple[Listed, ...]

    @property
    def half(self) -> str:
        """The half that the table belongs to, by the hash of its name alone."""
        return HALVES[hashlib.sha256(self.name.encode()).digest()[0] & 1]

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
            ListedTable(row["table"], row["language"], row["origin"], tuple(columns[row["table"]]))
            for row in csv.DictReader(file)
        ]
    return [table for table in tables if half in (None, table.half)]


@dataclass
class Score:
    """Counts of (expert's role, proposed role) pairs; columns that are left to the user count apart."""

    pairs: Counter[tuple[Role, Role]] = field(default_factory=Counter)
    undecided: Counter[Role] = field(default_factory=Counter)
    most_qi: int = 0
    missed: list[tuple[str, str, Role, Role, bool]] = field(default_factory=list)

    def total(self, role: Role) -> int:
        """Count the columns to which the expert gives this role."""
        return sum(n for (expert, _), n in self.pairs.items() if expert is role) + self.undecided[role]

    def recall(self, role: Role) -> float:
        """Return the share of the columns of this role for which it is proposed outright."""
        return self.pairs[role, role] / max(1, self.total(role))

    def precision(self, role: Role) -> float:
        """Return the share of the outright proposals of this role that are right."""
        return self.pairs[role, role] / max(1, sum(n for (_, proposed), n in self.pairs.items() if proposed is role))

    @property
    def false_identifiers(self) -> float:
        """The share of the columns that identify nobody which are proposed outright as identifier or person."""
        keys = (Role.IDENTIFIER, Role.PERSON)
        others = sum(self.total(role) for role in (Role.QI, Role.SENSITIVE, Role.INSENSITIVE))
        return sum(n for (a, b), n in self.pairs.items() if a not in keys and b in keys) / max(1, others)


def score(tables: Iterable[ListedTable]) -> Score:
    """Compare the proposals for these tables with the roles that the expert gives."""
    result = Score()
    for table in tables:
        proposals = {column.name: column.proposal for column in profile_table(table.made()).columns}
        result.most_qi = max(result.most_qi, sum(p.role is Role.QI for p in proposals.values()))
        for column in table.columns:
            proposal = proposals[column.name]
            decide = getattr(proposal, "decide", False)
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
    yield f"false identifiers: {result.false_identifiers:.1%}; most quasi-identifiers in a table: {result.most_qi}"
