"""Estimates of the people who are alone in the population: reliability cases R12 to R16."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from shoal.errors import UsageError
from shoal.models import uniques
from shoal.models.uniques import dankar, digamma, digamma_rise, estimate_uniques, pitman
from shoal.risks.estimate import estimate
from tests.naive.risk import zayatz

FOUR = np.array([1, 2, 3, 4])


def test_zayatz_r12() -> None:
    assert estimate_uniques(FOUR, 100).zayatz == pytest.approx(1.206128, abs=1e-6)


def test_zayatz_agrees_with_whole_binomials(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(20):
        sizes = [draw.randrange(1, 9) for _ in range(draw.randrange(1, 12))]
        population = sum(sizes) + draw.randrange(1, 60)
        assert estimate_uniques(np.array(sizes), population).zayatz == pytest.approx(float(zayatz(sizes, population)))


def drawn(classes: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return the group sizes of a sample of a population with classes of these sizes."""
    rows = np.repeat(np.arange(len(classes)), classes)
    chosen = np.random.default_rng(seed).choice(rows, int(share * len(rows)), replace=False)
    return np.unique(chosen, return_counts=True)[1]


def test_snb_finds_the_uniques_of_a_population_of_its_kind_r13(seed: int) -> None:
    """Stated error: within a tenth, for 40,000 classes."""
    classes = 1 + np.random.default_rng(seed).negative_binomial(0.8, 0.3, 40_000)
    found = estimate_uniques(drawn(classes, 0.3, seed), int(classes.sum())).snb
    assert found == pytest.approx(float((classes == 1).sum()), rel=0.1)


def pitman_classes(n_rows: int, alpha: float, theta: float, seed: int) -> np.ndarray:
    """Seat people one after the other: at a new table, or at an old one by how many sit there."""
    draw = random.Random(seed)
    sizes: list[int] = []
    seats: list[int] = []  # the table of each person, to choose one by size
    for person in range(n_rows):
        if draw.random() * (person + theta) < theta + alpha * len(sizes):
            seats.append(len(sizes))
            sizes.append(1)
            continue
        while True:
            table = seats[draw.randrange(len(seats))]
            if draw.random() * sizes[table] >= alpha:  # weight size - alpha
                break
        seats.append(table)
        sizes[table] += 1
    return np.array(sizes)


def test_pitman_finds_the_uniques_of_a_population_of_its_kind_r13(seed: int) -> None:
    """Stated error: within three tenths, for 60,000 people and a sample of a tenth."""
    classes = pitman_classes(60_000, 0.6, 50.0, seed)
    estimates = estimate_uniques(drawn(classes, 0.1, seed), int(classes.sum()))
    assert estimates.pitman == pytest.approx(float((classes == 1).sum()), rel=0.3)
    assert estimates.chosen == "pitman"
    assert estimates.dankar == estimates.pitman


@pytest.mark.parametrize(
    ("share", "found", "chosen"),
    [
        (0.1, {"zayatz": 9.0, "pitman": 5.0, "snb": 1.0}, "pitman"),
        (0.1, {"zayatz": 9.0, "pitman": None, "snb": 1.0}, "zayatz"),
        (0.2, {"zayatz": 9.0, "pitman": 1.0, "snb": 5.0}, "snb"),
        (0.2, {"zayatz": 4.0, "pitman": 1.0, "snb": 5.0}, "zayatz"),
        (0.2, {"zayatz": 9.0, "pitman": 1.0, "snb": None}, "zayatz"),
        (0.2, {"zayatz": None, "pitman": 1.0, "snb": 5.0}, None),
    ],
)
def test_dankar_rule_r14(share: float, found: dict[str, float | None], chosen: str | None) -> None:
    assert dankar(share, **found) == chosen


def test_failed_estimate_is_not_available_r15() -> None:
    """Every row alone: no parameters of either model fit, and no 0 stands for that."""
    found = estimate_uniques(np.ones(50, dtype=np.int64), 1000)
    assert (found.pitman, found.snb) == (None, None)
    assert found.zayatz == pytest.approx(1000)
    assert found.chosen == "zayatz"


def test_solver_that_does_not_converge_says_so_r15(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniques, "_root", lambda *given, **more: None)
    found = estimate_uniques(FOUR, 1000)
    assert (found.pitman, found.snb, found.chosen) == (None, None, "zayatz")


def test_no_rows_no_estimate_r15() -> None:
    found = estimate_uniques(np.empty(0, dtype=np.int64), 1000)
    assert (found.zayatz, found.pitman, found.snb, found.dankar) == (None, None, None, None)


def test_sample_that_is_the_population_r16() -> None:
    found = estimate_uniques(FOUR, 10)
    assert (found.zayatz, found.pitman, found.snb, found.dankar, found.sampling_fraction) == (1, 1, 1, 1, 1.0)


def test_population_smaller_than_the_sample_is_refused_r16() -> None:
    with pytest.raises(UsageError, match="population=9 is smaller than the table, which has 10 rows"):
        estimate(FOUR, population=9)


def test_population_of_eight_billion_r16() -> None:
    sizes = np.repeat(np.arange(1, 30), np.arange(30, 1, -1))
    found = estimate_uniques(sizes, 8_000_000_000)
    for number in (found.zayatz, found.pitman, found.snb):
        assert number is None or 0 <= number <= 8e9
    assert found.zayatz is not None
    assert found.zayatz > 0


def test_digamma_is_the_slope_of_log_gamma() -> None:
    for x in (0.01, 0.5, 1.0, 3.7, 25.0, 1e6):
        step = x * 1e-5
        assert digamma(x) == pytest.approx((math.lgamma(x + step) - math.lgamma(x - step)) / (2 * step), rel=1e-4)


def test_digamma_rise_is_a_sum_of_fractions() -> None:
    """The plain sum, also where both ends are so large that their difference is lost."""
    for x in (0.3, 1.0, 250.0, 9_999.0, 20_000.0, 1e9, 1e15):
        plain = math.fsum(1 / (x + i) for i in range(50))
        assert digamma_rise(x, 50) == pytest.approx(plain, rel=1e-9)


def test_pitman_is_found_at_the_greatest_likelihood() -> None:
    """Against the likelihood itself, on the group sizes of 5,000 rows of Adult."""
    of_size = np.array([0, 2212, 349, 134, 69, 39, 32, 17, 19, 16, 1, 12])
    groups, n_rows = int(of_size.sum()), int((of_size * np.arange(12)).sum())

    def likelihood(alpha: float, theta: float) -> float:
        within = sum(of_size[i] * np.log(np.arange(1, i) - alpha).sum() for i in range(2, 12))
        return float(
            np.log(theta + np.arange(1, groups) * alpha).sum() - np.log(theta + np.arange(1, n_rows)).sum() + within
        )

    tried = [(likelihood(a, t), a, t) for a in np.linspace(0.4, 0.8, 41) for t in np.linspace(100, 1500, 57)]
    _, alpha, theta = max(tried)
    population = 100_000
    logs = math.lgamma(theta + alpha + population - 1) - math.lgamma(theta + population)
    logs += math.lgamma(theta + 1) - math.lgamma(theta + alpha)
    assert pitman(of_size, population) == pytest.approx(population * math.exp(logs), rel=0.02)
