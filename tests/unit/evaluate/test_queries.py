"""Range queries: the answers of the plain twin, errors, seeds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import UsageError
from shoal.evaluate import ask_queries, queries
from shoal.evaluate.queries import draw_queries
from shoal.metrics.features import CategoryScale
from shoal.schema import Role, Schema
from shoal.tables.table import Table
from tests.naive import queries as plain


def make(n_rows: int, seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    ages = [str(age) for age in generator.integers(0, 30, n_rows)]
    towns = generator.choice(["Bonn", "Lima", "Rome", ""], n_rows)
    return pl.DataFrame({"age": ["", *ages[1:]], "town": towns.tolist()})


def make_schema() -> Schema:
    return Schema.build(["age", "town"], {Role.QI: ["age", "town"]})


def test_answers_are_those_of_the_plain_twin(seed: int) -> None:
    original = make(60, seed)
    values = sorted(set(original["town"].to_list()))
    known = [int(age) for age in original["age"].to_list() if age]
    generator = np.random.default_rng(seed + 100)
    ages: list[str] = []
    towns: list[str] = []
    cells: list[dict[str, plain.Cell]] = []
    for _ in range(40):
        low, high = sorted(generator.integers(0, 30, 2).tolist())
        age = [(str(low), (low, low)), (f"[{low}, {high}]", (low, high)), ("*", (min(known), max(known))), ("", None)]
        text, meant = age[int(generator.integers(4))]
        ages.append(text)
        some = frozenset(generator.permutation(values)[: int(generator.integers(1, len(values) + 1))].tolist())
        told = ", ".join(member or '""' for member in sorted(some))
        towns.append(f"{{{told}}}" if len(some) > 1 else min(some))
        cells.append({"age": meant, "town": some})
    asked = draw_queries(Table(original), make_schema(), 50, seed)
    answers = asked.answer(Table(pl.DataFrame({"age": ages, "town": towns})))
    for query, answer in zip(asked.queries, answers, strict=True):
        wanted: dict[str, plain.Wanted] = {}
        for scale in asked.scales:
            if scale.column.name in query:
                told_by = query[scale.column.name]
                if isinstance(scale, CategoryScale):
                    wanted["town"] = frozenset(v for v, taken in zip(scale.values, told_by, strict=True) if taken)
                else:
                    wanted["age"] = (int(told_by[0]), int(told_by[1]))
        assert answer == pytest.approx(float(plain.count(cells, wanted)))
    assert plain.share((1, 4), (2, 3)) == Fraction(1, 2)


def test_untouched_table_answers_rightly_and_a_starred_one_does_not() -> None:
    """RELIABILITY C27: both end points."""
    frame = make(200, 1)
    same = ask_queries(frame, frame, make_schema(), n_queries=100)
    assert (same.mean, same.low, same.high, same.median, same.p90) == (0, 0, 0, 0, 0)
    starred = frame.with_columns(age=pl.lit("*"), town=pl.lit("*"))
    lost = ask_queries(frame, starred, make_schema(), n_queries=100)
    assert 0 < lost.low < lost.mean < lost.high
    assert lost.median <= lost.p90
    assert np.isfinite(lost.errors).all()


def test_error_has_a_floor_under_its_divisor(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = make(100, 3), make(100, 4)
    asked = draw_queries(Table(before), make_schema(), 40, 0)
    truth, answers = asked.answer(Table(before)).tolist(), asked.answer(Table(after)).tolist()
    assert min(truth) < 30 < max(truth)
    monkeypatch.setattr(queries, "FLOOR", 0.3)
    errors = ask_queries(before, after, make_schema(), n_queries=40).errors
    expected = [abs(told - there) / max(there, 30) for told, there in zip(answers, truth, strict=True)]
    assert errors == pytest.approx(expected)


def test_seed_and_not_the_order_of_rows_draws_the_queries() -> None:
    frame = make(120, 2)
    released = shoal.anonymize(frame, qi=["age", "town"], k=5, method="mondrian").text
    one = ask_queries(frame, released, make_schema(), n_queries=60, seed=4)
    assert one == ask_queries(frame.reverse(), released.reverse(), make_schema(), n_queries=60, seed=4)
    assert one != ask_queries(frame, released, make_schema(), n_queries=60, seed=5)
    assert ask_queries(frame, released, make_schema()).queries == 1000


def test_progress_reaches_its_end() -> None:
    shares: list[float] = []
    ask_queries(make(20, 0), make(20, 0), make_schema(), n_queries=120, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    with pytest.raises(UsageError, match="queries=0 is too few"):
        ask_queries(make(20, 0), make(20, 0), make_schema(), n_queries=0)
