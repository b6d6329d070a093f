"""The page on the sources lists every table and figure of them, with a counterpart that exists or a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sources.md"
ITEMS = {
    "S0": [
        *(f"Figure {chapter}-{i}" for chapter, last in ((1, 3), (2, 10), (3, 6), (4, 4)) for i in range(1, last + 1)),
        *(f"Table {chapter}-{i}" for chapter, last in ((1, 1), (2, 13), (3, 4), (4, 2)) for i in range(1, last + 1)),
    ],
    "S1": [*(f"Figure {i}" for i in range(1, 24)), *(f"Table {i}" for i in range(1, 18))],
    "S2": ["Table 1", "Table 2", "Figure 1", "Figure 2"],
    "S3": [*(f"Figure {i}" for i in range(1, 7)), *(f"Table {i}" for i in range(1, 4))],
    "S4": [*(f"Table {i}" for i in range(1, 8)), *(f"Figure {i}" for i in range(1, 7))],
}


def rows_of(tag: str) -> dict[str, list[str]]:
    section = PAGE.read_text().split(f"## [{tag}]")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("tag", ITEMS)
def test_every_table_and_figure_is_listed_once(tag: str) -> None:
    section = PAGE.read_text().split(f"## [{tag}]")[1].split("\n## ")[0]
    listed = re.findall(r"^\| ((?:Table|Figure) [0-9-]+) \|", section, flags=re.MULTILINE)
    assert sorted(listed) == sorted(ITEMS[tag])


@pytest.mark.parametrize("tag", ITEMS)
def test_every_row_links_to_its_counterpart_or_gives_a_reason(tag: str) -> None:
    for item, (shows, here, agreement) in rows_of(tag).items():
        assert shows, item
        assert agreement, item
        links = re.findall(r"\]\(([^)#]+)\)", here)
        assert links or here.startswith("none: "), item
        for link in links:
            assert (PAGE.parent / link).resolve().exists(), f"{item}: {link}"
