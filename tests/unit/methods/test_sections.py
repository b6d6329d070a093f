"""Sections of a large table: cut by counts alone, searched one by one, joined to one release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.methods import Run, Shoaling, sections
from shoal.methods.base import failing_groups
from shoal.methods.sections import Tree, TupleSection, cut_by, priced_cuts
from shoal.methods.shoaling.problem import Problem, prepare
from shoal.models import KAnonymity, PrivacyModel
from tests.losses import total_loss
from tests.naive import blocks as naive
from tests.unit.kernels.shoaling.problems import problem, twin
from tests.unit.kernels.shoaling.problems import table as distinct_rows
from tests.unit.methods.shoaling.test_model_terms import MODELS, table

SMALL = 60  # tuples


@pytest.fixture
def small_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", SMALL)


def whole_of(posed: Problem) -> TupleSection:
    return TupleSection(posed.codes, np.diff(posed.prices.offsets).tolist(), np.arange(len(posed.codes)))


def leaves(tree: Tree[TupleSection]) -> list[list[int]]:
    return [section.tuples.tolist() for section in tree.leaves()]


def priced(section: TupleSection, posed: Problem, largest: int) -> list[list[int]]:
    """Return the sections of a table, cut where prices say."""
    return leaves(cut_by(section, lambda histograms: priced_cuts(histograms, posed.prices, largest), largest))


@pytest.mark.parametrize("largest", [8, 16])
@pytest.mark.parametrize("number", range(12))
def test_sections_are_those_of_the_plain_twin(number: int, largest: int) -> None:
    """Numbers, categories, hierarchies, rules and limits; every tuple counts once, however many rows it has."""
    posed = problem(number, n_rows=60)
    tuples = len(posed.codes)
    block = replace(twin(posed), rows=[1] * tuples)
    factors = [1.0] * posed.codes.shape[1]
    expected = naive.cut_blocks(block, [1] * tuples, factors, largest, largest // sections.SMALLEST_SHARE)
    found = priced(whole_of(posed), posed, largest)
    assert found == expected
    assert len(found) > 2


def test_no_section_is_smaller_than_a_share_of_the_largest(seed: int) -> None:
    posed = prepare(table(seed, 2000), 3)
    sizes = [len(leaf) for leaf in priced(whole_of(posed), posed, 80)]
    assert min(sizes) >= 10
    assert max(sizes) <= 80


def test_tuples_that_no_column_tells_apart_stay_together() -> None:
    """With a class each, equal codes are several tuples that no cut separates."""
    posed = problem(0)
    alike = TupleSection(posed.codes[[3] * 40], np.diff(posed.prices.offsets).tolist(), np.arange(40))
    assert priced(alike, posed, 8) == [list(range(40))]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.usefixtures("small_sections")
def test_groups_pass_the_models_of_the_whole_table(model: PrivacyModel, seed: int) -> None:
    """Closeness and likeness compare a group with all rows, not with those of its section."""
    encoded, models = table(seed, 400), (KAnonymity(3), model)
    made = Shoaling("fast").partition(encoded, models, Run(seed=seed))
    assert len(encoded.tuples) > 2 * SMALL
    assert not failing_groups(encoded, models, made.labels).any()


def test_sections_lose_little(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices are those of the whole table, so that the groups of a section are as good as those of the table."""
    encoded, models = distinct_rows(seed, 1200), (KAnonymity(3),)
    one = total_loss(encoded, Shoaling("fast").partition(encoded, models, Run()))
    monkeypatch.setattr(sections, "LARGEST_SECTION", 400)
    posed = prepare(encoded, 3)
    assert len(priced(whole_of(posed), posed, 400)) > 3
    assert total_loss(encoded, Shoaling("fast").partition(encoded, models, Run())) < 1.05 * one


def test_table_of_the_largest_section_is_not_cut(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, models = table(seed, 300), (KAnonymity(3),)
    before = Shoaling().partition(encoded, models, Run()).labels
    n_tuples = len(encoded.tuples)
    monkeypatch.setattr(sections, "LARGEST_SECTION", n_tuples)
    assert (Shoaling().partition(encoded, models, Run()).labels == before).all()
    monkeypatch.setattr(sections, "LARGEST_SECTION", n_tuples - 1)
    assert (Shoaling().partition(encoded, models, Run()).labels != before).any()


SETTINGS: dict[str, dict[str, Any]] = {
    "suppression": {"suppression_limit": 0.05},
    "diversity": {"sensitive": ["disease"], "models": [shoal.LDiversity("disease", l=2)]},
    "people": {"person": "zip"},
    "average risk": {"models": [shoal.AverageRisk(0.1)]},
    "width": {"max_width": {"birth_date": "9000d"}},
    "weights": {"weights": {"birth_date": 3}},
}


@pytest.mark.parametrize("given", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.usefixtures("small_sections")
def test_release_is_the_same_for_any_order_and_threads(given: Mapping[str, Any], tmp_path: Path) -> None:
    frame = shoal.datasets.patients().head(300).select("birth_date", "sex", "education", "zip", "disease")
    written = []
    for number, (rows, threads) in enumerate([(frame, 1), (frame.sample(fraction=1, shuffle=True, seed=3), 3)]):
        release = shoal.anonymize(
            rows, k=4, qi=["birth_date", "sex", "education"], others="drop", seed=7, threads=threads, **given
        )
        path = tmp_path / f"{number}.csv"
        release.write(path)
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_section_in_which_no_group_can_pass_is_joined_with_its_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sensitive value depends on age: neither half of the ages has both values."""
    ages = np.arange(200)
    frame = pl.DataFrame({"age": ages, "ill": np.where(ages < 100, "yes", "no")})
    monkeypatch.setattr(sections, "LARGEST_SECTION", 100)
    goal = [shoal.LDiversity("ill", l=2)]
    release = shoal.anonymize(frame, k=2, qi=["age"], sensitive=["ill"], models=goal)
    assert release.text.height == 200
    with pytest.raises(InfeasibleError):
        shoal.anonymize(frame.head(100), k=2, qi=["age"], sensitive=["ill"], models=goal)


def test_work_moves_to_the_section_that_was_cut_if_a_part_is_infeasible() -> None:
    whole = whole_of(problem(1))
    left, right = (TupleSection(whole.codes, whole.n_codes, part) for part in np.split(whole.tuples, [9]))
    tree = Tree(whole, (Tree(left), Tree(right)))
    seen = []

    def task(section: TupleSection, number: int) -> int:
        seen.append((section.n_tuples, number))
        if section is right:
            raise InfeasibleError("too few")
        return section.n_tuples

    assert tree.work(task) == [whole.n_tuples]
    assert seen == [(9, 0), (right.n_tuples, 1), (whole.n_tuples, 0)]


def test_limit_of_suppression_counts_all_rows(seed: int, small_sections: None) -> None:
    encoded, models = table(seed, 400, far=6), (KAnonymity(3),)
    made = Shoaling("fast").partition(encoded, models, Run(suppression_limit=Fraction(1, 40)))
    assert 1 <= int((made.labels < 0).sum()) <= 10
