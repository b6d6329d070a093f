"""The column that tells which person a row belongs to: a key that repeats and determines other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.profile.columns import Coded, ColumnFacts, sampled_facts
from shoal.profile.detect import Proposal, propose
from shoal.profile.forms import are_codes, is_code, looks_like_keys
from shoal.profile.vocabulary import naming_of
from shoal.schema import Kind, Role, Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.tables.table import Table

__all__ = ["Person", "determined_columns", "find_person", "likely_person"]

# Keys that can stand for a person, the most telling first.
RANKS = ("person", "contact", "household", "holder", "record", "key")
SHARE_CONSTANT = 0.9  # share of the repeated keys under which a determined column has one value
BY_CHANCE = 0.6  # share of that which chance may explain
MOST_ROWS = 100_000  # rows by which a key is tested
SAMPLE = 1_000  # distinct values of a column to look at
REPEATED = 1.5  # rows per key from which a key of something may count people
TRAITS = frozenset({"birth", "sex", "origin"})  # which a person keeps, and a household does not share


class Person(NamedTuple):
    """The key of the people who have several rows, and the columns that are the same in all rows of a key.

    `of_households` tells that the rows are people, each with a key of their own, and the key is that of households.
    """

    name: str
    determined: tuple[str, ...]
    of_households: bool = False


def likely_person(table: Table, schema: Schema) -> Person | None:
    """Return the key of people who seem to have several rows; None if the schema names a column of people."""
    import numpy as np

    if schema.names(Role.PERSON) or table.weights is not None:
        return None
    names = [column.name for column in schema.columns if column.name in table.names]
    repeated = [name for name in names if _can_repeat(table, name)]
    judged = {name: _judge(table, name) for name in repeated}
    if not any(_is_key(*each) or _is_unknown_key(*each) for each in judged.values()):
        return None  # the other columns need no profile
    columns = [judged.get(name) or _judge(table, name) for name in names]
    coded = {name: Coded(table.factor(name).ranks.astype(np.int64), len(table.factor(name).texts)) for name in names}
    found = find_person(columns, coded)
    return None if found is None or found.of_households else found


def _can_repeat(table: Table, name: str) -> bool:
    """Tell by its counts alone whether a column can be a key that repeats."""
    known = (table.factor(name).texts != "").to_numpy()
    n_known = int(table.counts(name)[known].sum())
    return int(known.sum()) < n_known and not are_codes(int(known.sum()), n_known)


def _judge(table: Table, name: str) -> tuple[ColumnFacts, Proposal]:
    texts, counts = table.factor(name).texts, table.counts(name)
    known = (texts != "").to_numpy()
    unique, missing = int((counts[known] == 1).sum()), int(counts[~known].sum())
    sample = texts.filter(known).head(SAMPLE).to_list()
    facts = sampled_facts(name, sample, int(known.sum()), unique, table.n_rows, missing)
    return facts, propose(facts)


def _is_key(facts: ColumnFacts, proposal: Proposal) -> bool:
    return proposal.key_of in RANKS and _is_whole(facts)


def _is_unknown_key(facts: ColumnFacts, proposal: Proposal) -> bool:
    return proposal.decide and not proposal.key_of and _is_whole(facts) and looks_like_keys(facts)


def find_person(columns: Sequence[tuple[ColumnFacts, Proposal]], coded: Mapping[str, Coded]) -> Person | None:
    """Return the key of the people who have several rows; None if each row seems to be a person.

    A table with a key of people that is unique in every row has one row for each person, so no other column counts
    people, but that of their households may count these; a unique phone number beside a key of people that repeats may
    be that of someone else. Amounts, dates and measurements are no keys.
    """
    keys = [each for each in columns if _is_key(*each)]
    unique = {proposal.key_of for facts, proposal in keys if facts.distinct == facts.n_known}
    repeats = any(p.key_of == "person" and f.distinct < f.n_known and not is_code(f) for f, p in keys)
    if "person" in unique or ("contact" in unique and not repeats):
        return _household(keys, columns, coded)
    unknown = [each for each in columns if _is_unknown_key(*each)]
    others = {facts.name: coded[facts.name] for facts, proposal in columns if not proposal.key_of}
    traits = {facts.name for facts, proposal in columns if proposal.concept in TRAITS}
    best: tuple[tuple[Any, ...], Person] | None = None
    for facts, proposal in (*keys, *unknown):
        if facts.distinct >= facts.n_known or is_code(facts):
            continue
        own = {name: other for name, other in others.items() if name != facts.name}
        if not proposal.key_of:  # counts only with a trait, and there may be very many such columns
            own_traits = {name: other for name, other in own.items() if name in traits}
            own = own if determined_columns(coded[facts.name], own_traits) else {}
        determined = determined_columns(coded[facts.name], own)
        personal = bool(traits & set(determined))
        if proposal.key_of and not determined:
            if proposal.decide or not _stands_alone(facts, proposal, keys):
                continue
        elif not proposal.key_of and not (personal and len(determined) > 1):
            continue
        rank = RANKS.index(proposal.key_of) if proposal.key_of else len(RANKS)
        named = "key" in naming_of(facts.name).groups
        order = (rank > 0 and not personal, rank, not named, -len(determined), facts.name)
        if best is None or order < best[0]:
            best = order, Person(facts.name, determined)
    return None if best is None else best[1]


def _household(
    keys: Sequence[tuple[ColumnFacts, Proposal]],
    columns: Sequence[tuple[ColumnFacts, Proposal]],
    coded: Mapping[str, Coded],
) -> Person | None:
    """Return the key of households with several rows, which determines other columns; None if there is none."""
    others = {facts.name: coded[facts.name] for facts, proposal in columns if not proposal.key_of}
    for facts, proposal in keys:
        if proposal.key_of == "household" and not is_code(facts) and facts.n_known >= REPEATED * facts.distinct:
            determined = determined_columns(coded[facts.name], others)
            if determined:
                return Person(facts.name, determined, of_households=True)
    return None


def _stands_alone(facts: ColumnFacts, proposal: Proposal, keys: Sequence[tuple[ColumnFacts, Proposal]]) -> bool:
    """Tell whether a repeated key counts people although it determines nothing in the table.

    A key of people does. A key of something else does if the rows have a key of their own and no other key repeats, and
    one of cases if it is the only key of the table.
    """
    if proposal.key_of in ("person", "contact", "household", "holder"):
        return True
    own = [key for key, _ in keys if key.distinct == key.n_known]
    only = len(keys) == 1 and proposal.key_of == "record"  # of cases that have several rows
    return (only or (bool(own) and len(keys) == len(own) + 1)) and facts.n_known >= REPEATED * facts.distinct


def _is_whole(facts: ColumnFacts) -> bool:
    return facts.kind is not Kind.DATE and (facts.whole or facts.kind is Kind.CATEGORICAL)


def determined_columns(key: Coded, others: Mapping[str, Coded]) -> tuple[str, ...]:
    """Return the columns with one value in nearly all repeated keys, which chance does not explain."""
    import numpy as np

    if not others:
        return ()
    sizes = np.bincount(key.codes, minlength=key.n_values)
    repeated = sizes[key.codes] > 1
    if len(repeated) > MOST_ROWS:  # some of the keys, with all their rows
        repeated &= key.codes < key.n_values * MOST_ROWS / len(repeated)
    if not repeated.any():
        return ()
    codes = key.codes[repeated].astype(np.int64)
    rows_per_key, n_keys = np.unique(sizes[np.unique(codes)], return_counts=True)
    found = []
    for name, other in others.items():
        values = other.codes[repeated].astype(np.int64)
        shares = np.bincount(values, minlength=other.n_values) / len(values)
        expected = _by_chance(shares, rows_per_key, n_keys)
        if expected > BY_CHANCE:
            continue
        constant = _constant_share(codes, values, key.n_values, other.n_values)
        if constant >= SHARE_CONSTANT and expected <= BY_CHANCE * constant:
            found.append(name)
    return tuple(found)


def _by_chance(shares: NDArray[np.float64], rows_per_key: NDArray[np.int64], n_keys: NDArray[np.int64]) -> float:
    """Return the share of keys that would have one value if values were drawn at random.

    Args:
        shares: The share of the rows of each value.
        rows_per_key: The numbers of rows that keys have.
        n_keys: How many keys have each of these numbers.
    """
    counts = zip(rows_per_key, n_keys, strict=True)
    return float(sum(n * (shares**rows).sum() for rows, n in counts) / n_keys.sum())


def _constant_share(codes: NDArray[np.int64], values: NDArray[np.int64], n_keys: int, n_values: int) -> float:
    """Return the share of the keys whose rows all have one value."""
    import numpy as np

    pairs = np.unique(codes * n_values + values)
    per_key = np.bincount(pairs // n_values, minlength=n_keys)
    per_key = per_key[per_key > 0]
    return float((per_key == 1).mean())
