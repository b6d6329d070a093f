"""The kernel of the lower bound, held against its plain twin on many small tables."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.kernels.bound import Floors
from shoal.metrics.lower_bound import kernel_order, prepare
from tests.naive import bound as naive
from tests.strategies import Sheet

PATIENCE = 10**9
LEVELS = 5


def random_sheet(seed: int, max_rows: int, max_columns: int = 4) -> Sheet:
    """A small table with ties, missing cells and columns of every kind."""
    draw = random.Random(seed)
    n_rows = draw.randint(3, max_rows)
    columns, kinds = {}, {}
    for i in range(draw.randint(1, max_columns)):
        kinds[f"q{i}"] = kind = draw.choice(["numeric", "categorical", "date"])
        n_values = draw.randint(1, 6)
        numbers = [draw.randint(1, 20) for _ in range(n_values)]
        texts = {
            "numeric": [f"{number / 2}" for number in numbers],
            "categorical": [f"v{number % 7}" for number in numbers],
            "date": [f"2024-01-{number:02}" for number in numbers],
        }[kind]
        texts += [""] * draw.choice([0, 0, 1])
        columns[f"q{i}"] = [draw.choice(texts) for _ in range(n_rows)]
    return Sheet(columns, kinds)


def twin_input(encoded: Encoded) -> tuple[dict[naive.Tuple, int], list[naive.Attribute]]:
    """The tuples with their counts and the attributes, both in the order of the kernel."""
    order = kernel_order(encoded)
    attributes: list[naive.Attribute] = []
    for attribute in (encoded.attributes[a] for a in order):
        if attribute.ordered:
            missing = attribute.missing if attribute.missing >= 0 else None
            attributes.append(naive.Number(attribute.values.tolist(), missing))
        else:
            attributes.append(naive.Category(len(attribute.texts)))
    counts = dict(zip(map(tuple, encoded.tuples[:, order].tolist()), encoded.counts.tolist(), strict=True))
    return dict(sorted(counts.items())), attributes


def kernel_floors(encoded: Encoded, k: int, patience: int = PATIENCE) -> NDArray[np.float64]:
    columns = prepare(encoded)
    floors = np.full(len(columns.counts), -1.0)
    Floors(*columns[:-1]).find(k, patience, floors)
    return floors


@pytest.mark.parametrize("k", [2, 3, 5])
def test_floors_agree_with_the_twin(k: int) -> None:
    for seed in range(150):
        encoded = random_sheet(seed, max_rows=25).encoded
        if encoded.n_rows < k:
            continue
        counts, attributes = twin_input(encoded)
        expected = [naive.floor(t, counts, attributes, k) for t in counts]
        assert kernel_floors(encoded, k) == pytest.approx(expected, abs=1e-12), f"seed {seed}"


@pytest.mark.parametrize("k", [2, 3, 5])
def test_sharing_agrees_with_the_twin(k: int) -> None:
    n_raised = 0
    for seed in range(100):
        encoded = random_sheet(seed, max_rows=25).encoded
        if encoded.n_rows < k:
            continue
        counts, attributes = twin_input(encoded)
        floors = kernel_floors(encoded, k)
        caps, weights = 1.5 * floors, np.array([1.0 + seed % 2 * (i % 3) for i in range(len(floors))])
        carried = floors
        for _ in range(2):
            raised = np.full(len(floors), -1.0)
            Floors(*prepare(encoded)[:-1]).share(k, PATIENCE, LEVELS, floors, caps, weights, carried, raised)
            told = [dict(zip(counts, array.tolist(), strict=True)) for array in (floors, caps, weights, carried)]
            expected = [naive.shared(t, counts, attributes, k, LEVELS, *told) for t in counts]
            assert raised == pytest.approx(expected, abs=1e-9), f"seed {seed}"
            n_raised += int((raised > carried + 1e-6).sum())
            carried = raised
    assert n_raised > 50, "the tables must have something to share"


def test_floors_never_fall_as_k_grows() -> None:
    for seed in range(150):
        encoded = random_sheet(seed, max_rows=30).encoded
        floors = [kernel_floors(encoded, k) for k in range(1, encoded.n_rows + 1)]
        assert all((lower <= higher + 1e-12).all() for lower, higher in pairwise(floors))


def test_floors_are_lower_but_never_higher_with_too_few_steps() -> None:
    n_lower = 0
    for seed in range(60):
        encoded = random_sheet(seed, max_rows=30).encoded
        full = kernel_floors(encoded, 3)
        for patience in (0, 5, 30, 100, 300):
            hasty = kernel_floors(encoded, 3, patience)
            assert (hasty <= full + 1e-12).all()
            n_lower += int((hasty < full).sum())
    assert n_lower > 0
