"""A file in blocks gives what it gives whole: the same cells, the same refusals with the same lines."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError, UsageError
from shoal.tables.csv import read_csv
from shoal.tables.formats import blocks
from shoal.tables.formats.blocks import open_blocks


def whole(path: Path, **options: str) -> pl.DataFrame:
    given = {"delimiter": None, "encoding": None, "header": None} | options
    return pl.concat(list(open_blocks(path, **given).frames))


CELLS = st.text(alphabet='ab",;\n\r é#\\', max_size=5).map(lambda text: text.replace("\r", "\r\n"))


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30), size=st.integers(1, 60))
def test_blocks_of_any_size_give_the_cells_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], size: int
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "data.csv"
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([("x", "y"), *rows])
    path.write_bytes(text.getvalue().encode())
    before = blocks.BLOCK_BYTES
    try:
        blocks.BLOCK_BYTES = size
        made = whole(path, delimiter=",", header=True)
    finally:
        blocks.BLOCK_BYTES = before
    assert made.equals(read_csv(path, delimiter=",", header=True).frame)


GOOD = "a,b\n" + "".join(f"{i},x\n" for i in range(50))
BAD = {
    "long row": GOOD + "1,2,3\n" + GOOD[4:],
    "short row": GOOD + "1\n" + GOOD[4:],
    "open quote": GOOD + '1,"2\n' + GOOD[4:],
    "stray quote": GOOD + '1,2"3"\n' + GOOD[4:],
    "lone CR": GOOD + "1,2\r3\n",
    "NUL": GOOD + "1,2\0\n",
}


@pytest.mark.parametrize("case", BAD)
def test_malformed_files_are_refused_with_their_line(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B08, B09, B12: as when the file is read whole."""
    path = tmp_path / "data.csv"
    path.write_bytes(BAD[case].encode())
    with pytest.raises(InputError) as told:
        read_csv(path)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    with pytest.raises(InputError) as again:
        whole(path)
    where = "line 52" if case != "open quote" else "line 52: a quote opens here"
    assert where in str(told.value)
    assert where in str(again.value)


def test_encodings_marks_and_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B11: a byte order mark is left out; another encoding has to be named; a bad byte is told by its place."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 16)
    text = "naïve;x\n" + "é;1\n" * 20
    for name, raw, options in (
        ("mark.csv", b"\xef\xbb\xbf" + text.encode(), {}),
        ("latin.csv", text.encode("latin-1"), {"encoding": "latin-1"}),
        ("wide.csv", text.encode("utf-16"), {"encoding": "utf-16"}),
        ("zip.csv.gz", gzip.compress(text.encode()), {}),
    ):
        (tmp_path / name).write_bytes(raw)
        frame = whole(tmp_path / name, **options)
        assert frame.columns == ["naïve", "x"]
        assert frame["naïve"].to_list() == ["é"] * 20
    (tmp_path / "bad.csv").write_bytes(text.encode() + b"\xff;1\n")
    with pytest.raises(InputError, match=rf"byte {len(text.encode())} is not utf-8"):
        whole(tmp_path / "bad.csv")
    with pytest.raises(InputError, match="begins like utf-16"):
        whole(tmp_path / "wide.csv")
    with pytest.raises(UsageError, match="not known"):
        whole(tmp_path / "mark.csv", encoding="klingon")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text.encode() * 100)[:-20])
    with pytest.raises(InputError, match="truncated"):
        whole(tmp_path / "cut.csv.gz")


def test_other_formats_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_ipc(tmp_path / "data.arrow")
    with pytest.raises(UsageError, match="Use engine='memory'"):
        whole(tmp_path / "data.arrow")
