"""What the commands show: progress and notes on stderr, results on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.metrics import Measures
    from shoal.release.release import Release
    from shoal.rules import RuleVerdict
    from shoal.tables.targets.file import ReportTarget

SHOWN_STRINGS = 5  # of those that pass
STAGES = ("reading", "counting", "encoding", "grouping", "measuring", "writing", "verifying")


@contextmanager
def progress(stages: Sequence[str] = STAGES) -> Iterator[tuple[Callable[[str], None], Callable[[float], None]]]:
    """Show a bar on a terminal: one call for each stage that begins, one for the share of it that is done."""
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
    """Show on a terminal how many of some runs are done; an interruption says what is kept."""
    done, total = 0, 0

    def note(finished: int, of: int, label: str) -> None:
        nonlocal done, total
        done, total = finished, of

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
        typer.echo(f"shoal: {done} of {total} runs are done; the same command goes on from there.", err=True)
        raise


def say_notes(notes: tuple[str, ...]) -> None:
    """Print what was guessed or noticed, on stderr."""
    for note in notes:
        typer.echo(f"shoal: {note}", err=True)


def print_json(content: dict[str, Any] | list[Any]) -> None:
    """Print one JSON value on stdout."""
    typer.echo(json.dumps(content, ensure_ascii=False))


def print_table(title: str, facts: list[tuple[str, str]]) -> None:
    """Print facts as a small two-column table on stdout."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, show_header=False, title_justify="left")
    for name, fact in facts:
        table.add_row(Text(name), Text(fact))
    Console().print(table)


def measure_facts(measures: Measures) -> list[tuple[str, str]]:
    """Return the measures as facts for print_table."""
    worst = sorted(measures.per_attribute.items(), key=lambda item: -item[1])
    return [
        ("rows", f"{measures.rows:,} released, {measures.suppressed_rows:,} suppressed"),
        ("groups", f"{measures.groups:,}; the smallest has {measures.smallest_group:,} rows"),
        ("loss (NCP)", f"{measures.ncp:.4f}, so utility {measures.utility:.4f} of 1"),
        ("loss by column", ", ".join(f"{name} {loss:.4f}" for name, loss in worst)),
        ("cells changed", f"{measures.modification_rate:.1%} of the quasi-identifier cells"),
        ("average group", f"{measures.c_avg:.2f} x k rows; discernibility {measures.dm:,}"),
    ]


def further_facts(measures: Measures) -> list[tuple[str, str]]:
    """Return the measures that papers and other tools tell, as facts for print_table."""
    changed = ", ".join(f"{name} {count:,}" for name, count in measures.md.items())
    value = ", ".join(f"{name} {worth:.4f}" for name, worth in measures.research_value.items())
    facts = [
        ("ILoss, LM", f"{measures.iloss:.4f}, {measures.lm:.4f}; LM over all cells {measures.lm_total:,.2f}"),
        ("cells changed (MD)", changed),
        ("entropy", f"{measures.entropy:,.2f} bits"),
        ("precision", f"{measures.precision:.4f}"),
        ("distortion", f"{measures.distortion:,.2f}, ratio {measures.distortion_ratio:.4f}"),
        ("research value", f"{measures.research_value_total:.4f}: {value}"),
    ]
    return facts if measures.cm is None else [*facts, ("classification (CM)", f"{measures.cm:.4f}")]


def print_release(
    release: Release,
    output: str | None,
    manifest: Path | None,
    seconds: float,
    *,
    as_json: bool = False,
    report: ReportTarget | None = None,
) -> None:
    """Print what was asked, reached and lost, and where the release and its report are."""
    request, measures = release.request, release.measures
    if as_json:
        content = measures_json(measures, request.k) | {"method": request.method, "seconds": round(seconds, 3)}
        content |= {"levels": release.levels and dict(release.levels)}
        if release.rules:
            content["rules"] = [asdict(verdict) for verdict in release.rules]
        content |= {"search": dict(release.search)} if release.search else {}
        places = {"output": output, "manifest": manifest and str(manifest)}
        if request.tells_bound:
            content["lower_bound"] = release.lower_bound
        if report is not None:
            places["report"] = str(report.path)
        print_json(content | places)
        return
    qi = ", ".join(f"{column.name} ({column.kind})" for column in release.schema.qi)
    facts = [("asked", f"{'; '.join(request.models)} over {qi}"), ("method", request.method), *measure_facts(measures)]
    if request.weights:
        told = (f"{name} {float(weight):.4g}" for name, weight in request.weights.items())
        facts.append(("weights", ", ".join(told)))
    facts += [("rule", rule_words(verdict)) for verdict in release.rules]
    if release.levels is not None:
        facts.append(("levels", ", ".join(f"{name} {level}" for name, level in release.levels.items())))
    if "successful" in release.search:
        facts.append(("strings", string_words(release.search)))
    if request.tells_bound:
        facts.append(("lower bound", bound_words(release)))
    if output is None:
        facts.append(("written", "nothing: this was a dry run"))
    else:
        facts += [("release", f"{output} (verified)"), ("manifest", str(manifest or "the comment of the table"))]
    if report is not None:
        facts.append(("report", f"{report.path}; for your eyes only: {report.private[0]}"))
    print_table(f"shoal: done in {seconds:.1f} s", facts)


def string_words(search: Mapping[str, Any]) -> str:
    """Say which strings of levels were found to pass, so that the data owner can choose another."""
    found = search["successful"]
    lines = []
    for i, each in enumerate(found[:SHOWN_STRINGS], 1):
        levels = " ".join(map(str, each["levels"].values()))
        lines.append(f"{i}: levels {levels}; research value {each['rv']:.4f}, {each['roots']} at the root")
    more = [f"and {len(found) - SHOWN_STRINGS} more (--json)"] if len(found) > SHOWN_STRINGS else []
    told = f"{search['tested']:,} of {search['strings']:,} tested; these pass (--choose takes another):"
    return "\n".join([told, *lines, *more])


def rule_words(verdict: RuleVerdict) -> str:
    """Say whether a rule is kept."""
    if not verdict.broken_groups:
        return f"{verdict.rule}: kept"
    return f"{verdict.rule}: broken in {verdict.broken_groups:,} groups with {verdict.broken_rows:,} rows"


def bound_words(release: Release) -> str:
    """Say what no release can lose less than."""
    if release.lower_bound is not None:
        return f"{release.lower_bound:.4f}: no k-anonymous local recoding of this table can lose less"
    request = release.request
    if request.weights or request.suppression_limit:
        return "not computed: it is known for weights of 1 and no row left out"
    return "not computed" if request.bound else "not computed in the usual time; --bound takes more"


def measures_json(measures: Measures, k: int | None) -> dict[str, Any]:
    """Return the measures in the form that `anonymize --json` and `measure --json` share."""
    content = measures.as_dict()
    counts = {name: content.pop(name) for name in ("rows", "groups", "smallest_group", "suppressed_rows")}
    return {"method": None, "k": k, **counts, "measures": content, "levels": None}
