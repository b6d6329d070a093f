"""The release against the questions that authorities ask: three criteria told apart, known mistakes, conventions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.report.groups import SensitiveFacts
from shoal.report.words import band, chance, percent
from shoal.risks.estimate import CONVENTIONS

__all__ = ["conventions", "mistakes", "three_criteria"]

SMALL_K = 5
SKEWED = 0.8  # share of one sensitive value in a group from which it is as good as told
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
    smallest: int, names: Sequence[str], sensitive: Sequence[SensitiveFacts], models: int, *, counts: str = "rows"
) -> list[Any]:
    """Answer the three questions of Opinion 05/2014 of the Article 29 Working Party, each apart.

    smallest: rows of the smallest group, or persons: what counts says. models: how many models beside k speak of
    sensitive columns.
    """
    # Whoever picks each row of a group with chance 1/g, by any trait that differs from row to row, hits exactly one of
    # them with chance (1 - 1/g) ** (g - 1): a predicate that singles out in spite of k.
    lucky = (1 - 1 / smallest) ** (smallest - 1) if smallest > 1 else 1.0
    singling = _Answer(
        "singling out",
        "Can one person's record be told apart?",
        "limited",
        f"By {_listed(names)} alone, no: the smallest group has {smallest:,} {counts} that look alike. A trait outside "
        f"these columns that differs within a group can still pick exactly one of them, with a chance of "
        f"about {percent(lucky)}; k does not limit that.",
    )
    linking = _Answer(
        "linkability",
        "Can records of one person, or of one group, be linked?",
        "remains",
        "Models of groups leave this open: two releases, or two tables, about the same people can be joined on their "
        "shared columns, and each join can narrow a group. Keep count of what is published about the same people.",
    )
    return [answer.as_dict() for answer in (singling, linking, _inference(sensitive, models))]


def _inference(sensitive: Sequence[SensitiveFacts], models: int) -> _Answer:
    question = "Can a person's sensitive value be worked out?"
    if not sensitive:
        words = "No column was named as sensitive. What the released columns say of a group, they say of its people."
        return _Answer("inference", question, "not examined", words)
    worst = max(sensitive, key=lambda facts: (facts.highest_share, facts.name))
    words = f"In some group {band(worst.highest_share)} of the rows share one value of {worst.name!r}"
    words += f"; no group has fewer than {worst.fewest} distinct values of it." if worst.fewest > 1 else "."
    if not models:
        return _Answer("inference", question, "remains", f"{words} k alone does not limit this; --l and --t do.")
    return _Answer("inference", question, "limited", f"{words} The models asked for limit this, and were recounted.")


def mistakes(k: int, unexamined: Sequence[str], sensitive: Sequence[SensitiveFacts]) -> list[dict[str, Any]]:
    """Check for the mistakes that the same opinion lists; unexamined: columns that leave as they are, not sensitive."""
    skewed = [facts.name for facts in sensitive if facts.highest_share > SKEWED]
    return [
        {
            "mistake": "a quasi-identifier was missed",
            "found": bool(unexamined),
            "words": f"{_listed(unexamined)} leave as they are: could somebody know them of a person?"
            if unexamined
            else "Every released column is a quasi-identifier or sensitive.",
        },
        {
            "mistake": "k is small",
            "found": k < SMALL_K,
            "words": f"k = {k}; {SMALL_K} is a common start." if k < SMALL_K else f"k = {k}.",
        },
        {
            "mistake": "a sensitive value dominates a group",
            "found": bool(skewed),
            "words": f"In some group more than {percent(SKEWED)} of the rows share one value of {_listed(skewed)}."
            if skewed
            else f"No value has more than {percent(SKEWED)} of a group.",
        },
    ]


def conventions(smallest: int, counts: str = "rows") -> list[dict[str, Any]]:
    """Hold the smallest group against conventions of publishers; 0.09 is read in both ways, and both are said."""
    rows = [
        {"convention": f"groups of {size}", "least_group": size, "met": smallest >= size, "words": words}
        for size, words in CONVENTIONS.items()
    ]
    least = -(-NUMBER_READING.denominator // NUMBER_READING.numerator)
    found = chance(Fraction(1, smallest)) if smallest else "1"
    rows.append(
        {
            "convention": "risk of 0.09, as a number",
            "least_group": least,
            "met": smallest >= least,
            "words": f"read as it stands it asks for {least} {counts} (1/11 is 0.0909...); here it is {found}",
        }
    )
    return sorted(rows, key=lambda row: row["least_group"])


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else "nothing"
