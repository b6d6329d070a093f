"""A hierarchy as a value, and what makes one for given values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Protocol, runtime_checkable

from shoal.errors import InputError, Note, UsageError, first_row, join_problems
from shoal.tables.values import NUMBER

__all__ = ["TOP", "Hierarchy", "Rule", "for_columns", "over_values"]

TOP = "*"

RowsOf = Callable[[int], int]


@runtime_checkable
class Rule(Protocol):
    """Whatever makes a hierarchy for the values of a column; a `Hierarchy` does so by looking them up."""

    def over(
        self,
        texts: Sequence[str],
        *,
        column: str = "",
        unknown: str = "error",
        missing: Collection[str] = (),
        rows_of: RowsOf | None = None,
    ) -> Hierarchy:
        """Return the hierarchy over exactly these values; the arguments are those of `Hierarchy.bind`."""
        ...


@dataclass(frozen=True)
class Hierarchy:
    """Ordered levels over the values of one attribute.

    rows: the labels of each value from level 1 up, all rows equally long, the last label "*". A label stands for the
    same values on every level on which it occurs ("*" stands for all values wherever it occurs); a value that has no
    label of its own on the lower levels repeats itself there.
    source: where it came from, for messages. trusted: some labels are not true of their values, and were taken on
    trust. notes: what the user should know.

    >>> sex = Hierarchy({"f": ("*",), "m": ("*",)})
    >>> sex.height, sex.label("f", 0), sex.label("f", 1)
    (1, 'f', '*')
    """

    rows: Mapping[str, tuple[str, ...]]
    source: str = ""
    trusted: bool = False
    notes: tuple[Note, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        rows = {value: tuple(labels) for value, labels in self.rows.items()}
        heights = {len(labels) for labels in rows.values()}
        if len(heights) != 1 or 0 in heights or any(labels[-1] != TOP for labels in rows.values()):
            raise InputError(
                f"hierarchy {self.source or 'given'}: every value needs equally many labels, the last one '*'. "
                "shoal.hierarchy.from_dict and the readers see to it."
            )
        object.__setattr__(self, "rows", rows)

    @property
    def height(self) -> int:
        """Number of levels above the values."""
        return len(next(iter(self.rows.values())))

    def label(self, value: str, level: int) -> str:
        """Return the label of a value on a level; level 0 is the value itself."""
        labels = self.rows[value]
        return labels[level - 1] if level else value

    def labels(self, level: int) -> tuple[str, ...]:
        """Return the distinct labels of a level, in the order in which they first occur."""
        return tuple(dict.fromkeys(self.label(value, level) for value in self.rows))

    def values_under(self) -> dict[str, frozenset[str]]:
        """Return the values that each label of any level stands for; a value, which is level 0, stands for itself."""
        under: dict[str, set[str]] = {value: {value} for value in self.rows}
        for value, labels in self.rows.items():
            for label in labels:
                under.setdefault(label, set()).add(value)
        return {label: frozenset(values) for label, values in under.items()}

    def bind(
        self,
        texts: Sequence[str],
        *,
        column: str = "",
        unknown: str = "error",
        missing: Collection[str] = (),
        rows_of: RowsOf | None = None,
        numbers: bool = False,
    ) -> Hierarchy:
        """Return the hierarchy over exactly these values, on the same levels.

        unknown: what to do with a value that it lacks: "error", or "top": such a value is "*" from level 1 up.
        missing: values that stand for a missing one: "*" from level 1 up if it lacks them, never an error.
        rows_of: gives the row (from 1) where texts[i] first stands, for messages.
        numbers: a number that is spelled in another way (20.0 for 20) is found too.
        """
        check_unknown(unknown)
        spelled = (
            {Decimal(value): value for value in reversed(list(self.rows)) if NUMBER.fullmatch(value)} if numbers else {}
        )
        top = (TOP,) * self.height
        rows: dict[str, tuple[str, ...]] = {}
        lacking = []
        for i, text in enumerate(texts):
            known = text if text in self.rows else None
            if known is None and spelled and NUMBER.fullmatch(text):
                known = spelled.get(Decimal(text))
            if known is None and unknown == "error" and text not in missing:
                lacking.append(i)
            rows[text] = top if known is None else self.rows[known]
        if lacking:
            where = f"hierarchy {self.source}" if self.source else "its hierarchy"
            raise InputError(lacking_text(column, f"not in {where}", "Add them to it", texts, lacking, rows_of))
        return replace(self, rows=rows or {"": top})

    over = bind


def over_values(
    rule: Rule,
    texts: Sequence[str],
    *,
    numbers: bool,
    column: str = "",
    unknown: str = "error",
    missing: Collection[str] = (),
    rows_of: RowsOf | None = None,
) -> Hierarchy:
    """Return the hierarchy that a rule makes over these values; numbers: they are, and may be spelled in any way."""
    if isinstance(rule, Hierarchy):
        return rule.bind(texts, column=column, unknown=unknown, missing=missing, rows_of=rows_of, numbers=numbers)
    return rule.over(texts, column=column, unknown=unknown, missing=missing, rows_of=rows_of)


def check_unknown(unknown: str) -> None:
    """Refuse what bind and over do not know."""
    if unknown not in ("error", "top"):
        raise UsageError(f"unknown={unknown!r} is not known. Use 'error' or 'top'.")


def lacking_text(
    column: str, what: str, cure: str, texts: Sequence[str], lacking: Sequence[int], rows_of: RowsOf | None
) -> str:
    """Say that values of a column have no place: how many, and the first row of one, but never the value."""
    count = len({texts[i] for i in lacking})
    first = first_row(min(map(rows_of, lacking))) if rows_of else f" (first: value {min(lacking) + 1})"
    place = f"column {column!r}: " if column else ""
    values = "1 value is" if count == 1 else f"{count} values are"
    return f"{place}{values} {what}{first}. {cure}, or say unknown='top' (--unknown top) to release them as '*'."


def settle(
    texts: Sequence[str],
    row_of: Callable[[str], tuple[str, ...] | None],
    lacking: Callable[[Sequence[int]], str],
    *,
    height: int,
    unknown: str,
    missing: Collection[str],
) -> dict[str, tuple[str, ...]]:
    """Return the rows that a rule gives to values; what it has no row for goes to the top or is refused."""
    check_unknown(unknown)
    found = [None if text in missing else row_of(text) for text in texts]
    lacks = [i for i, row in enumerate(found) if row is None and texts[i] not in missing]
    if lacks and unknown == "error":
        raise InputError(lacking(lacks))
    top = (TOP,) * height
    return {text: row or top for text, row in zip(texts, found, strict=True)} or {"": top}


def for_columns(given: Iterable[tuple[str, Rule]], columns: Collection[str]) -> dict[str, Rule]:
    """Give each column its one hierarchy; an unknown column, or two that disagree, is a UsageError."""
    taken: dict[str, Rule] = {}
    problems = []
    for name, rule in given:
        if name not in columns:
            problems.append(f"hierarchy for column {name!r}: the table has no such column.")
        elif name in taken and taken[name] != rule:
            problems.append(f"column {name!r} has two hierarchies that disagree. Give it one.")
        else:
            taken[name] = rule
    if problems:
        raise UsageError(join_problems(problems))
    return taken
