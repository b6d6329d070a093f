"""Greedy k-member groups of a block (Byun, Kamra, Bertino, Li 2007); entries may be split."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.naive.shoaling import Block


@dataclass
class Gathering:
    """For each entry, its tuple (`picks`), its rows and its group; split-off parts follow the entries of the block."""

    block: Block
    picks: list[int]
    rows: list[int]
    groups: list[int | None]
    members: list[list[int]] = field(default_factory=list)

    def price(self, entries: list[int]) -> int:
        return self.block.price([self.picks[e] for e in entries])

    def size(self, entries: list[int]) -> int:
        return sum(self.rows[e] for e in entries)

    def cost(self, entries: list[int]) -> int:
        return self.size(entries) * self.price(entries)

    def put_in(self, g: int, e: int) -> None:
        self.groups[e] = g
        self.members[g].append(e)

    def part(self, e: int, rows: int) -> int:
        """Split some rows of an entry off as a new entry."""
        self.rows[e] -= rows
        self.picks.append(self.picks[e])
        self.rows.append(rows)
        self.groups.append(None)
        return len(self.rows) - 1


def gather_members(block: Block, room: int) -> Gathering:
    """Start each group far from the previous one and add the cheapest entries until it is ripe."""
    n = len(block.rows)
    state = Gathering(block, list(range(n)), list(block.rows), [None] * n)
    last = 0
    while True:
        free = [e for e in range(n) if state.groups[e] is None]
        if not free or (state.members and state.size(free) < block.k):
            break
        last = _gather_group(state, free, last, room)
    for e in free:
        added = [state.cost([*group, e]) - state.cost(group) for group in state.members]
        state.put_in(added.index(min(added)), e)
    return state


def _gather_group(state: Gathering, free: list[int], last: int, room: int) -> int:
    """Form a group of free entries and return the last one; of an entry with more rows than needed, use a part."""
    state.members.append([])
    g, group, k = len(state.members) - 1, state.members[-1], state.block.k
    e = min(free, key=lambda e: (-state.price([last, e]), e))
    while True:
        lacking = k - state.size(group)
        if state.rows[e] > lacking and len(state.rows) < room:
            state.put_in(g, state.part(e, lacking))
        else:
            state.put_in(g, e)
        rest = [other for other in free if state.groups[other] is None]
        if state.size(group) >= k or not rest:
            return e
        e = min(rest, key=lambda e: (state.price([*group, e]), e))
