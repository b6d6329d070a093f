"""`shoal compare`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import split_names, split_pairs, with_settings
from shoal.errors import InfeasibleError, UsageError, counted, for_command_line
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings
from shoal.tables.targets.text_file import TextFiles, check_suffix

if TYPE_CHECKING:
    from shoal.evaluate.comparison.cache import Cache
    from shoal.evaluate.comparison.compare import Comparison

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        metavar="METHODS",
        help="Methods, comma-separated: shoaling,mondrian:variant=relaxed; all for every method.",
    ),
]
Sizes = Annotated[
    list[str] | None, typer.Option("-k", "--k", metavar="SIZES", help="Group sizes to try: 2,5,10 or 2-12.")
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of runs of each method and k, each with its own seed.")]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Number of runs side by side; all cores by default.", rich_help_panel=Panel.RUN),
]
RunThreads = Annotated[
    int, typer.Option("--threads", min=1, help="Number of threads of each run.", rich_help_panel=Panel.RUN)
]
CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="Where to store the measures of finished runs; it never contains a cell.",
        rich_help_panel=Panel.RUN,
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Store nothing of this run.", rich_help_panel=Panel.RUN)]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Repeat runs whose measures are stored.", rich_help_panel=Panel.RUN)
]
HierarchiesFor = Annotated[
    str,
    typer.Option(
        metavar="all|needed",
        help="Methods that are given the hierarchies: all, or only those that need them.",
        rich_help_panel=Panel.KINDS,
    ),
]
Page = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Page with charts to write: .html.", rich_help_panel=Panel.OUTPUT),
]


@with_settings("compare")
def compare(
    data: opt.Data,
    settings: Settings,
    config: Path | None,
    methods: Methods = None,
    k: Sizes = None,
    seeds: Seeds = 1,
    target: opt.Target = None,
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="zero-r|logistic|tree|boosting",
            help="Learner that predicts the target from each release.",
            rich_help_panel=Panel.ROLES,
        ),
    ] = None,
    hierarchies_for: HierarchiesFor = "all",
    threshold: opt.Threshold = "0.2",
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="Release of another tool to score beside: arx=out.csv. May be repeated."
        ),
    ] = None,
    jobs: Jobs = None,
    threads: RunThreads = 1,
    engine: opt.DiskEngine = None,
    memory: opt.Memory = None,
    cache: CacheFolder = None,
    no_cache: NoCache = False,
    fresh: Fresh = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Tidy table to write: .csv.", rich_help_panel=Panel.OUTPUT),
    ] = None,
    report: Page = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Anonymise a table by several methods, with several k and seeds, and compare loss, risk, time and memory.

    The command releases nothing, and ignores columns without a role. It stores finished runs, so an interrupted
    comparison continues where it stopped.

    Example: shoal compare data.csv --qi age,sex,zip --methods shoaling,mondrian -k 2,5,10 --report compare.html
    """
    began = time.perf_counter()
    opt.use_threads(None)
    from shoal.evaluate.comparison.compare import DEFAULT_K, DEFAULT_METHODS, compare_table, make_cases
    from shoal.evaluate.comparison.on_disk import open_subject

    files_added = {name: Path(path) for name, path in split_pairs(add, "--add").items()}
    inputs = settings.input_files(data, config, *files_added.values())
    with open_outputs(output, report, inputs=inputs, force=force) as files:
        cases = make_cases(split_names(methods) or DEFAULT_METHODS, split_sizes(k) or DEFAULT_K, seeds)
        with open_subject(
            data,
            settings,
            engine=engine,
            memory=memory,
            jobs=jobs,
            threshold=threshold,
            target=target,
            learner=learner,
            threads=threads,
            hierarchies_for=hierarchies_for,
            added=bool(files_added),
        ) as subject:
            added = {
                name: opt.read_one_of(path, settings.reading, settings.generalised)
                for name, path in files_added.items()
            }
            store = open_cache(cache, no_cache)
            with terminal.counting() as counted:
                comparison = compare_table(
                    subject,
                    cases,
                    added,
                    store,
                    jobs=jobs,
                    fresh=fresh,
                    progress=counted,
                    spell=for_command_line,
                )
        is_empty = comparison.frame["failed"].null_count() == 0
        if is_empty:  # on any exit code but 0, the outputs are as they were
            output = report = None
        write_outputs(files, comparison, output, report)
    terminal.say_notes(comparison.notes)
    if as_json:
        terminal.print_timed_json(comparison.as_dict(), began, output=output, report=report)
    else:
        print_comparison(comparison)
    if is_empty:
        raise InfeasibleError("no run gave a release; the reasons are listed above.")


def split_sizes(texts: list[str] | None) -> tuple[int, ...]:
    """Read group sizes: 2,5,10, and ranges such as 2-12."""
    sizes: list[int] = []
    for word in split_names(texts):
        low, dash, high = word.partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or (dash and int(high) < int(low)):
            raise UsageError(f"-k {word!r} is not a group size. Write 2,5,10 or 2-12.")
        sizes += range(int(low), int(high or low) + 1)
    return tuple(sizes)


def open_cache(folder: Path | None, no_cache: bool) -> Cache:
    """Return the cache; by default it is below the user's cache folder, if there is one."""
    from shoal.datasets import cache_folder
    from shoal.evaluate.comparison.cache import Cache

    if no_cache:
        return Cache(None)
    try:
        return Cache(folder or cache_folder() / "compare")
    except RuntimeError:  # no home folder
        return Cache(None)


def open_outputs(output: Path | None, report: Path | None, *, inputs: list[Path], force: bool) -> TextFiles:
    """Return the tidy table and the page that the user named; entering them refuses what must not be written."""
    if output is not None:
        check_suffix(output, ".csv", "the table is a CSV file")
    if report is not None:
        check_suffix(report, ".html", "the report is a page")
    return TextFiles([output, report], inputs=inputs, force=force)


def write_outputs(files: TextFiles, comparison: Comparison, output: Path | None, report: Path | None) -> None:
    """Write the tidy table and the page, if the user named them."""
    texts = {}
    if output is not None:
        texts[output] = comparison.frame.write_csv()
    if report is not None:
        from shoal.evaluate.comparison.page import comparison_page

        texts[report] = comparison_page(comparison)
    files.write(texts)


def print_comparison(comparison: Comparison) -> None:
    """Print the means of all runs, the failures, and the method that lost least."""
    from shoal.evaluate.comparison.page import verdict_of

    print_runs(comparison)
    terminal.say(verdict_of(comparison))


def print_runs(comparison: Comparison) -> None:
    """Print the means of all runs, and the failures."""
    from shoal.evaluate.comparison.page import head_of, shown_rows
    from shoal.evaluate.summary import failure_words

    head = head_of(comparison)
    of_whom = "a row" if comparison.counts == "rows" else "a person"
    title = f"shoal: {counted(comparison.n_rows, 'row')}; risks are those of {of_whom}"
    if rows := shown_rows(comparison):
        terminal.print_grid(title, head, rows, right=head[1:], below=(2, 4))
    for line in failure_words(comparison):
        terminal.say(line)
