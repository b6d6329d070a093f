"""Executors search sections under models, rules and limits; the rows are those of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.spark
from shoal.methods.sections import Cut, Loan
from shoal.spark.search.pieces import Cuts, Units
from tests.contract.test_dealing import QI, odd_table
from tests.interface.test_sections_on_disk import LEAST_SQUARES
from tests.spark.releases import GIVEN, LAID_OUT, in_memory, on_spark, text_of

SEARCHED: dict[str, dict[str, Any]] = {
    # Every tuple has k rows. In a section, no groups are found under t: the one that it was cut from is searched.
    "closeness and a ban": {
        "qi": ["Age", QI[2]],
        "drop": [*GIVEN["drop"], "age"],
        "models": [shoal.TCloseness("disease", t=0.15)],
        "rules": [{"column": "Age", "inflection": [10, 11], "ban": True}],
    },
    # Some sections lack values of the first column.
    "two models, own k, ranges that do not overlap": {
        "options": {"non_overlapping": True},
        "models": [shoal.LDiversity("disease", l=10), shoal.EntropyLDiversity("z other", l=2)],
        "sensitive": ["disease", "z other"],
        "insensitive": ["number"],
        "k_column": "own k",
        "drop": ["name", "who"],
    },
    "centres and their spread, outliers, suppression, beside a model": {
        "models": [shoal.LDiversity("disease", l=2)],
        "cells": "center",
        "spread": True,
        "suppression_limit": 0.05,
        "recode": {"Age": "top:12"},
        "output_decimal": ",",
        "output_delimiter": ";",
    },
    "average risk and lone rows": {
        "k": 1,
        "models": [shoal.AverageRisk(0.1), shoal.SampleUniqueness(0.02)],
    },
    "models of a population beside people, bounds": {
        "models": [shoal.KMap(12), shoal.LDiversity("disease", l=2)],
        "person": "who",
        "drop": ["name", "own k"],
        "population": pl.concat([odd_table(1, 600), odd_table(7, 400)]),
        "cells": "bounds",
    },
    # The cells of some parts of cuts cover too few rows.
    "mondrian under models of a population": {
        "method": "mondrian",
        "effort": None,
        "models": [shoal.KMap(150)],
        "population": pl.concat([odd_table(1, 600), odd_table(7, 400)]),
    },
    "mondrian, average risk and lone rows": {
        "method": "mondrian",
        "effort": None,
        "k": 1,
        "models": [shoal.AverageRisk(0.1), shoal.SampleUniqueness(0.02)],
    },
    "mondrian, cuts through large windows": {
        "method": "mondrian",
        "effort": None,
        "k": 50,
        "options": {"variant": "single-dimensional"},
        "max_width": {"Age": "30"},
        "models": [shoal.LDiversity("disease", l=10)],
    },
    # Windows of the limit are separated, then large segments are cut by counts; a cut is refused.
    "mondrian within limits, beside a model and own k": {
        "method": "mondrian",
        "effort": None,
        "max_width": {"Age": "20"},
        "models": [shoal.LDiversity("disease", l=10)],
        "k_column": "own k",
        "drop": ["name", "who"],
    },
    "least squares, centres, a ban, beside a model": {
        "options": LEAST_SQUARES,
        "cells": "center",
        "rules": [{"column": "Age", "inflection": [10, 11], "ban": True}],
        "models": [shoal.LDiversity("disease", l=2)],
        "suppression_limit": 0.05,
    },
    "limits, derived weights, own k, a target, outliers, and another layout": {
        **LAID_OUT,
        "recode": {"Age": "top:11", "number": "bottom:5%,top:90%"},
        "max_width": {"Age": "20", "age": "6"},
        "finest": {QI[2]: "month"},
        "weights": "auto",
        "target": "disease",
        "k_column": "own k",
        "drop": ["name", "who"],
    },
}


@pytest.mark.parametrize("given", SEARCHED.values(), ids=SEARCHED)
def test_executors_search_under_models(given: dict[str, Any], source: Path, spark: Any, tmp_path: Path) -> None:
    """Sections keep to models, rules, limits and a personal k, and their rows are those of memory (S01)."""
    expected = in_memory(source, tmp_path / "memory.csv", **given)
    assert text_of(on_spark(spark, str(source), f"{tmp_path}/parts.csv/", searched=True, **given)) == expected


def test_every_part_of_a_cut_is_a_section() -> None:
    """A cut of a hierarchy has several parts, which are separated by halves; part 0 borrows rows of part 2."""
    cuts, codes = Cuts(), np.arange(5, dtype=np.int32).reshape(-1, 1)
    units = Units(codes, codes, [np.arange(5)], np.full(5, 3))
    loan = Loan(np.array([0, 4]), 4, (4, 1))  # the three rows of code 0, and the first one of code 4
    part_of = cuts.separate(0, Cut(0, np.array([2, 0, 1, 3, 2], dtype=np.int32), loan=loan), 0, 3)
    found = {
        part_of[node]: sorted(zip(*(own.tolist() for own in pieces), strict=True))
        for node, pieces in cuts.place(units).items()
    }
    assert found == {0: [(0, 0, 3), (1, 0, 3), (4, 0, 1)], 1: [(2, 0, 3)], 2: [(4, 1, 2)], 3: [(3, 0, 3)]}
    assert sorted(part_of) == sorted(cuts.numbers())
