"""Releases with safe, round and exact ends: what they show of single people, what they cost, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.encoding.ends import CHOICES
from shoal.errors import UsageError
from shoal.release.release import Release
from shoal.settings.settings import Settings

QI = ["birth_date", "sex", "zip", "nationality", "education"]
ASKED: dict[str, Any] = {"qi": QI, "sensitive": ["disease"], "others": "drop", "k": 5}


def anonymize(n_rows: int = 5000, **settings: Any) -> Release:
    return shoal.anonymize(shoal.datasets.patients()[:n_rows], **ASKED | {"effort": "fast"} | settings)


def share_at_ends(release: Release, *, most: int) -> float:
    """The share of people whose birth date is an end of their range, and which at most so many people have."""
    dates = release.original.frame["birth_date"].to_list()
    holders = Counter(dates)
    cells = release.text["birth_date"].to_list()
    own = [dates[row] for row in release.source_rows.tolist()]
    found = [
        date in cell.strip("[]").split(", ") and cell.startswith("[") and holders[date] <= most
        for date, cell in zip(own, cells, strict=True)
    ]
    return sum(found) / len(dates)


def test_nobody_finds_a_rare_date_of_their_own_as_an_end() -> None:
    """C16: with exact ends, 40 % of the patients find their birth date as an end, a third one that is theirs alone."""
    exact, safe = anonymize(ends="exact"), anonymize()
    assert safe.request.ends == "safe"
    assert (round(share_at_ends(exact, most=4), 1), round(share_at_ends(exact, most=1), 1)) == (0.4, 0.3)
    assert share_at_ends(safe, most=4) == 0
    assert exact.measures.ncp < safe.measures.ncp < 1.03 * exact.measures.ncp
    assert safe.singled.cost == pytest.approx(safe.measures.ncp - exact.measures.ncp, abs=1e-12)
    assert exact.singled.rows_at_rare_ends == round(share_at_ends(exact, most=4) * 5000)
    assert exact.singled.rows_at_lone_ends == round(share_at_ends(exact, most=1) * 5000)
    assert (safe.singled.rows_at_rare_ends, exact.singled.moved_ends, exact.singled.cost) == (0, 0, 0)


def test_safe_ends_are_shared_by_k_people_of_the_table() -> None:
    """C16: with any k, and for a published method as for our own."""
    for settings in ({"k": 12}, {"method": "mondrian", "ends": "safe", "effort": None}):
        release = anonymize(**settings)
        assert share_at_ends(release, most=release.request.k - 1) == 0
        assert not any("exact value" in note for note in release.notes)


def test_people_are_counted_if_they_are_named() -> None:
    """C16, L08: four rows of one person do not make a date common."""
    days = [f"2020-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(60)]
    frame = pl.DataFrame(
        {"day": [day for day in days for _ in range(4)], "who": [i for i in range(60) for _ in range(4)]}
    )
    settings: dict[str, Any] = {"qi": ["day"], "person": "who", "k": 4, "ends": "safe", "dates": ["day"]}
    release = shoal.anonymize(frame, **settings)
    held = Counter(days)
    ends = {end for cell in release.text["day"].unique() if cell[0] == "[" for end in cell.strip("[]").split(", ")}
    assert ends
    assert release.singled.rows_at_rare_ends == 0
    own = {cell: set() for cell in release.text["day"].unique()}
    for row, cell in zip(release.source_rows.tolist(), release.text["day"].to_list(), strict=True):
        own[cell].add(days[row // 4])
    for cell, values in own.items():
        assert not [day for day in values if held[day] < 4 and day in cell.strip("[]").split(", ")], cell


@pytest.mark.parametrize("ends", CHOICES)
def test_rows_and_threads_do_not_matter(ends: str, tmp_path: Path) -> None:
    """D02, D03: the same bytes."""
    table = shoal.datasets.patients()[:600]
    files = set()
    for seed, threads in ((None, 1), (1, 2), (2, 3)):
        frame = table if seed is None else table.sample(fraction=1.0, shuffle=True, seed=seed)
        release = shoal.anonymize(frame, **ASKED, ends=ends, threads=threads)
        release.write(tmp_path / "out.csv", force=True)
        files.add((tmp_path / "out.csv").read_bytes())
    assert len(files) == 1


@pytest.mark.parametrize("cells", ["text", "bounds"])
def test_the_gate_and_the_manifest_know_the_ends(cells: str, tmp_path: Path) -> None:
    release = anonymize(500, cells=cells)
    manifest = json.loads(release.write(tmp_path / "out.csv").read_text())
    assert manifest["ends"] == "safe"
    assert "snap" not in manifest
    kinds: dict[str, Any] = {"qi": QI, "dates": QI[:1], "categorical": QI[1:]}
    assert shoal.measure(release.original.frame, release.text, **kinds, k=5).ncp == release.measures.ncp


def test_groups_that_look_alike_are_one() -> None:
    """Ranges that become equal make larger groups, and the measures say so."""
    ages = [str(age) for age in (*range(20, 30), *range(60, 70)) for _ in range(2)]
    frame = pl.DataFrame({"age": ages, "sex": ["f", "m"] * 20})
    settings: dict[str, Any] = {"qi": ["age", "sex"], "k": 4, "method": "mondrian"}
    exact, wide = (shoal.anonymize(frame, **settings, grids=grids) for grids in ({}, {"age": "50"}))
    assert wide.measures.groups < exact.measures.groups
    assert wide.measures.groups == wide.text.unique().height
    assert wide.measures.smallest_group == 10
    assert wide.measures.ncp == shoal.measure(frame, wide.text, qi=["age", "sex"], numeric=["age"], k=4).ncp


@pytest.mark.parametrize("ends", ["safe", "round", "exact"])
def test_a_grid_means_round_ends_for_its_column_alone(ends: str) -> None:
    """C16: 25 is in [25, 30); the other column keeps the ends that were chosen."""
    frame = pl.DataFrame({"age": [20, 22, 25, 25, 31, 37] * 2, "size": [150, 151, 160, 161, 170, 171] * 2})
    release = shoal.anonymize(frame, qi=["age", "size"], k=4, grids={"age": "5"}, ends=ends)
    assert set(release.text["age"]) <= {
        "20",
        "25",
        "[20, 25)",
        "[20, 30)",
        "[25, 30)",
        "[25, 35)",
        "[30, 40)",
        "[25, 40)",
    }
    assert all(cell.endswith(")") for cell in release.text["age"].to_list() if cell[0] == "[")
    if ends == "exact":
        assert not any(cell.endswith(")") for cell in release.text["size"].to_list())
    shoal.verify(release.text, qi=["age", "size"], k=4, original=frame, numeric=["age", "size"])


def test_an_end_that_enough_rows_have_stays_closed() -> None:
    """C16: safe ends move to a point above the range, or stay and belong to it."""
    frame = pl.DataFrame({"age": [20] * 2 + [37] * 3 + [20] * 2 + [38], "sex": ["f"] * 5 + ["m"] * 3})
    release = shoal.anonymize(
        frame, qi=["age", "sex"], k=3, rules=[{"column": "sex", "apart": ["f", "m"], "ban": True}]
    )
    assert sorted(set(release.text["age"].to_list())) == ["[20, 37]", "[20, 40)"]


def test_single_members_of_sets_are_those_of_a_plain_count() -> None:
    for settings in ({}, {"method": "mondrian", "effort": None}):
        release = anonymize(**settings)
        frame = release.text.select(QI).with_columns(
            release.original.frame[name][release.source_rows].alias(f"own {name}") for name in QI
        )
        alone_rows: set[int] = set()
        for name in QI[1:]:
            keys = list(frame.select(*QI, f"own {name}").iter_rows())
            counts = Counter(keys)
            alone = {
                i
                for i, (key, cell) in enumerate(zip(keys, frame[name], strict=True))
                if counts[key] == 1 and cell[0] == "{"
            }
            assert release.singled.columns[name].rows_alone_in_sets == len(alone), name
            alone_rows |= alone
        assert release.singled.rows_alone_in_sets == len(alone_rows) > 0


def test_published_methods_keep_exact_ends_and_warn() -> None:
    """C16: the warning counts the rows and names the cure; round ends are what the user asked for."""
    table = shoal.datasets.patients()
    dates = set(table["birth_date"].to_list())
    release = anonymize(method="mondrian", effort=None)
    assert release.request.ends == "exact"
    ends = {end for cell in release.text["birth_date"].unique() for end in cell.strip("[]").split(", ")}
    assert ends <= dates
    (note,) = [note for note in release.notes if "exact value" in note]
    assert f"{release.singled.rows_at_rare_ends:,} rows show their exact values" in note
    assert "fewer than 5 rows" in note
    assert "ends='safe'" in note
    assert not any("exact value" in note for note in anonymize(500, ends="round").notes)


def test_what_moving_ends_would_break_is_refused() -> None:
    halves = {"options": {"non_overlapping": True}}
    release = anonymize(500, **halves)
    assert release.request.ends == "exact"
    (note,) = [note for note in release.notes if "exact value" in note]
    assert "non_overlapping" in note
    assert "safe" not in note
    with pytest.raises(UsageError, match=r"ends='safe': ranges whose ends move may overlap"):
        anonymize(500, **halves, ends="safe")
    presence: dict[str, Any] = {
        "models": [shoal.DeltaPresence(low=0.1, high=1)],
        "population": shoal.datasets.patients(),
    }
    with pytest.raises(UsageError, match=r"may fail delta-presence from 0.1 to 1\. Use ends='exact'"):
        anonymize(500, method="mondrian", effort=None, ends="safe", **presence)


def test_snap_means_round() -> None:
    assert anonymize(500, snap=True).request.ends == "round"
    assert anonymize(500, snap=False).request.ends == "safe"
    assert anonymize(500, snap=True, ends="round").request.ends == "round"
    with pytest.raises(UsageError, match="snap=True means ends='round', not 'exact'"):
        anonymize(500, snap=True, ends="exact")
    with pytest.raises(UsageError, match=r"ends='sharp' is not known\. Use 'safe', 'round', 'exact'"):
        anonymize(500, ends="sharp")


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ({"ends": "exact"}, {"snap": True}, "exact"),
        ({"snap": True}, {"ends": "exact"}, "round"),
        ({"snap": False}, {"ends": "round"}, None),
        ({"snap": False}, {"snap": True}, None),
        ({}, {"snap": True}, "round"),
        ({}, {"ends": "safe"}, "safe"),
    ],
)
def test_ends_and_snap_are_one_choice(ours: dict[str, Any], theirs: dict[str, Any], merged: str | None) -> None:
    """An option on the command line replaces both keys of shoal.toml."""
    assert Settings(**ours).over(Settings(**theirs)).range_ends == merged
