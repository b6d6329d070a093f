"""Frequency sets counted by a query each, inside DuckDB and PostgreSQL, are those that are rolled up in memory."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import ShoalError, UsageError
from shoal.hierarchy.base import Rule
from shoal.methods.base import Run
from shoal.methods.full_domain.base import FullDomain, LatticeProblem
from shoal.methods.full_domain.frequency import MemoryEngine
from shoal.methods.full_domain.levels import CountedTable, QuerySets
from shoal.models import KAnonymity, LDiversity, PrivacyModel
from shoal.release.counted_tables.pushdown import count_table
from shoal.tables.sources.base import GroupCounter
from tests.contract.test_engines import ENGINES, odd_table, opened, schema_of

RULES: dict[str, Rule] = {"Age": hierarchy.intervals(cuts=[[0, 10, 20, 30], [10]])}
MODELS: tuple[PrivacyModel, ...] = (LDiversity("disease", l=2),)


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("models", [(), MODELS], ids=["sizes", "l-diversity"])
def test_sets_of_queries_are_those_of_memory(
    engine: str, models: tuple[PrivacyModel, ...], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """[S1] "Frequency Set": odd cells, several spellings of a number, missing values, names that SQL would fold."""
    server = request.getfixturevalue("server") if engine == "postgresql" else None
    frame = odd_table(3, 600)
    schema = schema_of(frame)
    with opened(engine, frame, tmp_path / "there", server) as source:
        assert isinstance(source, GroupCounter)
        table = count_table(source, schema, ["disease"])
        encoded = encode(table, guess_kinds(table, schema), RULES)
        searched: list[LatticeProblem] = [
            FullDomain().problem(MemoryEngine(encoded), (KAnonymity(5), *models), Run(table=counted))
            for counted in (None, CountedTable(source, table.frame))
        ]
        memory, queries = (problem.sets for problem in searched)
        assert isinstance(queries, QuerySets)
        assert queries.n_rows == 600
        for vector in product(*(range(ladder.n_levels + 1) for ladder in memory.ladders)):
            one, other = memory.at(vector), queries.at(vector)
            assert (one.columns, one.n_qi, one.cards) == (other.columns, other.n_qi, other.cards)
            assert np.array_equal(one.codes, other.codes)
            assert np.array_equal(one.counts, other.counts)
            assert queries.rows_below(vector, 5) == int(one.sizes[one.sizes < 5].sum())
            assert [problem.passes(vector) for problem in searched] == [searched[0].passes(vector)] * 2


@pytest.mark.parametrize("method", ["datafly", "incognito", "optimal", "rv-global", "rv-local", "rv-hybrid"])
def test_both_ways_release_the_same(method: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    shoal.datasets.patients().head(800).write_csv(path)
    asked = {"hierarchies": {"birth_date": "builtin:dates"}, "suppression_limit": 0.02, "others": "drop"}

    def release(roll_up: str) -> tuple[object, ...]:
        try:
            made = shoal.anonymize(
                str(path), qi=["birth_date", "sex"], k=5, method=method, engine="duckdb", roll_up=roll_up, **asked
            )
        except ShoalError as error:
            return (str(error),)
        facts = {name: fact for name, fact in made.search.items() if name != "seconds"}
        return made.levels, facts, made.text.rows()

    assert release("memory") == release("database")


def test_roll_ups_in_a_database_need_one(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    pl.DataFrame({"age": ["1", "2"] * 5}).write_csv(path)
    with pytest.raises(UsageError, match=r"roll_up='database' counts in DuckDB or PostgreSQL\. Choose engine='duckdb'"):
        shoal.anonymize(str(path), qi=["age"], k=2, method="optimal", roll_up="database")
    with pytest.raises(UsageError, match=r"roll_up='here' is not known\. Use memory or database\."):
        shoal.anonymize(str(path), qi=["age"], k=2, method="optimal", engine="duckdb", roll_up="here")
    with pytest.raises(UsageError, match="groups rows"):
        shoal.anonymize(str(path), qi=["age"], k=2, method="mondrian", engine="duckdb", roll_up="database")
