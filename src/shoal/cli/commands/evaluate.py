"""`shoal evaluate`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.settings.settings import Settings

LEARNING = "What is asked"


def evaluate(
    original: Annotated[Path, typer.Argument(help="The original table: CSV, Parquet, Arrow or Excel.")],
    released: Annotated[Path, typer.Argument(help="Its release, of whatever tool.")],
    qi: Annotated[
        list[str], typer.Option("--qi", help="Quasi-identifiers, comma separated.", rich_help_panel=opt.ROLES)
    ],
    target: Annotated[
        str | None,
        typer.Option("--target", help="Column of classes, for learners and trees.", rich_help_panel=opt.ROLES),
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option(help="Originals that were not released, to test learners on.", rich_help_panel=LEARNING),
    ] = None,
    queries: Annotated[int, typer.Option(help="Random range queries to ask.", rich_help_panel=LEARNING)] = 1000,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.", rich_help_panel=LEARNING)] = 5,
    seed: Annotated[int, typer.Option(help="What queries and folds are drawn from.", rich_help_panel=opt.RUN)] = 0,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Dates = None,
    missing: opt.Missing = None,
    hierarchy: opt.HierarchyFiles = None,
    trust_hierarchies: opt.Trust = False,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    encoding: opt.OtherEncoding = None,
    as_json: opt.AsJson = False,
) -> None:
    """Say what a release is still good for: range queries, plain statistics and, with a target, learners and trees.

    Example: shoal evaluate data.csv out.csv --qi age,sex,zip --target disease
    """
    began = time.perf_counter()
    opt.use_threads(None)
    from shoal.evaluate.assessment import STAGES, utility

    trees = Settings(hierarchies=opt.split_pairs(hierarchy, "--hierarchy"), trust_hierarchies=trust_hierarchies).rules()
    with terminal.progress(STAGES) as (stage, progress):
        found = utility(
            opt.read_given(original, encoding),
            opt.read_given(released, encoding),
            qi=opt.split_names(qi),
            target=target,
            held_out=opt.read_given(held_out, encoding) if held_out and target else held_out,
            queries=queries,
            folds=folds,
            seed=seed,
            **opt.split_kinds(numeric, categorical, date, missing),
            hierarchies=trees,
            decimal=decimal or ".",
            thousands=thousands or "",
            stage=stage,
            progress=progress,
        )
    if as_json:
        terminal.print_json(found.as_dict() | {"seconds": round(time.perf_counter() - began, 3)})
        return
    from shoal.evaluate.summary import utility_facts

    terminal.print_table(f"shoal: {released}", utility_facts(found))
