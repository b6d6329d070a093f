"""Propose a role and a kind for a column, with the reason: by what its values look like, then by its name.

In doubt the careful side is taken: what may name a person is not released, what others may know is recoded.
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
    """A role, a kind and why. personal: each person has one value, so that a repeated one means a repeated person."""

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
    fax = concept_of(facts.name, Role.IDENTIFIER)
    label = fax.label if fax is not None and fax.key in ("fax", "phone") and "phone" in shape.label else shape.label
    return _identifier(facts, f"the values are {label}", personal=shape.personal)


def _by_weight(facts: ColumnFacts) -> Proposal | None:
    """Sampling weights are nearly one per person; the weight of a body is not."""
    words = set(words_of(facts.name))
    named = words & SAMPLING_WORDS or (words & WEIGHT_WORDS and (facts.unique_share > 0.25 or words & SURVEY_WORDS))
    if facts.kind is not Kind.NUMERIC or not named or facts.distinct < 20:
        return None
    return _identifier(
        facts,
        f"a sampling weight: {facts.unique_share:.0%} of the rows have one of their own, so it can tell people apart",
    )


def _by_text(facts: ColumnFacts) -> Proposal | None:
    """Free text may hold anything, names included; it cannot be recoded."""
    if facts.kind is not Kind.CATEGORICAL or facts.distinct_share < 0.3:
        return None
    if facts.words >= MANY_WORDS or (facts.longest >= LONG_TEXT and facts.words >= 3 and facts.unique_share > 0.5):
        return _identifier(facts, f"free text of {facts.words:.0f} words on average, which may name people")
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
    return _identifier(facts, f"the name points to {concept.label}", personal=concept.personal)


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
        "every cell is missing" if facts.distinct == 0 else "every row has the same value, which tells nobody apart"
    )
    return Proposal(Role.INSENSITIVE, facts.kind, reason)


def _by_name(facts: ColumnFacts) -> Proposal | None:
    concept = concept_of(facts.name, Role.SENSITIVE)
    if concept is not None:
        return Proposal(
            Role.SENSITIVE, facts.kind, f"the name points to {concept.label}, not to be learned about anyone"
        )
    concept = concept_of(facts.name, Role.QI)
    if concept is None:
        return None
    if _is_one_by_one(facts) and concept.key not in ("zip", "birth"):
        return _identifier(facts, f"{facts.unique_share:.0%} of the rows have a text of their own ({concept.label})")
    return Proposal(Role.QI, _kind(facts, concept), f"the name points to {concept.label}, which others may know")


def _is_one_by_one(facts: ColumnFacts) -> bool:
    """Tell texts that are different in nearly every row."""
    return facts.kind is Kind.CATEGORICAL and facts.unique_share > NEARLY_UNIQUE and facts.distinct >= 20


def _kind(facts: ColumnFacts, concept: Concept) -> Kind:
    return Kind.CATEGORICAL if concept.coded and facts.kind is Kind.NUMERIC and facts.whole else facts.kind


def _by_code(facts: ColumnFacts) -> Proposal | None:
    """Numbers and codes that are given out one by one; names of people; postal codes."""
    words = set(words_of(facts.name))
    named = bool(words & ID_WORDS) and (facts.distinct_share > 0.5 or bool(words & OF_PEOPLE))
    if named and (facts.whole or facts.kind is Kind.CATEGORICAL):
        return _identifier(facts, "name and values are those of a number or key given to each", personal=True)
    if facts.kind is Kind.CATEGORICAL and looks_like_names(facts.sample):
        return _identifier(facts, "the values look like names of people")
    if is_postal(facts.sample) and facts.unique_share <= NEARLY_UNIQUE:
        return Proposal(Role.QI, Kind.CATEGORICAL, "the values look like postal codes, which others may know")
    return None


def _by_counts(facts: ColumnFacts) -> Proposal:
    alone = f"{facts.unique_share:.0%} of the rows have a value of their own"
    if facts.kind is Kind.CATEGORICAL or facts.whole:
        what = "text" if facts.kind is Kind.CATEGORICAL else "whole number"
        if facts.unique_share > NEARLY_UNIQUE:
            return _identifier(facts, f"{alone}: a {what} that may be looked up elsewhere", personal=True)
    if facts.kind is Kind.CATEGORICAL and facts.distinct_share > 0.5 and facts.distinct > 20:
        return _identifier(facts, f"mostly different texts ({alone}), which cannot be recoded with use")
    if facts.distinct <= 100:
        return Proposal(
            Role.QI, facts.kind, f"{facts.distinct} values; taken as known to others, to be on the safe side"
        )
    return Proposal(Role.QI, facts.kind, "many values; taken as known to others, to be on the safe side")
