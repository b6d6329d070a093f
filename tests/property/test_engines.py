"""Random combinations of settings: DuckDB gives the bytes and the figures of memory, or the same refusal.

SHOAL_ENGINES says how many combinations are drawn, SHOAL_ENGINES_SEED which come first.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError, InputError, UsageError, VerificationError
from shoal.methods import sections
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.tables.formats.writers import write_csv
from tests.interface.test_sections_on_disk import LEAST_SQUARES, ZIPS, mixed_table

LARGEST, N_ROWS = 60, 220
POPULATION = pl.concat([mixed_table(N_ROWS), mixed_table(500)])
N_RUNS = int(os.environ.get("SHOAL_ENGINES", "8"))
FIRST = int(os.environ.get("SHOAL_ENGINES_SEED", "0"))
RULE = {"column": "height", "inflection": [165, 166], "ban": True}
CHOICES: dict[str, list[dict[str, Any]]] = {
    "method": [
        {},
        {},
        {"effort": "normal"},
        {"method": "mondrian", "effort": None},
        {"method": "mondrian", "effort": None, "options": {"variant": "relaxed"}},
        {"method": "mondrian", "effort": None, "options": {"variant": "single-dimensional"}},
        {"options": {"non_overlapping": True}},
        {"options": LEAST_SQUARES},
    ],
    "models": [
        {},
        {"models": [shoal.LDiversity("disease", l=2)]},
        {"models": [shoal.TCloseness("disease", t=0.4)]},
        {"models": [shoal.EntropyLDiversity("disease", l=2)], "k": 2},
        {"models": [shoal.AverageRisk(0.2)]},
        {"models": [shoal.AverageRisk(0.15), shoal.LDiversity("disease", l=2)]},
        {"models": [shoal.AverageRisk(0.3), shoal.SampleUniqueness(0.1)], "k": 1},
        {"models": [shoal.PopulationUniqueness(0.02, population=2000)]},
        {"models": [shoal.KMap(8)], "population": POPULATION},
        {"models": [shoal.DeltaPresence(0, 0.8), shoal.LDiversity("disease", l=2)], "population": POPULATION},
    ],
    "people": [{}, {}, {"person": "who"}, {"k_column": "own"}, {"person": "who", "k_column": "own"}],
    "suppression": [{}, {}, {"suppression_limit": 0.05}],
    "limits": [{}, {}, {"max_width": {"height": "60"}}, {"coarsest": {"born": "decade"}}, {"max_width": {"zip": "2"}}],
    "cells": [{}, {}, {"cells": "bounds"}, {"cells": "center", "spread": True}, {"keep_order": True}],
    "hierarchy": [{}, {"hierarchies": {"zip": ZIPS}}],
    "weights": [{}, {"weights": {"height": 3}}, {"weights": "auto"}],
    "rules": [{}, {}, {"rules": [RULE]}],
    "recode": [{}, {}, {"recode": {"height": "top:200"}}, {"recode": {"height": "bottom:5%,top:90%"}}],
    "target": [{}, {}, {"target": "disease"}],
    "ends": [{}, {"ends": "exact"}, {"ends": "round"}],
}


def drawn(seed: int) -> tuple[random.Random, dict[str, Any]]:
    """Draw the settings of a run."""
    draw = random.Random(seed)
    given: dict[str, Any] = {
        "k": 3,
        "effort": "fast",
        "qi": ["height", "born", "zip", "job"],
        "sensitive": ["disease"],
        "missing": [""],
    }
    for choices in CHOICES.values():
        given |= draw.choice(choices)
    used = {given.get("person"), given.get("k_column")}
    given["drop"] = [name for name in ("who", "own") if name not in used]
    return draw, {name: value for name, value in given.items() if value is not None and (name != "drop" or value)}


def outcome(data: Path, output: Path, given: dict[str, Any], engine: str) -> object:
    """Return the bytes and the manifest of a release, or the refusal."""
    settings = settings_from({n: v for n, v in given.items() if n not in ("models", "keep_order")})
    try:
        job = Job.from_settings(
            data,
            settings,
            output,
            make_run(settings, threads=2),
            models=given.get("models", ()),
            keep_order=given.get("keep_order", False),
            engine=engine,
            force=True,
        )
        job.execute()
    except (UsageError, InputError, InfeasibleError) as error:
        return type(error).__name__
    except VerificationError as error:  # models that merging can break are refused by the gate in every engine
        return type(error).__name__
    return output.read_bytes(), json.loads(Path(f"{output}.manifest.json").read_text())


@pytest.mark.parametrize("number", range(FIRST, FIRST + N_RUNS))
def test_duckdb_gives_what_memory_gives(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", LARGEST)
    draw, given = drawn(number)
    people = [f"w{draw.randrange(150)}" for _ in range(N_ROWS)]
    own = [draw.choice(["", "4", "5"]) for _ in range(N_ROWS)]
    own[0] = draw.choice(["", "4", "5000"])  # sometimes, the row must leave
    table = mixed_table(N_ROWS).with_columns(who=pl.Series(people), own=pl.Series(own))
    write_csv(table, tmp_path / "source.csv")
    expected = outcome(tmp_path / "source.csv", tmp_path / "out.csv", given, "memory")
    found = outcome(tmp_path / "source.csv", tmp_path / "out.csv", given, "duckdb")
    assert found == expected, given
