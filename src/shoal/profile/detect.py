"""Proposal of a role and a kind for a column, with the reason: from the shape of its values, then from its name.

In doubt the proposal is cautious: a column that may identify people is dropped, one that others may know is recoded.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.profile.columns import ColumnFacts, is_constant
from shoal.profile.shapes import identifying_shape, is_postal, looks_like_names
from shoal.profile.vocabulary import Concept, concept_of, words_of
from shoal.schema import Kind, Role

__all__ = ["Proposal", "propose"]

NEARLY_UNIQUE = 0.95
MANY_WORDS = 5.0
LONG_TEXT = 60
SAMPLING_WORDS = frozenset({"fnlwgt", "wgt", "wt", "pweight", "pwgt", "wgtp", "perwt", "hhwt"})
WEIGHT_WORDS = frozenset({"weight", "weights", "gewicht", "poids", "peso"})
SURVEY_WORDS = frozenset({"sample", "sampling", "survey", "final", "design", "expansion", "person", "household"})
ID_WORDS = frozenset({"id", "ids", "identifier", "key", "nr", "no", "num", "number", "nummer", "numero", "code", "ref"})
OF_PEOPLE = frozenset(
    (
        *("patient", "person", "customer", "client", "employee", "user", "member", "subject", "student", "participant"),
        *(
            "kunde",
            "mitarbeiter",
            "persona",
            "personne",
            "cliente",
            "empleado",
            "citizen",
            "respondent",
            "donor",
            "case",
        ),
    )
)


@dataclass(frozen=True)
class Proposal:
    """A proposal for a column.

    Attributes:
        role: The role.
        kind: The kind.
        reason: Why, in words.
        personal: Whether each person has one value, so that a repeated value means a repeated person.
    """

    role: Role
    kind: Kind
    reason: str
    personal: bool = False


def propose(facts: ColumnFacts) -> Proposal:
    """Return the proposal for one column."""
    for rule in (_by_shape, _by_weight, _by_text, _by_identifying_name, _by_date, _constant, _by_name, _by_code):
        proposal = rule(facts)
        if proposal is not None:
            return proposal
    return _by_counts(facts)


def _identifier(facts: ColumnFacts, reason: str, *, personal: bool = False) -> Proposal:
    return Proposal(Role.IDENTIFIER, facts.kind, reason, personal)


def _by_shape(facts: ColumnFacts) -> Proposal | None:
    if facts.kind is Kind.DATE or not facts.sample:
        return None
    shape = identifying_shape(facts.sample, facts.distinct_share)
    if shape is None:
        return None
    named = concept_of(facts.name, Role.IDENTIFIER)
    is_line = named is not None and named.key in ("fax", "phone") and "phone" in shape.label
    label = named.label if named is not None and is_line else shape.label
    return _identifier(facts, f"the values are {label}", personal=shape.personal)


def _by_weight(facts: ColumnFacts) -> Proposal | None:
    """Recognise sampling weights, which are nearly unique for each person, unlike body weights."""
    words = set(words_of(facts.name))
    named = words & SAMPLING_WORDS or (words & WEIGHT_WORDS and (facts.unique_share > 0.25 or words & SURVEY_WORDS))
    if facts.kind is not Kind.NUMERIC or not named or facts.distinct < 20:
        return None
    return _identifier(
        facts,
        f"a sampling weight: {facts.unique_share:.0%} of the rows have a unique one, so it can identify people",
    )


def _by_text(facts: ColumnFacts) -> Proposal | None:
    """Recognise free text, which may contain names and cannot be recoded."""
    if facts.kind is not Kind.CATEGORICAL or facts.distinct_share < 0.3:
        return None
    if facts.words >= MANY_WORDS or (facts.longest >= LONG_TEXT and facts.words >= 3 and facts.unique_share > 0.5):
        return _identifier(facts, f"free text of {facts.words:.0f} words on average, which may contain names")
    return None


def _by_identifying_name(facts: ColumnFacts) -> Proposal | None:
    concept = concept_of(facts.name, Role.IDENTIFIER)
    if concept is None or facts.distinct == 0:
        return None
    other = concept_of(facts.name, Role.SENSITIVE) or concept_of(facts.name, Role.QI)
    if concept.key == "name" and other is not None and other.key not in ("birth", "time"):
        return None
    if concept.key not in ("name", "email", "national") and facts.distinct <= 5 and facts.distinct_share < 0.5:
        return None  # an answer such as yes and no
    if facts.kind is Kind.DATE and concept.key != "name":
        return None
    return _identifier(facts, f"the column name suggests {concept.label}", personal=concept.personal)


def _by_date(facts: ColumnFacts) -> Proposal | None:
    if facts.kind is not Kind.DATE:
        return None
    concept = concept_of(facts.name, Role.QI)
    what = "dates of birth" if concept is not None and concept.key == "birth" else "dates"
    return Proposal(Role.QI, Kind.DATE, f"{what}, which others may know to the day")


def _constant(facts: ColumnFacts) -> Proposal | None:
    if not is_constant(facts):
        return None
    reason = (
        "every cell is missing" if facts.distinct == 0 else "every row has the same value, so it distinguishes nobody"
    )
    return Proposal(Role.INSENSITIVE, facts.kind, reason)


def _by_name(facts: ColumnFacts) -> Proposal | None:
    concept = concept_of(facts.name, Role.SENSITIVE)
    if concept is not None:
        return Proposal(
            Role.SENSITIVE, facts.kind, f"the column name suggests {concept.label}, which nobody should learn"
        )
    concept = concept_of(facts.name, Role.QI)
    if concept is None:
        return None
    if _is_one_by_one(facts) and concept.key not in ("zip", "birth"):
        return _identifier(facts, f"{facts.unique_share:.0%} of the rows have a unique text ({concept.label})")
    return Proposal(Role.QI, _kind(facts, concept), f"the column name suggests {concept.label}, which others may know")


def _is_one_by_one(facts: ColumnFacts) -> bool:
    """Tell whether nearly every row has a different text."""
    return facts.kind is Kind.CATEGORICAL and facts.unique_share > NEARLY_UNIQUE and facts.distinct >= 20


def _kind(facts: ColumnFacts, concept: Concept) -> Kind:
    return Kind.CATEGORICAL if concept.coded and facts.kind is Kind.NUMERIC and facts.whole else facts.kind


def _by_code(facts: ColumnFacts) -> Proposal | None:
    """Recognise numbers and keys assigned to each person, names of people, and postal codes."""
    words = set(words_of(facts.name))
    named = bool(words & ID_WORDS) and (facts.distinct_share > 0.5 or bool(words & OF_PEOPLE))
    if named and (facts.whole or facts.kind is Kind.CATEGORICAL):
        return _identifier(facts, "name and values look like a number or key assigned to each person", personal=True)
    if facts.kind is Kind.CATEGORICAL and looks_like_names(facts.sample):
        return _identifier(facts, "the values look like names of people")
    if is_postal(facts.sample) and facts.unique_share <= NEARLY_UNIQUE:
        return Proposal(Role.QI, Kind.CATEGORICAL, "the values look like postal codes, which others may know")
    return None


def _by_counts(facts: ColumnFacts) -> Proposal:
    unique_rows = f"{facts.unique_share:.0%} of the rows have a unique value"
    if facts.kind is Kind.CATEGORICAL or facts.whole:
        what = "a text" if facts.kind is Kind.CATEGORICAL else "an integer"
        if facts.unique_share > NEARLY_UNIQUE:
            return _identifier(facts, f"{unique_rows}: {what} that may be found in other sources", personal=True)
    if facts.kind is Kind.CATEGORICAL and facts.distinct_share > 0.5 and facts.distinct > 20:
        return _identifier(facts, f"mostly different texts ({unique_rows}), which recoding cannot keep useful")
    if facts.distinct <= 100:
        return Proposal(Role.QI, facts.kind, f"{facts.distinct} values; others may know them")
    return Proposal(Role.QI, facts.kind, "many values; others may know them")
