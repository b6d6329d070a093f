"""Reading the formats: what a file is, typed cells as text, damaged files, limits; frames of odd types."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import struct
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from shoal.errors import FileError, InputError, UsageError
from shoal.schema import Dialect
from shoal.tables.formats import memory_limit, read_table
from shoal.tables.formats.compressed import zstd_size
from shoal.tables.formats.sniff import Format, output_format, sniff
from shoal.tables.table import from_frame
from shoal.tables.typed_text import cell_text
from shoal.verification import can_read, read_original
from shoal.verification.reading.files import cell_text as verifier_text

TEXT = "age,sex,zip\n30,F,02139\n31,M,02140\n30,F,\n"
MOMENT = dt.datetime(2020, 1, 31, 12, 30, 15, 250000)
BERLIN = dt.timezone(dt.timedelta(hours=1))


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def typed() -> pa.Table:
    """A table with a column of every type that has a text."""
    return pa.table(
        {
            "whole": pa.array([1, None, 2**53 + 1], pa.int64()),
            "unsigned": pa.array([1, None, 2**64 - 1], pa.uint64()),
            "float": pa.array([0.1, None, -0.0]),
            "large": pa.array([1e16, 1e-7, 1e300]),
            "single": pa.array([0.1, None, 16777216.0], pa.float32()),
            "decimal": pa.array([Decimal("1.50"), None, Decimal("0.00")], pa.decimal128(10, 2)),
            "bool": pa.array([True, None, False]),
            "date": pa.array([dt.date(2020, 2, 29), None, dt.date(1, 1, 1)]),
            "moment": pa.array([MOMENT, None, dt.datetime(2020, 1, 1)], pa.timestamp("us")),
            "nano": pa.array([1577836800000000001, None, 1577836800000000000], pa.timestamp("ns")),
            "zoned": pa.array([MOMENT.replace(tzinfo=BERLIN), None, MOMENT], pa.timestamp("us", "Europe/Berlin")),
            "time": pa.array([dt.time(1, 2, 3), None, dt.time(0, 0)]),
            "text": pa.array(["02139", None, "NA"]),
            "category": pa.array(["b", None, "a"]).dictionary_encode(),
        }
    )


TYPED_TEXT = {
    "whole": ["1", "", "9007199254740993"],
    "unsigned": ["1", "", "18446744073709551615"],
    "float": ["0.1", "", "0.0"],
    "large": ["1e+16", "1e-07", "1e+300"],
    "single": ["0.1", "", "16777216.0"],
    "decimal": ["1.50", "", "0.00"],
    "bool": ["True", "", "False"],
    "date": ["2020-02-29", "", "0001-01-01"],
    "moment": ["2020-01-31 12:30:15.250000", "", "2020-01-01"],
    "nano": ["2020-01-01 00:00:00.000000001", "", "2020-01-01"],
    "zoned": ["2020-01-31 11:30:15.250000+00:00", "", "2020-01-31 12:30:15.250000+00:00"],
    "time": ["01:02:03", "", "00:00:00"],
    "text": ["02139", "", "NA"],
    "category": ["b", "", "a"],
}


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """A workbook with everything that a steward may not see: formulas, merged and hidden cells, a hidden sheet."""
    path = tmp_path / "book.xlsx"
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet("Data")
    day, moment = book.add_format({"num_format": "dd.mm.yyyy"}), book.add_format({"num_format": 22})
    clock, span = book.add_format({"num_format": "hh:mm"}), book.add_format({"num_format": "[h]:mm:ss"})
    red = book.add_format({"num_format": "[Red]0.00"})
    names = ("name", "n", "secret", "born", "seen", "ok", "sum", "mixed", "clock", "span", "red")
    sheet.write_row(0, 0, names)
    for row in range(1, 5):
        sheet.write_string(row, 0, f"name {row}")
        sheet.write_number(row, 1, row * 10)
        sheet.write_string(row, 2, "HIDDENCOLUMN")
        sheet.write_datetime(row, 3, dt.datetime(1950, 1, row), day)
        sheet.write_datetime(row, 4, dt.datetime(2020, 1, row, 12, 30, 15, 250000), moment)
        sheet.write_boolean(row, 5, row % 2 == 0)
        sheet.write_formula(row, 6, f"=B{row + 1}*2", None, row * 20)
        if row % 2:
            sheet.write_string(row, 7, "007")
        else:
            sheet.write_number(row, 7, 0.1 + 0.2)
        sheet.write_datetime(row, 8, dt.time(8, row), clock)
        sheet.write_datetime(row, 9, dt.timedelta(days=2, hours=row), span)
        sheet.write_number(row, 10, 1e16, red)
    sheet.write_string(5, 0, "HIDDENROW")
    sheet.set_row(5, None, None, {"hidden": True})
    sheet.set_column(2, 2, None, None, {"hidden": True})
    sheet.merge_range("A8:B8", "merged")
    hidden = book.add_worksheet("Secret")
    hidden.write_string(0, 0, "HIDDENSHEET")
    hidden.hide()
    book.add_worksheet("Other").write_row(0, 0, ["a", "b"])
    book.close()
    return path


# ---- what a file is


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.feather", "t.arrow", "t.xlsx", "t.dat"]
)
def test_content_tells_the_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    frame = pl.DataFrame({"age": ["30", "31", "30"], "sex": ["F", "M", "F"], "zip": ["02139", "02140", None]})
    if name.endswith(".parquet"):
        frame.write_parquet(path)
    elif name.endswith(".feather"):
        frame.write_ipc(path)
    elif name.endswith(".arrow"):
        frame.write_ipc_stream(path)
    elif name.endswith(".xlsx"):
        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate([frame.columns, *frame.rows()]):
                for column, cell in enumerate(row):
                    sheet.write_string(number, column, cell or "")
    else:
        packed = {".gz": gzip.compress, ".zst": zstd}.get(path.suffix, bytes)
        path.write_bytes(packed(TEXT.encode()))
    table = read_table(path)
    assert table.frame.rows() == [("30", "F", "02139"), ("31", "M", "02140"), ("30", "F", "")]
    assert table.path == path
    assert table.notes


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("t.parquet", TEXT.encode(), "the name ends like Parquet, but the content is CSV text"),
        ("t.csv", gzip.compress(TEXT.encode(), mtime=0), "the name ends like CSV text, but the content is gzip"),
        ("t.csv.gz", zstd(TEXT.encode()), "ends like gzip, but the content is Zstandard"),
        ("t.xlsx", TEXT.encode(), "ends like an Excel workbook, but the content is CSV text"),
        ("t.parquet", b"", "ends like Parquet, but the content is empty"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, r"Save it as \.xlsx without a password"),
        ("t.parquet", b"PARE" + b"\0" * 100 + b"PARE", "encrypted Parquet"),
        ("t.feather", b"FEA1" + b"\0" * 100, "version 1"),
        ("t.csv", b"BZh91AY", "bzip2"),
        ("t.db", b"SQLite format 3\0", "SQLite"),
        ("t.pkl", b"\x80\x05\x95" + b"\0" * 20, "pickle, which may run code"),
        ("t.csv.gz", gzip.compress(b"PAR1 and more", mtime=0), "the compressed content is not CSV text"),
        ("t.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-12], "damaged or truncated"),
        ("t.csv.zst", zstd(TEXT.encode() * 99)[:-9], "damaged or truncated"),
        ("t.parquet", b"PAR1\0\0\0\0" * 9, "truncated"),
        ("t.parquet", b"PAR1" + b"\0" * 99 + b"\x10\0\0\0PAR1", "cannot be read as Parquet"),
        ("t.arrow", b"ARROW1\0\0" + b"\x07" * 99, "cannot be read as Arrow"),
        ("t.arrow", b"\xff\xff\xff\xff" + b"\x07" * 99, "cannot be read as an Arrow IPC stream"),
        ("t.xlsx", b"PK\x03\x04" + b"\0" * 99, "cannot be read as an Excel workbook"),
    ],
)
def test_wrong_names_and_damaged_files_are_named(tmp_path: Path, name: str, content: bytes, match: str) -> None:
    """B25, B26."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=match):
        read_table(path)


