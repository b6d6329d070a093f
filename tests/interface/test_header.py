"""Every command that reads a table asks for the header if it cannot be told, and shows no cell of the first line."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter

from tests.command import Shoal

ROWS = [["Zebulon", "Quagmire", "flu"], ["Hortensia", "Bletchley", "cough"], ["Fitzwilliam", "Netherfield", "flu"]]
CELLS = {cell for row in ROWS for cell in row[:2]}
NUMBERS = [["7310427", "9920418"], ["7310428", "9920419"], ["7310429", "9920420"]]
# The names that the user passes are misspelt cells of the first line, which a hint would complete.
COMMANDS: dict[str, tuple[str, ...]] = {
    "anonymize": ("anonymize", "{data}", "-o", "{out}", "-k", "2", "--qi", "Zebulo,731042", "--others", "drop"),
    "dry run": ("anonymize", "{data}", "-o", "{out}", "-k", "2", "--qi", "Zebulo", "--others", "drop", "--dry-run"),
    "duckdb": (
        *("anonymize", "{data}", "-o", "{out}", "-k", "2", "--qi", "Zebulo", "--others", "drop"),
        *("--engine", "duckdb", "--method", "datafly"),
    ),
    "init": ("init", "{data}", "-o", "{folder}/shoal.toml"),
    "verify": ("verify", "{data}", "-k", "2", "--qi", "Zebulo"),
    "verify original": ("verify", "{data}", "-k", "2", "--qi", "Zebulo", "--original", "{data}"),
    "verify: describe": ("describe", "{data}", "--qi", "Zebulo"),
    "verify by numbers": ("verify", "{data}", "-k", "2", "--qi", "731042"),
    "measure": ("measure", "{data}", "{data}", "--qi", "Zebulo"),
    "risk": ("risk", "{data}", "--qi", "Zebulo"),
    "evaluate": ("evaluate", "{data}", "{data}", "--qi", "Zebulo"),
    "compare": ("compare", "{data}", "--qi", "Zebulo", "-k", "2", "--no-cache"),
    "advise": ("advise", "{data}", "--qi", "Zebulo", "-k", "2", "--no-cache"),
    "simulate": ("simulate", "{data}", "--qi", "Zebulo", "-k", "2"),
    "propose": ("hierarchy", "propose", "{data}", "--column", "Zebulo"),
    "config": ("anonymize", "{data}", "-o", "{out}", "--config", "{folder}/config.toml"),
}
CONFIG = 'k = 2\nothers = "drop"\n[columns.Zebulo]\nrole = "qi"\n[columns.Hortensi]\nrole = "sensitive"\n'


def write(folder: Path, rows: list[list[str]], suffix: str) -> Path:
    path = folder / f"data{suffix}"
    if suffix == ".csv":
        path.write_text("\n".join(map(",".join, rows)) + "\n")
    else:
        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_header_is_asked_for(shoal: Shoal, tmp_path: Path, name: str, suffix: str) -> None:
    if name == "duckdb" and suffix == ".xlsx":
        pytest.skip("DuckDB reads no workbooks")
    (tmp_path / "config.toml").write_text(CONFIG)
    places = {"out": tmp_path / "out.csv", "folder": tmp_path}
    for rows, cells in ((ROWS, CELLS), (NUMBERS, {cell for row in NUMBERS for cell in row})):
        data = write(tmp_path, rows, suffix)
        ended = shoal(*(word.format(data=data, **places) for word in COMMANDS[name]))
        if name.startswith("verify"):  # its own reader looks for the columns in the first line
            assert ended.code == 2, ended.err
            assert "is its first line a header?" in ended.err
        else:
            assert ended.code == 3, ended.err
            assert {"--header", "--no-header"} <= set(ended.err.split())
        assert not [cell for cell in cells if cell in ended.out + ended.err], ended.err
        assert not (tmp_path / "out.csv").exists()


def test_a_first_line_with_all_columns_is_a_header(shoal: Shoal, tmp_path: Path) -> None:
    """A table of texts is the common case; its columns are named, so nobody is asked."""
    rows = [["who", "where", "what"], *ROWS, *ROWS]
    data, out = write(tmp_path, rows, ".csv"), tmp_path / "out.csv"
    words = ("--qi", "who,where", "--sensitive", "what")
    assert shoal("anonymize", data, "-o", out, "-k", 2, *words).code == 0
    assert out.read_text().splitlines()[0] == "who,where,what"
    assert shoal("verify", out, "-k", 2, *words, "--original", data).code == 0
    assert shoal("measure", data, out, "--qi", "who,where").code == 0
    assert shoal("risk", out, "--qi", "who,where").code == 0


def test_a_mistyped_column_of_a_certain_header_is_completed(shoal: Shoal, tmp_path: Path) -> None:
    rows = [["who", "where", "age"], ["Ada", "Rome", "3"], ["Bob", "Oslo", "4"]]
    data = write(tmp_path, rows, ".csv")
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, "--others", "drop", "--qi")
    ended = shoal(*words, "wheres")
    assert ended.code == 2
    assert "Did you mean 'where'?" in ended.err
    rows[1:] = [["Ada", "Rome", "young"], ["Bob", "Oslo", "old"]]
    write(tmp_path, rows, ".csv")
    ended = shoal(*words, "wheres")
    assert ended.code == 3
    assert "column 'wheres' is not in it" in ended.err
    ended = shoal(*words, "wheres", "--header")
    assert ended.code == 2
    assert "Did you mean 'where'?" in ended.err


def test_without_header_the_columns_have_numbers(shoal: Shoal, tmp_path: Path) -> None:
    data, out = write(tmp_path, ROWS * 2, ".csv"), tmp_path / "out.csv"
    words = ("anonymize", data, "-o", out, "-k", 2, "--others", "drop", "--no-header", "--qi")
    ended = shoal(*words, "name")
    assert ended.code == 2
    assert "'column1', 'column2', 'column3'" in ended.err
    assert shoal(*words, "column1,column2").code == 0
    assert out.read_text().splitlines()[0] == "column1,column2"


def test_doubled_names_are_told_by_number(shoal: Shoal, tmp_path: Path) -> None:
    """B07: a first line with the same text twice may be data."""
    data = write(tmp_path, [["Zebulon", "Zebulon", "n"], ["Ada", "Rome", "3"], ["Bob", "Oslo", "4"]], ".csv")
    ended = shoal("init", data, "-o", tmp_path / "shoal.toml")
    assert ended.code == 3
    assert "columns 1, 2 have the same name" in ended.err
    assert "Zebulon" not in ended.err
