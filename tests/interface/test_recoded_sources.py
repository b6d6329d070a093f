"""Outliers are recoded on DuckDB as in memory: found in counts, shown in the place of cells, checked by the gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, VerificationError
from shoal.methods import sections
from shoal.release.counted_tables import pushdown
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.counted_tables.outliers import Outliers, find_outliers
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import dealing, numbering
from tests.contract.test_dealing import AGES, QI, made, odd_table

SHARES = {"Age": "bottom:30%", "number": "bottom:5%,top:90%"}
RECODED: dict[str, dict[str, Any]] = {
    "every role": {"recode": {"Age": "top:10", "age": "rare:25", "disease": "rare:25", "number": "bottom:5%,top:90%"}},
    "people": {"recode": SHARES, "person": "who", "drop": ["name", "own k"]},
    "own k": {"recode": SHARES, "k_column": "own k", "drop": ["name", "who"]},
    "model": {
        "recode": {"Age": "top:10", "disease": "rare:20"},
        "models": [shoal.LDiversity("disease", l=3)],
    },
    "bounds, mondrian": {
        "recode": {"Age": "top:10", "number": "top:90%"},
        "method": "mondrian",
        "effort": None,
        "cells": "bounds",
    },
    "means with other marks": {
        "recode": {"Age": "top:10", "number": "top:90%"},
        "cells": "center",
        "spread": True,
        "output_decimal": ",",
        "output_delimiter": ";",
    },
}
LEVELS: dict[str, Any] = {
    "method": "datafly",
    "effort": None,
    "hierarchies": {"Age": AGES},
    "suppression_limit": 0.3,
    "recode": {"Age": "top:10", "number": "top:90%", "disease": "rare:25"},
}


def own_notes(notes: list[str]) -> list[str]:
    """What the file is, and how its columns are recoded, in order."""
    return [note for note in notes if "delimiter" in note or "recoded" in note or " means " in note]


@pytest.mark.parametrize("given", RECODED.values(), ids=RECODED)
def test_recoded_release_has_the_bytes_of_memory(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tuples in memory or on disk; columns with more distinct cells than are kept have numbers all the same."""
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 300), path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 40)
    monkeypatch.setattr(numbering, "MOST_TEXTS", 5)
    monkeypatch.setattr(dealing, "SLICE_ROWS", 97)
    memory = made(path, tmp_path / "out.csv", **given)
    (tmp_path / "there").mkdir()
    duck = made(path, tmp_path / "there" / "out.csv", engine="duckdb", **given)
    assert duck[:2] == memory[:2]
    assert own_notes(duck[2]) == own_notes(memory[2])
    assert len(own_notes(memory[2])) > 2
    assert shoal.verify(tmp_path / "there" / "out.csv", original=path, numeric=["Age"], missing=["NULL", ""]).ok


@pytest.mark.parametrize("roll_up", [None, "database"])
def test_recoded_levels_have_the_bytes_of_memory(roll_up: str | None, tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 300), path)
    memory = made(path, tmp_path / "a.csv", **LEVELS)
    assert made(path, tmp_path / "b.csv", engine="duckdb", roll_up=roll_up, **LEVELS)[0] == memory[0]


def test_measures_are_those_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss counts against the table as it was."""
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 300), path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 40)
    options: dict[str, Any] = {"k": 4, "qi": QI, "numeric": ["Age"], "effort": "fast", "others": "drop"}
    recode = {"Age": "bottom:10%,top:11", "age": "rare:20"}
    duck = shoal.anonymize(path, engine="duckdb", recode=recode, **options)
    memory = shoal.anonymize(path, recode=recode, **options)
    assert duck.measures == memory.measures
    assert duck.measures != shoal.anonymize(path, **options).measures


@pytest.mark.parametrize("given", [{}, LEVELS], ids=["groups", "levels"])
@pytest.mark.parametrize("fault", ["cells", "bound"])
def test_gate_recodes_the_source_itself(
    given: dict[str, Any], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C02: a maker that leaves outliers as they are, or states another bound than the share has, publishes nothing."""

    def wrong(*asked: Any) -> Outliers:
        found = find_outliers(*asked)
        if fault == "cells":
            return replace(found, cells={**found.cells, "number": {}})
        columns = {
            column.name: replace(column, codings=(column.codings[0]._replace(text="900001"),))
            for column in found.schema.columns
            if column.name == "number"
        }
        return replace(found, schema=found.schema.with_columns(columns))

    path = tmp_path / "source.csv"
    write_csv(odd_table(4, 300), path)
    monkeypatch.setattr(pushdown, "find_outliers", wrong)
    words = "rows are not made from|does not have exactly" if fault == "cells" else "states another bound"
    with pytest.raises(VerificationError, match=words):
        made(path, tmp_path / "out.csv", engine="duckdb", **(given | {"recode": {"number": "top:90%"}}))
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}


def test_gate_counts_people_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C02: a maker that believes that one value is that of many people publishes nothing."""
    path, of_ten_rows = tmp_path / "source.csv", pl.Series([str(i // 10) for i in range(300)])
    write_csv(odd_table(4, 300).with_columns(number=of_ten_rows, who=of_ten_rows), path)
    options: dict[str, Any] = {"recode": {"number": "top:90%"}, "person": "who", "drop": ["name", "own k"]}
    expected = made(path, tmp_path / "out.csv", **options)
    assert made(path, tmp_path / "out.csv", engine="duckdb", **options)[:2] == expected[:2]
    monkeypatch.setattr(DuckSearcher, "count_holders", lambda *asked: 10**6)
    with pytest.raises(VerificationError, match="states another bound"):
        made(path, tmp_path / "wrong.csv", engine="duckdb", **options)
    assert not (tmp_path / "wrong.csv").exists()


def test_cells_that_are_not_of_their_kind_are_refused_without_a_row(tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    write_csv(odd_table(4, 300), path)
    with pytest.raises(InputError, match="column 'age'") as caught:
        shoal.anonymize(path, k=4, qi=QI, numeric=["age"], others="drop", engine="duckdb", recode={"age": "top:7"})
    assert "row " not in str(caught.value)
