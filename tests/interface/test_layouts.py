"""Every layout of a file has the same bytes in memory and on DuckDB, and its gate finds what is wrong with it."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import UsageError, VerificationError
from shoal.methods import sections
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import dealing, numbering
from shoal.tables.sources.base import Dealing, Witness
from shoal.tables.sources.dealing import DuckDealer
from shoal.tables.sources.duck import file_columns
from tests.contract.test_dealing import made, odd_table

MONDRIAN: dict[str, Any] = {"method": "mondrian", "effort": None}
DIVERSITY: dict[str, Any] = {"models": [shoal.LDiversity("disease", l=3)], "suppression_limit": 0.05}
LAYOUTS: dict[str, dict[str, Any]] = {
    "bounds": {"cells": "bounds"},
    "bounds, mondrian": {"cells": "bounds", **MONDRIAN, "suppression_limit": 0.02},
    "bounds, limits": {"cells": "bounds", "max_width": {"Age": "20"}, "suppression_limit": 0.2},
    "means": {"cells": "center"},
    "medians": {"cells": "center", "center": "median", "spread": True},
    "means, mondrian": {"cells": "center", "spread": True, **MONDRIAN},
    "means, people": {"cells": "center", "spread": True, "person": "who", "drop": ["name", "own k"]},
    "means, diversity": {"cells": "center", **DIVERSITY},
    "means, own k": {"cells": "center", "k_column": "own k", "drop": ["name", "who"], "suppression_limit": 0.02},
    "means, limits": {"cells": "center", "max_width": {"Age": "20"}, "suppression_limit": 0.2},
    "safe": {"spreadsheet_safe": True},
    "safe bounds": {"spreadsheet_safe": True, "cells": "bounds", "output_delimiter": ";"},
    "order": {"keep_order": True},
    "order, diversity": {"keep_order": True, **DIVERSITY},
    "order, means": {"keep_order": True, "cells": "center", "spread": True},
    "delimiter": {"output_delimiter": "\t"},
    "marks": {"output_decimal": ",", "output_delimiter": ";"},
    "marks of bounds": {"output_decimal": ",", "cells": "bounds", "output_delimiter": ";"},
    "marks of spread": {"output_decimal": ",", "cells": "center", "spread": True, "spreadsheet_safe": True},
}


def decimal_table(n_rows: int) -> pl.DataFrame:
    """The odd table with numbers that have decimals, in a quasi-identifier and in a column that stays as it is."""
    draw = random.Random(2)
    ages = [f"{draw.randrange(90)}.{draw.randrange(10)}" for _ in range(n_rows)]
    halves = pl.col("number").str.slice(0, 2) + "." + pl.col("number").str.slice(2)
    return odd_table(1, n_rows).with_columns(pl.Series("Age", ages), halves.alias("number"))


@pytest.mark.parametrize("given", LAYOUTS.values(), ids=LAYOUTS)
def test_layout_has_the_bytes_of_memory(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate of each engine has passed the file; columns are sorted by ranks, or by texts that get another form."""
    path = tmp_path / "source.csv"
    write_csv(decimal_table(400) if "output_decimal" in given else odd_table(1, 400), path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 40)
    memory = made(path, tmp_path / "out.csv", **given)
    (tmp_path / "there").mkdir()
    for limit, most in (("500MB", 5), ("2GB", numbering.MOST_TEXTS)):
        monkeypatch.setattr(numbering, "MOST_TEXTS", most)
        monkeypatch.setattr(dealing, "SLICE_ROWS", 97)
        monkeypatch.setattr(file_columns, "BLOCK_TEXTS", 11)
        duck = made(path, tmp_path / "there" / "out.csv", engine="duckdb", memory=limit, **given)
        assert duck[:2] == memory[:2]
    for suffix in (".dictionary.json", ".dictionary.md"):
        assert (tmp_path / f"out.csv{suffix}").read_bytes() == (tmp_path / "there" / f"out.csv{suffix}").read_bytes()


