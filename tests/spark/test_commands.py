"""Commands on releases in parts: the answers and exit codes are those of one file in memory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal.errors import VerificationError
from shoal.methods import sections
from shoal.release.job import Job
from shoal.settings.keywords import settings_from
from shoal.spark import reading
from shoal.spark.engine import open_source, write_release
from shoal.spark.gate import examine_counts
from shoal.tables.formats.writers import write_csv
from tests.command import Shoal
from tests.spark.releases import text_of

ROLES = ("--qi", "age,town", "--sensitive", "illness")
GIVEN: dict[str, Any] = {"k": 5, "effort": "fast", "qi": ["age", "town"], "sensitive": ["illness"]}


def patients(n_rows: int, share: float = 0.0) -> pl.DataFrame:
    """A table in which this share of the rows has the same quasi-identifiers."""
    common = int(n_rows * share)
    return pl.DataFrame(
        {
            "age": [str(40 if n < common else 20 + n * 13 % 60) for n in range(n_rows)],
            "town": ["t0" if n < common else f"t{n * 7 % 11}" for n in range(n_rows)],
            "illness": [f"i{n * 5 // 7 % 6}" for n in range(n_rows)],
        }
    )


def write_parts(spark: Any, source: Path, output: Path) -> Path:
    """Release a table in parts."""
    settings = settings_from(GIVEN)
    with open_source(str(source), settings, spark) as opened:
        job = Job.from_settings(opened, settings, f"{output}/", engine="spark")
        return write_release(job, f"{output}/")[1].path


@pytest.fixture(scope="module")
def release(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, its release in parts, and the same release as one file."""
    folder = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "SPLIT_BYTES", 2_000)
        patch.setattr(sections, "LARGEST_SECTION", 60)
        write_csv(patients(400), folder / "source.csv")
        spark.conf.set("spark.sql.adaptive.enabled", "false")  # which would join small parts
        parts = write_parts(spark, folder / "source.csv", folder / "parts")
        spark.conf.set("spark.sql.adaptive.enabled", "true")
    assert len(list(parts.glob("part-*.csv"))) > 1
    (folder / "one.csv").write_text(text_of(parts))
    return folder


def test_answers_are_those_of_one_file(release: Path, shoal: Shoal) -> None:
    """Every figure of the JSON is the same; only what is not checked without the original differs."""
    parts, one, original = release / "parts", release / "one.csv", release / "source.csv"

    def answer(*words: object) -> dict[str, Any]:
        done = shoal(*words, "--json")
        assert (done.code, done.err) == (0, ""), done.err
        found: dict[str, Any] = json.loads(done.out)
        return {name: each for name, each in found.items() if name not in ("seconds", "output", "manifest")}

    assert answer("risk", parts, "--engine", "spark", "--original", original) == answer(
        "risk", one, *ROLES[:2], "--original", original
    )
    on_spark, in_memory = (
        answer("measure", original, parts, "--engine", "spark"),
        answer("measure", original, one, "-k", 5, *ROLES[:2]),
    )
    assert on_spark["measures"].pop("ncp") == pytest.approx(in_memory["measures"].pop("ncp"))
    assert {**on_spark, "measures": on_spark["measures"].keys()} == {
        **in_memory,
        "measures": in_memory["measures"].keys(),
    }
    compared = answer("verify", parts, "--engine", "spark", "--original", original, "--no-manifest", "-k", 5, *ROLES)
    expected = answer("verify", one, "-k", 5, *ROLES, "--original", original)
    assert [note.split(":")[0] for note in compared.pop("unchecked")][-1:] == ["order"]
    expected.pop("unchecked")
    assert compared == expected
    counted = answer("verify", parts, "--engine", "spark", "--l", 2, *ROLES, "-k", 4)
    assert "not compared with its original" in counted["unchecked"][0]  # executors counted and judged
    assert {name: counted[name] for name in ("ok", "k", "rows", "groups", "smallest_group")} == {
        name: expected[name] for name in ("ok", "k", "rows", "groups", "smallest_group")
    }


