"""The choice of k: each rule on tables made by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from shoal.errors import UsageError
from shoal.evaluate.comparison.advise import Limits, advise_on, find_knee, least_rise, recommend
from shoal.evaluate.comparison.compare import Comparison
from shoal.evaluate.comparison.page import advice_chart, advice_page

# [S4] Table 6: loss for k = 4 to 12.
TABLE_6 = (0, 5.59, 7.37, 8.84, 10.09, 12.07, 15.17, 18.47, 22.38)


def runs(*rows: tuple[Any, ...], **more: list[Any]) -> pl.DataFrame:
    """Return a table of runs: method, k, loss; the risk is 1 / k."""
    frame = pl.DataFrame(rows, schema=["method", "k", "ncp"], orient="row")
    return frame.with_columns(prosecutor_max=1 / pl.col("k"), **{name: pl.Series(x) for name, x in more.items()})


def test_least_rise_of_s4_table_6_is_k_8() -> None:
    """[S4]: minimum deviation, golden k = 8."""
    losses = list(zip(range(4, 13), TABLE_6, strict=True))
    assert least_rise(losses) == 8
    advice = recommend(runs(*(("mnqia", k, loss / 100) for k, loss in losses)), Limits(), "minimum-deviation")
    assert advice.chosen is not None
    assert advice.chosen.outcome.k == 8
    assert "rises least on the step to k = 8" in advice.chosen.reason


def test_least_rise_counts_one_step_of_k_and_ties_go_to_the_larger() -> None:
    assert least_rise([(2, 0.0), (3, 0.2), (13, 1.2)]) == 13  # 0.2 a step, then 0.1
    assert least_rise([(2, 0.0), (3, 0.25), (4, 0.5)]) == 4
    assert least_rise([(2, 0.1)]) is None


def test_knee_is_where_the_curve_bends_most() -> None:
    assert find_knee([(0, 1), (0.1, 0.2), (0.5, 0.1), (1, 0)]) == 1
    assert find_knee([(0, 1), (0.5, 0.5), (1, 0)]) is None
    assert find_knee([(0, 1), (0.5, 0.9), (1, 0)]) is None
    assert find_knee([(0, 1), (1, 0)]) is None
    assert find_knee([(0.3, 1), (0.3, 0.5), (0.3, 0)]) is None


def test_without_limits_the_knee_counts() -> None:
    table = runs(("a", 2, 0.00), ("a", 5, 0.05), ("a", 10, 0.30), ("a", 20, 0.60))
    advice = recommend(table, Limits())
    assert advice.chosen is not None
    assert (advice.chosen.rule, advice.chosen.outcome.k) == ("knee", 5)
    assert [opinion.rule for opinion in advice.opinions] == ["knee", "minimum-deviation"]
    assert "bends most at a at k = 5 (loss 5.00%, risk 20.0%)" in advice.chosen.reason


def test_method_of_least_loss_gives_the_curve() -> None:
    table = runs(
        *(("worse", k, 0.5 + k / 100) for k in (2, 5, 20)), ("better", 2, 0.0), ("better", 5, 0.05), ("better", 20, 0.6)
    )
    advice = recommend(table, Limits())
    assert {opinion.outcome.method for opinion in advice.opinions} == {"better"}


LIMITED = runs(("a", 5, 0.05), ("a", 10, 0.09), ("a", 20, 0.12), ("b", 10, 0.08), ("b", 20, 0.2))


@pytest.mark.parametrize(
    ("limits", "method", "k"),
    [
        (Limits(max_loss=0.1), "b", 10),  # the lowest risk, then the least loss
        (Limits(max_risk=0.1), "b", 10),  # the least loss
        (Limits(max_risk=0.05), "a", 20),
        (Limits(max_loss=0.1, max_risk=0.2), "b", 10),
        (Limits(max_loss=0.06), "a", 5),
    ],
)
def test_limits_choose(limits: Limits, method: str, k: int) -> None:
    advice = recommend(LIMITED, limits)
    assert advice.unmet is None
    assert advice.chosen is not None
    assert (advice.chosen.rule, advice.chosen.outcome.method, advice.chosen.outcome.k) == ("limits", method, k)
    assert limits.describe() in advice.chosen.reason


def test_risk_limit_is_exact() -> None:
    """R05: 1/11 is above 0.09."""
    eleven = runs(("a", 11, 0.1))
    assert recommend(eleven, Limits(max_risk=0.09)).chosen is None
    assert recommend(eleven, Limits(max_risk="cell-size-11")).chosen is not None  # type: ignore[arg-type]
    three_seeds = pl.concat([runs(("a", 10, 0.1))] * 3)
    assert recommend(three_seeds, Limits(max_risk=0.1)).chosen is not None


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(max_loss=0.1, max_risk=0.05), "Within the risk, the lowest loss is that of a at k = 20 (loss 12.00%"),
        (Limits(max_loss=0.01), "The lowest loss is that of a at k = 5 (loss 5.00%"),
        (Limits(max_risk=0.01), "The lowest risk is that of a at k = 20"),
        (Limits(max_drop=0.01), "The accuracy is unknown without a target; name one."),
    ],
)
def test_limits_that_cannot_be_met_say_what_comes_nearest(limits: Limits, told: str) -> None:
    advice = recommend(LIMITED, limits)
    assert advice.chosen is None
    assert advice.unmet is not None
    assert f"No release has {limits.describe()}." in advice.unmet
    assert told in advice.unmet


def test_accuracy_takes_the_largest_k_near_the_best() -> None:
    accuracy = [0.84, 0.835, 0.80]
    table = runs(("a", 2, 0.0), ("a", 5, 0.1), ("a", 20, 0.4), accuracy=accuracy, accuracy_original=[0.85] * 3)
    advice = recommend(table, Limits())
    assert advice.chosen is not None
    assert (advice.chosen.rule, advice.chosen.outcome.k) == ("accuracy", 5)
    assert "The best accuracy is 84.0%, by a at k = 2 (85.0% on the original)" in advice.chosen.reason
    assert recommend(table, Limits(max_drop=0.02)).chosen.outcome.k == 5  # type: ignore[union-attr]
    assert recommend(table, Limits(max_drop=0.001)).unmet.endswith("accuracy 84.0%).")  # type: ignore[union-attr]


def test_seeds_are_averaged_and_failed_and_added_rows_left_out() -> None:
    table = runs(
        *(("a", 2, 0.1), ("a", 2, 0.3), ("a", 5, 0.4), ("a", 5, None), ("arx", 5, 0.0)),
        failed=[None, None, None, "no", None],
        added=[False, False, False, False, True],
    )
    advice = recommend(table, Limits(max_loss=1))
    assert advice.chosen is not None
    assert (advice.chosen.outcome.method, advice.chosen.outcome.k) == ("a", 5)
    assert recommend(table, Limits(max_risk=0.5)).chosen.outcome.loss == pytest.approx(0.2)  # type: ignore[union-attr]


def test_one_k_alone_and_none() -> None:
    advice = recommend(runs(("a", 5, 0.1), ("b", 5, 0.2)), Limits())
    assert advice.chosen is not None
    assert (advice.chosen.outcome.method, advice.chosen.rule) == ("a", "loss")
    empty = recommend(runs(("a", 5, 0.1), failed=["no"]), Limits())
    assert (empty.chosen, empty.unmet) == (None, "No run gave a release.")


def test_rule_that_does_not_apply_says_why() -> None:
    assert "needs a target" in (recommend(LIMITED, Limits(), "accuracy").unmet or "")
    assert recommend(LIMITED, Limits(), "limits").chosen is None
    with pytest.raises(UsageError, match="rule='elbow' is unknown"):
        recommend(LIMITED, Limits(), "elbow")


@pytest.mark.parametrize("wrong", [{"max_loss": 2}, {"max_loss": -1}, {"max_drop": 7}, {"max_risk": 0}])
def test_limits_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Limits(**wrong)


def test_advice_as_plain_values() -> None:
    content = recommend(LIMITED, Limits(max_risk=0.1)).as_dict()
    assert content["recommended"]["k"] == 10
    assert content["recommended"]["rule"] == "limits"
    assert {opinion["rule"] for opinion in content["opinions"]} >= {"limits", "minimum-deviation"}


FIGURES = ("utility", "groups", "smallest_group", "suppressed_rows", "prosecutor_average", "cpu_seconds", "peak_memory")


def made(table: pl.DataFrame) -> Comparison:
    """Return a comparison with these runs; what the page shows beside them is 1."""
    n_rows = table.height
    more = {name: pl.Series([1.0] * n_rows) for name in FIGURES}
    plain = {
        "seed": pl.Series([0] * n_rows),
        "added": pl.Series([False] * n_rows),
        "cached": pl.Series([False] * n_rows),
    }
    nothing = pl.Series([None] * n_rows, dtype=pl.String)
    return Comparison(table.with_columns(**more, **plain, failed=nothing, accuracy=pl.lit(None)), 100, ("age",), "0.2")


def test_chart_marks_the_choice() -> None:
    chart = advice_chart(advise_on(made(LIMITED), Limits(max_risk=0.1)))
    assert chart.head == ("k", "loss (NCP)", "largest risk of a row", "chosen: k = 10")
    assert [row[0] for row in chart.rows] == ["10", "20"]  # of b alone


def test_page_says_the_choice_or_why_there_is_none() -> None:
    page = advice_page(advise_on(made(LIMITED), Limits(max_risk=0.1)))
    assert "Use k = 10 with b, by the rule" in page
    assert "minimum-deviation: For each unit of k, the loss rises least" in page
    refused = advice_page(advise_on(made(LIMITED), Limits(max_loss=0.001)))
    assert "No release has a loss of at most 0.001." in refused
    assert '<div class="private-note">' in refused
