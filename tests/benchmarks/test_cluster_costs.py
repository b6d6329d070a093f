"""What the clustering methods cost as tables grow: the page of it, and how growth is told."""

from __future__ import annotations

import pytest

from benchmarks import clusters


def test_growth_is_told_by_its_power() -> None:
    assert clusters.exponent([2.0, 3.0, 18.0], [100, 150, 300]) == pytest.approx(2)


def test_page_shows_the_recorded_cost_of_the_clustering_methods() -> None:
    recorded = clusters.PAGE.read_text()
    made = recorded[recorded.index("Run of ") :]
    assert f"{clusters.BEGIN}\n\n{made}" in clusters.SHOWN.read_text()
    for case in clusters.CASES:
        assert f"\n| {case.name} | " in made


def test_cost_beyond_its_target_is_told() -> None:
    case = clusters.Case("sbca", (1, 5), "n^2 / k")
    growing = [clusters.Cost(units, 1.0, 0.25) for units in (0.5, 1.0, 2.0, 4.0)]
    assert "| 1, 5 | yes |" in clusters.row(case, growing, [10, 20, 40, 80])
    assert "| 1.00 | n^2 / k | 0.2500 |" in clusters.row(case, growing, [10, 20, 40, 80])
    for at in (0, -1):
        slow = list(growing)
        slow[at] = clusters.Cost(5.5, 1.0, 0.25)
        assert "| 1, 5 | **no** |" in clusters.row(case, slow, [10, 20, 40, 80])
