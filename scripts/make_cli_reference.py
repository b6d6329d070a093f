"""Generate docs/reference/cli.md from the help of the commands; --check exits with 1 if the file is out of date."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from shoal.cli.main import make_app

PATH = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"


def reference() -> str:
    """Return the page as Markdown."""
    group: Any = typer.main.get_command(make_app())
    parts = [
        "# Command line",
        "Made from the commands' own help by `python scripts/make_cli_reference.py`. Exit codes: [errors](errors.md).",
        _options(group),
    ]
    return "\n\n".join([*parts, *_commands(group, "shoal")]) + "\n"


def _commands(group: Any, above: str) -> Iterator[str]:
    """Yield the sections of every command of a group, including its subgroups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{above} {name}")
            continue
        arguments = [p.name.upper() for p in command.params if p.param_type_name == "argument"]
        words = " ".join([above, name, *arguments, "[options]"])
        yield from (f"## {above} {name}", f"`{words}`", _prose(command.help), _options(command))


def _prose(text: str) -> str:
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(re.sub(r"^Example: (.*)$", r"Example: `\1`", paragraph) for paragraph in paragraphs)


def _options(command: Any) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for parameter in command.params:
        if parameter.param_type_name == "option":
            words = ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
            rows.append(f"| {words} | {parameter.help} |")
        else:
            rows.append(f"| `{parameter.name.upper()}` | {parameter.help} |")
    return "\n".join(rows)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PATH.read_text() != reference())
    PATH.write_text(reference())
