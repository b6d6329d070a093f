"""The verdict on a release and the violations that it lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from shoal.errors import Note, UsageError

__all__ = [
    "MOST_VIOLATIONS",
    "NO_ROWS",
    "FirstRow",
    "Group",
    "Verdict",
    "Violation",
    "claim_violations",
    "exact",
    "judge",
    "judge_counts",
    "plural",
    "read_limit",
    "share",
    "small_groups",
    "small_groups_violation",
    "suppression_violations",
]

MOST_VIOLATIONS = 10
MOST_NUMBER, MOST_EXPONENT = 1_000, 400  # letters and exponent of a threshold; a float needs at most 324

Group = tuple[str, ...]  # the released quasi-identifier cells of a group
FirstRow = Callable[[Group], int]  # returns the first row of a group, from 1


class Violation(str):
    """Something that a release breaks.

    A violation is a string, so it can be printed as it is; its parts stay available to whoever renders it differently.
    It contains no cell of a table.

    Args:
        where: What it concerns, such as "file", "column 'zip'" or "k=5".
        text: What was found.
        row: The first data row concerned, from 1; None if there is none.

    >>> print(Violation("column 'zip'", "2 cells differ from their source", 17))
    column 'zip': 2 cells differ from their source (first at row 17).
    """

    __slots__ = ("row", "text", "where")

    where: str
    text: str
    row: int | None

    def __new__(cls, where: str, text: str, row: int | None = None) -> Violation:
        """Render the violation and keep its parts."""
        place = "" if row is None else f" (first at row {row})"
        violation = super().__new__(cls, f"{where}: {text}{place}.")
        violation.where, violation.text, violation.row = where, text, row
        return violation

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.where, self.text, self.row

    def __reduce__(self) -> tuple[type[Violation], tuple[Any, ...]]:
        return Violation, self.__getnewargs__()


NO_ROWS = Violation("rows", "there are no data rows, so there is nothing to verify")


@dataclass(frozen=True)
class Verdict:
    """What the verifier found in a release.

    Attributes:
        ok: Whether there is no violation.
        k: The size that every group must have.
        rows: The number of released rows.
        groups: The number of groups.
        smallest_group: The rows of the smallest group.
        violations: What the release breaks, at most ten texts. Each is a `Violation`, except a last one that counts the
            others.
        models: The models besides k that every group passes, in words; those of a good verdict.
        counts_people: Whether k was counted in people.
        center: "mean" or "median" if the cells are centres of groups, which are not true of each row.
        notes: What else was noticed.
        unchecked: What could not be checked, and what it would take.
        one_value: By sensitive column that no model counts, the rows in groups that share one value of it; counted for
            files larger than memory.
    """

    ok: bool
    k: int
    rows: int
    groups: int
    smallest_group: int
    violations: tuple[str, ...]
    models: tuple[str, ...] = ()
    counts_people: bool = False
    center: str | None = None
    notes: tuple[Note, ...] = ()
    unchecked: tuple[Note, ...] = ()
    one_value: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Return the verdict as plain values for JSON."""
        counts = {"rows": self.rows, "groups": self.groups, "smallest_group": self.smallest_group}
        return {"ok": self.ok, "k": self.k, **counts, "violations": list(self.violations)}


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "row"), plural(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def share(count: int, total: int, noun: str) -> str:
    """Return the subject of a sentence about a part of something, with its verb.

    >>> share(1, 5, "group"), share(2, 5, "group")
    ('1 of 5 groups is', '2 of 5 groups are')
    """
    return f"{count} of {plural(total, noun)} {'is' if count == 1 else 'are'}"


def small_groups(groups: Mapping[Group, int], k: int, first_row: FirstRow, noun: str = "row") -> list[Violation]:
    """Return a violation if groups have fewer than k rows or persons: how many, and where the smallest begins."""
    small = [group for group, size in groups.items() if size < k]
    if not small:
        return []
    smallest = min(small, key=groups.__getitem__)
    return [small_groups_violation(k, len(small), len(groups), groups[smallest], first_row(smallest), noun)]


def small_groups_violation(
    k: int, n_small: int, n_groups: int, smallest: int, row: int | None = None, noun: str = "row"
) -> Violation:
    """Return the violation that groups have fewer than k rows or persons."""
    size = plural(smallest, noun)
    return Violation(f"k={k}", f"{share(n_small, n_groups, 'group')} smaller; the smallest group has {size}", row)


def claim_violations(claims: Mapping[str, int], counts: Mapping[str, int]) -> list[Violation]:
    """Return the claims of the maker that differ from what was counted."""
    return [
        Violation(f"claim {name!r}", f"{stated} stated, {counts.get(name, 'none')} counted")
        for name, stated in claims.items()
        if counts.get(name) != stated
    ]


def exact(value: object) -> Fraction:
    """Return a number as a fraction.

    Raises:
        ValueError: It is not a number, or has so many digits or zeros that to compute with it would take too long.
    """
    text = str(value)
    _, _, exponent = text.lower().partition("e")
    if len(text) > MOST_NUMBER or (exponent and abs(int(exponent)) > MOST_EXPONENT):
        raise ValueError("a number that is too long")
    try:
        return Fraction(text)
    except ZeroDivisionError as error:
        raise ValueError("a division by zero") from error


def read_limit(limit: float | Fraction) -> Fraction:
    """Return a suppression limit as a fraction; raise a UsageError if it is not in [0, 1]."""
    try:
        fraction = exact(limit)
    except ValueError:
        fraction = Fraction(-1)
    if not 0 <= fraction <= 1:
        raise UsageError(f"suppression_limit={limit!r} is not a share. Use a number from 0 to 1.")
    return fraction


def suppression_violations(n_suppressed: int, n_source: int, limit: Fraction) -> list[Violation]:
    """Return a violation if more source rows were suppressed than the limit allows."""
    if n_suppressed <= limit * n_source:
        return []
    most = int(limit * n_source)
    text = f"{share(n_suppressed, n_source, 'source row')} not in the release; at most {most} may be suppressed"
    return [Violation("suppression", text)]


def judge(k: int, rows: int, groups: Mapping[Any, int], violations: Sequence[Violation]) -> Verdict:
    """Return the verdict; of more than ten violations, list nine and count the others."""
    return judge_counts(k, rows, len(groups), min(groups.values(), default=0), violations)


def judge_counts(k: int, rows: int, n_groups: int, smallest: int, violations: Sequence[Violation]) -> Verdict:
    """Return the verdict from the number of groups and the size of the smallest; see `judge`."""
    texts: list[str] = list(violations)
    if len(texts) > MOST_VIOLATIONS:
        texts[MOST_VIOLATIONS - 1 :] = [f"... and {len(texts) - MOST_VIOLATIONS + 1} more."]
    return Verdict(not texts, k, rows, n_groups, smallest, tuple(texts))
