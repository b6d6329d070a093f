"""Output of the commands: progress and notes on stderr, results on stdout.

Everything that a command prints passes through here, where names of files and columns lose their power over the
terminal: control characters, escape sequences and changes of direction are shown escaped, and no name is markup.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli import layout
from shoal.cli.supervisor import say_if_interrupted
from shoal.errors import Note, for_command_line, visible
from shoal.tables import watch
from shoal.tables.watch import STAGES

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from rich.text import Text

    from shoal.report.summary import ReleaseLike
    from shoal.tables.targets.file import ReportTarget

LINE_BREAK = re.compile(r"[\r\n]")
# Names on the command line that contain line breaks, and how they are shown; a message may have lines of its own.
_broken_names: dict[str, str] = {}
# Files that the user did not name, and what to call them.
_called: dict[str, str] = {}

LEAST_WIDTH, USUAL_WIDTH = 20, 80
BAR_WIDTH = 24
LEAST_SECONDS = 2  # of a run, before it shows how long the rest takes


def show_any_text() -> None:
    """Show letters that the encoding of the terminal lacks as escapes; they must not end a finished run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def call_it(path: Path, words: str) -> None:
    """Call a file by other words than its path in everything that is printed."""
    _called[str(path)] = words


def spelled(place: Path | str) -> str:
    """Return how to name a table on the command line: - for the copy of standard input."""
    return "-" if str(place) in _called else str(place)


def remember_names(arguments: Sequence[str]) -> None:
    """Remember the names among the arguments that contain line breaks, which would read as lines of a message."""
    _broken_names.clear()
    _called.clear()
    for word in arguments:
        if LINE_BREAK.search(word):
            parts = {word, *word.split("="), *word.split(","), word.partition("=")[2]}
            for name in {*parts, *map(os.path.basename, parts)}:
                if LINE_BREAK.search(name) and name.strip():
                    _broken_names[name] = visible(name, keep="")


def shown(text: str) -> str:
    """Return a text as a terminal may show it: lines of letters, and nothing that it would obey."""
    for name in sorted(_broken_names, key=len, reverse=True):
        text = text.replace(name, _broken_names[name])
    return visible(_with_called(text))


def _with_called(text: str) -> str:
    for path, words in _called.items():
        text = text.replace(path, words)
    return text


