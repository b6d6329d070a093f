"""Rules of the source: which way imports point, sorted names, nothing printed, no test hidden by another."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "shoal"
MODULES = sorted(path for path in SOURCE.rglob("*.py"))

# Each layer may import itself and what stands before it. What is not listed here fails, so that new rooms get a place.
LAYERS = (
    {"errors"},
    {"schema"},
    {"climbs", "dialect", "kernels", "texts", "toml", "tree", "values", "writing"},
    {"snap"},
    {"table", "datasets"},
    {"formats"},
    {"sources"},
    {"hierarchy"},
    {"partition", "sensitive"},
    {"population"},
    {"encoding"},
    {"pairs"},
    {"frequency", "rules"},
    {"models"},
    {"metrics"},
    {"risks"},
    {"numeric"},
    {"methods"},
    {"bound", "profile"},
    {"config", "dictionary", "frames", "layout", "rare", "report", "target"},
    {"target_table"},
    {"findings"},
    {"publication"},
    {"drift", "release"},
    {"goals", "remarks"},
    {"pipeline"},
    {"evaluate"},
    {"counted"},
    {"engines"},
    {"cli"},
)
# The verifier stands apart: of shoal it knows errors and schema alone.
APART = {"verification": {"errors", "schema"}}
# What it reads with beside the standard library: DuckDB for Parquet, polars to decompress Zstandard.
READERS = {"readers": {"duckdb", "polars"}}
# Whoever needs the verifier: nobody before the release.
MAY_IMPORT_VERIFICATION = {"publication", "release", "counted", "cli"}
# The encoded table is described in terms of the partition and the other way round; only types cross back.
FOR_TYPES_ALONE = {
    ("partition", "encoding"),
    ("population", "encoding"),
    ("frames", "metrics"),
    ("findings", "release"),
    ("publication", "release"),
}


def room(path: Path) -> str:
    """Return the name of the room that a file belongs to: its module, or its package."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms that a file imports from."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "shoal":
            rooms |= {alias.name for alias in node.names if alias.name != "__version__"}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("shoal."):
            rooms.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("shoal.")}
    return rooms - {room(path)}


def height(name: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if name in layer)


@pytest.mark.parametrize(
    "path", [p for p in MODULES if room(p) != "__init__"], ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_point_one_way(path: Path) -> None:
    own, others = room(path), imported_rooms(path)
    if own in APART:
        assert others <= APART[own]
        return
    if "verification" in others:
        assert own in MAY_IMPORT_VERIFICATION
    assert own in set().union(*LAYERS), f"{own} has no place in LAYERS"
    for other in others - {"verification"}:
        if (own, other) not in FOR_TYPES_ALONE:
            assert height(other) <= height(own), f"{own} must not import {other}"


def test_verification_imports_the_standard_library_alone() -> None:
    import sys

    for path in (SOURCE / "verification").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                allowed = sys.stdlib_module_names | {"shoal"} | READERS.get(path.stem, set())
                assert module.split(".")[0] in allowed, f"{path.name} imports {module}"


def rank(name: str) -> tuple[bool, bool, str]:
    """Constants first, then classes, then the rest, as the linter sorts them."""
    return (not name.isupper(), not name[0].isupper(), name)


def test_public_names_are_sorted_and_exist() -> None:
    import importlib

    for path in MODULES:
        module = importlib.import_module(
            ".".join(("shoal", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        )
        names = getattr(module, "__all__", None)
        if names is not None:
            assert list(names) == sorted(names, key=rank), f"{module.__name__}.__all__ is not sorted"
            assert len(set(names)) == len(names)
            for name in names:
                assert getattr(module, name) is not None


def test_library_never_prints() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
            assert named != "print", f"{path.name}:{node.lineno} prints"


def test_no_test_hides_another() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        names = [n.name for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)]
        double = [name for name, count in Counter(names).items() if count > 1]
        assert double == [], f"{path.name}: {double}"


def test_files_fit_on_a_few_screens_or_say_why() -> None:
    for path in [*MODULES, *SOURCE.rglob("*.pyx")]:
        first, *rest = path.read_text().splitlines()
        assert len(rest) < 400 or re.search("longer|lines", first), (
            f"{path.name} has {len(rest) + 1} lines and gives no reason"
        )


def test_changelog_names_the_version() -> None:
    import shoal

    assert f"## {shoal.__version__}" in (ROOT / "CHANGELOG.md").read_text()
