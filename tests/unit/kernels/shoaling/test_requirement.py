"""Terms of models in the kernels: the values that a block lacks count as well, and each twin asks the definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.kernels.shoaling.starts.agglomerate import agglomerate
from shoal.kernels.shoaling.starts.mixed_cuts import cut_mixed
from shoal.methods.shoaling.problem import Problem, prepare
from shoal.models import PrivacyModel
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.naive import mixing as naive_mixing
from tests.naive import models
from tests.naive import shoaling as naive
from tests.unit.kernels.shoaling.problems import block_of, twin
from tests.unit.kernels.shoaling.test_twins import as_sets

Values = Sequence[int | None]
Fails = Callable[[Values, Values], bool]

N_ROWS, K = 130, 2
COSTS = range(100)
PATHS: dict[object, Sequence[str]] = {
    **{cost: (f"{cost // 10}x", f"{cost // 50}xx", "*") for cost in COSTS},
    None: ("", "", "*"),
}


@dataclass(frozen=True)
class Case:
    """A model of the column of costs, and its definition."""

    model: PrivacyModel
    fails: Fails
    categories: bool = False


def far(distance: Callable[..., Fraction], t: Fraction, *more: object) -> Fails:
    return lambda group, everyone: distance(group, everyone, *more) > t


CASES = {
    "distinct": Case(shoal.LDiversity("cost", 3), lambda group, _: models.fails_distinct(group, 3)),
    "largest": Case(
        shoal.AlphaK("cost", Fraction(2, 5), 2), lambda group, _: models.fails_alpha_k(group, Fraction(2, 5), 2)
    ),
    "entropy": Case(
        shoal.EntropyLDiversity("cost", Fraction(5, 2)), lambda group, _: models.fails_entropy(group, Fraction(5, 2))
    ),
    "recursive": Case(
        shoal.RecursiveLDiversity("cost", Fraction(2), 2),
        lambda group, _: models.fails_recursive(group, Fraction(2), 2),
    ),
    "ordered": Case(
        shoal.TCloseness("cost", Fraction(1, 5)), far(models.ordered_distance, Fraction(1, 5), [*COSTS, None])
    ),
    "equal": Case(
        shoal.TCloseness("cost", Fraction(4, 5), "equal"), far(models.equal_distance, Fraction(4, 5)), categories=True
    ),
    "hierarchical": Case(
        shoal.TCloseness("cost", Fraction(11, 20), "hierarchical"),
        far(models.hierarchical_distance, Fraction(11, 20), PATHS),
        categories=True,
    ),
    "gain": Case(
        shoal.BetaLikeness("cost", Fraction(12)),
        lambda group, everyone: models.fails_beta_likeness(group, everyone, Fraction(12), False),
    ),
    "both sides": Case(
        shoal.DeltaDisclosure("cost", Fraction(3)),
        lambda group, everyone: models.fails_delta_disclosure(group, everyone, Fraction(3)),
    ),
}
every_case = pytest.mark.parametrize("name", CASES)


@lru_cache
def table(number: int, categories: bool, n_costs: int) -> tuple[Encoded, Values]:
    """A random table with hardly any ties, and the cost of each of its canonical rows."""
    draw = np.random.default_rng(number)
    spread = draw.permutation(100)[:n_costs]
    costs = [str(cost) for cost in draw.choice(spread, N_ROWS)]
    for row in draw.integers(0, N_ROWS, 5).tolist():
        costs[row] = "" if n_costs > 10 else costs[row]
    columns = {"x": draw.integers(0, 10**6, N_ROWS).astype(str), "y": draw.integers(0, 8, N_ROWS).astype(str)}
    kinds = {"x": Kind.NUMERIC, "y": Kind.CATEGORICAL, "cost": Kind.CATEGORICAL if categories else Kind.NUMERIC}
    schema = Schema.build(["x", "y", "cost"], {Role.QI: ["x", "y"], Role.SENSITIVE: ["cost"]}, kinds=kinds)
    paths = hierarchy.from_dict({str(cost): PATHS[cost] for cost in COSTS})
    hierarchies = {"cost": paths} if categories else {}
    encoded = encode(from_frame(pl.DataFrame({**columns, "cost": costs})), schema, hierarchies)
    (column,) = encoded.sensitive
    texts = [None if code == column.missing else int(column.texts[code]) for code in range(len(column.texts))]
    return encoded, [texts[code] for code in column.codes.tolist()]


def pose(name: str, number: int) -> tuple[Problem, list[int | None], Values]:
    """Return a problem, the cost of each of its entries, and all costs."""
    encoded, costs = table(number, CASES[name].categories, 4 if name == "both sides" else 100)
    made = prepare(encoded, K, (CASES[name].model,))
    of_entry: list[int | None] = [None] * len(made.codes)
    for row, entry in enumerate(made.row_tuple.tolist()):
        of_entry[entry] = costs[row]
    return made, of_entry, costs


@every_case
@pytest.mark.parametrize("number", range(3))
def test_part_of_a_table_grows_under_the_distribution_of_all_rows(name: str, number: int) -> None:
    made, costs, everyone = pose(name, number)
    draw = np.random.default_rng(number)
    kept = np.sort(draw.permutation(len(made.codes))[: 24 if name != "both sides" else 40])

    class Part(naive.Block):
        def passes(self, entries: Sequence[int]) -> bool:
            group = [costs[kept[e]] for e in entries for _ in range(self.rows[e])]
            return self.size(entries) >= K and not CASES[name].fails(group, everyone)

    whole = twin(made)
    part = Part([whole.codes[e] for e in kept], [whole.rows[e] for e in kept], whole.attributes, K)
    block = block_of(made)
    block = replace(
        block,
        codes=np.ascontiguousarray(block.codes[kept]),
        classes=block.classes[kept],
        rows=block.rows[kept],
        groups=np.arange(len(kept), dtype=np.int32),
    )
    labels = np.empty(len(kept), dtype=np.int32)
    agglomerate(block, labels)
    assert as_sets(labels) == sorted(sorted(group) for group in naive.agglomerate(part))
    assert len(as_sets(labels)) > 1


@every_case
def test_table_is_cut_under_the_distribution_of_all_rows(name: str) -> None:
    """Parts of an eighth of the table number their places anew."""
    made, costs, everyone = pose(name, 5)
    block = twin(made)

    def passes(entries: Sequence[int]) -> bool:
        group = [costs[e] for e in entries for _ in range(block.rows[e])]
        return block.passes(entries) and not CASES[name].fails(group, everyone)

    order, marks = np.arange(len(costs), dtype=np.int32), np.zeros(len(costs), dtype=np.uint8)
    asked = made.requirement
    cut_mixed(
        made.codes,
        made.counts,
        made.classes,
        made.people,
        *made.prices,
        made.k,
        asked.positions,
        asked.terms,
        asked.facts,
        asked.steps,
        order,
        marks,
    )
    groups = [sorted(part.tolist()) for part in np.split(order, np.flatnonzero(marks)[1:])]
    expected = naive_mixing.cut_mixed(block, made.classes.tolist(), passes)
    assert groups == [sorted(group) for group in expected]
    assert len(groups) > 1