@contextmanager
def escaped_usage() -> Iterator[None]:
    """Escape what the parser of the command line says about a wrong argument."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            message = error.format_message()
            error.format_message = lambda: shown(message)
        raise


def say(text: str, *, err: bool = False) -> None:
    """Print a text; a terminal gets lines of whole words, a file or another program the text as it is."""
    stream = sys.stderr if err else sys.stdout
    text = shown(text)
    typer.echo("\n".join(layout.wrap(text, width(err=err))) if stream.isatty() else text, err=err)


def say_command(command: str, *, err: bool = False) -> None:
    """Print a command to copy; it is one line, however long."""
    typer.echo(f"  {shown(command)}", err=err)


def width(*, err: bool = False) -> int:
    """Return the columns of the terminal of standard output or, with `err`, of standard error; 80 if it is none."""
    fallback = USUAL_WIDTH
    if err:  # its terminal counts where standard output goes to a file
        with suppress(OSError, ValueError):
            fallback = os.get_terminal_size(sys.stderr.fileno()).columns
    return max(LEAST_WIDTH, shutil.get_terminal_size((fallback, 24)).columns)


def label(text: str) -> Text:
    """Return a text for the trees that `draw` prints; nothing in it is markup."""
    from rich.text import Text

    return Text(shown(text))


def draw(content: RenderableType) -> None:
    """Print a tree on stdout."""
    from rich.console import Console

    Console(width=width()).print(content)


@contextmanager
def progress(
    stages: Mapping[str, float] = STAGES,
) -> Iterator[tuple[Callable[[str], None], Callable[[float], None]]]:
    """Show a progress bar on a terminal, with the time that the rest will take.

    Args:
        stages: The stages in order, with the share of the time that each takes.

    Yields:
        Two functions: call one with the name of each stage as it begins, the other with the share of it that is done.
    """
    if not sys.stderr.isatty():
        yield (lambda name: None), (lambda share: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    first, done = next(iter(stages)), watch.Progress(stages)
    done.update(first, 0.0)

    class Remaining(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(remaining_in_words(done), style="dim")

    columns = (TextColumn("{task.description:<22}"), BarColumn(BAR_WIDTH), TimeElapsedColumn(), Remaining())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=1)

        def report(stage: str, share: float) -> None:
            done.update(stage, share)
            bar.update(task, description=stage, completed=done.fraction)

        yield (lambda stage: report(stage, 0.0)), (lambda share: report(done.stage, share))


def remaining_in_words(done: watch.Progress) -> str:
    """Return about how long the rest of a run takes; nothing as long as nobody can tell."""
    left = done.remaining
    if left is None or done.seconds < LEAST_SECONDS:
        return ""
    return f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left"


@contextmanager
def counting() -> Iterator[Callable[[int, int, str], None]]:
    """Show on a terminal how many runs of a comparison are done; an interruption reports how to continue.

    Yields:
        A function to call with the number of finished runs, the number of all runs and the label of the last one.
    """
    remark = ""

    def note(finished: int, of: int, label: str) -> None:
        nonlocal remark
        remark = f"{finished} of {of} runs are done; the same command continues from there."
        say_if_interrupted(remark)

    try:
        if not sys.stderr.isatty():
            yield note
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        label_column = TextColumn("{task.description}", markup=False)
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), label_column)
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("")

            def show(finished: int, of: int, label: str) -> None:
                note(finished, of, label)
                bar.update(task, completed=finished, total=of, description=shown(label))

            yield show
    except KeyboardInterrupt:
        say(f"shoal: {remark}", err=True)
        raise


def say_notes(notes: Iterable[str]) -> None:
    """Print notes on stderr."""
    for note in notes:
        say(f"shoal: {for_command_line(note)}", err=True)


def print_json(content: dict[str, Any] | list[Any]) -> None:
    """Print one JSON value on stdout; notes in it spell settings as options."""
    text = _with_called(json.dumps(_spelled(content), ensure_ascii=False))
    # Inside JSON, an escaped letter is still that letter.
    typer.echo("".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text))


def print_timed_json(content: dict[str, Any], began: float, **files: Path | str | None) -> None:
    """Print figures as JSON with the seconds since `began` (of time.perf_counter) and the files that were written."""
    seconds = round(time.perf_counter() - began, 3)
    print_json(content | {"seconds": seconds} | {name: path and str(path) for name, path in files.items()})


def _spelled(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _spelled(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_spelled(value) for value in content]
    return for_command_line(content) if isinstance(content, Note) else content


def print_table(title: str, facts: Sequence[tuple[str, str]]) -> None:
    """Print named facts on stdout; notes among them spell settings as options."""
    texts = [(shown(name), shown(for_command_line(fact))) for name, fact in facts]
    _print_titled(title, layout.facts(texts, width()))


def say_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print named facts on stderr."""
    typer.echo("\n".join(layout.facts(facts, width(err=True))), err=True)


def print_grid(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Iterable[str] = (),
    below: Sequence[int] = (),
) -> None:
    """Print a table on stdout; see `shoal.cli.layout.grid` for the arguments."""
    texts = [[shown(for_command_line(text)) for text in row] for row in rows]
    _print_titled(title, layout.grid([shown(name) for name in head], texts, width(), right=right, below=below))


def _print_titled(title: str, lines: Iterable[str]) -> None:
    for line in layout.wrap(shown(title), width()):
        typer.secho(line, bold=True)
    typer.echo("\n".join(lines))


def print_release(
    release: ReleaseLike,
    output: str | None,
    manifest: Path | None,
    seconds: float,
    *,
    as_json: bool = False,
    report: ReportTarget | None = None,
) -> None:
    """Print the request, the result and the loss, and where the release and its report are."""
    from shoal.report.summary import Places, release_facts, release_json

    places = Places(
        output,
        None if manifest is None else str(manifest),
        None if report is None else str(report.path),
        None if report is None else str(report.private[0]),
    )
    if as_json:
        print_json(release_json(release, places, seconds))
    else:
        print_table(f"shoal: done in {seconds:.1f} s", release_facts(release, places))
