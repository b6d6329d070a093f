"""Losses over the released domain: read from the cells alone."""

from __future__ import annotations

import pytest

import shoal
from shoal.metrics.released_loss import label_losses, read_shown
from shoal.schema import Column, Kind, Role


def losses(kind: Kind, *texts: str, labels: dict[str, float] | None = None, **options: str) -> list[float]:
    column = Column("c", Role.QI, kind, **options)  # type: ignore[arg-type]
    return [round(cell.loss, 4) for cell in read_shown(column, texts, ("", "?"), {}, labels or {})]


def test_ranges_over_what_the_release_shows() -> None:
    assert losses(Kind.NUMERIC, "10", "[20, 30]", "[10, 50]", "*", "?", "") == [0, 0.25, 1, 1, 0, 0]
    assert losses(Kind.NUMERIC, "[20, 25)", "20", "40") == [0.2, 0, 0], "a half-open label ends one before its bound"
    assert losses(Kind.DATE, "[2020-01-01, 2020-01-11]", "2020-01-21") == [0.5, 0]
    assert losses(Kind.NUMERIC, "[1.234,5, 2.234,5]", "3.234,5", decimal=",", thousands=".") == [0.5, 0]
    assert losses(Kind.NUMERIC, "*", "") == [1, 0], "nothing is known about its width"


def test_sets_over_the_values_that_the_release_shows() -> None:
    assert losses(Kind.CATEGORICAL, "a", "{a, b}", "{b, c, d}", "*") == [0, 0.5, 0.75, 1]
    assert losses(Kind.CATEGORICAL, '{a, "b, c"}', "d") == [0.6667, 0], "a quoted member may contain the separator"
    assert losses(Kind.CATEGORICAL, '{"", a}', "?", "b") == [0.6667, 0, 0], "markers of missing values are one value"
    assert losses(Kind.CATEGORICAL, "{a}", "{}", "{") == [0, 0, 0]


def test_labels_count_by_level_not_by_the_values_below_them() -> None:
    """The number of values below a label is one of the original."""
    rows = {"a": ["x", "all"], "b": ["x", "all"], "c": ["c", "all"]}
    few, many = (
        label_losses(shoal.hierarchy.from_dict(each)) for each in (rows, {**rows, "d": ["x", "all"], "e": ["y", "all"]})
    )
    assert few == {"x": 1 / 2, "all": 1}
    assert {label: many[label] for label in few} == few
    assert losses(Kind.CATEGORICAL, "c", "x", "all", "*", labels=few) == [0, 0.5, 1, 1]
    assert losses(Kind.NUMERIC, "young", "30", "[40, 50]", labels={"young": 0.5}) == [0.5, 0, 0.5]


@pytest.mark.parametrize("others", [[], ["0213987654"], ["1"]])
def test_prefixes_count_hidden_characters_whatever_else_the_original_has(others: list[str]) -> None:
    found = label_losses(shoal.hierarchy.prefixes(mask=2).over(["02139", *others]))
    assert (found["021**"], found["0****"]) == (0.4, 0.8)


def test_extents_are_those_of_the_cells_alone() -> None:
    """Width of ranges, size of sets; a star covers what the release shows, and nobody knows what a label covers."""

    def extents(kind: Kind, *texts: str, labels: dict[str, float] | None = None) -> list[float | None]:
        return [cell.extent for cell in read_shown(Column("c", Role.QI, kind), texts, ("",), {}, labels or {})]

    assert extents(Kind.NUMERIC, "10", "[20, 30]", "[10, 50]", "*", "") == [0, 10, 40, 40, 0]
    assert extents(Kind.CATEGORICAL, "a", "{a, b}", "{b, c, d}", "*", "") == [1, 2, 3, 5, 1]
    assert extents(Kind.CATEGORICAL, "a", "x", labels={"x": 0.5}) == [1, None]
