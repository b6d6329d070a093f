"""What is in a CSV file is what is read, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from tests.strategies import csv_text, grids

EXAMPLES = settings().max_examples * 3
# Texts that a reader with types of its own turns into something else.
PRECIOUS = [
    ["02139", "007", "00", "+1", "-0", "-0.0", "1.0", "1.10"],
    ["9007199254740993", "18446744073709551617", "1e5", "1E5", "0x1F", "1_000", "1,5", "٣"],
    ["NA", "N/A", "null", "NULL", "None", "nan", "NaN", "inf"],
    ["true", "True", "2020-01-01", "01/02/2020", "1/2", "-", "?", "*"],
    ["", " ", " a ", "a\u00a0b", "José", "Jose\u0301", '"', '""'],
    ["a,b", "a;b", "a\tb", "a\nb", "a\r\nb", "a\rb", "'", "#a"],
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "table.csv"


def name_columns(width: int) -> list[str]:
    return [f"column {i}" for i in range(width)]


@settings(max_examples=EXAMPLES)
@given(
    grid=grids(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n"]),
    finished=st.booleans(),
)
@example(grid=PRECIOUS, delimiter=",", end="\n", finished=True)
@example(grid=PRECIOUS, delimiter=";", end="\r\n", finished=True)
@example(grid=PRECIOUS, delimiter="\t", end="\r\n", finished=False)
@example(grid=[[""], [""]], delimiter=",", end="\n", finished=True)
def test_cells_are_read_as_they_were_written(
    path: Path, grid: list[list[str]], delimiter: str, end: str, finished: bool
) -> None:
    """B09, C12, C13: any text in any cell, with or without an end of the last line."""
    names = name_columns(len(grid[0]))
    text = csv_text([names, *grid], delimiter, end)
    path.write_bytes((text if finished else text.removesuffix(end)).encode())
    table = shoal.read_csv(path, delimiter=delimiter, header=True)
    assert list(table.names) == names
    assert [list(row) for row in table.frame.rows()] == grid


@given(grid=grids(max_rows=4), width=st.integers(1, 4), end=st.sampled_from(["\n", "\r\n"]), data=st.data())
def test_names_are_read_as_they_were_written(
    path: Path, grid: list[list[str]], width: int, end: str, data: st.DataObject
) -> None:
    """B07: odd names are kept; digits as names do not mix up the columns."""
    odd = st.sampled_from(
        ["0", "1", "2", "3", "a,b", 'a"b', "a\nb", "é", "\U0001f41f", "column1", "length", "self", "*"]
    )
    names = data.draw(st.lists(odd, min_size=len(grid[0]), max_size=len(grid[0]), unique=True))
    path.write_bytes(csv_text([names, *grid], ",", end).encode())
    table = shoal.read_csv(path, delimiter=",", header=True)
    assert list(table.names) == names
    assert [list(row) for row in table.frame.rows()] == grid


@given(
    cells=st.lists(
        st.tuples(st.text("abcXYZé", min_size=1, max_size=5), st.integers(0, 99999).map(str)), min_size=1, max_size=20
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_dialect_of_a_plain_file_is_told_from_it(
    path: Path, cells: list[tuple[str, str]], delimiter: str, end: str
) -> None:
    """B10: and is said to the user."""
    grid = [list(row) for row in cells]
    path.write_bytes(csv_text([["name", "number"], *grid], delimiter, end).encode())
    table = shoal.read_csv(path)
    assert table.dialect is not None
    assert table.dialect.delimiter == delimiter
    assert table.dialect.header
    assert table.names == ("name", "number")
    assert [list(row) for row in table.frame.rows()] == grid
    assert any("delimiter" in note and "with header" in note for note in table.notes)


@given(grid=grids(max_rows=4))
def test_bytes_of_another_encoding_are_read_as_its_text(path: Path, grid: list[list[str]]) -> None:
    """B11."""
    names = name_columns(len(grid[0]))
    text = csv_text([names, *grid], ",", "\n")
    for written, named in (("utf-8-sig", None), ("utf-16", "utf-16"), ("utf-32", "utf-32"), ("utf-8", "UTF-8")):
        path.write_bytes(text.encode(written))
        table = shoal.read_csv(path, delimiter=",", header=True, encoding=named)
        assert list(table.names) == names
        assert [list(row) for row in table.frame.rows()] == grid


@pytest.mark.parametrize("cell", sorted({cell for row in PRECIOUS for cell in row}), ids=ascii)
def test_precious_cell_survives_reading_and_a_release_that_changes_nothing(cell: str, tmp_path: Path) -> None:
    """C12, C13: leading zeros, long numbers, exponents and words for missing stay what they are."""
    path = tmp_path / "table.csv"
    path.write_bytes(csv_text([["code", "disease"], [cell, cell], [cell, "flu"]], ",", "\n").encode())
    table = shoal.read_csv(path, delimiter=",", header=True)
    assert table.frame.rows() == [(cell, cell), (cell, "flu")]
    release = shoal.anonymize(table.frame, qi=["code"], sensitive=["disease"], k=2)
    assert release.text.rows() == sorted([(cell, cell), (cell, "flu")])
    assert release.measures.ncp == 0


def test_country_na_is_a_country(tmp_path: Path) -> None:
    """C13: Namibia is not missing, unless that is declared."""
    path = tmp_path / "table.csv"
    path.write_bytes(b"country\nNA\nNA\nFR\nDE\n")
    frame = shoal.read_csv(path).frame
    release = shoal.anonymize(frame, qi=["country"], k=2)
    assert sorted(release.text["country"].to_list()) == ["NA", "NA", "{DE, FR}", "{DE, FR}"]
    assert shoal.anonymize(frame, qi=["country"], k=2, missing=["NA"]).text["country"].to_list()[:2] == ["NA", "NA"]
