"""Files that ask for more memory or time than a table needs are refused first: exit code 3, with the place.

Every file is read in a process of its own that has little memory, so a reader without bounds would fail.
"""

from __future__ import annotations

import io
import re
import struct
import subprocess
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from shoal.errors import InputError, UsageError
from shoal.schema import Dialect
from shoal.tables.formats import writers
from shoal.tables.formats.sniff import Format
from shoal.verification import read_original
from shoal.verification.cells import Cells, normalise
from shoal.verification.models.checks import ModelChecks
from shoal.verification.reading import limits
from shoal.verification.reading.files import cell_text
from shoal.verification.verdict import exact, read_limit

READ = """
import resource, sys
import duckdb, numpy, zstandard
from shoal.errors import InputError
from shoal.schema import Dialect
from shoal.verification import hidden_content, read_original
from shoal.verification.reading.coded import read_written
from shoal.verification.reading import limits
limits.FREE_EXPANSION = 30_000_000
duckdb.connect().execute("select 1")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + (400 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for read in (lambda p: read_original(p, Dialect()), read_written, hidden_content):
    for path in sys.argv[1:]:
        try:
            read(path)
            print(path, "read")
        except InputError as error:
            print(error)
"""


def book(sheet: str, **parts: str) -> bytes:
    """Return a workbook with this content of its sheet."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in {**writers.PARTS, "xl/worksheets/sheet1.xml": sheet, **parts}.items():
            archive.writestr(part, content)
    return file.getvalue()


def cells(xml: str) -> str:
    return f"<worksheet><sheetData>{xml}</sheetData></worksheet>"


def text_cell(place: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>x</t></is></c>'


def far_cells() -> str:
    return f'<row r="1">{text_cell("A1")}</row><row r="1048576">{text_cell("XFD1048576")}</row>'


def sparse_cells() -> str:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(1, 9000))
    return f'{rows}<row r="9000">{text_cell("XFD9000")}</row>'


def with_format(code: str) -> bytes:
    styles = f'<a><numFmt numFmtId="9" formatCode="{code}"/><cellXfs><xf numFmtId="9"/></cellXfs></a>'
    return book(cells("<row/>"), **{"xl/styles.xml": styles})


def bomb(size: int) -> bytes:
    """Return gzip bytes that expand to a size."""
    engine = zlib.compressobj(9, wbits=31)
    block = b"a,b\n" * (1 << 18)
    return b"".join([*(engine.compress(block) for _ in range(size // len(block))), engine.flush()])


def zstd_bomb(size: int) -> bytes:
    """Return a Zstandard frame of blocks that repeat one byte: 131,072 bytes of content for each 4."""
    n_blocks = size // (1 << 17)
    block = (1 << 17) << 3 | 1 << 1
    blocks = [struct.pack("<I", block)[:3] + b"\n"] * n_blocks
    blocks[-1] = struct.pack("<I", block | 1)[:3] + b"\n"
    return struct.pack("<IBB", 0xFD2FB528, 0, 0x58) + b"".join(blocks)


def varint(number: int) -> bytes:
    number = number * 2 if number >= 0 else -number * 2 - 1  # zigzag
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


LAUGHS = "<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9)
)
HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "far cell": ("a.xlsx", lambda: book(cells(far_cells())), "spread over|earlier column"),
    "far column": (
        "a.xlsx",
        lambda: book(cells('<row r="1">' + text_cell("XFE1") + "</row>")),
        "row 1 has a cell that is not in a place",
    ),
    "long letters": (
        "a.xlsx",
        lambda: book(cells('<row r="1">' + text_cell("A" * 9999 + "1") + "</row>")),
        "row 1 has a cell",
    ),
    "far row": ("a.xlsx", lambda: book(cells('<row r="99999999999999"/>')), "a row after row 0 has no number"),
    "negative row": ("a.xlsx", lambda: book(cells('<row r="-5"/>')), "a row after row 0 has no number"),
    "cell of another row": (
        "a.xlsx",
        lambda: book(cells('<row r="2">' + text_cell("A7") + "</row>")),
        "row 2 has a cell",
    ),
    "sparse": (
        "a.xlsx",
        lambda: book(cells(sparse_cells())),
        "spread over 9,000 rows and 16,384 columns",
    ),
    "entities": ("a.xlsx", lambda: book(f"{LAUGHS}]><a>&j;</a>"), "cannot be read as an Excel workbook"),
    "deep": ("a.xlsx", lambda: book("<a>" * 500_000), "cannot be read as an Excel workbook"),
    "long tag": ("a.xlsx", lambda: book(f'<a b="{"x" * (5 << 20)}"/>'), "cannot be read as an Excel workbook"),
    "long cell": (
        "a.xlsx",
        lambda: book(cells(f'<row><c t="str"><v>{"x" * (17 << 20)}</v></c></row>')),
        "cannot be read as an Excel",
    ),
    "number of many digits": (
        "a.xlsx",
        lambda: book(cells(f"<row><c><v>{'9' * 400_000}</v></c></row>")),
        "cannot be read|read",
    ),
    "large number": ("a.xlsx", lambda: book(cells("<row><c><v>1e999999999</v></c></row>")), "read"),
    "format": (
        "a.xlsx",
        lambda: with_format("[" * 400_000),
        "cannot be read as an Excel workbook",
    ),
    "negative string": (
        "a.xlsx",
        lambda: book(cells('<row><c t="s"><v>-1</v></c></row>')),
        "cannot be read as an Excel",
    ),
    "many parts": ("a.xlsx", lambda: book("<a/>", **{f"p{n}": "" for n in range(10_001)}), "more than 10,000 parts"),
    "expanding part": ("a.xlsx", lambda: lying_size(book(cells(""))), "expands to more than 200 times"),
    "gzip": ("a.csv.gz", lambda: bomb(40_000_000), "expands to more than 200 times"),
    "zstd": ("a.csv.zst", lambda: zstd_bomb(40_000_000), "expands to more than 200 times"),
    "zstd window": (
        "a.csv.zst",
        lambda: struct.pack("<IBB", 0xFD2FB528, 0, 0xF8) + struct.pack("<I", 1)[:3],
        "cannot be decompressed",
    ),
    "columns": ("a.csv", lambda: b"," * 3_000_000, "line 1: the row has more than 100,000 cells"),
    "columns below": ("a.csv", lambda: b"a,b\n" + b"," * 3_000_000, "line 2: the row has more than 100,000 cells"),
    "page": ("a.parquet", lambda: stated_size(2_000_000_000), "expands to more than 200 times"),
    "negative page": ("a.parquet", lambda: stated_size(-5), "cannot be read as Parquet"),
    "rows": ("a.parquet", lambda: constant_rows(400_000_000), "expands to more than 200 times"),
    "footer": (
        "a.parquet",
        lambda: b"PAR1\x19\xfc" + varint(1 << 30) + struct.pack("<I", 7) + b"PAR1",
        "cannot be read as Parquet",
    ),
}


def lying_size(raw: bytes) -> bytes:
    """State that a part of a workbook expands to 3 GB."""
    at = raw.index(b"PK\1\2")
    return raw[: at + 24] + struct.pack("<I", 3_000_000_000) + raw[at + 28 :]


def small_parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"a": ["x"] * 3}), file, compression="zstd", write_statistics=False)
    return file.getvalue()


def stated_size(size: int) -> bytes:
    """Return a Parquet file whose first page states that it expands to a size."""
    raw = small_parquet()
    assert raw[4:7] == b"\x15\x04\x15"
    return raw[:7] + varint(size) + raw[8:]


def constant_rows(count: int) -> bytes:
    """Return a Parquet file whose footer states many rows; a run of one value needs no more bytes for them."""
    raw = small_parquet()
    at = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    footer = raw[at:-8].replace(b"\x16\x06", b"\x16" + varint(count))
    return raw[:at] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def test_hostile_files_are_refused_in_little_memory(tmp_path: Path) -> None:
    """B02, B03, B24: nothing is allocated that a file merely states, and each refusal names its place."""
    paths = {}
    for number, (name, (file, make, _)) in enumerate(HOSTILE.items()):
        paths[name] = tmp_path / f"{number}-{file}"
        paths[name].write_bytes(make())
    ended = subprocess.run(
        [sys.executable, "-c", READ, *map(str, paths.values())], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    lines = ended.stdout.splitlines()
    for name, path in paths.items():
        own = [line.removeprefix(str(path)) for line in lines if line.startswith(str(path))]
        assert len(own) == 3, (name, own)
        assert re.search(HOSTILE[name][2], own[0]), (name, own)


def test_too_little_memory_is_an_error_and_not_a_shorter_table(tmp_path: Path) -> None:
    """The tokenizer passes on that memory is exhausted; it must not go on without some cells."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n" + b"1\n" * 20_000_000)
    code = READ.replace("400 << 20", "40 << 20")
    ended = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    path.unlink()
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.rstrip().endswith("MemoryError: std::bad_alloc")


