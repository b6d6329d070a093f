"""`shoal simulate`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import UsageError

if TYPE_CHECKING:
    from shoal.evaluate.feasibility.simulation import Urn
    from shoal.tables.table import Table

URN = "What rows are drawn from"
FIGURE_23 = (3, 7, 12, 15, 18)  # numbers of attributes whose curves stand beside the one asked for
MOST_CURVES = 6


def simulate(
    data: Annotated[
        Path | None, typer.Argument(help="A table whose own values are drawn; name its columns with --qi.")
    ] = None,
    attributes: Annotated[
        int | None, typer.Option(help="So many attributes of two values, half and half.", rich_help_panel=URN)
    ] = None,
    cardinalities: Annotated[
        str | None,
        typer.Option(help="Numbers of values of the attributes, all equally likely: 2,5,80.", rich_help_panel=URN),
    ] = None,
    qi: Annotated[
        list[str] | None, typer.Option("--qi", help="Columns of the table, comma separated.", rich_help_panel=URN)
    ] = None,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="Draw whole rows of the table. Without it each column is drawn by itself, which is the safe side.",
            rich_help_panel=URN,
        ),
    ] = False,
    k: Annotated[int | None, typer.Option("-k", "--k", help="Rows that every combination present must have.")] = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows of each table; those of the given table if left out.", min=1)
    ] = None,
    repetitions: Annotated[int, typer.Option(help="How many tables are drawn.", min=1)] = 500,
    success: Annotated[float, typer.Option(help="The chance that the rows needed are told for.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the random numbers.", rich_help_panel=opt.RUN)] = 0,
    threads: opt.Threads = None,
    delimiter: opt.Delimiter = None,
    encoding: opt.Encoding = None,
    header: opt.Header = None,
    sheet: opt.Sheet = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the chance over rows as an .svg file.", rich_help_panel=opt.OUTPUT),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a drawing that exists.", rich_help_panel=opt.OUTPUT)
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Say before anything is recoded whether k is within reach: draw random tables and count their groups.

    Example: shoal simulate --attributes 7 --k 5 --rows 7500
    """
    began = time.perf_counter()
    if k is None:
        raise UsageError("k is not given. Say how many rows each combination must have: --k 5 is common.")
    if sum(given is not None for given in (data, attributes, cardinalities)) != 1:
        raise UsageError("say what rows are drawn from: a table with --qi, or --attributes, or --cardinalities.")
    if data is None and (qi or joint):
        raise UsageError("--qi and --joint speak of a table, and none is given. Name its file, or leave them out.")
    n_threads = opt.use_threads(threads)
    from shoal.evaluate.feasibility.chart import chart_success
    from shoal.evaluate.feasibility.simulation import simulate
    from shoal.tables.formats import read_table
    from shoal.tables.targets.text_file import check_text_target, write_text

    if plot is not None:
        check_text_target(plot, suffix=".svg", what="the drawing is an SVG file", source=data, force=force)
    if data is not None:
        given = opt.file_settings(delimiter, encoding, header)
        table = read_table(data, delimiter=given.delimiter, encoding=given.encoding, header=given.header, sheet=sheet)
        terminal.say_notes(table.notes)
        rows = rows or table.n_rows
        choice = _of_table(table, opt.split_names(qi), joint=joint)
    else:
        choice = _binary(attributes) if attributes is not None else _uniform(cardinalities or "")
    with terminal.progress(("drawing tables",)) as (_, progress):
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
        write_text(plot, chart_success(drawn, k, answer).standalone())
    if as_json:
        seconds = round(time.perf_counter() - began, 3)
        terminal.print_json(answer.as_dict() | {"seconds": seconds, "plot": plot and str(plot)})
    else:
        from shoal.evaluate.summary import feasibility_facts, feasibility_words

        facts = feasibility_facts(answer, None if plot is None else str(plot))
        terminal.print_table(f"shoal: {feasibility_words(answer)}", facts)


class Choice(NamedTuple):
    """The first n attributes as an urn, for any n up to all of them, and the names of those that a drawing shows."""

    urn: Callable[[int], Urn]
    n: int
    names: dict[int, str]


def _of_table(table: Table, columns: tuple[str, ...], *, joint: bool) -> Choice:
    from shoal.evaluate.feasibility.simulation import Urn

    names = {n: f"+ {name}" if n > 1 else name for n, name in enumerate(columns, 1)}
    return Choice(lambda n: Urn.of_table(table, columns[:n], joint=joint), len(columns), names)


def _binary(attributes: int) -> Choice:
    from shoal.evaluate.feasibility.simulation import Urn

    shown = {*(n for n in FIGURE_23 if n < attributes), attributes}
    return Choice(Urn.binary, attributes, {n: f"{n} attribute{'s' * (n > 1)}" for n in shown})


def _uniform(text: str) -> Choice:
    from shoal.evaluate.feasibility.simulation import Urn

    try:
        cards = [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--cardinalities {text!r} is not a list of whole numbers. Write 2,5,80.") from None
    names = {n: f"+ {card} values" if n > 1 else f"{card} values" for n, card in enumerate(cards, 1)}
    return Choice(lambda n: Urn.uniform(cards[:n]), len(cards), names)
