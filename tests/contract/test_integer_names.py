"""The columns of a pandas frame may be numbered: every public call accepts the numbers as names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal

pd = pytest.importorskip("pandas")
N_ROWS = 40
QI: Any = [0, 1]
NUMERIC: Any = [0]
SENSITIVE: Any = [2]
PERSON: Any = 3
UNKNOWN: Any = [7]
WEIGHTS: Any = {0: 2.0}
TREES: Any = {1: shoal.hierarchy.from_dict({"a": ["ab", "*"], "b": ["ab", "*"], "c": ["c", "*"]})}


@pytest.fixture(scope="module")
def frame() -> object:
    rows = [(20 + i * 7 % 31, "abc"[i % 3], f"d{i % 4}", i // 2) for i in range(N_ROWS)]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def release(frame: object) -> shoal.Release:
    return shoal.anonymize(
        frame,
        qi=QI,
        numeric=NUMERIC,
        sensitive=SENSITIVE,
        person=PERSON,
        models=[shoal.LDiversity(SENSITIVE[0], l=2)],
        hierarchies=TREES,
        weights=WEIGHTS,
        k=4,
    )


def test_the_release_keeps_the_numbers(release: shoal.Release, tmp_path: Path) -> None:
    assert list(release.frame.columns) == [0, 1, 2]
    assert release.frame[2].tolist().count("d0") == N_ROWS // 4
    release.write(tmp_path / "out.csv", report=tmp_path / "report.html")
    assert (tmp_path / "out.csv").read_text().startswith("0,1,2\n")


def test_every_call_accepts_the_numbers(frame: object, release: shoal.Release) -> None:
    released = release.frame
    assert shoal.measure(frame, released, qi=QI, weights=WEIGHTS, hierarchies=TREES).ncp > 0
    assert shoal.risk(released, qi=QI).smallest_group >= 4
    assert shoal.verify(released, qi=QI, k=4, sensitive=SENSITIVE).ok
    assert shoal.describe(released, qi=QI, sensitive=SENSITIVE).columns[0].l >= 2
    assert shoal.evaluate.utility(frame, released, qi=QI, queries=5, hierarchies=TREES).queries.queries == 5
    runs = shoal.compare(frame, qi=QI, others="drop", methods=["mondrian"], k=[2], jobs=1)
    assert runs.frame["failed"].null_count() == 1


def test_an_unknown_number_is_named(frame: object) -> None:
    with pytest.raises(shoal.errors.UsageError, match="'7'"):
        shoal.anonymize(frame, qi=UNKNOWN, others="drop", k=4)


def test_a_release_is_one_line(release: shoal.Release) -> None:
    words = f"<shoal.Release: {N_ROWS} rows in {release.measures.groups} groups"
    assert repr(release).startswith(words)
    assert "\n" not in repr(release)
    assert len(repr(release)) < 160
