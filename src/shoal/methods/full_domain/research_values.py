"""The research value of each level of each attribute: computed, or declared by an expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from shoal.errors import UsageError
from shoal.methods.full_domain.base import FullDomain, LatticeProblem
from shoal.methods.full_domain.objectives import row_counts
from shoal.methods.options import read_share
from shoal.metrics.research_value import Level, Research
from shoal.rules import compile_rules

__all__ = ["Researched", "Values", "rising_levels"]

# By ladder, the research value of each of its levels.
Values = list[list[Fraction]]


@dataclass(frozen=True)
class Researched(FullDomain):
    """A full-domain method with research values.

    Attributes:
        values: By attribute, the research value of each level from the value up; the root, which is 0, may be left out.
            For other attributes it is computed: weight times granularity times the share of the run's rules that is
            kept. The weights of all attributes sum to 1; without weights in the run they are equal.
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
    def research(self) -> Research:
        """How research values are made."""
        return Research(self.values, self.alpha)

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
        weights = {name: Fraction(problem.run.weights.get(name, 1)) for name in names}
        total = sum(weights.values()) or Fraction(1)
        values_by_ladder: Values = []
        for i, (ladder, rows) in enumerate(zip(problem.ladders, row_counts(problem), strict=True)):
            numbers = range(ladder.first, ladder.first + ladder.n_levels)
            declared = self.research.declared(ladder.name, ladder.height)
            if declared is not None:
                values_by_ladder.append([declared[number] for number in numbers])
                continue
            figures = ladder.figures if ladder.attribute.tree is not None else None
            levels = [
                Level(ladder.attribute, number, ladder.height, ladder.maps[place], ladder.nodes[place])
                for place, number in enumerate(numbers)
            ]
            weight = weights[ladder.name] / total
            values_by_ladder.append(
                [
                    level.value(weight, rows[place], rules, i, self.research, figures)
                    for place, level in enumerate(levels)
                ]
            )
        return values_by_ladder


def rising_levels(problem: LatticeProblem, values: Values) -> list[str]:
    """Return the attributes whose research value rises with a level; searches that expect it to fall may err."""
    return [
        ladder.name
        for ladder, levels in zip(problem.ladders, values, strict=True)
        if any(above > below for below, above in pairwise(levels))
    ]
