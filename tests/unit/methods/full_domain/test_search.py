"""Incognito and optimal against trying every vector; limits of levels; what is said where no vector passes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.partition import Partition
from shoal.errors import InfeasibleError, UsageError
from shoal.methods import Run, named
from shoal.methods.full_domain.base import FullDomain
from shoal.methods.full_domain.frequency import MemoryEngine
from shoal.methods.full_domain.lattice import Lattice
from shoal.methods.full_domain.objectives import NAMES
from shoal.models import Groups, KAnonymity, LDiversity, PrivacyModel
from tests.naive import lattice as naive
from tests.unit.methods.full_domain.made import hierarchies, make, plain

OBJECTIVES = [name for name in NAMES if name != "rv"]


def solve(encoded: Encoded, k: int, limit: Fraction = Fraction(0), *more: PrivacyModel, **options: object) -> Partition:
    method = named(str(options.pop("method", "optimal")), **options)
    return method.partition(encoded, (KAnonymity(k), *more), Run(suppression_limit=limit))


def levels(made: Partition) -> tuple[int, ...]:
    assert made.levels is not None
    return tuple(made.levels.values())


@pytest.mark.parametrize("limit", [Fraction(0), Fraction(1, 20), Fraction(1, 5)])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_optimal_is_the_best_of_all_vectors(objective: str, k: int, limit: Fraction, seed: int) -> None:
    """C26."""
    rows, encoded, _ = make(seed)
    expected = naive.best(rows, plain(rows), k, int(limit * len(rows)), objective)
    made = solve(encoded, k, limit, objective=objective)
    assert levels(made) == expected
    gone = int((made.labels < 0).sum())
    assert gone == naive.failing_rows(rows, plain(rows), expected, k)
    assert min(Counter(made.labels[made.labels >= 0].tolist()).values()) >= k


@pytest.mark.parametrize("limit", [Fraction(0), Fraction(1, 20), Fraction(1, 5)])
@pytest.mark.parametrize("k", [2, 4, 9])
def test_incognito_finds_all_minimal_vectors(k: int, limit: Fraction, seed: int) -> None:
    rows, encoded, _ = make(seed)
    expected = naive.minimal(naive.passing(rows, plain(rows), k, int(limit * len(rows))))
    made = solve(encoded, k, limit, method="incognito")
    assert [tuple(found.values()) for found in made.facts["minimal"]] == expected
    assert levels(made) == min(expected, key=lambda v: (sum(v), v))


def test_incognito_chooses_by_any_objective(seed: int) -> None:
    rows, encoded, _ = make(seed)
    minimal = naive.minimal(naive.passing(rows, plain(rows), 3, 0))
    for objective in OBJECTIVES:
        best = min(minimal, key=lambda v: (naive.price(rows, plain(rows), v, 3, objective), sum(v), v))
        assert levels(solve(encoded, 3, method="incognito", objective=objective)) == best


def test_objective_is_what_the_release_is_measured_by(seed: int) -> None:
    """NCP of the vector chosen is that of the released cells."""
    rows, encoded, schema = make(seed)
    made = solve(encoded, 3, Fraction(1, 20), objective="ncp")
    shown = decode(encoded, made, schema).table.frame
    frame = {name: [row[i] for row in rows] for i, name in enumerate(("zip", "age", "sex", "job"))}
    import polars as pl

    measured = shoal.measure(
        pl.DataFrame(frame),
        shown,
        qi=list(frame),
        numeric=["age"],
        categorical=["zip", "sex", "job"],
        hierarchies=hierarchies(),
    )
    price = naive.price(rows, plain(rows), levels(made), 3, "ncp")
    assert measured.ncp == pytest.approx(float(price / (4 * len(rows))), abs=1e-12)


def test_levels_stay_between_minimum_and_maximum(seed: int) -> None:
    rows, encoded, _ = make(seed)
    options = {"minimum": "age=1", "maximum": {"zip": 2, "sex": 0}}
    allowed = [v for v in naive.passing(rows, plain(rows), 2, 0) if v[1] >= 1 and v[0] <= 2 and v[2] == 0]
    for method in ("optimal", "incognito"):
        made = solve(encoded, 2, method=method, objective="height", **options)
        assert levels(made) == min(allowed, key=lambda v: (sum(v), v))


def test_models_are_judged_on_the_groups_of_each_vector(seed: int) -> None:
    """A vector passes if each of its groups has two values of the sensitive column; tried on every vector."""
    rows, encoded, _ = make(seed)
    ills = {tuple(row): set() for row in rows}
    column = encoded.sensitive[0]
    ill_of = [column.texts[code] for code in column.codes.tolist()]
    original = [tuple(a.texts[c] for a, c in zip(encoded.attributes, t, strict=True)) for t in encoded.tuples]
    cells = [original[t] for t in encoded.row_tuple.tolist()]
    assert set(cells) == set(ills)

    def diverse(vector: tuple[int, ...]) -> bool:
        groups: dict[tuple[str, ...], list[str]] = {}
        for group, ill in zip(naive.released(cells, plain(rows), vector), ill_of, strict=True):
            groups.setdefault(group, []).append(ill)
        return all(len(set(found)) >= 2 and len(found) >= 2 for found in groups.values())

    every = naive.passing(rows, plain(rows), 1, 0)
    expected = naive.minimal([v for v in every if diverse(v)])
    made = solve(encoded, 2, Fraction(0), LDiversity("ill", l=2), method="incognito")
    assert [tuple(found.values()) for found in made.facts["minimal"]] == expected


def test_pruning_never_trusts_a_model_that_is_not_monotone(seed: int) -> None:
    """A made-up model that general vectors may fail: the best vector is still found."""

    class Odd(KAnonymity):
        monotone = False  # type: ignore[assignment]
        closed = False  # type: ignore[assignment]
        size_only = False  # type: ignore[assignment]

        def failing(self, groups: Groups) -> np.ndarray:
            return np.asarray(groups.sizes % 5 == 0)

    rows, encoded, _ = make(seed)
    columns = plain(rows)

    def passes(vector: tuple[int, ...]) -> bool:
        sizes = Counter(naive.released(rows, columns, vector)).values()
        return all(size >= 2 and size % 5 for size in sizes)

    found = [v for v in naive.passing(rows, columns, 2, 0) if passes(v)]
    for objective in OBJECTIVES:
        if not found:
            with pytest.raises(InfeasibleError):
                solve(encoded, 2, Fraction(0), Odd(2), objective=objective)
            continue
        best = min(found, key=lambda v: (naive.price(rows, columns, v, 2, objective), sum(v), v))
        assert levels(solve(encoded, 2, Fraction(0), Odd(2), objective=objective)) == best
    with pytest.raises(UsageError, match="Use optimal"):
        solve(encoded, 2, Fraction(0), Odd(2), method="incognito")


def test_refusal_names_the_nearest_levels_and_their_price() -> None:
    """H-exit 4: what was asked, what would do, and what it costs."""
    _, encoded, _ = make(0)
    with pytest.raises(InfeasibleError) as refused:
        solve(encoded, 5, maximum={"zip": 1, "age": 1, "sex": 1, "job": 1})
    text = str(refused.value)
    assert "k-anonymity with k = 5 cannot be met" in text
    assert "The nearest levels that pass: zip " in text
    assert "loss (NCP) 0." in text
    assert "Allow a maximum of " in text
    raised = dict(part.split("=") for part in text.partition("a maximum of ")[2].split(", or")[0].split(", "))
    limits = {"zip": 1, "age": 1, "sex": 1, "job": 1} | {name: int(level) for name, level in raised.items()}
    assert solve(encoded, 5, maximum=limits).levels is not None
    share = text.rpartition("suppression limit of ")[2].rstrip(".")
    assert solve(encoded, 5, Fraction(share), maximum={"zip": 1, "age": 1, "sex": 1, "job": 1}).n_groups


def test_refusal_without_a_way_says_so() -> None:
    class Never(KAnonymity):
        size_only = False  # type: ignore[assignment]

        def failing(self, groups: Groups) -> np.ndarray:
            return np.ones(groups.n_groups, dtype=bool)

        def obstacle(self, whole: Groups) -> str:
            return ""

    _, encoded, _ = make(0)
    for method in ("optimal", "incognito", "rv-hybrid"):
        with pytest.raises(InfeasibleError, match=r"60 of 60 rows are in groups that fail.*No level can mend that"):
            solve(encoded, 2, Fraction(0), Never(2), method=method)


@pytest.mark.parametrize("limits", ["age=9", {"age": -1}, "agee=1", "age"])
def test_wrong_limits_of_levels_are_refused(limits: object) -> None:
    _, encoded, _ = make(0)
    with pytest.raises(UsageError, match="levels"):
        solve(encoded, 2, minimum=limits)


def test_datafly_raises_the_widest_attribute_first() -> None:
    """Age has most values and goes up first, then zip; one row is left over, and the smallest group hides it."""
    rows, encoded, _ = make(4)
    made = solve(encoded, 2, Fraction(1, 5), method="datafly")
    assert made.levels == {"zip": 2, "age": 2, "sex": 0, "job": 1}
    assert naive.failing_rows(rows, plain(rows), levels(made), 2) == 1
    assert int((made.labels < 0).sum()) == 5


def test_datafly_needs_a_limit_for_what_it_suppresses() -> None:
    _, encoded, _ = make(4)
    text = (
        r"would suppress 5 of 60 rows.*suppression limit of 0\.0834, or use optimal, which passes with the levels zip"
    )
    with pytest.raises(InfeasibleError, match=text):
        solve(encoded, 2, method="datafly")
    assert solve(encoded, 2, Fraction("0.0834"), method="datafly").n_groups


def test_lattice_marks_spread_one_way() -> None:
    lattice = Lattice((3, 4, 2))
    asked = []

    def passes(vector: tuple[int, ...]) -> bool:
        asked.append(vector)
        return sum(vector) >= 3

    lattice.settle(passes)
    for index in range(24):
        vector = lattice.vector(index)
        assert lattice.index(vector) == index
        assert (lattice.mark(vector) == 1) == (sum(vector) >= 3)
    assert len(asked) == len(set(asked)) < 24
    assert lattice.minimal() == sorted(v for v in map(lattice.vector, range(24)) if sum(v) == 3)


def test_large_lattices_are_searched_without_a_mark_for_each_vector(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Branch and bound gives what the walk gives."""
    rows, encoded, _ = make(seed)
    monkeypatch.setattr("shoal.methods.full_domain.search.MOST_VECTORS", 3)
    for objective in ("ncp", "height", "precision", "entropy"):
        for limit in (Fraction(0), Fraction(1, 10)):
            expected = naive.best(rows, plain(rows), 3, int(limit * len(rows)), objective)
            assert levels(solve(encoded, 3, limit, objective=objective)) == expected
    with pytest.raises(UsageError, match="too many for an objective that depends on the sizes of groups"):
        solve(encoded, 3, objective="dm")


def test_sets_of_levels_are_those_of_the_table(seed: int) -> None:
    """Every roll-up, from whatever set, equals counting the released cells."""
    rows, encoded, _ = make(seed)
    method = named("optimal")
    assert isinstance(method, FullDomain)
    problem = method.problem(MemoryEngine(encoded), (KAnonymity(2),), Run())
    for vector in naive.passing(rows, plain(rows), 1, 0)[:: 1 + seed]:
        sizes = sorted(Counter(naive.released(rows, plain(rows), vector)).values())
        assert sorted(problem.sets.at(vector).sizes.tolist()) == sizes
