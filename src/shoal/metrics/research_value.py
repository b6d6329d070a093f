"""The research value of a column that is released on one level of its hierarchy: one definition for search and measure.

The value of a level is computed, or declared by an expert. Computed, it is the column's weight (weights sum to 1),
times the granularity of the level, times the share of the importance of the column's rules that the level keeps. Rows
that are suppressed do not change it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, attribute_dictionary
from shoal.encoding.dictionary import Dictionary, Distinct
from shoal.encoding.partition import SUPPRESSION
from shoal.errors import InputError, InternalError, UsageError, counted
from shoal.hierarchy.base import Hierarchy
from shoal.metrics.column_loss import ColumnLoss
from shoal.metrics.released_cells import OrderedReader, reader
from shoal.rules import CompiledRules
from shoal.schema import Column, Kind, Schema
from shoal.tables.table import Table

__all__ = ["LabelFigures", "Level", "Research", "Worth", "levels_of", "read_dictionary", "read_labels"]


@dataclass(frozen=True)
class Research:
    """How research values are made.

    Attributes:
        values: By attribute, the declared value of each level from the value up; the root, which is 0, may be left out.
        alpha: Balances granularity g against rules r, from 0 to 1: g^(2 alpha) * r^(2 - 2 alpha). At 0.5 this is the
            plain product.
    """

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    alpha: float = 0.5

    def declared(self, name: str, height: int) -> list[Fraction] | None:
        """Return the declared value of each level of an attribute, if there are declared values.

        Raises:
            UsageError: There are not as many values as levels.
        """
        if name not in self.values:
            return None
        numbers = [_exact(value) for value in self.values[name]]
        if len(numbers) == height:
            numbers.append(Fraction(0))
        if len(numbers) != height + 1:
            raise UsageError(
                f"research values of {name!r}: found {counted(len(self.values[name]), 'value')} for {height + 1} "
                "levels. Pass one for each, from the value up; that of the root may be left out."
            )
        return numbers

    def balanced(self, granularity: Fraction, kept: Fraction) -> Fraction:
        """Return granularity times the share of rules kept, balanced by alpha."""
        if self.alpha == 0.5:
            return granularity * kept
        return _exact(float(granularity) ** (2 * self.alpha) * float(kept) ** (2 - 2 * self.alpha))


@dataclass(frozen=True)
class Level:
    """One level of an attribute.

    Attributes:
        attribute: The attribute.
        number: The number of the level; 0 is the value.
        height: The number of the root.
        groups: The group of each code; groups are numbered without gaps.
        nodes: The node of the attribute's tree (level 0: the code) of each group; -1 for "*" without a tree.
    """

    attribute: Attribute
    number: int
    height: int
    groups: NDArray[np.int32]
    nodes: NDArray[np.int32]

    def value(
        self,
        weight: Fraction,
        rows: NDArray[np.int64],
        rules: CompiledRules | None,
        position: int,
        research: Research,
        figures: LabelFigures | None,
    ) -> Fraction:
        """Return the computed research value of the level; that of the root is 0.

        Args:
            weight: The weight of the attribute; the weights of all attributes sum to 1.
            rows: The rows of each group.
            rules: The rules over the codes.
            position: The position of the attribute among those of the rules.
            research: The balance of granularity and rules.
            figures: What the labels of the attribute's tree cover, if it has one.
        """
        if self.number == self.height:
            return Fraction(0)
        kept = rules.kept(self._broken(rules, position), position) if rules else Fraction(1)
        return weight * research.balanced(self._granularity(rows, figures), kept)

    def _broken(self, rules: CompiledRules, position: int) -> set[int]:
        """Return the rules of the attribute that some group of the level breaks."""
        broken = set()
        for pair in rules.pairs:
            if pair.attribute == position:
                sides = np.zeros((2, len(self.nodes)), dtype=bool)
                for side, mask in zip(sides, (pair.one, pair.other), strict=True):
                    side[self.groups[mask]] = True
                if sides.all(axis=0).any():
                    broken.add(pair.rule)
        return broken

    def _granularity(self, rows: NDArray[np.int64], figures: LabelFigures | None) -> Fraction:
        """Return the granularity of the level, 1 at the value and less above."""
        attribute = self.attribute
        if self.number == 0:
            return Fraction(1)
        if attribute.kind is Kind.CATEGORICAL or attribute.column is None:
            return Fraction(len(self.nodes), len(attribute.texts))
        resolution, values_shown = _resolution(attribute), Fraction(0)
        low, high = self._ranges(figures)
        for least, greatest, count in zip(low.tolist(), high.tolist(), rows.tolist(), strict=True):
            values_shown += count * ((_exact(greatest) - _exact(least)) / resolution + 1)
        return int(rows.sum()) / values_shown

    def _ranges(self, figures: LabelFigures | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the greatest number of each group: as its label declares, else those of its values.

        A group of missing values covers a single number.
        """
        attribute = self.attribute
        known_values = np.arange(len(attribute.texts)) != attribute.missing
        low, high = np.full(len(self.nodes), np.inf), np.full(len(self.nodes), -np.inf)
        np.minimum.at(low, self.groups[known_values], attribute.values[known_values])
        np.maximum.at(high, self.groups[known_values], attribute.values[known_values])
        has_values = low <= high
        low, high = np.where(has_values, low, 0.0), np.where(has_values, high, 0.0)
        if figures is not None:
            declared = has_values & ~np.isnan(figures.low[self.nodes])
            low = np.where(declared, figures.low[self.nodes], low)
            high = np.where(declared, figures.high[self.nodes], high)
        return low, high


