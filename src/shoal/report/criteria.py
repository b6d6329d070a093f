"""A release judged by what authorities ask: three criteria, known mistakes, conventions of publishers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.report.groups import SensitiveFacts
from shoal.report.words import band, chance, percent, sized
from shoal.risks.estimate import CONVENTIONS

__all__ = ["conventions", "mistakes", "three_criteria"]

Shares = Mapping[str, float | None]  # by column, of the rows in groups with one value; None if they were not counted
NO_SHARES: Shares = {}
SMALL_K = 5
NOT_COUNTED = "Smaller shares were not counted, because the rows were not in memory."
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
    one_value: Shares = NO_SHARES,
    *,
    words: str = "",
) -> list[Any]:
    """Answer the three questions of Opinion 05/2014 of the Article 29 Working Party separately.

    Args:
        smallest: Rows or persons of the smallest group.
        names: The quasi-identifiers.
        sensitive: What the groups disclose about each sensitive column.
        protected: The sensitive columns that a model besides k protects.
        one_value: Further sensitive columns, of which only the share of the rows in groups with one value is known, or
            None.
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
    return [answer.as_dict() for answer in (singling, linking, _inference(sensitive, protected, one_value))]


def _inference(sensitive: Sequence[SensitiveFacts], protected: Collection[str], one_value: Shares) -> _Answer:
    question = "Can a person's sensitive value be inferred?"
    if unprotected_shares := {name: share or 0.0 for name, share in one_value.items() if name not in protected}:
        share, name = max((share, name) for name, share in unprotected_shares.items())
        words = f"No group shares one value of {_listed(list(unprotected_shares))}."
        if share:
            words = f"{percent(share)} of the rows are in groups that share one value of {name!r}."
        words += f" {NOT_COUNTED} k does not limit this; l-diversity and t-closeness do."
        return _Answer("inference", question, "remains", words)
    if not sensitive and one_value:
        words = f"The requested models limit what the groups show of {_listed(list(one_value))}; the verifier checked"
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
    k: int, unexamined: Sequence[str], sensitive: Sequence[SensitiveFacts], one_value: Shares = NO_SHARES
) -> list[dict[str, Any]]:
    """Check for the mistakes that the same opinion lists.

    Args:
        k: The k of the release.
        unexamined: Insensitive columns, which are released unchanged.
        sensitive: What the groups disclose about each sensitive column.
        one_value: Further sensitive columns, of which only the share of the rows in groups with one value is known, or
            None.
    """
    skewed = [facts.name for facts in sensitive if facts.highest_share > SKEWED]
    skewed += [name for name, share in one_value.items() if share]
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
            else _not_skewed(one_value)
            if one_value
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


def _not_skewed(one_value: Shares) -> str:
    """Say what is known of sensitive columns of which no group is known to share one value."""
    counted = [name for name, share in one_value.items() if share is not None]
    protected = [name for name in one_value if name not in counted]
    words = [f"No group shares one value of {_listed(counted)}. {NOT_COUNTED}"] if counted else []
    words += [f"Models limit the values of {_listed(protected)} in each group."] if protected else []
    return " ".join(words)
