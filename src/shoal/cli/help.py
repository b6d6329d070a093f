"""The help of commands, laid out for the width of the terminal: whole words, and no option is shortened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.core

from shoal.cli import layout, terminal
from shoal.cli.quick import quicken
from shoal.settings.fields import Panel

__all__ = ["CommandHelp", "GroupHelp"]

EXAMPLE, BACKSLASH = "Example:", "\\"


class _LaidOut:
    """Lays out the help of a command, and takes plain values of its parameters as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words of a command line."""
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            quicken(parameter)
        return super().parse_args(ctx, args)  # type: ignore[misc]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write("\n".join(_help(self, ctx)) + "\n")


class CommandHelp(_LaidOut, typer.core.TyperCommand):
    """A command that lays out its own help."""


class GroupHelp(_LaidOut, typer.core.TyperGroup):
    """A group of commands that lays out its own help, and shows it if no command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words of a command line."""
        if not args and not ctx.resilient_parsing:
            terminal.say(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)


def _help(command: Any, ctx: Any) -> Iterator[str]:
    """Yield the lines of a command's help: usage, what it does, arguments, options by panel, commands."""
    parameters = [each for each in command.get_params(ctx) if not getattr(each, "hidden", False)]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    has_commands = hasattr(command, "commands")
    needed = [_name(each) if each.required else f"[{_name(each)}]" for each in arguments]
    yield from layout.wrap(
        " ".join(["Usage:", ctx.command_path, *needed, "[OPTIONS]", *["COMMAND"] * has_commands]), _width()
    )
    yield from _prose(command.help or "")
    panels: dict[str, list[tuple[str, str]]] = {Panel.MAIN: []}
    for each in parameters:
        if each.param_type_name == "option":
            panels.setdefault(getattr(each, "rich_help_panel", None) or Panel.MAIN, []).append(_option(each))
    listed = {"Arguments": [(_name(each), each.help or "") for each in arguments], **panels}
    if has_commands:
        listed["Commands"] = [(name, each.help.partition("\n\n")[0]) for name, each in command.commands.items()]
    for title, pairs in listed.items():
        if pairs:
            yield from ("", f"{title}:", *(f"  {line}" for line in layout.facts(pairs, _width() - 2)))


def _width() -> int:
    return min(terminal.width(), 100)  # longer lines are hard to read


def _prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; examples stay lines of their own, indented and complete."""
    for paragraph in text.replace("\f", "").split("\n\n"):
        yield ""
        lines = [line.strip() for line in paragraph.splitlines()]
        if any(line.startswith(EXAMPLE) for line in lines):
            yield "Examples:" if len(lines) > 1 else EXAMPLE
            yield from (part for line in lines for part in _command(line.removeprefix(EXAMPLE).strip()))
        else:
            yield from layout.wrap(" ".join(lines), _width())


def _command(words: str) -> list[str]:
    """Return a command as lines to copy: a line that is too long continues after a backslash."""
    parts = layout.wrap(words, _width() - 6)
    return [
        f"  {'  ' * (i > 0)}{part}{' ' + BACKSLASH if part is not parts[-1] else ''}" for i, part in enumerate(parts)
    ]


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper()


def _option(option: Any) -> tuple[str, str]:
    """Return how an option is written, and what it does."""
    spellings = ", ".join([*sorted(option.opts, key=len), *option.secondary_opts])
    value = "" if option.is_flag or option.count else f" {option.metavar or option.name.upper()}"
    help_text = option.help or ""
    if option.show_default and option.default not in (None, False, (), []) and not option.is_flag:
        help_text += f" Default: {option.default}."
    return f"{spellings}{value}", help_text
