"""The experiments with trees and learners: what repeats exactly, and what their pages say."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import experiments
from benchmarks.workloads import find_adult
from experiments import mnqia, trees

FOLDER = Path(experiments.__file__).parent


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    found = find_adult()
    if found is None:
        pytest.skip("the Adult table is not here (SHOAL_DATA)")
    return pl.DataFrame(found)


def test_leaves_of_the_raw_table_are_those_of_s1(adult: pl.DataFrame) -> None:
    """[S1] Figure 15: 1,330 rows, 98.65 %; 7,162, 97.07 %."""
    found = trees.leaves_of(adult.select(trees.NAMES), {}, adult)
    told = {name: (leaf.released.inside, round(100 * leaf.released.share, 2)) for name, leaf in found.items()}
    assert told == {">50K": (1330, 98.65), "<=50K": (7162, 97.07)}
    assert all(leaf.released == leaf.original for leaf in found.values())


def test_zero_r_does_not_care_for_recoding(adult: pl.DataFrame) -> None:
    """[S4] Table 7 prints an accuracy that falls with k."""
    raw = mnqia.zero_r(adult)
    assert round(raw, 2) == 75.11
    some = adult.head(2000)
    for label in ("MNQIA", "shoaling"):
        assert mnqia.zero_r(mnqia.release_by(some, label, 8).text) == mnqia.zero_r(some)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("trees", "On the raw table the tree is that of the thesis"),
        ("trees", "ZeroR is the same everywhere"),
        ("mnqia", "Recoding can lower the accuracy of models that use the quasi-identifiers"),
    ],
)
def test_page_explains_what_differs(name: str, told: str) -> None:
    page = (FOLDER / f"{name}.md").read_text()
    assert told in page
    assert f"({name}.svg)" in page
    assert (FOLDER / f"{name}.svg").read_text().rstrip().endswith("</svg>")
