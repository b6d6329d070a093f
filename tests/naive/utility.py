"""Utility-driven clustering and research value as in the thesis, with fractions [S1 chapter 2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, pairwise

Row = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """card: number of codes. values: the number behind each code (days of a date), None where missing. levels: of a
    tree. rules: importance and pairs of sets of codes that no group may mix."""

    card: int
    values: tuple[Fraction | None, ...] | None = None
    levels: tuple[tuple[int, ...], ...] | None = None
    weight: Fraction = Fraction(1)
    rules: tuple[tuple[Fraction, tuple[tuple[frozenset[int], frozenset[int]], ...]], ...] = ()
    base: Fraction = Fraction(0)

    @property
    def resolution(self) -> Fraction:
        """Return 1 for integers, else the smallest gap."""
        known = sorted({value for value in self.values or () if value is not None})
        if len(known) < 2 or all(value.denominator == 1 for value in known):
            return Fraction(1)
        return min(high - low for low, high in pairwise(known))

    def span(self, codes: set[int]) -> Fraction:
        """Return the number of values that a group with these codes covers."""
        if len(codes) == 1:
            return Fraction(1)
        if self.levels is not None:
            level = next(level for level in self.levels if len({level[code] for code in codes}) == 1)
            return Fraction(level.count(level[min(codes)]))
        if self.values is None:
            return Fraction(len(codes))
        inside = [self.values[code] for code in codes]
        known = [value for value in inside if value is not None]
        if len(known) < len(inside):
            return self.whole
        return (max(known) - min(known)) / self.resolution + 1

    @property
    def whole(self) -> Fraction:
        """Return the span of a suppressed cell."""
        if self.values is None or self.levels is not None:
            return Fraction(self.card)
        known = [value for value in self.values if value is not None]
        return (max(known) - min(known)) / self.resolution + 1 if known else Fraction(1)


@dataclass
class Group:
    """members: pairs of a tuple, by its number, and its rows. starred: the attributes that are suppressed."""

    members: list[tuple[int, int]]
    starred: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        return sum(rows for _, rows in self.members)


def balanced(granularity: Fraction, kept: Fraction, alpha: float) -> Fraction:
    """g^(2 alpha) * r^(2 - 2 alpha)."""
    if alpha == 0.5:
        return granularity * kept
    return Fraction(float(granularity) ** (2 * alpha) * float(kept) ** (2 - 2 * alpha))


def research_value(
    groups: Sequence[Group],
    dropped: int,
    tuples: Sequence[Row],
    attributes: Sequence[Attribute],
    alpha: float = 0.5,
) -> list[Fraction]:
    """RV of each attribute of a clustering; dropped: rows suppressed, which span everything and break no rule."""
    n_rows = sum(group.size for group in groups) + dropped
    values = []
    for a, attribute in enumerate(attributes):
        total = attribute.whole * dropped
        broken = set()
        for group in groups:
            codes = {tuples[number][a] for number, _ in group.members}
            if a in group.starred:
                total += attribute.whole * group.size
                continue
            total += attribute.span(codes) * group.size
            for r, (_, pairs) in enumerate(attribute.rules):
                if any(codes & one and codes & other for one, other in pairs):
                    broken.add(r)
        worth = attribute.base + sum((worth for worth, _ in attribute.rules), Fraction(0))
        kept = attribute.base + sum((w for r, (w, _) in enumerate(attribute.rules) if r not in broken), Fraction(0))
        share = kept / worth if worth else Fraction(1)
        values.append(attribute.weight * balanced(n_rows / total, share, alpha))
    return values


def subsets(q: int, suppress: str) -> list[frozenset[int]]:
    """Return the sets of attributes that a merge may suppress, smaller ones first."""
    if suppress != "attributes":
        return [frozenset()]
    return [frozenset(s) for s in chain.from_iterable(combinations(range(q), n) for n in range(q + 1))]


def overlap(one: Group, other: Group, tuples: Sequence[Row], attributes: Sequence[Attribute]) -> bool:
    """Return whether two groups share values of a visible attribute, and each has values of its own."""
    for a, attribute in enumerate(attributes):
        if a in one.starred | other.starred or attribute.levels is not None:
            continue
        codes = [{tuples[number][a] for number, _ in group.members} for group in (one, other)]
        if attribute.values is not None:
            if any(attribute.values[code] is None for side in codes for code in side):
                continue
            codes = [set(range(min(side), max(side) + 1)) for side in codes]
        if codes[0] & codes[1] and codes[0] - codes[1] and codes[1] - codes[0]:
            return True
    return False


def cluster(
    tuples: Sequence[Row],
    counts: Sequence[int],
    attributes: Sequence[Attribute],
    k: int,
    *,
    suppress: str = "nothing",
    room: int = 0,
    nested: bool = False,
    score: str = "whole",
    alpha: float = 0.5,
) -> tuple[list[Group], list[tuple[int, int]]]:
    """Return the groups and the suppressed pieces; `room` is the limit of suppressed rows."""
    groups = [Group([(number, rows)]) for number, rows in enumerate(counts)]
    dropped: list[tuple[int, int]] = []

    def total(made: Sequence[Group], more: int = 0) -> Fraction:
        gone = sum(rows for _, rows in dropped) + more
        return sum(research_value(made, gone, tuples, attributes, alpha), Fraction(0))

    def worth(union: Group, others: Sequence[Group]) -> Fraction:
        if score == "cluster":
            return sum(research_value([union], 0, tuples, attributes, alpha), Fraction(0))
        return total([*others, union])

    while any(group.size < k for group in groups):
        one = min((group for group in groups if group.size < k), key=lambda g: (g.size, g.members[0][0]))
        others = [group for group in groups if group is not one]
        offers = []
        for other in others:
            for starred in subsets(len(attributes), suppress):
                union = Group(sorted(one.members + other.members), starred)
                offers.append((worth(union, [g for g in others if g is not other]), other, union))
        most = max((offer[0] for offer in offers), default=Fraction(0))
        near = most * (1 - Fraction(1, 10**11)) if score == "cluster" or alpha != 0.5 else most
        best = [(other, union) for value, other, union in offers if value >= near]
        chosen = min(best, key=lambda pair: (len(pair[1].starred), pair[0].members[0][0]), default=None)
        if chosen is None or (
            suppress == "rows"
            and one.size <= room
            and total(others, one.size) > total([*(g for g in others if g is not chosen[0]), chosen[1]])
        ):
            dropped += one.members
            room -= one.size
            groups = others
            continue
        other, union = chosen
        groups = [group for group in others if group is not other]
        while nested and (crossing := [g for g in groups if overlap(union, g, tuples, attributes)]):
            more = min(crossing, key=lambda g: g.members[0][0])
            groups = [group for group in groups if group is not more]
            union = Group(sorted(union.members + more.members), union.starred)
        groups.append(union)
    return groups, dropped