def test_manifest_speaks_for_the_parts(release: Path, shoal: Shoal, tmp_path: Path) -> None:
    """A changed, missing or further part is a no (exit code 5), with and without the original."""
    parts, original = tmp_path / "parts", release / "source.csv"
    shutil.copytree(release / "parts", parts)
    done = shoal("verify", parts, "--engine", "spark", "--original", original)
    assert done.code == 0, done.err
    assert "yes" in done.out
    last = sorted(parts.glob("part-*.csv"))[-1]
    lines = last.read_text().splitlines(keepends=True)
    last.write_text("".join(lines[:-1]))
    for more in ((), ("--original", original)):
        done = shoal("verify", parts, "--engine", "spark", *more)
        assert done.code == 5
        assert "1 part has another hash than in the manifest" in done.err
        assert "stated" in done.err
    assert "do not agree" in shoal("risk", parts, "--engine", "spark").err
    last.rename(parts / "part-9.csv")
    done = shoal("verify", parts, "--engine", "spark")
    assert "1 part of the manifest is missing" in done.err
    assert "1 part is not in the manifest" in done.err


def test_what_is_wrong_has_its_exit_code(release: Path, shoal: Shoal, tmp_path: Path) -> None:
    parts, original = release / "parts", release / "source.csv"
    for code, text, words in (
        (5, "k=50", ("verify", parts, "-k", 50)),
        (5, "illness", ("verify", parts, "--l", 9)),
        (2, "'height' is not in the table", ("verify", parts, "--no-manifest", "-k", 5, "--qi", "height")),
        (2, "k is not given", ("verify", parts, "--no-manifest", "--qi", "age")),
        (2, "--keep-order needs --engine memory", ("verify", parts, "--keep-order")),
        (2, "--weight needs --engine memory", ("risk", parts, "--weight", "age")),
        (2, "Give the number of people", ("risk", parts, "--population", original)),
        (2, "--target needs --engine memory", ("measure", original, parts, "--target", "illness")),
        (6, "no-such", ("verify", tmp_path / "no-such", "-k", 5, "--qi", "age")),
    ):
        done = shoal(*words, "--engine", "spark")
        assert (done.code, text in done.err) == (code, True), (words, done.err)
    done = shoal("verify", parts, "--master", "local[2]")
    assert (done.code, "--master is for --engine spark" in done.err) == (2, True)
    done = shoal("risk", parts, "--engine", "duckdb")
    assert (done.code, "Use 'memory' or 'spark'" in done.err) == (2, True)


def test_rows_that_are_not_true_to_the_original(release: Path, spark: Any, tmp_path: Path) -> None:
    """Frames and files are compared alike."""
    table = pl.read_csv(release / "one.csv", infer_schema=False)
    changed = table.with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("i9")).otherwise("illness").alias("illness")
    )
    source = spark.createDataFrame(pl.read_csv(release / "source.csv", infer_schema=False).to_arrow())
    given: dict[str, Any] = {"qi": ["age", "town"], "k": 5}
    assert library.spark.verify(spark.createDataFrame(table.to_arrow()), original=source, **given).rows == 400
    with pytest.raises(VerificationError, match="1 of 400"):
        library.spark.verify(spark.createDataFrame(changed.to_arrow()), original=source, **given)
    write_csv(changed, tmp_path / "changed.csv")
    with pytest.raises(VerificationError, match="1 of 400"):
        library.spark.verify(str(tmp_path / "changed.csv"), original=str(release / "source.csv"), spark=spark, **given)


def test_one_value_that_most_rows_have(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of one tuple that have several groups are dealt as in memory (S07)."""
    monkeypatch.setattr(reading, "SPLIT_BYTES", 2_000)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    write_csv(patients(500, share=0.9), tmp_path / "source.csv")
    library.anonymize(tmp_path / "source.csv", **GIVEN).write(tmp_path / "memory.csv")
    parts = write_parts(spark, tmp_path / "source.csv", tmp_path / "parts")
    assert text_of(parts) == (tmp_path / "memory.csv").read_text()


def test_counts_have_64_bits(spark: Any) -> None:
    """Parts of a group add up beyond 2**32 rows (S07)."""
    schema = "g0 bigint, g1 bigint, column int, cell string, n bigint"
    rows = [(1, 2, -1, "", 2**32), (1, 2, -1, "", 2**32), (1, 3, -1, "", 2**34)]
    columns = library.schema.Schema.build(["age"], {library.schema.Role.QI: ["age"]})
    (found,) = examine_counts(spark.createDataFrame(rows, schema), columns, 5, {})
    assert (found.groups, found.smallest, found.small) == (2, 2**33, 0)
