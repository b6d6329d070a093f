"""Whether the first line names the columns: what is evidence, when the user is asked, and that no cell is shown."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

import shoal
from shoal.errors import InputError, ShoalError
from shoal.settings.settings import Settings
from shoal.tables.formats import read_table
from shoal.tables.formats.blocks import open_blocks
from shoal.tables.header import find_header


def lines(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.split("\n")]


HEADERS = {
    "a name over numbers": "age,sex\n30,F\n31,M",
    "names over numbers only": "a,b\n1,2\n3,4",
    "a name over dates": "born,sex\n1980-01-02,F\n1981-03-04,M",
    "a name over dates of another form": "born,x\n2.1.1980,F\n14.3.1981,M",
    "a name over codes": "key,x\nP001,u\nP002,v",
    "a year over numbers, with a name": "2019-01,x\n5,F\n6,M",
    "numbered names over numbers": "q1,q2\n5,6\n6,7",
    "decimal commas": "cost;x\n1,5;a\n2,5;b".replace(",", "\u2024").replace(";", ",").replace("\u2024", "."),
    "some cells are missing": "age,x\n,F\n31,M\n?,M",
    "words for columns": "name,city\nAda,Rome\nBob,Oslo",
    "words in other languages": "Vorname,Ort\nAda,Rom\nBob,Oslo",
    "joined words": "PatientName,home_city,x\nAda,Rome,u\nBob,Oslo,v",
    "one column of words": "city\nRome\nOslo",
    "one line": "Ada,Rome",
}
UNCERTAIN = {
    "numbers without names": "30,1\n31,2\n32,3",
    "years over numbers": "2019,2020\n1,2\n3,4",
    "texts without names": "Ada,Rome,flu\nBob,Oslo,cough",
    "one column": "Ada\nBob",
    "one column of numbers": "30\n31",
    "numbers and texts": "30,F\n31,M",
    "dates": "1980-01-02,F\n1981-03-04,M",
    "a missing marker over numbers": "?,F\n31,M",
    "another marker over numbers": "unknown,F\n31,M",
    "an empty cell over numbers": ",F\n31,M",
    "a text over numbers, and numbers over numbers": "elderly,1\n31,2",
    "words that are values too": "city,name\nRome,Ada\ncity,Bob",
    "words twice": "name,name\nAda,Rome\nBob,Oslo",
    "words and nothing": "name,\nAda,Rome\nBob,Oslo",
    "a word in a longer text": "Oklahoma City,type 2 diabetes\nRome,flu\nOslo,cough",
    "codes throughout": "P001,u\nP002,v",
}


@pytest.mark.parametrize("name", HEADERS)
def test_header_is_certain(name: str) -> None:
    assert find_header(lines(HEADERS[name]), header=None, named=(), place="x.csv")


@pytest.mark.parametrize("name", UNCERTAIN)
def test_header_is_asked_for(name: str) -> None:
    records = lines(UNCERTAIN[name])
    with pytest.raises(InputError, match="cannot tell whether the first line names the columns") as raised:
        find_header(records, header=None, named=(), place="x.csv")
    assert "--no-header" in raised.value.for_command_line()
    assert not [cell for cell in records[0] if len(cell) > 4 and cell in str(raised.value)]
    assert find_header(records, header=True, named=(), place="x.csv")
    assert not find_header(records, header=False, named=(), place="x.csv")


def test_named_columns_make_a_header_certain() -> None:
    """Any table, once the first line contains every column that the settings name."""
    for text in UNCERTAIN.values():
        records = lines(text)
        assert find_header(records, header=None, named=[c for c in records[0] if c], place="x.csv")
        with pytest.raises(InputError, match="column 'absent' is not in it, and"):
            find_header(records, header=None, named=[records[0][0], "absent"], place="x.csv")


def test_our_own_names_mean_that_there_is_no_header() -> None:
    """column1 is how shoal calls the first column of a file without a header."""
    assert not find_header(lines("30,F\n31,M"), header=None, named=["column2"], place="x.csv")
    assert find_header(lines("column1,column2\nu,v"), header=None, named=["column2"], place="x.csv")
    with pytest.raises(InputError):
        find_header(lines("30,F\n31,M"), header=None, named=["column3"], place="x.csv")


def test_every_setting_that_names_a_column_counts() -> None:
    settings = Settings(
        qi=("a",),
        sensitive=("b",),
        drop=("c",),
        person="d",
        k_column="e",
        hierarchies={"f": "f.csv"},
        weights={"g": "2"},
        grids={"h": "1"},
        models=({"name": "entropy-l", "column": "i", "l": 2},),
        constraints=(shoal.Rule("j", apart=["x", "y"]),),
        dates={"l": "%Y"},
    )
    assert set(settings.named) == set("abcdefghijl")
    assert settings.reading.named == settings.named


SECRETS = (("Zebulon", "Quagmire"), ("Hortensia", "Bletchley"), ("Fitzwilliam", "Netherfield"))


def workbook(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(SECRETS):
            sheet.write_row(number, 0, row)


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.csv.gz", "blocks.csv"])
def test_every_reader_asks(tmp_path: Path, name: str) -> None:
    import gzip

    path = tmp_path / name
    text = "\n".join(map(",".join, SECRETS)).encode() + b"\n"
    if name.endswith(".xlsx"):
        workbook(path)
    else:
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)

    def read(**options: object) -> object:
        if name == "blocks.csv":
            return open_blocks(path, **{"delimiter": None, "encoding": None, "header": None, **options})  # type: ignore[arg-type]
        return read_table(path, **options)  # type: ignore[arg-type]

    with pytest.raises(InputError, match="cannot tell"):
        read()
    assert read(named=["Quagmire"]).names == SECRETS[0]  # type: ignore[attr-defined]
    assert read(named=["column1"]).names == ("column1", "column2")  # type: ignore[attr-defined]
    assert read(header=False).names == ("column1", "column2")  # type: ignore[attr-defined]


PYTHON = {
    "anonymize": lambda path: shoal.anonymize(path, qi=["Zebulo"], k=2, others="drop"),
    "anonymize, duckdb": lambda path: shoal.anonymize(
        path, qi=["Zebulo"], k=2, others="drop", engine="duckdb", method="datafly"
    ),
    "measure": lambda path: shoal.measure(path, path, qi=["Zebulo"]),
    "risk": lambda path: shoal.risk(path, qi=["Zebulo"]),
    "utility": lambda path: shoal.evaluate.utility(path, path, qi=["Zebulo"]),
    "population": lambda path: shoal.anonymize(
        pl.DataFrame({"Zebulo": ["a", "a"]}), qi=["Zebulo"], k=2, population=path, models=[shoal.KMap(2)]
    ),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_asks_too_and_shows_no_cell(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(map(",".join, SECRETS)) + "\n")
    with pytest.raises(ShoalError, match="header=False") as raised:
        PYTHON[name](str(path))
    assert not [cell for row in SECRETS for cell in row if cell in str(raised.value)]


def test_python_takes_the_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Ada,Rome\nAda,Rome\n")
    assert shoal.anonymize(str(path), qi=["column1", "column2"], k=2).measures.rows == 2
    assert shoal.anonymize(str(path), qi=["column1", "column2"], k=2, header=False).measures.rows == 2
