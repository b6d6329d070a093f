"""The `shoal` command: its sub-commands, and the exit code of every way in which one can end."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import typer

from shoal.cli import (
    advise,
    anonymize,
    compare,
    demo,
    evaluate,
    hierarchy,
    init,
    measure,
    methods,
    risk,
    simulate,
    verify,
)
from shoal.errors import ShoalError, UsageError, place_of
from shoal.sources.url import hide, is_url

__all__ = ["app", "run"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)

app = typer.Typer(
    name="shoal",
    help="Give every row of a table at least k-1 look-alikes, keep its meaning, and prove both on the file.\n\n"
    "First try: [bold]shoal demo[/bold]. Then: [bold]shoal anonymize data.csv -o out.csv -k 5 --qi age,sex,zip "
    "--sensitive disease --others drop[/bold].\n\n"
    "Exit codes: 0 done and verified; 1 bug in shoal; 2 usage or configuration; 3 bad input data; 4 the goal cannot "
    "be reached; 5 verification failed; 6 input or output; 130, 143 interrupted. On any code but 0 the output is as "
    "it was.",
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("anonymize")(anonymize.anonymize)
app.command("verify")(verify.verify)
app.command("measure")(measure.measure)
app.command("risk")(risk.risk)
app.command("compare")(compare.compare)
app.command("advise")(advise.advise)
app.command("evaluate")(evaluate.evaluate)
app.command("simulate")(simulate.simulate)
app.command("methods")(methods.methods)
app.add_typer(hierarchy.app, name="hierarchy")


def _version(wanted: bool) -> None:
    if wanted:
        from shoal import __version__

        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks. They may hold cells: for your eyes only."),
) -> None:
    """Carry the options that stand before a command."""
    if debug:
        typer.echo("shoal: --debug: tracebacks may hold cells of the table; do not pass them on.", err=True)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code.

    Where the words are given, the process is another's: it gets its handlers of signals back.
    """
    before = {} if arguments is None else {number: signal.getsignal(number) for number in SIGNALS}
    arguments = [hide(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    signal.signal(signal.SIGTERM, _terminated)
    try:
        _refuse_urls(arguments)
        app(arguments)
    except ShoalError as error:
        typer.echo(f"shoal: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("shoal: interrupted; nothing was written.", err=True)
        sys.exit(130)
    except MemoryError:
        typer.echo("shoal: not enough memory for this table. Use a machine with more, or fewer columns.", err=True)
        sys.exit(6)
    except Exception as error:
        if "--debug" in arguments:
            raise
        place = place_of(error)
        typer.echo(
            f"shoal: {type(error).__name__} in {place}. This is a bug in shoal; nothing was written. "
            "Please report it with this line; --debug before the command shows more.",
            err=True,
        )
        sys.exit(1)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse_urls(arguments: list[str]) -> None:
    """Refuse the URL of a table where a command takes files alone."""
    if "anonymize" not in arguments:
        for word in arguments:
            if is_url(word):
                raise UsageError(f"{word}: tables of a database are for shoal anonymize. Give a file here.")


def _terminated(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
