"""`shoal anonymize`."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.urls import reveal
from shoal.errors import UsageError
from shoal.settings.settings import Settings, check_signoff, read_config


def anonymize(
    data: Annotated[
        str,
        typer.Argument(
            help="The table: CSV (also .gz, .zst), Parquet, Arrow or Excel; or postgresql://user@host/database?table=name."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="Where the release goes: .csv, .csv.gz, .parquet or .xlsx; - for standard output; or a postgresql:// "
            "URL.",
        ),
    ] = None,
    k: opt.K = None,
    l: opt.L = None,
    t: opt.T = None,
    model: opt.Models = None,
    k_column: opt.KColumn = None,
    population: opt.Population = None,
    suppression_limit: Annotated[
        str | None,
        typer.Option(help="Largest share of rows that may be left out: 0.02.", rich_help_panel=opt.MODELS),
    ] = None,
    qi: opt.Qi = None,
    sensitive: opt.Sensitive = None,
    insensitive: opt.Insensitive = None,
    drop: opt.Drop = None,
    others: opt.Others = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Dates = None,
    missing: opt.Missing = None,
    delimiter: opt.Delimiter = None,
    encoding: opt.Encoding = None,
    header: opt.Header = None,
    sheet: opt.Sheet = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    person: opt.Person = None,
    accept_unique: opt.AcceptUnique = None,
    hierarchy: opt.HierarchyFiles = None,
    trust_hierarchies: opt.Trust = False,
    unknown: opt.Unknown = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Weights of quasi-identifiers, for methods that heed them: age=2,sex=0.5; auto: less for a column "
            "the more the others tell of it.",
            rich_help_panel=opt.RUN,
        ),
    ] = None,
    all_qi: Annotated[
        bool, typer.Option("--all-qi", help="Recode the sensitive columns too.", rich_help_panel=opt.ROLES)
    ] = False,
    method: Annotated[str | None, typer.Option(help="See 'shoal methods'.", rich_help_panel=opt.RUN)] = None,
    effort: Annotated[
        str | None,
        typer.Option(help="How long shoaling looks for less loss: fast, normal, high.", rich_help_panel=opt.RUN),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method: variant=relaxed.", rich_help_panel=opt.RUN)
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="What optimal and incognito choose by: height, precision, ncp, aecs, dm, entropy, rv.",
            rich_help_panel=opt.RUN,
        ),
    ] = None,
    choose: Annotated[
        int | None,
        typer.Option(help="Which string that passes an rv method takes, 1 the best.", rich_help_panel=opt.RUN),
    ] = None,
    subsets: Annotated[
        bool,
        typer.Option("--subsets", help="Let rv methods search subsets of the attributes.", rich_help_panel=opt.RUN),
    ] = False,
    seed: Annotated[int | None, typer.Option(help="For methods that draw lots.", rich_help_panel=opt.RUN)] = None,
    threads: opt.Threads = None,
    engine: Annotated[
        str | None,
        typer.Option(help="What counts the rows of a file: memory or duckdb.", rich_help_panel=opt.RUN),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="The most memory that DuckDB may take: 4GB.", rich_help_panel=opt.RUN)
    ] = None,
    config: opt.Config = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order", help="Rows as in the input, not sorted. Can tell people apart.", rich_help_panel=opt.OUTPUT
        ),
    ] = False,
    bound: Annotated[
        bool | None,
        typer.Option(
            "--bound/--no-bound",
            help="Say what any release of the table must lose. By default for shoaling, if that takes little time.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    snap: Annotated[
        bool, typer.Option("--snap", help="Widen ranges to a round grid.", rich_help_panel=opt.OUTPUT)
    ] = False,
    grid: Annotated[
        list[str] | None,
        typer.Option(help="The grid of a column, for --snap: age=5, born=year.", rich_help_panel=opt.OUTPUT),
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option(help="Ranges as text, or as two columns: bounds.", rich_help_panel=opt.OUTPUT),
    ] = None,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option("--spreadsheet-safe", help="Make formulas harmless for spreadsheets.", rich_help_panel=opt.OUTPUT),
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option(help="A secret that signs the input's hash in the manifest.", rich_help_panel=opt.OUTPUT),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="A page about the release, to be signed: r.html; also r.json, and r.private.html for your eyes.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    signoff: Annotated[
        list[str] | None,
        typer.Option(
            help="A line of the report: who=, when=, purpose=, legal_basis= or reviewer=.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do all but write.", rich_help_panel=opt.OUTPUT)] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an output that exists.", rich_help_panel=opt.OUTPUT)
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Turn a table into one in which every row has at least k-1 look-alikes, and verify the written file.

    Example: shoal anonymize data.csv -o out.csv -k 10 --qi age,sex,zip --sensitive disease --drop name
    """
    began = time.perf_counter()
    given = Settings(
        k=k,
        l=l,
        t=t,
        models=opt.split_models(model),
        k_column=k_column,
        population=population,
        suppression_limit=suppression_limit,
        weights=opt.split_weights(weights),
        all_qi=all_qi or None,
        qi=opt.split_names(qi),
        sensitive=opt.split_names(sensitive),
        insensitive=opt.split_names(insensitive),
        drop=opt.split_names(drop),
        others=others,
        **opt.split_kinds(numeric, categorical, date, missing),
        method=method,
        effort=effort,
        options=opt.method_options(option, objective=objective, choose=choose, subsets=subsets or None),
        seed=seed,
        sheet=sheet,
        decimal=decimal,
        thousands=thousands,
        person=person,
        accept_unique=opt.split_names(accept_unique),
        hierarchies=opt.split_pairs(hierarchy, "--hierarchy"),
        trust_hierarchies=trust_hierarchies or None,
        unknown=unknown,
        snap=snap or None,
        grids=opt.split_pairs(grid, "--grid"),
        cells=cells,
        spreadsheet_safe=spreadsheet_safe or None,
        signoff=check_signoff(opt.split_pairs(signoff, "--signoff")),
    ).over(opt.file_settings(delimiter, encoding, header))
    saved = read_config(config) if config else Settings()
    settings = given.over(saved)
    if output is None and not dry_run:
        raise UsageError("-o is not given. Name the file to write, or say --dry-run.")
    streams = output == "-"
    if streams and as_json:
        raise UsageError("-o - and --json both print on standard output. Leave one out.")
    n_threads = opt.use_threads(threads)
    from shoal.release.job import Job
    from shoal.release.make import make_run

    with terminal.progress() as (stage, progress):
        job = Job.from_settings(
            reveal(data),
            settings,
            None if dry_run or output is None else reveal(output),
            replace(make_run(settings, threads=n_threads), stage=stage, progress=progress),
            saved=saved,
            engine=engine,
            memory=memory,
            keep_order=keep_order,
            bound=bound,
            report=None if dry_run else report,
            key_file=key_file,
            force=force,
        )
        try:
            outcome = job.execute(committing=opt.finish_undisturbed)
        except BrokenPipeError:  # the reader is gone, which is not an error; discard what is left in the buffer
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
    terminal.say_notes(outcome.release.notes)
    if not streams:
        seconds = time.perf_counter() - began
        terminal.print_release(
            outcome.release, outcome.place, outcome.manifest, seconds, as_json=as_json, report=outcome.report
        )
