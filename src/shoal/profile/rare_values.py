"""Columns that are released unchanged and nevertheless single people out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from shoal.errors import InfeasibleError, Note, UsageError, setting
from shoal.profile.columns import ColumnFacts, sampled_facts
from shoal.profile.detect import is_weight, propose
from shoal.profile.forms import NEARLY_UNIQUE
from shoal.profile.shapes import identifying_shape
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table

__all__ = ["check_rare", "check_seen"]

SAMPLE = 1000  # distinct values to look at
LEAST_UNIQUE = 20  # distinct values from which a text in nearly every row is worth a word


class Seen(Protocol):
    """What the check needs to know of a column."""

    @property
    def sample(self) -> Sequence[str]:
        """The first distinct values in order, at most a thousand."""

    @property
    def distinct(self) -> int:
        """Number of distinct values."""

    @property
    def rare(self) -> int:
        """Number of values in fewer rows than the check asked for."""


class _Column(NamedTuple):
    sample: Sequence[str]
    distinct: int
    rare: int


def check_rare(table: Table, schema: Schema, k: int, accepted: tuple[str, ...]) -> list[Note]:
    """Refuse columns of a table that would be released unchanged and single people out; see `check_seen`."""

    def facts_of(name: str, least: int) -> _Column:
        texts = table.factor(name).texts
        return _Column(texts.head(SAMPLE).to_list(), len(texts), int((table.counts(name) < least).sum()))

    return check_seen(facts_of, table.n_rows, schema, k, accepted)


def check_seen(
    facts_of: Callable[[str, int], Seen], n_rows: int, schema: Schema, k: int, accepted: tuple[str, ...]
) -> list[Note]:
    """Refuse columns that would be released unchanged and single people out, unless the user accepts them by name.

    Refused are columns of any role but quasi-identifier whose values identify people: names, e-mail addresses, phone
    numbers, street addresses, keys, row numbers, free text, and texts that differ in nearly every row. Insensitive
    columns are also refused if they have values in fewer than k rows. Numbers and dates of a sensitive column that
    differ in nearly every row get a note.

    Args:
        facts_of: Looks at a column by name, and counts its values in fewer than the given number of rows.
        n_rows: Rows of the table.
        schema: Columns of the table.
        k: Smallest number of rows in which a value of an insensitive column may occur.
        accepted: Columns that the user accepts in spite of the risk.

    Returns:
        A note for each accepted column that would have been refused, and for nearly unique numbers and dates.

    Raises:
        UsageError: An accepted column is not released unchanged.
        InfeasibleError: A column singles people out and was not accepted.
    """
    untouched = [column.name for column in schema.released if column.role is not Role.QI]
    if unknown_columns := [name for name in accepted if name not in untouched]:
        names = ", ".join(map(repr, untouched)) or "none"
        raise UsageError(
            f"{setting('accept_unique', [unknown_columns[0]])}: this column is not released unchanged. "
            f"The columns that are: {names}."
        )
    insensitive = schema.names(Role.INSENSITIVE)
    risks: dict[str, Note] = {}
    notes: list[Note] = []
    for name in untouched:
        column = _look(name, facts_of, n_rows)
        risk = _risk(column, facts_of(name, k).rare if name in insensitive else 0, k)
        if risk is not None:
            risks[name] = risk
        elif column.distinct >= LEAST_UNIQUE and column.unique_share > NEARLY_UNIQUE:
            notes.append(_nearly_unique(column))
    refused = [note for name, note in risks.items() if name not in accepted]
    if refused:
        raise InfeasibleError(
            f"columns that are released unchanged would single people out: {'; '.join(refused)}. Drop them, make them "
            f"quasi-identifiers, or accept the risk by name with {setting('accept_unique')}."
        )
    return [*(_as_accepted(risks[name]) for name in accepted if name in risks), *notes]


def _look(name: str, facts_of: Callable[[str, int], Seen], n_rows: int) -> ColumnFacts:
    """Return the facts about a column; a value in fewer than two rows is unique."""
    seen = facts_of(name, 2)
    return sampled_facts(name, list(seen.sample), seen.distinct, seen.rare, n_rows)


def _risk(column: ColumnFacts, rare: int, k: int) -> Note | None:
    """Say why a column singles people out; None if it does not."""
    about = f"column {column.name!r}"
    shape = None if column.kind is Kind.DATE else identifying_shape(column.sample, column.distinct_share)
    if shape is not None:
        return Note(about, f"looks like {shape.label}")
    proposal = propose(column)
    singled = {"rows": column.unique}
    if proposal.role is Role.IDENTIFIER and not proposal.decide and not is_weight(column):
        reason = proposal.reason if column.kind is not Kind.NUMERIC else f"{proposal.reason} and {_singles_out(column)}"
        return Note(about, reason, counts=singled if "{rows" in reason else {})
    if column.kind is Kind.CATEGORICAL and column.distinct >= LEAST_UNIQUE and column.unique_share > NEARLY_UNIQUE:
        return Note(about, f"has a different text in nearly every row: it {_singles_out(column)}", counts=singled)
    if not rare:
        return None
    what = f"holds {form}; it {_singles_out(column)} and " if (form := _exact_form(column)) else ""
    counts = {"values": rare, **(singled if what else {})}
    return Note(about, f"{what}has {{values:value}} in fewer than k={k} rows", counts=counts)


def _singles_out(column: ColumnFacts) -> str:
    return f"singles out {{rows:row}} of {column.n_rows:,}"


def _exact_form(column: ColumnFacts) -> str:
    """Name a form of values that is exact enough to single people out: times, coordinates or keys."""
    if column.kind is Kind.DATE:
        return "exact times" if "%H" in (column.date_format or "") else "dates"
    proposal = propose(column)
    if proposal.key_of:
        return "keys"
    is_place = proposal.concept == "place" and column.kind is Kind.NUMERIC and not column.whole
    return "coordinates" if is_place else ""


def _nearly_unique(column: ColumnFacts) -> Note:
    """Note numbers or dates of a sensitive column that differ in nearly every row."""
    what = "dates" if column.kind is Kind.DATE else "numbers"
    text = f"its {what} differ in nearly every row: whoever knows one of them finds the row ({_singles_out(column)})"
    return Note(
        f"column {column.name!r}", text, "round them before the release, or drop the column", {"rows": column.unique}
    )


def _as_accepted(risk: Note) -> Note:
    text = f"{risk.text}; it is released unchanged, as you accepted"
    return Note(risk.about, text, "drop it, or make it a quasi-identifier", risk.counts)
