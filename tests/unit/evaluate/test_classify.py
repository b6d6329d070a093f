"""Accuracy: rows held out, three ways through them, the same numbers for any order of the rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import Release, evaluate
from shoal.errors import UsageError
from shoal.evaluate import confidence
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table

QI = ["age", "town"]


def make(n_rows: int, seed: int = 0) -> pl.DataFrame:
    """Salaries that age tells, nine times of ten."""
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 70, n_rows)
    rich = (age >= 45) ^ (generator.random(n_rows) < 0.1)
    town = generator.choice(["Bonn", "Lima", "Rome"], n_rows)
    return pl.DataFrame({"age": age, "town": town, "salary": np.where(rich, "high", "low")})


def make_schema() -> Schema:
    return Schema.build([*QI, "salary"], {Role.QI: QI, Role.SENSITIVE: ["salary"]})


def release(part: pl.DataFrame) -> Release:
    return shoal.anonymize(part, qi=QI, sensitive=["salary"], k=5, method="mondrian")


def means(found: tuple[evaluate.Accuracy, ...]) -> dict[tuple[str, str, str], float]:
    return {(each.learner, each.trained_on, each.tested_on): each.mean for each in found}


def test_learners_find_what_there_is_and_zero_r_does_not() -> None:
    train, test = make(400), make(400, seed=1)
    found = evaluate.accuracy(release(train).text, test, make_schema(), "salary", seed=3)
    assert list(found) == list(evaluate.LEARNERS)
    assert found["zero-r"] == max(test["salary"].value_counts()["count"]) / 400
    assert all(found[name] > 0.8 for name in ("logistic", "tree", "boosting"))


def test_class_that_nothing_tells_leaves_zero_r() -> None:
    """RELIABILITY C27: one class alone, and a column of stars, are end points."""
    frame = make(60).with_columns(salary=pl.lit("low"), age=pl.lit("*"))
    found = evaluate.accuracy(frame, make(60, seed=1), make_schema(), "salary")
    assert len(set(found.values())) == 1
    frame = make(60).with_columns(town=pl.lit("*"))
    found = evaluate.accuracy(frame, make(60, seed=1), make_schema(), "salary", features=["town"])
    assert len(set(found.values())) == 1


def test_held_out_rows_are_released_apart_and_the_order_of_rows_does_not_matter() -> None:
    frame, parts = make(120), []

    def watched(part: pl.DataFrame) -> Release:
        parts.append(part.height)
        return release(part)

    shares: list[float] = []
    one = evaluate.learn(frame, watched, make_schema(), "salary", ["zero-r", "tree"], folds=3, progress=shares.append)
    assert parts == [80, 40] * 3
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])
    assert all(each.held_out and len(each.scores) == 3 for each in one)
    assert all(each.low <= each.mean <= each.high for each in one)
    other = evaluate.learn(frame.reverse(), release, make_schema(), "salary", ["zero-r", "tree"], folds=3)
    assert one == other
    told = means(one)
    assert len(told) == 6
    assert told["tree", "release", "original"] > told["zero-r", "release", "original"]


def test_folds_are_stratified_and_seeded() -> None:
    def run(seed: int) -> tuple[evaluate.Accuracy, ...]:
        return evaluate.learn(
            make(90), release, make_schema(), "salary", ["zero-r", "tree"], folds=3, repeats=2, seed=seed
        )

    assert len(run(0)[0].scores) == 6
    assert max(run(0)[0].scores) - min(run(0)[0].scores) <= 2 / 30
    assert run(0) != run(1)


def test_release_is_tested_on_rows_that_are_not_its_source() -> None:
    """A class that is each row's own by heart: with the test rows among the training rows the tree would know it."""
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({"age": range(200), "salary": generator.choice(["high", "low"], 200)})
    made = shoal.anonymize(frame, qi=["age"], sensitive=["salary"], k=2)
    found = evaluate.learn_from_release(made, "salary", ["boosting"], folds=4)
    assert not any(each.held_out for each in found)
    assert all(each.mean < 0.65 for each in found)


def test_files_without_held_out_rows_say_so_and_with_them_have_wilson_intervals() -> None:
    frame, kept = make(150), make(80, seed=1)
    made = release(frame).text
    found = evaluate.learn_from_files(frame, made, make_schema(), "salary", ["zero-r", "tree"], folds=3)
    assert not any(each.held_out for each in found)
    apart = evaluate.learn_from_files(frame, made, make_schema(), "salary", ["zero-r", "tree"], held_out=kept)
    assert all(each.held_out for each in apart)
    assert means(apart).keys() == means(found).keys()
    plain = evaluate.accuracy(made, kept, make_schema(), "salary", ["tree"])["tree"]
    tree = next(each for each in apart if (each.learner, each.trained_on) == ("tree", "release"))
    assert (tree.mean, (tree.low, tree.high)) == (plain, confidence.of_share(plain, 80))


