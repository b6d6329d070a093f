"""Facts of columns: counts, kinds, date formats, sparklines."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.profile.columns import ColumnFacts, distinct_values, is_constant, profile_column
from shoal.schema import Kind


def facts_of(cells: list[str], markers: tuple[str, ...] = (), name: str = "x") -> ColumnFacts:
    return profile_column(distinct_values(pl.Series(name, cells, dtype=pl.String)), markers)


def test_counts_leave_missing_cells_out() -> None:
    facts = facts_of(["a", "a", "b", "c", "", "?", " "], markers=("?",))
    assert (facts.n_rows, facts.missing, facts.distinct, facts.unique) == (7, 3, 3, 2)
    assert facts.unique_share == pytest.approx(2 / 4)
    assert facts.distinct_share == pytest.approx(3 / 4)
    assert facts.top_shares == (0.5, 0.25, 0.25)
    assert (facts.shortest, facts.longest) == (1, 1)


def test_counts_are_those_of_a_dictionary_on_a_large_column() -> None:
    from collections import Counter

    cells = [f"v{i * i % 9973}" for i in range(50_000)]
    values = distinct_values(pl.Series("x", cells))
    assert dict(zip(values.texts.to_list(), values.counts.tolist(), strict=True)) == Counter(cells)
    assert len(set(zip(values.coded.codes.tolist(), cells, strict=True))) == values.coded.n_values == len(set(cells))


def test_spellings_that_trimming_and_composing_unify_are_counted() -> None:
    values = distinct_values(pl.Series("x", ["José", "Jose\u0301", "a", " a", "b"]))
    assert sorted(values.texts.to_list()) == ["José", "a", "b"]
    assert values.merged == 2


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "1e3", ".5"], Kind.NUMERIC),
        (["01", "2", "3"], Kind.CATEGORICAL),
        (["1e999", "2", "3"], Kind.CATEGORICAL),
        (["a", "b"], Kind.CATEGORICAL),
        (["2024-02-29", "2023-01-31"], Kind.DATE),
        (["2023-02-29"], Kind.CATEGORICAL),
        ([""], Kind.CATEGORICAL),
        (["12.2024", "11.2023"], Kind.NUMERIC),
    ],
)
def test_kind(cells: list[str], kind: Kind) -> None:
    assert facts_of(cells).kind is kind


@pytest.mark.parametrize(
    ("cells", "form", "other"),
    [
        (["2024-01-31"], "%Y-%m-%d", None),
        (["31.01.2024", "1.2.2024"], "%d.%m.%Y", None),
        (["31/01/2024", "01/02/2024"], "%d/%m/%Y", None),
        (["01/31/2024", "01/02/2024"], "%m/%d/%Y", None),
        (["01/02/2024", "03/04/2024"], "%d/%m/%Y", "%m/%d/%Y"),
        (["01-02-2024"], "%d-%m-%Y", "%m-%d-%Y"),
        (["20240131", "19991231"], "%Y%m%d", None),
        (["2024-01-31 23:59:59"], "%Y-%m-%d %H:%M:%S", None),
        (["2024-01-31T23:59:59Z"], "%Y-%m-%dT%H:%M:%SZ", None),
        (["31 Jan 2024"], "%d %b %Y", None),
        (["31 January 2024"], "%d %B %Y", None),
        (["Jan 31, 2024"], "%b %d, %Y", None),
        (["2024-01", "2023-12"], "%Y-%m", None),
        (["31.12.99"], "%d.%m.%y", None),
    ],
)
def test_date_format_and_ambiguity(cells: list[str], form: str, other: str | None) -> None:
    facts = facts_of(cells)
    assert (facts.kind, facts.date_format, facts.other_format) == (Kind.DATE, form, other)


def test_large_column_of_dates_is_parsed_whole() -> None:
    days = [f"{1900 + i % 120}-{i // 120 % 12 + 1:02d}-{i // 1440 % 28 + 1:02d}" for i in range(40_320)]
    assert facts_of(days).kind is Kind.DATE
    assert facts_of([*days, "2023-02-30"]).kind is Kind.CATEGORICAL, "one day that does not exist"


def test_slips_are_counted_and_keep_the_column_categorical() -> None:
    facts = facts_of([*map(str, range(50)), "abc", "4o"])
    assert (facts.kind, facts.slips, facts.slips_kind) == (Kind.CATEGORICAL, 2, "numbers")
    facts = facts_of([*(f"{i + 1:02d}.01.2024" for i in range(30)), "31.02.2024"])
    assert (facts.kind, facts.slips) == (Kind.CATEGORICAL, 1)
    assert "%d.%m.%Y" in facts.slips_kind
    facts = facts_of(["1,5", "2,25", "3"])
    assert (facts.kind, facts.slips) == (Kind.CATEGORICAL, 2)


def test_sparkline_shows_the_shape() -> None:
    assert facts_of(["a"] * 7 + ["b"]).sparkline == "█▂"
    rising = facts_of([str(i) for i in range(12) for _ in range(i + 1)]).sparkline
    assert len(rising) == 12
    assert list(rising) == sorted(rising)
    assert facts_of(["5", "5"]).sparkline == "█"
    assert facts_of(["", ""]).sparkline == ""
    assert facts_of(["-1.7e308", "1.7e308"]).sparkline == "██", "the range is beyond float64"


def test_constant() -> None:
    assert is_constant(facts_of(["a", "a"]))
    assert is_constant(facts_of(["", ""]))
    assert not is_constant(facts_of(["a", ""]))
