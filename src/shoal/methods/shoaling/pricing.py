"""Integer prices of generalisation: what a row costs in a group, from the attributes of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.encoding.limits import Limited
from shoal.encoding.partition import node_losses
from shoal.kernels.shoaling.prices import RECODINGS
from shoal.methods.base import Run
from shoal.methods.shoaling.limits.bans import banned_pairs, check_bans, side_of
from shoal.metrics.association import Twin
from shoal.metrics.variance import Grid
from shoal.rules import CompiledRules, Pair, compile_rules

__all__ = ["FULL_PRICE", "Column", "Prices", "Pricing", "Recoding", "price_table"]

# Price of a fully suppressed row, or a fraction of it if bans cost more. Twice this price fits 32 bits, and a price
# times a number of rows fits 64 bits.
FULL_PRICE = 2**29

Ints = NDArray[np.int32]


class Recoding(IntEnum):
    """How the values of an attribute are generalised, with the numbers of the compiled code."""

    SET = RECODINGS["SET"]
    RANGE = RECODINGS["RANGE"]
    TREE = RECODINGS["TREE"]
    RULE = RECODINGS["RULE"]
    REACH = RECODINGS["REACH"]
    COUNT = RECODINGS["COUNT"]


class Prices(NamedTuple):
    """What a kernel needs to price a group; in the order of its arguments.

    Attributes:
        places: For each code of a range, the price of the stretch below it; for each code of a tree, the price of the
            code together with the next one; for each code of a limit, the greatest code that may share its group, or
            the largest number of values.
        offsets: Where the codes of each attribute begin in `places`, and one more at the end.
        kinds: The `Recoding` of each attribute. Codes of a tree are in the order of its leaves.
        units: The price of one value of a set, of the whole domain of a range or tree, or of breaking a rule or limit.
    """

    places: Ints
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    units: Ints


class Column(NamedTuple):
    """A column of the search: the code that each code of an attribute has in it."""

    attribute: int
    codes: NDArray[np.int64]


@dataclass(frozen=True)
class Pricing:
    """Prices of a whole table, and how its tuples become codes of the search.

    Attributes:
        prices: For the kernels; the columns whose random pairs cost most come first.
        columns: The columns of the search: the attributes and the rules.
        of_attributes: For each attribute, the place of its own column among these.
        bans: The side of each code in each pair of sides that no group may mix.
        breach: The least price of a group that breaks a ban or a limit; 0 if there are none.
        grid: The tuples as points, if the search lowers the sum of squares inside groups in place of prices.
    """

    prices: Prices
    columns: tuple[Column, ...]
    of_attributes: tuple[int, ...]
    bans: tuple[Column, ...]
    breach: int = 0
    grid: Grid | None = None

    def codes(self, tuples: Ints) -> Ints:
        """Return the codes that tuples have in the search."""
        return np.column_stack([codes[tuples[:, a]] for a, codes in self.columns]).astype(np.int32)

    def banned_sides(self, tuples: Ints) -> Ints:
        """Return the side of each tuple in each pair of sides that no group may mix."""
        sides = [codes[tuples[:, a]] for a, codes in self.bans]
        return np.column_stack([np.zeros((len(tuples), 0)), *sides]).astype(np.int32)


def price_table(
    attributes: Sequence[Attribute],
    histograms: Sequence[NDArray[Any]],
    k: int,
    run: Run,
    *,
    alpha: float = 0.5,
) -> Pricing:
    """Price the attributes of a table by their weights, and the rules of the run by their importance.

    A group that breaks a rule pays, beside its loss, the share of the rule in the importance of its attribute's rules:
    breaking all of them costs as much as suppressing the attribute. A group that breaks a ban pays twice the price of
    a fully suppressed row. A group also pays for the range of its twins, by their weights.

    Args:
        attributes: The quasi-identifiers.
        histograms: The number of rows of each code of each attribute in the whole table.
        k: The least group size, to refuse bans that cannot be kept.
        run: Its rules and weights.
        alpha: Balance of loss and rules: the loss counts 2 alpha times, the rules 2 - 2 alpha times.

    Raises:
        InfeasibleError: A ban leaves too few rows for a group.
    """
    rules = compile_rules(run.rules, attributes)
    bans = banned_pairs(rules)
    check_bans(attributes, bans, histograms, k)
    full_price = FULL_PRICE // (1 + len(bans) + 2 * len(run.limits))
    limit_of = {limit.place: limit for limit in run.limits}
    own_shares = [float(run.weights.get(attribute.name, 1)) for attribute in attributes]
    shares = np.array([*own_shares, *(float(twin.weight) for twin in run.twins)])
    loss_prices, rule_prices = (
        np.floor(full_price * (shares / shares.sum()) * part).astype(np.int64) for part in (2 * alpha, 2 - 2 * alpha)
    )
    priced = [
        _price(_in_bands(attribute, limit_of.get(a)), int(loss_prices[a]), limit_of.get(a))
        for a, attribute in enumerate(attributes)
    ]
    columns = [Column(a, each.ranks) for a, each in enumerate(priced)]
    for twin, price in zip(run.twins, loss_prices[len(attributes) :].tolist(), strict=True):
        priced.append(_price_twin(twin, price))
        columns.append(Column(twin.place, priced[-1].ranks))
    banned = []
    for pair in rules.pairs:
        column = Column(pair.attribute, side_of(pair, np.arange(len(pair.one))))
        unit = 2 * full_price if rules.bans[pair.rule] else _unit(rules, pair, int(rule_prices[pair.attribute]))
        priced.append(_Priced(Recoding.RULE, np.zeros(3, dtype=np.int32), unit, np.arange(3)))
        columns.append(column)
        if rules.bans[pair.rule]:
            banned.append(column)
    for limit in run.limits:
        for each in _price_limit(limit, 2 * full_price):
            priced.append(each)
            columns.append(Column(limit.place, each.ranks))
    pair_prices = [
        each.mean_of_pairs(np.bincount(codes, histograms[a], len(each.ranks)))
        for each, (a, codes) in zip(priced, columns, strict=True)
    ]
    order = sorted(range(len(priced)), key=lambda c: (-pair_prices[c], c))
    prices = Prices(
        places=np.concatenate([priced[c].places for c in order]),
        offsets=np.cumsum([0, *(len(priced[c].places) for c in order)], dtype=np.int64),
        kinds=np.array([priced[c].kind for c in order], dtype=np.uint8),
        units=np.array([priced[c].unit for c in order], dtype=np.int32),
    )
    breach = 2 * full_price if bans or run.limits else 0
    own = tuple(order.index(a) for a in range(len(attributes)))
    return Pricing(prices, tuple(columns[c] for c in order), own, tuple(banned), breach)


def _unit(rules: CompiledRules, pair: Pair, price: int) -> int:
    """Return what a group pays that breaks a pair; price: that of breaking all rules of the attribute."""
    own = [each for each, owner in zip(rules.importances, rules.attributes, strict=True) if owner == pair.attribute]
    total = rules.bases[pair.attribute] + sum(own)
    return int(price * rules.importances[pair.rule] / total) if total else 0


def _in_bands(attribute: Attribute, limit: Limited | None) -> Attribute:
    """Return an attribute of numbers or dates whose values are those of their bands."""
    if limit is None or limit.floor is None:
        return attribute
    values = attribute.values.copy()
    values[: len(attribute.known_values)] = limit.floor[: len(attribute.known_values)]
    return replace(attribute, values=values)


def _price_limit(limit: Limited, price: int) -> list[_Priced]:
    """Price the breach of a limit like that of a ban."""
    ranks, n_codes = limit.ranks, len(limit.ranks)
    priced = []
    if (limit.reach < n_codes - 1).any():
        priced.append(_Priced(Recoding.REACH, limit.reach.astype(np.int32), price, ranks))
    if limit.most:
        priced.append(_Priced(Recoding.COUNT, np.full(n_codes, limit.most, dtype=np.int32), price, np.arange(n_codes)))
    return priced


def _price_twin(twin: Twin, price: int) -> _Priced:
    """Price the range of a twin over its numbers, like that of an attribute over its values."""
    numbers, ranks = np.unique(twin.values, return_inverse=True)
    places = np.full(len(ranks), price, dtype=np.int32)
    places[: len(numbers)] = np.floor((numbers - numbers[0]) / (numbers[-1] - numbers[0]) * price)
    return _Priced(Recoding.RANGE, places, price, ranks)


@dataclass(frozen=True)
class _Priced:
    """An attribute or rule with its prices; ranks: the code that each of its codes has in the search."""

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


def _price(attribute: Attribute, price: int, limit: Limited | None = None) -> _Priced:
    """Price an attribute; price: that of its suppressed cell."""
    n_codes = len(attribute.texts)
    ranks = np.arange(n_codes)
    if attribute.tree is not None:
        order = np.lexsort(attribute.tree.nodes)  # puts the leaves of each node side by side
        ranks[order] = np.arange(n_codes)
        neighbours = np.column_stack([order[:-1], order[1:]]).ravel()
        above = attribute.tree.common(neighbours, np.arange(0, len(neighbours), 2))
        losses = node_losses(attribute)
        if limit is not None and limit.level:  # what lies below the finest level is lost in any case
            losses[attribute.tree.nodes[: limit.level + 1].ravel()] = 0.0
        rises = np.floor(losses[above] * price).astype(np.int32)
        return _Priced(Recoding.TREE, np.append(rises, np.int32(0)), price, ranks)
    if attribute.ordered:
        return _Priced(Recoding.RANGE, _places(attribute, price), price, ranks)
    return _Priced(Recoding.SET, np.zeros(n_codes, dtype=np.int32), price // n_codes, ranks)


def _places(attribute: Attribute, price: int) -> Ints:
    """Return where each number lies in its range; a missing value lies so far out that any range to it costs all."""
    places = np.zeros(len(attribute.texts), dtype=np.int32)
    n_known = attribute.missing if attribute.missing >= 0 else len(places)
    if attribute.span > 0:
        known_values = attribute.values[:n_known]
        places[:n_known] = np.floor((known_values - known_values[0]) / attribute.span * price)
    places[n_known:] = 2 * price
    return places
