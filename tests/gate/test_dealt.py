"""The gate for releases of groups larger than memory: a true release passes, and every fault is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.schema import Kind, Limits, Role, Schema
from shoal.tables.formats.columnar import sink_parquet
from shoal.tables.formats.writers import write_csv
from shoal.verification import SourceTable, Verdict, gate_dealt
from shoal.verification.gate_streamed import blocks, examined, tallies
from shoal.verification.reading import files

NAMES = ["disease", "age", "sex", "town"]  # a quasi-identifier is neither first nor last
SCHEMA = Schema.build(
    [*NAMES, "name"],
    {Role.QI: ["age", "sex"], Role.SENSITIVE: ["disease"], Role.INSENSITIVE: ["town"], Role.IDENTIFIER: ["name"]},
    kinds={"age": Kind.NUMERIC, "sex": Kind.CATEGORICAL},
)
SOURCE = pl.DataFrame(
    {
        "disease": [f"d{n % 5}" for n in range(60)],
        "age": [str(20 + n % 20) for n in range(60)],
        "sex": ["f" if n % 3 else "" for n in range(60)],
        "town": [f"t,{n % 7}" for n in range(60)],
        "name": [f"n{n}" for n in range(60)],
    }
)


def released(*, with_names: bool = False) -> pl.DataFrame:
    """Return the release, with the cells that each row was made from beside it."""
    young = pl.col("age").cast(pl.Int64) < 30
    shown = SOURCE.select(
        "disease",
        pl.when(young).then(pl.lit("[20, 29]")).otherwise(pl.lit("[30, 39]")).alias("age"),
        pl.when(young).then(pl.lit('{"", f}')).otherwise(pl.lit("*")).alias("sex"),
        "town",
        *(["name"] if with_names else []),
        age_before="age",
        sex_before="sex",
    )
    return shown.sort(NAMES)


def stated(rows: pl.DataFrame, left: pl.DataFrame, held_back: list[str]) -> Any:
    """State what rows were made from, and which are left out, as their maker does."""
    names = ["age_before", "sex_before", *held_back]
    texts = [sorted(set(rows[name])) for name in names]
    codes = [
        np.array([known.index(cell) for cell in rows[name]], dtype=np.int32)
        for name, known in zip(names, texts, strict=True)
    ]
    chunks = ([column[part] for column in codes] for part in (slice(0, 7), slice(7, 7), slice(7, None)))
    whole = [(left[name].to_list(), np.arange(left.height, dtype=np.int32)) for name in [*NAMES, *held_back]]
    return SimpleNamespace(texts=texts, chunks=chunks, left_out=iter([whole]))


def judged(folder: Path, rows: pl.DataFrame, *, suffix: str = ".csv", **changed: Any) -> Verdict:
    folder = folder / str(sum(1 for _ in folder.iterdir()))
    folder.mkdir()
    schema = changed.get("schema", SCHEMA)
    file = changed.get("file", rows.select(NAMES))
    if suffix == ".csv":
        write_csv(SOURCE, folder / "source.csv")
        write_csv(file, folder / "release.csv")
    else:
        SOURCE.write_parquet(folder / "source.parquet", row_group_size=7)
        sink_parquet_of(file, folder)
    counts = {"rows": 60, "groups": 2, "smallest_group": 30, "suppressed_rows": 0}
    held_back = list(schema.names(Role.PERSON))
    return gate_dealt(
        folder / f"release{suffix}",
        schema,
        changed.get("k", 30),
        SourceTable(folder / f"source{suffix}"),
        stated(rows, changed.get("left", SOURCE[:0]), held_back),
        changed.get("counts", counts),
        suppression_limit=changed.get("limit", 0),
        models=changed.get("models", ()),
    )


def sink_parquet_of(file: pl.DataFrame, folder: Path) -> None:
    write_csv(file, folder / "plain.csv")
    sink_parquet(folder / "plain.csv", folder / "release.parquet")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("most", [2, 10**6])
def test_true_release_passes(most: int, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if nothing is remembered for long."""
    monkeypatch.setattr(examined, "MOST_PAIRS", most)
    monkeypatch.setattr(blocks, "MOST_TEXTS", most)
    monkeypatch.setattr(tallies, "LEAST_PENDING", most)
    monkeypatch.setattr(blocks, "MOST_RANKED", most)
    monkeypatch.setattr(files, "BLOCK_BYTES", 300 if most == 2 else 1 << 20)
    verdict = judged(tmp_path, released(), suffix=suffix)
    assert verdict.ok, verdict.violations
    assert (verdict.rows, verdict.groups, verdict.smallest_group) == (60, 2, 30)


def test_rows_left_out_are_rows_of_the_source(tmp_path: Path) -> None:
    """One row is left out. Stated as another one, it is not missing from the source."""
    rows, counts = released(), {"rows": 59, "groups": 2, "smallest_group": 29, "suppressed_rows": 1}
    own = pl.col("disease") == rows["disease"][0]
    left = SOURCE.filter(own, pl.col("age") == rows["age_before"][0], pl.col("town") == rows["town"][0])[:1]
    for given, ok in ((left, True), (left.with_columns(town=pl.lit("t,9")), False), (SOURCE[:0], False)):
        verdict = judged(tmp_path, rows[1:], k=29, limit=1, counts=counts, left=given)
        assert verdict.ok is ok, verdict.violations


