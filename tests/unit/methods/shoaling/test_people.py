"""Shoaling with several rows a person: groups have k different people, whatever else is asked for."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.rules import Rule

QI = ["age", "zip", "sex"]
ZIP = {f"0{i}": (f"0{i // 4}x", "*") for i in range(12)}


def sheet(seed: int, n_people: int = 120, most_rows: int = 6) -> pl.DataFrame:
    """People with one to several rows; a row differs from the others of its person by a year or a zip code."""
    draw = random.Random(seed)
    rows = []
    for person in range(n_people):
        age, place, sex = draw.randrange(20, 70), draw.randrange(12), draw.choice("fm")
        for _ in range(1 + draw.randrange(most_rows)):
            here = draw.randrange(12) if draw.random() < 0.1 else place
            rows.append((f"p{person}", str(age + draw.randrange(3)), f"0{here}", sex, draw.choice("abcd")))
    draw.shuffle(rows)
    return pl.DataFrame(rows, schema=["person", *QI, "disease"], orient="row")


def release(frame: pl.DataFrame, k: int, **settings: Any) -> shoal.Release:
    sensitive = settings.pop("sensitive", ["disease"])
    return shoal.anonymize(frame, qi=QI, numeric=["age"], sensitive=sensitive, person="person", k=k, **settings)


def fewest_people(frame: pl.DataFrame, made: shoal.Release) -> int:
    people = frame["person"].to_numpy()[made.source_rows]
    named = made.frame.select(QI).with_columns(person=pl.Series(people))
    return int(named.group_by(QI).agg(pl.col("person").n_unique())["person"].min())  # type: ignore[arg-type]


@pytest.mark.parametrize("effort", ["fast", "normal", "high"])
@pytest.mark.parametrize("k", [2, 5, 20, 120])
def test_every_group_has_k_people(k: int, effort: str, seed: int, tmp_path: Path) -> None:
    """C18: the gate counts people as well."""
    frame = sheet(seed)
    made = release(frame, k, effort=effort)
    assert made.request.method == "shoaling"
    assert fewest_people(frame, made) >= k
    made.write(tmp_path / "out.csv")


def test_loss_is_not_above_that_of_mondrian(seed: int) -> None:
    frame = sheet(seed)
    losses = [release(frame, 5, method=name, ends="exact").measures.ncp for name in ("shoaling", "mondrian")]
    assert losses[0] < 0.8 * losses[1]


def test_one_row_a_person_counts_as_rows_do(seed: int) -> None:
    frame = sheet(seed, most_rows=1)
    by_people = release(frame, 4)
    by_rows = shoal.anonymize(frame.drop("person"), qi=QI, numeric=["age"], sensitive=["disease"], k=4)
    assert by_people.measures.ncp == pytest.approx(by_rows.measures.ncp, rel=0.1)


def test_order_of_rows_and_threads_do_not_matter(seed: int) -> None:
    frame = sheet(seed)
    first = release(frame, 5, threads=1).frame
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    assert release(shuffled, 5, threads=3).frame.equals(first)


def test_person_with_most_rows_does_not_fill_a_group(seed: int) -> None:
    frame = sheet(seed, n_people=30, most_rows=2)
    busy = frame.head(1).with_columns(person=pl.lit("busy"), age=pl.lit("99"))
    frame = pl.concat([frame, *[busy] * 60])
    assert fewest_people(frame, release(frame, 6)) >= 6


@pytest.mark.parametrize("k_column", [False, True])
def test_people_with_hierarchy_suppression_and_personal_k(seed: int, tmp_path: Path, *, k_column: bool) -> None:
    frame = sheet(seed)
    settings: dict[str, Any] = {"hierarchies": {"zip": shoal.hierarchy.from_dict(ZIP)}, "suppression_limit": 0.05}
    if k_column:
        draw = np.random.default_rng(seed)
        frame = frame.with_columns(own=pl.Series(draw.choice(["3", "5", "9"], frame.height)))
        settings["k_column"] = "own"
    made = release(frame, 3, **settings)
    assert made.measures.suppressed_rows <= 0.05 * frame.height
    made.write(tmp_path / "out.csv")


def test_bans_hold_while_people_are_counted(seed: int, tmp_path: Path) -> None:
    frame = sheet(seed)
    rules = [Rule("sex", apart=("f", "m"), ban=True)]
    made = release(frame, 4, rules=rules, weights={"age": Fraction(2)})
    assert fewest_people(frame, made) >= 4
    assert set(made.frame["sex"]) == {"f", "m"}
    made.write(tmp_path / "out.csv")
