"""Combinations that single out, columns that give others away: against counts by dictionary."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import polars as pl
import pytest

from shoal.profile import singling_out
from shoal.profile.columns import Coded, distinct_values


def coded(**columns: list[str]) -> dict[str, Coded]:
    return {name: distinct_values(pl.Series(name, cells)).coded for name, cells in columns.items()}


def random_columns(seed: int) -> dict[str, list[str]]:
    draw = random.Random(seed)
    return {
        name: [str(draw.randrange(size)) for _ in range(300)] for name, size in zip("abcd", (2, 9, 30, 80), strict=True)
    }


def unique_share(columns: dict[str, list[str]], names: tuple[str, ...]) -> float:
    rows = list(zip(*(columns[name] for name in names), strict=True))
    return sum(count == 1 for count in Counter(rows).values()) / len(rows)


def test_shares_are_those_of_a_dictionary(seed: int) -> None:
    columns = random_columns(seed)
    found = singling_out.find_singling(coded(**columns))
    assert found.examined == found.possible == 4 + 6 + 4
    assert found.combinations
    for one in found.combinations:
        assert one.share == pytest.approx(unique_share(columns, one.columns))
    best = max(unique_share(columns, c) for n in (1, 2, 3, 4) for c in itertools.combinations("abcd", n))
    assert found.combinations[0].share == pytest.approx(best, abs=singling_out.WORTH_MORE)
    assert [one.share for one in found.combinations] == sorted((one.share for one in found.combinations), reverse=True)


def test_a_column_that_adds_nothing_is_not_told() -> None:
    ids = [str(i) for i in range(100)]
    found = singling_out.find_singling(coded(id=ids, sex=["F", "M"] * 50))
    assert [one.columns for one in found.combinations] == [("id",)]


def test_all_columns_are_counted_together() -> None:
    """Four columns of which no three single anybody out."""
    rows = list(itertools.product("01", repeat=4))
    found = singling_out.find_singling(coded(**{name: [row[i] for row in rows] for i, name in enumerate("abcd")}))
    assert found.combinations == (singling_out.Combination(("a", "b", "c", "d"), 1.0),)


def test_work_is_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singling_out, "MOST_COMBINATIONS", 6)
    found = singling_out.find_singling(coded(**random_columns(0)))
    assert (found.examined, found.possible) == (6, 14)
    assert found.combinations[0].columns == ("b", "c", "d"), "those with the most entropy come first"


def test_no_columns() -> None:
    assert singling_out.find_singling({}) == singling_out.Singling((), 0, 0)


def test_huge_products_of_codes_are_counted() -> None:
    """Three columns of which the product of distinct values is beyond 2**62."""
    import numpy as np

    codes = np.array([0, 1, 1, 3], dtype=np.int64)
    wide = [Coded(codes, 2**31)] * 3
    assert sorted(singling_out._counts(wide).tolist()) == [1, 1, 2]


def left(columns: dict[str, list[str]], given: str, target: str) -> float:
    """H(target | given) / H(target), by dictionaries."""

    def entropy(*names: str) -> float:
        counts = Counter(zip(*(columns[name] for name in names), strict=True)).values()
        return -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts)

    return (entropy(given, target) - entropy(given)) / entropy(target)


def test_column_that_determines_another_is_found() -> None:
    draw = random.Random(1)
    education = [draw.choice(("none", "school", "bachelor", "master")) for _ in range(400)]
    columns = {
        "education": education,
        "education-num": [str(len(text)) for text in education],
        "sex": [draw.choice("FM") for _ in education],
        "level": [text[0] for text in education],  # none, school, and b, m: a coarser form
        "degree": ["yes" if text in ("bachelor", "master") else "no" for text in education],
    }
    found = singling_out.find_dependencies(coded(**columns), ["education", "sex", "degree"])
    pairs = {(one.column, one.target) for one in found}
    assert ("education", "degree") in pairs, "one way"
    assert ("degree", "education") not in pairs
    assert not any("sex" in pair for pair in pairs)
    for one in found:
        assert one.share == pytest.approx(left(columns, one.column, one.target), abs=1e-9)
        assert one.share < 0.05


def test_near_dependency_counts_and_a_weaker_one_does_not() -> None:
    draw = random.Random(2)
    age = [str(20 + draw.randrange(60)) for _ in range(5000)]
    year = [str(2024 - int(a)) for a in age]
    noisy = [str(2024 - int(a) - draw.choice((0, 1))) for a in age]
    found = singling_out.find_dependencies(coded(age=age, year=year, noisy=noisy), ["age"])
    assert [(one.column, one.target) for one in found] == [("year", "age")]
    assert left({"age": age, "noisy": noisy}, "noisy", "age") > 0.05


def test_nearly_unique_column_is_no_proof_unless_it_is_one() -> None:
    draw = random.Random(3)
    born = [f"{draw.randint(1940, 2000)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}" for _ in range(3000)]
    age = [str(2024 - int(day[:4])) for day in born]
    sex = [draw.choice("FM") for _ in born]
    found = singling_out.find_dependencies(coded(born=born, age=age, sex=sex), ["age", "sex"])
    assert [(one.column, one.target) for one in found] == [("born", "age")]
