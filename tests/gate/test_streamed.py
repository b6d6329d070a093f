"""The gate for tables larger than memory: a true release passes, and every fault is found."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.schema import Dialect, Kind, Role, Schema
from shoal.tables.formats.columnar import sink_parquet
from shoal.tables.formats.writers import compress, write_csv
from shoal.verification import Claimed, Verdict, gate_recoded, source_rows

NAMES = ["age", "sex", "disease"]
SCHEMA = Schema.build(
    [*NAMES, "name"],
    {Role.QI: ["age", "sex"], Role.SENSITIVE: ["disease"], Role.IDENTIFIER: ["name"]},
    kinds={"age": Kind.NUMERIC, "sex": Kind.CATEGORICAL},
)
DRAW = random.Random(3)
SOURCE = pl.DataFrame(
    {
        "age": [str(DRAW.randrange(20, 40)) for _ in range(200)] + ["77"],
        "sex": [DRAW.choice(["f", "m", ""]) for _ in range(200)] + ["f"],
        "disease": [DRAW.choice(["flu", 'a,"b"', "", "line\nend"]) for _ in range(200)] + ["flu"],
        "name": [f"n{i}" for i in range(201)],
    }
)
AGES = {str(age): f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in range(20, 40)} | {"77": "[70, 80)"}
SEXES = {"f": "f", "m": "m", "": ""}
KEPT = tuple((age, sex) for age in ("[20, 30)", "[30, 40)") for sex in SEXES)


def recoded(ages: dict[str, str] = AGES) -> pl.DataFrame:
    frame = SOURCE.select(NAMES).with_columns(pl.col("age").replace(ages))
    return frame.filter(pl.col("age") != "[70, 80)").sort(NAMES)


def judged(frame: pl.DataFrame, folder: Path, **changed: Any) -> Verdict:
    """Write a release and check it against the source."""
    write_csv(SOURCE, folder / "source.csv")
    path = folder / "release.csv"
    write_csv(frame, path)
    return judged_file(path, frame, folder, **changed)


def judged_file(path: Path, frame: pl.DataFrame, folder: Path, **changed: Any) -> Verdict:
    sizes = recoded().group_by("age", "sex").len()["len"]
    counts = {"rows": 200, "groups": len(sizes), "smallest_group": int(sizes.min() or 0), "suppressed_rows": 1}
    claimed = Claimed(
        {"age": changed.get("ages", AGES), "sex": SEXES}, changed.get("kept", KEPT), changed.get("counts", counts)
    )
    rows: Iterator[list[list[str]]] = source_rows(folder / "source.csv", Dialect(), NAMES)
    return gate_recoded(
        path,
        SCHEMA,
        changed.get("k", 5),
        rows,
        claimed,
        suppression_limit=changed.get("limit", 0.01),
        models=changed.get("models", ()),
    )


def test_a_true_release_passes(tmp_path: Path) -> None:
    verdict = judged(recoded(), tmp_path)
    assert verdict.ok, verdict.violations
    assert (verdict.rows, verdict.groups) == (200, 6)


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_a_true_release_passes_in_other_formats(tmp_path: Path, suffix: str) -> None:
    write_csv(SOURCE, tmp_path / "source.csv")
    write_csv(recoded(), tmp_path / "plain.csv")
    path = tmp_path / f"release{suffix}"
    compress(tmp_path / "plain.csv", path, keep=True) if suffix == ".csv.gz" else sink_parquet(
        tmp_path / "plain.csv", path
    )
    verdict = judged_file(path, recoded(), tmp_path)
    assert verdict.ok, verdict.violations
    if suffix == ".csv.gz":
        assert gzip.decompress(path.read_bytes()) == (tmp_path / "plain.csv").read_bytes()


def swapped(frame: pl.DataFrame) -> pl.DataFrame:
    """Two rows of one group exchange nothing; of two groups, their sensitive cells."""
    rows = frame.rows()
    first = 0
    second = next(i for i, row in enumerate(rows) if row[:2] != rows[0][:2] and row[2] != rows[0][2])
    rows[first], rows[second] = (*rows[first][:2], rows[second][2]), (*rows[second][:2], rows[first][2])
    return pl.DataFrame(rows, schema=frame.schema, orient="row").sort(NAMES)


BROKEN: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "a row is lost": (lambda f: f.slice(1), "claim 'rows'"),
    "a row is doubled": (lambda f: pl.concat([f, f.head(1)]).sort(NAMES), "claim 'rows'"),
    "one row for another": (
        lambda f: pl.concat([f.slice(1), f.tail(1)]).sort(NAMES),
        "exactly the 200 rows",
    ),
    "sensitive cells exchanged": (swapped, "exactly the 200 rows"),
    "a cell is changed": (
        lambda f: f.with_columns(
            pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("x")).otherwise("disease").alias("disease")
        ).sort(NAMES),
        "exactly the 200 rows",
    ),
    "a label of another row": (
        lambda f: f.with_columns(
            pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("[30, 40)")).otherwise("age").alias("age")
        ).sort(NAMES),
        "exactly the 200 rows",
    ),
    "not sorted": (lambda f: f.reverse(), "not sorted"),
    "a column too many": (lambda f: f.with_columns(name=pl.lit("n1")), "'name' (identifier) must not be released"),
    "a column is lost": (lambda f: f.drop("disease"), "'disease' is not in the file"),
    "a group below k": (
        lambda f: f.with_columns(
            pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("29")).otherwise("age").alias("age")
        ).sort(NAMES),
        "k=5: 1 of 7 groups is smaller",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_release_is_found(tmp_path: Path, fault: str) -> None:
    """C02: the gate rejects a file that was made wrongly, and shows no cell."""
    change, text = BROKEN[fault]
    verdict = judged(change(recoded()), tmp_path)
    assert not verdict.ok
    assert text in "\n".join(verdict.violations)
    assert "flu" not in "\n".join(verdict.violations)


def test_false_labels_and_claims_are_found(tmp_path: Path) -> None:
    """C03: a label that does not cover its cell, although every row carries the label that was stated."""
    false = AGES | {"25": "[30, 40)"}
    verdict = judged(recoded(false), tmp_path, ages=false)
    assert any("labels of 1 distinct cell do not cover" in text for text in verdict.violations)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"limit": 0}, "suppression: 1 of 201"),
        ({"k": 60}, "k=60"),
        ({"counts": {"rows": 199}}, "claim 'rows': 199 stated, 200 counted"),
        ({"kept": None}, "exactly the 201 rows"),
        ({"models": [{"name": "distinct-l", "column": "disease", "l": 5}]}, "fail"),
    ],
)
def test_every_requirement_is_checked(tmp_path: Path, changed: dict[str, Any], text: str) -> None:
    verdict = judged(recoded(), tmp_path, **changed)
    assert text in "\n".join(verdict.violations)


def test_a_source_that_lost_a_column_is_refused(tmp_path: Path) -> None:
    write_csv(SOURCE.drop("sex"), tmp_path / "source.csv")
    with pytest.raises(InputError, match="column 'sex' is no longer in the file"):
        next(source_rows(tmp_path / "source.csv", Dialect(), NAMES))
