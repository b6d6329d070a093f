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
from shoal.cli.settings import with_settings
from shoal.errors import FileError, UsageError, setting
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings
from shoal.tables.targets.file import Beside, Stream, Target

if TYPE_CHECKING:
    from shoal.tables.targets.database import TableTarget


@with_settings("anonymize")
def anonymize(
    data: Annotated[str, typer.Argument(help=f"{opt.TABLE_HELP[:-1]}; or postgresql://user@host/database?table=name.")],
    settings: Settings,
    saved: Settings,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="Where to write the release: .csv, .csv.gz, .parquet or .xlsx; - for standard output; or a "
            "postgresql:// URL.",
        ),
    ] = None,
    threads: opt.Threads = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="memory|duckdb", help="Engine that counts the rows of a file.", rich_help_panel=Panel.RUN),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory limit of DuckDB, such as 4GB.", rich_help_panel=Panel.RUN)
    ] = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order",
            help="Keep the rows in the order of the input, unsorted. The order can identify people.",
            rich_help_panel=Panel.OUTPUT,
        ),
    ] = False,
    bound: Annotated[
        bool | None,
        typer.Option(
            "--bound/--no-bound",
            help="Compute the loss that no release of the table can avoid. By default for shoaling, if it is quick.",
            rich_help_panel=Panel.OUTPUT,
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Secret that signs the hash of the input in the manifest.",
            rich_help_panel=Panel.OUTPUT,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Report on the release to sign, such as r.html. Writes r.json and r.private.html, for your eyes only, "
            "too.",
            rich_help_panel=Panel.OUTPUT,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Do everything except write.", rich_help_panel=Panel.OUTPUT)
    ] = False,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Turn a table into one in which every row has at least k-1 look-alikes, and verify the written file.

    Example: shoal anonymize data.csv -o out.csv -k 10 --qi age,sex,zip --sensitive disease --drop name
    """
    began = time.perf_counter()
    if output is None and not dry_run:
        raise UsageError(f"no output is given. Name the file with {setting('output', 'out.csv')}, or use --dry-run.")
    streams = output == "-"
    if streams and as_json:
        raise UsageError("-o - and --json both print on standard output. Use one of them.")
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
            except BrokenPipeError:  # the reader went away, which is not a fault; discard what is buffered
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit from None
    terminal.say_notes(release.notes)
    if not streams:
        seconds = time.perf_counter() - began
        written = None if dry_run else str(target.place)
        terminal.print_release(release, written, manifest, seconds, as_json=as_json, report=beside)


def _place(data: str, output: str | None, *, dry_run: bool, force: bool) -> Target | Stream | TableTarget:
    """Return where the release goes; a dry run has only a private folder."""
    from shoal.tables.sources.url import is_url, parse_url

    if output is None or output == "-" or dry_run:
        return Stream()
    if is_url(output):
        from shoal.tables.targets.database import TableTarget

        return TableTarget(parse_url(output), force=force)
    source = None if is_url(data) else Path(data)
    return Target(output, force=force, source=source, committing=opt.finish_undisturbed)


def _beside(data: str, report: Path | None, *, dry_run: bool, force: bool) -> Beside | contextlib.nullcontext[None]:
    """Return where the report goes, if there is one."""
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
