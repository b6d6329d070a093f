"""Reading CSV files: dialects, encodings, odd but legal forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError, UsageError
from shoal.tables.csv import read_csv


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_told_from_the_file(tmp_path: Path, delimiter: str) -> None:
    """B10: the guess is kept for the user to see."""
    lines = ["age;sex;note", "30;F;a,b", '31;M;"x;y"', "32;F;c"]
    text = "\n".join(lines).replace(";", "\x00").replace("\x00", delimiter)
    table = read_csv(write(tmp_path, text.replace("a,b", '"a,b"') + "\n"))
    assert table.names == ("age", "sex", "note")
    assert table.n_rows == 3
    assert any("delimiter" in note for note in table.notes)


@pytest.mark.parametrize("start", ["x\x01", "x\u0680"], ids=["control", "letter"])
@pytest.mark.parametrize("rest", [",b\n1,2\n3,4\n", "\n1\n3\n"], ids=["two columns", "one column"])
def test_text_that_begins_like_packed_bytes_is_text(tmp_path: Path, start: str, rest: str) -> None:
    """B29: the first two bytes are those of zlib, and the table is none of its files."""
    table = read_csv(write(tmp_path, start + rest), header=True)
    assert table.names[0] == start
    assert table.frame[start].to_list() == ["1", "3"]
    bare = read_csv(write(tmp_path, start + rest), header=False)
    assert bare.frame[bare.names[0]].to_list() == [start, "1", "3"]


def test_blanks_after_delimiters_belong_to_them_where_the_file_has_them_throughout(tmp_path: Path) -> None:
    table = read_csv(write(tmp_path, '39, State-gov, "a, b"\n50, Self-emp, c\n'), header=False)
    assert table.frame.rows() == [("39", "State-gov", "a, b"), ("50", "Self-emp", "c")]
    assert table.names == ("column1", "column2", "column3")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("age,sex\n30,F\n31,M\n", True),
        ("name,city\nAda,Rome\nBob,Oslo\n", True),
        ("age,sex\n", True),
    ],
)
def test_header_is_told_from_the_file(tmp_path: Path, text: str, header: bool) -> None:
    if text.count("\n") == 1:
        with pytest.raises(InputError, match="no data rows"):
            read_csv(write(tmp_path, text))
        return
    dialect = read_csv(write(tmp_path, text)).dialect
    assert dialect is not None
    assert dialect.header is header


def test_header_can_be_forced(tmp_path: Path) -> None:
    assert read_csv(write(tmp_path, "2019,2020\n1,2\n3,4\n"), header=True).names == ("2019", "2020")


LEGAL = {
    "line end in quotes": ('a,b\n"x\ny",1\nz,2\n', [("x\ny", "1"), ("z", "2")]),
    "carriage return in quotes": ('a,b\n"x\r\ny",1\nz,2\n', [("x\r\ny", "1"), ("z", "2")]),
    "double quotes": ('a,b\n"say ""hi""",1\nz,2\n', [('say "hi"', "1"), ("z", "2")]),
    "mixed line ends": ("a,b\r\nx,1\ny,2\r\n", [("x", "1"), ("y", "2")]),
    "no last line end": ("a,b\nx,1\ny,2", [("x", "1"), ("y", "2")]),
    "blank lines": ("a,b\n\nx,1\r\n\r\ny,2\n\n", [("x", "1"), ("y", "2")]),
    "empty cells": ('a,b\n,""\ny,\n', [("", ""), ("y", "")]),
    "odd values": ("a,b\nNA,null\nNone,nan\n", [("NA", "null"), ("None", "nan")]),
    "odd numbers": ("a,b\n02139,9007199254740993\n1e5,-0.0\n", [("02139", "9007199254740993"), ("1e5", "-0.0")]),
    "hash at the start": ("a,b\n#x,1\ny,2\n", [("#x", "1"), ("y", "2")]),
    "outer blanks": ("a,b\n x ,1\ny,2\n", [(" x ", "1"), ("y", "2")]),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal_forms_are_read_right(tmp_path: Path, name: str) -> None:
    """B09, C12, C13: RFC 4180 and cells that other readers change."""
    text, rows = LEGAL[name]
    assert read_csv(write(tmp_path, text), header=True).frame.rows() == rows


def test_one_column_with_a_missing_cell(tmp_path: Path) -> None:
    assert read_csv(write(tmp_path, 'a\nx\n""\ny\n'), header=True).frame.rows() == [("x",), ("",), ("y",)]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-32", "utf-8"])
def test_declared_encoding_is_used(tmp_path: Path, encoding: str) -> None:
    """B11."""
    path = write(tmp_path, "näme,b\nJosé,1\nZoë,2\n".encode(encoding))
    assert read_csv(path, encoding=encoding).names == ("näme", "b")


def test_byte_order_mark_is_not_part_of_the_first_name(tmp_path: Path) -> None:
    """B11."""
    assert read_csv(write(tmp_path, b"\xef\xbb\xbfage,sex\n1,F\n2,M\n")).names == ("age", "sex")


def test_unknown_encoding_and_bad_delimiter(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    with pytest.raises(UsageError, match="'klingon' is not known"):
        read_csv(path, encoding="klingon")
    with pytest.raises(UsageError, match="not one ASCII character"):
        read_csv(path, delimiter="::")


def test_odd_names_are_kept_and_case_is_noted(tmp_path: Path) -> None:
    """B07."""
    table = read_csv(write(tmp_path, 'a,A,"x,y","z\nz",🐟\n1,2,3,4,5\n6,7,8,9,0\n'))
    assert table.names == ("a", "A", "x,y", "z\nz", "🐟")
    assert any("differ only in case" in note for note in table.notes)


def test_large_cell_and_many_columns(tmp_path: Path) -> None:
    """B12: handled, not crashed."""
    table = read_csv(write(tmp_path, "a,b\n" + "x" * 10_000_000 + ",1\ny,2\n"))
    assert len(table.frame["a"][0]) == 10_000_000
    wide = ",".join(f"c{i}" for i in range(20_000)) + "\n" + ",".join("1" * 20_000) + "\n"
    assert len(read_csv(write(tmp_path, wide), header=True).names) == 20_000


def test_group_sizes_count_joint_cells_beyond_any_product_of_ranks() -> None:
    import polars as pl

    from shoal.tables.table import Table

    rows = [[str((i * p) % 97) for i in range(300)] for p in (1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)]
    table = Table(pl.DataFrame({f"c{n}": cells for n, cells in enumerate(rows)}))
    counted: dict[tuple[str, ...], int] = {}
    for row in table.frame.rows():
        counted[row] = counted.get(row, 0) + 1
    assert sorted(table.group_sizes(table.names).tolist()) == sorted(counted.values())


def test_ranked_table_is_the_table_of_its_cells() -> None:
    import numpy as np
    import polars as pl

    from shoal.tables.table import RankedTable, Table, factorize

    frame = pl.DataFrame({"a": ["x", "", "x"], "b": ["1", "2", "1"]})
    table = Table(frame, weights=np.array([1, 2, 3]))
    ranked = RankedTable({name: factorize(frame[name]) for name in frame.columns}, table.weights)
    assert ranked.frame.equals(frame)
    assert (ranked.names, ranked.height, ranked.n_rows) == (table.names, table.height, table.n_rows)
    assert ranked.group_sizes(["a", "b"]).tolist() == table.group_sizes(["a", "b"]).tolist()
    part = ranked.part(np.array([2, 1]))
    assert part.frame.equals(frame[[2, 1]])
    assert part.n_rows == 5