def test_a_long_cell_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.verification.reading import coded

    monkeypatch.setattr(coded, "MOST_BYTES", 1 << 20)
    (tmp_path / "a.csv").write_bytes(b'a\n1\n"' + b"x" * (3 << 20))
    with pytest.raises(InputError, match="line 3: a cell has more than"):
        read_original(tmp_path / "a.csv", Dialect())


def test_a_wide_table_needs_little_memory(tmp_path: Path) -> None:
    """B05: many columns are read; the memory of each is small until it has values."""
    (tmp_path / "a.csv").write_bytes(b",".join(b"c%d" % n for n in range(40_000)) + b"\n" + b"," * 39_999 + b"\n")
    table = read_original(tmp_path / "a.csv", Dialect())
    assert (len(table.names), table.n_rows) == (40_000, 1)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst", "a.parquet", "a.xlsx"])
def test_ordinary_files_pass_the_bounds(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"a": [str(i) for i in range(500)], "b": ["x" * 99] * 500})
    path = tmp_path / name
    if name == "a.csv.zst":
        path.write_bytes(zstandard.compress(frame.write_csv().encode()))
    else:
        formats = {"a.csv.gz": Format.GZIP, "a.parquet": Format.PARQUET, "a.xlsx": Format.EXCEL}
        writers.write_release(frame, path, formats[name])
    assert read_original(path, Dialect()).texts() == frame.to_dict(as_series=False)


