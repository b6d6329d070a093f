"""The tree of the tests: unit tests follow the rooms of the source, every folder is listed, every twin is used."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "shoal"


def test_unit_tests_follow_the_rooms() -> None:
    rooms = {path.parent.relative_to(SOURCE) for suffix in ("py", "pyx") for path in SOURCE.rglob(f"*.{suffix}")}
    folders = {path.parent.relative_to(TESTS / "unit") for path in (TESTS / "unit").rglob("test_*.py")}
    assert folders <= rooms


def test_every_folder_is_listed() -> None:
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.rglob("*/*.py")}
    for page in (TESTS / "README.md", TESTS.parent / "CONTRIBUTING.md"):
        assert set(re.findall(r"^\| `tests/(\w+)/` \|", page.read_text("utf-8"), re.MULTILINE)) == folders, page.name


def test_every_twin_is_used() -> None:
    texts = {path: path.read_text("utf-8") for path in TESTS.rglob("*.py")}
    for twin in (TESTS / "naive").glob("*.py"):
        imported = re.compile(rf"tests\.naive\.{twin.stem}\b|from tests\.naive import .*\b{twin.stem}\b")
        used = any(imported.search(text) for path, text in texts.items() if path != twin)
        assert used or twin.name == "__init__.py", f"no test uses {twin.name}"