def levels_of(attribute: Attribute) -> list[Level]:
    """Return the levels of an attribute; without a hierarchy these are the value and "*"."""
    codes = np.arange(len(attribute.texts), dtype=np.int32)
    table = [codes, np.full(len(codes), -1, dtype=np.int32)] if attribute.tree is None else attribute.tree.nodes
    levels = []
    for number, nodes_of_codes in enumerate(table):
        nodes, groups = np.unique(nodes_of_codes, return_inverse=True)
        levels.append(Level(attribute, number, len(table) - 1, groups.astype(np.int32), nodes))
    return levels


def _value_on_one_level(
    dictionary: Dictionary[Attribute],
    cells: Collection[str],
    weight: float,
    rules: CompiledRules | None,
    position: int,
    research: Research,
) -> float | None:
    """Return the research value of a column whose cells all lie on one level; None for other columns.

    The levels of a column without hierarchy, the value and "*", count only if they have declared values.

    Args:
        dictionary: The column of the original.
        cells: The distinct cells of the release.
        weight: The weight of the column; the weights of all quasi-identifiers sum to 1.
        rules: The rules over the codes.
        position: The position of the column among the quasi-identifiers.
        research: Declared values, and the balance of granularity and rules.
    """
    attribute = dictionary.meaning
    if attribute.tree is None and attribute.name not in research.values:
        return None
    tree_labels = (*attribute.texts, SUPPRESSION) if attribute.tree is None else attribute.tree.labels
    labels = np.array(tree_labels, dtype=object)
    level = next((each for each in levels_of(attribute) if set(cells) <= set(labels[each.nodes].tolist())), None)
    if level is None:
        return None
    declared = research.declared(attribute.name, level.height)
    if declared is not None:
        return float(declared[level.number])
    groups = level.groups[dictionary.values]
    rows = np.bincount(groups, weights=dictionary.distinct.counts, minlength=len(level.nodes)).astype(np.int64)
    return float(level.value(Fraction(weight), rows, rules, position, research, read_labels(attribute)))


def read_dictionary(
    table: Table, column: Column, schema: Schema, hierarchy: Hierarchy | None
) -> Dictionary[Attribute] | None:
    """Return the codes of a column; None if they cannot be made, as in a table with "*" as a value."""
    distinct = Distinct.of(table, column.name)
    try:
        return attribute_dictionary(column, distinct, markers=schema.missing, rule=hierarchy, unknown="top")
    except InputError:
        return None


@dataclass
class Worth:
    """What research values depend on besides the loss of each column.

    Attributes:
        weights: The weights of the quasi-identifiers.
        total_weight: Their sum.
        rules: The rules over their codes.
        research: Declared values, and the balance of granularity and rules.
        on_level: The research value of each column that is released on one level of its hierarchy.
    """

    weights: Mapping[str, float]
    rules: CompiledRules | None
    research: Research
    on_level: dict[str, float] = field(default_factory=dict)
    total_weight: float = field(init=False)

    def __post_init__(self) -> None:
        self.total_weight = sum(self.weights.values())

    def add(self, dictionary: Dictionary[Attribute] | None, cells: Collection[str], position: int) -> None:
        """Look at the distinct cells of a column."""
        if dictionary is None:
            return
        weight = self.weights[dictionary.name] / self.total_weight
        value = _value_on_one_level(dictionary, cells, weight, self.rules, position, self.research)
        if value is not None:
            self.on_level[dictionary.name] = value

    def value(self, name: str, loss: ColumnLoss, n_rows: int, position: int) -> float:
        """Return the research value of a column.

        Off the levels of a hierarchy, granularity is the number of rows over the number of values that they show.
        """
        if name in self.on_level:
            return self.on_level[name]
        if loss.starred == n_rows:
            return 0.0
        kept = self.rules.kept(loss.broken, position) if self.rules else Fraction(1)
        granularity = Fraction(n_rows / (n_rows + loss.spans))
        return self.weights[name] / self.total_weight * float(self.research.balanced(granularity, kept))


def _exact(number: Fraction | float) -> Fraction:
    """Return the exact value of a decimal, so that 0.1 + 0.2 is 0.3."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _resolution(attribute: Attribute) -> Fraction:
    """Return the step between neighbouring values: 1 for integers, a day for dates, else the smallest gap."""
    step = 86400.0 if attribute.kind is Kind.DATE else 1.0
    known_values = attribute.known_values
    if len(known_values) < 2 or not np.mod(known_values, step).any():
        return _exact(step)
    return _exact(float(np.diff(known_values).min()))


@dataclass(frozen=True)
class LabelFigures:
    """The figures of each node of an attribute's tree.

    Attributes:
        losses: The loss (NCP) of a cell that shows the node's label, as the measures read it.
        low: The least number that the label declares; NaN for a category, or if it cannot be read as a range.
        high: The greatest number that the label declares.
    """

    losses: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def read_labels(attribute: Attribute) -> LabelFigures:
    """Read the labels of an attribute's tree.

    Raises:
        InternalError: The attribute has no tree, or does not say how its cells are read.
    """
    if attribute.tree is None or attribute.column is None:
        raise InternalError(f"attribute {attribute.name!r} has no labels to read.")
    n_codes, labels = len(attribute.texts), attribute.tree.labels
    markers = (attribute.texts[attribute.missing],) if attribute.missing >= 0 else ()
    cells = reader(attribute.column, dict.fromkeys(attribute.texts, 1), None, markers, attribute.hierarchy)
    losses = np.zeros(len(labels))  # a code, which is a value, loses nothing
    low, high = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for node in range(n_codes, len(labels)):
        label = labels[node]
        loss = 0.0 if label in markers else cells.loss(label)
        losses[node] = 1.0 if loss is None else loss
        if isinstance(cells, OrderedReader) and (bounds := cells.bounds(label)) is not None:
            low[node], high[node] = bounds
    return LabelFigures(losses, low, high)
