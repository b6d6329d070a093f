"""The table as the search of shoaling sees it: codes, rows, and what it costs to put values together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import node_losses
from shoal.kernels.shoaling.prices import RECODINGS
from shoal.methods.base import Run
from shoal.methods.shoaling.bans import banned_pairs, check_bans, side_of
from shoal.methods.shoaling.model_terms import Requirement, find_requirement
from shoal.models import Distributions, PrivacyModel
from shoal.rules import CompiledRules, Pair, compile_rules

__all__ = ["Problem", "Recoding", "prepare"]

# Price of a row that has lost everything, or shares of it where bans cost more: twice of it fits 32 bits, and prices
# times rows 64.
FULL_PRICE = 2**29

Ints = NDArray[np.int32]


class Recoding(IntEnum):
    """How the values of an attribute are put together, with the numbers of the compiled code."""

    SET = RECODINGS["SET"]
    RANGE = RECODINGS["RANGE"]
    TREE = RECODINGS["TREE"]
    RULE = RECODINGS["RULE"]


@dataclass(frozen=True)
class Problem:
    """The table as the kernels see it: attributes in order of what a random pair costs, the dearest first.

    kinds: how each attribute is recoded: SET of its values, RANGE of its numbers or dates, or node of its TREE,
    whose codes stand in the order of its leaves. places: of each code of a range, how much of the price of the
    whole lies below it; of a tree, the price of the code together with the next. units: the price of a value of a
    set; of the whole of a range or tree. requirement: what the models require of a group; classes: what they know of
    the rows of each tuple. row_tuple: the tuple of each canonical row. bans: the side of each tuple in each pair of
    sides that no group may hold both of.
    """

    codes: Ints
    counts: NDArray[np.int64]
    places: Ints
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    units: Ints
    k: int
    classes: Ints
    requirement: Requirement
    row_tuple: Ints
    bans: Ints

    @property
    def free(self) -> bool:
        """Whether every group of k rows is allowed."""
        return self.requirement.size_only and not self.bans.shape[1]

    @property
    def prices(self) -> tuple[Ints, NDArray[np.int64], NDArray[np.uint8], Ints]:
        """What every kernel needs to price a set of tuples."""
        return self.places, self.offsets, self.kinds, self.units

    @property
    def required(self) -> tuple[int, Ints, Ints, NDArray[np.float64], NDArray[np.float64]]:
        """What every kernel needs to decide whether a group passes."""
        requirement = self.requirement
        return self.k, self.classes, requirement.positions, requirement.terms, requirement.facts

    def distances(self, one: int) -> NDArray[np.int64]:
        """Return the price of a row of each tuple together with one."""
        total = np.zeros(len(self.codes), dtype=np.int64)
        for a in range(self.codes.shape[1]):
            column = self.codes[:, a]
            places = self.places[self.offsets[a] : self.offsets[a + 1]]
            if self.kinds[a] == Recoding.RANGE:
                total += np.minimum(np.abs(places[column] - places[column[one]]), self.units[a])
            elif self.kinds[a] == Recoding.RULE:
                total += np.where(column + column[one] == 1, int(self.units[a]), 0)
            elif self.kinds[a] == Recoding.TREE:
                own = int(column[one])
                right = np.maximum.accumulate(np.append(0, places[own:-1]))
                left = np.maximum.accumulate(np.append(0, places[:own][::-1]))[:0:-1]
                total += np.append(left, right)[column]
            else:
                total += np.where(column != column[one], 2 * int(self.units[a]), 0)
        return total


def prepare(
    encoded: Encoded,
    k: int,
    models: tuple[PrivacyModel, ...] = (),
    run: Run | None = None,
    *,
    alpha: float = 0.5,
    distributions: Distributions | None = None,
) -> Problem:
    """Price the attributes by their weights, and the rules of the run.

    A group that breaks a rule pays, beside what it loses, the rule's share of the worth of its attribute: one that
    breaks all of them pays for the whole attribute once more. alpha balances the two: the loss counts 2 alpha times,
    the rules 2 - 2 alpha times. A group that breaks a ban pays twice what it would for losing everything.
    distributions: of the whole table, if `encoded` is a part of it.
    """
    run = run or Run()
    rules = compile_rules(run.rules, encoded.attributes)
    bans = banned_pairs(rules)
    most = FULL_PRICE // (1 + len(bans))
    requirement = find_requirement(encoded, models, distributions)
    whole, classes, counts, row_tuple = _distinct(encoded, requirement)
    shares = np.array([float(run.weights.get(attribute.name, 1)) for attribute in encoded.attributes])
    full, worth = (
        np.floor(most * (shares / shares.sum()) * part).astype(np.int64) for part in (2 * alpha, 2 - 2 * alpha)
    )
    priced = [_price(attribute, int(full[a])) for a, attribute in enumerate(encoded.attributes)]
    codes = [each.ranks[encoded.tuples[whole, a]] for a, each in enumerate(priced)]
    banned = [np.zeros((len(whole), 0), dtype=np.int64)]
    for pair in rules.pairs:
        ban, side = rules.bans[pair.rule], side_of(pair, encoded.tuples[whole, pair.attribute])
        unit = 2 * most if ban else _unit(rules, pair, int(worth[pair.attribute]))
        priced.append(Priced(Recoding.RULE, np.zeros(3, dtype=np.int32), unit, np.arange(3)))
        codes.append(side)
        banned += [side[:, None]] if ban else []
    sides = np.hstack(banned).astype(np.int32)
    check_bans(encoded.attributes, bans, sides, counts, k)
    dear = [each.mean_of_pairs(np.bincount(c, counts, len(each.ranks))) for each, c in zip(priced, codes, strict=True)]
    order = sorted(range(len(dear)), key=lambda a: (-dear[a], a))
    return Problem(
        codes=np.column_stack([codes[a] for a in order]).astype(np.int32),
        counts=counts,
        places=np.concatenate([priced[a].places for a in order]),
        offsets=np.cumsum([0, *(len(priced[a].places) for a in order)], dtype=np.int64),
        kinds=np.array([priced[a].kind for a in order], dtype=np.uint8),
        units=np.array([priced[a].unit for a in order], dtype=np.int32),
        k=k,
        classes=classes,
        requirement=requirement,
        row_tuple=row_tuple,
        bans=sides,
    )


def _unit(rules: CompiledRules, pair: Pair, worth: int) -> int:
    """Return what a group pays that breaks a pair, where all rules of its attribute are worth this much."""
    own = [each for each, owner in zip(rules.importances, rules.attributes, strict=True) if owner == pair.attribute]
    whole = rules.bases[pair.attribute] + sum(own)
    return int(worth * rules.importances[pair.rule] / whole) if whole else 0


def _distinct(encoded: Encoded, requirement: Requirement) -> tuple[Ints, Ints, NDArray[np.int64], Ints]:
    """Return the tuples that the search tells apart: the tuple of codes and the class of each, its rows, and the rows'.

    If the models do not tell rows apart, these are the distinct tuples of codes.
    """
    n_classes = len(requirement.positions)
    if n_classes == 1:
        every = np.arange(len(encoded.tuples), dtype=np.int32)
        return every, np.zeros(len(every), dtype=np.int32), encoded.counts, encoded.row_tuple
    keys = encoded.row_tuple.astype(np.int64) * n_classes + requirement.classes
    found, row_tuple, counts = np.unique(keys, return_inverse=True, return_counts=True)
    whole, classes = np.divmod(found, n_classes)
    return whole.astype(np.int32), classes.astype(np.int32), counts.astype(np.int64), row_tuple.astype(np.int32)


@dataclass(frozen=True)
class Priced:
    """An attribute and its prices. ranks: the code that each of its codes has in the search."""

    kind: Recoding
    places: Ints
    unit: int
    ranks: NDArray[np.int64]

    def mean_of_pairs(self, rows: NDArray[Any]) -> float:
        """Return about what two random rows cost together; rows: of each code."""
        if self.kind is Recoding.RANGE:
            below = np.cumsum(rows)[:-1] / rows.sum()
            return float((np.minimum(np.diff(self.places), self.unit) * below * (1 - below)).sum())
        unlike = 1 - float(((rows / rows.sum()) ** 2).sum())
        return unlike * (self.unit if self.kind is Recoding.SET else self.unit / 2)


def _price(attribute: Attribute, full: int) -> Priced:
    """Price an attribute whose whole costs this much."""
    n_codes = len(attribute.texts)
    ranks = np.arange(n_codes)
    if attribute.tree is not None:
        order = np.lexsort(attribute.tree.nodes)  # the leaves of each node side by side
        ranks[order] = np.arange(n_codes)
        pairs = np.column_stack([order[:-1], order[1:]]).ravel()
        above = attribute.tree.common(pairs, np.arange(0, len(pairs), 2))
        rises = np.floor(node_losses(attribute)[above] * full).astype(np.int32)
        return Priced(Recoding.TREE, np.append(rises, np.int32(0)), full, ranks)
    if attribute.ordered:
        return Priced(Recoding.RANGE, _places(attribute, full), full, ranks)
    return Priced(Recoding.SET, np.zeros(n_codes, dtype=np.int32), full // n_codes, ranks)


def _places(attribute: Attribute, full: int) -> Ints:
    """Return where each number lies in the range; a missing one so far out that any range to it costs the whole."""
    place = np.zeros(len(attribute.texts), dtype=np.int32)
    if attribute.ordered:
        n_known = attribute.missing if attribute.missing >= 0 else len(place)
        if attribute.span > 0:
            known = attribute.values[:n_known]
            place[:n_known] = np.floor((known - known[0]) / attribute.span * full)
        place[n_known:] = 2 * full
    return place
