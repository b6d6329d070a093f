"""The command line in this process, for tests: its output and exit code, and a small table."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from shoal.cli.main import run


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Shoal = Callable[..., Outcome]
PATIENCE = 60  # seconds of CPU until a command counts as hanging


class Hang(BaseException):
    """A command that does not end."""


@contextmanager
def patience() -> Iterator[None]:
    """Interrupt what computes too long; the time that other processes take does not count."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture
def shoal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shoal:
    """Run `shoal` with these words."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("POLARS_MAX_THREADS", "2")

    def call(*words: object) -> Outcome:
        capsys.readouterr()
        code: object = 0
        try:
            run([str(word) for word in words])
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return Outcome(int(code or 0), printed.out, printed.err)  # type: ignore[call-overload]

    return call


PATIENTS = """name,age,sex,zip,disease
Ada,35,Female,02139,broken leg
Bob,35,Male,02140,flu
Cyd,36,Female,02139,HIV
Dan,37,Female,02138,ulcer
Eve,37,Male,02140,gastritis
Fay,38,Female,02139,pneumonia
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A table of six patients."""
    path = tmp_path / "data.csv"
    path.write_text(PATIENTS)
    return path


ROLES = ("--qi", "age,sex,zip", "--sensitive", "disease", "--drop", "name")


def folder_of(path: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes, so that two states can be compared."""
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