def test_a_header_may_begin_like_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("PAR1,PAR2\n1,2\n3,4\n")
    assert sniff(path) is Format.CSV
    assert read_table(path).names == ("PAR1", "PAR2")


def test_a_zip_archive_is_not_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", TEXT)
    with pytest.raises(InputError, match="is a zip archive, but not an Excel workbook"):
        read_table(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """B01."""
    with pytest.raises(FileError, match="no such file"):
        read_table(tmp_path / "absent.parquet")
    with pytest.raises(FileError, match="not a regular file"):
        read_table(tmp_path)


def test_options_that_do_not_fit_the_format_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    for option in ({"delimiter": ";"}, {"sheet": "x"}, {"header": True}, {"encoding": "utf-8"}):
        with pytest.raises(UsageError, match="is Parquet, which has no"):
            read_table(path, **option)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["out.pkl", "out.feather", "out.arrow", "out", "out.csv.zst", "out.html", "out.gz"])
def test_releases_in_other_formats_are_refused(name: str) -> None:
    """L08."""
    with pytest.raises(UsageError, match="CSV, Parquet or Excel"):
        output_format(Path(name))


# ---- typed cells


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_typed_columns_become_text(tmp_path: Path, suffix: str) -> None:
    """C08, C10, C12, C13: exact, one text for one value."""
    path = tmp_path / f"t{suffix}"
    pq.write_table(typed(), path) if suffix == ".parquet" else feather.write_feather(typed(), path)
    assert read_table(path).frame.to_dict(as_series=False) == TYPED_TEXT


