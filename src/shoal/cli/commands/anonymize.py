"""`shoal anonymize`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.errors import UsageError, for_command_line, setting
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings
from shoal.tables.sources.url import is_url, reveal

if TYPE_CHECKING:
    from shoal.release.job import Job, Outcome


@with_settings("anonymize")
def anonymize(
    data: Annotated[str, typer.Argument(help=f"{opt.TABLE_HELP[:-1]}; or postgresql://user@host/database?table=name.")],
    settings: Settings,
    saved: Settings,
    config: Path | None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="Where to write the release: .csv, .csv.gz, .parquet or .xlsx; - for standard output; a "
            "postgresql:// URL; with Spark, also a folder of parts: out.parquet/.",
        ),
    ] = None,
    threads: opt.Threads = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="memory|duckdb|spark",
            help="Engine that counts the rows; by default memory, or duckdb if the table does not fit there.",
            rich_help_panel=Panel.RUN,
        ),
    ] = None,
    master: opt.Master = None,
    memory: opt.Memory = None,
    roll_up: Annotated[
        str | None,
        typer.Option(
            metavar="memory|database",
            help="Where full-domain methods count coarser levels: in memory, from one query, by default; or by a query "
            "each.",
            rich_help_panel=Panel.RUN,
        ),
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
            help="Secret that signs the hash of the input in the manifest; also draws a differentially private sample.",
            rich_help_panel=Panel.OUTPUT,
        ),
    ] = None,
    sign_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Private Ed25519 key (PEM) that signs the manifest; shoal keygen makes one.",
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
    opt.check_master(engine, master)
    n_threads = opt.use_threads(threads)
    from shoal.release.job import Job
    from shoal.release.make import make_run
    from shoal.tables.watch import STAGES, STAGES_ON_DISK

    stages = STAGES if engine in (None, "memory") and memory is None else STAGES_ON_DISK
    with terminal.progress(stages) as (stage, progress), _source(data, settings, engine, master) as source:
        job = Job.from_settings(
            source,
            settings,
            None if dry_run or output is None else reveal(output),
            replace(make_run(settings, threads=n_threads), stage=stage, progress=progress),
            saved=saved,
            engine=engine,
            memory=memory,
            roll_up=roll_up,
            keep_order=keep_order,
            bound=bound,
            report=None if dry_run else report,
            key_file=key_file,
            config=config,
            sign_key=sign_key,
            force=force,
            spell=for_command_line,
        )
        try:
            outcome = _execute(job)
        except BrokenPipeError:  # the reader of standard output is gone, which is not an error
            raise typer.Exit from None
    terminal.say_notes((*job.notes, *outcome.release.notes))
    if not streams:
        seconds = time.perf_counter() - began
        terminal.print_release(
            outcome.release, outcome.place, outcome.manifest, seconds, as_json=as_json, report=outcome.report
        )


@contextmanager
def _source(data: str, settings: Settings, engine: str | None, master: str | None) -> Iterator[Any]:
    """Return what a job reads: a path or a URL; with Spark, a source in a session that ends with the block."""
    if engine != "spark":
        yield reveal(data) if is_url(data) else opt.table_place(data)
        return
    if is_url(data):
        raise UsageError(f"{setting('engine', engine)} reads files. Leave it out: a database counts its own tables.")
    from shoal.spark.engine import open_source

    with open_source(data, settings, None, master) as source:
        yield source


def _execute(job: Job) -> Outcome:
    """Run a job; with Spark, the output may be a folder of parts."""
    output = None if job.output is None else str(job.output)
    if job.engine != "spark" or output is None or not (output.endswith("/") or os.path.isdir(output)):
        return job.execute()
    from shoal.release.job import Outcome
    from shoal.spark.engine import write_release

    if job.report is not None or job.key is not None:
        name = "report" if job.report is not None else "key_file"
        raise UsageError(f"{setting(name)} goes with a single file. Name one, such as out.csv, or leave it out.")
    release, target, manifest = write_release(job, output, watch=job.run)
    return Outcome(release, str(target.path), manifest)
