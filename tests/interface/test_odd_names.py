"""Column names with quotes and other signs of SQL, through every engine and format."""

from __future__ import annotations

import csv
import io
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from tests.command import Shoal

NAMES = ['a"b', "c'd", 'e";drop table cells;--', "f%s", "g\\h", 'i""j', '"k"', "$1?:n{o}"]
ROWS = [[str((row * (column + 2)) % 3) for column in range(len(NAMES))] for row in range(60)]


def listed(names: list[str]) -> str:
    """Return names as the value of an option."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


@pytest.mark.parametrize(("engine", "suffix"), [*product(("memory", "duckdb"), (".csv", ".parquet", ".csv.gz"))])
def test_names_are_never_sql(shoal: Shoal, tmp_path: Path, engine: str, suffix: str) -> None:
    """B07: as quasi-identifiers, sensitive and unchanged columns."""
    data, out = tmp_path / "data.csv", tmp_path / f"out{suffix}"
    names = NAMES
    frame = pl.DataFrame(dict(zip(names, zip(*ROWS, strict=True), strict=True)))
    frame.write_csv(data)
    frame.write_parquet(tmp_path / "data.parquet")
    qi, sensitive = listed(names[:3]), listed(names[3:4])
    words = ("--qi", qi, "--sensitive", sensitive, "--others", "insensitive", "--accept-unique", listed(names[4:]))
    for source in (data, tmp_path / "data.parquet"):
        run = ("anonymize", source, "-o", out, "-k", 2, *words, "--engine", engine, "--method", "datafly", "--force")
        ended = shoal(*run, "--suppression-limit", 1)
        assert ended.code == 0, ended.err
    released = tmp_path / "plain.csv"
    if suffix == ".parquet":
        assert pl.read_parquet(out).columns == names
        pl.read_parquet(out).write_csv(released)
    else:
        import gzip

        raw = out.read_bytes()
        released.write_bytes(gzip.decompress(raw) if suffix == ".csv.gz" else raw)
    with released.open(newline="") as file:
        assert next(csv.reader(file)) == names
    for command in (("measure", data, released, "--qi", qi), ("risk", released, "--qi", qi)):
        assert shoal(*command).code == 0
    assert shoal("verify", released, "-k", 2, "--qi", qi, "--original", data).code == 0
