"""The kernel that divides the loss of groups among rows, held against its plain twin and against every group."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.kernels.bound import Floors
from shoal.kernels.shares import Shares
from shoal.metrics.lower_bound import prepare
from tests.naive import bound as naive
from tests.unit.kernels.test_bound import random_sheet, twin_input

ENOUGH = 10**9


def lowered(
    encoded: Encoded, k: int, wanted: NDArray[np.float64], patience: int = ENOUGH, tries: int = 1
) -> NDArray[np.float64]:
    """The shares of a table, tuple by tuple in the order of the kernel."""
    columns = prepare(encoded)[:-1]
    floors, shares = np.zeros(len(wanted)), np.full(len(wanted), np.nan)
    Floors(*columns).find(k, ENOUGH, floors)
    order = np.argsort(wanted, kind="stable").astype(np.int32)
    assert Shares(*columns).lower(k, ENOUGH, patience, tries, 0.8, order, floors, wanted, shares)
    return shares


def wishes(encoded: Encoded, seed: int) -> NDArray[np.float64]:
    """Shares to start with, some equal and some 0, as for tuples that are large enough alone."""
    draw = random.Random(seed)
    return np.array([draw.choice([0.0, 0.2, 0.5, 0.5, 0.9, 1.4]) for _ in encoded.tuples])


@pytest.mark.parametrize("k", [2, 3])
def test_shares_agree_with_the_twin(k: int) -> None:
    n_lowered = 0
    for seed in range(80):
        encoded = random_sheet(seed, max_rows=9).encoded
        counts, attributes = twin_input(encoded)
        wanted = wishes(encoded, seed)
        shares = lowered(encoded, k, wanted)
        expected = naive.divided(dict(zip(counts, wanted.tolist(), strict=True)), counts, attributes, k)
        assert shares == pytest.approx([expected[t] for t in counts], abs=1e-9), f"seed {seed}"
        n_lowered += int((shares < wanted - 1e-9).sum())
    assert n_lowered > 40, "the tables must have shares to lower"


@pytest.mark.parametrize(("patience", "tries"), [(0, 1), (5, 1), (5, 3)])
def test_no_group_loses_less_than_its_shares_however_few_the_steps(patience: int, tries: int) -> None:
    n_other = 0
    for seed in range(40):
        encoded = random_sheet(seed, max_rows=9).encoded
        counts, attributes = twin_input(encoded)
        wanted = wishes(encoded, seed)
        shares = lowered(encoded, 3, wanted, patience, tries)
        n_other += not np.allclose(shares, lowered(encoded, 3, wanted))
        rows = [(t, share) for (t, n), share in zip(counts.items(), shares.tolist(), strict=True) for _ in range(n)]
        for size in (3, 4, 5):
            for group in combinations(rows, size):
                loss = size * naive.group_loss([t for t, _ in group], attributes)
                assert sum(share for _, share in group) <= loss + 1e-9, f"seed {seed}"
    assert n_other > 0, "the steps must be too few for some tables"


def test_unfinished_shares_are_told_when_all_steps_are_used() -> None:
    encoded = random_sheet(3, max_rows=9).encoded
    columns, wanted = prepare(encoded)[:-1], wishes(encoded, 3)
    order = np.argsort(wanted, kind="stable").astype(np.int32)
    told = Shares(*columns).lower(3, 0, ENOUGH, 1, 0.8, order, np.zeros(len(wanted)), wanted, np.zeros(len(wanted)))
    assert not told


def test_groups_are_priced_alone_and_with_every_tuple() -> None:
    for seed in range(60):
        encoded = random_sheet(seed, max_rows=20).encoded
        counts, attributes = twin_input(encoded)
        tuples = list(counts)
        draw = random.Random(seed)
        groups = [draw.sample(range(len(tuples)), draw.randint(1, len(tuples))) for _ in range(3)]
        own, joined = np.empty(len(tuples)), np.empty(len(tuples))
        begins = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        Shares(*prepare(encoded)[:-1]).price_groups(np.concatenate(groups).astype(np.int32), begins, own, joined)
        losses = [naive.group_loss([tuples[i] for i in group], attributes) for group in groups]
        for i, t in enumerate(tuples):
            inside = [loss for group, loss in zip(groups, losses, strict=True) if i in group]
            assert own[i] == pytest.approx(min([*inside, float("inf")]))
            assert joined[i] == pytest.approx(
                min(naive.group_loss([t, *(tuples[i] for i in group)], attributes) for group in groups)
            )
