"""`shoal anonymize`."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import FileError, UsageError
from shoal.settings.settings import Settings, check_signoff, read_config
from shoal.tables.targets.file import Beside, Stream, Target

if TYPE_CHECKING:
    from shoal.tables.targets.database import TableTarget


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
    from shoal.release.anonymize import choose_method, make_request, make_run
    from shoal.release.job import Job, check_engine
    from shoal.release.publish import check_report

    most = check_engine(data, engine, memory)
    request, models = make_request(settings, keep_order=keep_order, bound=bound), settings.privacy_models()
    chosen, rules = choose_method(settings, models), settings.rules()
    key = _read_key(key_file)
    with (
        _place(data, output, dry_run=dry_run, force=force) as target,
        _beside(data, report, dry_run=dry_run, force=force) as beside,
        terminal.progress() as (stage, progress),
    ):
        check_report(target, beside)
        run = replace(make_run(settings, threads=n_threads), stage=stage, progress=progress)
        job = Job(data, settings, request, chosen, models, run, rules, saved, engine, most)
        with job.released(target) as release:
            stage("writing and verifying")
            try:
                manifest = None if dry_run else release.write_to(target, key=key, report=beside)
            except BrokenPipeError:  # nobody reads any more, which is no fault; what is left in the buffer goes nowhere
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit from None
    terminal.say_notes(release.notes)
    if not streams:
        seconds = time.perf_counter() - began
        written = None if dry_run else str(target.place)
        terminal.print_release(release, written, manifest, seconds, as_json=as_json, report=beside)


def _place(data: str, output: str | None, *, dry_run: bool, force: bool) -> Target | Stream | TableTarget:
    """Return where the release goes; a dry run has a private folder alone."""
    from shoal.tables.sources.url import is_url, parse_url

    if output is None or output == "-" or dry_run:
        return Stream()
    if is_url(output):
        from shoal.tables.targets.database import TableTarget

        return TableTarget(parse_url(output), force=force)
    source = None if is_url(data) else Path(data)
    return Target(output, force=force, source=source, committing=opt.finish_undisturbed)


def _beside(data: str, report: Path | None, *, dry_run: bool, force: bool) -> Beside | contextlib.nullcontext[None]:
    """Return where the report goes, if one is asked for."""
    from shoal.tables.sources.url import is_url

    if report is None or dry_run:
        return contextlib.nullcontext()
    return Beside(report, force=force, source=None if is_url(data) else Path(data))


def _read_key(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
