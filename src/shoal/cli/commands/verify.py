"""`shoal verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import UsageError, VerificationError, join_problems
from shoal.settings.settings import Settings, read_config


def verify(
    released: Annotated[Path, typer.Argument(help="The released file, of whatever tool: CSV, Parquet or Excel.")],
    k: opt.K = None,
    l: opt.L = None,
    t: opt.T = None,
    model: opt.Models = None,
    k_column: opt.KColumn = None,
    population: opt.Population = None,
    qi: opt.Qi = None,
    sensitive: opt.Sensitive = None,
    original: Annotated[
        Path | None, typer.Option(help="The original: is each released row true to a row of it?")
    ] = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Dates = None,
    missing: opt.Missing = None,
    hierarchy: opt.HierarchyFiles = None,
    trust_hierarchies: opt.Trust = False,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    config: opt.Config = None,
    as_json: opt.AsJson = False,
) -> None:
    """Say yes or no: does every row of a file have k-1 look-alikes in its quasi-identifiers?

    Exit code 0 says yes, 5 says no. --l, --t and --model ask for more than k. With --original also: can each released
    row be told to cover a row of its own of the original, all other columns unchanged?

    Example: shoal verify out.csv -k 10 --qi age,sex,zip --original data.csv
    """
    settings = Settings(
        k=k,
        l=l,
        t=t,
        models=opt.split_models(model),
        k_column=k_column,
        population=population,
        qi=opt.split_names(qi),
        sensitive=opt.split_names(sensitive),
        **opt.split_kinds(numeric, categorical, date, missing),
        hierarchies=opt.split_pairs(hierarchy, "--hierarchy"),
        trust_hierarchies=trust_hierarchies or None,
        decimal=decimal,
        thousands=thousands,
    )
    settings = settings.over(read_config(config)) if config else settings
    if settings.k is None and settings.k_column is None:
        raise UsageError("-k is not given. Say how many rows must look alike at least: -k 5.")
    if not settings.qi:
        raise UsageError("--qi is not given. Name the quasi-identifiers: --qi age,sex,zip.")
    models = settings.privacy_models()
    from shoal import verification
    from shoal.hierarchy import Hierarchy

    kinds = dict.fromkeys(settings.numeric, "numeric") | dict.fromkeys(settings.categorical, "categorical")
    rules = {name: rule for name, rule in settings.rules().items() if isinstance(rule, Hierarchy)}
    least = settings.k or 1
    verdict = verification.check(
        released,
        qi=settings.qi,
        k=least,
        sensitive=settings.sensitive,
        original=original,
        kinds=kinds | dict.fromkeys(settings.dates, "date"),
        date_formats=dict(settings.dates),
        missing=settings.missing,
        marks=(settings.decimal or ".", settings.thousands or ""),
        labels={name: rule.values_under() for name, rule in rules.items() if name in settings.qi},
        models=models,
        k_column=settings.k_column,
        population=settings.population,
        paths={name: rule.rows for name, rule in rules.items() if name not in settings.qi},
    )
    if as_json:
        terminal.print_json(verdict.as_dict())
    if not verdict.ok:
        raise VerificationError(f"{released}: no. {join_problems(verdict.violations)}")
    if not as_json:
        from shoal.report.summary import verdict_words

        descriptions = [model.describe() for model in models]
        words = verdict_words(verdict, least, descriptions, against_original=original is not None)
        typer.echo(f"{released}: {words}")
