"""`shoal measure`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import UsageError
from shoal.hierarchy.level_weights import Climb
from shoal.schema import check_k
from shoal.settings.settings import AUTO, Settings, read_config


def measure(
    original: Annotated[Path, typer.Argument(help="The original table: CSV, Parquet, Arrow or Excel.")],
    released: Annotated[Path, typer.Argument(help="Its release, of whatever tool.")],
    qi: opt.Qi = None,
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
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Weights of quasi-identifiers, for NCP and the research value: age=2,sex=0.5, or auto.",
            rich_help_panel=opt.ROLES,
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option("--beta", help="Levels near the root weigh more: 1/height^beta.", rich_help_panel=opt.KINDS),
    ] = None,
    level_weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Weights of a hierarchy's steps, from the values up: zip=1,2,4. May be repeated.",
            rich_help_panel=opt.KINDS,
        ),
    ] = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    encoding: opt.OtherEncoding = None,
    config: opt.Config = None,
    as_json: opt.AsJson = False,
) -> None:
    """Score a release: how much of the original's meaning was lost, and how large its groups are.

    Data constraint rules, for the research value, come from --config.

    Example: shoal measure data.csv out.csv --qi age,sex,zip
    """
    began = time.perf_counter()
    settings = Settings(
        k=None if k is None else check_k(k),
        qi=opt.split_names(qi),
        **opt.split_kinds(numeric, categorical, date, missing),
        hierarchies=opt.split_pairs(hierarchy, "--hierarchy"),
        trust_hierarchies=trust_hierarchies or None,
        weights=opt.split_weights(weights),
        decimal=decimal,
        thousands=thousands,
    )
    settings = settings.over(read_config(config)) if config else settings
    if not settings.qi:
        raise UsageError("--qi is not given. Name the quasi-identifiers: --qi age,sex,zip.")
    opt.use_threads(None)
    from shoal.release import anonymize
    from shoal.report import summary

    given = {name: float(weight) for name, weight in settings.column_weights().items()}
    measures = anonymize.measure(
        opt.read_given(original, encoding),
        opt.read_given(released, encoding),
        qi=(*settings.qi, *settings.sensitive) if settings.all_qi else settings.qi,
        k=settings.k,
        numeric=settings.numeric,
        categorical=settings.categorical,
        dates=settings.dates,
        missing=settings.missing,
        weights=given if settings.weights != AUTO else AUTO,
        hierarchies=settings.rules(),
        climb=_climb(beta, level_weights),
        target=target,
        rules=settings.data_rules(),
        decimal=settings.decimal or ".",
        thousands=settings.thousands or "",
    )
    if as_json:
        content = summary.measures_json(measures, settings.k)
        seconds = round(time.perf_counter() - began, 3)
        terminal.print_json(content | {"seconds": seconds, "output": str(released), "manifest": None})
    else:
        facts = [*summary.measures_facts(measures), *summary.further_facts(measures)]
        terminal.print_table(f"shoal: {released}", facts)


def _climb(beta: float | None, level_weights: list[str] | None) -> Climb:
    """Return how the levels of hierarchies weigh."""
    given = {}
    for name, text in opt.split_pairs(level_weights, "--level-weights").items():
        try:
            given[name] = [float(weight) for weight in text.split(",")]
        except ValueError:
            raise UsageError(
                f"--level-weights {name}={text}: not numbers. Give one for each step, from the values up: {name}=1,2,4."
            ) from None
    return Climb(given=given) if beta is None else Climb("height", beta, given)
