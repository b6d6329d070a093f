"""Shoaling by the sum of squares inside groups, compared with the least one and with MDAV."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries
from shoal.errors import UsageError
from shoal.methods import MDAV, Run, Shoaling, sections
from shoal.methods.sections import TupleSection, cut_by
from shoal.methods.shoaling.space import SMALLEST_SIDE, squared_cuts
from shoal.metrics.variance import coordinates_of, sum_of_squares
from shoal.models import KAnonymity, model_from
from tests.naive import spread
from tests.strategies import Sheet
from tests.unit.methods.plain import as_groups, sheets_and_k

VARIANCE = Shoaling(objective="variance", effort="fast")


def points_of(encoded: Encoded) -> tuple[list[spread.Point], list[float]]:
    points = coordinates_of(encoded)
    rows = [(tuple(points.places[t].tolist()), tuple(points.values[t].tolist())) for t in encoded.row_tuple.tolist()]
    return rows, points.units.tolist()


def numbers(seed: int, n_rows: int, n_columns: int = 3) -> Sheet:
    draw = random.Random(seed)
    names = [f"x{i}" for i in range(n_columns)]
    columns = {name: [f"{draw.gauss(draw.choice([0, 4]), 1):.2f}" for _ in range(n_rows)] for name in names}
    return Sheet(columns, dict.fromkeys(names, "numeric"))


@pytest.mark.parametrize("number", range(6))
def test_small_tables_reach_the_least_sum_of_squares(number: int) -> None:
    encoded = numbers(number, 8, 2).encoded
    labels = VARIANCE.partition(encoded, (KAnonymity(2 + number % 2),), Run()).labels
    points, units = points_of(encoded)
    least = spread.least_squares(points, units, 2 + number % 2)
    assert spread.squares(points, units, as_groups(labels)) == pytest.approx(least)


@given(drawn=sheets_and_k())
def test_measure_is_that_of_the_twin_up_to_the_grid(drawn: tuple[Sheet, int]) -> None:
    """Numbers, categories and missing values: the loss over that of one group."""
    sheet, k = drawn
    encoded = sheet.encoded
    partition = MDAV().partition(encoded, (KAnonymity(k),), Run())
    points, units = points_of(encoded)
    whole = spread.squares(points, units, [list(range(len(points)))])
    measured = sum_of_squares(encoded, partition.entries)
    expected = spread.squares(points, units, as_groups(partition.labels)) / whole if whole else 0.0
    assert measured == pytest.approx(expected, abs=1e-3)


def test_suppressed_rows_lose_everything() -> None:
    encoded = numbers(0, 20).encoded
    hidden = Entries.of_rows(encoded, np.full(20, -1, dtype=np.int32))
    assert sum_of_squares(encoded, hidden) == pytest.approx(1)
    assert sum_of_squares(encoded, Entries.of_rows(encoded, np.arange(20, dtype=np.int32))) == pytest.approx(0)


@pytest.mark.parametrize("k", [3, 10])
def test_loss_is_below_that_of_mdav_and_groups_are_small(k: int) -> None:
    encoded = numbers(1, 1200).encoded
    found, other = (m.partition(encoded, (KAnonymity(k),), Run()) for m in (VARIANCE, MDAV()))
    assert sum_of_squares(encoded, found.entries) < 0.9 * sum_of_squares(encoded, other.entries)
    assert found.entries.sizes().min() >= k
    assert found.entries.sizes().max() < 2 * k


def test_equal_rows_form_groups_that_lose_nothing() -> None:
    sheet = Sheet({"x": ["1"] * 7 + ["2"] * 9 + ["50"] * 3 + ["51"]}, {"x": "numeric"})
    labels = VARIANCE.partition(sheet.encoded, (KAnonymity(3),), Run()).labels
    assert as_groups(labels) == [[*range(7)], [*range(7, 16)], [*range(16, 20)]]


@pytest.mark.parametrize(
    "options",
    [
        {"models": [model_from({"name": "distinct-l", "column": "disease", "l": 2})]},
        {"person": "who"},
        {"max_width": {"age": "30"}},
        {"rules": [shoal.Rule("sex", apart=("f", "m"), ban=True)]},
        {"weights": {"age": 3}},
        {"suppression_limit": 0.1},
    ],
    ids=["model", "people", "limit", "ban", "weights", "suppression"],
)
def test_other_settings_are_honoured(options: dict[str, Any]) -> None:
    """The gate recounts every release."""
    draw = random.Random(3)
    table = {
        "age": [draw.randint(18, 90) for _ in range(200)],
        "sex": [draw.choice("fm") for _ in range(200)],
        "disease": [draw.choice(["flu", "cold", "gout"]) for _ in range(200)],
        "who": [f"p{i // 2}" for i in range(200)],
    }
    roles: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": ["disease"], "others": "drop"}
    release = shoal.anonymize(pl.DataFrame(table), k=4, options={"objective": "variance"}, **roles, **options)
    assert release.measures.sse is not None
    assert 0 < release.measures.sse < 0.5
    assert release.measures.smallest_group >= 4


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="non_overlapping"):
        Shoaling(objective="variance", non_overlapping=True)
    with pytest.raises(UsageError, match="ncp or variance"):
        Shoaling(objective="sse")
    frame = numbers(2, 30).frame
    rule = shoal.Rule("x0", inflection=(0, 1))
    with pytest.raises(UsageError, match="ban"):
        shoal.anonymize(frame, qi=["x0"], others="drop", k=3, rules=[rule], options={"objective": "variance"})


def in_sections(encoded: Encoded, largest: int) -> list[list[int]]:
    """Return the tuples of each section of a table."""
    pricing = VARIANCE.price(encoded, 2, Run())
    assert pricing.grid is not None
    grid, codes = pricing.grid, pricing.codes(encoded.tuples)
    whole = TupleSection(codes, np.diff(pricing.prices.offsets).tolist(), np.arange(len(codes)))
    tree = cut_by(whole, lambda histograms: squared_cuts(histograms, pricing, grid, largest), largest)
    return [section.tuples.tolist() for section, _ in tree.work(lambda section, number: (section, number))]


def gained(points: list[spread.Point], units: list[float], left: list[int], right: list[int]) -> list[float]:
    """Return what two sides take from the sum of squares of each column, compared with how even they are.

    The sums are those of the plain twin. A column is a coordinate or a category.
    """
    every = left + right
    sides = [list(range(len(left))), list(range(len(left), len(every)))]
    evenness = (len(left) * len(right)) ** 0.75 / len(every) ** 1.5
    found = []
    for place in range(2):
        for i in range(len(points[0][place])):
            own = [((points[t][0][i],), ()) if place == 0 else ((), (points[t][1][i],)) for t in every]
            unit = units[i : i + 1] if place else []
            taken = spread.squares(own, unit, [sides[0] + sides[1]]) - spread.squares(own, unit, sides)
            found.append(taken / evenness)
    return found


def most_gained(points: list[spread.Point], units: list[float], least: int) -> float:
    """Return the most that sides gain in the column that separates them.

    The most frequent values of a category are on one side.
    """
    best, every, column = 0.0, range(len(points)), 0
    for place in range(2):
        for i in range(len(points[0][place])):
            count = Counter(each[place][i] for each in points)
            order = sorted(count) if place == 0 else sorted(count, key=lambda value: (-count[value], value))
            for n in range(1, len(order)):
                left = [t for t in every if points[t][place][i] in order[:n]]
                right = [t for t in every if points[t][place][i] not in order[:n]]
                if min(len(left), len(right)) >= least:
                    best = max(best, gained(points, units, left, right)[column])
            column += 1
    return best


@pytest.mark.parametrize("number", range(6))
def test_a_section_is_cut_where_most_is_gained(number: int) -> None:
    """Every tuple counts once, and each column for itself."""
    draw = random.Random(number)
    columns = {
        "x": [f"{draw.choice([0, 30]) + draw.gauss(0, 9):.1f}" for _ in range(60)],
        "y": [f"{draw.paretovariate(1):.1f}" for _ in range(60)],
        "c": [draw.choice("aaaabbbcd" if number % 2 else "aaaab") for _ in range(60)],
    }
    encoded = Sheet(columns, {"x": "numeric", "y": "numeric", "c": "categorical"}).encoded
    grid = VARIANCE.price(encoded, 2, Run()).grid
    assert grid is not None
    points, units = points_of(encoded)
    points = [points[row] for row in np.unique(encoded.row_tuple, return_index=True)[1].tolist()]
    n = len(encoded.tuples)
    left, right = in_sections(encoded, n - 1)
    least = (n - 1) // SMALLEST_SIDE
    assert sorted(left + right) == list(range(n))
    assert min(len(left), len(right)) >= least
    assert max(gained(points, units, left, right)) == pytest.approx(most_gained(points, units, least))


def test_missing_numbers_may_be_a_side_of_their_own() -> None:
    """An outlier, which is too few tuples for a side, has nearly all of the variance of each number."""
    x = [""] * 20 + [f"{i % 7 + 50}" for i in range(39)] + ["-1000000"]
    sheet = Sheet({"x": x, "y": [f"{i}" for i in range(59)] + ["-1000000"]}, {"x": "numeric", "y": "numeric"})
    encoded = sheet.encoded
    missing = encoded.attributes[0].missing
    assert missing >= 0
    sides = [set((encoded.tuples[tuples, 0] == missing).tolist()) for tuples in in_sections(encoded, 45)]
    assert sides == [{False}, {True}]


def test_sections_lose_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes are those of the whole table."""
    encoded = numbers(2, 2000, 2).encoded
    one = sum_of_squares(encoded, VARIANCE.partition(encoded, (KAnonymity(3),), Run()).entries)
    assert len(in_sections(encoded, 700)) > 2
    monkeypatch.setattr(sections, "LARGEST_SECTION", 700)
    several = sum_of_squares(encoded, VARIANCE.partition(encoded, (KAnonymity(3),), Run()).entries)
    assert one < several < 1.05 * one