def test_the_verifier_reads_the_same_text_from_parquet(tmp_path: Path) -> None:
    path = tmp_path / "odd [name]*.parquet"
    pq.write_table(typed(), path)
    assert read_original(path, Dialect()).texts() == TYPED_TEXT


def test_frames_have_the_same_text_as_files() -> None:
    table = typed()
    assert from_frame(table).frame.to_dict(as_series=False) == TYPED_TEXT
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    assert from_frame(frame.lazy()).frame.to_dict(as_series=False) == TYPED_TEXT
    pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert from_frame(pandas).frame.to_dict(as_series=False) == TYPED_TEXT


def test_names_that_differ_in_case_are_told_apart_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["1"], "A": ["2"]}).write_parquet(path)
    assert read_original(path, Dialect()).texts() == {"a": ["1"], "A": ["2"]}
    assert any("differ only in case" in note for note in read_table(path).notes)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [([[1, 2]], "List"), ([{"x": 1}], "Struct"), ([b"x"], "Binary"), ([dt.timedelta(1)], "Duration")],
)
def test_nested_and_binary_columns_are_named(tmp_path: Path, cells: list[Any], kind: str) -> None:
    """B25: column and type, never a cell."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"plain": ["1"], "odd": cells}), path)
    with pytest.raises(InputError, match=f"column 'odd' has type {kind}"):
        read_table(path)


def test_parquet_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": pl.Series([], dtype=pl.String)}).write_parquet(path)
    with pytest.raises(InputError, match="no data rows"):
        read_table(path)


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.99])
def test_truncated_parquet(tmp_path: Path, cut: float) -> None:
    """B25."""
    path = tmp_path / "t.parquet"
    pq.write_table(typed(), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(InputError, match="truncated"):
        read_table(path)


def test_parquet_with_spoilt_bytes_shows_no_cell(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """B25, L14: whatever breaks, an InputError without cells, or the table."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["CANARYCELL"] * 50, "b": list(range(50))}), path, compression="none")
    content = path.read_bytes()
    for place in range(4, len(content) - 8, 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        said = ""
        try:
            read_table(path)
        except (InputError, FileError) as error:
            said = str(error)
        assert "CANARY" not in said
    capfd.readouterr()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (np.float64(-0.0), "0.0"),
        (np.float32(-0.0), "0.0"),
        (np.float32(0.1), "0.1"),
        (float("inf"), "inf"),
        (float("nan"), ""),
        (None, ""),
        (pd.NA, ""),
        (pd.NaT, ""),
        (np.int8(-3), "-3"),
        (np.bool_(True), "True"),
        (Decimal("1E+3"), "1000"),
        (dt.timedelta(days=1, seconds=3661, microseconds=5), "P1DT1H1M1.000005S"),
        (pd.Timedelta(1, "ns"), "P0DT0H0M0.000000001S"),
        (pd.Timestamp("2020-01-31 12:00", tz="Europe/Berlin"), "2020-01-31 11:00:00+00:00"),
        (pd.Timestamp("2020-01-31"), "2020-01-31"),
        (pd.Period("2020-01"), "2020-01"),
    ],
)
def test_text_of_a_cell(value: object, text: str) -> None:
    """C08, C09, C10."""
    assert cell_text(value) == text


@pytest.mark.parametrize(
    "value", [1, True, 0.1, -0.0, 1e300, Decimal("1.50"), MOMENT, dt.date(2020, 1, 1), dt.time(1), None]
)
def test_maker_and_verifier_give_a_cell_the_same_text(value: object) -> None:
    assert cell_text(value) == verifier_text(value)


