"""A hierarchy as a value, and the rules that make a hierarchy for the values of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NamedTuple, Protocol, TypedDict, Unpack, runtime_checkable

from shoal.errors import InputError, Note, UsageError, counted, first_row, join_problems, setting
from shoal.schema import Column, Kind
from shoal.tables.values import NUMBER

__all__ = [
    "TOP",
    "Hierarchy",
    "HierarchyRule",
    "LabelRule",
    "Misfit",
    "Rule",
    "for_columns",
    "over_values",
    "values_under",
]

TOP = "*"
UNKNOWN = ("error", "top")

RowsOf = Callable[[int], int]


class Binding(TypedDict, total=False):
    """The optional arguments of `HierarchyRule.over`."""

    column: str
    unknown: str
    missing: Collection[str]
    rows_of: RowsOf | None


@runtime_checkable
class HierarchyRule(Protocol):
    """Anything that makes a hierarchy for the values of a column; a `Hierarchy` looks them up."""

    def over(self, texts: Sequence[str], **binding: Unpack[Binding]) -> Hierarchy:
        """Return the hierarchy over exactly these values; the arguments are those of `Hierarchy.bind`."""
        ...


# The public name. `shoal.rules.Rule`, a data constraint, is something else.
Rule = HierarchyRule


@dataclass(frozen=True)
class Hierarchy:
    """Ordered levels over the values of one attribute.

    A label that occurs on several levels means all values that it covers on any of them; they grow from level to level.
    A value without a label on a lower level repeats itself there.

    Attributes:
        rows: The labels of each value from level 1 up. All rows have the same length and end in the same label, the
            root, which is "*" unless the hierarchy names another.
        source: Where the hierarchy comes from, for messages.
        trusted: Whether it was accepted although some labels do not contain their values.
        notes: What the user should know about it.

    Raises:
        InputError: The rows differ in length or in their root, or are empty.

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
        if len(heights) != 1 or 0 in heights or len({labels[-1] for labels in rows.values()}) != 1:
            name = f"hierarchy {self.source}" if self.source else "the hierarchy"
            raise InputError(
                f"{name}: every value needs the same number of labels, and the last label must be the same for all. "
                "Build it with shoal.hierarchy.from_dict, which pads short rows and adds a root."
            )
        object.__setattr__(self, "rows", rows)

    @property
    def height(self) -> int:
        """Number of levels above the values."""
        return len(next(iter(self.rows.values())))

    @property
    def root(self) -> str:
        """The label of the last level, which covers all values."""
        return next(iter(self.rows.values()))[-1]

    def label(self, value: str, level: int) -> str:
        """Return the label of a value on a level; level 0 is the value itself."""
        labels = self.rows[value]
        return labels[level - 1] if level else value

    def labels(self, level: int) -> tuple[str, ...]:
        """Return the distinct labels of a level in the order of their first occurrence."""
        return tuple(dict.fromkeys(self.label(value, level) for value in self.rows))

    def values_under(self) -> dict[str, frozenset[str]]:
        """Return the values that each label of any level means; a value means itself."""
        return values_under(self.rows)

    def label_levels(self) -> dict[str, int]:
        """Return the level of each label: the lowest on which it covers all the values that it means."""
        covered: dict[str, dict[int, int]] = {}
        for labels in self.rows.values():
            for level, label in enumerate(labels, 1):
                counts = covered.setdefault(label, {})
                counts[level] = counts.get(level, 0) + 1
        return {label: max(counts, key=lambda level: (counts[level], -level)) for label, counts in covered.items()}

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

        Args:
            texts: The values of the column.
            column: The name of the column, for messages.
            unknown: What to do with a value that is not in the hierarchy: "error", or "top" to give it the label of
                the root from level 1 up.
            missing: Texts that mean a missing value. If they are not in the hierarchy, they get the label of the root
                from level 1 up.
            rows_of: Returns the first row (from 1) of texts[i], for messages.
            numbers: Whether to compare numbers by value, so that 20.0 finds 20.

        Returns:
            A hierarchy with one row for each text.

        Raises:
            InputError: A value is not in the hierarchy and `unknown` is "error".
            UsageError: `unknown` is neither "error" nor "top".
        """
        check_unknown(unknown)
        by_number = (
            {Decimal(value): value for value in reversed(list(self.rows)) if NUMBER.fullmatch(value)} if numbers else {}
        )
        top = (self.root,) * self.height
        rows: dict[str, tuple[str, ...]] = {}
        unlisted = []
        for i, text in enumerate(texts):
            value = text if text in self.rows else None
            if value is None and by_number and NUMBER.fullmatch(text):
                value = by_number.get(Decimal(text))
            if value is None and unknown == "error" and text not in missing:
                unlisted.append(i)
            rows[text] = top if value is None else self.rows[value]
        if unlisted:
            name = f"hierarchy {self.source}" if self.source else "its hierarchy"
            misfit = Misfit(unlisted, f"not in {name}", "Add them to the hierarchy")
            raise InputError(misfit.describe(column, texts, rows_of))
        return replace(self, rows=rows or {"": top})

    over = bind


class Misfit(NamedTuple):
    """Values of a column that have no labels."""

    positions: Sequence[int]
    reason: str  # completes "2 values are ..."
    cure: str

    def describe(self, column: str, texts: Sequence[str], rows_of: RowsOf | None) -> str:
        """Return the error message: how many values and the first row of one, never the value."""
        count = len({texts[i] for i in self.positions})
        first = (
            first_row(min(map(rows_of, self.positions))) if rows_of else f" (first at value {min(self.positions) + 1})"
        )
        place = f"column {column!r}: " if column else ""
        values = counted(count, "value is", "values are")
        return (
            f"{place}{values} {self.reason}{first}. "
            f"{self.cure}, or pass {setting('unknown', 'top')} to release them as '*'."
        )


class LabelRule(ABC):
    """Base class of the rules that label each value on its own."""

    @abstractmethod
    def _height_over(self, texts: Sequence[str]) -> int:
        """Return the number of levels above these values, which contain no missing one."""

    @abstractmethod
    def _labels_of(self, text: str, height: int) -> tuple[str, ...] | None:
        """Return the labels of a value from level 1 up; None if it has none."""

    @abstractmethod
    def _misfit(self, texts: Sequence[str], positions: Sequence[int]) -> Misfit:
        """Explain why the values at these positions have no labels."""

    def in_form(self, column: Column) -> LabelRule:
        """Return the rule for a column that writes its dates and numbers in another way than the rule says."""
        return self

    @property
    @abstractmethod
    def _source_name(self) -> str:
        """The source of the hierarchies that this rule makes."""

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
        check_unknown(unknown)
        height = self._height_over([text for text in texts if text not in missing])
        rows = {text: None if text in missing else self._labels_of(text, height) for text in texts}
        unlabelled = [i for i, text in enumerate(texts) if rows[text] is None and text not in missing]
        if unlabelled and unknown == "error":
            raise InputError(self._misfit(texts, unlabelled).describe(column, texts, rows_of))
        top = (TOP,) * height
        return Hierarchy({text: row or top for text, row in rows.items()} or {"": top}, source=self._source_name)


def over_values(rule: HierarchyRule, texts: Sequence[str], form: Column, **binding: Unpack[Binding]) -> Hierarchy:
    """Return the hierarchy that a rule makes over these values.

    Args:
        rule: A hierarchy or a rule.
        texts: The values of the column.
        form: The column, with its kind and how its values are written. A hierarchy may spell numbers differently.
        binding: The other arguments of `Hierarchy.bind`.
    """
    if isinstance(rule, Hierarchy):
        return rule.bind(texts, numbers=form.kind is Kind.NUMERIC, **binding)
    return (rule.in_form(form) if isinstance(rule, LabelRule) else rule).over(texts, **binding)


def values_under(rows: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return the values that each label means, given the labels of each value; a value means itself."""
    under: dict[str, set[str]] = {value: {value} for value in rows}
    for value, labels in rows.items():
        for label in labels:
            under.setdefault(label, set()).add(value)
    return {label: frozenset(values) for label, values in under.items()}


def check_unknown(unknown: str) -> None:
    """Raise a UsageError if `unknown` is neither "error" nor "top"."""
    if unknown not in UNKNOWN:
        raise UsageError(f"unknown={unknown!r} is not known. Use 'error' or 'top'.")


def for_columns(pairs: Iterable[tuple[str, HierarchyRule]], columns: Collection[str]) -> dict[str, HierarchyRule]:
    """Return the hierarchy of each column.

    Args:
        pairs: Column names with their hierarchies; a column may occur twice with the same hierarchy.
        columns: The columns of the table.

    Raises:
        UsageError: A column is not in the table or has two different hierarchies.
    """
    rules: dict[str, HierarchyRule] = {}
    problems = []
    for name, rule in pairs:
        if name not in columns:
            problems.append(f"hierarchy for column {name!r}: no quasi-identifier or sensitive column has this name.")
        elif name in rules and rules[name] != rule:
            problems.append(f"column {name!r} has two different hierarchies. Give it one.")
        else:
            rules[name] = rule
    if problems:
        raise UsageError(join_problems(problems))
    return rules
