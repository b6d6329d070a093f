"""Mondrian under models of all groups: in a table of several sections, each segment keeps its share."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from shoal.encoding.attributes import Encoded
from shoal.methods import Mondrian, Run, sections
from shoal.methods.base import failing_groups
from shoal.methods.mondrian.in_sections import find_segments, works_in_sections
from shoal.models import (
    AverageRisk,
    Groups,
    KAnonymity,
    LDiversity,
    PopulationUniqueness,
    PrivacyModel,
    SampleUniqueness,
)
from tests.unit.methods.shoaling.test_model_terms import table

SMALL = 30  # units
EVERY = np.ones(300, dtype=bool)
RISK, ALONE = AverageRisk(Fraction(1, 9)), SampleUniqueness(Fraction(1, 10))
CASES: dict[str, tuple[PrivacyModel, ...]] = {
    "average risk": (KAnonymity(2), RISK),
    "lone rows": (KAnonymity(1), ALONE),
    "average risk beside diversity": (KAnonymity(3), RISK, LDiversity("disease", l=2)),
    "a population": (KAnonymity(2), PopulationUniqueness(Fraction(1, 100), population=1000)),
}


@pytest.fixture(autouse=True)
def small_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", SMALL)


def with_people(encoded: Encoded) -> Encoded:
    """Return a table in which each person has about three rows."""
    people = np.random.default_rng(4).integers(0, encoded.n_rows // 3, encoded.n_rows)
    return replace(encoded, people=people.astype(np.int32))


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("models", CASES.values(), ids=CASES)
def test_each_segment_passes_as_a_table_of_its_own(
    models: tuple[PrivacyModel, ...], by_person: bool, variant: str, seed: int
) -> None:
    encoded = table(seed, 300)
    encoded = with_people(encoded) if by_person else encoded
    k, method = models[0].minimum_size, Mondrian(variant)
    segments = find_segments(encoded, k, models, EVERY, relaxed=method.divides_values)
    assert len(segments) > 3
    assert sorted(np.concatenate([each.rows for each in segments]).tolist()) == list(range(300))
    for each in segments:
        assert not failing_groups(each.part, models, np.zeros(len(each.rows), dtype=np.int32)).any()
    assert works_in_sections(encoded, models, k, EVERY, 0)
    labels = method.partition(encoded, models, Run()).labels
    assert not failing_groups(encoded, models, labels).any()
    for each in segments:
        own = np.unique(labels[each.rows], return_inverse=True)[1].astype(np.int32)
        assert not failing_groups(each.part, models, own).any()
        assert Groups.of(encoded, labels).rows[np.unique(labels[each.rows])].sum() == len(each.rows)


def test_groups_of_people_may_exceed_a_population_of_fewer_than_the_rows() -> None:
    """Without sections, the groups of all rows say whether they do."""
    models = KAnonymity(2), PopulationUniqueness(Fraction(1, 100), population=299)
    assert works_in_sections(table(1, 300), models, 2, EVERY, 0)
    assert not works_in_sections(with_people(table(1, 300)), models, 2, EVERY, 0)


def test_segments_have_rows_for_at_least_one_group() -> None:
    encoded = table(1, 300)
    least = 70
    segments = find_segments(encoded, 2, (KAnonymity(2), AverageRisk(Fraction(1, least))), EVERY)
    assert len(segments) > 1
    assert min(len(each.rows) for each in segments) >= least
    people = with_people(encoded)
    models = KAnonymity(2), AverageRisk(Fraction(1, 40))
    for each in find_segments(people, 2, models, EVERY):
        assert len(np.unique(each.part.people)) >= 40  # type: ignore[arg-type]


def test_columns_that_no_model_counts_make_no_units(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = replace(table(1, 300), personal_k=None)
    n_tuples = len(encoded.tuples)
    monkeypatch.setattr(sections, "LARGEST_SECTION", n_tuples)
    assert not sections.has_several(encoded, (RISK,))
    assert sections.has_several(encoded, (RISK, LDiversity("disease", l=2)))
    monkeypatch.setattr(sections, "LARGEST_SECTION", n_tuples - 1)
    assert sections.has_several(encoded, (RISK,))
