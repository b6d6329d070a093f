"""The `shoal` command: its sub-commands, and the exit code of every way in which one can end."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any, NoReturn

import typer

from shoal.cli import terminal
from shoal.cli.help import CommandHelp, GroupHelp
from shoal.cli.streams import spooling, tolerant_streams
from shoal.cli.supervisor import MEMORY_CURE, UNTOUCHED, WRITTEN, is_about_memory, memory_limit
from shoal.errors import InternalError, ShoalError, UsageError, place_of
from shoal.tables.sources.url import hide, is_url
from shoal.tables.targets import witness

__all__ = ["COMMANDS", "make_app", "run"]

# The summary of each command for --help, so that it need not load the commands; a test compares them.
COMMANDS = {
    "demo": "Anonymise the built-in table of 5,000 invented hospital patients and show the result.",
    "init": "Profile a table: propose a role and kind for every column and write them, with reasons, as a shoal.toml.",
    "anonymize": "Turn a table into one in which every row has at least k-1 look-alikes, and verify the written file.",
    "verify": "Check whether every row of a file has k-1 look-alikes in its quasi-identifiers: yes or no.",
    "describe": "Say which k, l, t, alpha and beta a file reaches.",
    "measure": "Score a release: how much information it lost, and how large its groups are.",
    "explain": "Say why the cells of a row are as wide as they are: its group, its neighbours, and what else is "
    "possible.",
    "risk": "Estimate how easily people are found in a release: prosecutor, journalist and marketer risk, and uniques.",
    "compare": "Anonymise a table by several methods, with several k and seeds, and compare loss, risk, time and "
    "memory.",
    "advise": "Try many k and recommend one, with the reason in words: your limits, accuracy, the knee of loss and "
    "risk.",
    "evaluate": "Test what a release is still good for: range queries, statistics and, with a target, learners and "
    "trees.",
    "simulate": "Estimate before any recoding whether k is within reach: draw random tables and count their groups.",
    "serve": "Open the workbench in a browser: load a table, see who is at risk, set the goal, run, and take the "
    "release.",
    "keygen": "Make a pair of Ed25519 keys: the private one signs releases, the public one checks their signatures.",
    "methods": "List the methods, each with one line, its paper and its models.",
    "hierarchy": "Show, propose and convert hierarchies, and list the built-in ones.",
}


class Commands(GroupHelp):
    """The commands; what they say about wrong arguments is safe to print."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the options before the command."""
        with terminal.escaped_usage():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Parse the options of the command and run it."""
        with terminal.escaped_usage():
            return super().invoke(ctx)


ABOUT: dict[str, Any] = {
    "name": "shoal",
    "cls": Commands,
    "help": "Give every row of a table at least k-1 look-alikes, keep its information, and prove both on the file.\n\n"
    "Start with shoal demo. With a table of your own, shoal init -i asks for the role of each column, and shoal "
    "anonymize makes the release. Every command has its own help: shoal anonymize --help.\n\n"
    "Example: shoal demo\nExample: shoal init data.csv -i\n"
    "Example: shoal anonymize data.csv -o out.csv --config shoal.toml\n"
    "Example: shoal anonymize data.csv -o out.csv -k 5 --qi age,sex --sensitive disease --others drop\n\n"
    "Exit codes: 0 done and verified; 1 bug in shoal; 2 usage or configuration; 3 bad input data; 4 the goal cannot "
    "be reached; 5 verification failed; 6 input or output; 130, 143 interrupted. On any code other than 0 the output "
    "file is unchanged.",
    "rich_markup_mode": "rich",
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


def make_app(loaded: Collection[str] = tuple(COMMANDS)) -> typer.Typer:
    """Return the command line with some of its commands loaded.

    Args:
        loaded: The commands to load; of the others it has only the names and summaries.
    """
    app = typer.Typer(**ABOUT)
    app.callback()(main)
    for name, summary in COMMANDS.items():
        if name not in loaded:
            app.command(name, help=summary, cls=CommandHelp)(_unloaded)
            continue
        module = importlib.import_module(f"shoal.cli.commands.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, cls=CommandHelp)(getattr(module, name))
    return app


def _unloaded() -> None:
    raise InternalError("a command was called that is not loaded.")


def _version(wanted: bool) -> None:
    if wanted:
        from shoal import __version__

        terminal.say(f"shoal {__version__}")
        raise typer.Exit


def main(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks. They may contain cells: for your eyes only."),
) -> None:
    """Define the options before a command."""
    if debug:
        terminal.say("shoal: --debug: tracebacks may contain cells of the table; do not share them.", err=True)


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code: on any code but 0, every output is as it was.

    Args:
        arguments: The words of the command line; those of the process by default.
    """
    words = [hide(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    if arguments is None:
        terminal.show_any_text()
    terminal.remember_names(words)
    observer = witness.current()
    observer.is_published = False
    with tolerant_streams() as output:
        code, message = _call(words)
        output.flush()
        if observer.is_published and code != 0:
            code, message = 0, f"{message} Everything was written, but the result was not printed completely."
        elif code == 0 and output.lost is not None and output.lost.errno != errno.EPIPE:
            code, outcome = (0, WRITTEN) if observer.is_published else (6, UNTOUCHED)
            message = f"standard output: the result cannot be printed: {output.lost.strerror}; {outcome}."
        if message:
            terminal.say(f"shoal: {message}", err=True)
    sys.exit(code)


def _call(words: list[str]) -> tuple[int, str]:
    """Run a command; return its exit code and what remains to be said about it."""
    try:
        _refuse_urls(words)
        # No option before a command has a value, so the first word without a dash is the command.
        with spooling():
            _command(next((word for word in words if not word.startswith("-")), ""))(words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return code, f"interrupted; {UNTOUCHED}." if code == 130 else ""
    except KeyboardInterrupt:
        return 130, f"interrupted; {UNTOUCHED}."
    except BaseException as error:  # a panic of native code is not an Exception
        if any(_is_about_memory(cause) for cause in _causes(error)):
            return 6, f"not enough memory; {UNTOUCHED}. {MEMORY_CURE}"
        if isinstance(error, ShoalError):
            return error.exit_code, error.for_command_line()
        if "--debug" in words:
            raise
        what = f"{type(error).__name__} in {place_of(error)}"
        if limit := memory_limit():  # libraries that get no memory fail in many ways
            reason = f"not enough memory: {what}, where the memory of a process is limited to {limit >> 20:,} MB"
            return 6, f"{reason} (ulimit -v); {UNTOUCHED}. {MEMORY_CURE}"
        return 1, (
            f"{what}. This is a bug in shoal; {UNTOUCHED}. "
            "Please report it with this line; --debug before the command shows more."
        )
    return 0, ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_about_memory(error: BaseException) -> bool:
    if isinstance(error, ShoalError):
        return False  # its words are ours
    is_refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or is_refused or is_about_memory(str(error))


@cache
def _command(name: str) -> Callable[[list[str]], object]:
    """Return the command line with one command loaded; the cache saves building it again for every call."""
    return typer.main.get_command(make_app([name]))


def _refuse_urls(arguments: list[str]) -> None:
    """Refuse the URL of a table on a server in commands that read only files."""
    if "anonymize" not in arguments:
        for word in arguments:
            if is_url(word):
                raise UsageError(f"{word}: only shoal anonymize reads tables of a server. Pass a file here.")
