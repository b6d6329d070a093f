"""`shoal measure`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import render
from shoal.climbs import Climb
from shoal.config import Settings
from shoal.schema import check_k


def measure(
    original: Annotated[Path, typer.Argument(help="The original table: CSV, Parquet, Arrow or Excel.")],
    released: Annotated[Path, typer.Argument(help="Its release, of whatever tool.")],
    qi: Annotated[
        list[str], typer.Option("--qi", help="Quasi-identifiers, comma separated.", rich_help_panel=opt.ROLES)
    ],
    k: opt.K = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Dates = None,
    missing: opt.Missing = None,
    hierarchy: opt.HierarchyFiles = None,
    trust_hierarchies: opt.Trust = False,
    target: Annotated[
        str | None,
        typer.Option("--target", help="Column of classes, for the classification metric.", rich_help_panel=opt.ROLES),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option("--beta", help="Levels near the root weigh more: 1/height^beta.", rich_help_panel=opt.KINDS),
    ] = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    as_json: opt.AsJson = False,
) -> None:
    """Score a release: how much of the original's meaning was lost, and how large its groups are.

    Example: shoal measure data.csv out.csv --qi age,sex,zip
    """
    began = time.perf_counter()
    opt.use_threads(None)
    from shoal import pipeline

    measures = pipeline.measure(
        original,
        released,
        qi=opt.split_names(qi),
        k=None if k is None else check_k(k),
        numeric=opt.split_names(numeric),
        categorical=opt.split_names(categorical),
        dates=opt.split_dates(date),
        missing=opt.split_names(missing),
        hierarchies=Settings(
            hierarchies=opt.split_pairs(hierarchy, "--hierarchy"), trust_hierarchies=trust_hierarchies
        ).rules(),
        climb=None if beta is None else Climb("height", beta),
        target=target,
        decimal=decimal or ".",
        thousands=thousands or "",
    )
    if as_json:
        content = render.measures_json(measures, k)
        seconds = round(time.perf_counter() - began, 3)
        render.print_json(content | {"seconds": seconds, "output": str(released), "manifest": None})
    else:
        render.print_table(f"shoal: {released}", render.measure_facts(measures))