def test_people_are_counted(tmp_path: Path) -> None:
    roles = {Role.QI: ["age", "sex"], Role.SENSITIVE: ["disease"], Role.INSENSITIVE: ["town"], Role.PERSON: ["name"]}
    schema = Schema.build([*NAMES, "name"], roles, kinds={"age": Kind.NUMERIC, "sex": Kind.CATEGORICAL})
    rows = released(with_names=True)
    assert judged(tmp_path, rows, schema=schema).ok
    assert not judged(tmp_path, rows, schema=schema, k=31).ok
    same = pl.when(pl.col("name") == "n1").then(pl.lit("n2")).otherwise("name").alias("name")
    assert not judged(tmp_path, rows.with_columns(same), schema=schema).ok


@pytest.mark.parametrize(("least", "ok"), [(5, True), (6, False)])
def test_models_are_checked(least: int, ok: bool, tmp_path: Path) -> None:
    models = [{"name": "distinct-l", "column": "disease", "l": least}]
    assert judged(tmp_path, released(), models=models).ok is ok


def at(row: int, name: str, cell: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Change one cell."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        number = pl.int_range(pl.len())
        return rows.with_columns(pl.when(number == row).then(pl.lit(cell)).otherwise(pl.col(name)).alias(name))

    return change


def swapped(name: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Swap the cells of the first and the last row."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        return at(59, name, rows[name][0])(at(0, name, rows[name][59])(rows))

    return change


FAULTS: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "a range that excludes its value": (at(3, "age", "[30, 39]"), "column 'age'"),
    "a set that excludes its value": (at(3, "sex", "m"), "column 'sex'"),
    "another sensitive value": (at(3, "disease", "d9"), "rows"),
    "another town": (at(3, "town", "t,8"), "rows"),
    "sensitive values of two rows swapped": (swapped("disease"), "rows"),
    "cells that are not in the source": (at(3, "age_before", "20.0"), "rows"),
    "source cells of two rows swapped": (swapped("age_before"), "rows"),
    "a row twice": (lambda rows: pl.concat([rows, rows[:1]]).sort(NAMES), "rows"),
    "a row in place of another": (lambda rows: pl.concat([rows[:1], rows[:1], rows[2:]]), "rows"),
    "a row less": (lambda rows: rows[1:], "rows"),
    "no rows": (lambda rows: rows[:0], "rows"),
    "another order": (lambda rows: rows.reverse(), "order"),
}


@pytest.mark.parametrize("limit", [0, 1], ids=["none suppressed", "all may be suppressed"])
@pytest.mark.parametrize(("fault", "where"), FAULTS.values(), ids=FAULTS)
def test_fault_is_found(fault: Callable[[pl.DataFrame], pl.DataFrame], where: str, limit: int, tmp_path: Path) -> None:
    """A row may not be left out either, since the maker does not say which."""
    verdict = judged(tmp_path, fault(released()), limit=limit)
    assert not verdict.ok
    assert any(violation.where == where for violation in verdict.violations), verdict.violations


FILES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "a row less than the witness": lambda rows: rows[:-1],
    "a row more than the witness": lambda rows: pl.concat([rows, rows[-1:]]),
    "a column less": lambda rows: rows.drop("town"),
    "a column more": lambda rows: rows.with_columns(name=pl.lit("n1")),
    "columns in another order": lambda rows: rows.select(NAMES[::-1]),
}


@pytest.mark.parametrize("fault", FILES.values(), ids=FILES)
def test_fault_of_the_file_is_found(fault: Callable[[pl.DataFrame], pl.DataFrame], tmp_path: Path) -> None:
    rows = released()
    assert not judged(tmp_path, rows, file=fault(rows.select(NAMES))).ok


@pytest.mark.parametrize(("width", "ok"), [("9", True), ("8", False)])
def test_limits_are_checked(width: str, ok: bool, tmp_path: Path) -> None:
    ages = next(column for column in SCHEMA.columns if column.name == "age")
    schema = SCHEMA.with_columns({"age": replace(ages, limits=Limits(max_width=width))})
    assert judged(tmp_path, released(), schema=schema).ok is ok


def test_small_group_is_found(tmp_path: Path) -> None:
    assert not judged(tmp_path, released(), k=31).ok


def test_false_claim_is_found(tmp_path: Path) -> None:
    counts = {"rows": 60, "groups": 3, "smallest_group": 30, "suppressed_rows": 0}
    assert not judged(tmp_path, released(), counts=counts).ok


def test_no_text_contains_a_cell(tmp_path: Path) -> None:
    verdict = judged(tmp_path, at(3, "age", "[31, 39]")(released()))
    assert not any("31" in str(violation) for violation in verdict.violations)
