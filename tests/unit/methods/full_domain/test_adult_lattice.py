"""On Adult with nine quasi-identifiers, the searches give what judging all 12,960 vectors gives."""

from __future__ import annotations

import os
from collections import defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.workloads import W8, find_adult
from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.methods import Run, named
from shoal.methods.full_domain.base import FullDomain, Judged, Problem
from shoal.methods.full_domain.frequency import MemoryEngine
from shoal.methods.full_domain.objectives import NAMES, objective
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

OBJECTIVES = [name for name in NAMES if name != "rv"]
K = 5
LIMITS = (Fraction(0), Fraction(1, 50))
Vector = tuple[int, ...]


@pytest.fixture(scope="module")
def encoded() -> Encoded:
    data = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[5] / "shared" / "data"))
    folder = next((f for f in (data / "hierarchies", data / "adult" / "hierarchies") if f.is_dir()), None)
    found = find_adult()
    if found is None or folder is None:
        pytest.skip("the Adult table and its hierarchies are not here (SHOAL_DATA)")
    kinds = {**W8, "salary": "categorical"}
    files = {name: folder / f"{'salary-class' if name == 'salary' else name}.csv" for name in kinds}
    rules = {name: hierarchy.read(path, column=name, trust=True) for name, path in files.items()}
    table = from_frame(pl.DataFrame({name: found[name] for name in kinds}))
    schema = Schema.build(table.names, {Role.QI: tuple(kinds)}, kinds={n: Kind(kind) for n, kind in kinds.items()})
    return encode(table, schema, rules)


def problem_of(encoded: Encoded, limit: Fraction) -> Problem:
    method = named("optimal")
    assert isinstance(method, FullDomain)
    return method.problem(MemoryEngine(encoded), (KAnonymity(K),), Run(suppression_limit=limit))


@pytest.fixture(scope="module")
def every(encoded: Encoded) -> dict[Fraction, dict[str, tuple[object, Vector]]]:
    """Judge every vector on the finest set, without any search; the best by limit and objective, and all that pass."""
    problems = {limit: problem_of(encoded, limit) for limit in LIMITS}
    ladders = problems[LIMITS[0]].ladders
    finest = MemoryEngine(encoded).finest()
    priced = {(limit, name): objective(name, problems[limit]) for limit in LIMITS for name in OBJECTIVES}
    best: dict[Fraction, dict[str, tuple[object, Vector]]] = defaultdict(dict)
    passing: dict[Fraction, list[Vector]] = defaultdict(list)
    for vector in product(*(range(ladder.n_levels) for ladder in ladders)):
        found = finest.rolled([ladder.maps[place] for ladder, place in zip(ladders, vector, strict=True)])
        failing = found.sizes < K
        judged = Judged(found, failing, int(found.sizes[failing].sum()))
        for limit, problem in problems.items():
            if judged.failing_rows > problem.most_suppressed:
                continue
            passing[limit].append(vector)
            for name in OBJECTIVES:
                rank = (priced[limit, name].price(vector, judged), sum(vector), vector)
                if name not in best[limit] or rank < best[limit][name][0]:  # type: ignore[operator]
                    best[limit][name] = (rank, vector)
    for limit in LIMITS:
        best[limit]["passing"] = (passing[limit], ())
    return best


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_optimal_is_the_best_of_all_vectors_of_adult(
    encoded: Encoded, every: dict[Fraction, dict[str, tuple[object, Vector]]], name: str, limit: Fraction
) -> None:
    """C26."""
    made = named("optimal", objective=name).partition(encoded, (KAnonymity(K),), Run(suppression_limit=limit))
    assert made.levels is not None
    assert tuple(made.levels.values()) == every[limit][name][1]
    assert int((made.labels < 0).sum()) <= limit * encoded.n_rows
    assert np.bincount(made.labels[made.labels >= 0]).min() >= K


@pytest.mark.slow
def test_incognito_finds_all_minimal_vectors_of_adult(
    encoded: Encoded, every: dict[Fraction, dict[str, tuple[object, Vector]]]
) -> None:
    passing = np.array(every[Fraction(0)]["passing"][0])
    below = (passing[:, None, :] <= passing[None, :, :]).all(axis=2).sum(axis=0)
    minimal = sorted(map(tuple, passing[below == 1].tolist()))
    made = named("incognito").partition(encoded, (KAnonymity(K),), Run())
    assert [tuple(levels.values()) for levels in made.facts["minimal"]] == minimal
