"""Files of SPSS, Stata and SAS: labels, missing values, dates, and damaged files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import shoal
from shoal.errors import FileError, InputError, UsageError

LABELS = {"sex": {1: "male", 2: "female"}}
FRAME = pd.DataFrame(
    {
        "age": [30.0, 31.0, None, 99.0],
        "sex": [1.0, 2.0, 1.0, 9.0],
        "score": [1.5, 2.0, None, 3.25],
        "name": ["zoe", "bob", "", "cyd"],
        "born": pd.Series([date(1990, 1, 2), None, date(1991, 5, 6), date(1991, 5, 6)], dtype=object),
        "at": [datetime(2020, 1, 2, 3, 4, 5), None, datetime(2020, 1, 2), datetime(2020, 1, 2, 12)],
        "t": pd.Series([time(1, 2, 3), None, time(0), time(23, 59, 59)], dtype=object),
    }
)
WRITERS: dict[str, Callable[..., Any]] = {
    "a.sav": lambda frame, path: pyreadstat.write_sav(frame, path, variable_value_labels=LABELS),
    "a.zsav": lambda frame, path: pyreadstat.write_sav(frame, path, variable_value_labels=LABELS, compress=True),
    "a.por": pyreadstat.write_por,
    "a.dta": lambda frame, path: pyreadstat.write_dta(frame, path, variable_value_labels=LABELS),
    "old.dta": lambda frame, path: pyreadstat.write_dta(frame, path, variable_value_labels=LABELS, version=12),
    "a.xpt": pyreadstat.write_xport,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_texts_and_types(tmp_path: Path, name: str) -> None:
    frame = FRAME.astype({"sex": int}) if name.endswith(".dta") else FRAME
    WRITERS[name](frame, tmp_path / name)
    table = shoal.read_table(tmp_path / name)
    labelled = not name.endswith((".por", ".xpt"))  # they cannot hold labels
    assert table.frame.rename(str.lower).to_dict(as_series=False) == {
        "age": ["30", "31", "", "99"],
        "sex": ["male", "female", "male", "9"] if labelled else ["1", "2", "1", "9"],
        "score": ["1.5", "2.0", "", "3.25"],
        "name": ["zoe", "bob", "", "cyd"],
        "born": ["1990-01-02", "", "1991-05-06", "1991-05-06"],
        "at": ["2020-01-02 03:04:05", "", "2020-01-02", "2020-01-02 12:00:00"],
        "t": ["01:02:03", "", "00:00:00", "23:59:59"],
    }
    types = {"age": pl.Int64, "score": pl.Float64, "born": pl.Date, "at": pl.Datetime("us"), "t": pl.Time}
    types |= {} if labelled else {"sex": pl.Int64}
    assert {name.lower(): dtype for name, dtype in table.types.items()} == types
    assert any("value labels are the text of column 'sex'" in note for note in table.notes) == labelled


def test_declared_missing_values_are_missing(tmp_path: Path) -> None:
    ranges = {"sex": [9], "age": [{"lo": 90, "hi": 99}]}
    pyreadstat.write_sav(FRAME, tmp_path / "a.sav", variable_value_labels=LABELS, missing_ranges=ranges)
    table = shoal.read_table(tmp_path / "a.sav")
    assert table.frame["sex"].to_list() == ["male", "female", "male", ""]
    assert table.frame["age"].to_list() == ["30", "31", "", ""]
    assert any("values declared as missing are missing" in note for note in table.notes)


def test_values_with_the_same_label_stay_apart(tmp_path: Path) -> None:
    labels = {"code": {1: "other", 2: "other", 3: "4"}, "text": {"a": "Anna"}}
    frame = pd.DataFrame({"code": [1.0, 2.0, 3.0, 4.0], "text": ["a", "b", "a", ""]})
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels)
    table = shoal.read_table(tmp_path / "a.sav")
    assert table.frame["code"].to_list() == ["other (1)", "other (2)", "4 (3)", "4"]
    assert table.frame["text"].to_list() == ["Anna", "b", "Anna", ""]


def test_without_the_package_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyreadstat.write_sav(FRAME, tmp_path / "a.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(
        UsageError, match=r"an SPSS file, which needs pyreadstat.*pip install 'shoal\[stats\]'"
    ) as caught:
        shoal.read_table(tmp_path / "a.sav")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.zsav", "a.dta", "a.xpt"])
def test_a_file_that_is_cut_short_is_refused_without_a_cell(tmp_path: Path, name: str) -> None:
    WRITERS[name](FRAME.astype({"sex": int}) if name.endswith(".dta") else FRAME, tmp_path / name)
    raw = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(raw[: len(raw) // 3])
    with pytest.raises(InputError, match="cannot be read as") as caught:
        shoal.read_table(tmp_path / name)
    assert "zoe" not in str(caught.value)


def test_a_file_that_ends_the_reading_process_is_refused(tmp_path: Path) -> None:
    """The library ends its process on this file: the number of values of a variable's labels is not true."""
    pyreadstat.write_sav(FRAME, tmp_path / "a.sav", variable_value_labels=LABELS)
    raw = bytearray((tmp_path / "a.sav").read_bytes())
    raw[176 + 4 : 176 + 8] = (2**31 - 1).to_bytes(4, "little")  # the width of the first variable
    (tmp_path / "a.sav").write_bytes(raw)
    with pytest.raises(InputError, match="cannot be read as an SPSS file"):
        shoal.read_table(tmp_path / "a.sav")


def test_a_file_that_states_too_many_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B13: the claim of the header is checked before anything is made of it."""
    frame = pd.DataFrame({"a": [1.0] * 20_000, "b": [2.0] * 20_000})
    pyreadstat.write_sav(frame, tmp_path / "a.zsav", compress=True)
    pyreadstat.write_xport(frame, tmp_path / "a.xpt")
    raw = (tmp_path / "a.zsav").read_bytes()
    (tmp_path / "many.zsav").write_bytes(raw.replace((20_000).to_bytes(4, "little"), (10**9).to_bytes(4, "little")))
    with pytest.raises((InputError, FileError), match=r"expands to more|of memory"):
        shoal.read_table(tmp_path / "many.zsav")
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "1MB")
    for name in ("a.zsav", "a.xpt"):
        with pytest.raises(FileError, match="memory"):
            shoal.read_table(tmp_path / name)


def test_a_wrong_ending_is_refused(tmp_path: Path) -> None:
    pyreadstat.write_dta(FRAME.astype({"sex": int}), tmp_path / "a.dta")
    (tmp_path / "a.dta").rename(tmp_path / "a.sav")
    with pytest.raises(InputError, match="ends like an SPSS file, but the content is a Stata file"):
        shoal.read_table(tmp_path / "a.sav")
