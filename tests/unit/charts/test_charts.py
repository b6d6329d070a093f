"""Charts: well-formed, the same bytes, every figure in the table, no text that could act."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from shoal.charts import charts
from shoal.charts.charts import Bar, Chart, Pair, Point, Series
from shoal.charts.svg import Scale, fitted, plain, spread

EVIL = '<script>alert("x")</script>&\u202eevil\x00'


def drawn(name: str = "age") -> dict[str, Chart]:
    """Return one chart of each form, with this name in every place that a user's text can reach."""
    return {
        "lines": charts.lines(
            name,
            name,
            [Series(name, ((2, 0.1), (5, 0.2), (10, 0.3))), Series("b", ((2, 0.2), (10, 0.5)))],
            x=name,
            y=name,
            log_x=True,
        ),
        "bars": charts.bars(name, name, [Bar(name, 3, name), Bar("b", 0)], head=(name, name)),
        "pairs": charts.pairs(name, name, [Pair(name, 3, 2.5)], head=(name, "before", "after")),
        "histogram": charts.histogram(name, name, [Bar(name, 3, name), Bar("b", 0)], x=name, y=name, marked=name),
        "scatter": charts.scatter(name, name, [Point(name, 0.1, 0.2, name), Point("b", 0.5, 0.1)], x=name, y=name),
    }


@pytest.mark.parametrize("form", drawn())
def test_chart_is_well_formed_and_told_in_words(form: str) -> None:
    chart = drawn()[form]
    root = ET.fromstring(chart.svg)
    told = {child.tag.rpartition("}")[2]: child for child in root[:2]}
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{told['title'].get('id')} {told['desc'].get('id')}"
    assert told["title"].text == "age"
    assert all(len(row) == len(chart.head) for row in chart.rows)


@pytest.mark.parametrize("form", drawn())
def test_texts_cannot_act_or_hide(form: str) -> None:
    """W07: markup is escaped; control and direction marks are shown by number."""
    svg = drawn(EVIL)[form].svg
    ET.fromstring(svg)
    assert "<script" not in svg
    assert "\u202e" not in svg
    assert "U+202E" in svg


@pytest.mark.parametrize("form", drawn())
def test_chart_has_no_colour_of_its_own(form: str) -> None:
    chart = drawn()[form]
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb|style=", chart.svg)
    ET.fromstring(chart.standalone())
    assert "prefers-color-scheme" in chart.standalone()


def test_same_figures_give_the_same_bytes() -> None:
    assert drawn() == drawn()


def test_lines_list_every_point_and_leave_gaps() -> None:
    assert drawn()["lines"].rows == (("2", "0.1", "0.2"), ("5", "0.2", ""), ("10", "0.3", "0.5"))


def test_bars_are_as_long_as_their_values() -> None:
    chart = charts.bars("t", "s", [Bar("a", 4), Bar("b", 1)])
    lengths = [float(width) for width in re.findall(r'<rect [^>]*width="([0-9.]+)"', chart.svg)]
    assert lengths[0] == pytest.approx(4 * lengths[1], rel=0.01)


def test_charts_of_nothing_can_be_drawn() -> None:
    for chart in (charts.bars("t", "s", []), charts.pairs("t", "s", []), charts.histogram("t", "s", [], x="x", y="y")):
        ET.fromstring(chart.svg)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.0437), (-3, 12), (5, 5), (0, 123_456), (0.2, 0.20001)])
def test_ticks_span_the_stretch(low: float, high: float) -> None:
    ticks = spread(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 8


def test_scale_by_logarithm() -> None:
    scale = Scale(1, 100, 0, 10, log=True)
    assert scale(10) == pytest.approx(5)


def test_long_names_are_cut() -> None:
    assert fitted("abcdefghij", 28) == "abc…"
    assert plain("a\u2066b\n") == "a⟨U+2066⟩b⟨U+000A⟩"
