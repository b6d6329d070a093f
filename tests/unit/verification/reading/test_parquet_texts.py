"""Text columns of a Parquet file are decoded from its pages, as another reader reads them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from shoal.schema import Dialect
from shoal.verification import read_original
from shoal.verification.reading.parquet.texts import text_columns


@pytest.mark.parametrize("name", ["t.parquet", "it's [odd]*.parquet"])
def test_codes_of_a_column_are_those_of_its_cells(tmp_path: Path, name: str) -> None:
    columns = {
        "few": ["b", "a", None, "", "b", "a"],
        "many": ["v", "w", "x", "y", "z", None],
        "none": [None] * 6,
        "odd": ["'", '"', "é", "\n", "'", " "],
        "number": [1, 2, 3, 1, 2, None],
    }
    frame = pl.DataFrame(columns, schema_overrides={"none": pl.String})
    frame.write_parquet(tmp_path / name)
    assert read_original(tmp_path / name, Dialect()).texts() == texts_of(columns)


def texts_of(columns: Mapping[str, Sequence[object]]) -> dict[str, list[str]]:
    return {column: ["" if cell is None else str(cell) for cell in cells] for column, cells in columns.items()}


@pytest.mark.parametrize("number", range(6))
def test_text_is_decoded_whatever_wrote_it(tmp_path: Path, number: int) -> None:
    """Several row groups, pages, codecs, writers, nulls, dictionaries that are given up half-way."""
    rng = random.Random(number)
    n = 5000
    columns = {
        "few": [rng.choice(["a", "b", "é", "", None]) for _ in range(n)],
        "sorted": sorted(rng.choice("abcdefgh") for _ in range(n)),
        "many": [str(rng.randrange(4000)) for _ in range(n)],
        "long": [rng.randbytes(60).hex() if rng.random() < 0.5 else None for _ in range(n)],
        "one": ["x"] * n,
        "none": [None] * n,
    }
    frame = pl.DataFrame(columns, schema_overrides={"none": pl.String})
    frame.write_csv(tmp_path / "t.csv")
    codec: Any = rng.choice(["zstd", "snappy", "uncompressed", "gzip", "lz4"])
    path = tmp_path / "t.parquet"
    if number % 2:
        frame.write_parquet(path, compression=codec, row_group_size=1700, data_page_size=3000)
    else:
        duckdb.sql(f"copy (from frame) to '{path}' (format parquet, row_group_size 2048)")
    positions = list(range(len(columns)))
    coded = text_columns(path, positions)
    assert {"few", "many", "long"} <= {list(columns)[position] for position in coded}
    read = {list(columns)[position]: [texts[code] for code in codes] for position, (texts, codes) in coded.items()}
    assert read == {name: cells for name, cells in texts_of(columns).items() if name in read}
    assert all(len(set(texts)) == len(texts) for texts, _ in coded.values())
    assert read_original(path, Dialect()).texts() == texts_of(columns)


@pytest.mark.parametrize("number", range(200))
def test_damaged_text_is_refused_or_read_as_it_stands(tmp_path: Path, number: int) -> None:
    rng = random.Random(number)
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x", "y", None] * 50, "b": ["z"] * 150}).write_parquet(path)
    raw = bytearray(path.read_bytes())
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    path.write_bytes(raw)
    for texts, codes in text_columns(path, [0, 1]).values():
        assert len(codes) == 0 or 0 <= min(codes) <= max(codes) < len(texts)
