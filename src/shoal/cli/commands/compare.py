"""`shoal compare`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import InfeasibleError, UsageError, for_command_line
from shoal.settings.settings import Settings, read_config
from shoal.tables.targets.text_file import check_text_target, write_text

if TYPE_CHECKING:
    from shoal.evaluate.comparison.cache import Cache
    from shoal.evaluate.comparison.compare import Comparison
    from shoal.evaluate.comparison.scoring import Subject

Methods = Annotated[
    list[str] | None,
    typer.Option("--methods", help="Methods, comma separated: shoaling,mondrian:variant=relaxed; all for every one."),
]
Sizes = Annotated[list[str] | None, typer.Option("-k", "--k", help="Sizes of groups: 2,5,10 or 2-12.")]
Seeds = Annotated[int, typer.Option(min=1, help="Runs of each method and k, each with a seed of its own.")]
Threshold = Annotated[str, typer.Option(help="The largest chance to be found that is allowed, for the share above it.")]
Limit = Annotated[
    str | None, typer.Option(help="Largest share of rows that may be left out: 0.02.", rich_help_panel=opt.MODELS)
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Runs side by side; as many as cores if left out.", rich_help_panel=opt.RUN)
]
RunThreads = Annotated[int, typer.Option("--threads", min=1, help="Threads of each run.", rich_help_panel=opt.RUN)]
CacheFolder = Annotated[
    Path | None,
    typer.Option("--cache", help="Where measures of finished runs are kept; never a cell.", rich_help_panel=opt.RUN),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep nothing of this run.", rich_help_panel=opt.RUN)]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run again what is kept.", rich_help_panel=opt.RUN)]
Page = Annotated[Path | None, typer.Option("--report", help="A page with charts: .html.", rich_help_panel=opt.OUTPUT)]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=opt.OUTPUT)]


def compare(
    data: Annotated[Path, typer.Argument(help="The table: CSV, Parquet, Arrow or Excel.")],
    methods: Methods = None,
    k: Sizes = None,
    seeds: Seeds = 1,
    qi: opt.Qi = None,
    sensitive: opt.Sensitive = None,
    insensitive: opt.Insensitive = None,
    drop: opt.Drop = None,
    person: opt.Person = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="Column of classes, for the classification metric and the learner.",
            rich_help_panel=opt.ROLES,
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="What learns the target from each release: zero-r, logistic, tree, boosting.",
            rich_help_panel=opt.ROLES,
        ),
    ] = None,
    l: opt.L = None,
    t: opt.T = None,
    model: opt.Models = None,
    population: opt.Population = None,
    suppression_limit: Limit = None,
    threshold: Threshold = "0.2",
    add: Annotated[
        list[str] | None, typer.Option(help="The file of another tool, to score beside: arx=out.csv. May be repeated.")
    ] = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Dates = None,
    missing: opt.Missing = None,
    hierarchy: opt.HierarchyFiles = None,
    trust_hierarchies: opt.Trust = False,
    unknown: opt.Unknown = None,
    delimiter: opt.Delimiter = None,
    encoding: opt.Encoding = None,
    header: opt.Header = None,
    jobs: Jobs = None,
    threads: RunThreads = 1,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    fresh: Fresh = False,
    config: opt.Config = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The tidy table: .csv.", rich_help_panel=opt.OUTPUT)
    ] = None,
    report: Page = None,
    force: Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Anonymise a table by several methods, with several k and seeds, and compare loss, risk, time and memory.

    Nothing is released. Columns that no role names are left out. What is interrupted goes on where it was, as finished
    runs are kept.

    Example: shoal compare data.csv --qi age,sex,zip --methods shoaling,mondrian -k 2,5,10 --report compare.html
    """
    began = time.perf_counter()
    settings = Settings(
        l=l,
        t=t,
        models=opt.split_models(model),
        population=population,
        suppression_limit=suppression_limit,
        qi=opt.split_names(qi),
        sensitive=opt.split_names(sensitive),
        insensitive=opt.split_names(insensitive),
        drop=opt.split_names(drop),
        person=person,
        **opt.split_kinds(numeric, categorical, date, missing),
        hierarchies=opt.split_pairs(hierarchy, "--hierarchy"),
        trust_hierarchies=trust_hierarchies or None,
        unknown=unknown,
    ).over(opt.file_settings(delimiter, encoding, header))
    settings = settings.over(read_config(config)) if config else settings
    check_outputs(data, output, report, force=force)
    opt.use_threads(None)
    from shoal.evaluate.comparison.compare import DEFAULT_K, DEFAULT_METHODS, compare_table, make_cases

    cases = make_cases(opt.split_names(methods) or DEFAULT_METHODS, split_sizes(k) or DEFAULT_K, seeds)
    subject = read_subject(data, settings, threshold=threshold, target=target, learner=learner, threads=threads)
    added = {name: opt.read_given(Path(path), encoding) for name, path in opt.split_pairs(add, "--add").items()}
    with terminal.counting() as counted:
        found = compare_table(
            subject,
            cases,
            added,
            open_cache(cache, no_cache),
            jobs=jobs,
            fresh=fresh,
            progress=counted,
            spell=for_command_line,
        )
    write_outputs(found, output, report)
    if as_json:
        places = {"output": output and str(output), "report": report and str(report)}
        terminal.print_json(found.as_dict() | {"seconds": round(time.perf_counter() - began, 3)} | places)
    else:
        print_comparison(found)
    refuse_empty(found)


