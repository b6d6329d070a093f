"""`shoal init -i`, driven in a terminal: a pty, as a person would use it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
import tomllib
from pathlib import Path

import pytest

from shoal.cli.interview import interview
from shoal.profile import profile_table
from shoal.schema import Role
from shoal.tables.formats import read_table
from tests.command import Shoal

SECONDS = 60  # on a busy machine
PROMPT = "]: "
ROLES = {"name": "identifier", "patient_id": "person", "age": "qi", "disease": "sensitive", "ward": "insensitive"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [f"Ann Example{i},p{i // 2},{20 + i % 40},{('flu', 'cold', 'gout')[i % 3]},{i % 4}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join([",".join(ROLES), *rows]) + "\n")
    return tmp_path / "data.csv"


class Terminal:
    """A command in a pseudo-terminal of some width."""

    def __init__(self, *words: object, columns: int = 80) -> None:
        self._ours, theirs = pty.openpty()
        self._rest = ""
        environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb"}
        command = [sys.executable, "-m", "shoal", *map(str, words)]
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
        )
        os.close(theirs)
        self.text = ""

    def until(self, wanted: str) -> str:
        """Read until a text appears; return all that was read."""
        end = time.monotonic() + SECONDS
        while wanted not in self._rest:
            ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.monotonic()))
            try:
                block = os.read(self._ours, 4096) if ready else b""
            except OSError:  # the other end is closed
                block = b""
            assert block, f"{wanted!r} did not appear after: {self._rest}"
            self._rest += block.decode()
        read, _, self._rest = self._rest.partition(wanted)
        return read + wanted

    def answer(self, *lines: str) -> None:
        """Answer one prompt after the other."""
        for line in lines:
            self.text += self.until(PROMPT)
            os.write(self._ours, f"{line}\n".encode())

    def type(self, letters: bytes) -> None:
        os.write(self._ours, letters)

    def end(self) -> int:
        """Wait for the end; return the exit code."""
        try:
            while True:
                ready, _, _ = select.select([self._ours], [], [], SECONDS)
                block = os.read(self._ours, 4096) if ready else b""
                if not block:
                    break
                self._rest += block.decode()
        except OSError:
            pass
        self.text += self._rest
        os.close(self._ours)
        return self.process.wait(SECONDS)


def roles_of(path: Path) -> dict[str, str]:
    return {name: column["role"] for name, column in tomllib.loads(path.read_text())["columns"].items()}


def test_enter_accepts_every_proposal_and_writes_the_same_file(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    asked, plain = tmp_path / "asked.toml", tmp_path / "plain.toml"
    assert shoal("init", data, "-o", plain).code == 0
    proposed = {column.name: column.proposal for column in profile_table(read_table(data)).columns}
    terminal = Terminal("init", data, "-i", "-o", asked)
    terminal.answer(*[""] * len(ROLES))
    assert terminal.end() == 0, terminal.text
    if not any(getattr(proposal, "decide", False) for proposal in proposed.values()):
        assert asked.read_text() == plain.read_text()
    assert roles_of(asked) == roles_of(plain)
    for number, name in enumerate(ROLES, 1):
        assert f"{number} of {len(ROLES)}: {name}" in terminal.text
    assert "\nWritten:" in terminal.text.replace("\r", "")


def test_keys_choose_back_returns_and_the_rest_is_accepted(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "shoal.toml"
    proposed = {column.name: str(column.proposal.role) for column in profile_table(read_table(data)).columns}
    terminal = Terminal("init", data, "-i", "-o", out, columns=50)
    # name: d; patient_id: p; age: i, then back and q; disease: not a key, help, s; the rest.
    terminal.answer("d", "P", "i", "b", "q", "x", "?", " s ", "r")
    assert terminal.end() == 0, terminal.text
    assert roles_of(out) == {**ROLES, "ward": proposed["ward"]}
    assert "Not a key." in terminal.text
    assert terminal.text.count("3 of 5: age") == 2
    lines = terminal.text.replace("\r", "").splitlines()
    assert max(map(len, lines[: lines.index(next(line for line in lines if line.startswith("Written")))])) <= 50


@pytest.mark.parametrize("key", [b"\x03", b"\x04"])
def test_interrupting_writes_nothing(data: Path, tmp_path: Path, key: bytes) -> None:
    """Ctrl-C, and Ctrl-D, which ends like it."""
    out = tmp_path / "shoal.toml"
    terminal = Terminal("init", data, "-i", "-o", out)
    terminal.answer("q")
    terminal.until(PROMPT)
    terminal.type(key)
    assert terminal.end() == 130
    assert "nothing was written" in terminal.text
    assert not out.exists()


def test_without_a_terminal_the_error_says_what_to_do(data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shoal", "init", str(data), "-i", "-o", str(tmp_path / "shoal.toml")]
    ended = subprocess.run(command, input="q\n", capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 2
    assert "is not a terminal" in ended.stderr
    assert "leave out -i" in ended.stderr
    assert not (tmp_path / "shoal.toml").exists()


def test_one_column_can_be_the_person(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = profile_table(read_table(data))
    keys = iter(["p", "q", "p", "", "p"])
    settings = interview(profile, lambda _: next(keys))
    assert settings.person == "ward"
    assert set(settings.drop) >= {"age"}
    assert settings.qi == ("patient_id",)
    assert "'age' was the person column; it is dropped now." in capsys.readouterr().err


def test_only_what_differs_is_decided(data: Path) -> None:
    profile = profile_table(read_table(data))
    age = next(column for column in profile.columns if column.name == "age")
    assert age.proposal.role is Role.QI
    keys = iter(["", "", "q", "r"])
    assert interview(profile, lambda _: next(keys)).qi == ()
