"""Notes of a release about diversity that is none, and about formulas; they never contain a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.release import notes
from shoal.schema import Role, Schema
from shoal.tables.table import Table

DISEASES = ["flu", "Flu", "FLU", "fIu", "cold", "c\u043eld", "asthma", "grippe\u0301", "grippé"]
TABLE = pl.DataFrame({"age": [str(20 + i % 6) for i in range(36)], "disease": [DISEASES[i % 9] for i in range(36)]})
MODELS: dict[str, dict[str, Any]] = {
    "l": {"l": 2},
    "t": {"t": 0.9},
    "entropy l": {"models": [shoal.models.EntropyLDiversity("disease", 2)]},
    "recursive l": {"models": [shoal.models.RecursiveLDiversity("disease", 3, 2)]},
    "p-sensitive": {"models": [shoal.models.PSensitiveK("disease", 2, 3)]},
    "(alpha, k)": {"models": [shoal.models.AlphaK("disease", 0.9, 3)]},
    "beta": {"models": [shoal.models.BetaLikeness("disease", 9)]},
    "delta": {"models": [shoal.models.DeltaDisclosure("disease", 9)]},
}


def notes_of(table: pl.DataFrame, **options: Any) -> list[Any]:
    return list(shoal.anonymize(table, qi=["age"], sensitive=["disease"], k=3, **options).notes)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_on_a_sensitive_column_warns_of_look_alikes(name: str) -> None:
    notes = [note for note in notes_of(TABLE, **MODELS[name]) if "less diverse" in note]
    assert len(notes) == 1
    assert notes[0].counts == {"sets": 3}
    assert str(notes[0]).startswith("column 'disease': 3 sets of values differ only in case, blanks, ")
    assert notes[0].cure == "give each of them one spelling before the release"
    assert not any(text in notes[0] for text in ("flu", "Flu", "cold", "grippé"))


def test_without_a_model_or_without_look_alikes_there_is_no_warning() -> None:
    assert not any("less diverse" in note for note in notes_of(TABLE))
    plain = TABLE.with_columns(disease=pl.Series(["flu", "cold", "asthma"] * 12))
    assert not any("less diverse" in note for note in notes_of(plain, l=2))
    one = TABLE.with_columns(disease=pl.Series(["flu", "Flu", "asthma", "cold"] * 9))
    assert any("column 'disease': 1 set of values differ" in note for note in notes_of(one, l=2))


def test_the_engine_that_counts_warns_too(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "in.csv")
    options = {"qi": ["age"], "sensitive": ["disease"], "k": 3, "l": 2, "engine": "duckdb", "method": "datafly"}
    release = shoal.anonymize(tmp_path / "in.csv", suppression_limit=1, **options)  # type: ignore[arg-type]
    assert any("less diverse" in note for note in release.notes)


FORMULAS = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1", "-5", "+4.5", "x=1", "", "'=1"]


def test_formulas_are_noted_with_the_option_that_disarms_them() -> None:
    """O11: seven of the texts run in some spreadsheet; a plain number does not."""
    table = pl.DataFrame({"age": ["1"] * 24, "disease": FORMULAS * 2})
    notes = [note for note in notes_of(table) if "formula" in note]
    assert len(notes) == 1
    assert notes[0].counts == {"cells": 14}
    assert "14 cells begin like a formula" in notes[0]
    assert "--spreadsheet-safe" in notes[0].for_command_line()
    assert "SUM" not in notes[0]
    assert not any("formula" in note for note in notes_of(table, spreadsheet_safe=True))


def test_names_of_columns_can_be_formulas() -> None:
    table = pl.DataFrame({"=age": ["1"] * 6, "b": ["x"] * 6})
    notes = shoal.anonymize(table, qi=["=age"], sensitive=["b"], k=3).notes
    assert any("1 cell begins like a formula" in note for note in notes)


def test_the_sample_of_a_long_table_does_not_depend_on_the_order_of_its_rows() -> None:
    """Every second row alone suggests a dependency that the table does not have."""
    n_rows = 2 * notes.SAMPLE_ROWS
    age = [str(20 + row // 2 % 40) for row in range(n_rows)]
    half = [age[row] if row % 2 == 0 else str(row * 7 % 40) for row in range(n_rows)]
    frame = pl.DataFrame({"age": age, "half": half, "all": [f"x{each}" for each in age]})
    schema = Schema.build(frame.columns, {Role.QI: ("age",), Role.INSENSITIVE: ("half", "all")})
    for each in (frame, frame.sample(fraction=1, shuffle=True, seed=1), frame.reverse()):
        found = [str(note).partition(":")[0] for note in notes.about_table(Table(each), schema) if "reveals" in note]
        assert found == ["column 'all'"]
