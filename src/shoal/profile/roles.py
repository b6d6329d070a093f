"""Proposed roles of all columns of a table: each by itself, then compared with the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.errors import counted
from shoal.profile.columns import Coded, ColumnFacts, is_constant
from shoal.profile.detect import Proposal, propose, undecided
from shoal.profile.forms import MOSTLY_DIFFERENT, is_code
from shoal.profile.persons import find_person
from shoal.profile.vocabulary import common_prefix, naming_of
from shoal.profile.vocabulary.quasi import QIS
from shoal.schema import Kind, Role

__all__ = ["MOST_QI", "PROPOSED_K", "propose_roles"]

MOST_QI = 12
PROPOSED_K = 5
LEAST_COMPANY = 2
GENERAL = frozenset(
    {"code", "cod", "type", "typ", "tipo", "primary", "main", "description", "desc", "category", "class", "cd", "kod"}
)
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
                proposals[i] = _person(facts, proposals[i], found.determined)
    proposals = _without_rare(columns, _by_company(columns, proposals), coded)
    return _few_quasi_identifiers(columns, proposals)


def _person(facts: ColumnFacts, proposal: Proposal, determined: tuple[str, ...]) -> Proposal:
    shared = f", and {_listed(determined)} the same in all rows of a value" if determined else ""
    reason = (
        f"the key of the people (or cases): {facts.distinct:,} values in {facts.n_known:,} rows{shared}; "
        "with this role, k counts people instead of rows"
    )
    return replace(proposal, role=Role.PERSON, reason=reason, decide=False)


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:3])
    if len(names) > 3:
        return f"{shown} and {len(names) - 3} more are"
    return f"{shown} {'is' if len(names) == 1 else 'are'}"


def _by_company(columns: Sequence[ColumnFacts], proposals: list[Proposal]) -> list[Proposal]:
    """Propose as sensitive what the name does not tell, in a table that is mostly about one sensitive topic.

    Only codes with few values and measurements qualify, and only if sex and age are accounted for, or the table has no
    such column at all. Anything else is left to the user.
    """
    topics = Counter(topic for proposal in proposals if (topic := TOPICS.get(proposal.concept)))
    known = Counter(proposal.concept for proposal in proposals if proposal.role is Role.QI)
    n_known = known.total() - sum(known[concept] for concept in ("time", "place", "organisation"))
    has_traits = bool(known["sex"] and known["age"] + known["birth"])
    topic, n_columns = topics.most_common(1)[0] if topics else ("", 0)
    if n_columns < LEAST_COMPANY or (n_known and not has_traits):
        return proposals
    return [
        Proposal(Role.SENSITIVE, facts.kind, f"the columns around it are about {topic}, and it seems to be too")
        if proposal.decide and not proposal.key_of and not proposal.concept and _is_measured(facts, has_traits)
        else proposal
        for facts, proposal in zip(columns, proposals, strict=True)
    ]


def _is_measured(facts: ColumnFacts, has_traits: bool) -> bool:
    """Tell whether a column holds measurements, codes with few values, or what a name such as `code` or `type` says."""
    if facts.kind is Kind.DATE or (facts.distinct_share > MOSTLY_DIFFERENT and facts.kind is Kind.CATEGORICAL):
        return False
    is_general = set(naming_of(facts.name).words) <= GENERAL
    if is_code(facts) or is_general or (facts.kind is Kind.NUMERIC and not facts.whole):
        return True
    return has_traits and facts.kind is Kind.NUMERIC and _is_sparse(facts)


def _is_sparse(facts: ColumnFacts) -> bool:
    """Tell whether integers are measured rather than numbered: shared by rows, with gaps or far from 1; no years."""
    numbers = [int(text) for text in facts.sample]
    low, high = min(numbers), max(numbers)
    if facts.unique_share > MOSTLY_DIFFERENT or facts.shortest == facts.longest >= 4:
        return False
    return low > 12 or high - low > 2 * facts.distinct


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
