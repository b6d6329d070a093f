"""Kills and signals while a release is written: the old file or the whole new one, and nothing else."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import folder_of

WORDS = ("-k", "5", "--qi", "birth_date,sex,zip", "--sensitive", "disease", "--others", "drop", "--force")
OUTPUTS = ("out.csv", "out.csv.dictionary.json", "out.csv.dictionary.md", "out.csv.manifest.json")
REPORT = ("r.html", "r.json", "r.private.html", "r.private.json")
# How many random kills: CI takes a sample, the nightly run sets 200.
KILLS = int(os.environ.get("SHOAL_KILLS", "6"))


def start(folder: Path, before: str = "") -> subprocess.Popen[bytes]:
    """Begin `shoal anonymize` in a process of its own; `before` runs first and may lay a trap."""
    code = f"{before}\nfrom shoal.cli.main import run\nrun()"
    words = [sys.executable, "-c", code, "anonymize", str(folder / "data.csv"), "-o", str(folder / "out.csv"), *WORDS]
    words += ["--report", str(folder / "r.html")]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, float]:
    """What a run that nobody disturbs writes, its manifest, and the seconds it takes."""
    folder = tmp_path_factory.mktemp("finished")
    prepare(folder)
    began = time.perf_counter()
    process = start(folder)
    _, error = process.communicate()
    assert process.returncode == 0, error
    seconds = time.perf_counter() - began
    return (folder / "out.csv").read_bytes(), (folder / "out.csv.manifest.json").read_bytes(), seconds


def prepare(folder: Path) -> None:
    from shoal.datasets import patients_path

    (folder / "data.csv").write_bytes(patients_path().read_bytes())
    (folder / "out.csv").write_bytes(b"old\n")


def test_kill_at_random_moments(tmp_path: Path, finished: tuple[bytes, bytes, float]) -> None:
    """O04, L17: after kill -9 the old file or the complete new one; the next run takes over what was left."""
    complete, _, seconds = finished
    seed = random.SystemRandom().randrange(10**9)
    moments = random.Random(seed)
    prepare(tmp_path)
    survived = 0
    for _ in range(KILLS):
        (tmp_path / "out.csv").write_bytes(b"old\n")
        process = start(tmp_path)
        time.sleep(moments.uniform(0.2, 1.1) * seconds)
        process.kill()
        process.communicate()
        content = (tmp_path / "out.csv").read_bytes()
        assert content in (b"old\n", complete), f"seed {seed}: a partial file of {len(content)} bytes"
        survived += content == complete
    process = start(tmp_path)
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert (tmp_path / "out.csv").read_bytes() == complete
    assert set(folder_of(tmp_path)) == {"data.csv", *OUTPUTS, *REPORT}


TRAPS = {
    "when the file is opened": "import shoal.tables.formats.writers as r\nr.write_csv = lambda *a: die()",
    "half way through writing": (
        "import shoal.tables.formats.writers as r\nw = r.write_csv\n"
        "def cut(text, path, *more):\n    w(text, path, *more)\n    b = path.read_bytes()\n"
        "    path.write_bytes(b[: len(b) // 2])\n"
        "    die()\n"
        "r.write_csv = cut"
    ),
    "before the gate": "import shoal.verification as v\nv.gate = lambda *a, **o: die()",
    "before the file is flushed": "import os\nos.fsync = lambda *a: die()",
    "before the first rename": "import os\nos.replace = lambda *a: die()",
    "between the renames": (
        "import os\nreplace = os.replace\ndef one(a, b):\n    replace(a, b)\n    die()\nos.replace = one"
    ),
}


@pytest.mark.parametrize("moment", TRAPS)
def test_kill_at_each_step(tmp_path: Path, finished: tuple[bytes, bytes, float], moment: str) -> None:
    """O04, O05: the same at every step of writing, without luck."""
    complete, manifest, _ = finished
    prepare(tmp_path)
    die = "import os, signal\ndef die():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    process = start(tmp_path, die + TRAPS[moment])
    _, error = process.communicate()
    assert process.returncode == -signal.SIGKILL, f"the trap did not spring: {error.decode()}"
    content = (tmp_path / "out.csv").read_bytes()
    assert content == (complete if moment == "between the renames" else b"old\n")
    process = start(tmp_path)
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert (tmp_path / "out.csv").read_bytes() == complete
    assert (tmp_path / "out.csv.manifest.json").read_bytes() == manifest
    assert set(folder_of(tmp_path)) == {"data.csv", *OUTPUTS, *REPORT}


WAIT = (
    "import shoal.verification as v, sys, time\ndef wait(*a, **o):\n    sys.stderr.write('@')\n    sys.stderr.flush()\n"
)
WAIT += "    time.sleep(60)\nv.gate = wait"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_run_cleanly(tmp_path: Path, number: int, code: int) -> None:
    """O03, L15: the documented exit code, the old file, no private folder."""
    prepare(tmp_path)
    process = start(tmp_path, WAIT)
    assert process.stderr is not None
    while process.stderr.read(1) != b"@":  # the file is written, the gate about to begin
        assert process.poll() is None
    process.send_signal(number)
    process.communicate()
    assert process.returncode == code
    assert (tmp_path / "out.csv").read_bytes() == b"old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


def test_signals_at_random_moments(tmp_path: Path, finished: tuple[bytes, bytes, float]) -> None:
    """O03: the old file or the whole new one, nothing beside it; before the command has begun the signal's own code."""
    complete, _, seconds = finished
    seed = random.SystemRandom().randrange(10**9)
    moments = random.Random(seed)
    for i in range(KILLS):
        folder = tmp_path / str(i)
        folder.mkdir()
        prepare(folder)
        process = start(folder)
        time.sleep(moments.uniform(0.2, 1.1) * seconds)
        number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[i % 2]
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
        place = f"seed {seed}, signal {i}"
        assert process.returncode in (0, code, -number), f"{place}: {process.returncode} {error.decode()}"
        assert (folder / "out.csv").read_bytes() == (complete if process.returncode == 0 else b"old\n"), place
        beside = (*OUTPUTS, *REPORT) if process.returncode == 0 else ("out.csv",)
        assert set(folder_of(folder)) == {"data.csv", *beside}, place


def test_a_second_run_on_the_same_target_is_refused(tmp_path: Path) -> None:
    """O07: one writes, the other ends with exit code 6."""
    prepare(tmp_path)
    first = start(tmp_path, WAIT)
    assert first.stderr is not None
    while first.stderr.read(1) != b"@":
        assert first.poll() is None
    private = tmp_path / ".out.csv.shoal"
    assert private.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in private.iterdir()} == {0o600}
    second = start(tmp_path)
    _, error = second.communicate()
    assert second.returncode == 6
    assert b"another run is writing it" in error
    first.kill()
    first.communicate()


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """O01: a file that may not grow ends the run with exit code 6; the old file stays, the unfinished one goes."""
    prepare(tmp_path)
    limit = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))"
    process = start(tmp_path, limit)
    _, error = process.communicate()
    assert process.returncode == 6, error
    assert b"cannot be written" in error
    assert (tmp_path / "out.csv").read_bytes() == b"old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]
