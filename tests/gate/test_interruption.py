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
WORDS += ("--method", "mondrian", "--no-bound")
OUTPUTS = ("out.csv", "out.csv.dictionary.json", "out.csv.dictionary.md", "out.csv.manifest.json")
REPORT = ("r.html", "r.json", "r.private.html", "r.private.json")
# How many random kills: CI takes a sample, the nightly run sets 200.
KILLS = int(os.environ.get("SHOAL_KILLS", "6"))


def start(
    folder: Path, before: str = "", stdout: int = subprocess.DEVNULL, listener: int | None = None
) -> subprocess.Popen[bytes]:
    """Begin `shoal anonymize` in a process of its own; `before` runs first and may lay a trap, which has a listener."""
    code = f"{before}\nfrom shoal.cli.supervisor import main\nmain()"
    words = [sys.executable, "-c", code, "anonymize", str(folder / "data.csv"), "-o", str(folder / "out.csv"), *WORDS]
    words += ["--report", str(folder / "r.html")]
    # Signals wait until the command has begun: before that, they belong to Python.
    return subprocess.Popen(
        words,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=block_signals,
        pass_fds=[] if listener is None else [listener],
        env=os.environ | {"LISTENER": str(listener)},
    )


def block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])


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
    "before the first rename": "import os\nos.rename = lambda *a, **o: die()",
    "between the renames": (
        "import os\nrename = os.rename\ndef one(a, b, **o):\n    rename(a, b, **o)\n    die()\nos.rename = one"
    ),
}


@pytest.mark.parametrize("moment", TRAPS)
def test_kill_at_each_step(tmp_path: Path, finished: tuple[bytes, bytes, float], moment: str) -> None:
    """O04, O05: the same at every step of writing, without luck."""
    complete, manifest, _ = finished
    prepare(tmp_path)
    die = "import os, signal\ndef die():\n    os.killpg(0, signal.SIGKILL)\n"
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


