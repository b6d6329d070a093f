"""Chances of success against all ways counted in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.evaluate.feasibility import probability
from shoal.evaluate.feasibility.probability import Grid, exact_chance, least_rows, poisson_chance, small_share
from tests.naive import feasibility

# [S1] Table 12: attributes, k, rows, repetitions, printed rate, exact chance.
TABLE_12 = [
    (3, 3, 50, 50, 0.68, 0.7020),
    (3, 3, 75, 50, 1.00, 0.9760),
    (3, 5, 75, 50, 0.74, 0.7419),
    (3, 5, 100, 50, 1.00, 0.9719),
    (7, 5, 1200, 500, 0.00, 0.0021),
    (7, 5, 7500, 500, 1.00, 1.0),
    (12, 5, 30_000, 500, 0.00, 0.0),
    (12, 5, 100_000, 500, 1.00, 0.9982),
    (15, 5, 750_000, 200, 0.96, 0.9497),
    (18, 5, 2_000_000, 200, 0.00, 0.0),
]


@pytest.mark.parametrize(("attributes", "k", "rows", "repetitions", "printed", "exact"), TABLE_12)
def test_chances_are_those_of_s1_table_12(
    attributes: int, k: int, rows: int, repetitions: int, printed: float, exact: float
) -> None:
    """[S1] Table 12: the exact chance, and the printed rate is one that it makes likely."""
    from scipy.stats import binom

    found = exact_chance(Grid.even(2**attributes), rows, k)
    assert found == pytest.approx(exact, abs=6e-5)
    low, high = binom.ppf([0.0005, 0.9995], repetitions, found)
    assert low <= printed * repetitions <= high


GRIDS = {
    "even": [Fraction(1, 8)] * 8,
    "one cell": [Fraction(1)],
    "two": [Fraction(9, 10), Fraction(1, 10)],
    "skewed": [Fraction(w, 20) for w in (10, 4, 3, 1, 1, 1)],
    "crossed": [Fraction(a * b, 50) for a in (1, 4) for b in (1, 2, 3, 4)],
}


def grid(probabilities: list[Fraction]) -> Grid:
    whole = math.lcm(*(p.denominator for p in probabilities))
    return Grid.of_counts(np.array([int(p * whole) for p in probabilities], dtype=np.int64))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", [1, 2, 7, 20, 40])
@pytest.mark.parametrize("name", GRIDS)
def test_exact_chance_is_that_of_all_ways(name: str, rows: int, k: int) -> None:
    expected = float(feasibility.chance(GRIDS[name], rows, k))
    assert exact_chance(grid(GRIDS[name]), rows, k) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", GRIDS)
def test_share_of_rows_in_small_groups_is_that_of_all_ways(name: str) -> None:
    for rows, k in ((1, 2), (3, 5), (30, 1), (30, 4)):
        expected = float(feasibility.small_share(GRIDS[name], rows, k))
        assert small_share(grid(GRIDS[name]), rows, k) == pytest.approx(expected, abs=1e-12)


def test_poisson_chance_nears_the_exact_one_as_cells_grow_in_number() -> None:
    gaps = []
    for attributes, rows in ((3, 75), (7, 1800), (12, 83_000)):
        exact = exact_chance(Grid.even(2**attributes), rows, 5)
        assert exact is not None
        gaps.append(abs(poisson_chance(Grid.even(2**attributes), rows, 5) - exact))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.001


def test_grid_of_independent_columns_has_all_products() -> None:
    columns = [np.array([1, 4]), np.array([1, 2, 3, 4])]
    crossed, counted = Grid.crossed(columns), grid(GRIDS["crossed"])
    assert crossed.cells.sum() == counted.cells.sum() == 8
    for rows in (20, 60):
        assert exact_chance(crossed, rows, 3) == pytest.approx(exact_chance(counted, rows, 3), abs=1e-12)


def test_many_probabilities_are_gathered_and_no_longer_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [np.arange(1, 40), np.arange(1, 30), np.arange(3, 9)]
    fine = Grid.crossed(columns)
    monkeypatch.setattr(probability, "MOST_PROBABILITIES", 100)
    coarse = Grid.crossed(columns)
    assert coarse.gathered
    assert not fine.gathered
    assert coarse.cells.sum() == fine.cells.sum()
    assert coarse.cells @ coarse.probabilities == pytest.approx(1)
    assert exact_chance(coarse, 10**7, 5) is None
    assert poisson_chance(coarse, 10**7, 5) == pytest.approx(poisson_chance(fine, 10**7, 5), abs=1e-4)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("wanted", [0.2, 0.95])
def test_least_rows_are_those_from_which_on_the_chance_holds(name: str, wanted: float) -> None:
    k = 3
    found = least_rows(grid(GRIDS[name]), k, wanted)
    assert found is not None
    rows, by = found
    assert by == "exact"
    chance = {n: exact_chance(grid(GRIDS[name]), n, k) for n in range(k - 1, rows + 200)}
    assert all(value is not None and value >= wanted for n, value in chance.items() if n >= rows)
    before = chance[rows - 1]
    assert before is not None
    assert before < wanted


def test_least_rows_of_too_many_cells_are_not_found() -> None:
    assert least_rows(Grid.even(2**80), 5, 0.95) is None
    assert least_rows(Grid.even(2**40), 5, 0.95) == (46865218433820, "poisson")
