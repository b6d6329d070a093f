"""Forecasts: the law behind them, and what they promise beside the runs that they foresee."""

from __future__ import annotations

import math
from dataclasses import asdict

import polars as pl
import pytest

import shoal
from shoal.errors import CancelledError, InfeasibleError
from shoal.evaluate import Forecast, forecast
from shoal.evaluate.comparison.law import OPEN_POWER, Crowd, Point, forecast_loss, forecast_risk
from shoal.settings.settings import Settings

QI = ["birth_date", "sex", "zip", "nationality", "education"]


def patients() -> pl.DataFrame:
    """Return few rows, but too many to anonymise them for a forecast."""
    return shoal.datasets.patients().head(2_400)


def crowd(n_rows: int, safe_share: float, per_group: int = 10) -> Crowd:
    safe = int(n_rows * safe_share)
    return Crowd(n_rows, safe // per_group, safe, n_rows - safe)


def test_law_continues_odds_that_follow_it_exactly() -> None:
    shares = {1_000: 0.1, 2_000: 0.2, 4_000: 0.4, 64_000: 0.9}

    def loss(n_rows: int) -> float:
        odds = 3 * n_rows**-0.4 * crowd(n_rows, shares[n_rows]).open_share ** OPEN_POWER
        return odds / (1 + odds)

    points = [Point(crowd(n, shares[n]), loss(n), n // 5, n) for n in (1_000, 2_000, 4_000)]
    found = forecast_loss(points, crowd(64_000, 0.9), 1.0, 1.0)
    assert found.value == pytest.approx(loss(64_000))
    assert found.low < found.value < found.high
    farther = forecast_loss(points, crowd(1_000_000, 0.9), 1.0, 1.0)
    assert farther.high / farther.low > found.high / found.low  # the farther away, the less is certain


def test_law_counts_groups_that_stay_and_groups_of_open_rows() -> None:
    sample = Crowd(1_000, 30, 400, 600)
    found = forecast_risk([Point(sample, 0.1, 30 + 100, 1_000)], Crowd(8_000, 500, 6_000, 2_000), 5, 1.0)
    assert found.value == pytest.approx((500 + 2_000 / 6) / 8_000)  # groups of open rows have 6 rows in the sample
    assert found.high <= 1 / 5


def test_crowd_counts_people_where_a_run_counts_people() -> None:
    from shoal.encoding.encode import encode, guess_kinds
    from shoal.tables.table import from_frame

    frame = pl.DataFrame({"who": ["a", "a", "a", "b", "c"], "town": ["x", "x", "x", "y", "y"]})
    settings = Settings(qi=("town",), person="who")
    table = from_frame(frame)
    encoded = encode(table, guess_kinds(table, settings.schema(table.names)))
    assert Crowd.of(encoded, 2) == Crowd(5, 1, 2, 1)


def test_few_combinations_give_the_figures_of_the_run() -> None:
    table, roles = shoal.datasets.patients(), {"qi": ["sex", "zip"], "others": "drop", "k": 5}
    made = forecast(table, **roles)
    release = shoal.anonymize(table, **roles)
    assert made.exact
    assert made.loss == made.loss_low == made.loss_high == pytest.approx(release.measures.ncp, abs=1e-12)
    assert made.risk == pytest.approx(shoal.risk(release.frame, qi=["sex", "zip"]).prosecutor.average)
    assert "Estimate" not in made.words()


def test_table_that_meets_the_goal_loses_nothing() -> None:
    frame = pl.DataFrame({"town": ["x"] * 6 + ["y"] * 4})
    made = forecast(frame, qi=["town"], k=3)
    assert (made.loss, made.risk, made.risk_max, made.exact) == (0.0, 0.2, 1 / 3, True)


@pytest.fixture(scope="module")
def outlook() -> Forecast:
    return forecast(patients(), qi=QI, others="drop", k=5, threads=1)


def test_interval_holds_the_run_and_is_marked_as_an_estimate(outlook: Forecast) -> None:
    release = shoal.anonymize(patients(), qi=QI, others="drop", k=5, bound=False)
    assert outlook.loss_low <= release.measures.ncp <= outlook.loss_high
    assert outlook.risk_low <= release.measures.groups / 2_400 <= outlook.risk_high
    assert not outlook.exact
    assert outlook.words().startswith("Estimate: ")
    assert outlook.rows == 2_400
    assert len({trial.rows for trial in outlook.samples}) >= 3
    assert [trial.loss for trial in outlook.samples][-1] < outlook.samples[0].loss  # more rows lose less
    assert outlook.as_dict()["samples"][0]["rows"] == outlook.samples[0].rows


def figures(made: Forecast) -> list[float]:
    return [value for value in asdict(made).values() if isinstance(value, float)][:-1]  # all but the seconds


def test_only_the_seed_draws_the_samples(outlook: Forecast) -> None:
    shuffled = patients().sample(fraction=1.0, shuffle=True, seed=3)
    settings = Settings(qi=tuple(QI), others="drop", k=5)
    assert figures(forecast(shuffled, settings, threads=2)) == figures(outlook)
    assert figures(forecast(shuffled, settings, seed=1)) != figures(outlook)


def test_samples_that_are_too_small_for_a_limit_give_way_to_larger_ones() -> None:
    numbers = range(2_200)
    table = pl.DataFrame({"at": numbers} | {f"by {n}": [number % n for number in numbers] for n in (2, 3, 5, 7)})
    made = forecast(table, qi=table.columns, k=5, max_width={"at": 20}, ends="exact")
    assert made.samples[0].rows > 2_200 // 4
    assert made.loss_low > 0


def test_goal_that_no_run_can_reach_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="k=6000 cannot be met: the table has 2,400 rows"):
        forecast(patients(), qi=QI, others="drop", k=6_000)


def test_forecast_of_people_counts_people() -> None:
    made = forecast(shoal.datasets.visits(), qi=["sex", "zip"], person="patient_id", others="drop", k=5)
    assert made.counts == "persons"
    assert made.risk_max == 0.2
    assert 0 < made.risk <= 0.2


def test_forecast_reports_progress_and_can_be_cancelled() -> None:
    heard: list[tuple[str, float]] = []
    table = patients()
    forecast(table, qi=QI, others="drop", k=5, progress=lambda stage, share: heard.append((stage, share)))
    shares = [share for stage, share in heard if stage == "sampling"]
    assert shares == sorted(shares)
    assert {"encoding", "sampling"} <= {stage for stage, _ in heard}
    assert all(0 <= share <= 1 + 1e-9 for share in shares)
    begun = False

    def cancelled() -> bool:
        return begun

    def begin(stage: str, share: float) -> None:
        nonlocal begun
        begun = stage == "sampling" and share > 0

    with pytest.raises(CancelledError):
        forecast(table, qi=QI, others="drop", k=5, progress=begin, cancelled=cancelled)


def test_loss_of_nothing_stays_nothing() -> None:
    points = [Point(crowd(n, 0.99), 0.0, n // 5, n) for n in (1_000, 2_000, 4_000)]
    found = forecast_loss(points, crowd(64_000, 1.0), 1.0, 1.0)
    assert found.low == 0.0
    assert not math.isnan(found.value)
    assert found.value < 1e-6