# Each says "@" and waits, where a signal is to arrive: asleep, or in native code that never looks at signals.
SAY = "import os, time\ndef say():\n    os.write(int(os.environ['LISTENER']), b'@')\n"
WAIT = SAY + "import shoal.verification as v\ndef wait(*a, **o):\n    say()\n    time.sleep(60)\nv.gate = wait"
NATIVE = SAY + "import shoal.verification as v\nv.gate = lambda *a, **o: (say(), sum(range(10**11)))"
# It moves the first of eight files, and waits. The signal must not stop it half way.
MOVING = SAY + (
    "rename = os.rename\ndef slow(a, b, **o):\n    rename(a, b, **o)\n    os.rename = rename\n    say()\n"
    "    time.sleep(0.5)\n"
    "os.rename = slow"
)
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def started(folder: Path, trap: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Begin a run and wait until its trap says "@"."""
    read, write = os.pipe()
    process = start(folder, trap, stdout, write)
    os.close(write)
    try:
        assert os.read(read, 1) == b"@", process.communicate()
    finally:
        os.close(read)
    return process


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize(
    ("trap", "whom"), [(WAIT, "the process"), (NATIVE, "its group")], ids=["asleep", "in native code"]
)
def test_signals_end_the_run_cleanly(tmp_path: Path, number: int, code: int, trap: str, whom: str) -> None:
    """O03, L15: the documented exit code, the old file, no private folder; Ctrl-C reaches the whole group."""
    prepare(tmp_path)
    process = started(tmp_path, trap)
    for _ in range(3):  # a second and a third signal change nothing
        (os.kill if whom == "the process" else os.killpg)(process.pid, number)
    _, error = process.communicate(timeout=20)
    assert process.returncode == code
    assert error == b"shoal: interrupted; nothing was written.\n"
    assert (tmp_path / "out.csv").read_bytes() == b"old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_signals_wait_until_all_files_are_in_their_places(
    tmp_path: Path, finished: tuple[bytes, bytes, float], number: int, code: int
) -> None:
    """O05: the exit code is 0, because the outputs are not as they were."""
    prepare(tmp_path)
    process = started(tmp_path, MOVING)
    for _ in range(3):
        process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 0, error
    if b"interrupted" in error:  # otherwise the result was printed before the signal was acted on
        assert error.endswith(b"shoal: interrupted while the result was printed; everything was written.\n")
    assert (tmp_path / "out.csv").read_bytes() == finished[0]
    assert set(folder_of(tmp_path)) == {"data.csv", *OUTPUTS, *REPORT}


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_signals_while_files_are_put_back(tmp_path: Path, number: int, code: int) -> None:
    """O05: the second move fails, a signal arrives during the roll-back: everything is as it was."""
    prepare(tmp_path)
    fail = "\ndef fail(*a, **o):\n    os.rename = rename\n    raise OSError(28, 'full')"
    process = started(tmp_path, MOVING.replace("os.rename = rename\n", "os.rename = fail\n") + fail)
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode in (6, code), error
    assert b"Traceback" not in error
    assert (tmp_path / "out.csv").read_bytes() == b"old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


def full_pipe() -> tuple[int, int]:
    """Return a pipe that takes no more, so that whoever prints into it waits."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    return read, write


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_signals_while_printing(tmp_path: Path, finished: tuple[bytes, bytes, float], number: int, code: int) -> None:
    """O03, O10: a release that is in its place stays, with exit code 0; a command that only prints ends as ever."""
    prepare(tmp_path)
    read, write = full_pipe()
    process = start(tmp_path, stdout=write)
    while not (tmp_path / "out.csv.manifest.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 0, error
    assert b"everything was written" in error.splitlines()[-1]
    assert (tmp_path / "out.csv").read_bytes() == finished[0]
    words = [sys.executable, "-m", "shoal", "methods"]
    printing = subprocess.Popen(words, stdout=write, stderr=subprocess.PIPE, preexec_fn=block_signals)
    time.sleep(0.3)
    printing.send_signal(number)
    _, error = printing.communicate(timeout=20)
    assert (printing.returncode, error) == (code, b"shoal: interrupted; nothing was written.\n")
    os.close(read)
    os.close(write)


def test_a_signal_while_a_release_is_streamed_is_told_as_it_is(tmp_path: Path) -> None:
    """O10: standard output cannot be taken back. Neither the pipe nor its reader has room for all of the release."""
    prepare(tmp_path)
    words = [sys.executable, "-m", "shoal", "anonymize", str(tmp_path / "data.csv"), "-o", "-", *WORDS]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, pipesize=4096)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"b"
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 143
    assert error.endswith(b"shoal: interrupted; standard output has only a part of the release.\n")


def test_signals_at_random_moments(tmp_path: Path, finished: tuple[bytes, bytes, float]) -> None:
    """O03: the old file or the whole new one, nothing beside it; half of the signals while libraries load."""
    complete, _, seconds = finished
    seed = random.SystemRandom().randrange(10**9)
    moments = random.Random(seed)
    for i in range(2 * KILLS):
        folder = tmp_path / str(i)
        folder.mkdir()
        prepare(folder)
        process = start(folder)
        time.sleep(moments.uniform(0, 0.3) if i % 2 else moments.uniform(0.2, 1.1) * seconds)
        number, code = SIGNALS[i // 2 % 2]
        for _ in range(moments.randint(1, 3)):
            process.send_signal(number)
            time.sleep(moments.uniform(0, 0.02))
        _, error = process.communicate(timeout=60)
        place = f"seed {seed}, signal {i}: {process.returncode} {error.decode()}"
        assert process.returncode in (0, code), place
        assert b"Traceback" not in error, place
        assert process.returncode == 0 or error.endswith(b"shoal: interrupted; nothing was written.\n"), place
        assert (folder / "out.csv").read_bytes() == (complete if process.returncode == 0 else b"old\n"), place
        beside = (*OUTPUTS, *REPORT) if process.returncode == 0 else ("out.csv",)
        assert set(folder_of(folder)) == {"data.csv", *beside}, place
        assert all(path.is_file() for path in folder.iterdir()), place


def test_a_signal_that_the_caller_ignores_is_ignored(tmp_path: Path, finished: tuple[bytes, bytes, float]) -> None:
    """As with nohup, and in the background of a shell."""
    prepare(tmp_path)
    process = started(tmp_path, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + MOVING)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 0
    assert b"interrupted" not in error
    assert (tmp_path / "out.csv").read_bytes() == finished[0]


def worker_of(process: subprocess.Popen[bytes]) -> int:
    """Return the process that works for the one that we started."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")


@needs_proc
def test_a_working_process_that_is_killed_is_cleaned_up_after(tmp_path: Path) -> None:
    """O08, L15: as when the machine runs out of memory."""
    prepare(tmp_path)
    process = started(tmp_path, WAIT)
    os.kill(worker_of(process), signal.SIGKILL)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 6
    assert b"for want of memory" in error
    assert b"nothing was written" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


@needs_proc
def test_a_crash_in_native_code_says_so(tmp_path: Path) -> None:
    """L14: no core dump, no traceback, nothing that a library printed."""
    prepare(tmp_path)
    crash = "import shoal.verification as v, os, signal\n"
    crash += "v.gate = lambda *a, **o: (os.write(2, b'cell of a table'), os.kill(os.getpid(), signal.SIGSEGV))"
    process = start(tmp_path, crash)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 1
    assert error.startswith(b"shoal: SIGSEGV in native code. This is a bug")
    assert b"nothing was written" in error
    assert b"cell" not in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


@needs_proc
def test_nobody_works_on_once_the_first_process_is_killed(tmp_path: Path) -> None:
    """O04: kill -9 of the process that the user sees."""
    prepare(tmp_path)
    process = started(tmp_path, WAIT)
    worker = worker_of(process)
    process.kill()
    process.communicate()
    for _ in range(500):
        if not Path(f"/proc/{worker}").exists() or "Z" in Path(f"/proc/{worker}/stat").read_text().split()[2]:
            break
        time.sleep(0.02)
    else:
        pytest.fail("it works on")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


def test_a_second_run_on_the_same_target_is_refused(tmp_path: Path) -> None:
    """O07: one writes, the other ends with exit code 6."""
    prepare(tmp_path)
    first = started(tmp_path, WAIT)
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(folders) == 2  # that of the release and that of the report
    for private in folders:
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
