"""Every command that prints a table, at the widths of real terminals: whole words, nothing shortened."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from shoal.cli import terminal
from shoal.cli.commands.init import print_profile
from shoal.profile import profile_table
from shoal.tables.formats import read_table
from tests.command import Shoal

WIDTHS = (40, 60, 80, 120, 200)
LONG = "employment_title_as_given_by_the_borrower_at_origination"
N_COLUMNS, N_ROWS = 53, 40
QI = f"{LONG},age,sex"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 53 columns, some with long names, and a release of three of them."""
    folder = tmp_path_factory.mktemp("widths")
    names = [LONG, "age", "sex", *(f"measurement_{i:02d}_of_the_annual_survey" for i in range(N_COLUMNS - 3))]
    rows = [
        [f"job{i % 4}", str(20 + i % 9), "fm"[i % 2], *(str((i * j) % 7) for j in range(N_COLUMNS - 3))]
        for i in range(N_ROWS)
    ]
    (folder / "data.csv").write_text("\n".join(",".join(row) for row in (names, *rows)) + "\n")
    released = [[f"{{job{i % 2}, job{i % 2 + 2}}}", "[20, 28]", "*"] for i in range(N_ROWS)]
    texts = [",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in released]
    (folder / "out.csv").write_text(f"{QI}\n" + "\n".join(texts) + "\n")
    levels = "".join(f"job{i};a rather long name of an occupational group;*\n" for i in range(4))
    (folder / "jobs.csv").write_text(levels)
    return folder


COMMANDS = {
    "compare": ("compare", "data.csv", "--qi", QI, "--methods", "mondrian,euclidean", "-k", "2,5"),
    "advise": ("advise", "data.csv", "--qi", QI, "--methods", "mondrian", "-k", "2,5"),
    "risk": ("risk", "out.csv", "--qi", QI, "--original", "data.csv"),
    "evaluate": ("evaluate", "data.csv", "out.csv", "--qi", QI, "--queries", "20"),
    "measure": ("measure", "data.csv", "out.csv", "--qi", QI),
    "describe": ("describe", "out.csv", "--qi", "age,sex", "--sensitive", LONG),
    "anonymize": ("anonymize", "data.csv", "--dry-run", "-k", "5", "--qi", QI, "--others", "drop"),
    "methods": ("methods",),
    "hierarchy": ("hierarchy", "show", "jobs.csv"),
    "simulate": ("simulate", "data.csv", "--qi", QI, "-k", "2", "--repetitions", "3"),
}
SENTENCES = ("compare", "advise", "hierarchy")  # what they say beside the table is wrapped on a terminal only


def check(printed: Mapping[int, str], *, sentences: bool = False) -> None:
    """Check what a command printed at each width."""
    for width, text in printed.items():
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        too_long = [line for line in text.splitlines() if cell_len(line) > width]
        assert sentences or not too_long
    words = {width: set(text.split()) for width, text in printed.items()}
    heads = {"distribution", "why"}  # of what stands below a row
    assert not {word for word in words[200] - words[60] - heads if word.isalpha()}, "every word is whole"


@pytest.mark.parametrize("command", COMMANDS)
def test_tables_fit_the_terminal_in_whole_words(
    shoal: Shoal, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(folder)
    printed = {}
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        runs = ("--jobs", 1, "--cache", tmp_path / "cache") if command in ("compare", "advise") else ()
        ended = shoal(*COMMANDS[command], *runs)
        assert ended.code == 0, ended.err
        printed[width] = ended.out
    check(printed, sentences=command in SENTENCES)


def test_profile_of_many_columns_fits_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = profile_table(read_table(folder / "data.csv"))
    profile = replace(profile, warnings=())
    printed = {}
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        print_profile(profile)
        printed[width] = capsys.readouterr().out
    check(printed)
    for width, n_blocks in ((40, N_COLUMNS), (60, 0), (200, 0)):
        assert sum(line.startswith("  role ") for line in printed[width].splitlines()) == n_blocks
    assert all(text.split()[:3] == ["column", "role", "kind"] for text in (printed[60].partition("\n")[2],))


def test_notes_fit_the_terminal_of_standard_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where standard output goes to a file, its width tells nothing."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs, "w") as screen, (tmp_path / "out").open("w") as file:
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("4H", 24, 50, 0, 0))
        monkeypatch.delenv("COLUMNS", raising=False)
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "__stdout__", file)
        assert (terminal.width(err=True), terminal.width()) == (50, 80)
