"""Data constraint rules: values of a quasi-identifier that no group should mix, and the importance of each rule.

`compile_rules` checks all rules against a table and turns them into pairs of value sets over its codes. A group with a
value from both sides of a pair breaks the rule of that pair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import UsageError, join_problems
from shoal.schema import ISO, Kind
from shoal.tables import values
from shoal.tables.values.forms import parse_texts, truth

__all__ = ["CompiledRules", "Pair", "Rule", "RuleVerdict", "compile_rules", "judge_rules", "rule_from"]

FORMS = ("apart", "groupings", "inflection", "range", "base")
Values = str | Collection[str]
Bound = int | float | str | date


@dataclass(frozen=True)
class Rule:
    """One rule about a column, in exactly one of the forms apart, groupings, inflection, range and base.

    Attributes:
        column: The quasi-identifier.
        apart: Two values, or two sets of values, that no group should mix.
        groupings: Sets of values that groups may merge; they should merge nothing else.
        inflection: (a, b); a group with values up to a and values from b on breaks the rule.
        range: (a, b); the inflections at both ends of the range.
        base: The worth of the column when all its rules are broken.
        importance: The worth of the rule relative to the others of its column.
        ban: No group may break the rule at any cost; a method that cannot ensure this refuses the run.

    >>> Rule("race", apart=("White", "Black"), importance=20).form
    'apart'
    >>> Rule("age", inflection=(64, 65), importance=25).describe()
    "column 'age': inflection (64, 65)"
    """

    column: str
    apart: tuple[Values, Values] | None = None
    groupings: tuple[Collection[str], ...] | None = None
    inflection: tuple[Bound, Bound] | None = None
    range: tuple[Bound, Bound] | None = None
    base: float | None = None
    importance: float = 1
    ban: bool = False

    def __post_init__(self) -> None:
        forms = [form for form in FORMS if getattr(self, form) is not None]
        if len(forms) != 1:
            raise UsageError(
                f"rule for column {self.column!r}: {len(forms)} forms instead of one. Use one of {', '.join(FORMS)}."
            )
        for name, is_side in SIDES.items():
            form = getattr(self, name)
            if form is not None and not (_is_list(form) and len(form) == 2 and all(map(is_side, form))):
                raise UsageError(f"rule for column {self.column!r}: {name} needs two sides, such as {EXAMPLES[name]}.")
        if self.groupings is not None and not (_is_list(self.groupings) and all(map(_is_set, self.groupings))):
            raise UsageError(
                f"rule for column {self.column!r}: groupings needs lists of values, such as {EXAMPLES['groupings']}."
            )
        for name in ("importance", "base"):
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not _is_amount(number)):
                raise UsageError(f"rule for column {self.column!r}: {name}={number!r} is not a number of at least 0.")
        if not isinstance(self.ban, bool):
            raise UsageError(f"rule for column {self.column!r}: ban={self.ban!r} is neither true nor false.")
        if self.ban and self.base is not None:
            raise UsageError(
                f"rule for column {self.column!r}: a base cannot be a ban, because no group can break it. Remove ban."
            )

    @property
    def form(self) -> str:
        """The form of the rule."""
        return next(form for form in FORMS if getattr(self, form) is not None)

    @property
    def public_text(self) -> str:
        """Description of the rule without the values it names, which the release may not show."""
        return f"column {self.column!r}: {'ban, ' if self.ban else ''}{self.form}"

    def describe(self) -> str:
        """Describe the rule, including the values it names."""
        return f"column {self.column!r}: {'ban, ' if self.ban else ''}{self.form} {getattr(self, self.form)!r}"


def _is_list(form: object) -> bool:
    return isinstance(form, Collection) and not isinstance(form, str | bytes | Mapping)


def _is_set(side: Any) -> bool:
    """Say whether a side is a collection of values."""
    return _is_list(side) and all(isinstance(text, str | int | float) for text in side)


def _is_side(side: Any) -> bool:
    return isinstance(side, str | int | float) or _is_set(side)


def _is_bound(bound: Any) -> bool:
    return isinstance(bound, str | int | float | date) and not isinstance(bound, bool)


SIDES: dict[str, Callable[[Any], bool]] = {"apart": _is_side, "inflection": _is_bound, "range": _is_bound}
EXAMPLES = {
    "groupings": '[["White"], ["Black", "Asian"]]',
    "apart": '["White", "Black"]',
    "inflection": "[64, 65]",
    "range": "[12, 18]",
}


def _is_amount(number: Any) -> bool:
    """Return whether a number is 0 or more, and small enough for exact arithmetic."""
    if not isinstance(number, int | float | Fraction):
        return False
    amount = values.exact_fraction(number)
    return amount is not None and amount >= 0


def rule_from(content: Mapping[str, Any]) -> Rule:
    """Build a rule from plain values, as in shoal.toml.

    Raises:
        UsageError: A key is unknown, the column is missing, or the rule is malformed.
    """
    names = [f.name for f in fields(Rule)]
    unknown_keys = [key for key in content if key not in names]
    if unknown_keys or "column" not in content:
        fault = f"key {unknown_keys[0]!r} is unknown" if unknown_keys else "the column is missing"
        raise UsageError(f"a rule: {fault}. A rule has a column, an importance or ban, and one of {', '.join(FORMS)}.")
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
    return Rule(**plain)


@dataclass(frozen=True)
class Pair:
    """Two sets of codes of an attribute that no group should mix."""

    attribute: int
    rule: int
    one: NDArray[np.bool_]
    other: NDArray[np.bool_]


@dataclass(frozen=True)
class CompiledRules:
    """Rules over the codes of a table's attributes; a range counts as two rules.

    Attributes:
        pairs: A rule is kept as long as no group contains codes from both sides of one of its pairs.
        importances: Importance of each rule.
        attributes: Attribute of each rule.
        bases: Base of each attribute.
        bans: Whether each rule is a ban.
    """

    pairs: tuple[Pair, ...]
    importances: tuple[Fraction, ...]
    attributes: tuple[int, ...]
    bases: tuple[Fraction, ...]
    bans: tuple[bool, ...]

    def __bool__(self) -> bool:
        return bool(self.pairs)

    @property
    def banned(self) -> dict[int, list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]]:
        """By attribute, the pairs of sets of codes that no group may mix."""
        banned: dict[int, list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]] = {}
        for pair in self.pairs:
            if self.bans[pair.rule]:
                banned.setdefault(pair.attribute, []).append((pair.one, pair.other))
        return banned

    def sides(self, tuples: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return two bit sets for each tuple, with one bit for each pair: is the tuple on its one side, on its other?

        The bits of a group are the bitwise or of its tuples; the group breaks the pairs whose bits are set in both.
        """
        n_words = max(1, (len(self.pairs) + 63) // 64)
        sides = tuple(np.zeros((len(tuples), n_words), dtype=np.uint64) for _ in range(2))
        for p, pair in enumerate(self.pairs):
            bit = np.uint64(1) << np.uint64(p % 64)
            for words, mask in zip(sides, (pair.one, pair.other), strict=True):
                words[mask[tuples[:, pair.attribute]], p // 64] |= bit
        return sides[0], sides[1]

    def kept(self, broken: Collection[int], attribute: int) -> Fraction:
        """Return the share of an attribute's worth that remains when these rules are broken."""
        own = [(rule, worth) for rule, worth in enumerate(self.importances) if self.attributes[rule] == attribute]
        total = self.bases[attribute] + sum((worth for _, worth in own), Fraction(0))
        left = self.bases[attribute] + sum((worth for rule, worth in own if rule not in broken), Fraction(0))
        return left / total if total else Fraction(1)


def compile_rules(rules: Sequence[Rule], attributes: Sequence[Attribute]) -> CompiledRules:
    """Check rules against the attributes of a table and return them over its codes.

    Raises:
        UsageError: Rules do not fit the table; the message lists all problems.
    """
    names = [attribute.name for attribute in attributes]
    problems: list[str] = []
    pairs: list[Pair] = []
    importances: list[Fraction] = []
    owners: list[int] = []
    bans: list[bool] = []
    bases = [Fraction(0)] * len(names)
    for number, rule in enumerate(rules, 1):
        place = f"rule {number}, {rule.describe()}"
        if rule.column not in names:
            problems.append(f"{place}: not a quasi-identifier. The quasi-identifiers: {', '.join(map(repr, names))}.")
            continue
        at = names.index(rule.column)
        if rule.base is not None:
            bases[at] += Fraction(str(rule.base))
            continue
        try:
            parts = _parts(rule, attributes[at])
        except UsageError as error:
            problems.append(f"{place}: {error.text}")
            continue
        for part in parts:
            pairs += [Pair(at, len(importances), one, other) for one, other in part]
            importances.append(Fraction(str(rule.importance)))
            owners.append(at)
            bans.append(rule.ban)
    if problems:
        raise UsageError(join_problems(problems))
    return CompiledRules(tuple(pairs), tuple(importances), tuple(owners), tuple(bases), tuple(bans))


@dataclass(frozen=True)
class RuleVerdict:
    """How a release keeps a rule.

    Attributes:
        rule: Description of the rule, with the values it names; not for publication.
        importance: Weight of the rule among those of its column.
        broken_groups: Groups that break the rule.
        broken_rows: Rows of those groups.
        ban: Whether no group may break the rule.
    """

    rule: str
    importance: float
    broken_groups: int
    broken_rows: int
    ban: bool = False

    @property
    def kept(self) -> bool:
        """Whether no group breaks the rule."""
        return not self.broken_groups


def judge_rules(
    rules: Sequence[Rule],
    attributes: Sequence[Attribute],
    codes: NDArray[np.int32],
    labels: NDArray[np.int32],
    counts: NDArray[np.int64] | None = None,
) -> tuple[RuleVerdict, ...]:
    """Count the groups and rows that break each rule.

    Args:
        rules: The rules.
        attributes: The attributes of the table.
        codes: Codes of each row, or of each entry.
        labels: Group of each row or entry; negative for a suppressed one.
        counts: The number of rows of each entry; by default one.
    """
    kept = labels >= 0
    codes, labels, counts = codes[kept], labels[kept], None if counts is None else counts[kept]
    rows = np.bincount(labels, weights=counts).astype(np.int64)
    verdicts = []
    for rule in rules:
        if rule.base is not None:
            continue
        broken = np.zeros(len(rows), dtype=bool)
        for pair in compile_rules([rule], attributes).pairs:
            column = codes[:, pair.attribute]
            one, other = (np.bincount(labels, weights=side[column]) > 0 for side in (pair.one, pair.other))
            broken |= one & other
        verdicts.append(
            RuleVerdict(
                rule.describe(),
                float(rule.importance),
                broken_groups=int(broken.sum()),
                broken_rows=int(rows[broken].sum()),
                ban=rule.ban,
            )
        )
    return tuple(verdicts)


Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def _parts(rule: Rule, attribute: Attribute) -> list[list[Sides]]:
    """Return the elementary rules of a rule, each as the pairs of sides that break it."""
    if rule.apart is not None or rule.groupings is not None:
        if attribute.kind.is_measured:
            raise UsageError(f"the column is {attribute.kind}. Use inflection or range.")
        if rule.apart is not None:
            one, other = (_mask(side, attribute) for side in rule.apart)
            if (one & other).any():
                raise UsageError("a value is on both sides. Remove it from one.")
            return [[(one, other)]]
        return [_between(rule.groupings or (), attribute)]
    if attribute.kind is Kind.CATEGORICAL:
        raise UsageError("the column is categorical. Use apart or groupings.")
    low, high = (_number(bound, attribute) for bound in rule.inflection or rule.range or ())
    if not low < high:
        raise UsageError("the first value is not below the second. Put the lower value first.")
    present = np.arange(len(attribute.texts)) != attribute.missing
    numbers = np.zeros(len(present))
    numbers[: len(attribute.values)] = attribute.values
    if rule.inflection is not None:
        return [[(present & (numbers <= low), present & (numbers >= high))]]
    below, above = present & (numbers < low), present & (numbers > high)
    return [[(below, present & ~below)], [(present & ~above, above)]]


def _between(groupings: Sequence[Collection[str]], attribute: Attribute) -> list[Sides]:
    """Return each grouping against all other values; a value outside all groupings is a grouping of its own."""
    masks = [_mask(grouping, attribute) for grouping in groupings]
    memberships = np.sum(masks, axis=0) if masks else np.zeros(len(attribute.texts))
    if (memberships > 1).any():
        raise UsageError("a value is in two groupings. Remove it from one.")
    alone = [np.arange(len(attribute.texts)) == code for code in np.flatnonzero(memberships == 0)]
    return [(mask, ~mask) for mask in (*masks, *alone)]


def _mask(side: Values, attribute: Attribute) -> NDArray[np.bool_]:
    texts = [str(side)] if isinstance(side, str | int | float) else [str(text) for text in side]
    if attribute.kind is Kind.BOOLEAN:  # yes in any spelling
        wanted = {truth(values.normalise(text)) for text in texts}
        texts = [text for text in attribute.texts if truth(text) in wanted] if None not in wanted else texts
    absent = [text for text in map(values.normalise, texts) if text not in attribute.texts]
    if absent:
        raise UsageError(f"{', '.join(map(repr, sorted(absent)))}: not a value of the column. Check the spelling.")
    return np.isin(np.array(attribute.texts, dtype=object), [values.normalise(text) for text in texts])


def _number(bound: Bound, attribute: Attribute) -> float:
    """Return a bound as a number; a date in seconds, an ordered category as its rank.

    A date is a date, or its text in ISO format or in that of the column; a number may have the marks and the unit of
    the column.
    """
    kind, column = attribute.kind, attribute.column
    if kind is Kind.DATE and isinstance(bound, datetime):
        return (bound.replace(tzinfo=None) - datetime.min).total_seconds()
    text = bound.isoformat() if isinstance(bound, date) else values.normalise(str(bound))
    if kind is Kind.DATE:
        numbers, misfits = values.parse_dates([text], ISO)
    elif kind is Kind.NUMERIC:
        numbers, misfits = values.parse_numbers([text])
    else:
        numbers, misfits = [], [0]
    if misfits and column is not None:
        numbers, misfits = parse_texts(column, kind, [text])
    if misfits:
        allowed = {Kind.DATE: "a date such as 2020-12-31", Kind.ORDERED: "a value of the order"}.get(kind, "a number")
        raise UsageError(f"{str(bound)!r} is not {allowed}.")
    return float(numbers[0])
