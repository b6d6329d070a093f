"""Too little memory: exit code 6 and a kind word, whether Python notices, a library aborts or the system kills."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import PATIENTS, ROLES, folder_of

# How many random limits: CI takes a sample, the nightly run sets 200 (as for kills).
DRAWS = int(os.environ.get("SHOAL_KILLS", "6")) // 2
COMMANDS = {
    "threads": ["anonymize", "DATA", "-o", "out.parquet", "-k", "2", *ROLES, "--threads", "8"],
    "report": ["anonymize", "DATA", "-o", "out.csv", "-k", "2", *ROLES, "--method", "mondrian", "--report", "r.html"],
    "DuckDB": ["anonymize", "DATA", "-o", "out.csv", "-k", "2", *ROLES, "--method", "optimal", "--engine", "duckdb"],
    "workers": ["compare", "DATA", "--qi", "age,sex", "--methods", "mondrian", "-k", "2", "--no-cache", "-o", "c.csv"],
    "init": ["init", "DATA", "-o", "x.toml"],
}


def limited(folder: Path, name: str, megabytes: int) -> subprocess.CompletedProcess[str]:
    """Run a command whose address space is limited."""
    (folder / "data.csv").write_text(PATIENTS + "".join(f"P{i},{i % 90},Male,{i:05},flu\n" for i in range(2000)))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    words = [word.replace("DATA", "data.csv") for word in COMMANDS[name]]
    command = [sys.executable, "-m", "shoal", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, preexec_fn=limit, timeout=120, check=False
    )


def check(ended: subprocess.CompletedProcess[str], folder: Path, place: str) -> None:
    assert ended.returncode in (0, 6), f"{place}: {ended.returncode} {ended.stderr}"
    if ended.returncode == 6:
        assert "memory" in ended.stderr, place
        assert set(folder_of(folder)) == {"data.csv"}, place
        assert [path.name for path in folder.iterdir()] == ["data.csv"], place
    for noise in ("Traceback", "panicked", "core dumped"):
        assert noise not in ended.stderr, place


def test_random_limits_end_with_6(tmp_path: Path) -> None:
    """O08: from 50 MB to 2 GB, on several methods and engines, with threads and workers."""
    seed = random.SystemRandom().randrange(10**9)
    draw = random.Random(seed)
    for i in range(DRAWS):
        name, megabytes = draw.choice(list(COMMANDS)), draw.randint(50, 2000)
        folder = tmp_path / str(i)
        folder.mkdir()
        check(limited(folder, name, megabytes), folder, f"seed {seed}: {name}, {megabytes} MB")


@pytest.mark.parametrize(("name", "megabytes"), [("threads", 60), ("init", 400), ("report", 1080), ("DuckDB", 1200)])
def test_limits_that_broke_in_other_ways_end_with_6(tmp_path: Path, name: str, megabytes: int) -> None:
    """O08: where Python starts, where polars does not load, and where libraries abort."""
    check(limited(tmp_path, name, megabytes), tmp_path, f"{name}, {megabytes} MB")


CRASHES = {
    "a panic": "raise type('PanicException', (BaseException,), {})('memory allocation of 8 bytes failed')",
    "an exception of a library": "raise ImportError('x.so: failed to map segment from shared object')",
    "an error that hides one": (
        "from shoal.errors import InputError\n"
        "    try:\n        raise MemoryError\n    except MemoryError:\n        raise InputError('damaged') from None"
    ),
    "an error while cleaning up": (
        "import shoal.tables.targets.folders as folders\n"
        "    def fail_again(folder):\n        raise MemoryError\n"
        "    folders._empty = fail_again\n    raise MemoryError"
    ),
    "an abort": "os.write(2, b'memory allocation of 8 bytes failed'); os.abort()",
    "an end by a library": "os.write(2, b'libgomp: Thread creation failed'); os._exit(1)",
    "a kill": "os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("crash", CRASHES)
def test_every_way_of_failing_for_want_of_memory_ends_with_6(tmp_path: Path, crash: str) -> None:
    """O08, L14."""
    (tmp_path / "data.csv").write_text(PATIENTS)
    code = f"import os, shoal.verification as v\ndef fail(*a, **o):\n    {CRASHES[crash]}\nv.gate = fail\n"
    code += "from shoal.cli.supervisor import main\nmain()"
    words = ["anonymize", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out.csv"), "-k", "2", *ROLES]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    check(ended, tmp_path, crash)
    assert ended.returncode == 6
    assert "nothing was written" in ended.stderr


def test_a_library_that_waits_for_ever_is_ended(tmp_path: Path) -> None:
    """A pool whose threads could not be started: all wait for each other, under a limit."""
    (tmp_path / "data.csv").write_text(PATIENTS)
    code = "import threading, shoal.cli.supervisor as s, shoal.verification as v\ns.STILL_SECONDS = 1\n"
    code += "def wait(*a, **o):\n    lock = threading.Lock()\n    lock.acquire()\n    lock.acquire()\nv.gate = wait\n"
    code += "s.main()"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    words = ["anonymize", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out.csv"), "-k", "2", *ROLES]
    ended = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, preexec_fn=limit, timeout=60
    )
    check(ended, tmp_path, "deadlock")
    assert ended.returncode == 6
    assert "waits for ever" in ended.stderr


def test_a_container_that_is_too_small_ends_with_6(tmp_path: Path) -> None:
    """O08: the system kills the working process, and the other one says so."""
    group = Path("/sys/fs/cgroup") / f"shoal-test-{os.getpid()}"
    try:
        if not (group.parent / "cgroup.subtree_control").exists():
            pytest.skip("no control groups of version 2 here; a kill of the working process stands for it")
        group.mkdir()
    except OSError:
        pytest.skip("no control group can be made here; a kill of the working process stands for it")
    try:
        try:
            (group / "memory.max").write_text(str(80 << 20))
            (group / "memory.swap.max").write_text("0")
        except OSError:
            pytest.skip("control groups here do not limit memory")
        (tmp_path / "data.csv").write_text(PATIENTS)
        words = ["anonymize", "data.csv", "-o", "out.csv", "-k", "2", *ROLES]
        ended = subprocess.run(
            [sys.executable, "-m", "shoal", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())),
        )
        check(ended, tmp_path, "control group")
    finally:
        group.rmdir()
