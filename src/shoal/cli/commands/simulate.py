"""`shoal simulate`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.errors import UsageError, setting
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.evaluate.feasibility.simulation import Urn
    from shoal.tables.table import Table

URN = "Distribution of rows"
FIGURE_23 = (3, 7, 12, 15, 18)  # numbers of attributes whose curves the chart shows beside the requested one
MOST_CURVES = 6


@with_settings("simulate")
def simulate(
    settings: Settings,
    config: Path | None,
    data: Annotated[
        Any | None,
        typer.Argument(
            parser=opt.table_place,
            metavar="[DATA]",
            help="A table whose own values are drawn; name its columns with --qi.",
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", "--k", help="Rows that every combination of values needs.")] = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows of each simulated table; those of the given table by default.", min=1)
    ] = None,
    repetitions: Annotated[int, typer.Option(help="Number of simulated tables.", min=1)] = 500,
    success: Annotated[float, typer.Option(help="Success probability for which to compute the rows needed.")] = 0.95,
    attributes: Annotated[
        int | None,
        typer.Option(help="Number of attributes with two equally likely values each.", rich_help_panel=URN),
    ] = None,
    cardinalities: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Numbers of values of the attributes, all equally likely: 2,5,80.",
            rich_help_panel=URN,
        ),
    ] = None,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="Draw complete rows of the table. By default each column is drawn on its own, which is conservative.",
            rich_help_panel=URN,
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", rich_help_panel=Panel.RUN)] = 0,
    threads: opt.Threads = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Chart of the success probability over rows to write: .svg.",
            rich_help_panel=Panel.OUTPUT,
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Estimate before any recoding whether k is within reach: draw random tables and count their groups.

    Example: shoal simulate --attributes 7 --k 5 --rows 7500
    """
    began = time.perf_counter()
    k = settings.k if k is None else k
    if k is None:
        raise UsageError(f"k is not given. Pass the number of rows of each combination, such as {setting('k', 5)}.")
    if sum(urn is not None for urn in (data, attributes, cardinalities)) != 1:
        raise UsageError("pass one distribution of rows: a table with --qi, or --attributes, or --cardinalities.")
    if data is None and (settings.qi or joint):
        raise UsageError("--qi and --joint describe a table, but no table is given. Name its file, or omit them.")
    n_threads = opt.use_threads(threads)
    from shoal.evaluate.feasibility.chart import chart_success
    from shoal.evaluate.feasibility.simulation import simulate
    from shoal.tables.targets.text_file import TextFiles, check_suffix

    if plot is not None:
        check_suffix(plot, ".svg", "the chart is an SVG file")
    with TextFiles([plot], inputs=settings.input_files(data, config), force=force) as files:
        if data is not None:
            opt.require_qi(settings)
            table = opt.read_file(data, settings.reading)
            terminal.say_notes(table.notes)
            rows = rows or table.n_rows
            choice = _of_table(table, settings.qi, joint=joint)
        else:
            choice = _binary(attributes) if attributes is not None else _uniform(cardinalities or "")
        with terminal.progress({"drawing tables": 1.0}) as (_, progress):
            answer = simulate(
                choice.urn(choice.n),
                k=k,
                rows=rows,
                repetitions=repetitions,
                wanted_success=success,
                seed=seed,
                threads=n_threads,
                progress=progress,
            )
        if plot is not None:
            drawn = [(choice.names[n], choice.urn(n)) for n in sorted(choice.names)[-MOST_CURVES:]]
            files.write({plot: chart_success(drawn, k, answer).standalone()})
    if as_json:
        terminal.print_timed_json(answer.as_dict(), began, plot=plot)
    else:
        from shoal.evaluate.summary import feasibility_facts, feasibility_words

        facts = feasibility_facts(answer, None if plot is None else str(plot))
        terminal.print_table(f"shoal: {feasibility_words(answer)}", facts)


class Choice(NamedTuple):
    """The first n attributes as an urn, for any n up to all of them, and the names of those that the chart shows."""

    urn: Callable[[int], Urn]
    n: int
    names: dict[int, str]


def _of_table(table: Table, columns: tuple[str, ...], *, joint: bool) -> Choice:
    from shoal.evaluate.feasibility.simulation import Urn

    names = {n: f"+ {name}" if n > 1 else name for n, name in enumerate(columns, 1)}
    return Choice(lambda n: Urn.of_table(table, columns[:n], joint=joint), len(columns), names)


def _binary(attributes: int) -> Choice:
    from shoal.evaluate.feasibility.simulation import Urn

    listed_sizes = {*(n for n in FIGURE_23 if n < attributes), attributes}
    return Choice(Urn.binary, attributes, {n: f"{n} attribute{'s' * (n > 1)}" for n in listed_sizes})


def _uniform(text: str) -> Choice:
    from shoal.evaluate.feasibility.simulation import Urn

    try:
        cards = [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--cardinalities {text!r} is not a list of integers. Write 2,5,80.") from None
    names = {n: f"+ {card} values" if n > 1 else f"{card} values" for n, card in enumerate(cards, 1)}
    return Choice(lambda n: Urn.uniform(cards[:n]), len(cards), names)
