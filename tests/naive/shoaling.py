"""The steps of shoaling on lists of entries: prices, agglomeration, trimming and dissolving groups.

An entry is a row of codes with a number of rows. Prices are integers, as in the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Number:
    """`places` of the codes; `whole` is the price of the full range, which is the maximum."""

    places: Sequence[int]
    whole: int


@dataclass(frozen=True)
class Category:
    """unit: the price of a value."""

    unit: int


@dataclass(frozen=True)
class Leaves:
    """`climbs` contains, for each leaf in order, its price together with the next leaf."""

    climbs: Sequence[int]


@dataclass(frozen=True)
class Sides:
    """unit: the price of codes 0 and 1 in one group."""

    unit: int


@dataclass(frozen=True)
class Reach:
    """`last`: for each code, the greatest that may share its group; unit: the price of a group that reaches further."""

    last: Sequence[int]
    unit: int


@dataclass(frozen=True)
class Count:
    """most: the largest number of codes of a group; unit: the price of a group with more."""

    most: int
    unit: int


@dataclass(frozen=True)
class Block:
    """`rows` of each entry; `k` is the minimum size of a group; `people` is the person of each entry if they count."""

    codes: Sequence[Sequence[int]]
    rows: Sequence[int]
    attributes: Sequence[Number | Category | Leaves | Sides | Reach | Count]
    k: int
    people: Sequence[int] = ()
    charge: int = 0  # what a group costs beside its rows, when groups are given up
    crowd: Sequence[tuple[Sequence[int], int]] = ()  # the population: twice the code in each attribute, and rows
    least_covered: int = 0  # rows of the population that the cells of a group cover

    def price(self, entries: Sequence[int]) -> int:
        """Return the price of a row of a group of these entries."""
        total = 0
        for a, attribute in enumerate(self.attributes):
            codes = {self.codes[e][a] for e in entries}
            if isinstance(attribute, Category):
                total += attribute.unit * len(codes) if len(codes) > 1 else 0
            elif isinstance(attribute, Sides):
                total += attribute.unit if {0, 1} <= codes else 0
            elif isinstance(attribute, Reach):
                total += attribute.unit if max(codes) > attribute.last[min(codes)] else 0
            elif isinstance(attribute, Count):
                total += attribute.unit if len(codes) > attribute.most else 0
            elif isinstance(attribute, Leaves):
                total += max(attribute.climbs[min(codes) : max(codes)], default=0)
            else:
                places = [attribute.places[code] for code in codes]
                total += min(max(places) - min(places), attribute.whole)
        return total

    def size(self, entries: Sequence[int]) -> int:
        return sum(self.rows[e] for e in entries)

    def cost(self, entries: Sequence[int]) -> int:
        return self.size(entries) * self.price(entries)

    def passes(self, entries: Sequence[int]) -> bool:
        size = len(self.persons(entries)) if self.people else self.size(entries)
        return size >= self.k and (not self.least_covered or self.covered(entries) >= self.least_covered)

    def covered(self, entries: Sequence[int]) -> int:
        """Return the rows of the population inside the cells of a group; a label covers all leaves below it."""
        total = 0
        for places, rows in self.crowd:
            inside = True
            for a, attribute in enumerate(self.attributes):
                codes = {self.codes[e][a] for e in entries}
                low, high = (min(codes), max(codes)) if codes else (1, 0)
                if isinstance(attribute, Leaves):
                    climb = max(attribute.climbs[low:high], default=-1)
                    while low > 0 and attribute.climbs[low - 1] <= climb:
                        low -= 1
                    while high + 1 < len(attribute.climbs) and attribute.climbs[high] <= climb:
                        high += 1
                if isinstance(attribute, Category):
                    inside &= places[a] in {2 * code for code in codes}
                elif not isinstance(attribute, Sides):
                    inside &= 2 * low <= places[a] <= 2 * high
            total += rows if inside else 0
        return total

    def persons(self, entries: Sequence[int]) -> set[int]:
        """Return the people of these entries; none if rows count."""
        return {self.people[e] for e in entries} if self.people else set()

    def added(self, entries: Sequence[int], e: int) -> int:
        """Return the cost that the entry adds to a group."""
        return self.cost([*entries, e]) - self.cost(entries)


def key(block: Block, left: Sequence[int], right: Sequence[int]) -> Fraction:
    """Return the loss of a row of both clusters by the merge."""
    both = [*left, *right]
    return block.price(both) - Fraction(block.cost(left) + block.cost(right), block.size(both))


def agglomerate(block: Block) -> list[list[int]]:
    """Merge the nearest pair until every cluster passes; the others join groups, if possible ones that still pass."""
    every = range(len(block.rows))
    groups = [[e] for e in every if block.passes([e])]
    clusters = {e: [e] for e in every if not block.passes([e])}
    while len(clusters) > 1:
        pairs = [(i, j) for i in clusters for j in clusters if i < j]
        pairs = [(i, j) for i, j in pairs if not block.persons(clusters[i]) & block.persons(clusters[j])]
        if not pairs:
            break
        i, j = min(pairs, key=lambda pair: (key(block, clusters[pair[0]], clusters[pair[1]]), pair))
        merged = clusters[i] + clusters.pop(j)
        clusters[i] = merged
        if block.passes(merged):
            del clusters[i]
            kept, back = trim(block, merged)
            groups.append(kept)
            clusters |= {e: [e] for e in back}
    for first in sorted(clusters):
        if not groups:
            groups.append(clusters[first])
            continue
        for e in clusters[first]:
            ranks = [(not block.passes([*group, e]), block.added(group, e)) for group in groups]
            groups[ranks.index(min(ranks))].append(e)
    return groups


def trim(block: Block, cluster: Sequence[int]) -> tuple[list[int], list[int]]:
    """Release one by one the entry whose removal lowers the price the most, while the rest passes."""
    kept, back = list(cluster), []
    while True:
        can_go = [e for e in kept if block.passes([other for other in kept if other != e])]
        if not can_go:
            return kept, back
        gone = min(can_go, key=lambda e: (block.price([other for other in kept if other != e]), e))
        kept.remove(gone)
        back.append(gone)


def dissolve(block: Block, groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Dissolve groups, the most expensive first, whose members cost less elsewhere; a dissolved group is empty."""
    state = [list(group) for group in groups]
    for g in sorted(range(len(state)), key=lambda g: (-block.cost(groups[g]), g)):
        trial = [list(group) for group in state]
        trial[g] = []
        total = 0
        for e in state[g]:
            hosts = [h for h in range(len(trial)) if trial[h]]
            if not hosts:
                break
            cheapest = min(hosts, key=lambda h: (block.added(trial[h], e), h))
            total += block.added(trial[cheapest], e)
            trial[cheapest].append(e)
        else:
            if total < block.cost(state[g]) + block.charge:
                state = trial
    return state