@pytest.mark.parametrize("largest", [40, sections.LARGEST_SECTION])
def test_the_delimiter_and_the_marks_of_the_input(
    largest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B10: of a file with semicolons, decimal commas are read and the delimiter is kept."""
    monkeypatch.setattr(sections, "LARGEST_SECTION", largest)
    path = tmp_path / "source.csv"
    frame = decimal_table(300).with_columns(pl.col("Age").str.replace(".", ",", literal=True))
    frame.write_csv(path, separator=";")
    given = {"output_delimiter": "input", "delimiter": ";"}
    memory = made(path, tmp_path / "a.csv", **given)
    assert made(path, tmp_path / "b.csv", engine="duckdb", **given)[0] == memory[0]
    assert b";" in memory[0].splitlines()[0]


@pytest.mark.parametrize("given", [{"cells": "bounds"}, {"cells": "center", "spread": True}], ids=["bounds", "centres"])
def test_frame_has_the_values_of_memory(given: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    write_csv(pl.DataFrame({"age": [str(n % 23) for n in range(200)], "sex": ["f", "m"] * 100}), path)
    options: dict[str, Any] = {"k": 4, "qi": ["age", "sex"], "spreadsheet_safe": True, **given}
    duck = shoal.anonymize(path, engine="duckdb", **options)
    memory = shoal.anonymize(path, **options)
    assert duck.frame.equals(memory.frame)
    assert duck.frame.schema == memory.frame.schema
    assert duck.measures == memory.measures


@pytest.mark.parametrize("name", ["out.csv.gz", "out.parquet"])
def test_other_formats_have_the_cells_of_the_csv_file(name: str, tmp_path: Path) -> None:
    """The gate and `verify` read them, too; columns of Parquet that DuckDB counted are text."""
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 300), path)
    given: dict[str, Any] = {"cells": "center", "spread": True, "spreadsheet_safe": True, "engine": "duckdb"}
    made(path, tmp_path / "out.csv", **given)
    made(path, tmp_path / name, **given)
    text = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    is_parquet = name.endswith("parquet")
    read = pl.read_parquet(tmp_path / name) if is_parquet else pl.read_csv(tmp_path / name, infer_schema=False)
    assert read.fill_null("").rows() == text.fill_null("").rows()
    assert shoal.verify(tmp_path / name, original=path).ok


def test_the_name_of_a_bound_may_not_be_taken(tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    write_csv(pl.DataFrame({"age": [str(n % 23) for n in range(60)], "age_max": ["x"] * 60}), path)
    with pytest.raises(UsageError, match="already has a column 'age_max'"):
        shoal.anonymize(path, k=4, qi=["age"], cells="bounds", others="drop", engine="duckdb").write(tmp_path / "o.csv")


Rows = list[list[str]]


def first_of(rows: Rows, name: str, *, number: bool = False) -> tuple[int, int]:
    """Return the row and the column of the first cell that is not empty, and is a number if that is wanted."""
    place = rows[0].index(name)
    return next(n for n, row in enumerate(rows) if n and row[place] and (not number or row[place].isdigit())), place


def replaced(name: str, change: Callable[[str], str], *, everywhere: bool = True) -> Callable[[Rows], None]:
    """Change one cell, everywhere or once."""

    def edit(rows: Rows) -> None:
        row, place = first_of(rows, name, number=name == "Age")
        before = rows[row][place]
        for each in rows[1:] if everywhere else [rows[row]]:
            each[place] = change(each[place]) if each[place] == before else each[place]

    return edit


def swapped(rows: Rows) -> None:
    other = next(n for n, row in enumerate(rows) if n > 1 and row != rows[1])
    rows[1], rows[other] = rows[other], rows[1]


def unquoted(rows: Rows) -> None:
    for row in rows:
        row[:] = [cell[1:] if cell.startswith("'=") else cell for cell in row]


def with_points(rows: Rows) -> None:
    place = rows[0].index("number")
    for row in rows[1:]:
        row[place] = row[place].replace(",", ".")


MEANS = {"cells": "center", "spread": True}
FAULTS: dict[str, tuple[dict[str, Any], Callable[[Rows], None], str]] = {
    "another centre": (MEANS, replaced("Age", lambda cell: str(int(cell) + 1)), "not the centre of their group"),
    "another spread": (MEANS, replaced("Age_sd", lambda cell: cell + "1"), "not followed by the spread"),
    "another share": (MEANS, replaced("age_share", lambda _: "0.01", everywhere=False), "not followed by the spread"),
    "two spellings": (MEANS, replaced("Age", lambda cell: f"0{cell}", everywhere=False), "written in several ways"),
    "another bound": ({"cells": "bounds"}, replaced("Age_max", lambda _: "-99"), "do.* not cover the source"),
    "formula": ({"spreadsheet_safe": True}, unquoted, "would run .* as a formula"),
    "quote": ({"spreadsheet_safe": True}, replaced("number", lambda cell: f"'{cell}"), "not made from the rows"),
    "mark": ({"output_decimal": ",", "output_delimiter": ";"}, with_points, "without the decimal mark"),
    "order": ({"keep_order": True}, swapped, "not made from the rows of the source"),
    "no order": ({}, swapped, "not sorted"),
}


@pytest.mark.parametrize(("given", "edit", "words"), FAULTS.values(), ids=FAULTS)
def test_gate_finds_what_is_wrong(
    given: dict[str, Any],
    edit: Callable[[Rows], None],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """C02: the file is changed after it was written and before the gate reads it; nothing is published."""
    path, output = tmp_path / "source.csv", tmp_path / "out.csv"
    write_csv(decimal_table(300) if "output_decimal" in given else odd_table(4, 300), path)
    deal, separator = DuckDealer.deal, given.get("output_delimiter", ",")

    def tampered(self: DuckDealer, dealing: Dealing, written: Path) -> None:
        deal(self, dealing, written)
        with open(written, newline="") as file:
            rows = list(csv.reader(file, delimiter=separator))
        edit(rows)
        with open(written, "w", newline="") as file:
            csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)

    monkeypatch.setattr(DuckDealer, "deal", tampered)
    with pytest.raises(VerificationError, match=words):
        made(path, output, engine="duckdb", **given)
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ({"cells": "center"}, "groups", "not the centre of their group"),
        ({"cells": "center", "k_column": "own k", "drop": ["name", "who"]}, "groups", "not the centre|smaller"),
        ({"keep_order": True}, "lines", "not in the order of the source"),
    ],
)
def test_gate_does_not_believe_what_is_stated(
    given: dict[str, Any], place: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C02: the numbers of groups, or of rows in the source, are not those of the file."""
    path = tmp_path / "source.csv"
    write_csv(odd_table(4, 300), path)
    witness = DuckDealer.witness

    def wrong(self: DuckDealer) -> Witness:
        stated = witness(self)
        chunks = ([*chunk[:-1], chunk[-1] // 2 if place == "groups" else chunk[-1][::-1]] for chunk in stated.chunks)
        return stated._replace(chunks=chunks)

    monkeypatch.setattr(DuckDealer, "witness", wrong)
    with pytest.raises(VerificationError, match=words):
        made(path, tmp_path / "out.csv", engine="duckdb", suppression_limit=0.02, **given)
