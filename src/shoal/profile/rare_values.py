"""Columns that are released unchanged and nevertheless single people out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from shoal.errors import InfeasibleError, Note, UsageError, setting
from shoal.profile.columns import ColumnFacts, sampled_facts
from shoal.profile.detect import is_weight, propose
from shoal.profile.forms import NEARLY_UNIQUE, has_small_letters
from shoal.profile.markers import SPELLINGS
from shoal.profile.shapes import identifying_shape
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table

__all__ = ["check_rare", "check_seen", "missing_or_alike"]

SAMPLE = 1000  # distinct values to look at
MOST_ANSWERS = 2  # values of a question about staff, such as yes and no
NAMED = ("record", "staff")
NAMING = ("name", "email", "national")
MOSTLY_UNIQUE = 0.8  # share of the rows with a text of their own from which texts single people out
SEQUENCE = 1.5  # numbers between the first and the last one, per number that occurs
ALONE = 2  # rows below which a value is that of one row
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

    @property
    def missing(self) -> int:
        """Number of rows without a value."""


class _Column(NamedTuple):
    sample: Sequence[str]
    distinct: int
    rare: int
    missing: int


def check_rare(
    table: Table,
    schema: Schema,
    k: int,
    accepted: tuple[str, ...],
    rows_of_one_person: Callable[[str], int | None] | None = None,
) -> list[Note]:
    """Refuse columns that `check_seen` refuses, and note quasi-identifiers that name people.

    With `rows_of_one_person`, rows are nobody's: it counts those whose value no other person has, however many rows the
    person has, and is None without a column of people.
    """
    markers = missing_or_alike(schema)
    n_rows = table.n_rows

    def facts_of(name: str, least: int) -> _Column:
        texts, counts = table.factor(name).texts, table.counts(name)
        absent = int(counts[texts.is_in(markers).to_numpy()].sum())
        rare = int((counts < least).sum())
        if least == ALONE and rows_of_one_person is not None:
            lone = rows_of_one_person(name)
            rare = rare if lone is None else lone
        elif least == ALONE and (person := schema.names(Role.PERSON)):
            rare = _rows_of_one_person(table, name, person[0], schema.missing)
        return _Column(texts.head(SAMPLE).to_list(), len(texts), rare, absent)

    notes = check_seen(facts_of, n_rows, schema, k, accepted)
    named = (_named_in_sets(column.name, facts_of(column.name, ALONE), n_rows, markers) for column in schema.qi)
    return [*notes, *(note for note in named if note is not None)]


def _rows_of_one_person(table: Table, name: str, person: str, missing: Collection[str]) -> int:
    """Count the rows whose value no other person has, however many rows the person has."""
    import numpy as np

    from shoal.tables.values.people import person_codes

    ranks, ids = table.factor(name).ranks.astype(np.int64), table.factor(person)
    n_people = len(ids.texts)
    pairs = np.unique(ranks * n_people + person_codes(ids.texts, missing)[ids.ranks])
    people_of_value = np.bincount(pairs // n_people, minlength=len(table.factor(name).texts))
    return int(table.counts(name)[people_of_value == 1].sum())


def missing_or_alike(schema: Schema) -> list[str]:
    """Return the markers of missing values, declared or not: a few "n/a" do not make a column of names harmless."""
    return sorted({*schema.missing, *SPELLINGS})


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
    markers = frozenset(missing_or_alike(schema))
    insensitive = schema.names(Role.INSENSITIVE)
    risks: dict[str, Note] = {}
    notes: list[Note] = []
    named = False  # whether a refused column names people: sets of names are no protection
    for name in untouched:
        column = _look(name, facts_of(name, ALONE), n_rows, markers)
        risk = _risk(column, facts_of(name, k).rare if name in insensitive else 0, k)
        if risk is not None:
            risks[name] = risk
            named |= (found := propose(column)).role is Role.IDENTIFIER and not found.decide and name not in accepted
        elif column.distinct >= LEAST_UNIQUE and column.unique_share > NEARLY_UNIQUE:
            notes.append(_nearly_unique(column))
    refused = {name: note for name, note in risks.items() if name not in accepted}
    if refused:
        what, drop = "columns that are", f"Drop them{', make them quasi-identifiers,' * (not named)}"
        if len(refused) == 1:
            what, drop = "a column that is", f"Drop it{', make it a quasi-identifier,' * (not named)}"
        raise InfeasibleError(
            f"{what} released unchanged would single people out: {'; '.join(refused.values())}. {drop} or accept the "
            f"risk by name with {setting('accept_unique', [*accepted, *refused])}."
        )
    return [*(_as_accepted(risks[name]) for name in accepted if name in risks), *notes]


def _named_in_sets(name: str, seen: Seen, n_rows: int, markers: Collection[str]) -> Note | None:
    """Note a quasi-identifier whose texts name people: a release shows them in sets; None if it is none."""
    if seen.distinct < LEAST_UNIQUE or all(text.isdigit() for text in seen.sample[:LEAST_UNIQUE]):
        return None
    column = _look(name, seen, n_rows, markers)
    if column.kind is not Kind.CATEGORICAL:
        return None
    proposal = propose(column)
    if (
        proposal.role is not Role.IDENTIFIER
        or proposal.decide
        or not (proposal.concept in NAMING or proposal.key_of in ("contact", "person"))
    ):
        return None
    text = f"{proposal.reason}, and a release shows quasi-identifiers: such values alone, or in sets"
    return Note(f"column {name!r}", text, "drop it")


def _look(name: str, seen: Seen, n_rows: int, markers: Collection[str]) -> ColumnFacts:
    """Return the facts about a column whose rare values are those of one row or person."""
    sample = [text for text in seen.sample if text not in markers]
    return sampled_facts(name, sample, seen.distinct, seen.rare, n_rows, seen.missing)


def _risk(column: ColumnFacts, rare: int, k: int) -> Note | None:
    """Say why a column singles people out; None if it does not."""
    about = f"column {column.name!r}"
    proposal = propose(column)
    shape = None if column.kind is Kind.DATE else identifying_shape(column.sample, column.distinct_share)
    if shape is not None:
        # A name that speaks of cases or staff tells more about a number than its form.
        return Note(about, proposal.reason if proposal.key_of in NAMED else f"looks like {shape.label}")
    singled = {"rows": column.unique}
    if proposal.key_of == "staff" and proposal.decide and _names_staff(column):
        return Note(about, proposal.reason)
    if proposal.role is Role.IDENTIFIER and not proposal.decide and not is_weight(column):
        is_number = column.kind is Kind.NUMERIC and column.unique > 0
        reason = f"{proposal.reason}; it {_singles_out(column)}" if is_number else proposal.reason
        return Note(about, reason, counts=singled if "{rows" in reason else {})
    if column.kind is Kind.CATEGORICAL and column.distinct >= LEAST_UNIQUE and column.unique_share > MOSTLY_UNIQUE:
        return Note(about, f"has a different text in nearly every row: it {_singles_out(column)}", counts=singled)
    if _are_row_numbers(column):
        return Note(about, f"looks like numbers of rows or records: it {_singles_out(column)}", counts=singled)
    if not rare:
        return None
    what = f"holds {form}; it {_singles_out(column)} and " if (form := _exact_form(column)) else ""
    counts = {"values": rare, **(singled if what else {})}
    return Note(about, f"{what}has {{values:value}} in fewer than k={k} rows", counts=counts)


def _are_row_numbers(column: ColumnFacts) -> bool:
    """Tell whether integers differ in nearly every row and leave few numbers out."""
    if not column.whole or column.unique_share <= NEARLY_UNIQUE or column.distinct < LEAST_UNIQUE:
        return False
    numbers = [int(text) for text in column.sample]
    return max(numbers) - min(numbers) < SEQUENCE * column.distinct


def _names_staff(column: ColumnFacts) -> bool:
    """Tell whether a column about staff holds names or keys of them, however few: neither answers nor numbers."""
    return column.kind is Kind.CATEGORICAL and column.distinct > MOST_ANSWERS and not has_small_letters(column)


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
    text = f"its {what} single out {{rows}} of {column.n_rows:,} rows"
    return Note(f"column {column.name!r}", text, "round them, or drop the column", {"rows": column.unique})


def _as_accepted(risk: Note) -> Note:
    text = f"{risk.text}; it is released unchanged, as you accepted"
    return Note(risk.about, text, "drop it, or make it a quasi-identifier", risk.counts)
