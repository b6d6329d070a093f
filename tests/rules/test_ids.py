"""The ids that tests name, such as C01, are defined on docs/reference/test-ids.md, and so are the tags of sources."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "test-ids.md").read_text("utf-8")
SOURCES = [
    path for folder in ("tests", "src") for path in sorted((ROOT / folder).rglob("*.py")) if path != Path(__file__)
]
ROWS: dict[str, str] = dict(re.findall(r"^\| ([A-Z]\d\d)!? \| (.*) \|$", PAGE, re.MULTILINE))
TAGS = set(re.findall(r"^\| \[(S\d)\] \|", PAGE, re.MULTILINE))
NOT_COVERED = "**not covered yet**"


@cache
def prose(path: Path) -> tuple[str, ...]:
    """Return the docstrings and comments of a file, and the ids in names of tests such as test_zayatz_r12."""
    text = path.read_text("utf-8")
    if not re.search(r"\b[A-Z]\d|_[a-z]\d\d\b", text):
        return ()
    nodes = list(ast.walk(ast.parse(text)))
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
    tests = [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return (*docstrings, *comments, *(name.upper() for test in tests for name in re.findall(r"_([a-z]\d\d)$", test)))


def names(path: Path, pattern: str) -> set[str]:
    return {name for text in prose(path) for name in re.findall(pattern, text)}


@pytest.mark.parametrize("pattern", [r"\b[A-Z]\d\d\b", r"\[(S\d)\b"])
def test_ids_and_tags_are_defined(pattern: str) -> None:
    undefined = {str(path): found for path in SOURCES if (found := names(path, pattern) - set(ROWS) - TAGS)}
    assert undefined == {}


def test_ids_without_a_test_are_marked() -> None:
    tests = [path for path in SOURCES if path.is_relative_to(ROOT / "tests")]
    in_tests = {name for path in tests for name in names(path, r"\b[A-Z]\d\d\b")}
    assert {name for name, text in ROWS.items() if NOT_COVERED in text} == set(ROWS) - in_tests


def test_every_id_has_one_line() -> None:
    listed = re.findall(r"^\| ([A-Z]\d\d)!? \|", PAGE, re.MULTILINE)
    assert listed == list(ROWS)
    assert all(text.removesuffix(NOT_COVERED).strip().endswith(".") for text in ROWS.values())
