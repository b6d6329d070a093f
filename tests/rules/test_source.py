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

# The floors of the house, lowest first. A room imports from the floors below, and on its own floor from the rooms that
# stand before it. `verification` stands beside the house: it imports errors and schema alone.
FLOORS = (
    ("errors", "schema"),
    ("kernels", "tables", "datasets"),
    ("hierarchy", "encoding", "rules"),
    ("models", "metrics", "risks", "profile"),
    ("methods",),
    ("settings", "charts", "report"),
    ("release", "spark"),
    ("evaluate", "web", "cli"),
)
# The same inside the two largest rooms. What is not listed is a file that all rooms of the package may use.
METHODS = ("clustering", "mondrian", "shoaling", "full_domain", "research_value")
VERIFICATION = (
    ("verdict", "cells", "reading"),
    ("matching",),
    ("models",),
    ("recount", "manifest", "demand"),
    ("gate_streamed",),
    ("examination",),
    ("verifier", "gate", "database"),
)
# Imported for annotations only, inside `if TYPE_CHECKING`.
FOR_TYPES_ALONE = {("report", "release")}
MAY_IMPORT_VERIFICATION = {"release", "spark", "cli"}
BESIDE_THE_HOUSE = {"errors", "schema"}
# What the verifier uses beside the standard library: DuckDB for Parquet, zstandard, arrays of codes.
READERS = {
    "files": {"duckdb"},
    "zstd": {"zstandard"},
    "arrow": {"numpy"},
    "pages": {"numpy"},
    "texts": {"numpy"},
    "coded": {"numpy"},
    "avoided": {"numpy"},
    "centers": {"numpy"},
    "comparison": {"numpy"},
    "examination": {"numpy"},
    "gate": {"numpy"},
    "groups": {"numpy"},
    "packing": {"numpy"},
    "population": {"numpy"},
    "readings": {"numpy"},
    "rows": {"numpy"},
    "layout": {"numpy"},
    "limits": {"numpy"},
    "blocks": {"numpy"},
    "stated": {"numpy"},
    "distinct": {"numpy"},
    "keys": {"numpy"},
    "laid": {"numpy"},
    "source": {"numpy"},
    "tallies": {"numpy"},
    "outliers": {"numpy"},
    "parts": {"numpy"},
    "examined": {"numpy"},
    "signature": {"cryptography"},
}
MOST_ROOMS, MOST_FILES = 24, 13
NO_ROOMS = ("__init__.py", "__main__.py", "py.typed", "__pycache__")


def room(path: Path) -> str:
    """Return the name of the room that a file belongs to: its module, or its package."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """Return the dotted names in shoal that a file imports, and whether each is for annotations only."""
    tree = ast.parse(path.read_text())
    checked = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    annotations = {id(n) for block in checked for n in ast.walk(block)}
    found = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shoal":
            names = [f"{node.module}.{alias.name}" for alias in node.names if alias.name != "__version__"]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("shoal.")]
        found += [(name, id(node) in annotations) for name in names]
    return found


def place(name: str, floors: tuple[tuple[str, ...], ...]) -> tuple[int, int]:
    """Return the floor of a room and its place there."""
    return next((i, floor.index(name)) for i, floor in enumerate(floors) if name in floor)


def test_every_room_has_a_floor() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if path.name not in NO_ROOMS}
    assert rooms == {name for floor in FLOORS for name in floor} | {"verification"}
    assert len(rooms) <= MOST_ROOMS


def test_rooms_are_small() -> None:
    for folder in {path.parent for path in MODULES} - {SOURCE, SOURCE / "cli" / "commands"}:
        suffixes = (".py", ".pyx", ".pxd")
        files = [path for path in folder.iterdir() if path.suffix in suffixes and path.name != "__init__.py"]
        folders = [path for path in folder.iterdir() if (path / "__init__.py").exists()]
        assert len(files) + len(folders) <= MOST_FILES, f"{folder.relative_to(SOURCE)} has {len(files)} files"


@pytest.mark.parametrize(
    "path", [p for p in MODULES if room(p) not in ("__init__", "__main__")], ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    for name, for_types in imports_of(path):
        other = name.split(".")[1]
        if other == own:
            continue
        if own == "verification":
            assert other in BESIDE_THE_HOUSE, f"verification must not import {name}"
        elif other == "verification":
            assert own in MAY_IMPORT_VERIFICATION, f"{own} must not import {name}"
        elif not (for_types and (own, other) in FOR_TYPES_ALONE):
            assert place(other, FLOORS) < place(own, FLOORS), f"{own} must not import {name}"


def test_imports_point_down_inside_methods() -> None:
    for path in (SOURCE / "methods").rglob("*.py"):
        own = path.relative_to(SOURCE / "methods").with_suffix("").parts[0]
        if own == "__init__":
            continue
        for name, _ in imports_of(path):
            other = name.removeprefix("shoal.methods.").split(".")[0]
            if name.startswith("shoal.methods.") and other in METHODS and other != own:
                assert own in METHODS, f"methods/{own}.py serves all methods and must not import {name}"
                assert METHODS.index(other) < METHODS.index(own), f"methods/{own} must not import {name}"


def test_imports_point_down_inside_verification() -> None:
    for path in (SOURCE / "verification").rglob("*.py"):
        own = path.relative_to(SOURCE / "verification").with_suffix("").parts[0]
        if own == "__init__":
            continue
        for name, _ in imports_of(path):
            other = name.removeprefix("shoal.verification.").split(".")[0]
            if name.startswith("shoal.verification.") and other != own:
                assert place(other, VERIFICATION) < place(own, VERIFICATION), f"{own} must not import {name}"


# The classes behind the protocols Source and Target. Other rooms ask the protocol, never for a class.
BACKENDS = {"TableSource", "DuckSource", "PostgresSource", "FileTarget", "StreamTarget", "TableTarget"}


def test_only_their_own_rooms_ask_for_the_class_of_a_backend() -> None:
    own = (SOURCE / "tables" / "sources", SOURCE / "tables" / "targets")
    for path in MODULES:
        if path.parent in own:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass", "type"):
                names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                assert not names & BACKENDS, f"{path.relative_to(SOURCE)}:{node.lineno}"


# Calls that change the state of the whole process. The command line may make them, and so may a worker in its own
# process; the library may not.
PROCESS_WIDE = re.compile(
    r"os\.umask|os\.putenv|os\.environ\[[^]]*\] *=|os\.chdir|signal\.signal\(|field_size_limit|setlocale|"
    r"tempfile\.tempdir *=|setrecursionlimit"
)


def test_the_library_does_not_change_the_process() -> None:
    for path in MODULES:
        if room(path) != "cli" and path.name != "workers.py":
            assert not PROCESS_WIDE.search(path.read_text()), path.relative_to(SOURCE)


def test_map_of_the_house_lists_every_room_once() -> None:
    """CONTRIBUTING has one line for every room, in the order of the data."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split("## Where things are")[1].split("\n## ")[0]
    listed = re.findall(r"^([\w/]+?)(?:/|\.py) +\S", text, flags=re.MULTILINE)
    rooms = {str(path.parent.relative_to(SOURCE)) for path in MODULES if path.parent != SOURCE}
    rooms |= {path.stem for path in MODULES if path.parent == SOURCE and path.name not in NO_ROOMS}
    assert sorted(listed) == sorted(rooms)


def test_verification_imports_the_standard_library_alone() -> None:
    import sys

    for path in (SOURCE / "verification").rglob("*.py"):
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
        if path.name == "__main__.py":
            continue  # it runs the command line
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
