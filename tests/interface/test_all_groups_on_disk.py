"""Models that judge all groups together, in tables of several sections: DuckDB gives the bytes of memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.tables.formats.writers import write_csv
from tests.interface import test_sections_on_disk
from tests.interface.test_mondrian_on_disk import CUT, RELAXED
from tests.interface.test_sections_on_disk import MIXED, ZIPS, mixed_table, written
from tests.interface.test_suppression_on_disk import GIVEN, table_with_outliers, with_ks_and_people

searched = test_sections_on_disk.searched
several_sections = test_sections_on_disk.several_sections
RULE = {"column": "age", "inflection": [40, 41], "ban": True}
AVERAGE, ALONE = shoal.AverageRisk(0.05), shoal.SampleUniqueness(0.1)
OUTLIERS = table_with_outliers(500)
LARGER = pl.concat([mixed_table(500), mixed_table(700)])
WITHIN = {name: value for name, value in GIVEN.items() if name != "suppression_limit"}


def with_lone_rows(n_rows: int) -> pl.DataFrame:
    """Most tuples have several rows, but many have one."""
    draw = random.Random(9)
    ages = [str(draw.randrange(40)) for _ in range(n_rows)]
    jobs = [f"job {min(draw.randrange(12), draw.randrange(12))}" for _ in range(n_rows)]
    return pl.DataFrame({"age": ages, "job": jobs, "disease": [f"d{draw.randrange(4)}" for _ in range(n_rows)]})


ONE: dict[str, Any] = {"k": 1, "effort": "fast", "qi": ["age", "job"], "numeric": ["age"], "sensitive": ["disease"]}
CASES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "average risk": (mixed_table(500), MIXED | {"models": [AVERAGE]}),
    "average risk, a hierarchy, effort": (
        mixed_table(500),
        MIXED | {"models": [shoal.AverageRisk(0.12)], "effort": "normal", "hierarchies": {"zip": ZIPS}},
    ),
    "sections that are too small are joined": (mixed_table(500), MIXED | {"models": [shoal.AverageRisk(0.02)]}),
    "average risk beside a model, bans": (
        OUTLIERS,
        WITHIN | {"models": [AVERAGE, shoal.LDiversity("disease", l=3)], "rules": [RULE]},
    ),
    "average risk beside closeness, own k, centres": (
        with_ks_and_people(OUTLIERS),
        WITHIN
        | {"models": [AVERAGE, shoal.TCloseness("disease", t=0.4)], "k_column": "own", "drop": ["who"]}
        | {"cells": "center", "spread": True},
    ),
    "average risk, people": (
        with_ks_and_people(OUTLIERS),
        WITHIN | {"models": [AVERAGE], "person": "who", "drop": ["own"]},
    ),
    "average risk, one row": (with_lone_rows(600), ONE | {"models": [shoal.AverageRisk(0.2)]}),
    "average risk, lone rows": (with_lone_rows(600), ONE | {"models": [shoal.AverageRisk(0.3), ALONE]}),
    "lone rows": (with_lone_rows(600), ONE | {"models": [ALONE]}),
    "lone rows, nearly every row a tuple": (mixed_table(500), MIXED | {"k": 1, "models": [ALONE]}),
    "no lone row": (mixed_table(500), MIXED | {"k": 1, "models": [shoal.SampleUniqueness(0)]}),
    "lone rows beside diversity": (
        with_lone_rows(600),
        ONE | {"models": [ALONE, shoal.LDiversity("disease", l=2)]},
    ),
    "population uniqueness above one row": (
        mixed_table(500),
        MIXED | {"models": [shoal.PopulationUniqueness(0.01, population=600), AVERAGE]},
    ),
    "average risk, suppression": (OUTLIERS, GIVEN | {"models": [AVERAGE]}),
    # Hardly any row can be spared.
    "average risk, much suppression": (
        OUTLIERS,
        GIVEN | {"models": [shoal.AverageRisk(0.2)], "suppression_limit": 0.3},
    ),
    "lone rows, suppression": (with_lone_rows(600), ONE | {"models": [ALONE], "suppression_limit": 0.05}),
    "lone rows, people, much suppression": (
        with_ks_and_people(with_lone_rows(600)),
        ONE | {"models": [ALONE], "suppression_limit": 0.3, "person": "who", "drop": ["own"]},
    ),
    "average risk beside diversity, own k above the rows, suppression": (
        with_ks_and_people(OUTLIERS, greedy=3),
        GIVEN | {"models": [AVERAGE, shoal.LDiversity("disease", l=3)], "k_column": "own", "drop": ["who"]},
    ),
    "average risk, limits, own k, suppression": (
        with_ks_and_people(OUTLIERS),
        GIVEN | {"models": [AVERAGE], "max_width": {"age": "500"}, "k_column": "own", "drop": ["who"]},
    ),
    "population uniqueness, suppression": (
        OUTLIERS,
        GIVEN | {"models": [shoal.PopulationUniqueness(0.01, population=600)]},
    ),
    "population uniqueness, people, suppression": (
        with_ks_and_people(OUTLIERS),
        GIVEN
        | {"models": [shoal.PopulationUniqueness(0.01, population=600), AVERAGE], "person": "who", "drop": ["own"]},
    ),
    "average risk, limits": (mixed_table(500), MIXED | {"models": [AVERAGE], "max_width": {"height": "60"}}),
    # In some sections, groups can neither be given up nor merged.
    "average risk, limits of dates, own k": (
        with_ks_and_people(mixed_table(500)),
        MIXED
        | {"models": [AVERAGE, shoal.LDiversity("disease", l=2)], "coarsest": {"born": "decade"}}
        | {"k_column": "own", "drop": ["who"]},
    ),
    "lone rows, limits": (with_lone_rows(600), ONE | {"models": [ALONE], "max_width": {"age": "10"}}),
    "mondrian, average risk": (mixed_table(500), MIXED | CUT | {"models": [AVERAGE]}),
    "mondrian, average risk, a hierarchy": (
        mixed_table(500),
        MIXED | CUT | {"models": [shoal.AverageRisk(0.12)], "hierarchies": {"zip": ZIPS}},
    ),
    # A segment with fewer rows could not keep its share.
    "mondrian, average risk, large segments": (mixed_table(500), MIXED | CUT | {"models": [shoal.AverageRisk(0.02)]}),
    "mondrian, average risk beside diversity, own k": (
        with_ks_and_people(OUTLIERS),
        WITHIN | CUT | {"models": [AVERAGE, shoal.LDiversity("disease", l=3)], "k_column": "own", "drop": ["who"]},
    ),
    "mondrian, average risk beside closeness, not closed": (
        mixed_table(500),
        MIXED
        | CUT
        | {"models": [AVERAGE, shoal.TCloseness("disease", t=0.3), shoal.GrassbergerLDiversity("disease", l=3)]},
    ),
    "mondrian, average risk beside a population": (
        mixed_table(500),
        MIXED | CUT | {"models": [AVERAGE, shoal.KMap(30)], "population": LARGER},
    ),
    "mondrian, average risk, people": (
        with_ks_and_people(OUTLIERS),
        WITHIN | CUT | {"models": [shoal.AverageRisk(0.1)], "person": "who", "drop": ["own"]},
    ),
    "mondrian, average risk beside diversity, people, own k": (
        with_ks_and_people(OUTLIERS),
        WITHIN
        | CUT
        | {"models": [AVERAGE, shoal.LDiversity("disease", l=3)], "person": "who", "k_column": "own", "drop": None},
    ),
    "mondrian, lone rows": (with_lone_rows(600), ONE | CUT | {"models": [ALONE]}),
    "mondrian, lone rows, average risk, centres": (
        with_lone_rows(600),
        ONE | CUT | {"models": [shoal.AverageRisk(0.3), ALONE], "cells": "center", "spread": True},
    ),
    "mondrian, no lone row": (mixed_table(500), MIXED | CUT | {"k": 1, "models": [shoal.SampleUniqueness(0)]}),
    "mondrian, lone people": (
        with_ks_and_people(with_lone_rows(600)),
        ONE | CUT | {"models": [ALONE], "person": "who", "drop": ["own"]},
    ),
    "mondrian, population uniqueness above one row": (
        mixed_table(500),
        MIXED | CUT | {"models": [shoal.PopulationUniqueness(0.01, population=600), AVERAGE]},
    ),
    "mondrian, average risk, suppression": (
        OUTLIERS,
        GIVEN | CUT | {"models": [shoal.AverageRisk(0.07)], "suppression_limit": 0.05},
    ),
    "mondrian, average risk, people, much suppression": (
        with_ks_and_people(OUTLIERS),
        GIVEN | CUT | {"models": [shoal.AverageRisk(0.1)], "suppression_limit": 0.3, "person": "who", "drop": ["own"]},
    ),
    "mondrian, lone rows, suppression": (
        with_lone_rows(600),
        ONE | CUT | {"models": [ALONE], "suppression_limit": 0.05},
    ),
    # What leaves before the search is enough to move medians.
    "mondrian, average risk beside closeness, own k above the rows, suppression": (
        with_ks_and_people(OUTLIERS, greedy=30),
        GIVEN
        | CUT
        | {"models": [AVERAGE, shoal.TCloseness("disease", t=0.4)], "k_column": "own", "drop": ["who"]}
        | {"suppression_limit": 0.1},
    ),
    "mondrian, average risk beside diversity, people, own k above the rows, suppression": (
        with_ks_and_people(OUTLIERS, greedy=30),
        GIVEN
        | CUT
        | {"models": [AVERAGE, shoal.LDiversity("disease", l=2)], "person": "who", "k_column": "own"}
        | {"suppression_limit": 0.07},
    ),
    "mondrian, population uniqueness, suppression": (
        OUTLIERS,
        GIVEN | CUT | {"models": [shoal.PopulationUniqueness(0.01, population=600)], "suppression_limit": 0.05},
    ),
    "relaxed, average risk, a hierarchy": (
        mixed_table(500),
        MIXED | RELAXED | {"models": [shoal.AverageRisk(0.12)], "hierarchies": {"zip": ZIPS}},
    ),
    "relaxed, lone rows, average risk, centres": (
        with_lone_rows(600),
        ONE | RELAXED | {"models": [shoal.AverageRisk(0.3), ALONE], "cells": "center", "spread": True},
    ),
    "relaxed, average risk beside closeness, own k above the rows, suppression": (
        with_ks_and_people(OUTLIERS, greedy=30),
        GIVEN
        | RELAXED
        | {"models": [AVERAGE, shoal.TCloseness("disease", t=0.4)], "k_column": "own", "drop": ["who"]}
        | {"suppression_limit": 0.1},
    ),
    "relaxed, average risk beside diversity, people, own k above the rows, suppression": (
        with_ks_and_people(OUTLIERS, greedy=30),
        GIVEN
        | RELAXED
        | {"models": [AVERAGE, shoal.LDiversity("disease", l=2)], "person": "who", "k_column": "own"}
        | {"suppression_limit": 0.07},
    ),
    "mondrian, population uniqueness, people, suppression": (
        with_ks_and_people(OUTLIERS),
        GIVEN
        | CUT
        | {"models": [shoal.PopulationUniqueness(0.01, population=600)], "suppression_limit": 0.05}
        | {"person": "who", "drop": ["own"]},
    ),
    "average risk, ranges that do not overlap": (
        mixed_table(500),
        MIXED | {"models": [AVERAGE], "options": {"non_overlapping": True}},
    ),
}


@pytest.mark.parametrize(("table", "given"), CASES.values(), ids=CASES)
def test_release_has_the_bytes_of_memory(
    table: pl.DataFrame, given: dict[str, Any], searched: list[int], tmp_path: Path
) -> None:
    """Each section keeps its share of the limit; the gate judges all groups."""
    write_csv(table, tmp_path / "source.csv")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    found = written(tmp_path / "source.csv", tmp_path / "out.csv", given, threads=3, engine="duckdb")
    assert found == expected
    assert len(searched) == 1
    assert searched[0] > 1
