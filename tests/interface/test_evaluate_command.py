"""`shoal evaluate`: what it prints, with and without a target, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal import evaluate
from tests.command import Shoal

QI = ("--qi", "age,town")


@pytest.fixture
def files(tmp_path: Path, shoal: Shoal) -> tuple[Path, Path]:
    """A table in which age tells the pay, and its release."""
    generator = np.random.default_rng(0)
    age = generator.integers(20, 70, 150)
    pay = np.where((age >= 45) ^ (generator.random(150) < 0.1), "high", "low")
    frame = pl.DataFrame({"age": age, "town": generator.choice(["Bonn", "Lima"], 150), "pay": pay})
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    frame.write_csv(data)
    assert shoal("anonymize", data, "-o", out, "-k", 5, *QI, "--sensitive", "pay", "--method", "mondrian").code == 0
    return data, out


def test_json_holds_all_answers(files: tuple[Path, Path], shoal: Shoal) -> None:
    ended = shoal("evaluate", *files, *QI, "--target", "pay", "--queries", 50, "--folds", 2, "--seed", 3, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert told["queries"]["queries"] == 50
    assert [column["name"] for column in told["moments"]["columns"]] == ["age", "town", "pay"]
    assert {each["learner"] for each in told["accuracy"]} == set(evaluate.LEARNERS)
    assert not any(each["held_out"] for each in told["accuracy"])
    assert sum(bucket["rows"] for bucket in told["buckets"]) == 150
    found = evaluate.utility(*files, qi=["age", "town"], target="pay", queries=50, folds=2, seed=3)
    assert json.loads(json.dumps(found.as_dict())) == {name: told[name] for name in told if name != "seconds"}


def test_words_tell_queries_means_and_buckets(files: tuple[Path, Path], shoal: Shoal) -> None:
    ended = shoal("evaluate", *files, *QI, "--target", "pay", "--queries", 50, "--held-out", files[0])
    assert ended.code == 0, ended.err
    for words in (
        "range queries",
        "age: mean",
        "associations",
        "accuracy, boosting",
        "bucket that survives",
        "age >= ",
    ):
        assert words in ended.out
    assert "not held out" not in ended.out
    plain = shoal("evaluate", *files, *QI, "--queries", 50)
    assert plain.code == 0
    assert "accuracy" not in plain.out


def test_hierarchies_explain_labels(files: tuple[Path, Path], shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("Bonn;Europe;*\nLima;America;*\n")
    coarse = tmp_path / "coarse.csv"
    coarse.write_text(files[0].read_text().replace("Bonn", "Europe").replace("Lima", "America"))
    words = ("evaluate", files[0], coarse, *QI, "--queries", 50, "--json", "--hierarchy", f"town={tmp_path}/town.csv")
    assert json.loads(shoal(*words).out)["queries"]["mean"] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--target", "wage"), "target 'wage' is not in the original"),
        (("--held-out", "data.csv"), "held-out rows only serve learners. Name the column of classes: --target."),
        (("--queries", "0"), "--queries 0 is too few"),
        (("--target", "pay", "--folds", "1"), "--folds 1 is not valid"),
    ],
)
def test_wrong_questions_end_with_2(files: tuple[Path, Path], shoal: Shoal, words: tuple[str, ...], told: str) -> None:
    ended = shoal("evaluate", *files, *QI, *words)
    assert ended.code == 2
    assert told in ended.err


def test_release_of_a_larger_table_is_refused(files: tuple[Path, Path], shoal: Shoal) -> None:
    files[1].write_text(files[1].read_text() + files[1].read_text().split("\n", 1)[1])
    assert shoal("evaluate", *files, *QI, "--queries", 5).code == 5  # its manifest says otherwise
    ended = shoal("evaluate", *files, *QI, "--queries", 5, "--no-manifest")
    assert (ended.code, "Check that they are the same table" in ended.err) == (3, True)