def read_subject(data: Path, settings: Settings, **more: Any) -> Subject:
    """Read the table and encode it for all runs."""
    from shoal.evaluate.comparison.scoring import prepare
    from shoal.tables.formats import read_table

    table = read_table(
        data, delimiter=settings.delimiter, encoding=settings.encoding, header=settings.header, sheet=settings.sheet
    )
    return prepare(table, settings, **more)


def split_sizes(texts: list[str] | None) -> tuple[int, ...]:
    """Read sizes of groups: 2,5,10, and stretches such as 2-12."""
    sizes: list[int] = []
    for word in opt.split_names(texts):
        low, dash, high = word.partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or (dash and int(high) < int(low)):
            raise UsageError(f"-k {word!r} is not a size of groups. Write 2,5,10 or 2-12.")
        sizes += range(int(low), int(high or low) + 1)
    return tuple(sizes)


def open_cache(folder: Path | None, no_cache: bool) -> Cache:
    """Return the cache that was asked for; by default it is below the user's cache folder, if there is one."""
    from shoal.datasets import cache_folder
    from shoal.evaluate.comparison.cache import Cache

    if no_cache:
        return Cache(None)
    try:
        return Cache(folder or cache_folder() / "compare")
    except RuntimeError:  # no home folder
        return Cache(None)


def check_outputs(data: Path, output: Path | None, report: Path | None, *, force: bool) -> None:
    """Refuse files that must not be written, before the work begins."""
    if output is not None:
        check_text_target(output, suffix=".csv", what="the table is a CSV file", source=data, force=force)
    if report is not None:
        check_text_target(report, suffix=".html", what="the report is a page", source=data, force=force)


def write_outputs(found: Comparison, output: Path | None, report: Path | None) -> None:
    """Write the tidy table and the page, where they are asked for."""
    if output is not None:
        write_text(output, found.frame.write_csv())
    if report is not None:
        from shoal.evaluate.comparison.page import comparison_page

        write_text(report, comparison_page(found))


def print_comparison(found: Comparison) -> None:
    """Print the means of all runs, what failed, and which method lost least."""
    from shoal.evaluate.comparison.page import verdict_of

    print_runs(found)
    typer.echo(verdict_of(found))


def print_runs(found: Comparison) -> None:
    """Print the means of all runs, and what failed."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from shoal.evaluate.comparison.page import head_of, shown_rows
    from shoal.evaluate.summary import failure_words

    table = Table(
        title=f"shoal: {found.n_rows:,} rows", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for name in head_of(found):
        table.add_column(name.replace(" ", "\n"), justify="left" if name == "method" else "right", overflow="fold")
    for row in shown_rows(found):
        table.add_row(*map(Text, row))
    Console().print(table)
    for line in failure_words(found):
        typer.echo(line)


def refuse_empty(found: Comparison) -> None:
    """End with the code of a goal that cannot be reached where no run gave a release."""
    if found.frame["failed"].null_count() == 0:
        raise InfeasibleError("no run gave a release; the reasons stand above.")
