"""Rows leave the groups of all sections in one order, within one limit."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import shoal
from shoal.encoding.partition import Entries
from shoal.methods import Run, Shoaling, sections
from shoal.methods.base import failing_groups
from shoal.methods.suppression import loss_with_suppressed
from shoal.methods.suppression.leaving import Leaving, allowances, find_bound, leave_in_order
from shoal.models import AverageRisk, Groups, KAnonymity, PrivacyModel, SampleUniqueness
from shoal.models.model import ColumnModel
from tests.naive import suppression as naive
from tests.unit.methods.plain import code_rows, priced
from tests.unit.methods.shoaling.test_model_terms import table


def worth(gain: float) -> int:
    """Return what a slice is worth: the bits of a float64."""
    return int(np.float64(gain).view(np.int64))


def drawn_slices(seed: int) -> list[tuple[float, int]]:
    """Return what some slices save, with many ties, and their rows."""
    draw = random.Random(seed)
    gains = [draw.choice([0.5, 1.0, 1.0000001, 7.25]) if draw.random() < 0.7 else draw.random() for _ in range(60)]
    return [(gain, draw.randrange(1, 6)) for gain in gains]


@pytest.mark.parametrize("number", range(20))
def test_limit_is_used_in_order_as_by_the_plain_twin(number: int) -> None:
    """Sums of rows decide, and so do those of sections; ties leave in order."""
    slices = drawn_slices(number)
    parts = [slices[:7], slices[7:30], [], slices[30:]]
    leaving = [
        Leaving(
            np.array([worth(gain) for gain, _ in part], dtype=np.int64),
            np.arange(len(part), dtype=np.int32),
            np.array([rows for _, rows in part], dtype=np.int64),
        )
        for part in parts
    ]
    every = Leaving.joined(leaving)
    for most in (0, 1, 3, 17, 60, 110, sum(rows for _, rows in slices), 10**6):
        expected = naive.choose(slices, most)
        bound = find_bound(every.sums, most)
        assert every.leaves(bound).tolist() == expected
        at_bound = np.array([int(part.rows[part.worth == bound.worth].sum()) for part in leaving])
        apart = [part.leaves(own) for part, own in zip(leaving, allowances(bound, at_bound), strict=True)]
        assert np.concatenate(apart).tolist() == expected


@pytest.mark.parametrize("k", [1, 3])
def test_slices_leave_as_by_the_plain_twin(k: int, seed: int) -> None:
    """Rows one by one and entries of counts give the same."""
    encoded = table(seed, 80, far=5)
    labels = np.sort(np.random.default_rng(seed).integers(0, 9, 80)).astype(np.int32)
    found = leave_in_order(encoded, (), labels, k, 6)
    rows, attributes = code_rows(encoded), priced(encoded)
    gains, place = np.zeros(80), 0
    for group in range(9):
        for gain, leaving in naive.chain(rows, attributes, np.flatnonzero(labels == group).tolist(), k, 6):
            gains[leaving] = float(gain)
            assert len(set(found.place[leaving].tolist())) == 1
            assert found.place[leaving[0]] >= place
            place = int(found.place[leaving[0]])
    assert gains.any()
    assert found.worth.view(np.float64) == pytest.approx(gains)
    entries = Entries.of_rows(encoded, labels)
    counted = leave_in_order(encoded, (), entries, k, 6)
    assert np.repeat(counted.worth, entries.rows).tolist() == found.worth.tolist()


MODELS = {
    "size": (KAnonymity(3),),
    "distinct l": (KAnonymity(3), shoal.LDiversity("disease", l=2)),
    "average risk": (KAnonymity(3), AverageRisk(Fraction(1, 5))),
    "closeness": (KAnonymity(3), shoal.TCloseness("disease", t=0.5)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("models", MODELS.values(), ids=MODELS)
def test_large_tables_keep_k_models_and_the_limit(
    models: tuple[PrivacyModel, ...], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss never rises above that without suppression, and falls where rows are far from all others."""
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    encoded, losses = table(seed, 400, far=4), []
    for limit in (0, Fraction(1, 400), Fraction(1, 50), Fraction(1, 4)):
        labels = Shoaling("fast").partition(encoded, models, Run(suppression_limit=Fraction(limit))).labels
        assert int((labels < 0).sum()) <= limit * 400
        assert not failing_groups(encoded, models, labels).any()
        losses.append(loss_with_suppressed(encoded, labels))
    assert max(losses) == losses[0]
    assert losses[-1] < losses[0] or models == MODELS["closeness"]  # a group at the bound lets nobody leave


@dataclass(frozen=True)
class Complete(ColumnModel):
    """Fails as soon as the distribution of the release is not that of the table."""

    rows: int = 0

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        return np.full(groups.n_groups, int(groups.totals(self.column).sum()) < self.rows)


def test_no_row_leaves_if_the_distribution_of_the_release_changes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    encoded, run = table(1, 400, far=4), Run(suppression_limit=Fraction(1, 50))
    for rows, is_complete in ((0, False), (400, True)):
        models = (KAnonymity(3), Complete("disease", rows))
        labels = Shoaling("fast").partition(encoded, models, run).labels
        assert (labels >= 0).all() == is_complete


@pytest.mark.parametrize("spare", [0, 2, 4])
def test_rows_leave_as_long_as_models_of_all_groups_pass(spare: int, seed: int) -> None:
    """The best slices of a section leave, up to its own share of the limits; no row becomes a lone one."""
    encoded = table(seed, 80, far=5)
    labels = np.sort(np.random.default_rng(seed).integers(0, 9, 80)).astype(np.int32)
    n_groups = int(labels.max()) + 1
    risk, alone = AverageRisk(Fraction(n_groups, 80 - spare)), SampleUniqueness(Fraction(0))
    every = leave_in_order(encoded, (), labels, 2, 80)
    found = leave_in_order(encoded, (risk, alone), labels, 1, 80)
    leaves = found.worth > 0
    assert int((every.worth > 0).sum()) > spare >= int(leaves.sum())
    assert found.worth[leaves].tolist() == every.worth[leaves].tolist()
    assert leaves.tolist() == every.leaves(find_bound(every.sums, spare)).tolist()
    assert not failing_groups(encoded, (risk, alone), np.where(leaves, -1, labels).astype(np.int32)).any()
