"""The gate for a release in several files: parts, sources and groups examined apart give the verdict on all of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.schema import Dialect, Kind, Role, Schema
from shoal.tables.formats.writers import write_csv
from shoal.verification import Claimed, Goal, SourceTable, Verdict
from shoal.verification.gate_streamed import parts, tallies
from shoal.verification.gate_streamed.centers import CENTERS
from shoal.verification.gate_streamed.groups import center_violations, examine_centers
from shoal.verification.gate_streamed.laid import Layout
from shoal.verification.gate_streamed.parts import GroupCount, GroupFacts
from shoal.verification.gate_streamed.tallies import PERSON, SIZE, GroupCounts
from shoal.verification.models.checks import ModelChecks, TableCounts
from shoal.verification.reading.coded import code_columns

KEY = bytes(32)
SCHEMA = Schema.build(
    ["age", "town", "illness"],
    {Role.QI: ["age", "town"], Role.SENSITIVE: ["illness"]},
    kinds={"age": Kind.NUMERIC, "town": Kind.CATEGORICAL},
)
SOURCE = pl.DataFrame(
    {
        "age": [str(20 + n % 40) for n in range(80)],
        "town": [f"t{n % 2}" for n in range(80)],
        "illness": [f"i{n % 7}" for n in range(80)],
    }
)
LABELS = {
    "age": {str(age): "[20, 39]" if age < 40 else "[40, 59]" for age in range(20, 60)},
    "town": {"t0": "t0", "t1": "t1"},
}
CLAIMS = {"rows": 80, "groups": 4, "smallest_group": 20, "suppressed_rows": 0}


class Stated:
    """What the rows of a part were made from."""

    def __init__(self, rows: pl.DataFrame) -> None:
        columns = [rows[name].to_list() for name in ("age_before", "town_before")]
        self.texts = [sorted(set(cells)) for cells in columns]
        codes = [[own.index(cell) for cell in cells] for own, cells in zip(self.texts, columns, strict=True)]
        self.chunks = iter([[np.array(own, dtype=np.int32) for own in codes]])
        self.left_out = iter(())


def released() -> pl.DataFrame:
    """The release, and beside it what each row was made from."""
    shown = SOURCE.select(
        pl.col("age").replace_strict(LABELS["age"]),
        "town",
        "illness",
        age_before="age",
        town_before="town",
    )
    return shown.sort("age", "town", "illness")


def added(counts: Iterable[GroupCounts]) -> list[GroupCount]:
    """Add up what was counted in parts, as a cluster does."""
    total: Counter[tuple[Any, int, str]] = Counter()
    for each in counts:
        groups = each.groups.view(np.int64).tolist()
        for a, b, code, n in zip(*groups, each.codes.tolist(), each.rows.tolist(), strict=True):
            total[(a, b), each.column, each.cells[code]] += n
    return [GroupCount(*key, n) for key, n in total.items()]


def judged(folder: Path, rows: pl.DataFrame, *, full_domain: bool, k: int = 20, **changed: Any) -> Verdict:
    """Examine two parts of the release and two of the source."""
    folder = folder / str(sum(1 for _ in folder.iterdir()))
    folder.mkdir()
    goal: Goal = {"models": [{"name": "distinct-l", "column": "illness", "l": changed.get("l", 7)}]}
    claimed = Claimed(LABELS if full_domain else {}, changed.get("kept"), changed.get("claims", CLAIMS))
    facts, counts = [], []
    for number, part in enumerate((rows[:40], rows[40:])):
        path = folder / f"part-{number}.csv"
        write_csv(part.select("age", "town", "illness"), path)
        own, found = parts.examine_part(path, SCHEMA, goal, KEY, None if full_domain else Stated(part))
        facts.append(own)
        counts += found
    source = changed.get("source", SOURCE)
    write_csv(source[:31], folder / "source.csv")
    tables = [
        SourceTable(folder / "source.csv", Dialect()),
        SourceTable(iter([source[31:].to_dict(as_series=False).values()])),
    ]
    sources = [parts.examine_source(table, SCHEMA, KEY, claimed if full_domain else None) for table in tables]
    groups = [parts.examine_groups(added(counts), SCHEMA, k, goal)]
    return parts.judge_parts(facts, groups, sources, [], SCHEMA, k, claimed, goal)


@pytest.mark.parametrize("full_domain", [False, True])
def test_true_release_passes(full_domain: bool, tmp_path: Path) -> None:
    verdict = judged(tmp_path, released(), full_domain=full_domain)
    assert verdict.ok, verdict.violations
    assert (verdict.rows, verdict.groups, verdict.smallest_group) == (80, 4, 20)


def test_parts_with_another_layout(tmp_path: Path) -> None:
    """Ranges in two columns, numbers with commas and escaped cells are read back; a cell that is not escaped is not."""
    source = SOURCE.with_columns(pl.col("age") + ".5", illness="=" + pl.col("illness"))
    rows = released().with_columns(age_before=pl.col("age_before") + ".5", illness="'=" + pl.col("illness"))
    ends = pl.col("age").str.strip_chars("[]").str.replace_all(r"(\d\d)", "$1,5").str.split("5, ")
    laid = rows.select(age_min=ends.list.first() + "5", age_max=ends.list.last(), town="town", illness="illness").sort(
        pl.all()
    )
    layout = Layout(frozenset({"age"}), spreadsheet_safe=True, delimiter=";", decimal=",")
    table = SourceTable(iter([source.to_dict(as_series=False).values()]))
    found = parts.examine_source(table, SCHEMA, KEY, None, layout)
    assert found.numbers == {"age"}
    for escape, n_wrong in (("'=", 0), ("=", 1)):
        path = tmp_path / "part.csv"
        shown = laid.with_columns(pl.col("illness").str.replace("'=", escape, literal=True))
        shown.write_csv(path, separator=";")
        facts, counts = parts.examine_part(
            path, SCHEMA, {}, KEY, Stated(rows.sort("age", "town", "illness")), layout, found.numbers
        )
        assert len(facts.violations) == n_wrong
        assert facts.bag == found.bag
        assert parts.examine_groups(added(counts), SCHEMA, 20, {}).groups == 4


CHANGES: dict[str, pl.Expr] = {
    "a cell": pl.when(pl.int_range(pl.len()) == 50).then(pl.lit("i9")).otherwise("illness").alias("illness"),
    "cells that trade places": pl.col("illness").reverse(),
    "a label": pl.when(pl.col("age") == "[20, 39]").then(pl.lit("[20, 38]")).otherwise("age").alias("age"),
}


@pytest.mark.parametrize("full_domain", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_changed_parts_fail(change: str, full_domain: bool, tmp_path: Path) -> None:
    rows = released().with_columns(CHANGES[change]).sort("age", "town", "illness", maintain_order=True)
    assert not judged(tmp_path, rows, full_domain=full_domain, l=1).ok


@pytest.mark.parametrize("full_domain", [False, True])
def test_other_faults_are_named(full_domain: bool, tmp_path: Path) -> None:
    def problems(rows: pl.DataFrame, **changed: Any) -> str:
        return "\n".join(judged(tmp_path, rows, full_domain=full_domain, **changed).violations)

    rows = released()
    assert "k=21: 4 of 4 groups" in problems(rows, k=21)
    assert "4 of 4 groups fail" in problems(rows, l=8)
    assert "the parts are not sorted" in problems(pl.concat([rows[40:], rows[:40]]))
    assert "79 stated" in problems(rows, claims=CLAIMS | {"rows": 79})
    assert "exactly the 79 rows" in problems(rows, source=SOURCE[:-1])


def test_groups_that_are_not_kept(tmp_path: Path) -> None:
    """Rows of a full-domain release that are left out are those whose labels are not kept, and no others."""
    kept = [("[20, 39]", "t0"), ("[20, 39]", "t1"), ("[40, 59]", "t0")]
    rows = released().filter((pl.col("age") == "[20, 39]") | (pl.col("town") == "t0"))
    claims = {"rows": 60, "groups": 3, "smallest_group": 20, "suppressed_rows": 20}
    found = judged(tmp_path, rows, full_domain=True, kept=kept, claims=claims).violations
    assert [violation.split(":")[0] for violation in found] == ["suppression"]
    found = judged(tmp_path, rows, full_domain=True, kept=kept[:2], claims=claims).violations
    assert any("exactly the 40 rows" in violation for violation in found)


MODELS: list[dict[str, Any]] = [
    {"name": "distinct-l", "column": "illness", "l": 3},
    {"name": "entropy-l", "column": "illness", "l": 2},
    {"name": "recursive-l", "column": "illness", "c": 2, "l": 2},
    {"name": "alpha-k", "column": "illness", "alpha": "0.5", "k": 2},
    {"name": "p-sensitive", "column": "illness", "p": 3, "k": 2},
    {"name": "t-closeness", "column": "illness", "t": "0.3"},
    {"name": "delta-disclosure", "column": "illness", "delta": "1.5"},
    {"name": "beta-likeness", "column": "illness", "beta": "1.2"},
    {"name": "beta-likeness", "column": "illness", "beta": "3", "enhanced": True},
    {"name": "maximal-risk", "limit": "0.2"},
    {"name": "average-risk", "limit": "0.15"},
    {"name": "sample-uniqueness", "limit": "0.02"},
    {"name": "population-uniqueness", "limit": "0.001", "population": 1000, "estimator": "zayatz"},
    {"name": "prosecutor-profit", "cost": 10, "gain": 40},
]


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["name"])
def test_groups_judged_apart_fail_as_together(model: dict[str, Any], words: bool, people: bool) -> None:
    """The kind of a column and its distribution are those of the table, whatever a task sees."""
    draw = random.Random(3)
    schema = Schema.build(
        ["age", "illness", "who"],
        {Role.QI: ["age"], Role.SENSITIVE: ["illness"], Role.PERSON if people else Role.IDENTIFIER: ["who"]},
    )
    counts, cells, sizes, n_rows, lone = [], Counter[str](), Counter[int](), 0, 0
    for number in range(30):
        group = (str(number),)
        own = Counter(str(draw.choice([1, 2, 3, 10, 20])) for _ in range(draw.randrange(1, 14)))
        if words and number == 29:
            own["none"] += 1
        counts += [GroupCount(group, 0, cell, n) for cell, n in own.items() if "column" in model]
        counts.append(GroupCount(group, SIZE, "", own.total()))
        n_people = draw.randrange(1, own.total() + 1)
        counts += [GroupCount(group, PERSON, str(person), 1) for person in range(n_people)]
        size = n_people if people else own.total()
        cells.update(own)
        sizes[size] += 1
        n_rows += own.total()
        lone += own.total() if size == 1 else 0
    goal: Goal = {"models": [model]}
    table = TableCounts({"illness": cells} if "column" in model else {}, sizes, n_rows, lone)
    together = parts.examine_groups(counts, schema, 2, goal)
    slices = [[count for count in counts if int(count.group[0]) % 3 == i] for i in range(3)]
    apart = [parts.examine_groups(own, schema, 2, goal, table) for own in slices]
    assert parts.group_violations(apart, 2) == parts.group_violations([together], 2)
    assert sum(each.groups for each in apart) == together.groups


@pytest.mark.parametrize("claimed", [None, Claimed(LABELS, None, CLAIMS)], ids=["groups", "levels"])
def test_outliers_of_the_source_are_recoded(claimed: Claimed | None) -> None:
    recoded = {"illness": {"i0": "other"}, "age": {"20": "21"}}
    changed = SOURCE.with_columns(pl.col(name).replace(own) for name, own in recoded.items())
    found = [
        parts.examine_source(SourceTable(iter([rows.to_dict(as_series=False).values()])), SCHEMA, KEY, claimed, **given)
        for rows, given in ((SOURCE, {"recoded": recoded}), (changed, {}), (SOURCE, {}))
    ]
    assert found[0] == found[1] != found[2]


def test_population_is_counted_beside_groups(tmp_path: Path) -> None:
    """Groups of parts are known by the cells that they show, whichever key they have."""
    rows, path = released(), tmp_path / "part.csv"
    write_csv(rows.select("age", "town", "illness"), path)
    population = code_columns(pl.concat([SOURCE, SOURCE.head(1)]).to_dict(as_series=False))
    for covered, n_failing in ((20, 0), (21, 3)):
        goal: Goal = {"models": [{"name": "k-map", "k": covered}]}
        _, counts = parts.examine_part(path, SCHEMA, goal, KEY, Stated(rows))
        found = parts.examine_groups(added(counts), SCHEMA, 20, goal, population=population)
        assert (found.groups, sum(found.failing.values())) == (4, n_failing)


def centered(rows: pl.DataFrame) -> pl.DataFrame:
    """The groups of the release show their means; their numbers are beside each row."""
    groups = pl.struct("age", "town").rank("dense").cast(pl.Int64)
    mean = pl.col("age_before").cast(pl.Int64).mean().over("age", "town").cast(pl.Int64).cast(pl.String)
    return rows.with_columns(group=groups, age=mean).sort("age", "town", "illness")


class StatedGroups(Stated):
    """What the rows of a part were made from, and their groups."""

    def __init__(self, rows: pl.DataFrame) -> None:
        super().__init__(rows)
        (cells,) = self.chunks
        self.chunks = iter([[*cells, rows["group"].to_numpy()]])


@pytest.mark.parametrize("fault", ["none", "a cell", "cells of all rows of a group", "two spellings"])
def test_centres_of_parts_are_recomputed(fault: str, tmp_path: Path) -> None:
    """Groups are divided among two parts, and judged where all of their counts are."""
    rows, layout = centered(released()), Layout(center="mean")
    number = pl.int_range(pl.len())
    wrong = {"a cell": number == 3, "two spellings": number % 3 == 0}.get(fault, pl.col("group") == 1)
    shown = {"none": pl.col("age"), "two spellings": pl.col("age") + ".0"}.get(fault, pl.lit("31"))
    rows = rows.with_columns(age=pl.when(wrong).then(shown).otherwise("age"))
    counts = []
    for number in range(2):
        part, path = rows[number::2], tmp_path / f"part-{number}.csv"
        write_csv(part.select("age", "town", "illness"), path)
        counts += parts.examine_part(path, SCHEMA, {}, KEY, StatedGroups(part), layout)[1]
    in_source = dict(
        zip(
            ["age", "town"],
            parts.count_cells(SourceTable(iter([list(SOURCE.to_dict(as_series=False).values())[:2]])), ["age", "town"]),
            strict=True,
        )
    )
    of_maker = [each for each in added([each for each in counts if each.of_maker]) if each.column >= CENTERS]
    facts = []
    for number in range(3):  # as tasks
        own = [each for each in of_maker if each.group[0] % 3 == number]
        facts.append(examine_centers(own, SCHEMA, 20, {}, layout, in_source))
    violations = center_violations(facts, SCHEMA, {}, layout, in_source)
    assert bool(violations) == (fault != "none")
    assert all(violation.where == "column 'age'" for violation in violations)
    sizes = [each for each in added([each for each in counts if each.of_maker]) if each.column < CENTERS]
    assert parts.examine_groups(sizes, SCHEMA, 20, {}).groups == 4


def test_no_groups_are_no_violation() -> None:
    assert parts.group_violations([GroupFacts(0, 0, 0, 0, {})], 2) == []


@pytest.mark.parametrize("draw_seed", range(3))
def test_values_that_groups_share_are_counted_as_rows_pass_by(draw_seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A01: whatever the order of the rows and the size of blocks; memory does not grow with the values."""
    monkeypatch.setattr(tallies, "LEAST_PENDING", 5)
    draw = random.Random(draw_seed)
    rows = [(draw.randrange(9), draw.randrange(90) if draw.random() < 0.05 else 0) for _ in range(200)]
    schema = Schema.build(["age", "illness"], {Role.QI: ["age"], Role.SENSITIVE: ["illness"]})
    tally = tallies.GroupTally(ModelChecks.of_goal({}, schema), {}, counts_people=False, uncounted=["illness"])
    start = 0
    while start < len(rows):
        block = rows[start : start + draw.randrange(1, 30)]
        start += len(block)
        groups, values = (
            np.array(own, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) for own in zip(*block, strict=True)
        )
        tally.look_at("illness", np.stack([groups, groups]), start, np.stack([values, values]))
        assert tally._shared["illness"].size <= 3 * 9
    values_in = {group: {value for own, value in rows if own == group} for group, _ in rows}
    expected = sum(len(values_in[group]) == 1 for group, _ in rows if group != 3)
    apart = np.full((2, 1), 3 * 0x9E3779B97F4A7C15 % 2**64, dtype=np.uint64)
    ((_, runs),) = tally.shared_values(apart)
    assert int(runs.rows[runs.codes != tallies.MIXED].sum()) == expected
    assert int(runs.rows.sum()) == sum(group != 3 for group, _ in rows)
    assert 0 < expected < 200
