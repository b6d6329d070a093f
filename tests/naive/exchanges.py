"""Simulated annealing: rows move between the groups of a block and swap places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

from tests.naive.shoaling import Block

WORD = 2**64 - 1
N_NEAR, N_TRIED, N_STAGES, DISSOLVE_RATE = 12, 8, 40, 16


@dataclass
class Stream:
    """Random numbers: SplitMix64 (Steele, Lea, Flood 2014)."""

    state: int

    def draw(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def draw_below(self, bound: int) -> int:
        return ((self.draw() >> 32) * bound) >> 32

    def threshold(self, temperature: float) -> float:
        """Draw by how much a proposal may increase the cost: roughly exponential, by chords between powers of two."""
        word, halvings = self.draw(), 0
        while word < 2**63 and halvings < 40:
            word, halvings = word << 1, halvings + 1
        return temperature * 0.6931471805599453 * (halvings + 1 - ((word << 1 & WORD) >> 12) / 2.0**52)


def nearest(block: Block, groups: Sequence[int], width: int) -> list[list[int]]:
    """Return the nearest entries of each entry, ties by lower number; none if its group costs nothing."""
    every = range(len(groups))
    costly = [block.price([e for e in every if groups[e] == g]) > 0 for g in range(max(groups) + 1)]
    near: list[list[int]] = []
    for e in every:
        others = [other for other in every if other != e] if costly[groups[e]] else []
        others = [other for other in others if not block.people or block.people[other] != block.people[e]]
        near.append(sorted(others, key=lambda other: (block.price([e, other]), other))[:width])
    return near


@dataclass
class School:
    """picks, rows, group: of each entry its tuple, rows and group, -1 for none; parts follow on the block's.

    members: of each group; vacant: groups that were given up and not founded again; room: for so many entries.
    """

    block: Block
    near: list[list[int]]
    room: int
    stream: Stream
    picks: list[int]
    rows: list[int]
    group: list[int]
    members: list[list[int]]
    vacant: list[int] = field(default_factory=list)

    # --- prices ---

    def price(self, entries: Sequence[int]) -> int:
        return self.block.price([self.picks[e] for e in entries]) if entries else 0

    def size(self, entries: Sequence[int]) -> int:
        return sum(self.rows[e] for e in entries)

    def passes(self, entries: Sequence[int]) -> bool:
        if self.block.people:
            return self.block.passes([self.picks[e] for e in entries])
        return self.size(entries) >= self.block.k and self.covers(entries)

    def covers(self, entries: Sequence[int]) -> bool:
        least = self.block.least_covered
        return not least or self.block.covered([self.picks[e] for e in entries]) >= least

    def cost(self, g: int) -> int:
        return self.size(self.members[g]) * self.price(self.members[g])

    def total(self) -> int:
        return sum(self.cost(g) for g in range(len(self.members)))

    def cost_with(self, g: int, e: int) -> int:
        return self.size([*self.members[g], e]) * self.price([*self.members[g], e])

    def without(self, e: int, rows: int) -> tuple[bool, int]:
        """Return whether a group passes after a number of rows of entry `e` have left, and what it costs then."""
        members = self.members[self.group[e]]
        stays = members if rows < self.rows[e] else [other for other in members if other != e]
        left = self.size(members) - rows
        passes = self.passes(stays) if self.block.people else left >= self.block.k and self.covers(stays)
        return passes, left * self.price(stays)

    def share(self, have: int, lender: int) -> int:
        """Return how many rows of the lender are needed: at least one, at most all; one if people count."""
        return min(1 if self.block.people else max(self.block.k - have, 1), self.rows[lender])

    def passes_with(self, entries: Sequence[int], lender: int, lent: int) -> bool:
        """Return whether entries pass together with some rows of a lender."""
        if self.block.people:
            return self.passes([*entries, lender])
        return self.size(entries) + lent >= self.block.k and self.covers([*entries, lender])

    # --- entries that come and go ---

    def put_in(self, g: int, e: int) -> None:
        self.members[g].append(e)
        self.group[e] = g

    def take_out(self, e: int) -> None:
        """Remove a member; the last member takes its place."""
        members = self.members[self.group[e]]
        members[members.index(e)] = members[-1]
        members.pop()
        self.group[e] = -1

    def part(self, e: int, rows: int) -> int:
        """Split some rows off as a new entry of the same group; return the entry itself if these are all."""
        if rows == self.rows[e]:
            return e
        new = len(self.rows)
        self.rows[e] -= rows
        self.rows.append(rows)
        self.picks.append(self.picks[e])
        self.group.append(-1)
        self.put_in(self.group[e], new)
        return new

    def new_group(self) -> int:
        if self.vacant:
            return self.vacant.pop()
        self.members.append([])
        return len(self.members) - 1

    # --- proposals ---

    def propose(self, temperature: float) -> None:
        """Draw an entry and a near one, and try to move the first into the group of the other."""
        high, low = divmod(self.stream.draw(), 2**32)
        e = (high * len(self.rows)) >> 32
        a, near = self.group[e], self.near[self.picks[e]]
        at = ((low * low >> 32) * N_NEAR) >> 32
        if self.price(self.members[a]) == 0 or at >= len(near) or self.group[near[at]] == a:
            return
        other = near[at]
        b = self.group[other]
        bound = self.stream.threshold(temperature)
        limit = self.cost(a) + self.cost(b) + bound
        left_passes, left_cost = self.without(e, self.rows[e])
        if not left_passes:
            is_final = not self.block.people or temperature == 0
            if (low & 255) * DISSOLVE_RATE * len(self.members[a]) < 256 and is_final:
                self.give_up(a, bound)
            elif self.price(self.members[b]) > 0 and low >> 8 & 3:
                self.swap(e, b, int(limit))
            elif len(self.rows) < self.room:
                self.move_and_refill(e, b, int(limit))
        elif len(self.rows) < self.room and self.found_group(e, other, limit):
            pass
        elif self.cost_with(b, e) + left_cost <= limit:
            self.take_out(e)
            self.put_in(b, e)

    def found_group(self, e: int, other: int, limit: float) -> bool:
        """Let `e` start a new group, alone or with rows that the group of the other entry can spare."""
        if self.passes([e]):
            self.take_out(e)
            self.put_in(self.new_group(), e)
            return True
        lent = self.share(self.rows[e], other)
        rest_passes, rest_cost = self.without(other, lent)
        if not self.passes_with([e], other, lent) or not rest_passes:
            return False
        cost = (self.rows[e] + lent) * self.price([e, other]) + self.without(e, self.rows[e])[1] + rest_cost
        if cost > limit:
            return False
        part = self.part(other, lent)
        self.take_out(part)
        self.take_out(e)
        g = self.new_group()
        self.put_in(g, e)
        self.put_in(g, part)
        return True

    def give_up(self, g: int, bound: float) -> None:
        """Move the members of a group one by one into nearby groups, if the cost stays within the bound."""
        limit, total = self.cost(g) + bound, 0
        group, members = list(self.group), [list(each) for each in self.members]
        leaving = list(self.members[g])
        for e in leaving:
            self.take_out(e)
        for e in leaving:
            hosts = [self.group[other] for other in self.near[self.picks[e]] if self.group[other] >= 0]
            added = [self.cost_with(h, e) - self.cost(h) for h in hosts]
            total += min(added, default=0)
            if not hosts or total > limit:
                self.group, self.members = group, members
                return
            self.put_in(hosts[added.index(min(added))], e)
        self.vacant.append(g)

    def move_and_refill(self, e: int, b: int, limit: int) -> None:
        """Move `e` to group `b`, and replace it by rows that another nearby group can spare."""
        a = self.group[e]
        if len(self.members[a]) < 2:
            return
        f = self.members[a][self.stream.draw_below(len(self.members[a]))]
        at, near = self.stream.draw_below(N_NEAR), self.near[self.picks[f]]
        if f == e or at >= len(near) or self.group[near[at]] in (a, b):
            return
        filler = near[at]
        stays = [member for member in self.members[a] if member != e]
        lent = self.share(self.size(stays), filler)
        rest_passes, rest_cost = self.without(filler, lent)
        if not self.passes_with(stays, filler, lent) or not rest_passes:
            return
        cost = self.cost_with(b, e) + (self.size(stays) + lent) * self.price([*stays, filler]) + rest_cost
        if cost > limit + self.cost(self.group[filler]):
            return
        part = self.part(filler, lent)
        self.take_out(e)
        self.take_out(part)
        self.put_in(a, part)
        self.put_in(b, e)

    def swap(self, e: int, b: int, limit: int) -> None:
        """Swap `e` with the best of some members of group `b`, if the cost of both groups stays within the limit."""
        a, size = self.group[e], len(self.members[b])
        start, best = self.stream.draw_below(size), -1
        for i in range(min(N_TRIED, size)):
            partner = self.members[b][(start + i) % size]
            left = [member for member in self.members[a] if member != e] + [partner]
            right = [member for member in self.members[b] if member != partner] + [e]
            if not self.passes(left) or not self.passes(right):
                continue
            cost = self.size(left) * self.price(left) + self.size(right) * self.price(right)
            if cost < limit or (cost == limit and best < 0):
                limit, best = cost, partner
        if best >= 0:
            self.take_out(e)
            self.take_out(best)
            self.put_in(a, best)
            self.put_in(b, e)


def start_school(block: Block, groups: Sequence[int], room: int, seed: int) -> School:
    every = range(len(groups))
    members = [[e for e in every if groups[e] == g] for g in range(max(groups) + 1)]
    near = nearest(block, groups, N_NEAR)
    return School(block, near, room, Stream(seed), list(every), list(block.rows), list(groups), members)


def anneal(block: Block, groups: Sequence[int], room: int, proposals: int, heat: float, seed: int) -> School:
    """Propose a number of moves and swaps for each entry; return the input if nothing cheaper is found.

    `heat` is the first temperature, in mean prices of a row times the square root of k.
    """
    school = start_school(block, groups, room, seed)
    before = school.total()
    if len(school.members) > 1 and before > 0:
        costly_rows = sum(school.size(group) for group in school.members if school.price(group) > 0)
        temperature = heat * sqrt(block.k) * (before / costly_rows)
        n_steps = proposals * len(groups) // N_STAGES
        for stage in range(N_STAGES):
            if stage * 100 >= N_STAGES * 85:
                temperature = 0.0
            for _ in range(n_steps):
                school.propose(temperature)
            temperature *= 0.935
    return school if school.total() < before else start_school(block, groups, room, seed)
