"""Every option with every kind of value: a documented exit code, no traceback, no hang, and no cell on stderr.

CI draws 400 command lines, always the same; the nightly run sets SHOAL_OPTIONS to more and draws other ones.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Collection
from dataclasses import fields
from pathlib import Path

import pytest

from shoal.errors import UsageError
from shoal.methods.registry import METHODS, named
from tests.command import Shoal, folder_of, patience
from tests.gate.options import CANARY, draw_line, leaves, make_files, plain_line

EXIT_CODES = {0, 2, 3, 4, 5, 6}
LINES = int(os.environ.get("SHOAL_OPTIONS", "400"))
# SHOAL_OPTIONS_SEED repeats a nightly run from the seed that a failure names.
FIRST = int(os.environ.get("SHOAL_OPTIONS_SEED", "0" if LINES <= 400 else str(random.SystemRandom().randrange(10**9))))
PARTS = 4


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    make_files(folder)
    return folder


@pytest.mark.parametrize("part", range(PARTS))
def test_any_line_ends_with_a_documented_code(
    part: int, files: Path, shoal: Shoal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever is passed, in whatever combination."""
    monkeypatch.chdir(files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inputs = folder_of(files)
    for seed in range(FIRST + part, FIRST + LINES, PARTS):
        line = draw_line(seed)
        if line.config is not None:
            Path("drawn.toml").write_text(line.config, errors="replace")
        with patience():
            ended = shoal(*line.words)
        about = f"SHOAL_OPTIONS_SEED={seed}: {line}\n{ended}"
        assert ended.code in EXIT_CODES, about
        assert "Traceback" not in ended.out + ended.err, about
        assert CANARY not in ended.err, about
        assert all(letter.isprintable() or letter == "\n" for letter in ended.err), about
        assert inputs.items() <= folder_of(files).items(), about
        tidy(files, inputs)


def tidy(folder: Path, inputs: Collection[str]) -> None:
    """Remove what a command wrote."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and str(path.relative_to(folder)) not in inputs:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()) and path.name not in ("o", "folder"):
            path.rmdir()


def test_every_option_is_drawn() -> None:
    """What the parser knows is tried: each command, and nearly each of its options, in the lines of one CI run."""
    drawn = [draw_line(seed).words for seed in range(2000)]
    assert draw_line(7) == draw_line(7)
    for path, parameters in leaves():
        lines = [words for words in drawn if tuple(words[: len(path)]) == path]
        if path[0] in ("demo", "methods"):
            continue
        assert lines, path
        seen = {word.partition("=")[0] for words in lines for word in words}
        options = [p for p in parameters if p.param_type_name == "option"]
        missed = [p.name for p in options if not seen & {*p.opts, *p.secondary_opts}]
        assert len(missed) <= len(options) / 3, (path, missed)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("value", ["x" * 300, "x" * 300 + "/x.csv", "loop", "in.csv/x.csv"])
def test_any_option_takes_the_path_of_no_file(
    engine: str, value: str, files: Path, shoal: Shoal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Names that are too long, a link to itself, and a file as a folder end with a documented code everywhere."""
    monkeypatch.chdir(files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    if not os.path.lexists("loop"):
        Path("loop").symlink_to("loop")
    inputs = folder_of(files)
    for path, parameters in leaves():
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) or (engine == "duckdb" and path != ("anonymize",)):
                continue
            words = plain_line(path, parameters, str(parameter.name), value)
            with patience():
                ended = shoal(*words, *(["--engine", engine] if engine == "duckdb" else []))
            about = f"{words}\n{ended}"
            assert ended.code in EXIT_CODES, about
            assert "Traceback" not in ended.out + ended.err, about
            assert "Errno" not in ended.err, about
            tidy(files, inputs)
    Path("loop").unlink()


ODD_VALUES = ("text", "", "age=1", 5, -1, True, [1], {"a": 1}, {"a": [1]}, {"a": "x"}, None, 1.5, "²", "9" * 5000)


@pytest.mark.parametrize("name", [info.name for info in METHODS])
def test_any_option_of_a_method_is_read_or_refused(name: str) -> None:
    """An option may be a text of the command line, or any value of TOML."""
    for option in fields(type(named(name))):
        for value in ODD_VALUES:
            with contextlib.suppress(UsageError):
                assert named(name, **{option.name: value}).name == name
