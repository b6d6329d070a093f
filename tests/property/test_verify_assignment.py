"""The verifier's search for a one-to-one assignment against brute force, and releases tampered with."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.schema import Column, Kind, Role, Schema
from shoal.verification import Verdict, check, gate
from shoal.verification.cells import Cells
from shoal.verification.matching import assignment, flow, rows
from shoal.verification.matching.rows import Matching, Rows
from shoal.verification.reading.coded import code_cells
from tests.naive import assignment as naive
from tests.naive.cover import covers

NUMBERS = ["1", "1.0", "2", "3", "-0.0", "0", "2.5e0", ""]
TOKENS = ["a", "b", "c, d", 'e"f', "", "{a, b}"]
RANGES = ["[0, 2]", "[1, 3]", "[2.5, 3]", "[-1, 0]", "[3, 1]", "*"]
SETS = ["{a, b}", '{"", a}', '{"c, d", b}', '{"e""f", a, b}', "{a, b, x}", "*", '{"{a, b}", b}']
KINDS = ["numeric", "categorical"]

original_rows = st.tuples(st.sampled_from(NUMBERS), st.sampled_from(TOKENS), st.sampled_from("xy"))
released_rows = st.tuples(st.sampled_from(NUMBERS + RANGES), st.sampled_from(TOKENS + SETS), st.sampled_from("xy"))


def unmatched(released: Sequence[Sequence[str]], original: Sequence[Sequence[str]]) -> int:
    tables = []
    for table in (released, original):
        columns = [code_cells(cells) for cells in zip(*table, strict=True)] or [code_cells([])] * 3
        tables.append(Rows(columns[:2], columns[2:], len(table)))
    return Matching([Cells(kind) for kind in KINDS], *tables).count_unmatched()


def test_covering_equals_naive_on_every_pair_of_these_cells() -> None:
    for source, cell in product(NUMBERS, [*NUMBERS, *RANGES]):
        assert Cells("numeric").covers(source, cell) == covers(cell, source, "numeric"), (source, cell)
    for source, cell in product(TOKENS, [*TOKENS, *SETS]):
        expected = source == cell or covers(cell, source, "categorical")
        assert Cells("categorical").covers(source, cell) == expected, (source, cell)


@given(st.lists(released_rows, min_size=1, max_size=4), st.lists(original_rows, max_size=4))
def test_assignment_equals_brute_force(
    released: list[tuple[str, str, str]], original: list[tuple[str, str, str]]
) -> None:
    assert unmatched(released, original) == naive.count_unmatched(released, original, KINDS)


@given(st.data())
def test_assignment_of_overlapping_boxes_equals_brute_force(data: st.DataObject) -> None:
    """Few values and wide cells, so that most rows have several places and the search must go back on its choices."""
    wide = st.tuples(
        st.sampled_from(["*", "[1, 2]", "[2, 3]", "2"]), st.sampled_from(["*", "{a, b}", "a"]), st.just("x")
    )
    tight = st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from(["a", "b"]), st.just("x"))
    released = data.draw(st.lists(wide, min_size=3, max_size=4))
    original = data.draw(st.lists(tight, min_size=3, max_size=4))
    with pytest.MonkeyPatch.context() as patch:  # the ways of large tables on a small one
        patch.setattr(assignment, "FEW_PAIRS", 0)
        block = data.draw(st.integers(1, 5))
        for module in (assignment, flow, rows):
            patch.setattr(module, "BLOCK", block)
        patch.setattr(assignment, "MOST_KEPT_MASKS", data.draw(st.sampled_from([1, 1000])))
        n_unmatched = unmatched(released, original)
    assert n_unmatched == naive.count_unmatched(released, original, KINDS)


def matching(released: Sequence[Sequence[str]], original: Sequence[Sequence[str]]) -> Matching:
    tables = [
        Rows([code_cells(cells) for cells in columns[:2]], [code_cells(columns[2])], len(columns[0]))
        for columns in (list(zip(*table, strict=True)) for table in (released, original))
    ]
    return Matching([Cells(kind) for kind in KINDS], *tables)


@given(
    st.lists(st.tuples(st.integers(0, 1), released_rows), min_size=1, max_size=6),
    st.lists(st.tuples(st.sampled_from("abc"), original_rows), min_size=1, max_size=4),
)
def test_people_of_a_group_equal_brute_force(
    released: list[tuple[int, tuple[str, str, str]]], original: list[tuple[str, tuple[str, str, str]]]
) -> None:
    """Each group by itself: as many different people as its rows can have."""
    released = [(0, released[0][1]), *released[1:4]]
    groups = np.array([group for group, _ in released])
    persons = [person for person, _ in original]
    sources = [row for _, row in original]
    counted = matching([row for _, row in released], sources).count_people(groups, code_cells(persons))
    for group in range(len(counted)):
        own = [row for number, row in released if number == group]
        if own and len(set(persons)) < len(persons):
            assert counted[group] == naive.most_people(own, sources, KINDS, persons)
        elif own:
            assert counted[group] == len(own), "one row for each person: rows are people"


@given(
    st.lists(st.tuples(st.integers(0, 1), released_rows), min_size=1, max_size=4),
    st.lists(original_rows, min_size=1, max_size=4),
    st.sets(st.sampled_from(TOKENS)),
    st.sets(st.sampled_from(TOKENS)),
)
def test_groups_that_must_mix_equal_brute_force(
    released: list[tuple[int, tuple[str, str, str]]],
    original: list[tuple[str, str, str]],
    one: set[str],
    other: set[str],
) -> None:
    released = [(0, released[0][1]), *released[1:]]
    groups = np.array([group for group, _ in released])
    texts = code_cells([row[1] for row in original]).texts
    sets = tuple(np.array([text in side for text in texts]) for side in (one, other - one))
    mixed = matching([row for _, row in released], original).mixed_groups(groups, rows.Avoided(1, sets))
    for group in set(groups.tolist()):
        own = [row for number, row in released if number == group]
        sides = [row[1] in one for row in original], [row[1] in other - one for row in original]
        is_false = naive.count_unmatched(own, original, KINDS) > 0  # such a group is a violation of its own
        if not is_false:
            assert (group in mixed) == naive.must_mix(own, original, KINDS, sides)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.data())
def test_axis_gives_the_points_of_a_side_at_any_block_size(values: list[int], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, 13), min_size=2, max_size=6)))
    side = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "N_PARTS", data.draw(st.integers(1, 60)))
        mask = assignment._Axis(values).mask(side)
    assert mask == sum(1 << n for n, value in enumerate(values) if any(low <= value < high for low, high in side))


SCHEMA = Schema(
    (
        Column("age", Role.QI, Kind.NUMERIC),
        Column("city", Role.QI, Kind.CATEGORICAL),
        Column("name", Role.IDENTIFIER),
        Column("disease", Role.SENSITIVE),
    )
)


@st.composite
def releases(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[list[str]], list[int]]:
    """Draw a table and a release of it in groups of two to four rows, with the source row of each released one."""
    n = draw(st.integers(2, 24))
    ages = draw(st.lists(st.integers(0, 9).map(str), min_size=n, max_size=n))
    cities = draw(st.lists(st.sampled_from(["Ulm", "Bonn", "Köln", "a, b"]), min_size=n, max_size=n))
    diseases = draw(st.lists(st.sampled_from(["flu", "cold", 'say "ah"', ""]), min_size=n, max_size=n))
    order, rows = draw(st.permutations(range(n))), []
    while order:
        size = draw(st.integers(2, 4)) if len(order) > 5 else len(order)
        group, order = order[:size], order[size:]
        age = sorted({ages[i] for i in group}, key=int)
        city = sorted({cities[i] for i in group})
        cells = [
            age[0] if len(age) == 1 else f"[{age[0]}, {age[-1]}]",
            city[0] if len(city) == 1 else "{" + ", ".join(f'"{c}"' if "," in c else c for c in city) + "}",
        ]
        rows += [([*cells, diseases[i]], i) for i in group]
    rows.sort()
    original = {"age": ages, "city": cities, "name": [f"person{i}" for i in range(n)], "disease": diseases}
    return original, [row for row, _ in rows], [i for _, i in rows]


def write(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["age", "city", "disease"], *rows])
    return path


def judge(path: Path, original: dict[str, list[str]]) -> Verdict:
    kinds = {"age": "numeric", "city": "categorical"}
    source = path.with_name("source.csv")
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([list(original), *zip(*original.values(), strict=True)])
    return check(path, qi=["age", "city"], k=2, sensitive=["disease"], original=source, kinds=kinds)


@given(releases())
def test_true_release_passes_with_and_without_witness(
    tmp_path_factory: pytest.TempPathFactory, release: tuple[dict[str, list[str]], list[list[str]], list[int]]
) -> None:
    original, rows, witness = release
    path = write(tmp_path_factory.mktemp("true") / "out.csv", rows)
    assert gate(path, SCHEMA, 2, original, witness, {"rows": len(rows), "suppressed_rows": 0}).violations == ()
    assert judge(path, original).violations == ()


@given(releases(), st.data())
def test_tampered_release_fails(
    tmp_path_factory: pytest.TempPathFactory,
    release: tuple[dict[str, list[str]], list[list[str]], list[int]],
    data: st.DataObject,
) -> None:
    """C02, C03: one cell made untrue, one row lost or doubled: the gate says no; the assignment too, if it can know."""
    original, rows, witness = release
    n = data.draw(st.integers(0, len(rows) - 1))
    fault = data.draw(st.sampled_from(["age", "city", "disease", "lost", "doubled"]))
    if fault in ("age", "city", "disease"):
        cell = {"age": "[10, 12]", "city": "{Mainz, Trier}", "disease": "gout"}[fault]
        rows[n][["age", "city", "disease"].index(fault)] = cell
    elif fault == "lost":
        del rows[n]
    else:
        rows.insert(n, list(rows[n]))
    path = write(tmp_path_factory.mktemp("false") / "out.csv", rows)
    assert not gate(path, SCHEMA, 1, original, witness, {}).ok
    if fault != "lost":
        assert not judge(path, original).ok
