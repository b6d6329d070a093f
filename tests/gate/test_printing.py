"""Printing that fails: a reader that is gone, a full disk, closed streams. Files and exit codes mean what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import PATIENTS, ROLES, Shoal, folder_of

FILES = {"out.csv", "out.csv.dictionary.json", "out.csv.dictionary.md", "out.csv.manifest.json"}
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")


def run(words: list[str], redirections: str) -> subprocess.CompletedProcess[bytes]:
    """Run shoal with the redirections of a shell."""
    script = f'exec "$@" {redirections}'
    shell = ["/bin/sh", "-c", script, "sh", sys.executable, "-m", "shoal", *words]
    return subprocess.run(shell, capture_output=True, check=False)


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "data.csv").write_text(PATIENTS)
    return ["anonymize", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out.csv"), "-k", "2", *ROLES]


@needs_full
@pytest.mark.parametrize(
    ("redirections", "message"),
    [
        (">/dev/full", b"the result cannot be printed: No space left on device; everything was written."),
        (">/dev/full 2>/dev/full", b""),
        (">&-", b""),
        (">&- 2>&- <&-", b""),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_finished_release_stays_and_is_told(
    tmp_path: Path, words: list[str], redirections: str, message: bytes, as_json: bool
) -> None:
    """O10: exit code 0, all files, no traceback, and no word of a bug or of nothing written."""
    ended = run([*words, *(["--json"] if as_json else [])], redirections)
    assert ended.returncode == 0, ended.stderr
    assert set(folder_of(tmp_path)) == {"data.csv", *FILES}
    assert message in ended.stderr
    for lie in (b"nothing was written", b"bug", b"Traceback"):
        assert lie not in ended.stderr


@pytest.mark.parametrize("word", ["anonymize", "measure", "methods"])
def test_a_reader_that_is_gone_changes_nothing(tmp_path: Path, words: list[str], word: str) -> None:
    """O10: `| head -0`. Exit code 0 and no word, whatever the command."""
    measure = ["measure", str(tmp_path / "data.csv"), str(tmp_path / "data.csv"), "--qi", "age,sex"]
    commands = {"anonymize": words, "measure": measure, "methods": ["methods"]}
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([sys.executable, "-m", "shoal", *commands[word]], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert b"Traceback" not in error
    assert b"Broken" not in error
    assert set(folder_of(tmp_path)) == {"data.csv", *(FILES if word == "anonymize" else ())}


@needs_full
def test_a_command_that_only_prints_ends_with_6_on_a_full_disk(tmp_path: Path, words: list[str]) -> None:
    """Its result is lost. A verdict of no is still a no."""
    ended = run(["methods"], ">/dev/full")
    assert ended.returncode == 6
    assert ended.stderr == (
        b"shoal: standard output: the result cannot be printed: No space left on device; nothing was written.\n"
    )
    verify = ["verify", str(tmp_path / "data.csv"), "-k", "5", "--qi", "age,sex,zip", "--header"]
    assert run(verify, ">/dev/full").returncode == 5
    streamed = [word if word != str(tmp_path / "out.csv") else "-" for word in words]
    ended = run(streamed, ">/dev/full")
    assert ended.returncode == 6
    assert b"-: cannot be written: No space left on device" in ended.stderr
    assert set(folder_of(tmp_path)) == {"data.csv"}


def test_no_output_goes_into_a_file_that_took_the_place_of_a_stream(tmp_path: Path, words: list[str]) -> None:
    """With standard output closed, the next file that is opened would have its number."""
    assert run(words, "").returncode == 0
    expected = (tmp_path / "out.csv").read_bytes()
    assert run([*words, "--force"], "<&- >&- 2>&-").returncode == 0
    assert (tmp_path / "out.csv").read_bytes() == expected


def test_a_fault_after_the_files_are_in_place_is_no_failure(
    shoal: Shoal, tmp_path: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any exit code but 0 the outputs are as they were, so a bug in printing is told and ends with 0."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("cell of a table")

    monkeypatch.setattr("shoal.cli.terminal.print_release", fail)
    ended = shoal(*words)
    assert ended.code == 0
    assert "ZeroDivisionError" in ended.err
    assert "Everything was written, but the result was not printed completely." in ended.err
    assert "cell of a table" not in ended.err
    assert set(folder_of(tmp_path)) == {"data.csv", *FILES}
