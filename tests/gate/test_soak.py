"""Many releases in one process: the same bytes each time, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import folder_of

# CI takes a sample, the nightly run sets 200.
ROUNDS = int(os.environ.get("SHOAL_SOAK", "4"))
MOST_GROWTH = 64 * 2**20  # bytes, after the first round of all methods
METHODS = ("shoaling", "mondrian")
CHILD = """
import hashlib, json, os, sys
from pathlib import Path
from shoal.cli.main import run
from shoal.datasets import patients_path
out, rounds, names = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
words = ["-k", "5", "--qi", "birth_date,sex,zip", "--sensitive", "disease", "--others", "drop", "--force", "--json"]
def held():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))
hashes, told = {}, []
for i in range(rounds):
    name = names[i % len(names)]
    try:
        run(["anonymize", str(patients_path()), "-o", str(out), "--method", name, *words])
    except SystemExit as ended:
        assert not ended.code, ended.code
    hashes.setdefault(name, set()).add(hashlib.sha256(out.read_bytes()).hexdigest())
    told.append(held())
report = {"hashes": {n: len(h) for n, h in hashes.items()}, "held": told}
Path(sys.argv[4]).write_text(json.dumps(report))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what a process holds is told by /proc alone")
def test_many_runs_in_one_process_leave_nothing_behind(tmp_path: Path) -> None:
    """D01: equal bytes in every round; memory and open files do not grow; no file but those of the release."""
    out, report = tmp_path / "release" / "out.csv", tmp_path / "report.json"
    out.parent.mkdir()
    words = [sys.executable, "-c", CHILD, str(out), str(ROUNDS), ",".join(METHODS), str(report)]
    ended = subprocess.run(words, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    results = json.loads(report.read_text())
    assert results["hashes"] == dict.fromkeys(METHODS, 1)
    memory, files = zip(*results["held"], strict=True)
    begun = len(METHODS) - 1
    assert max(memory[begun:]) - memory[begun] <= MOST_GROWTH, memory
    assert max(files[begun:]) == files[begun], files
    assert set(folder_of(out.parent)) == {
        "out.csv",
        "out.csv.dictionary.json",
        "out.csv.dictionary.md",
        "out.csv.manifest.json",
    }
