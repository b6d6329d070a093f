"""Groups are pooled with their neighbours and grown again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.naive.exchanges import nearest
from tests.naive.shoaling import Block, agglomerate

N_NEAR = 8


def rebuild(block: Block, groups: Sequence[int], partners: int) -> list[list[int]]:
    """Pool each group with its nearest ones and grow new groups, kept if cheaper; a group may end up empty."""
    state = [[e for e in range(len(groups)) if groups[e] == g] for g in range(max(groups) + 1)]
    near, most, g = nearest(block, groups, N_NEAR), 4 * len(state) + 4, 0
    while g < len(state) < most:
        if state[g] and block.price(state[g]) > 0:
            state = grow_again(block, state, [g, *nearest_groups(state, near, g)[:partners]])
        g += 1
    return state


def nearest_groups(state: Sequence[Sequence[int]], near: Sequence[Sequence[int]], g: int) -> list[int]:
    """Return the other groups, ordered by how many near entries of the members belong to them."""
    group_of = {e: h for h, group in enumerate(state) for e in group}
    votes = Counter(group_of[other] for e in state[g] for other in near[e] if group_of[other] != g)
    return sorted(votes, key=lambda h: (-votes[h], h))


def grow_again(block: Block, state: list[list[int]], chosen: Sequence[int]) -> list[list[int]]:
    """Grow new groups of the members of the chosen groups; they reuse the numbers of these, then take new ones."""
    entries = sorted(e for g in chosen for e in state[g])
    people = [block.people[e] for e in entries] if block.people else ()
    pool = Block([block.codes[e] for e in entries], [block.rows[e] for e in entries], block.attributes, block.k, people)
    grown = [[entries[i] for i in group] for group in agglomerate(pool)]
    before = sum(block.cost(state[g]) for g in chosen)
    if not all(block.passes(group) for group in grown) or sum(block.cost(group) for group in grown) >= before:
        return state
    after = [[] if g in chosen else group for g, group in enumerate(state)]
    after += [[] for _ in range(len(grown) - len(chosen))]
    for g, group in zip([*chosen, *range(len(state), len(after))], grown, strict=False):
        after[g] = group
    return after
