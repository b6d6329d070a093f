"""Limits of a run: what every method keeps, what is refused, and the nearest that can be kept."""

from __future__ import annotations

import random
import re
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.errors import InfeasibleError, UsageError
from shoal.methods.registry import METHODS

N_ROWS = 240
DRAW = random.Random(4)
FRAME = pl.DataFrame(
    {
        "age": [str(DRAW.randint(18, 77)) for _ in range(N_ROWS)],
        "job": [DRAW.choice("abcdefgh") for _ in range(N_ROWS)],
        "zip": [f"0{DRAW.randint(2100, 2139)}" for _ in range(N_ROWS)],
        "day": [f"2020-{1 + i % 12:02d}-{1 + i * 5 % 28:02d}" for i in range(N_ROWS)],
    }
)
QI = {"qi": ["age", "job", "zip"], "others": "drop", "k": 4}
ZIP = hierarchy.prefixes(lengths=[4, 3])
AGES = hierarchy.intervals(widths=[5, 20])


def widths(cells: list[str]) -> list[float]:
    pairs = [re.findall(r"[0-9.]+", cell) for cell in cells]
    return [float(pair[-1]) - float(pair[0]) for pair in pairs]


def anonymize(**settings: Any) -> shoal.Release:
    release = shoal.anonymize(FRAME, **{**QI, **settings})
    assert release.measures.smallest_group >= 4
    assert release.frame is not None
    return release


def test_no_range_and_no_set_is_wider_than_allowed() -> None:
    release = anonymize(max_width={"age": 12, "job": 3})
    assert max(widths(release.text["age"].to_list())) <= 12
    assert max(cell.count(",") + 1 for cell in release.text["job"].to_list()) <= 3
    free = anonymize()
    assert max(widths(free.text["age"].to_list())) > 12
    assert free.measures.ncp <= release.measures.ncp < 3 * free.measures.ncp


def test_cells_are_bands_or_made_of_bands() -> None:
    uniform = anonymize(uniform={"age": 10})
    assert set(uniform.text["age"]) == {f"[{n}, {n + 10})" for n in range(10, 80, 10)}
    finest = anonymize(finest={"age": 10})
    assert all(cell.endswith("0)") for cell in finest.text["age"].to_list())
    assert finest.measures.ncp <= uniform.measures.ncp
    coarsest = anonymize(coarsest={"age": 20})
    for cell in coarsest.text["age"].to_list():
        low, *high = (int(number) for number in re.findall("[0-9]+", cell))
        assert not high or (high[0] - cell.endswith(")")) // 20 == low // 20, cell
    days = anonymize(qi=["day", "job"], uniform={"day": "quarter"})
    assert "[2020-04-01, 2020-06-30]" in set(days.text["day"])
    assert len(set(days.text["day"])) == 4


@pytest.mark.parametrize(("limit", "stars"), [("finest", {2, 1, 3}), ("coarsest", {0, 1, 2}), ("uniform", {2})])
def test_levels_of_a_hierarchy(limit: str, stars: set[int]) -> None:
    """By number or by a label of the level; "0210*" hides one letter, "021**" two."""
    for level in ("2", "021**"):
        release = anonymize(hierarchies={"zip": ZIP}, **{limit: {"zip": level}})
        hidden = {5 if cell == "*" else cell.count("*") for cell in release.text["zip"].to_list()}
        assert hidden <= ({2, 5} if limit == "finest" else stars)


@pytest.mark.parametrize("method", [info.name for info in METHODS])
def test_every_method_keeps_to_limits_or_names_those_that_do(method: str) -> None:
    settings: dict[str, Any] = {"hierarchies": {"zip": ZIP, "age": AGES}, "suppression_limit": 0.5, "method": method}
    settings |= {"coarsest": {"zip": 2}, "uniform": {"age": 2}}
    if method == "mnqia":
        with pytest.raises(UsageError, match=r"does not support limits\. Methods that do: shoaling, mondrian, datafly"):
            shoal.anonymize(FRAME, **{**QI, **settings})
        return
    release = shoal.anonymize(FRAME, **{**QI, **settings})
    assert release.frame is not None
    assert "*" not in set(release.text["zip"])
    assert max(widths(release.text["age"].to_list())) == 20


