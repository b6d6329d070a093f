"""The measures of the papers with their printed figures, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import Climb, Rule
from shoal.errors import UsageError
from shoal.hierarchy import Hierarchy
from tests.command import Shoal

BIRTH = {
    "1980-05-17": ("1980-05", "1980", "1980s", "adult", "*"),
    "2012-01-02": ("2012-01", "2012", "2010s", "child", "*"),
}


def measured(cell: str, climb: Climb | None = None) -> shoal.Measures:
    """What a birth date of six levels lost that is shown as this cell."""
    before, after = pl.DataFrame({"born": sorted(BIRTH)}), pl.DataFrame({"born": [cell, "2012-01-02"]})
    rules = {"born": Hierarchy(BIRTH)}
    return shoal.measure(before, after, qi=["born"], categorical=["born"], hierarchies=rules, climb=climb)


def test_climbs_of_a_birth_date_are_those_of_s2() -> None:
    """[S2] section 3: WHD(6, 4) = 0.4 uniform, WHD(6, 5) = 0.087591 by height with beta 1."""
    assert measured("1980").distortion == pytest.approx(0.4)
    assert measured("1980").distortion_ratio == pytest.approx(0.2)
    assert measured("1980-05", Climb("height", beta=1)).distortion == pytest.approx(0.087591, abs=1e-6)
    steps = [1 / step**2 for step in (5, 4, 3, 2, 1)]
    assert measured("1980", Climb("height", beta=2)).distortion == pytest.approx(sum(steps[:2]) / sum(steps))
    assert measured("1980", Climb(given={"born": [3, 0, 1, 0, 2]})).distortion == pytest.approx(3 / 6)
    assert measured("*", Climb("height", beta=3)).distortion == pytest.approx(1)


def test_level_weights_of_another_column_are_refused() -> None:
    with pytest.raises(UsageError, match=r"weights of the levels for 'zip': not a quasi-identifier"):
        measured("1980", Climb(given={"zip": [1, 2]}))


SPANS = ((1, 10, 25), (11, 25, 45), (26, 50, 55))  # least value, greatest value, rows


@pytest.fixture
def thesis(tmp_path: Path) -> tuple[Path, Path]:
    """A table of a number x in three groups, and y, which is left as it is; before and after."""
    ages = [age for low, high, rows in SPANS for age in (low, *[high] * (rows - 1))]
    shown = [f"[{low}, {high}]" for low, high, rows in SPANS for _ in range(rows)]
    paths = tmp_path / "before.csv", tmp_path / "after.csv"
    for path, cells in zip(paths, (list(map(str, ages)), shown), strict=True):
        pl.DataFrame({"x": cells, "y": ["same"] * len(cells)}).write_csv(path)
    return paths


RULES = [Rule("x", base=50), Rule("x", inflection=(5, 6), importance=50)]


def test_research_value_is_that_of_s1(thesis: tuple[Path, Path]) -> None:
    """[S1] Methodology: weight 0.2, 25, 45 and 55 rows over 10, 15 and 25 values, rules worth 50 of 100: 0.005435."""
    measures = shoal.measure(*thesis, qi=["x", "y"], rules=RULES, weights={"x": 0.2, "y": 0.8})
    assert measures.research_value["x"] == pytest.approx(0.2 * 125 / 2300 * 0.5)
    assert round(measures.research_value["x"], 6) == 0.005435
    assert measures.research_value["y"] == pytest.approx(0.8)
    assert measures.research_value_total == pytest.approx(0.805435, abs=1e-6)


CONFIG = """\
[columns.x]
role = "qi"
kind = "numeric"
[columns.y]
role = "qi"
[weights]
x = 0.2
y = 0.8
[[rules]]
column = "x"
base = 50
[[rules]]
column = "x"
inflection = [5, 6]
importance = 50
"""


def test_command_takes_rules_and_weights_of_a_file(shoal: Shoal, thesis: tuple[Path, Path], tmp_path: Path) -> None:
    """[S1] Methodology, from the command line: 0.005435."""
    config = tmp_path / "shoal.toml"
    config.write_text(CONFIG)
    ended = shoal("measure", *thesis, "--config", config, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)["measures"]
    assert round(told["research_value"]["x"], 6) == 0.005435
    other = json.loads(shoal("measure", *thesis, "--config", config, "--weights", "x=1,y=1", "--json").out)["measures"]
    assert other["research_value"]["y"] == 0.5
    assert other["ncp"] == pytest.approx(told["ncp"] * 0.5 / 0.2)


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_command_tells_every_measure(shoal: Shoal, tmp_path: Path) -> None:
    """[S2] Table 1 (a) and (b) with the columns that the paper has: distortion 2.5, modification rate 4/18."""
    rows = ["male,middle,4350", "male,middle,4350", "male,young,4351", "female,young,4352", "female,old,4353"]
    rows = [*rows, "female,old,4353"]
    head, classes = "gender,age,postcode,sickness", ["stress", "obesity"] * 3
    hidden = ["*,young,435*" if "young" in row else row for row in rows]
    before = write(tmp_path / "a.csv", head, *(f"{row},{sick}" for row, sick in zip(rows, classes, strict=True)))
    after = write(tmp_path / "b.csv", head, *(f"{row},{sick}" for row, sick in zip(hidden, classes, strict=True)))
    codes = write(tmp_path / "codes.csv", *(f"{c};{c[:3]}*;{c[:2]}**;{c[0]}***;*" for c in map(str, range(4350, 4354))))
    words = ("measure", before, after, "--qi", "gender,age,postcode", "--categorical", "postcode")
    words = (*words, "--hierarchy", f"postcode={codes}", "--target", "sickness")
    content = json.loads(shoal(*words, "--json").out)
    assert content["columns"]["postcode"] == {"mean_values": (4 + 2 * 4) / 6, "mean_width": None, "unit": "codes"}
    told = content["measures"]
    assert told["exact_rows"] == pytest.approx(4 / 6)
    assert told["distortion"] == 2.5
    assert told["distortion_ratio"] == pytest.approx(2.5 / 18)
    assert told["precision"] == pytest.approx(1 - 2.5 / 18)
    assert told["modification_rate"] == pytest.approx(4 / 18)
    assert told["md"] == {"gender": 2, "age": 0, "postcode": 2}
    # Two cells of gender show both of 2 values, two of postcode all of 4.
    assert told["iloss"] == pytest.approx((2 * 1 / 2 + 2 * 3 / 4) / 18)
    assert told["lm_total"] == pytest.approx(4)
    assert told["lm"] == pytest.approx(4 / 18)
    # Three rows of each gender; 2, 1, 1 and 2 rows of the codes.
    assert told["entropy"] == pytest.approx(2 * 1 + 2 * (4 / 6 * 1.5849625 + 2 / 6 * 2.5849625))
    assert told["cm"] == pytest.approx(3 / 6)  # each group of two has both sicknesses
    assert told["research_value"]["gender"] == pytest.approx(1 / 3 * 6 / (4 + 2 * 2))
    by_height = json.loads(shoal(*words, "--beta", 1, "--json").out)["measures"]
    assert by_height["distortion"] == pytest.approx(2 * (1 + (1 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4)))
    own = json.loads(shoal(*words, "--level-weights", "postcode=5,1,1,1", "--json").out)["measures"]
    assert own["distortion"] == pytest.approx(2 * (1 + 5 / 8))
    shown = shoal(*words).out
    for word in (
        "exact rows",
        "postcode: 2 codes",
        "ILoss, LM",
        "MD",
        "entropy",
        "precision",
        "distortion",
        "research value",
        "CM",
    ):
        assert word in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no quasi-identifier is named"),
        (("--qi", "x", "--level-weights", "x=1,two"), "--level-weights x=1,two: not numbers"),
        (("--qi", "x", "--level-weights", "x=1,2"), "there are 2, but its hierarchy has 1 steps"),
        (("--qi", "x", "--weights", "x=-1"), "weight of 'x' is '-1'"),
    ],
)
def test_wrong_options_of_the_command_are_refused(
    shoal: Shoal, thesis: tuple[Path, Path], words: tuple[str, ...], told: str
) -> None:
    ended = shoal("measure", *thesis, *words)
    assert ended.code == 2
    assert told in ended.err
