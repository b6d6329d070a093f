"""The verifier's estimators against those of the models, which share no code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.models.uniques import ESTIMATORS
from shoal.models.uniques import estimate_uniques as by_models
from shoal.verification.models.population_uniques import estimate_uniques


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimates_agree_on_random_samples(estimator: str, seed: int) -> None:
    """Far closer than the margin that the model keeps; an estimate that one lacks, the other lacks too."""
    draw = np.random.default_rng(seed)
    found = 0
    for i in range(3):
        n_groups = int(10 ** draw.uniform(1, 3))
        if i % 2:
            sizes = np.minimum(draw.zipf(draw.uniform(1.5, 3), n_groups), 500)
        else:
            sizes = draw.geometric(draw.uniform(0.2, 0.95), n_groups)
        sizes[0] = 1
        population = int(sizes.sum() * 10 ** draw.uniform(0, 4)) + 1
        expected = getattr(by_models(sizes, population), estimator)
        estimate = estimate_uniques(Counter(sizes.tolist()), population, estimator)
        assert (estimate is None) == (expected is None)
        if estimate is not None:
            found += 1
            assert estimate == pytest.approx(expected, rel=1e-7)
    assert found


def test_whole_population_is_counted() -> None:
    for estimator in ESTIMATORS:
        assert estimate_uniques(Counter([1, 1, 2, 5]), 9, estimator) == 2
        assert estimate_uniques(Counter([2, 5]), 1000, estimator) == 0
