"""Differential privacy: k and the sampling probability follow from epsilon and delta, and keep what they promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.models import DifferentialPrivacy, Groups
from shoal.models.sampling import least_group, sampling_share
from shoal.verification.models import sampling as verifier
from tests.naive.models import least_delta

CASES = [("0.1", "0.001"), ("0.5", "0.01"), ("1", "0.001"), ("1", "0.00001"), ("2", "0.05")]


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_mechanism_is_differentially_private(epsilon: str, delta: str) -> None:
    """The exact probabilities of all outcomes, for every number of equal rows that matters."""
    k, share = least_group(Fraction(epsilon), Fraction(delta)), float(sampling_share(Fraction(epsilon)))
    most = int(2.5 * k / share)
    assert least_delta(float(epsilon), share, k, most) <= float(delta)
    assert least_delta(float(epsilon), share, k // 3, most) > float(delta), "the test can fail"


@pytest.mark.parametrize(("epsilon", "delta"), [*CASES, ("0.01", "0.1"), ("5", "0.2"), ("3", "1e-20"), ("1.5", "1/3")])
def test_verifier_computes_the_same_k(epsilon: str, delta: str) -> None:
    assert verifier.least_group(Fraction(epsilon), Fraction(delta)) == least_group(Fraction(epsilon), Fraction(delta))


def test_share_is_the_largest_that_epsilon_allows() -> None:
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(5)):
        share = sampling_share(epsilon)
        assert 0 <= float(epsilon) + math.log1p(-float(share)) < 1e-8


def test_smaller_groups_fail() -> None:
    model = DifferentialPrivacy(1, "1e-6")
    counts = np.array([model.minimum_size - 1, model.minimum_size])
    assert model.failing(Groups(np.arange(2, dtype=np.int32), counts)).tolist() == [True, False]
