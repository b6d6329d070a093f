"""Executors count people; the rows are those of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
import shoal.spark
from shoal.tables.formats.writers import write_csv
from tests.contract.test_dealing import QI, odd_table
from tests.interface.test_people_on_disk import with_odd_ids
from tests.spark.releases import in_memory, on_spark, text_of

BESIDE_PEOPLE: dict[str, dict[str, Any]] = {
    "centres, bounds that enough people share": {
        "cells": "center",
        "spread": True,
        "suppression_limit": 0.05,
        "recode": {"Age": "bottom:30%", "number": "bottom:5%,top:90%"},
    },
    # The cells of some parts of cuts cover too few rows.
    "mondrian, a population": {
        "method": "mondrian",
        "effort": None,
        "models": [shoal.KMap(150), shoal.LDiversity("disease", l=2)],
        "population": pl.concat([odd_table(1, 600), odd_table(7, 400)]),
    },
    # A part of a cut needs more people than a group.
    "mondrian, average risk": {
        "method": "mondrian",
        "effort": None,
        "models": [shoal.AverageRisk(0.03), shoal.LDiversity("disease", l=2)],
    },
    # Windows have enough people; some rows are in none.
    "limits, suppression": {
        "max_width": {"Age": "6"},
        "finest": {QI[2]: "month"},
        "suppression_limit": 0.1,
    },
}


@pytest.mark.parametrize("more", BESIDE_PEOPLE.values(), ids=BESIDE_PEOPLE)
def test_executors_count_people(more: dict[str, Any], source: Path, spark: Any, tmp_path: Path) -> None:
    """Ids in several spellings are one person, and stay on executors; beside them, a personal k and a model (S01)."""
    source = source.with_name("people.csv")
    write_csv(with_odd_ids(odd_table(1, 600)), source)
    given = {
        "person": "who",
        "k_column": "own k",
        "drop": ["name"],
        "models": [shoal.LDiversity("disease", l=2)],
    } | more
    expected = in_memory(source, tmp_path / "memory.csv", **given)
    assert text_of(on_spark(spark, str(source), f"{tmp_path}/parts.csv/", searched=True, **given)) == expected