def test_object_column_keeps_four_values_apart() -> None:
    """C09: 1, 1.0, "1" and True; the first and the third share their text."""
    frame = pd.DataFrame({"a": pd.Series([1, 1.0, "1", True], dtype=object)})
    assert from_frame(frame).frame["a"].to_list() == ["1", "1.0", "1", "True"]


# ---- odd frames


def test_pandas_names() -> None:
    """B07: not text, twice, of several levels."""
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=[2019, "x"])
    assert from_frame(frame).names == ("2019", "x")
    with pytest.raises(InputError, match="columns 1, 2 have the same name"):
        from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="columns 1, 2 have the same name"):
        from_frame(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(UsageError, match="names of the frame have 2 levels"):
        from_frame(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])))


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (pd.DataFrame({"a": [1j]}), "column 'a' has type complex128"),
        (pd.DataFrame({"a": ["x", [1]]}), "column 'a', row 2: a cell of type list"),
        (pd.DataFrame({"a": pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))}), "column 'a' has type list"),
        (pl.DataFrame({"a": [[1]]}), "column 'a' has type List"),
        (pl.DataFrame({"a": [object()]}, schema={"a": pl.Object}), "column 'a' has type Object"),
        (pa.table({"a": [[1]]}), "column 'a' has type List"),
        (pd.DataFrame({"a": ["\ud800"]}, dtype=object), "column 'a' contains text that is not Unicode"),
        (pl.DataFrame({"a": ["x\0y"]}), "column 'a' contains a NUL character"),
        (pl.DataFrame({"a": [10**18]}).cast(pl.Datetime("us")), "outside the years 1 to 9999"),
        (pl.DataFrame({"a": []}), "no data rows"),
    ],
)
def test_odd_columns_are_named(frame: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        from_frame(frame)


@pytest.mark.parametrize("thing", [[1, 2], {"a": [1]}, "data.csv", pd.Series([1]), pl.Series([1]), pa.array([1])])
def test_what_is_not_a_frame_is_refused(thing: object) -> None:
    with pytest.raises(UsageError, match="is not supported"):
        from_frame(thing)


def test_wide_and_small_frames() -> None:
    wide = pd.DataFrame({f"c{i}": [i, i] for i in range(1_000)})
    assert len(from_frame(wide).names) == 1_000
    assert from_frame(pl.DataFrame({"a": [1]})).n_rows == 1


# ---- Excel


def test_workbook_gives_the_values_of_the_first_visible_sheet(workbook: Path) -> None:
    """B26: dates as dates, cached values of formulas; nothing hidden; everything noted."""
    table = read_table(workbook)
    first = table.frame.row(0, named=True)
    assert first == {
        "name": "name 1",
        "n": "10",
        "born": "1950-01-01",
        "seen": "2020-01-01 12:30:15.250",
        "ok": "False",
        "sum": "20",
        "mixed": "007",
        "clock": "08:01:00",
        "span": "P2DT1H0M0S",
        "red": "10000000000000000",
    }
    assert table.frame["mixed"][1] == "0.3"
    assert table.frame["name"].to_list() == ["name 1", "name 2", "name 3", "name 4", "merged"]
    notes = "\n".join(table.notes)
    for remark in (
        "4 cells are formulas",
        "1 merged",
        "1 hidden row was",
        "1 hidden column was",
        "1 hidden sheet was",
        "'Other'",
    ):
        assert remark in notes
    assert "HIDDEN" not in notes + str(table.frame.to_dict(as_series=False))


def test_the_verifier_reads_the_same_text_from_a_workbook(workbook: Path) -> None:
    table = read_table(workbook)
    assert table.dialect is not None
    assert read_original(workbook, table.dialect, table.sheet).texts() == table.frame.to_dict(as_series=False)


def test_sheets_by_name(workbook: Path) -> None:
    with pytest.raises(InputError, match="no data rows"):
        read_table(workbook, sheet="Other")
    with pytest.raises(UsageError, match="is hidden, and hidden sheets are never released"):
        read_table(workbook, sheet="Secret")
    with pytest.raises(UsageError, match=r"does not exist\. The visible sheets are 'Data', 'Other'"):
        read_table(workbook, sheet="Dat")


def test_a_third_reader_agrees_on_plain_cells(tmp_path: Path) -> None:
    fastexcel = pytest.importorskip("fastexcel")
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for row in range(200):
            sheet.write_string(row, 0, f"text <{row}> & 'é🐟' \n{row}")
            sheet.write_number(row, 1, row * 0.5 - 50)
            sheet.write_number(row, 2, 10.0 ** (row % 20))
            sheet.write_string(row, 3, "  blanks ")
    read = fastexcel.read_excel(path).load_sheet(0, header_row=None, dtypes="string").to_polars()
    assert read_table(path, header=False).frame.rows() == read.rows()


def test_formula_without_a_value_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sheet = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
    rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2"><f>1+1</f></c></row>'
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet()
    replace_part(path, "xl/worksheets/sheet1.xml", sheet.format(rows))
    with pytest.raises(InputError, match="1 formula has no computed value"):
        read_table(path)
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + sheet.format("&b;")
    replace_part(path, "xl/worksheets/sheet1.xml", bomb)
    with pytest.raises(InputError, match="cannot be read as an Excel workbook"):
        read_table(path)


def replace_part(path: Path, name: str, content: str) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for entry, old in parts.items():
            archive.writestr(entry, content if entry == name else old)


# ---- limits


def test_a_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B25: gzip, Zstandard and a workbook that expand beyond measure."""
    monkeypatch.setattr(memory_limit, "FREE_EXPANSION", 10**6)
    zeros = b"0,0\n" * 2_000_000
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(zeros, mtime=0))
    (tmp_path / "t.csv.zst").write_bytes(zstd(zeros))
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", zeros)
    for path in tmp_path.iterdir():
        with pytest.raises(InputError, match="expands to more than 200 times its size"):
            read_table(path)


def test_size_of_zstandard_frames() -> None:
    content = np.random.default_rng(0).integers(0, 255, 1_000_000, dtype=np.uint8).tobytes()
    sink = io.BytesIO()
    with pa.CompressedOutputStream(pa.PythonFile(sink), "zstd") as stream:
        stream.write(content)
        streamed = b""
        stream.flush()
        streamed = sink.getvalue()
    assert zstd_size(zstd(content), Path("x")) >= len(content)
    assert zstd_size(zstd(content) * 2, Path("x")) >= 2 * len(content)
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    assert zstd_size(skippable + zstd(content), Path("x")) < 1.2 * len(content)
    assert streamed == b"" or streamed.startswith(b"\x28\xb5\x2f\xfd")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.feather", "t.xlsx"])
def test_too_little_memory_is_told_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """O08: "needs about", from sizes alone."""
    path = tmp_path / name
    frame = pl.DataFrame({"a": list(range(50_000)), "b": ["x" * 20] * 50_000})
    if name.endswith((".csv", ".gz", ".zst")):
        packed = {".gz": gzip.compress, ".zst": zstd}.get(path.suffix, bytes)
        path.write_bytes(packed(frame.write_csv().encode()))
    elif name.endswith(".parquet"):
        frame.write_parquet(path)
    elif name.endswith(".feather"):
        frame.write_ipc(path)
    else:
        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate([tuple(frame.columns), *frame.rows()]):
                sheet.write_row(number, 0, row)
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "1MB")
    with pytest.raises(FileError, match=r"needs about .* of memory, but only 1\.0 MB is available"):
        read_table(path)
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "1GB")
    assert read_table(path).n_rows >= 49_999


@pytest.mark.parametrize(("text", "size"), [("500MB", 5 * 10**8), ("4 GB", 4 * 10**9), ("1.5g", 15 * 10**8), ("7", 7)])
def test_sizes(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", text)
    assert memory_limit.available_memory() == size


def test_a_size_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "lots")
    with pytest.raises(UsageError, match="is not a size"):
        memory_limit.available_memory()


def test_available_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_MEMORY_LIMIT", raising=False)
    found = memory_limit.available_memory()
    assert found is None or found > 10**6


# ---- a file that changes


@pytest.mark.parametrize("change", ["touched", "replaced", "removed"])
def test_a_file_that_changes_after_reading_is_noticed(tmp_path: Path, change: str) -> None:
    """B27."""
    import os

    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    table = read_table(path)
    table.check_unchanged()
    if change == "touched":
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    elif change == "replaced":
        found = path.stat()
        (tmp_path / "new.csv").write_text(TEXT)
        os.utime(tmp_path / "new.csv", ns=(found.st_atime_ns, found.st_mtime_ns))
        os.replace(tmp_path / "new.csv", path)
    else:
        path.unlink()
    with pytest.raises(InputError, match=f"{path}: the file (changed|disappeared) after it was read"):
        table.check_unchanged()


def test_the_verifier_says_what_it_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    pl.DataFrame({"a": ["1"]}).write_ipc(path)
    assert not can_read(path)
    with pytest.raises(InputError, match=r"is an Arrow \(Feather\) file"):
        read_original(path, Dialect())
