"""The canary scan: what was removed from the table appears nowhere, in no output, message, log or temporary folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-c", "from shoal.cli.main import run; run()")


def canaries(folder: Path) -> tuple[Path, set[bytes]]:
    """Write a table in which every removed value is a byte string that occurs once."""
    lines, removed = ["name,ssn,born,income,sex,note,disease"], set()
    for i in range(400):
        name, ssn, note = f"CanaryName{i:04d}Q", f"9{i:03d}77{i:04d}", f"CanaryNote{i:04d}Q"
        born = f"19{i % 60 + 40}-{i % 12 + 1:02d}-{i % 28 + 1:02d}"
        income = f"{3_000_000 + i * 7919}.{i % 97:02d}"
        lines.append(f"{name},{ssn},{born},{income},{'FM'[i % 2]},{note},d{i % 9}")
        removed |= {name.encode(), ssn.encode(), note.encode(), income.encode(), born.encode()}
    path = folder / "canary.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, removed


def scan(folder: Path, words: set[bytes]) -> dict[str, set[bytes]]:
    """Return the files below a folder, by name or content, that hold any of the words."""
    pattern = re.compile(b"|".join(sorted(map(re.escape, words))))
    held = {}
    for path in folder.rglob("*"):
        found = set(pattern.findall(str(path.relative_to(folder)).encode()))
        if path.is_file():
            found |= set(pattern.findall(path.read_bytes()))
        if found:
            held[str(path.relative_to(folder))] = found
    return held


@pytest.mark.parametrize("ending", ["released", "refused"])
def test_no_removed_value_appears_anywhere(tmp_path: Path, ending: str) -> None:
    """L03, L13, L14, L15: dropped columns, inner values of ranges, private files; on success and on failure."""
    source, removed = canaries(tmp_path)
    work, temporary = tmp_path / "work", tmp_path / "tmp"
    work.mkdir()
    temporary.mkdir()
    words = ["anonymize", str(source), "-o", str(work / "out.csv"), "-k", "10", "--qi", "born,income,sex"]
    words += ["--sensitive", "disease", "--drop", "name,ssn,note"]
    if ending == "refused":
        words += ["--date", "income"]
    environment = {"TMPDIR": str(temporary), "HOME": str(temporary), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run([*COMMAND, *words], capture_output=True, cwd=work, env=_with_path(environment), check=False)
    assert ended.returncode == (0 if ending == "released" else 3), ended.stderr
    (work / "stdout").write_bytes(ended.stdout)
    (work / "stderr").write_bytes(ended.stderr)
    if ending == "released":
        content = (work / "out.csv").read_bytes()
        shown = set(re.findall(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+\.[0-9]{2}", content))
        assert len(removed & shown) < len(removed) / 2, "most values should be inside ranges"
        removed -= shown  # the ends of ranges are released on purpose
    assert scan(work, removed) == {}
    assert scan(temporary, removed) == {}
    assert [path for path in work.iterdir() if path.name.startswith(".")] == []


def test_the_scan_finds_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "leak").write_bytes(b"xx CanaryName0001Q xx")
    assert scan(tmp_path, {b"CanaryName0001Q"}) == {"leak": {b"CanaryName0001Q"}}


def _with_path(environment: dict[str, str]) -> dict[str, str]:
    import os

    return environment | {name: os.environ[name] for name in ("PYTHONPATH", "LD_LIBRARY_PATH") if name in os.environ}