def test_target_that_is_recoded_teaches_only_where_it_is_one_class() -> None:
    frame = make(60)
    schema = Schema.build(frame.columns, {Role.QI: frame.columns})
    train = frame.with_columns(
        pl.when(pl.col("age") < 45).then(pl.lit("{high, low}")).otherwise("salary").alias("salary")
    )
    found = evaluate.accuracy(train, frame, schema, "salary", ["zero-r"])
    assert found["zero-r"] == (frame["salary"] == "high").mean()
    assert evaluate.accuracy(frame, train, schema, "salary", ["zero-r"])["zero-r"] <= (frame["age"] >= 45).mean()


def test_table_without_rows_is_never_told_right() -> None:
    """RELIABILITY C27: never NaN."""
    empty = Table(make(30).cast(pl.String)[:0])
    assert evaluate.accuracy(make(30), empty, make_schema(), "salary", ["zero-r"]) == {"zero-r": 0}


def test_range_of_numbers_is_no_class() -> None:
    """An age of [20, 30] is not one more class beside the ages: rows that show it teach nothing."""
    frame = make(200).with_columns(age=pl.col("age") // 10)
    schema = Schema.build(frame.columns, {Role.QI: QI}, kinds={"age": Kind.NUMERIC}, others="insensitive")
    coarse = frame.with_columns(age=pl.when(pl.col("town") == "Rome").then(pl.lit("[2, 6]")).otherwise(pl.col("age")))
    found = evaluate.accuracy(coarse, frame, schema, "age", ["zero-r"])
    shown = coarse.filter(pl.col("town") != "Rome")["age"]
    assert found["zero-r"] == (frame["age"] == int(shown.mode().sort()[0])).sum() / 200


def test_labels_are_spread_for_learners() -> None:
    frame = make(200).with_columns(
        salary=pl.when(pl.col("town") == "Lima").then(pl.lit("high")).otherwise(pl.lit("low"))
    )
    coarse = frame.with_columns(town=pl.col("town").replace({"Bonn": "Europe", "Rome": "Europe"}))
    labels = {"town": {"Europe": frozenset({"Bonn", "Rome"})}}
    found = evaluate.accuracy(coarse, frame, make_schema(), "salary", ["logistic"], features=["town"], labels=labels)
    assert found["logistic"] == 1


def test_wrong_questions_are_refused() -> None:
    frame = make(30).with_columns(number=pl.Series([str(i) for i in range(30)]))
    with pytest.raises(UsageError, match=r"learner 'forest' is unknown\. Learners: zero-r, logistic, tree, boosting"):
        evaluate.accuracy(frame, frame, make_schema(), "salary", ["forest"])
    with pytest.raises(UsageError, match="target 'wage' is not in the original"):
        evaluate.accuracy(frame, frame, make_schema(), "wage")
    with pytest.raises(UsageError, match="name at least one column other than the target"):
        evaluate.accuracy(frame, frame, make_schema(), "salary", features=["salary"])
    with pytest.raises(UsageError, match="column 'town' is not in the table of held-out rows"):
        evaluate.learn_from_files(frame, frame, make_schema(), "salary", held_out=frame.drop("town"))
    with pytest.raises(UsageError, match="column 'age' is not in the training table"):
        evaluate.accuracy(frame.drop("age"), frame, make_schema(), "salary")
    with pytest.raises(UsageError, match="folds=1 is not valid: the table has 30 rows"):
        evaluate.learn(make(30), release, make_schema(), "salary", folds=1)
    many = pl.concat([frame] * 4).with_columns(salary=pl.Series([str(i) for i in range(120)]))
    with pytest.raises(UsageError, match=r"has 120 distinct values\. Name a column with at most 100 classes"):
        evaluate.accuracy(many, many, make_schema(), "salary")


def test_missing_scikit_learn_is_named_with_its_cure() -> None:
    code = """
import sys
sys.modules["sklearn"] = None
import shoal.evaluate
try:
    shoal.evaluate.ReleaseEncoder
except shoal.ShoalError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "need scikit-learn, which is not installed: pip install 'shoal[evaluate]'" in ended.stdout


def test_intervals_are_those_of_their_formulas() -> None:
    from scipy.stats import t

    scores = [0.7, 0.8, 0.75, 0.72, 0.78]
    half = t.ppf(0.975, 4) * np.sqrt((1 / 5 + 1 / 4) * np.var(scores, ddof=1))
    assert confidence.of_folds(scores, 5) == pytest.approx((0.75 - half, 0.75 + half))
    assert confidence.of_share(0.5, 100) == pytest.approx((0.40383, 0.59617), abs=1e-5)
    assert confidence.of_share(1.0, 10) == pytest.approx((0.72247, 1), abs=1e-5)
    assert confidence.of_mean([1.0, 1.0]) == (1, 1)
