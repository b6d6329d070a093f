"""Proposed roles of all columns of a table: each by itself, then compared with the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.errors import counted
from shoal.profile.columns import Coded, ColumnFacts, is_constant
from shoal.profile.detect import Proposal, propose, undecided
from shoal.profile.forms import is_sequence
from shoal.profile.persons import Person, find_person
from shoal.profile.vocabulary import common_prefix
from shoal.profile.vocabulary.quasi import QIS
from shoal.schema import Kind, Role

__all__ = ["MOST_QI", "PROPOSED_K", "propose_roles"]

MOST_QI = 12
PROPOSED_K = 5
LEAST_COMPANY = 3
LEAST_BATTERY = 4  # questions with the same answers
SCALE = range(3, 12)  # numbers of points of a scale
NUMBERED = re.compile(r"(|.*?[^0-9])[-_. ]?[0-9]+[a-z]?", re.IGNORECASE)
TOPICS = {
    **dict.fromkeys(("health", "vital", "outcome"), "health"),
    **dict.fromkeys(("money", "payment", "cost"), "money"),
    **dict.fromkeys(("crime", "charge"), "offences"),
    "mark": "assessments",
}
KNOWN = {concept.key: rank for rank, concept in enumerate(QIS)}


def propose_roles(columns: Sequence[ColumnFacts], coded: Mapping[str, Coded]) -> list[Proposal]:
    """Return the proposal for each column of a table.

    Args:
        columns: The facts about the columns.
        coded: The columns as codes, by name.
    """
    prefix = common_prefix([facts.name for facts in columns])
    proposals = [propose(facts, prefix) for facts in columns]
    found = find_person(list(zip(columns, proposals, strict=True)), coded)
    if found is not None:
        for i, facts in enumerate(columns):
            if facts.name == found.name:
                proposals[i] = _person(facts, proposals[i], found)
        proposals = _without_second_keys(columns, proposals, coded, found.name)
    proposals = _by_battery(columns, proposals)
    proposals = _without_rare(columns, _by_company(columns, proposals), coded)
    return _few_quasi_identifiers(columns, proposals)


def _person(facts: ColumnFacts, proposal: Proposal, found: Person) -> Proposal:
    shared = f", and {_listed(found.determined)} the same in all rows of a value" if found.determined else ""
    whose, counted_ones = ("households", "households") if found.of_households else ("people (or cases)", "people")
    reason = (
        f"the key of the {whose}: {facts.distinct:,} values in {facts.n_known:,} rows{shared}; "
        f"with this role, k counts {counted_ones} instead of rows"
    )
    return replace(proposal, role=Role.PERSON, reason=reason, decide=False)


def _without_second_keys(
    columns: Sequence[ColumnFacts], proposals: list[Proposal], coded: Mapping[str, Coded], person: str
) -> list[Proposal]:
    """Leave sensitive texts and numbers with one value for each person, and one person for each value, to the user."""
    import numpy as np

    key = coded[person]
    result = []
    for facts, proposal in zip(columns, proposals, strict=True):
        own = coded[facts.name]
        assigned = facts.kind is Kind.CATEGORICAL or (facts.whole and is_sequence(facts))  # unlike incomes
        if proposal.role is not Role.SENSITIVE or not assigned or own.n_values != key.n_values:
            pass
        elif len(np.unique(own.codes * key.n_values + key.codes)) == key.n_values:
            proposal = undecided(facts, f"each value belongs to one value of {person}, so it can be a key of people")
        result.append(proposal)
    return result


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:3])
    if len(names) > 3:
        return f"{shown} and {len(names) - 3} more are"
    return f"{shown} {'is' if len(names) == 1 else 'are'}"


def _by_battery(columns: Sequence[ColumnFacts], proposals: list[Proposal]) -> list[Proposal]:
    """Recognise numbered questions with the same answers on a scale, such as q1 to q8 with answers from 1 to 5.

    Nothing tells what a question is about, but its answers are what a person said. They are few, so that they do not
    identify anybody by themselves.
    """
    scales: dict[int, tuple[str, int, int]] = {}
    for i, (facts, proposal) in enumerate(zip(columns, proposals, strict=True)):
        found = NUMBERED.fullmatch(facts.name)
        if found and proposal.decide and not proposal.key_of and not proposal.concept and facts.whole:
            answers = [int(text) for text in facts.sample]
            if facts.distinct in SCALE and min(answers) in (0, 1) and max(answers) - min(answers) < len(SCALE) + 2:
                scales[i] = found[1].casefold(), min(answers), max(answers)
    sizes = Counter(scales.values())
    for i, (stem, low, high) in scales.items():
        if (n := sizes[stem, low, high]) >= LEAST_BATTERY:
            reason = f"one of {n} numbered questions with answers from {low} to {high}, which nobody should learn"
            proposals[i] = Proposal(Role.SENSITIVE, columns[i].kind, reason, concept="mark")
    return proposals


def _by_company(columns: Sequence[ColumnFacts], proposals: list[Proposal]) -> list[Proposal]:
    """Name the sensitive topic of a table where a column is left to the user, because nothing tells what it holds.

    The company of a column is no evidence of what it holds itself. A sensitive column is released unchanged, so the
    role needs evidence of its own: a name or values.
    """
    topics = Counter(topic for proposal in proposals if (topic := TOPICS.get(proposal.concept)))
    topic, n_columns = topics.most_common(1)[0] if topics else ("", 0)
    if n_columns < LEAST_COMPANY:
        return proposals
    hint = f"the table is mostly about {topic}: if this column is too, make it sensitive"
    proposals = [_doubted(*pair, topic) for pair in zip(columns, proposals, strict=True)]
    return [
        replace(proposal, reason=f"{proposal.reason}; {hint}")
        if proposal.decide and not proposal.key_of and not proposal.concept and facts.kind is not Kind.DATE
        else proposal
        for facts, proposal in zip(columns, proposals, strict=True)
    ]


def _doubted(facts: ColumnFacts, proposal: Proposal, topic: str) -> Proposal:
    """Leave a grade or degree to the user in a table about something else than schools: of a loan, or of a disease."""
    if proposal.concept != "degree" or topic == "assessments":
        return proposal
    return undecided(facts, "the column name suggests a grade, of a person or of something else")


def _without_rare(
    columns: Sequence[ColumnFacts], proposals: list[Proposal], coded: Mapping[str, Coded]
) -> list[Proposal]:
    """Leave insensitive columns with rare values to the user: anonymize refuses to release them unchanged."""
    import numpy as np

    result = []
    for facts, proposal in zip(columns, proposals, strict=True):
        if proposal.role is Role.INSENSITIVE and not is_constant(facts):
            rare = int((np.bincount(coded[facts.name].codes) < PROPOSED_K).sum())
            if rare:
                values = counted(rare, "value occurs", "values occur")
                proposal = undecided(facts, f"{proposal.reason}, but {values} in fewer than {PROPOSED_K} rows")
        result.append(proposal)
    return result


def _few_quasi_identifiers(columns: Sequence[ColumnFacts], proposals: list[Proposal]) -> list[Proposal]:
    """Keep the quasi-identifiers that others know most plausibly, at most twelve."""
    ranked = sorted(
        (i for i, proposal in enumerate(proposals) if proposal.role is Role.QI),
        key=lambda i: (KNOWN.get(proposals[i].concept, len(KNOWN)), i),
    )
    for i in ranked[MOST_QI:]:
        reason = f"{proposals[i].reason}; {MOST_QI} columns that others know more plausibly are quasi-identifiers"
        proposals[i] = undecided(columns[i], reason)
    return proposals
