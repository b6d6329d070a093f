"""The scan of CSV bytes, held against its plain twin and the csv module."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels import csv_scan
from tests.naive import csv_scan as naive
from tests.strategies import csv_text, grids

EXAMPLES = settings().max_examples * 5
DELIMITERS = st.sampled_from([",", ";", "\t", "|"])


def scan(text: bytes, delimiter: str, initial_space: bool = False) -> tuple[dict[str, int], bytes]:
    """Return what the kernel found, by the twin's names, and the plain records."""
    plain = bytearray(len(text) + 1)
    found = np.zeros(11, dtype=np.int64)
    csv_scan.scan_csv(text, ord(delimiter), initial_space, plain, found)
    values = found.tolist()
    names = {
        "n_records": csv_scan.RECORDS,
        "width": csv_scan.FIELDS,
        "ragged": csv_scan.RAGGED,
        "ragged_line": csv_scan.RAGGED_LINE,
        "ragged_fields": csv_scan.RAGGED_FIELDS,
        "blank": csv_scan.BLANK,
        "open_quote": csv_scan.OPEN_QUOTE,
        "stray_quote": csv_scan.STRAY_QUOTE,
        "nul": csv_scan.NUL,
        "lone_cr": csv_scan.LONE_CR,
    }
    return {name: values[index] for name, index in names.items()}, bytes(plain[: values[csv_scan.LENGTH]])


def as_found(twin: naive.Scan) -> dict[str, int]:
    return {"n_records": len(twin.records)} | {name: n for name, n in vars(twin).items() if name != "records"}


# Texts of the very bytes that matter to the scan: almost all of them are malformed somewhere.
RAW = st.text('ab," \r\n;\0', max_size=30).map(str.encode)
# And texts with fewer faults: lines of cells that are quoted as a careless writer would.
CELL = st.sampled_from(
    ["", "a", "b c", " a", '"a"', '""', '"a,b"', '"a\nb"', '"a""b"', '"\r\n"', "é", ' "a"', '"a', 'a"']
)
LINE = st.lists(CELL, min_size=1, max_size=4).map(",".join)
LINES = st.lists(LINE, max_size=6)
TEXT = st.tuples(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda drawn: (drawn[1].join(drawn[0]) + drawn[1] * drawn[2]).encode()
)


@settings(max_examples=EXAMPLES)
@given(text=st.one_of(RAW, TEXT), delimiter=st.sampled_from([",", ";"]), initial_space=st.booleans())
def test_finds_what_the_twin_finds(text: bytes, delimiter: str, initial_space: bool) -> None:
    """B08, B09: every fault by its line; where there is none, the same records."""
    twin = naive.scan(text, delimiter.encode(), initial_space)
    found, plain = scan(text, delimiter, initial_space)
    assert found["lone_cr"] == twin.lone_cr
    if twin.lone_cr == 0:  # behind a lone carriage return nothing is defined
        assert found == as_found(twin)
    if not (twin.lone_cr or twin.open_quote):
        assert plain == twin.plain(delimiter.encode())


@settings(max_examples=EXAMPLES)
@given(grid=grids(), delimiter=DELIMITERS, end=st.sampled_from(["\n", "\r\n"]))
def test_well_formed_text_keeps_its_cells(grid: list[list[str]], delimiter: str, end: str) -> None:
    """B09: what the csv module wrote, it reads back from the plain records."""
    text = csv_text(grid, delimiter, end).encode()
    found, plain = scan(text, delimiter)
    faults = {name: n for name, n in found.items() if name not in ("n_records", "width") and n}
    assert faults == {}
    assert found["n_records"] == len(grid)
    assert found["width"] == len(grid[0])
    assert list(csv.reader(io.StringIO(plain.decode(), newline=""), delimiter=delimiter)) == grid
    twin = naive.scan(text, delimiter.encode(), False)
    assert [[cell.decode() for cell in cells] for cells in twin.cells()] == grid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", {}),
        (b"\n\n", {"blank": 2}),
        (b"a,b\n1,2\n", {"n_records": 2, "width": 2}),
        (b"a,b\n1,2", {"n_records": 2, "width": 2}),
        (b"a,b\r\n\r\n1,2\r\n", {"n_records": 2, "width": 2, "blank": 1}),
        (b"a,b\n1\n1,2,3\n", {"n_records": 3, "width": 2, "ragged": 2, "ragged_line": 2, "ragged_fields": 1}),
        (b'a\n"x\ny"\n1,2\n', {"n_records": 3, "width": 1, "ragged": 1, "ragged_line": 4, "ragged_fields": 2}),
        (b'a\n1\n"open\n', {"n_records": 2, "width": 1, "open_quote": 3}),
        (b'a\nx"y\n"x"y\n', {"n_records": 3, "width": 1, "stray_quote": 2}),
        (b'a\n"x"y\n', {"n_records": 2, "width": 1, "stray_quote": 2}),
        (b"a\n1\0\n", {"n_records": 2, "width": 1, "nul": 2}),
        (b"a\n1\r2\n", {"n_records": 2, "width": 1, "lone_cr": 2}),
        (b"a\n1\r", {"n_records": 2, "width": 1, "lone_cr": 2}),
        (b'a\n"\r"\n', {"n_records": 2, "width": 1}),
        (b'a\n""\n', {"n_records": 2, "width": 1}),
    ],
)
def test_named_cases(text: bytes, expected: dict[str, int]) -> None:
    """B08, B09, B12: ragged rows, quotes and control characters, each by its line."""
    found, _ = scan(text, ",")
    assert {name: n for name, n in found.items() if n} == expected


def test_blanks_after_a_delimiter_belong_to_it_only_where_asked() -> None:
    text = b'a,  b, "c, d",e \n'
    assert scan(text, ",", initial_space=True)[1] == b'a,b,"c, d",e \n'
    found, plain = scan(text, ",", initial_space=False)
    assert plain == text
    assert found["stray_quote"] == 1
