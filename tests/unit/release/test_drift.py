"""A saved configuration meets a table that has changed."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.release.drift import check_drift
from shoal.settings.settings import Settings
from shoal.tables.table import Table

SAVED = Settings(qi=("age", "zip"), sensitive=("pay",), drop=("name",), numeric=("age",), kinds={"pay": "numeric"})


def table(**columns: list[str]) -> Table:
    return Table(pl.DataFrame(columns))


def test_the_same_table_is_no_drift() -> None:
    check_drift(table(age=["1", ""], zip=["a", "b"], pay=["1.5", "2"], name=["x", "y"]), SAVED)


def test_all_changes_are_reported_at_once() -> None:
    changed = table(age=["young", "1"], pay=["1.5", "much"], name=["x", "y"], city=["a", "b"])
    with pytest.raises(InputError) as caught:
        check_drift(changed, SAVED)
    text = str(caught.value)
    for fault in ("'zip' is missing", "'city' is new", "'age' is no longer", "'pay' is no longer", "shoal init"):
        assert fault in text
    assert "young" not in text
    assert "much" not in text


def test_new_columns_are_no_drift_where_others_are_spoken_for() -> None:
    from dataclasses import replace

    more = table(age=["1"], zip=["a"], pay=["1"], name=["x"], city=["b"])
    check_drift(more, replace(SAVED, others="drop"))