def test_a_table_that_meets_k_is_held_to_limits() -> None:
    """The table as it is would do for k, but not for the limit."""
    frame = pl.DataFrame({"age": ["21"] * 5 + ["27"] * 5})
    assert set(shoal.anonymize(frame, qi=["age"], k=5).text["age"]) == {"21", "27"}
    assert set(shoal.anonymize(frame, qi=["age"], k=5, finest={"age": 5}).text["age"]) == {"[20, 25)", "[25, 30)"}


@pytest.mark.parametrize(
    ("limits", "nearest"),
    [
        ({"max_width": {"age": 0}}, r"max_width=\{'age': '1'\}"),
        ({"uniform": {"age": 2}}, r"uniform=\{'age': '4'\}"),
        ({"max_width": {"day": "1d"}}, r"max_width=\{'day': '[0-9]+d'\}"),
        ({"uniform": {"day": "day"}}, r"uniform=\{'day': 'month'\}"),
    ],
)
def test_limits_that_cannot_be_kept_name_the_nearest(limits: dict[str, Any], nearest: str) -> None:
    ages = [20, 20, 20, 21, 25, 25, 25, 26, 30, 30, 31]
    days = [f"2020-0{1 + i // 4}-{1 + 3 * (i % 4):02d}" for i in range(11)]
    frame = pl.DataFrame({"age": [str(age) for age in ages], "day": days})
    settings = {"qi": [next(iter(next(iter(limits.values()))))], "others": "drop", "k": 3, "ends": "exact"}
    with pytest.raises(InfeasibleError, match=f"nearest that can be kept: {nearest}") as caught:
        shoal.anonymize(frame, **settings, **limits)  # type: ignore[arg-type]
    found = re.search(r"nearest that can be kept: (\w+)=\{'(\w+)': '(\w+)'\}", str(caught.value))
    assert found is not None
    shoal.anonymize(frame, **settings, **{found[1]: {found[2]: found[3]}})  # type: ignore[arg-type]


def test_rows_outside_every_window_may_be_suppressed() -> None:
    frame = pl.DataFrame({"age": [str(20 + i % 3) for i in range(30)] + ["99"]})
    with pytest.raises(InfeasibleError, match="1 row has too few others"):
        shoal.anonymize(frame, qi=["age"], k=3, max_width={"age": 5})
    release = shoal.anonymize(frame, qi=["age"], k=3, max_width={"age": 5}, suppression_limit=0.05)
    assert release.measures.rows == 30


def test_limits_that_no_row_keeps_are_refused() -> None:
    frame = pl.DataFrame({"age": [str(2 * i) for i in range(30)], "height": [str(100 + 2 * i) for i in range(30)]})
    settings = {"qi": ["age", "height"], "k": 3, "max_width": {"age": 1, "height": 1}}
    with pytest.raises(InfeasibleError, match="30 rows have too few others"):
        shoal.anonymize(frame, **settings)  # type: ignore[arg-type]
    for method in ("shoaling", "mondrian"):
        with pytest.raises(InfeasibleError, match="would suppress every one of the 30 rows"):
            shoal.anonymize(frame, **settings, suppression_limit=1, method=method)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_width": {"age": "wide"}}, "use a number"),
        ({"max_width": {"age": "5y"}}, "only dates have units"),
        ({"uniform": {"job": "2"}}, "needs a hierarchy"),
        ({"finest": {"age": "month"}}, "the column has numbers"),
        ({"coarsest": {"zip": "9"}, "hierarchies": {"zip": ZIP}}, "no such level"),
        ({"finest": {"zip": "2"}, "coarsest": {"zip": "1"}, "hierarchies": {"zip": ZIP}}, "no level is between"),
        ({"uniform": {"age": "5"}, "method": "optimal"}, "Give one with hierarchies="),
        (
            {
                "coarsest": {"zip": "1"},
                "hierarchies": {"zip": ZIP},
                "method": "datafly",
                "options": {"levels": "zip=2"},
            },
            "level 2 or more, and for level 1 or less",
        ),
        ({"max_width": {"day": "5"}}, "not a quasi-identifier"),
        ({"max_width": {"age": 5}, "options": {"non_overlapping": True}, "ends": "exact"}, "non_overlapping"),
    ],
)
def test_limits_that_do_not_suit_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        shoal.anonymize(FRAME, **{**QI, **settings})
