"""Executors leave rows out, and divide those of a unit; the rows are those of memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shoal
import shoal.spark
from shoal.methods import sections
from shoal.spark.search.cutting import Proposed
from shoal.tables.formats.writers import write_csv
from tests.interface.test_all_groups_on_disk import CASES as BY_ALL_GROUPS
from tests.interface.test_mondrian_on_disk import BY_ROW
from tests.interface.test_single_dimensional_on_disk import CASES as SINGLE
from tests.interface.test_single_dimensional_on_disk import GIVEN as BY_SINGLE
from tests.interface.test_single_dimensional_on_disk import TABLE
from tests.interface.test_suppression_on_disk import CASES as LEAVING
from tests.interface.test_suppression_on_disk import GIVEN as WITH_OUTLIERS
from tests.interface.test_suppression_on_disk import table_with_outliers, with_ks_and_people
from tests.spark.releases import GIVEN, in_memory, on_spark, text_of


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
