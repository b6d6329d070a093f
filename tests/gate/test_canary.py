"""The canary scan: what was removed from the table appears nowhere, in no output, message, log or temporary folder."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import shoal

COMMAND = (sys.executable, "-c", "from shoal.cli.supervisor import main; main()")


def canaries(folder: Path) -> tuple[Path, set[bytes]]:
    """Write a table in which every removed value is a byte string that occurs once."""
    lines, removed = ["name,ssn,born,income,sex,note,disease"], set()
    for i in range(400):
        name, ssn, note = f"CanaryName{i:04d}Q", f"9{i:03d}77{i:04d}", f"CanaryNote{i:04d}Q"
        born = f"19{i % 60 + 40}-{i % 12 + 1:02d}-{i % 28 + 1:02d}"
        income = f"{3_000_000 + i * 7919}.{i % 97:02d}"
        lines.append(f"{name},{ssn},{born},{income},{'FM'[i % 2]},{note},d{i % 9}")
        removed |= {name.encode(), ssn.encode(), note.encode(), income.encode(), born.encode()}
    path = folder / "canary.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, removed


def contents(path: Path) -> list[bytes]:
    """Return the bytes of a file, and those inside it if it is compressed."""
    inside = [path.read_bytes()]
    if path.suffix == ".gz":
        inside.append(gzip.decompress(inside[0]))
    elif path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            inside += [archive.read(name) for name in archive.namelist()]
    elif path.suffix == ".parquet":  # as another writer would store every value and dictionary of it, uncompressed
        plain = io.BytesIO()
        pq.write_table(pq.read_table(path), plain, compression="none")
        inside.append(plain.getvalue())
    return inside


def scan(folder: Path, words: set[bytes]) -> dict[str, set[bytes]]:
    """Return the files below a folder, by name or content, that hold any of the words."""
    pattern = re.compile(b"|".join(sorted(map(re.escape, words))))
    held = {}
    for path in folder.rglob("*"):
        words_found = set(pattern.findall(str(path.relative_to(folder)).encode()))
        if path.is_file():
            for content in contents(path):
                words_found |= set(pattern.findall(content))
        if words_found:
            held[str(path.relative_to(folder))] = words_found
    return held


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.xlsx"])
@pytest.mark.parametrize("ending", ["released", "refused"])
def test_no_removed_value_appears_anywhere(tmp_path: Path, ending: str, name: str) -> None:
    """L03, L13, L14, L15: dropped columns, inner values of ranges, private files; on success and on failure."""
    source, removed = canaries(tmp_path)
    work, temporary = tmp_path / "work", tmp_path / "tmp"
    work.mkdir()
    temporary.mkdir()
    words = ["anonymize", str(source), "-o", str(work / name), "-k", "10", "--qi", "born,income,sex"]
    words += ["--sensitive", "disease", "--drop", "name,ssn,note", "--report", str(work / "r.html")]
    if ending == "refused":
        words += ["--date", "income"]
    environment = {"TMPDIR": str(temporary), "HOME": str(temporary), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run([*COMMAND, *words], capture_output=True, cwd=work, env=_with_path(environment), check=False)
    assert ended.returncode == (0 if ending == "released" else 3), ended.stderr
    (work / "stdout").write_bytes(ended.stdout)
    (work / "stderr").write_bytes(ended.stderr)
    if ending == "released":
        content = b"\n".join(contents(work / name))
        released_values = set(re.findall(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+\.[0-9]{2}", content))
        assert len(removed & released_values) < len(removed) / 2, "most values should be inside ranges"
        removed -= released_values  # the ends of ranges are released on purpose
        for private in ("r.private.html", "r.private.json"):  # for the owner of the table, who knows it
            assert (work / private).stat().st_mode & 0o077 == 0
            (work / private).unlink()
    assert scan(work, removed) == {}
    assert scan(temporary, removed) == {}
    assert [path for path in work.iterdir() if path.name.startswith(".")] == []


def test_the_scan_finds_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "leak").write_bytes(b"xx CanaryName0001Q xx")
    assert scan(tmp_path, {b"CanaryName0001Q"}) == {"leak": {b"CanaryName0001Q"}}


# Frames, and what users write them to.

WORD, NUMBER = "CanaryWord", 7_777_777_777
N = 40


def pandas_frame() -> pd.DataFrame:
    """Canaries in an unused category, under a null, in the index, in the attributes, in a column that is dropped."""
    hidden = np.zeros(N, dtype=bool)
    hidden[3] = True
    frame = pd.DataFrame(
        {
            "age": np.arange(N) % 7,
            "name": [f"{WORD} of person number {i}" for i in range(N)],
            "kind": pd.Categorical(["a", "b"] * (N // 2), categories=[f"{WORD} unused", "b", "a"]),
            "cost": pd.arrays.IntegerArray(np.where(hidden, NUMBER, np.arange(N) % 3), hidden),
            "note": ["a text that is long enough to be stored outside", None] * (N // 2),
        },
        index=[f"{WORD} index {i}" for i in range(N)],
    )
    frame.attrs["source"] = WORD
    frame.columns.name = WORD
    return frame


def polars_frame() -> pl.DataFrame:
    categories = pl.Enum([f"{WORD} unused", "b", "a"])
    cost = pl.when(pl.col("cost") != NUMBER).then(pl.col("cost"))
    return pl.DataFrame(
        {
            "age": [i % 7 for i in range(N)],
            "name": [f"{WORD} of person number {i}" for i in range(N)],
            "kind": pl.Series(["a", "b"] * (N // 2), dtype=categories),
            "cost": [NUMBER if i == 3 else i % 3 for i in range(N)],
            "note": ["a text that is long enough to be stored outside", None] * (N // 2),
        }
    ).with_columns(cost.alias("cost"))


def arrow_frame() -> pa.Table:
    """A slice of a larger table, with a dictionary and metadata of its own."""
    table = polars_frame().to_arrow()
    kind = pa.DictionaryArray.from_arrays(pa.array([i % 2 for i in range(N)]), ["a", "b", f"{WORD} unused"])
    table = table.set_column(2, "kind", kind)
    longer = pa.concat_tables(
        [table, table.slice(0, 1).set_column(4, "note", pa.array([f"{WORD} cut off"], pa.large_string()))],
        promote_options="permissive",
    )
    return longer.slice(0, N).replace_schema_metadata({"source": WORD})


def written(frame: Any) -> dict[str, bytes]:
    """Return what a user's own writing of a frame gives, uncompressed."""
    contents_by_format = {"pickle": pickle.dumps(frame)}
    parquet, ipc = io.BytesIO(), io.BytesIO()
    if isinstance(frame, pd.DataFrame):
        frame.to_parquet(parquet, compression=None)
        frame.to_feather(ipc, compression="uncompressed")
        contents_by_format["csv"] = frame.to_csv().encode()
    elif isinstance(frame, pl.DataFrame):
        frame.write_parquet(parquet, compression="uncompressed")
        frame.write_ipc(ipc)
    else:
        pq.write_table(frame, parquet, compression="none")
        feather.write_feather(frame, ipc, compression="uncompressed")
    return contents_by_format | {"parquet": parquet.getvalue(), "ipc": ipc.getvalue()}


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_frame])
def test_no_removed_value_is_left_in_a_frame(make: Any) -> None:
    """L02, L03, L04, L05, L06: whatever the user writes the released frame to."""
    frame = make()
    before = written(frame)
    assert all(WORD.encode() in content for content in before.values()), "the canaries must be there to be found"
    release = shoal.anonymize(frame, qi=["age"], sensitive=["cost"], insensitive=["kind", "note"], drop=["name"], k=2)
    for name, content in written(release.frame).items():
        assert WORD.encode() not in content, name
        assert NUMBER.to_bytes(8, "little") not in content, name
        assert str(NUMBER).encode() not in content, name


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_frame])
@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.xlsx"])
def test_no_removed_value_is_left_in_a_file_made_from_a_frame(tmp_path: Path, make: Any, name: str) -> None:
    """L02 to L07."""
    release = shoal.anonymize(make(), qi=["age"], sensitive=["cost"], insensitive=["kind", "note"], drop=["name"], k=2)
    release.write(tmp_path / name)
    assert scan(tmp_path, {WORD.encode(), str(NUMBER).encode(), NUMBER.to_bytes(8, "little")}) == {}
    assert shoal.read_table(tmp_path / name).names == ("age", "kind", "cost", "note")


def _with_path(environment: dict[str, str]) -> dict[str, str]:
    import os

    return environment | {name: os.environ[name] for name in ("PYTHONPATH", "LD_LIBRARY_PATH") if name in os.environ}
