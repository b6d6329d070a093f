"""The help of every command at the widths of real terminals."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from shoal.cli.main import COMMANDS, make_app
from tests.command import Shoal

APP: Any = typer.main.get_command(make_app())


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in APP.commands.items():
        yield (name,), command
        for inner, each in getattr(command, "commands", {}).items():
            yield (name, inner), each


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_help_fits_and_shortens_nothing(shoal: Shoal, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for path, command in commands():
        ended = shoal(*path, "--help")
        assert ended.code == 0, ended.err
        assert "\N{HORIZONTAL ELLIPSIS}" not in ended.out
        assert all(len(line) <= width for line in ended.out.splitlines()), path
        words = {word.rstrip(",") for word in ended.out.split()}
        for parameter in command.params:
            if parameter.param_type_name == "option":
                missing = {word for word in (*parameter.opts, *parameter.secondary_opts) if len(word) < width} - words
                assert not missing, path
        assert {word.rstrip(",") for word in command.help.split("\n\n")[0].split()} <= words, path


def test_every_command_shows_an_example_that_can_be_copied(shoal: Shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for path, command in commands():
        if path[0] in ("demo", "methods") or hasattr(command, "commands"):
            continue
        text = shoal(*path, "--help").out
        example = text.partition("Example")[2].partition(":\n")[2].partition("\n\n")[0]
        words = shlex.split(example.replace("\\\n", " ").splitlines()[0])
        assert words[: len(path) + 1] == ["shoal", *path]
        options = {spelling for each in command.params for spelling in (*each.opts, *each.secondary_opts)}
        assert {word for word in words if word.startswith("-") and word != "-"} <= options


def test_first_help_names_what_to_try_first(shoal: Shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = shoal("--help").out
    assert text.index("shoal demo") < text.index("shoal init data.csv -i") < text.index("Commands:")
    assert all(f"\n  {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("words", [(), ("hierarchy",)])
def test_help_appears_where_a_command_is_missing(shoal: Shoal, words: tuple[str, ...]) -> None:
    ended = shoal(*words)
    assert (ended.code, ended.out) == (2, "")
    first, *lines = ended.err.splitlines()
    assert first.startswith("Usage: ")
    assert first.endswith(" ".join([*words, "[OPTIONS] COMMAND"]))
    assert "Commands:" in lines
