"""A release judged by what authorities ask: three criteria, known mistakes, conventions of publishers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.report.groups import SensitiveFacts
from shoal.report.words import band, chance, percent, sized
from shoal.risks.estimate import CONVENTIONS

__all__ = ["conventions", "mistakes", "three_criteria"]

SMALL_K = 5
SKEWED = 0.8  # share of one sensitive value in a group above which the group practically discloses it
NUMBER_READING = Fraction(9, 100)


@dataclass(frozen=True)
class _Answer:
    criterion: str
    question: str
    answer: str
    words: str

    def as_dict(self) -> dict[str, str]:
        return {
            "criterion": self.criterion,
            "question": self.question,
            "answer": self.answer,
            "words": self.words,
        }


def three_criteria(
    smallest: int,
    names: Sequence[str],
    sensitive: Sequence[SensitiveFacts],
    protected: Collection[str],
    uncounted: Sequence[str] = (),
    *,
    words: str = "",
) -> list[Any]:
    """Answer the three questions of Opinion 05/2014 of the Article 29 Working Party separately.

    Args:
        smallest: Rows or persons of the smallest group.
        names: The quasi-identifiers.
        sensitive: What the groups disclose about each sensitive column.
        protected: The sensitive columns that a model besides k protects.
        uncounted: Further sensitive columns, whose values were not counted by group.
        words: The size of the smallest group in words, such as "at least 5 people"; in rows by default.
    """
    # A predicate that selects each row of a group independently with probability 1/g selects exactly one of them with
    # probability (1 - 1/g) ** (g - 1): it singles out in spite of k.
    isolation = (1 - 1 / smallest) ** (smallest - 1) if smallest > 1 else 1.0
    words = words or sized(smallest, "rows")
    singling = _Answer(
        "singling out",
        "Can one person's record be singled out?",
        "limited",
        f"Not by {_listed(names)} only: the smallest group has {words} that look alike. An attribute "
        "outside these columns that differs within a group can still select exactly one of them, with a probability of "
        f"about {percent(isolation)}; k does not limit this.",
    )
    linking = _Answer(
        "linkability",
        "Can records of one person, or of one group, be linked?",
        "remains",
        "Models of groups do not prevent this: two releases, or two tables, about the same people can be joined on "
        "their shared columns, and each join can narrow a group. Keep a record of what you publish about the same "
        "people.",
    )
    return [answer.as_dict() for answer in (singling, linking, _inference(sensitive, protected, uncounted))]


def _inference(sensitive: Sequence[SensitiveFacts], protected: Collection[str], uncounted: Sequence[str]) -> _Answer:
    question = "Can a person's sensitive value be inferred?"
    if unseen := [name for name in uncounted if name not in protected]:
        words = (
            f"What the groups show of {_listed(unseen)} was not counted, because the rows were not in memory. k does "
            "not limit this; l-diversity and t-closeness do."
        )
        return _Answer("inference", question, "not examined", words)
    if not sensitive and uncounted:
        words = f"The requested models limit what the groups show of {_listed(uncounted)}; the verifier checked"
        return _Answer("inference", question, "limited", f"{words} them.")
    if not sensitive:
        words = "No column was declared sensitive. What the release shows about a group applies to the people in it."
        return _Answer("inference", question, "not examined", words)
    unprotected = [facts for facts in sensitive if facts.name not in protected]
    worst = max(unprotected or sensitive, key=lambda facts: (facts.highest_share, facts.name))
    words = f"In at least one group, {band(worst.highest_share)} of the rows share one value of {worst.name!r}"
    words += f"; every group has at least {worst.fewest} distinct values of it." if worst.fewest > 1 else "."
    if unprotected:
        return _Answer(
            "inference", question, "remains", f"{words} k does not limit this; l-diversity and t-closeness do."
        )
    return _Answer(
        "inference", question, "limited", f"{words} The requested models limit this; the verifier checked them."
    )


def mistakes(
    k: int, unexamined: Sequence[str], sensitive: Sequence[SensitiveFacts], uncounted: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Check for the mistakes that the same opinion lists.

    Args:
        k: The k of the release.
        unexamined: Insensitive columns, which are released unchanged.
        sensitive: What the groups disclose about each sensitive column.
        uncounted: Further sensitive columns, whose values were not counted by group.
    """
    skewed = [facts.name for facts in sensitive if facts.highest_share > SKEWED]
    return [
        {
            "mistake": "a quasi-identifier was overlooked",
            "found": bool(unexamined),
            "words": f"{_listed(unexamined)}: released unchanged. Could anyone know these values of a person?"
            if unexamined
            else "Every released column is a quasi-identifier or sensitive.",
        },
        {
            "mistake": "k is small",
            "found": k < SMALL_K,
            "words": f"k = {k}; {SMALL_K} is a common choice." if k < SMALL_K else f"k = {k}.",
        },
        {
            "mistake": "a sensitive value dominates a group",
            "found": bool(skewed),
            "words": f"In some group, more than {percent(SKEWED)} of the rows share one value of {_listed(skewed)}."
            if skewed
            else f"Values of {_listed(uncounted)} were not counted by group, because the rows were not in memory."
            if uncounted
            else f"No value makes up more than {percent(SKEWED)} of a group.",
        },
    ]


def conventions(smallest: int, counts: str = "rows") -> list[dict[str, Any]]:
    """Compare the smallest group with conventions of publishers; a risk of 0.09 is read in both usual ways."""
    rows = [
        {"convention": f"groups of {size}", "least_group": size, "met": smallest >= size, "words": words}
        for size, words in CONVENTIONS.items()
    ]
    least = -(-NUMBER_READING.denominator // NUMBER_READING.numerator)
    highest = chance(Fraction(1, smallest)) if smallest else "100%"
    rows.append(
        {
            "convention": "risk of 0.09, taken literally",
            "least_group": least,
            "met": smallest >= least,
            "words": f"taken literally, it requires {sized(least, counts)} (1/11 is 9.09%); the release has {highest}",
        }
    )
    return sorted(rows, key=lambda row: row["least_group"])


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else "nothing"
