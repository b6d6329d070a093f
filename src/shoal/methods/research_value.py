"""The research value of each level of each attribute: computed, or given by the expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding import Attribute
from shoal.errors import UsageError
from shoal.methods.full_domain import FullDomain, Problem
from shoal.methods.levels import Ladder
from shoal.methods.objectives import row_counts
from shoal.methods.rules import Rule, kept_share, parse_rules
from shoal.metrics.cells import OrderedReader, reader
from shoal.schema import Kind

__all__ = ["Researched", "Values", "research_values", "rising_levels"]

# The values of a group, and the least and the greatest number that it covers, None where it covers none.
Content = tuple[list[str], tuple[float, float] | None]
# By ladder, the research value of each of its levels.
Values = list[list[Fraction]]


@dataclass(frozen=True)
class Researched(FullDomain):
    """A full-domain method that knows research values.

    values: by attribute, the research value of each level from the value up (the root may be left out: it is 0).
    For the others it is computed: weights by attribute (all alike, in sum 1, where none are given); rules and the base
    value that an attribute keeps when all its rules are broken; alpha in [0, 1] balances granularity g against rules r:
    g^(2 alpha) * r^(2 - 2 alpha), so that 0.5 is the plain product.
    """

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    rules: Sequence[Rule | str | Mapping[str, Any]] = ()
    base: float = 0
    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rules", tuple(rule.spec() for rule in parse_rules(self.rules)))
        object.__setattr__(self, "weights", _numbers(self.weights))
        try:
            object.__setattr__(self, "base", float(self.base))
            object.__setattr__(self, "alpha", float(self.alpha))
        except ValueError:
            raise UsageError(f"{self.name}: base and alpha must be numbers.") from None
        if self.base < 0 or not 0 <= self.alpha <= 1:
            raise UsageError(f"{self.name}: base must be from 0 on, and alpha from 0 to 1.")

    def research_values(self, problem: Problem) -> Values:
        """Return the research value of each level of each attribute."""
        names = {ladder.name for ladder in problem.ladders}
        told = {*self.values, *self.weights, *(rule.column for rule in parse_rules(self.rules))}
        strange = sorted(told - names)
        if strange:
            raise UsageError(f"{self.name}: {strange[0]!r} is not a quasi-identifier. They are: {', '.join(names)}.")
        return research_values(self, problem)


def _numbers(given: Mapping[str, float] | str) -> dict[str, float]:
    """Read numbers by attribute: a mapping, or a text such as age=2,zip=0.5."""
    if isinstance(given, str):
        given = {name.strip(): number for name, _, number in (part.rpartition("=") for part in given.split(","))}  # type: ignore[misc]
    try:
        numbers = {str(name): float(number) for name, number in given.items()}
    except ValueError:
        raise UsageError("weights: write name=number for each attribute, as in age=2,zip=0.5.") from None
    if any(number < 0 for number in numbers.values()):
        raise UsageError("weights: a weight is a number from 0 on.")
    return numbers


def research_values(method: Researched, problem: Problem) -> Values:
    """Return the research value of each level; the root has none."""
    rules = parse_rules(method.rules)
    found: Values = []
    for ladder, rows in zip(problem.ladders, row_counts(problem), strict=True):
        if ladder.name in method.values:
            found.append(_given(ladder, method.values[ladder.name]))
            continue
        weight = _exact(method.weights.get(ladder.name, 0 if method.weights else Fraction(1, len(problem.ladders))))
        own = [rule for rule in rules if rule.column == ladder.name]
        cells = _reader(ladder.attribute)
        levels = []
        for place in range(ladder.n_levels):
            if ladder.first + place == ladder.height:
                levels.append(Fraction(0))
                continue
            groups = _contents(ladder, place, cells)
            kept = kept_share(own, groups, _exact(method.base))
            granularity = _granularity(ladder.attribute, groups, rows[place])
            levels.append(weight * _balanced(granularity, kept, method.alpha))
        found.append(levels)
    return found


def _given(ladder: Ladder, values: Sequence[float]) -> list[Fraction]:
    numbers = [_exact(value) for value in values]
    if len(numbers) == ladder.height:
        numbers.append(Fraction(0))
    if len(numbers) != ladder.height + 1:
        raise UsageError(
            f"research values of {ladder.name!r}: {len(values)} are given, but it has {ladder.height + 1} levels. Give "
            "one for each, from the value up; that of the root may be left out."
        )
    return numbers[ladder.first : ladder.first + ladder.n_levels]


def _exact(number: Fraction | float) -> Fraction:
    """Take a number as it is written, so that 0.1 + 0.2 is 0.3."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _balanced(granularity: Fraction, kept: Fraction, alpha: float) -> Fraction:
    if alpha == 0.5:
        return granularity * kept
    return _exact(float(granularity) ** (2 * alpha) * float(kept) ** (2 - 2 * alpha))


def _granularity(attribute: Attribute, groups: Sequence[Content], rows: NDArray[np.int64]) -> Fraction:
    """Return how fine a level is: 1 at the value, less above; rows: of each group."""
    if attribute.kind is Kind.CATEGORICAL:
        return Fraction(len(groups), len(attribute.texts))
    resolution = _resolution(attribute)
    whole = Fraction(0)
    for (_, span), count in zip(groups, rows.tolist(), strict=True):
        one = span is None or span[0] == span[1]
        whole += count * (1 if one or span is None else (_exact(span[1]) - _exact(span[0])) / resolution + 1)
    return int(rows.sum()) / whole


def _resolution(attribute: Attribute) -> Fraction:
    """Return the step between neighbouring values: 1 of whole numbers, a day of dates, else the smallest gap."""
    known = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
    step = 1.0 if attribute.kind is Kind.NUMERIC else 86400.0
    if len(known) < 2 or not np.mod(known, step).any():
        return _exact(step)
    return _exact(float(np.diff(known).min()))


def _contents(ladder: Ladder, place: int, cells: OrderedReader | None) -> list[Content]:
    """Return the values of each group of a level, and the least and the greatest number that its label covers."""
    attribute = ladder.attribute
    members: list[list[int]] = [[] for _ in ladder.nodes[place]]
    for code, group in enumerate(ladder.maps[place].tolist()):
        members[group].append(code)
    contents = []
    for group, codes in enumerate(members):
        label = attribute.tree.labels[ladder.nodes[place][group]] if attribute.tree and ladder.first + place else None
        contents.append(([attribute.texts[code] for code in codes], _span(attribute, cells, codes, label)))
    return contents


def _span(
    attribute: Attribute, cells: OrderedReader | None, codes: list[int], label: str | None
) -> tuple[float, float] | None:
    if cells is None:
        return None
    known = [float(attribute.values[code]) for code in codes if code != attribute.missing]
    if not known:
        return None
    declared = cells.bounds(label) if label is not None else None
    return declared or (min(known), max(known))


def _reader(attribute: Attribute) -> OrderedReader | None:
    if attribute.kind is Kind.CATEGORICAL or attribute.column is None:
        return None
    missing = (attribute.texts[attribute.missing],) if attribute.missing >= 0 else ()
    found = reader(attribute.column, dict.fromkeys(attribute.texts, 1), None, missing, attribute.hierarchy)
    return found if isinstance(found, OrderedReader) else None


def rising_levels(problem: Problem, values: Values) -> list[str]:
    """Name the attributes whose research value rises with a level: a search that trusts it to fall may err."""
    return [
        ladder.name
        for ladder, levels in zip(problem.ladders, values, strict=True)
        if any(above > below for below, above in pairwise(levels))
    ]