def test_zstandard_needs_no_utf8_and_refuses_what_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.zst"
    content = zstandard.compress("a,b\nä,ö\n".encode("latin-1"))
    path.write_bytes(content)
    assert read_original(path, Dialect(encoding="latin-1")).texts() == {"a": ["ä"], "b": ["ö"]}
    for size in range(5, len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match="cannot be decompressed"):
            read_original(path, Dialect(encoding="latin-1"))
    path.write_bytes(content + content)
    assert read_original(path, Dialect(encoding="latin-1")).n_rows == 3


def test_the_limits_are_those_of_the_readers() -> None:
    from shoal.tables import table
    from shoal.tables.formats import excel, memory_limit

    assert limits.FREE_EXPANSION == memory_limit.FREE_EXPANSION
    assert limits.MOST_EXPANSION == memory_limit.MOST_EXPANSION
    assert (limits.MOST_COLUMNS, limits.MOST_BYTES) == (table.MOST_COLUMNS, table.LONGEST_CELL)
    assert limits.FREE_CELLS == excel.FREE_CELLS
    assert (limits.MOST_SHEET_ROWS, limits.MOST_SHEET_COLUMNS) == (writers.MOST_ROWS, writers.MOST_COLUMNS)


# ---- numbers and patterns


LONG = {
    "digits": "9" * 300_000,
    "digits and a letter": "9" * 300_000 + "x",
    "point": "9" * 150_000 + "." + "9" * 150_000 + "x",
    "exponent": "1e" + "9" * 300_000,
    "groups": "1" + ",000" * 100_000 + "x",
    "range": "[" + "1, " * 100_000 + "2]",
    "members": "{" + "a, " * 100_000 + "b}",
    "quotes": '{"' + 'a""' * 100_000 + "}",
    "open quote": '{"' + "a" * 300_000 + "}",
    "marks": "a" + "\u0316\u0301" * 100_000,
    "nested": "[" * 200_000 + "]" * 200_000,
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("kind", [None, "numeric", "date", "categorical"])
def test_long_cells_are_read_in_linear_time(name: str, kind: str | None) -> None:
    """A pattern that is quadratic takes minutes for these cells; the test would not end."""
    reader = Cells(kind, marks=(".", ",") if name == "groups" else (".", ""))
    assert reader.covers(LONG[name], LONG[name])
    assert not reader.covers("1.5", LONG[name])


@pytest.mark.parametrize("cell", ["1e999999999", "1e-999999999", "-1e999999999999", "0e999999999", "1E+400000000"])
def test_large_exponents_take_no_time(cell: str) -> None:
    reader = Cells("numeric")
    assert reader.covers("1", "[0, 1e999]")
    assert not reader.covers("1", "[0, 1e999999999]")  # more digits than a number has
    assert reader.covers(cell, cell)
    reader.covers(cell, f"[-1e999999999999, {cell}]")
    reader.covers("5", f"[{cell}, 7]")


def test_long_texts_have_the_same_normal_form() -> None:
    from shoal.tables import values

    for text in ("a\u0301" * 300, "e\u0316\u0301" * 200, "\uac00\u1100\u1161" * 99, "\u0301a" * 200, "ä" * 400):
        assert normalise(text) == unicodedata.normalize("NFC", text) == values.normalise(text)


def test_thresholds_with_large_exponents_are_refused() -> None:
    for text in ("1e999999999", "1e-999999999", "9" * 5000, "1/0"):
        with pytest.raises(ValueError, match=r"long|Invalid|zero"):
            exact(text)
        with pytest.raises(UsageError, match="is not a share"):
            read_limit(text)  # type: ignore[arg-type]
    assert exact("2.5e-3") * 400 == 1


def test_a_personal_k_of_many_digits_is_that_of_no_group() -> None:
    checks = ModelChecks([], [], [], {})
    checks.ask([(("a",), "9" * 5000), (("b",), "4")])
    assert [checks._largest_k[group] > 10**17 for group in (("a",), ("b",))] == [True, False]


def test_cells_of_frames_with_large_exponents_stay_short() -> None:
    assert cell_text(Decimal("1e999999999")) == "1E+999999999"
    assert cell_text(Decimal("1.50")) == "1.50"
