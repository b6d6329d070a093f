"""Output of the commands: progress and notes on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.supervisor import say_if_interrupted
from shoal.errors import Note, for_command_line

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.report.summary import ReleaseLike
    from shoal.tables.targets.file import ReportTarget

STAGES = ("reading", "counting", "encoding", "grouping", "measuring", "writing and verifying")


@contextmanager
def progress(stages: Sequence[str] = STAGES) -> Iterator[tuple[Callable[[str], None], Callable[[float], None]]]:
    """Show a progress bar on a terminal.

    Args:
        stages: The stages, in order.

    Yields:
        Two functions: call one with the name of each stage as it begins, the other with the share of it that is done.
    """
    if not sys.stderr.isatty():
        yield (lambda name: None), (lambda share: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description:<22}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(stages[0], total=len(stages))
        current = 0

        def stage(name: str) -> None:
            nonlocal current
            current = stages.index(name) if name in stages else current
            bar.update(task, description=name, completed=current)

        yield stage, lambda share: bar.update(task, completed=current + share)


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

        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("")

            def show(finished: int, of: int, label: str) -> None:
                note(finished, of, label)
                bar.update(task, completed=finished, total=of, description=label)

            yield show
    except KeyboardInterrupt:
        typer.echo(f"shoal: {remark}", err=True)
        raise


def say_notes(notes: Iterable[str]) -> None:
    """Print notes on stderr."""
    for note in notes:
        typer.echo(f"shoal: {for_command_line(note)}", err=True)


def print_json(content: dict[str, Any] | list[Any]) -> None:
    """Print one JSON value on stdout; notes in it spell settings as options."""
    is_utf8 = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    typer.echo(json.dumps(_spelled(content), ensure_ascii=not is_utf8))


def print_timed_json(content: dict[str, Any], began: float, **files: Path | None) -> None:
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
    """Print facts as a small two-column table on stdout; notes among them spell settings as options."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, show_header=False, title_justify="left")
    for name, fact in facts:
        table.add_row(Text(name), Text(for_command_line(fact)))
    Console().print(table)


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
