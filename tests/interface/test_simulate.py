"""`shoal simulate`: what it prints, what it refuses, what it draws."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.command import Shoal


def test_json_holds_rate_interval_and_rows_needed(shoal: Shoal) -> None:
    """[S1] Table 12, the row of seven attributes and 7,500 records."""
    ended = shoal("simulate", "--attributes", 7, "--k", 5, "--rows", 7500, "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert (found["success_rate"], found["repetitions"], found["cells"]) == (1.0, 500, 128)
    assert found["interval"] == pytest.approx([0.9924, 1.0], abs=1e-4)
    assert (found["rows_needed"], found["rows_needed_by"], found["wanted_success"]) == (2043, "exact", 0.95)
    assert found["exact"] == pytest.approx(1)


def test_same_seed_gives_the_same_answer_for_any_threads(shoal: Shoal) -> None:
    words = ("simulate", "--attributes", 3, "-k", 3, "--rows", 50, "--json")
    answers = [json.loads(shoal(*words, *more).out) for more in ((), ("--threads", 1), ("--seed", 7))]
    rates = [answer["success_rate"] for answer in answers]
    assert rates[0] == rates[1] != rates[2]


def test_table_says_whether_rows_are_enough(shoal: Shoal) -> None:
    few = shoal("simulate", "--attributes", 7, "-k", 5, "--rows", 500)
    assert "500 rows almost never reach k = 5 everywhere; recode the values" in few.out
    assert "2,043 for a chance of 0.95 (exact)" in few.out
    assert "0.0000 to 0.0076 (Wilson)" in few.out
    many = shoal("simulate", "--attributes", 7, "-k", 5, "--rows", 7500)
    assert "7,500 rows are enough for k = 5 without recoding" in many.out
    between = shoal("simulate", "--attributes", 7, "-k", 5, "--rows", 1800)
    assert "1,800 rows may or may not reach k = 5 everywhere" in between.out


def test_without_rows_the_rows_needed_are_told(shoal: Shoal) -> None:
    ended = shoal("simulate", "--cardinalities", "2,5,80", "-k", 5, "--success", 0.99)
    assert "for a chance of 0.99 (exact)" in ended.out
    assert "success rate" not in ended.out
    found = json.loads(shoal("simulate", "--cardinalities", "2,5,80", "-k", 5, "--json").out)
    assert (found["success_rate"], found["repetitions"], found["cells"]) == (None, 0, 800)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = ["a,x"] * 50 + ["a,y"] * 30 + ["b,y"] * 18 + ["c,x"] * 2
    path = tmp_path / "table.csv"
    path.write_text("one,two\n" + "\n".join(rows) + "\n")
    return path


def test_own_table_is_drawn_by_column_or_by_row(shoal: Shoal, table: Path) -> None:
    words = ("simulate", table, "--qi", "one,two", "-k", 2, "--json")
    apart, together = (json.loads(shoal(*words, *more).out) for more in ((), ("--joint",)))
    assert (apart["distribution"], apart["cells"], apart["rows"]) == ("independent", 6, 100)
    assert (together["distribution"], together["cells"]) == ("joint", 4)
    assert apart["exact"] < together["exact"]


def test_drawing_has_a_curve_for_each_number_of_attributes(shoal: Shoal, tmp_path: Path) -> None:
    """[S1] Figure 23."""
    path = tmp_path / "out.svg"
    words = ("simulate", "--attributes", 12, "-k", 5, "--rows", 80_000, "--repetitions", 20, "--plot", path)
    assert shoal(*words).code == 0
    drawing = ET.fromstring(path.read_text())
    texts = {"".join(element.itertext()) for element in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"3 attributes", "7 attributes", "12 attributes", "simulated", "rows", "probability"} <= texts
    assert "12 attributes 83,437 rows" in path.read_text()
    before = path.read_bytes()
    again = shoal(*words)
    assert (again.code, path.read_bytes()) == (6, before)
    assert "exists already" in again.err
    assert shoal(*words, "--force").code == 0
    assert path.read_bytes() == before


def test_drawing_of_a_table_adds_its_columns_one_by_one(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    assert shoal("simulate", table, "--qi", "one,two", "-k", 2, "--plot", path).code == 0
    assert ">one<" in path.read_text()
    assert ">+ two<" in path.read_text()


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--attributes", 3, "--rows", 5), 2, "k is not given"),
        (("-k", 3, "--rows", 5), 2, "pass one distribution of rows"),
        (("-k", 3, "--attributes", 3, "--cardinalities", "2"), 2, "pass one distribution of rows"),
        (("-k", 3, "--attributes", 3, "--joint"), 2, "describe a table, but no table is given"),
        (("-k", 3, "--attributes", 0, "--rows", 5), 2, "attributes: 0 is not a positive integer"),
        (("-k", 3, "--cardinalities", "2,x"), 2, "is not a list of integers"),
        (("-k", 0, "--attributes", 3), 2, "k=0 is not a positive integer"),
        (("-k", 3, "--attributes", 3, "--success", 1.5), 2, "is not between 0 and 1"),
        (("-k", 3, "--attributes", 3, "--plot", "out.png"), 2, "ends in .svg"),
        (("-k", 3, "--attributes", 3, "--plot", "no/where/out.svg"), 6, "no such folder"),
        (("-k", 3, "--attributes", 40, "--rows", 10**12), 2, "random values"),
        (("-k", 3, "absent.csv", "--qi", "a"), 6, "no such file"),
    ],
)
def test_odd_questions_are_refused(shoal: Shoal, words: tuple[object, ...], code: int, text: str) -> None:
    ended = shoal("simulate", *words)
    assert (ended.code, ended.out) == (code, "")
    assert text in ended.err


def test_table_without_columns_is_refused(shoal: Shoal, table: Path) -> None:
    ended = shoal("simulate", table, "-k", 2)
    assert ended.code == 2
    assert "no quasi-identifier is named" in ended.err
