"""Columns that are released unchanged keep their type in Excel; their values hide nothing and cannot be changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pytest

import shoal as library
from shoal.errors import VerificationError
from shoal.verification.manifest.manifest import sha256_of
from shoal.verification.reading.hidden import hidden_content
from tests.unit.verification.reading.test_hidden import in_part, in_sheet

ROWS = range(24)
TYPED = pl.DataFrame(
    {
        "age": [20 + i % 9 for i in ROWS],
        "visits": pl.Series([None if i == 3 else i % 4 for i in ROWS], dtype=pl.Int16),
        "mixed": [i % 4 / 2 for i in ROWS],
        "cost": [i % 4 + 0.1 for i in ROWS],
        "price": pl.Series([Decimal("1.20"), Decimal("-3.00")] * 12, dtype=pl.Decimal(6, 2)),
        "day": [date(1900, 3, 1) + timedelta(days=i % 4) for i in ROWS],
        "at": [datetime(2020, 1, 1, 12 * (i % 2), 30 * (i % 2), i % 3) for i in ROWS],
        "time": [time(0, 0), time(23, 59, 59)] * 12,
        "paid": [i % 3 == 0 for i in ROWS],
        "text": ["0213", "02139"] * 12,
    }
)
SENSITIVE = [name for name in TYPED.columns if name != "age"]
FORMATS = {
    "age": "General",
    "visits": "General",
    "mixed": "0.0##############",
    "cost": "General",
    "price": "0.00;-0.00",
    "day": "yyyy-mm-dd",
    "at": "yyyy-mm-dd hh:mm:ss",
    "time": "hh:mm:ss",
    "paid": "General",
    "text": "General",
}


def release_of(frame: pl.DataFrame | Path, out: Path, **options: Any) -> Path:
    names = [name for name in (frame.columns if isinstance(frame, pl.DataFrame) else TYPED.columns) if name != "age"]
    library.anonymize(frame, qi=["age"], sensitive=names, k=4, **options).write(out)
    return out


def cells_of(path: Path) -> dict[str, list[Any]]:
    rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
    return {str(name): [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def test_columns_of_parquet_keep_their_type_in_excel(tmp_path: Path) -> None:
    import fastexcel

    TYPED.write_parquet(tmp_path / "in.parquet")
    out = release_of(tmp_path / "in.parquet", tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(out).active
    assert {str(name.value): cell.number_format for name, cell in zip(sheet[1], sheet[2], strict=True)} == FORMATS
    cells = cells_of(out)
    assert sorted(map(str, cells["at"])) == sorted(str(moment) for moment in TYPED["at"])
    assert sorted(cells["cost"]) == sorted(TYPED["cost"])
    assert sorted(cells["price"]) == [-3.0] * 12 + [1.2] * 12
    assert set(cells["time"]) == {time(0, 0), time(23, 59, 59)}
    assert set(cells["day"]) == {datetime(1900, 3, 1 + i) for i in range(4)}
    assert set(cells["visits"]) == {None, 0, 1, 2, 3}
    assert set(cells["paid"]) == {True, False}
    assert set(cells["text"]) == {"0213", "02139"}
    kinds = pd.read_excel(out).dtypes.map(lambda dtype: dtype.kind)
    assert "".join(kinds[["visits", "mixed", "cost", "price", "day", "at", "paid"]]) == "ffffMMb"
    schema = fastexcel.read_excel(out).load_sheet(0).to_polars().schema
    assert [schema[name] for name in ("mixed", "paid", "text")] == [pl.Float64, pl.Boolean, pl.String]
    assert isinstance(schema["at"], pl.Datetime)
    library.verify(out, original=tmp_path / "in.parquet")
    read = library.read_release(out).schema
    assert [read[name] for name in ("visits", "mixed", "day", "paid")] == [pl.Int64, pl.Float64, pl.Date, pl.Boolean]
    assert hidden_content(out) == hidden_content(out, strict=True) == []


def test_columns_of_excel_keep_their_type(tmp_path: Path) -> None:
    """A workbook of another tool, and the release of it as the next original."""
    book = openpyxl.Workbook()
    columns = [*TYPED.columns, "span"]
    book.active.append(columns)
    for i, row in enumerate(TYPED.iter_rows()):
        book.active.append([*(float(cell) if isinstance(cell, Decimal) else cell for cell in row), timedelta(hours=i)])
    book.save(tmp_path / "in.xlsx")
    roles: Any = {"qi": ["age"], "sensitive": columns[1:], "k": 4}
    library.anonymize(tmp_path / "in.xlsx", **roles).write(tmp_path / "out.xlsx")
    library.verify(tmp_path / "out.xlsx", original=tmp_path / "in.xlsx")
    before, after = cells_of(tmp_path / "in.xlsx"), cells_of(tmp_path / "out.xlsx")
    for name in columns[1:]:
        assert sorted(map(repr, after[name])) == sorted(map(repr, before[name])), name
    roles = {"qi": ["visits"], "sensitive": [name for name in columns if name != "visits"], "k": 4}
    library.anonymize(tmp_path / "out.xlsx", **roles).write(tmp_path / "again.xlsx")
    library.verify(tmp_path / "again.xlsx", original=tmp_path / "out.xlsx")
    again = cells_of(tmp_path / "again.xlsx")
    assert sorted(map(repr, again["at"])) == sorted(map(repr, before["at"]))
    # The same columns in Parquet, where a number has one type.
    library.anonymize(tmp_path / "in.xlsx", **roles).write(tmp_path / "out.parquet")
    schema = pl.read_parquet_schema(tmp_path / "out.parquet")
    assert [schema[name] for name in ("age", "day", "paid")] == [pl.Int64, pl.Date, pl.Boolean]
    library.verify(tmp_path / "out.parquet", original=tmp_path / "in.xlsx")


STAY_TEXT = {
    "integers beyond 2^53": [2**53 + i for i in ROWS],
    "one that is not finite": [float("inf") if i == 5 else i / 3 for i in ROWS],
    "a tiny number": [5e-324 if i == 5 else i / 3 for i in ROWS],
    "dates before March 1900": [date(1900, 2, 10) + timedelta(days=i) for i in ROWS],
    "times with a zone": pl.Series([datetime(2020, 1, 1, 12)] * 24, dtype=pl.Datetime("us", "UTC")),
    "microseconds": [datetime(2020, 1, 1, 12, 0, 0, 1 + i) for i in ROWS],
    "many decimals": pl.Series([Decimal("1234567890123.1234567")] * 24, dtype=pl.Decimal(20, 7)),
}


@pytest.mark.parametrize("name", STAY_TEXT)
def test_what_a_sheet_cannot_store_stays_text(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"age": TYPED["age"], "x": STAY_TEXT[name], "n": list(ROWS)})
    out = release_of(frame, tmp_path / "out.xlsx", accept_unique=["x", "n"])
    cells = cells_of(out)
    assert {type(cell) for cell in cells["x"]} == {str}
    assert {type(cell) for cell in cells["n"]} == {int}
    library.verify(out, original=frame)


def test_a_sheet_column_of_several_types_stays_text(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [("age", "x", "y"), *((20 + i % 9, "n/a" if i == 4 else i % 3, "02139") for i in ROWS)]:
        book.active.append(row)
    book.save(tmp_path / "in.xlsx")
    library.anonymize(tmp_path / "in.xlsx", qi=["age"], sensitive=["x", "y"], k=4).write(tmp_path / "out.xlsx")
    cells = cells_of(tmp_path / "out.xlsx")
    assert set(cells["x"]) == {"n/a", "0", "1", "2"}
    assert set(cells["y"]) == {"02139"}


@pytest.mark.parametrize("name", ["out.xlsx", "out.parquet"])
def test_a_table_that_is_released_as_it_is_keeps_all_types(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"age": [30, 40] * 4, "born": [date(1990, 1, 1)] * 8, "sick": [True, False, False, True] * 2})
    out, options = tmp_path / name, {"qi": ["age", "born"], "sensitive": ["sick"], "k": 4}
    library.anonymize(frame, **options).write(out)  # type: ignore[arg-type]
    if name == "out.xlsx":
        assert set(cells_of(out)["age"]) == {30, 40}
        assert set(cells_of(out)["born"]) == {datetime(1990, 1, 1)}
    else:
        assert list(pl.read_parquet_schema(out).values()) == [pl.Int64, pl.Date, pl.Boolean]
    library.verify(out, original=frame)
    library.anonymize(frame, **options, cells="bounds").write(out, force=True)  # type: ignore[arg-type]
    library.verify(out, original=frame)


def test_escaped_names_and_bounds(tmp_path: Path) -> None:
    frame = TYPED.select("age", pl.col("cost").alias("=cost"), pl.col("visits") - 2)
    out = release_of(frame, tmp_path / "out.xlsx", spreadsheet_safe=True, cells="bounds")
    cells = cells_of(out)
    assert list(cells) == ["age_min", "age_max", "'=cost", "visits"]
    assert sorted(cells["'=cost"]) == sorted(TYPED["cost"])
    assert set(cells["visits"]) == {None, -2, -1, 0, 1}
    library.verify(out, original=frame)


def value(old: str, new: str) -> Callable[[Path], Any]:
    """Change the first cell with this attribute and value."""
    return in_sheet(old, new)


# A cell of each column, as it is written, and what a forger makes of it.
FORGED: dict[str, tuple[str, str]] = {
    "another number": ("><v>3</v>", "><v>2</v>"),
    "another float": ("><v>3.1</v>", "><v>3.2</v>"),
    "a longer float": ("><v>3.1</v>", "><v>3.1000000000000001</v>"),
    "an exponent": ("><v>3</v>", "><v>3e+00</v>"),
    "a negative zero": ("><v>0</v>", "><v>-0</v>"),
    "another decimal": ('s="9"><v>1.20</v>'.replace("9", "10"), 's="10"><v>1.21</v>'),
    "a hidden decimal": ('s="10"><v>1.20</v>', 's="10"><v>1.2001</v>'),
    "another day": ('s="1"><v>61</v>', 's="1"><v>62</v>'),
    "a time on a day": ('s="1"><v>61</v>', 's="1"><v>61.25</v>'),
    "a part of a second": ('s="2"><v>43831</v>', 's="2"><v>43831.000000000001</v>'),
    "a thousandth": ('s="2"><v>43831</v>', 's="2"><v>43831.00000001157</v>'),
    "another truth value": ('t="b"><v>1</v>', 't="b"><v>0</v>'),
    "a longer truth value": ('t="b"><v>1</v>', 't="b"><v>01</v>'),
    "the style of a cell": ('s="2"><v>43831</v>', 's="3"><v>43831</v>'),
    "a style of a number": ("><v>3.1</v>", ' s="8"><v>3.1</v>'),
    "an unknown style": ('s="1"><v>61</v>', 's="18"><v>61</v>'),
    "a number as text": ("><v>3</v>", ' t="inlineStr"><is><t>3</t></is>'),
    "a text as number": (' t="inlineStr"><is><t>0213</t></is>', "><v>213</v>"),
    "a formula": ("><v>3</v>", "><f>1+2</f><v>3</v>"),
    "a cell with an error": ("><v>3</v>", ' t="e"><v>3</v>'),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release_of(TYPED, tmp_path_factory.mktemp("made") / "out.xlsx")


def copy_of(made: Path, folder: Path) -> Path:
    path = folder / made.name
    for name in (made.name, f"{made.name}.manifest.json"):
        (folder / name).write_bytes((made.parent / name).read_bytes())
    return path


def refused(path: Path) -> None:
    manifest = Path(f"{path}.manifest.json")
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"sha256": sha256_of(path), "beside": {}}))
    with pytest.raises(VerificationError):
        library.verify(path, original=TYPED)


@pytest.mark.parametrize("name", FORGED)
def test_a_changed_cell_is_caught(made: Path, tmp_path: Path, name: str) -> None:
    path = copy_of(made, tmp_path)
    value(*FORGED[name])(path)
    refused(path)


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/styles.xml", 'formatCode="yyyy-mm-dd"', 'formatCode="dd-mm-yyyy"'),
        ("xl/styles.xml", 'formatCode="yyyy-mm-dd"', 'formatCode="yyyy-mm-dd;@"'),
        ("xl/styles.xml", '<sz val="11"/>', '<sz val="12"/>'),
        ("xl/styles.xml", "</styleSheet>", " </styleSheet>"),
        ("xl/styles.xml", "</cellStyles>", '<cellStyle name="Ada" xfId="0"/></cellStyles>'),
        ("[Content_Types].xml", "</Types>", '<Default Extension="png" ContentType="image/png"/></Types>'),
        ("xl/workbook.xml", "<sheets>", '<workbookPr date1904="1"/><sheets>'),
    ],
    ids=["format", "section", "font", "blank", "name", "content type", "epoch"],
)
def test_another_part_of_the_workbook_is_caught(made: Path, tmp_path: Path, part: str, old: str, new: str) -> None:
    path = copy_of(made, tmp_path)
    in_part(part, old, new)(path)
    assert hidden_content(path, strict=True)
    refused(path)


def test_styles_that_no_cell_needs_are_seen(tmp_path: Path, made: Path) -> None:
    """A workbook of texts has no styles."""
    path = release_of(TYPED.cast(pl.String), tmp_path / "out.xlsx")
    assert hidden_content(path, strict=True) == []
    import zipfile

    with zipfile.ZipFile(made) as styled, zipfile.ZipFile(path) as plain:
        sheet = plain.read("xl/worksheets/sheet1.xml")
        parts = {name: sheet if name.endswith("sheet1.xml") else styled.read(name) for name in styled.namelist()}
        entries = styled.infolist()
    with zipfile.ZipFile(path, "w") as archive:
        for entry in entries:
            archive.writestr(entry, parts[entry.filename])
    assert hidden_content(path, strict=True)
