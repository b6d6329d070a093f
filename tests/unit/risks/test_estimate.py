"""Risk of re-identification, against the definitions and the figures of the reliability cases."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError, UsageError
from shoal.risks.estimate import CONVENTIONS, Fitting, estimate, read_threshold, risk
from tests.naive.risk import prosecutor

FOUR = np.array([1, 2, 3, 4])


def people(*counts: int) -> Fitting:
    return Fitting(np.array(counts), "population")


def test_prosecutor_r01() -> None:
    found = estimate(FOUR, threshold=0.3)
    assert (found.prosecutor.max, found.prosecutor.average, found.prosecutor.share_above) == (1.0, 0.4, 0.6)
    assert (found.rows, found.groups, found.smallest_group, found.uniques) == (10, 4, 1, 1)
    assert found.journalist == found.prosecutor
    assert found.marketer == 0.4


def test_prosecutor_agrees_with_rows_counted_one_by_one(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(20):
        rows = [draw.randrange(6) for _ in range(draw.randrange(1, 30))]
        tau = Fraction(draw.randrange(1, 10), 10)
        found = risk(pl.DataFrame({"a": rows}), qi=["a"], threshold=tau).prosecutor
        assert (found.max, found.average, found.share_above) == tuple(map(float, prosecutor(rows, tau)))


def test_journalist_r02() -> None:
    found = estimate(FOUR, fitting=people(2, 20, 30, 48)).journalist
    assert found.max == 0.5
    assert found.average == pytest.approx(0.078333, abs=1e-6)
    assert found.share_above == 0.1


def test_marketer_r03() -> None:
    assert estimate(FOUR, fitting=people(10, 20, 30, 40)).marketer == pytest.approx(0.1 * 0.4)
    assert estimate(FOUR).marketer == 0.4


@pytest.mark.parametrize(
    ("tau", "k"),
    [("0.5", 2), ("0.333", 4), ("0.2", 5), ("0.1", 10), ("0.09", 12), ("0.0909", 12), ("0.075", 14), ("0.05", 20)],
)
def test_threshold_to_group_size_r04(tau: str, k: int) -> None:
    assert estimate(FOUR, threshold=tau).least_group == k
    assert estimate(FOUR, threshold=float(tau)).least_group == k


def test_cell_size_of_eleven_r05() -> None:
    """1/11 is above 0.09: only the reading as a cell size passes."""
    eleven = np.array([11, 11])
    by_number = estimate(eleven, threshold="0.09")
    assert (by_number.met, by_number.prosecutor.share_above) == (False, 1.0)
    by_size = estimate(eleven, threshold="cell-size-11")
    assert (by_size.met, by_size.prosecutor.share_above, by_size.threshold) == (True, 0.0, Fraction(1, 11))


def test_conventions_are_offered_r07() -> None:
    assert sorted(CONVENTIONS) == [3, 5, 10, 11, 20]
    assert not any("legal" in words for words in CONVENTIONS.values())


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "x", "cell-size-0", "cell-size-x", None])
def test_threshold_out_of_range_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="is not a probability above 0"):
        read_threshold(wrong)


def test_suppressed_rows_are_no_group_r11() -> None:
    frame = pl.DataFrame({"age": ["*", "*", "30", "30", "*"], "sex": ["*", "*", "F", "F", "F"]})
    found = risk(frame, qi=["age", "sex"])
    assert (found.rows, found.suppressed_rows, found.groups, found.uniques) == (3, 2, 2, 1)


def test_all_rows_suppressed() -> None:
    found = risk(pl.DataFrame({"age": ["*", "*"]}), qi=["age"])
    assert (found.rows, found.suppressed_rows, found.groups) == (0, 2, 0)
    assert found.prosecutor == found.journalist
    assert (found.prosecutor.max, found.marketer, found.met) == (0.0, 0.0, True)


def test_persons_are_counted_r11() -> None:
    frame = pl.DataFrame({"age": ["30", "30", "30", "40", "40"], "who": ["a", "a", "b", "c", "c"]})
    found = risk(frame, qi=["age"], person="who")
    assert (found.counts, found.rows, found.smallest_group, found.uniques) == ("persons", 3, 1, 1)
    assert found.prosecutor.average == pytest.approx(2 / 3)


RELEASE = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"], "sex": ["{F, M}", "{F, M}", "F", "F"]})


def test_population_table_is_counted_over_the_cells() -> None:
    everybody = pl.DataFrame({"age": [20, 25, 30, 31, 40, 50, 60, 60], "sex": [*"FMFFFFMF"]})
    found = shoal.risk(RELEASE, qi=["age", "sex"], population=everybody)
    assert found.journalist.max == pytest.approx(1 / 3)
    assert found.journalist_basis == "population"
    assert found.marketer == pytest.approx((2 / 3 + 2 / 3) / 4)
    assert found.prosecutor.max == 0.5


def test_population_is_counted_with_labels_stars_and_missing_cells() -> None:
    labels = shoal.hierarchy.from_dict({"F": ["any"], "M": ["any"], "X": ["other"]})
    release = pl.DataFrame({"sex": ["any", "X", "any"], "age": ["", "*", ""]})
    everybody = pl.DataFrame({"sex": [*"FMXXF"], "age": ["", "", "1", "2", "3"]})
    found = shoal.risk(release, qi=["sex", "age"], population=everybody, hierarchies={"sex": labels}, numeric=["age"])
    assert found.journalist.max == 0.5
    assert found.marketer == pytest.approx((2 / 2 + 1 / 2) / 3)


def test_population_that_lacks_a_group_is_refused_r17() -> None:
    with pytest.raises(InputError, match="1 of 2 groups match fewer rows of the population"):
        shoal.risk(RELEASE, qi=["age", "sex"], population=pl.DataFrame({"age": [20, 25, 70], "sex": [*"FMF"]}))
    with pytest.raises(InputError, match="2 of 4 groups"):
        estimate(FOUR, fitting=people(0, 1, 3, 4))


def test_cell_that_the_population_cannot_read_is_refused_without_quoting_it() -> None:
    release = pl.DataFrame({"age": ["young", "young"]})
    with pytest.raises(InputError, match="column 'age', row 1 of the release: the cell cannot be read") as fault:
        shoal.risk(release, qi=["age"], population=pl.DataFrame({"age": [20, 25, 70]}))
    assert "young" not in str(fault.value)


def test_weights_add_up_r18() -> None:
    frame = pl.DataFrame({"age": ["30", "30", "40"], "weight": ["2.5", "2.5", "4"]})
    found = risk(frame, qi=["age"], weight="weight", threshold="0.2")
    assert found.journalist.max == 0.25
    assert found.journalist.share_above == pytest.approx(1 / 3)  # 1/5 is not above 0.2
    assert found.marketer == pytest.approx((2 / 5 + 1 / 4) / 3)
    assert found.journalist_basis == "weights"
    with pytest.raises(InputError, match="1 of 2 groups have weights that sum to less"):
        risk(frame.with_columns(weight=pl.Series(["0.5", "0.5", "4"])), qi=["age"], weight="weight")
    with pytest.raises(InputError, match="column 'weight': some are not positive numbers"):
        risk(frame.with_columns(weight=pl.Series(["x", "1", "4"])), qi=["age"], weight="weight")


def test_unknown_column_is_refused() -> None:
    with pytest.raises(UsageError, match=r"column 'zip' is not in the table\. Its columns: 'age'"):
        risk(pl.DataFrame({"age": ["1"]}), qi=["zip"])
    with pytest.raises(UsageError, match="no quasi-identifier"):
        risk(pl.DataFrame({"age": ["1"]}), qi=[])


def test_risk_of_a_release_keeps_its_k() -> None:
    release = shoal.anonymize(shoal.datasets.patients()[:300], qi=["birth_date", "sex"], others="drop", k=4)
    found = shoal.risk(release.frame, qi=["birth_date", "sex"], threshold="cell-size-4")
    assert found.met
    assert found.smallest_group == release.measures.smallest_group
    assert found.uniques == 0
