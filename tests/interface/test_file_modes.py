"""Who may read what the commands write: others read the release and the public files beside it, and nothing else."""

from __future__ import annotations

import ast
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Shoal

PUBLIC = {"out.csv", "out.csv.manifest.json", "out.csv.dictionary.json", "out.csv.dictionary.md", "r.html", "r.json"}

QI = ("--qi", "age,zip")
# Commands that write files. compare and advise write theirs by the same function, which the last test sees to.
COMMANDS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "anonymize": (
        ("anonymize", "data.csv", "-o", "out.csv", "-k", "3", *QI, "--others", "insensitive", "--report", "r.html"),
        {*PUBLIC, "r.private.html", "r.private.json"},
    ),
    "init": (("init", "data.csv"), {"shoal.toml"}),
    "propose": (("hierarchy", "propose", "data.csv", "--column", "zip", "-o", "zip.csv"), {"zip.csv"}),
    "convert": (("hierarchy", "convert", "tree.csv", "-o", "trees"), {"trees/tree.csv"}),
    "convert to xml": (("hierarchy", "convert", "tree.csv", "-o", "job.xml"), {"job.xml"}),
    "simulate": (("simulate", "--attributes", "3", "--k", "2", "--rows", "50", "--plot", "s.svg"), {"s.svg"}),
    "keygen": (("keygen", "lab"), {"lab.pem", "lab.pub.pem"}),
}


@pytest.fixture(autouse=True)
def _open_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder of its own, where new files would be readable by everyone."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 7},{10000 + i % 4}" for i in range(40)]
    Path("data.csv").write_text("\n".join(["age,zip", *rows]) + "\n")
    Path("tree.csv").write_text("a;x;*\nb;x;*\n")
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("name", COMMANDS)
def test_only_public_files_are_open_to_others(shoal: Shoal, tmp_path: Path, name: str) -> None:
    """O09."""
    words, files = COMMANDS[name]
    before = set(tmp_path.rglob("*"))
    ended = shoal(*words)
    assert ended.code == 0, ended.err
    written = {path for path in tmp_path.rglob("*") if path not in before and path.is_file()}
    assert {str(path.relative_to(tmp_path)) for path in written} == files
    for path in written:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o666 if path.name in PUBLIC or path.name.endswith(".pub.pem") else 0o600), path
    for folder in (path for path in tmp_path.rglob("*") if path not in before and path.is_dir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


SOURCE = Path(__file__).parents[2] / "src" / "shoal"
# Where files are made: each of them asks for the mode itself, or for a folder of mode 0700.
WRITERS = {
    "tables/targets/text_file.py",  # private text, 0600
    "tables/formats/writers.py",  # unfinished files of a release, 0600
    "tables/formats/columnar.py",  # into a file of writers.py
    "tables/sources/duckdb.py",  # likewise
    "tables/sources/dealing.py",  # likewise
    "tables/sources/duck_session.py",  # likewise
    "tables/sources/numbering.py",  # likewise
    "web/loaded.py",  # facts of a table, in a folder of mode 0700
    "web/packing.py",  # a project that is unpacked, likewise
    "web/tasks.py",  # proposed settings, likewise
    "spark/parts.py",  # parts of a release, in a folder of mode 0700 until it is published
    "spark/session.py",  # what Java prints, in a folder of mode 0700
    "evaluate/comparison/cache.py",  # the key of a cache, 0600
    "evaluate/comparison/cases.py",  # asks /proc for the peak of memory
    "tables/targets/moves.py",  # a copy of a file that is replaced, 0600 until it has the mode of the old one
    "tables/formats/statistics_file.py",  # into private files that the parent process opened
    "cli/supervisor.py",  # no file: the standard error of a run
    "release/files/signature.py",  # keys, the private one 0600
    "datasets/__init__.py",  # a public table from the web
}
MAKING = {"write_text", "write_bytes", "write_csv", "write_parquet", "sink_csv", "sink_parquet", "NamedTemporaryFile"}


def test_every_writer_of_files_is_known() -> None:
    """A new one must say who may read what it writes."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            is_method = isinstance(node.func, ast.Attribute) and name in MAKING and bool(node.args)
            modes = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            opens = name == "open" and any(set(mode) & set("wax+") for mode in modes)
            if is_method or opens:
                assert str(path.relative_to(SOURCE)) in WRITERS, f"{path.name}:{node.lineno}"
