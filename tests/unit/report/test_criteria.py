"""What authorities ask: three criteria apart, both readings of 0.09, and words that no report may use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.report.criteria import conventions, mistakes, three_criteria
from shoal.report.groups import SensitiveFacts

SOURCE = Path(__file__).parents[3] / "src" / "shoal"
FORBIDDEN = re.compile(
    r"guarantee|GDPR|impossible|(fully|completely|is|are) anonymous|compliant|certif|100 ?% safe|risk-free",
    re.IGNORECASE,
)


def sensitive(share: float = 0.4, fewest: int = 2) -> SensitiveFacts:
    return SensitiveFacts("disease", fewest, 0, share, 0.0)


def test_three_criteria_stand_apart() -> None:
    """R10, A12: what k and l leave open is said, and that a predicate can still single out."""
    alone = {row["criterion"]: row for row in three_criteria(5, ["age", "zip"], [sensitive()], ())}
    assert {name: row["answer"] for name, row in alone.items()} == {
        "singling out": "limited",
        "linkability": "remains",
        "inference": "remains",
    }
    assert "41%" in alone["singling out"]["words"]  # (1 - 1/5) ** 4
    diverse = {row["criterion"]: row["answer"] for row in three_criteria(5, ["age"], [sensitive()], {"disease"})}
    assert diverse == {"singling out": "limited", "linkability": "remains", "inference": "limited"}
    assert three_criteria(5, ["age"], [], ())[2]["answer"] == "not examined"


def test_listed_mistakes_are_checked() -> None:
    """R10: missed quasi-identifier, small k, skewed sensitive value."""
    found = [row["found"] for row in mistakes(3, ["weight"], [sensitive(0.9)])]
    assert found == [True, True, True]
    assert [row["found"] for row in mistakes(5, [], [sensitive()])] == [False, False, False]


@pytest.mark.parametrize(
    ("smallest", "as_number", "as_cell_size"), [(10, False, False), (11, False, True), (12, True, True)]
)
def test_nine_hundredths_is_read_in_both_ways(smallest: int, as_number: bool, as_cell_size: bool) -> None:
    """R05: at 11 rows the number fails and the cell size passes, and the figure is never rounded to 0.09."""
    rows = {row["convention"]: row for row in conventions(smallest)}
    assert rows["risk of 0.09, taken literally"]["met"] is as_number
    assert rows["groups of 11"]["met"] is as_cell_size
    if smallest == 11:
        assert rows["risk of 0.09, taken literally"]["words"].endswith("9.1%")


def test_conventions_are_offered_with_their_use_and_none_is_a_law() -> None:
    """R07."""
    assert [row["least_group"] for row in conventions(5)] == [3, 5, 10, 11, 12, 20]
    assert not any("legal" in row["words"] for row in conventions(5))


@pytest.mark.parametrize(
    "path",
    sorted([*(SOURCE / "findings").glob("*.py"), *(SOURCE / "report").rglob("*.*ml")]),
    ids=lambda path: path.name,
)
def test_no_text_of_a_report_claims_too_much(path: Path) -> None:
    """R10, A12."""
    assert FORBIDDEN.search(path.read_text()) is None
