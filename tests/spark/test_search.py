"""Executors search sections under models, people, limits and suppression; the rows are those of memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.spark
from shoal.methods import sections
from shoal.methods.sections import Cut, Loan
from shoal.spark.search.cutting import Proposed
from shoal.spark.search.pieces import Cuts, Units
from shoal.tables.formats.writers import write_csv
from tests.contract.test_dealing import QI, SETTINGS, odd_table
from tests.interface.test_all_groups_on_disk import CASES as BY_ALL_GROUPS
from tests.interface.test_mondrian_on_disk import BY_ROW
from tests.interface.test_people_on_disk import with_odd_ids
from tests.interface.test_sections_on_disk import LEAST_SQUARES
from tests.interface.test_single_dimensional_on_disk import CASES as SINGLE
from tests.interface.test_single_dimensional_on_disk import GIVEN as BY_SINGLE
from tests.interface.test_single_dimensional_on_disk import TABLE
from tests.interface.test_suppression_on_disk import CASES as LEAVING
from tests.interface.test_suppression_on_disk import GIVEN as WITH_OUTLIERS
from tests.interface.test_suppression_on_disk import table_with_outliers, with_ks_and_people
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


def test_executors_leave_outliers_out(source: Path, spark: Any, tmp_path: Path) -> None:
    """One limit holds for all sections, beside people and a personal k that some rows exceed (S01).

    Windows are planned for the others, which leaves some without room. Groups are compared with what is released.
    """
    table = with_ks_and_people(table_with_outliers(330), greedy=2)
    write_csv(table, tmp_path / "outliers.csv")
    given = dict.fromkeys([*GIVEN]) | WITH_OUTLIERS | {"models": [shoal.TCloseness("disease", t=0.4)]}
    given |= {"k_column": "own", "person": "who", "max_width": {"age": "100"}}
    expected = in_memory(tmp_path / "outliers.csv", tmp_path / "memory.csv", **given)
    parts = on_spark(spark, str(tmp_path / "outliers.csv"), f"{tmp_path}/parts.csv/", searched=True, **given)
    assert text_of(parts) == expected
    assert 1 <= table.height - (expected.count("\n") - 1) <= 6
    stated, manifest = (
        json.loads(path.read_text()) for path in (tmp_path / "memory.csv.manifest.json", parts / "_manifest.json")
    )
    assert manifest["measures"] == stated["measures"]
    assert manifest["suppressed_rows"] == stated["suppressed_rows"]


# Every cut that is tried is two jobs.
THROUGH_THE_TABLE = {"mondrian, cuts through the table": (TABLE, BY_SINGLE | SINGLE["rows leave"] | {"k": 30})}
TOGETHER = "relaxed, average risk beside diversity, people, own k above the rows, suppression"
CUT = [
    TOGETHER,
    "mondrian, ties",
    "mondrian, people, personal k above the rows, diversity",
    "mondrian, limits and declared domains",
    "mondrian, cuts through the table",
]


@pytest.mark.parametrize("name", CUT)
def test_executors_leave_slices_out_of_segments(name: str, source: Path, spark: Any, tmp_path: Path) -> None:
    """Rows that leave before the search, or that no window has room for, are not counted for a cut (S01)."""
    table, given = (LEAVING | BY_ALL_GROUPS | THROUGH_THE_TABLE)[name]
    write_csv(table, tmp_path / "outliers.csv")
    given = dict.fromkeys([*GIVEN]) | given
    expected = in_memory(tmp_path / "outliers.csv", tmp_path / "memory.csv", **given)
    assert expected.count("\n") - 1 < table.height
    parts = on_spark(spark, str(tmp_path / "outliers.csv"), f"{tmp_path}/parts.csv/", searched=True, **given)
    assert text_of(parts) == expected
    stated, manifest = (
        json.loads(path.read_text()) for path in (tmp_path / "memory.csv.manifest.json", parts / "_manifest.json")
    )
    assert {each: manifest[each] for each in ("measures", "suppressed_rows")} == {
        each: stated[each] for each in ("measures", "suppressed_rows")
    }


def test_executors_share_the_rows_of_a_unit(
    source: Path, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relaxed cuts run through units of a tuple, a sensitive value and a k; the pool of a hierarchy borrows rows."""
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    table, given = BY_ROW["relaxed, diversity, personal k"]
    write_csv(table, tmp_path / "frequent.csv")
    divided: list[int] = []
    locate = Proposed.locate

    def noted(self: Proposed, tuples: Any) -> Any:
        found = locate(self, tuples)
        divided.extend(each.divided for each in found.values())
        return found

    monkeypatch.setattr(Proposed, "locate", noted)
    given = dict.fromkeys([*GIVEN]) | given
    expected = in_memory(tmp_path / "frequent.csv", tmp_path / "memory.csv", **given)
    parts = on_spark(spark, str(tmp_path / "frequent.csv"), f"{tmp_path}/parts.csv/", searched=True, **given)
    assert text_of(parts) == expected
    assert sum(divided) > 0


DEALT = {"people, own k, suppression": True, "limits": True, "relaxed": True}


@pytest.mark.parametrize(("name", "searched"), DEALT.items(), ids=DEALT)
def test_models_people_and_limits(name: str, searched: bool, source: Path, spark: Any, tmp_path: Path) -> None:
    """Executors judge the groups of all parts together; searched: whether they have found them as well (S01)."""
    given = SETTINGS[name]
    expected = in_memory(source, tmp_path / "memory.csv", **given)
    assert text_of(on_spark(spark, str(source), f"{tmp_path}/parts.csv/", searched=searched, **given)) == expected
