"""A release that becomes Parquet block by block is the file that is written at once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.tables.formats import columnar
from shoal.tables.formats.writers import write_csv

ODD = ["", "a", 'say "hi"', "two\nlines", "x,y", "\r\n", "é", " ", '"', "a much longer cell than a block"]


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 23])
def test_blocks_of_any_size_give_the_same_bytes(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records and quotes that a block divides stay whole, and an empty cell is null."""
    monkeypatch.setattr(columnar, "BLOCK_BYTES", size)
    names = ['we"ird, näme', "other"]
    frame = pl.DataFrame({names[0]: ODD * 9, names[1]: [*ODD[1:], "z"] * 9})
    write_csv(frame, tmp_path / "plain.csv")
    columnar.write_parquet(frame, tmp_path / "at-once.parquet")
    columnar.sink_parquet(tmp_path / "plain.csv", tmp_path / "sunk.parquet")
    assert (tmp_path / "sunk.parquet").read_bytes() == (tmp_path / "at-once.parquet").read_bytes()
    assert pl.read_parquet(tmp_path / "sunk.parquet")[names[0]].null_count() == 9
