"""The form of a released file: its delimiter."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import shoal as library
from tests.command import Shoal

ILLS = ("flu", "a|b", "c,d")
TABLE = "name;age;cost;disease\n" + "".join(f"n{i};{20 + i % 9};{i % 4},5;{ILLS[i % 3]}\n" for i in range(24))
ROLES = ("-k", "4", "--qi", "age", "--sensitive", "disease,cost", "--others", "drop")


def make(shoal: Shoal, folder: Path, name: str, *words: str) -> Path:
    (folder / "data.csv").write_text(TABLE)
    out = folder / name
    ended = shoal("anonymize", folder / "data.csv", "-o", out, "--force", *ROLES, *words)
    assert ended.code == 0, ended.err
    return out


@pytest.mark.parametrize(("word", "delimiter"), [(";", ";"), ("tab", "\t"), ("input", ";"), ("|", "|"), (",", ",")])
def test_the_release_has_the_delimiter_and_every_command_reads_it(
    shoal: Shoal, tmp_path: Path, word: str, delimiter: str
) -> None:
    out = make(shoal, tmp_path, "out.csv", "--output-delimiter", word)
    assert out.read_text().splitlines()[0] == delimiter.join(["age", "cost", "disease"])
    plain = make(shoal, tmp_path, "plain.csv")
    read = pl.read_csv(out, separator=delimiter, infer_schema=False)
    assert read.equals(pl.read_csv(plain, infer_schema=False))
    assert json.loads(Path(f"{out}.manifest.json").read_text())["layout"]["delimiter"] == delimiter
    data = tmp_path / "data.csv"
    for words in (
        ("verify", out, "--original", data),
        ("verify", out, "--no-manifest", "-k", "4", "--qi", "age", "--output-delimiter", word),
        ("measure", data, out),
        ("measure", data, out, "--no-manifest", "--qi", "age"),
        ("risk", out),
        ("describe", out),
        ("evaluate", data, out, "--queries", "10"),
    ):
        ended = shoal(*words)
        assert ended.code == 0, (words, ended.err)
    assert library.read_release(out).equals(library.read_release(plain))


def test_another_delimiter_than_the_manifest_states_is_refused(shoal: Shoal, tmp_path: Path) -> None:
    out = make(shoal, tmp_path, "out.csv", "--output-delimiter", ";")
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    for delimiter, code in ((",", 5), ("a", 3), ("", 5), (7, 3)):
        content["layout"]["delimiter"] = delimiter
        manifest.write_text(json.dumps(content))
        assert shoal("verify", out).code == code, delimiter


def test_cells_are_quoted_for_the_delimiter_and_no_others(shoal: Shoal, tmp_path: Path) -> None:
    text = make(shoal, tmp_path, "out.csv.gz", "--output-delimiter", "|").read_bytes()
    lines = gzip.decompress(text).decode().splitlines()
    assert any('"a|b"' in line for line in lines)
    assert all('"c,d"' not in line for line in lines)
    out = make(shoal, tmp_path, "out.csv", "--output-delimiter", "|")
    out.write_text(out.read_text().replace("|c,d\n", '|"c,d"\n', 1))
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    from shoal.verification.manifest.manifest import sha256_of

    manifest.write_text(json.dumps(content | {"sha256": sha256_of(out)}))
    ended = shoal("verify", out)
    assert ended.code == 5
    assert "quotes around a cell that needs none" in ended.err


def test_what_has_no_delimiter(shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(TABLE)
    for name in ("out.parquet", "out.xlsx"):
        words = ("anonymize", tmp_path / "data.csv", "-o", tmp_path / name, *ROLES)
        ended = shoal(*words, "--output-delimiter", ";")
        assert ended.code == 2
        assert "has no delimiter" in ended.err
    for wrong in ("ab", "x", '"'):
        ended = shoal("anonymize", tmp_path / "data.csv", "-o", tmp_path / "o.csv", *ROLES, "--output-delimiter", wrong)
        assert ended.code == 2
        assert "--output-delimiter" in ended.err
