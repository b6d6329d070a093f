"""`shoal risk`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    pass


def risk(
    released: Annotated[Path, typer.Argument(help="The release, of whatever tool: CSV, Parquet, Arrow or Excel.")],
    qi: Annotated[
        list[str], typer.Option("--qi", help="Quasi-identifiers, comma separated.", rich_help_panel=opt.ROLES)
    ],
    threshold: Annotated[
        str, typer.Option(help="The largest chance to be found that is allowed: 0.2, 1/11 or cell-size-11.")
    ] = "0.2",
    population: Annotated[
        str | None,
        typer.Option(help="How many people the table was drawn from, or the file of their table.", metavar="N|FILE"),
    ] = None,
    original: Annotated[
        Path | None, typer.Option(help="The table before it was released, to show its risk beside.")
    ] = None,
    person: opt.Person = None,
    weight: Annotated[
        str | None,
        typer.Option(help="Column that says how many people each row stands for.", rich_help_panel=opt.ROLES),
    ] = None,
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
    """Say how easily people are found in a release: prosecutor, journalist and marketer risk, and who is alone.

    Example: shoal risk out.csv --qi age,sex,zip --threshold 0.1 --population 100000
    """
    opt.use_threads(None)
    from shoal import risks
    from shoal.report import summary

    settings: dict[str, Any] = {
        "qi": opt.split_names(qi),
        "threshold": threshold,
        "person": person,
        "weight": weight,
        **opt.split_kinds(numeric, categorical, date, missing),
        "hierarchies": Settings(
            hierarchies=opt.split_pairs(hierarchy, "--hierarchy"), trust_hierarchies=trust_hierarchies
        ).rules(),
        "decimal": decimal or ".",
        "thousands": thousands or "",
    }
    if population is not None:
        is_size = population.isdecimal()
        settings["population"] = int(population) if is_size else opt.read_given(Path(population), encoding)
    found = risks.risk(opt.read_given(released, encoding), **settings)
    before = None if original is None else risks.risk(opt.read_given(original, encoding), **settings)
    if as_json:
        terminal.print_json(summary.risk_json(found, before))
    else:
        terminal.print_table(f"shoal: {released}", summary.risk_facts(found, before))
