"""Centres beside people: a group needs rows of k people, and its centre the values of k of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.schema import Kind, Role, Schema
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources.duck.people import MetIds
from shoal.verification import SourceTable, Verdict, gate_dealt
from shoal.verification.gate_streamed import parts, tallies
from shoal.verification.gate_streamed.centers import CENTERS
from shoal.verification.gate_streamed.groups import center_violations, examine_centers
from shoal.verification.gate_streamed.laid import Layout
from shoal.verification.reading import files
from tests.gate.test_parts import added

KEY = bytes(32)
SCHEMA = Schema.build(
    ["age", "town", "pid"],
    {Role.QI: ["age", "town"], Role.PERSON: ["pid"]},
    kinds={"age": Kind.NUMERIC, "town": Kind.CATEGORICAL},
    missing=["?"],
)
# The values of the second group are those of one person, who is written in two ways; two people of it have none.
GROUPS = [
    ("22", "a", [("20", "p0"), ("22", "p1"), ("24", "p2"), ("?", "p3")]),
    ("", "b", [("30", "q0"), ("32", " q0"), ("?", "q1"), ("?", "q2")]),
    ("45", "c", [("40", "r0"), ("50", "r1"), ("?", "r1")]),
]
CLAIMS = {"rows": 11, "groups": 3, "smallest_group": 3, "suppressed_rows": 0}
Change = Callable[[pl.DataFrame], pl.DataFrame]


def released() -> pl.DataFrame:
    """The release, and beside each row what it was made from."""
    rows = [
        {"age": shown, "town": town, "age_before": age, "town_before": town, "pid": pid, "group": number}
        for number, (shown, town, members) in enumerate(GROUPS)
        for age, pid in members
    ]
    return pl.DataFrame(rows)


def stated(rows: pl.DataFrame, *, are_gathered: bool = False) -> Any:
    """State what rows were made from, and their groups, as their maker does."""
    texts = [sorted(set(rows[name])) for name in ("age_before", "town_before")]
    cells = [
        [known.index(cell) for cell in rows[f"{n}_before"]] for n, known in zip(("age", "town"), texts, strict=True)
    ]
    columns = [np.array(own, dtype=np.int32) for own in cells]
    met = MetIds()
    ids = rows["pid"].unique().to_list()
    people = met.places(rows["pid"]) if are_gathered else np.array([ids.index(pid) for pid in rows["pid"]])
    chunks = iter([[*columns, people, rows["group"].to_numpy()]])
    return SimpleNamespace(texts=[*texts, met if are_gathered else ids], chunks=chunks, left_out=iter(()))


def on_disk(folder: Path, rows: pl.DataFrame, k: int) -> Verdict:
    """Judge one file, whose source and people are read block by block."""
    path, source = folder / "out.csv", released()
    rows = rows.sort("age", "town")
    write_csv(rows.select("age", "town"), path)
    blocks = [tuple(source[name].to_list() for name in ("age_before", "town_before", "pid"))]
    claims = CLAIMS | {"groups": rows.select("age", "town").n_unique()}
    claims["smallest_group"] = min(rows.group_by("age", "town").len()["len"])
    dealt = stated(rows, are_gathered=True)
    return gate_dealt(path, SCHEMA, k, SourceTable(iter(blocks)), dealt, claims, center="mean")


def in_parts(folder: Path, rows: pl.DataFrame, k: int) -> list[Any]:
    """Judge two parts apart from each other, then their groups in three tasks; return what is wrong."""
    layout, counts, source, bags = Layout(center="mean"), [], released(), []
    for number in range(2):
        part, path = rows[number::2].sort("age", "town"), folder / f"part-{number}.csv"
        write_csv(part.select("age", "town"), path)
        facts, found = parts.examine_part(path, SCHEMA, {}, KEY, stated(part), layout)
        counts += found
        bags.append(facts.bag)
    before = [source[name].to_list() for name in ("age_before", "town_before")]
    in_source = dict(zip(("age", "town"), parts.count_cells(SourceTable(iter([before])), ["age", "town"]), strict=True))
    of_maker = added([each for each in counts if each.of_maker])
    slices = [[each for each in of_maker if each.group[0] % 3 == number] for number in range(3)]
    centers = [[each for each in own if each.column >= CENTERS] for own in slices]
    violations = center_violations(
        [examine_centers(own, SCHEMA, k, {}, layout, in_source) for own in centers], SCHEMA, {}, layout, in_source
    )
    sizes = [[each for each in own if each.column < CENTERS] for own in slices]
    violations += parts.group_violations([parts.examine_groups(own, SCHEMA, k, {}) for own in sizes], k)
    whole = [*before, source["pid"].to_list()]
    expected = parts.examine_source(SourceTable(iter([whole])), SCHEMA, KEY, None, layout).bag
    made = tuple(sum(own) % 2**64 for own in list(zip(*bags, strict=True))[:2])
    return [*violations, *([] if made == expected[:2] else ["other rows"])]


def cell(number: int, shown: str) -> Change:
    """Show another centre in a group."""
    return lambda rows: rows.with_columns(age=pl.when(pl.col("group") == number).then(pl.lit(shown)).otherwise("age"))


FAULTS: dict[str, Change] = {
    "another centre": cell(0, "23"),
    "no centre, though enough people have a value": cell(0, ""),
    "the centre of one person": cell(1, "31"),
    "one person stated as two": lambda rows: rows.with_columns(pid=pl.col("pid").replace(" q0", "q3")),
    "another group's row": lambda rows: rows.with_columns(group=pl.col("group").replace(2, 0)),
    "a group of one person": lambda rows: rows.with_columns(
        group=pl.when(pl.col("pid").str.strip_chars() == "q0").then(3).otherwise("group")
    ),
}


@pytest.mark.parametrize("judge", [on_disk, in_parts])
@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_gates_count_the_people_behind_a_centre(
    fault: str | None, judge: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if all that is counted goes to files, a few rows at a time."""
    rows, verdicts = released(), []
    monkeypatch.setattr(files, "BLOCK_BYTES", 12)
    for most in (tallies.MOST_RUNS, 4):
        monkeypatch.setattr(tallies, "MOST_RUNS", most)
        folder = tmp_path / str(most)
        folder.mkdir()
        found = judge(folder, rows if fault is None else FAULTS[fault](rows), 2)
        verdicts.append([str(each) for each in (found.violations if isinstance(found, Verdict) else found)])
    assert verdicts[0] == verdicts[1]
    assert bool(verdicts[0]) == (fault is not None)
    if fault in ("another centre", "the centre of one person"):
        assert "not the centre of their group" in verdicts[0][0]


@pytest.mark.parametrize("judge", [on_disk, in_parts])
def test_groups_of_too_few_people(judge: Callable[..., Any], tmp_path: Path) -> None:
    """The third group has three rows, but of two people."""
    found = judge(tmp_path, cell(2, "")(released()), 3)
    texts = [str(each) for each in (found.violations if isinstance(found, Verdict) else found)]
    assert any("k=3" in text for text in texts), texts
