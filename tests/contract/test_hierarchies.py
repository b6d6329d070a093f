"""What every reader and maker of hierarchies has to hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from shoal import hierarchy as h
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.range_label import is_true_of
from shoal.tables.table import from_frame

GOLDEN = Path(__file__).parents[1] / "golden" / "hierarchies"
AGES = [str(n) for n in range(100)]
ZIPS = [f"{n:05}" for n in range(2100, 2300, 7)] + ["021", "9"]
DAYS = [f"{year}-{month:02}-28" for year in range(1990, 2025, 3) for month in (1, 2, 6, 12)]
ARX = "1;1-2;1-4;*\n2;1-2;1-4;*\n3;3-4;1-4;*\n4;3-4;1-4;*\n5;>4;*\n\n6;>4;*\n"


def arx(folder: Path) -> Hierarchy:
    (folder / "arx.csv").write_text(ARX)
    return h.read_arx_csv(folder / "arx.csv")


def utd(name: str, column: str, texts: list[str] | None = None) -> Callable[[Path], Hierarchy]:
    def make(folder: Path) -> Hierarchy:
        rule = h.read_utd_xml(GOLDEN / name)[column]
        return rule if isinstance(rule, Hierarchy) else rule.over(texts or [])

    return make


def proposed(column: str, by: str) -> Callable[[Path], Hierarchy]:
    n = 120
    frame = pl.DataFrame(
        {
            "age": [str(18 + i * 7 % 70) for i in range(n)],
            "born": [DAYS[i % len(DAYS)] for i in range(n)],
            "zip": [ZIPS[i % len(ZIPS)] for i in range(n)],
            "job": [f"job {'abcdefghij'[i % 10]}" for i in range(n)],
            "town": ["north" if i % 10 < 4 else "south" for i in range(n)],
        }
    )
    return lambda folder: h.propose_for(from_frame(frame), column, by=by)


MAKERS: dict[str, Callable[[Path], Hierarchy]] = {
    "arx csv": arx,
    "utd xml numbers": utd("adult_job.xml", "age", AGES),
    "utd xml one level": utd("adult_job.xml", "sex"),
    "utd xml categories": utd("adult_job.xml", "native-country"),
    "utd xml isp": utd("isp_job.xml", "location"),
    "widths": lambda folder: h.intervals([5, 10, 20]).over(AGES),
    "decimal widths": lambda folder: h.intervals(["0.1", "0.5"]).over([f"{i / 20:.2f}" for i in range(-20, 40)]),
    "cuts": lambda folder: h.intervals(cuts=[[18, 25, 40, 65], [25, 65], [65]]).over(AGES),
    "ranges": lambda folder: h.intervals(ranges=[[(0, 18), (18, 65), (65, None)], [(0, 18), (18, None)]]).over(AGES),
    "years": lambda folder: h.intervals([1, 5, 10], unit="year").over(DAYS),
    "weeks": lambda folder: h.intervals([1, 2], unit="week").over(DAYS),
    "date cuts": lambda folder: h.intervals(cuts=[["2000-01-01", "2010-01-01"]], unit="date").over(DAYS),
    "prefixes": lambda folder: h.prefixes([4, 3, 2]).over(ZIPS),
    "masks": lambda folder: h.prefixes(mask=1).over(ZIPS),
    "dict": lambda folder: h.from_dict({"X": {"P": {"a", "b"}, "c": None}, "Y": {"d"}}),
    "function": lambda folder: h.from_function(lambda text: [f"about {text[0]}0", "*"], AGES[10:]),
    "proposed widths": proposed("age", "widths"),
    "proposed quantiles": proposed("age", "quantiles"),
    "proposed calendar": proposed("born", "widths"),
    "proposed date quantiles": proposed("born", "quantiles"),
    "proposed prefix": proposed("zip", "prefix"),
    "proposed cooccurrence": proposed("job", "cooccurrence"),
    "bound to a few values": lambda folder: arx(folder).bind(["5", "1", "x"], unknown="top"),
}


@pytest.fixture(params=MAKERS)
def hierarchy(request: pytest.FixtureRequest, tmp_path: Path) -> Hierarchy:
    """A hierarchy of each maker."""
    return MAKERS[request.param](tmp_path)


def test_last_level_is_star_and_all_rows_are_equally_long(hierarchy: Hierarchy) -> None:
    assert {len(labels) for labels in hierarchy.rows.values()} == {hierarchy.height}
    assert {labels[-1] for labels in hierarchy.rows.values()} == {"*"}


def test_levels_nest(hierarchy: Hierarchy) -> None:
    """Values that share a label share the label above."""
    for level in range(hierarchy.height):
        above: dict[str, str] = {}
        for value in hierarchy.rows:
            higher = hierarchy.label(value, level + 1)
            assert above.setdefault(hierarchy.label(value, level), higher) == higher


def test_label_stands_for_the_same_values_on_every_level(hierarchy: Hierarchy) -> None:
    under = hierarchy.values_under()
    assert under["*"] == set(hierarchy.rows)
    for level in range(hierarchy.height + 1):
        for label in hierarchy.labels(level):
            if label != "*":
                assert {v for v in hierarchy.rows if hierarchy.label(v, level) == label} == under[label]


def test_each_label_is_true_of_its_values(hierarchy: Hierarchy) -> None:
    """C15."""
    assert not hierarchy.trusted
    for value, labels in hierarchy.rows.items():
        assert all(is_true_of(label, value) for label in labels)


def test_no_label_is_a_value_of_another(hierarchy: Hierarchy) -> None:
    for value, labels in hierarchy.rows.items():
        assert all(label == value for label in labels if label in hierarchy.rows)


def test_written_hierarchy_reads_back(hierarchy: Hierarchy, tmp_path: Path) -> None:
    h.write_arx_csv(hierarchy, tmp_path / "out.csv")
    back = h.read_arx_csv(tmp_path / "out.csv")
    assert dict(back.rows) == dict(hierarchy.rows)
    assert list(back.rows) == list(hierarchy.rows)
    assert not back.trusted


def test_tree_survives_the_job_file(hierarchy: Hierarchy, tmp_path: Path) -> None:
    h.write_utd_xml({"x": hierarchy}, tmp_path / "job.xml")
    back = h.read_utd_xml(tmp_path / "job.xml")["x"].over(list(hierarchy.rows))
    assert set(back.values_under().values()) == set(hierarchy.values_under().values())


def test_binding_to_the_own_values_changes_nothing(hierarchy: Hierarchy) -> None:
    assert hierarchy.over(list(hierarchy.rows), column="x") == hierarchy
