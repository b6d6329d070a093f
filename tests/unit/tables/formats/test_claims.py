"""What files claim about their own size: true claims are read, false ones are refused before memory is taken."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from shoal.errors import FileError, InputError
from shoal.tables import csv
from shoal.tables.csv import end_of_records
from shoal.tables.formats import memory_limit, read_table
from shoal.tables.formats.arrow_messages import DamagedArrowError, check_messages
from shoal.tables.formats.blocks import open_blocks
from shoal.tables.formats.parquet_pages import DamagedParquetError, check_pages
from tests.interface.hostile_files import TABLES, parquet

N_ROWS = 5000
FRAME = pl.DataFrame(
    {
        "number": list(range(N_ROWS)),
        "text": [f"text {row % 7}" for row in range(N_ROWS)],
        "none": [None] * N_ROWS,
        "float": [row / 3 if row % 5 else None for row in range(N_ROWS)],
    }
)
PARQUET: dict[str, dict[str, Any]] = {
    "plain": {},
    "second version of pages": {"data_page_version": "2.0"},
    "many row groups": {"compression": "gzip", "row_group_size": 99},
    "no dictionary": {"use_dictionary": False, "column_encoding": {"number": "DELTA_BINARY_PACKED"}},
    "small pages": {"data_page_size": 100, "write_page_index": True, "compression": "zstd"},
}


@pytest.mark.parametrize("name", PARQUET)
def test_true_claims_of_parquet(tmp_path: Path, name: str) -> None:
    """B25."""
    path = tmp_path / "t.parquet"
    pq.write_table(FRAME.to_arrow(), path, **PARQUET[name])
    claims = check_pages(path)
    assert (claims.cells, claims.columns) == (4 * N_ROWS, 4)
    assert claims.expanded > N_ROWS
    assert read_table(path).n_rows == N_ROWS


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "lz4"])
def test_true_claims_of_other_writers(tmp_path: Path, compression: Any) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path, compression=compression, row_group_size=999)
    assert check_pages(path).cells == 4 * N_ROWS
    FRAME.head(0).write_parquet(path)
    assert check_pages(path).cells == 0


def test_a_parquet_file_made_by_hand_is_read(tmp_path: Path) -> None:
    """The file whose lies are tested below is a good one as long as it does not lie."""
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet())
    assert read_table(path).frame.rows() == [("30",), ("31",)]


LIES: dict[str, dict[str, int]] = {
    "a page larger than its column": {"expanded": 2**31 - 1},
    "a page longer than the file": {"packed": 2**31 - 1},
    "a column longer than the file": {"chunk_packed": 2**40},
    "more values in the page": {"in_page": 2**31 - 1},
    "fewer values in the page": {"in_page": 1},
    "more rows than values": {"rows": 2**50},
    "a negative size": {"expanded": -5},
    "a negative count": {"in_chunk": -1},
    "a page elsewhere": {"offset": 2**40},
    "a page in the first bytes": {"offset": 1},
    "a footer longer than the file": {"footer": 2**31 - 1},
}


@pytest.mark.parametrize("name", LIES)
def test_false_claims_of_parquet(tmp_path: Path, name: str) -> None:
    """B25."""
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet(**LIES[name]))
    with pytest.raises(DamagedParquetError):
        check_pages(path)
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_table(path)


def test_a_parquet_file_of_billions_of_nulls_expands_too_much(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet(in_page=2**31 - 1, in_chunk=2**31 - 1, rows=2**31 - 1))
    with pytest.raises(InputError, match="expands to more than 200 times its size"):
        read_table(path)
    with pytest.raises(InputError, match="expands to more than 200 times its size"):
        open_blocks(path, delimiter=None, encoding=None, header=None)


def test_one_long_text_in_many_rows_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary of 1 MB text and a thousand rows is a small file and a large table."""
    path = tmp_path / "t.parquet"
    codes = pa.array([0] * 1000, pa.int32())
    pq.write_table(pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000]))}), path)
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "4GB")
    with pytest.raises(FileError, match=r"needs about 8\.0 GB"):
        read_table(path)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
def test_true_claims_of_arrow(tmp_path: Path, compression: Any, stream: bool) -> None:
    path = tmp_path / "t.arrow"
    (FRAME.write_ipc_stream if stream else FRAME.write_ipc)(path, compression=compression)
    claims = check_messages(path, stream=stream)
    assert claims[1:] == (4 * N_ROWS, 4)
    assert claims.expanded >= 12 * N_ROWS
    assert read_table(path).n_rows == N_ROWS


def test_true_claims_of_feather_with_a_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"a": pa.array(["u", "v"] * 100).dictionary_encode()}), path)
    assert check_messages(path, stream=False).cells >= 200
    assert read_table(path).n_rows == 200


@pytest.mark.parametrize("name", [name for name in TABLES if name.endswith(".arrow")])
def test_false_claims_of_arrow(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TABLES[name]())
    with pytest.raises((InputError, FileError), match=r"cannot be read as|expands to more than|needs about"):
        read_table(path)


def test_damaged_arrow_messages(tmp_path: Path) -> None:
    """B29: every bit of the metadata turned over gives an answer or a refusal."""
    good, path = tmp_path / "good.arrow", tmp_path / "t.arrow"
    FRAME.head(3).write_ipc(good, compression="lz4")
    raw = good.read_bytes()
    for place in range(len(raw)):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
        try:
            check_messages(path, stream=False)
        except DamagedArrowError:
            continue


def test_records_are_cut_in_linear_time() -> None:
    """A quote that is never closed, and many that are: the search for a line end looks at each quote once."""
    text = b'a\n"\n' + b'""\n' * 1_000_000
    assert end_of_records(text, 0, len(text)) == 2
    assert end_of_records(b'a\n"x\ny"\nb\n', 0, 9) == 8
    assert end_of_records(b'"x\ny', 0, 5) == 0


def test_a_record_that_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B12."""
    monkeypatch.setattr(csv, "BLOCK_BYTES", 100)
    monkeypatch.setattr(csv, "MOST_BYTES", 300)
    path = tmp_path / "t.csv"
    path.write_text("age,b\n1,x\n" + '2,"' + "y\n" * 1000 + '"\n')
    with pytest.raises(InputError, match="a record is longer than"):
        read_table(path)


def test_blocks_of_gzip_expand_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"age,b\n" + b"1,x\n" * 100_000))
    monkeypatch.setattr(memory_limit, "FREE_EXPANSION", 1000)
    with pytest.raises(InputError, match="expands to more than 200 times"):
        open_blocks(path, delimiter=None, encoding=None, header=None)
    with pytest.raises(InputError, match="expands to more than 200 times"):
        read_table(path)


def test_members_of_gzip_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    parts = [b"age,b\n", b"", b"1,x\n" * 20_000, b"2,y\n"]
    path.write_bytes(b"\0\0".join(map(gzip.compress, parts)) + b"\0" * 1000)
    assert read_table(path).n_rows == 20_001


def test_cells_of_a_csv_file_are_counted_before_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """O08: the estimate does not rest on the first lines alone."""
    path = tmp_path / "t.csv"
    first = b",".join(b"c%d" % number for number in range(11)) + b"\n" + b"1," * 10 + b"x" * 100_000 + b"\n"
    path.write_bytes(first + (b"1" + b"," * 10 + b"\n") * 50_000)
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "20MB")
    with pytest.raises(FileError, match="needs about"):
        read_table(path, header=True)
