"""The research value of each level of each attribute: computed, or declared by an expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import UsageError, counted
from shoal.methods.full_domain.base import FullDomain, LatticeProblem
from shoal.methods.full_domain.levels import Ladder
from shoal.methods.full_domain.objectives import row_counts
from shoal.methods.options import read_share
from shoal.rules import CompiledRules, compile_rules
from shoal.schema import Kind

__all__ = ["Researched", "Values", "rising_levels"]

# By ladder, the research value of each of its levels.
Values = list[list[Fraction]]


@dataclass(frozen=True)
class Researched(FullDomain):
    """A full-domain method with research values.

    Attributes:
        values: By attribute, the research value of each level from the value up; the root, which is 0, may be left out.
            For other attributes it is computed: weight times granularity times the share of the run's rules that is
            kept. Without weights in the run, all attributes have equal weights with the sum 1.
        alpha: Balances granularity g against rules r, from 0 to 1: g^(2 alpha) * r^(2 - 2 alpha). At 0.5 this is the
            plain product.
    """

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.values, Mapping) or any(not isinstance(v, list | tuple) for v in self.values.values()):
            raise UsageError(f"{self.name}: values are given by attribute, a list for each, in shoal.toml or Python.")
        object.__setattr__(self, "alpha", read_share(self.name, "alpha", self.alpha))

    @property
    def needs_search(self) -> bool:
        """Whether the options ask for more than the goal: limits of the levels, or values of the levels."""
        return super().needs_search or bool(self.values)

    def research_values(self, problem: LatticeProblem) -> Values:
        """Return the research value of each level of each attribute; that of the root is 0."""
        names = [ladder.name for ladder in problem.ladders]
        unknown_names = sorted(set(self.values) - set(names))
        if unknown_names:
            listed = ", ".join(map(repr, names))
            raise UsageError(
                f"research values of {unknown_names[0]!r}: not a quasi-identifier. Quasi-identifiers: {listed}."
            )
        rules = compile_rules(problem.run.rules, [ladder.attribute for ladder in problem.ladders])
        weights = problem.run.weights or dict.fromkeys(names, Fraction(1, len(names)))
        values_by_ladder: Values = []
        for i, (ladder, rows) in enumerate(zip(problem.ladders, row_counts(problem), strict=True)):
            if ladder.name in self.values:
                values_by_ladder.append(_given(ladder, self.values[ladder.name]))
                continue
            levels = []
            for place in range(ladder.n_levels):
                worth = Fraction(0)
                if ladder.first + place < ladder.height:
                    kept = rules.kept(_broken(rules, i, ladder, place), i)
                    worth = _balanced(_granularity(ladder, place, rows[place]), kept, self.alpha)
                levels.append(Fraction(weights.get(ladder.name, 1)) * worth)
            values_by_ladder.append(levels)
        return values_by_ladder


def _broken(rules: CompiledRules, attribute: int, ladder: Ladder, place: int) -> set[int]:
    """Return the rules of an attribute that some group of a level breaks."""
    broken = set()
    for pair in rules.pairs:
        if pair.attribute == attribute:
            sides = np.zeros((2, len(ladder.nodes[place])), dtype=bool)
            for side, mask in zip(sides, (pair.one, pair.other), strict=True):
                side[ladder.maps[place][mask]] = True
            if sides.all(axis=0).any():
                broken.add(pair.rule)
    return broken


def _given(ladder: Ladder, values: Sequence[float]) -> list[Fraction]:
    numbers = [_exact(value) for value in values]
    if len(numbers) == ladder.height:
        numbers.append(Fraction(0))
    if len(numbers) != ladder.height + 1:
        raise UsageError(
            f"research values of {ladder.name!r}: found {counted(len(values), 'value')} for "
            f"{ladder.height + 1} levels. Pass one for each, from the value up; that of the root may be left out."
        )
    return numbers[ladder.first : ladder.first + ladder.n_levels]


def _exact(number: Fraction | float) -> Fraction:
    """Return the exact value of a decimal, so that 0.1 + 0.2 is 0.3."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _balanced(granularity: Fraction, kept: Fraction, alpha: float) -> Fraction:
    if alpha == 0.5:
        return granularity * kept
    return _exact(float(granularity) ** (2 * alpha) * float(kept) ** (2 - 2 * alpha))


def _granularity(ladder: Ladder, place: int, rows: NDArray[np.int64]) -> Fraction:
    """Return the granularity of a level, 1 at the value and less above; rows: the rows of each group."""
    attribute = ladder.attribute
    if ladder.first + place == 0:
        return Fraction(1)
    if attribute.kind is Kind.CATEGORICAL or attribute.column is None:
        return Fraction(len(ladder.nodes[place]), len(attribute.texts))
    resolution, values_shown = _resolution(attribute), Fraction(0)
    low, high = _ranges(ladder, place)
    for least, greatest, count in zip(low.tolist(), high.tolist(), rows.tolist(), strict=True):
        values_shown += count * ((_exact(greatest) - _exact(least)) / resolution + 1)
    return int(rows.sum()) / values_shown


def _resolution(attribute: Attribute) -> Fraction:
    """Return the step between neighbouring values: 1 for integers, a day for dates, else the smallest gap."""
    known_values = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
    step = 86400.0 if attribute.kind is Kind.DATE else 1.0
    if len(known_values) < 2 or not np.mod(known_values, step).any():
        return _exact(step)
    return _exact(float(np.diff(known_values).min()))


def _ranges(ladder: Ladder, place: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest number of each group: as its label declares, else those of its values.

    A group of missing values covers a single number.
    """
    attribute, groups, nodes = ladder.attribute, ladder.maps[place], ladder.nodes[place]
    known_values = np.arange(len(attribute.texts)) != attribute.missing
    low, high = np.full(len(nodes), np.inf), np.full(len(nodes), -np.inf)
    np.minimum.at(low, groups[known_values], attribute.values[known_values])
    np.maximum.at(high, groups[known_values], attribute.values[known_values])
    has_values = low <= high
    low, high = np.where(has_values, low, 0.0), np.where(has_values, high, 0.0)
    if attribute.tree is not None:
        declared = has_values & ~np.isnan(ladder.figures.low[nodes])
        low = np.where(declared, ladder.figures.low[nodes], low)
        high = np.where(declared, ladder.figures.high[nodes], high)
    return low, high


def rising_levels(problem: LatticeProblem, values: Values) -> list[str]:
    """Return the attributes whose research value rises with a level; searches that expect it to fall may err."""
    return [
        ladder.name
        for ladder, levels in zip(problem.ladders, values, strict=True)
        if any(above > below for below, above in pairwise(levels))
    ]
