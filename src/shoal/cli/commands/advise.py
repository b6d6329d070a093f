"""`shoal advise`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.commands import compare as shared
from shoal.cli.settings import split_names, with_settings
from shoal.errors import InfeasibleError, UsageError, for_command_line
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings
from shoal.tables.targets.text_file import TextFiles, check_suffix

if TYPE_CHECKING:
    from shoal.evaluate.comparison.advise import Advice

LIMITS = "Limits"


@with_settings("advise")
def advise(
    data: opt.Data,
    settings: Settings,
    config: Path | None,
    k: shared.Sizes = None,
    methods: shared.Methods = None,
    seeds: shared.Seeds = 1,
    max_loss: Annotated[
        float | None, typer.Option(help="Largest acceptable loss (NCP), from 0 to 1.", rich_help_panel=LIMITS)
    ] = None,
    max_risk: Annotated[
        str | None,
        typer.Option(
            help="Largest acceptable probability of re-identification: 0.05 or cell-size-20.", rich_help_panel=LIMITS
        ),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(help="How far accuracy may fall below that of the original.", rich_help_panel=LIMITS),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="limits|accuracy|knee|minimum-deviation",
            help="Rule that decides; the first that applies by default.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    target: opt.Target = None,
    learner: Annotated[
        str,
        typer.Option(
            metavar="zero-r|logistic|tree|boosting",
            help="Learner that predicts the target (needs scikit-learn).",
            rich_help_panel=Panel.ROLES,
        ),
    ] = "tree",
    hierarchies_for: shared.HierarchiesFor = "all",
    jobs: shared.Jobs = None,
    threads: shared.RunThreads = 1,
    engine: opt.DiskEngine = None,
    memory: opt.Memory = None,
    cache: shared.CacheFolder = None,
    no_cache: shared.NoCache = False,
    fresh: shared.Fresh = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Chart of loss and risk over k to write: .svg.", rich_help_panel=Panel.OUTPUT
        ),
    ] = None,
    report: shared.Page = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Try many k and recommend one, with the reason in words: your limits, accuracy, the knee of loss and risk.

    The command releases nothing, and ignores columns without a role. Its exit code is 4 if no release meets the limits.

    Example: shoal advise data.csv --qi age,sex,zip --max-loss 0.1 --max-risk 0.05 --report advice.html
    """
    began = time.perf_counter()
    if report is not None:
        check_suffix(report, ".html", "the report is a page")
    if plot is not None:
        check_suffix(plot, ".svg", "the chart is an SVG file")
    if max_drop is not None and target is None:
        raise UsageError("--max-drop needs a target. Name the column of classes with --target.")
    opt.use_threads(None)
    from shoal.evaluate.comparison.advise import DEFAULT_SWEEP, RULES, Limits, advise_on
    from shoal.evaluate.comparison.compare import compare_table, make_cases
    from shoal.evaluate.comparison.on_disk import open_subject
    from shoal.risks.estimate import read_threshold

    if rule is not None and rule not in RULES:
        raise UsageError(f"--rule {rule!r} is not known. Use one of {', '.join(RULES)}.")
    limits = Limits(max_loss, None if max_risk is None else float(read_threshold(max_risk)), max_drop)
    cases = make_cases(split_names(methods) or ("shoaling",), shared.split_sizes(k) or DEFAULT_SWEEP, seeds)
    with TextFiles([plot, report], inputs=settings.input_files(data, config), force=force) as files:
        with (
            open_subject(
                data,
                settings,
                engine=engine,
                memory=memory,
                jobs=jobs,
                target=target,
                learner=None if target is None else learner,
                threads=threads,
                hierarchies_for=hierarchies_for,
            ) as subject,
            terminal.counting() as counted,
        ):
            store = shared.open_cache(cache, no_cache)
            comparison = compare_table(
                subject, cases, None, store, jobs=jobs, fresh=fresh, progress=counted, spell=for_command_line
            )
        terminal.say_notes(comparison.notes)
        advice = advise_on(comparison, limits, rule)
        if advice.chosen is None:  # on any exit code but 0, the outputs are as they were
            plot = report = None
        if not advice.opinions:  # nothing to draw
            plot = None
        write_outputs(files, advice, plot, report)
    if as_json:
        terminal.print_timed_json(advice.as_dict(), began, plot=plot, report=report)
    else:
        print_advice(advice)
    if advice.chosen is None:
        raise InfeasibleError(advice.unmet or "no rule applies to these runs.")


def write_outputs(files: TextFiles, advice: Advice, plot: Path | None, report: Path | None) -> None:
    """Write the chart and the page, if the user named them."""
    from shoal.evaluate.comparison.page import advice_chart, advice_page

    texts = {}
    if plot is not None:
        texts[plot] = advice_chart(advice).standalone()
    if report is not None:
        texts[report] = advice_page(advice)
    files.write(texts)


def print_advice(advice: Advice) -> None:
    """Print the runs, the choice of each rule, and the recommendation."""
    from shoal.evaluate.summary import opinion_words, recommendation_words

    assert advice.comparison is not None
    shared.print_runs(advice.comparison)
    for line in opinion_words(advice):
        terminal.say(line)
    if advice.chosen is not None:
        terminal.say(f"\n{recommendation_words(advice)}")
