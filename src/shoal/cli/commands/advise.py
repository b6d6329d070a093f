"""`shoal advise`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.commands import compare as shared
from shoal.errors import InfeasibleError, UsageError, for_command_line
from shoal.settings.settings import Settings, read_config
from shoal.tables.targets.text_file import check_text_target, write_text

if TYPE_CHECKING:
    from shoal.evaluate.comparison.advise import Advice

LIMITS = "What you can live with"


def advise(
    data: Annotated[Path, typer.Argument(help="The table: CSV, Parquet, Arrow or Excel.")],
    qi: opt.Qi = None,
    k: shared.Sizes = None,
    methods: shared.Methods = None,
    seeds: shared.Seeds = 1,
    max_loss: Annotated[
        float | None, typer.Option(help="The largest loss (NCP), from 0 to 1.", rich_help_panel=LIMITS)
    ] = None,
    max_risk: Annotated[
        str | None,
        typer.Option(help="The largest chance of a row to be found: 0.05 or cell-size-20.", rich_help_panel=LIMITS),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(help="How far accuracy may fall below that of the original.", rich_help_panel=LIMITS),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="Whose choice to take: limits, accuracy, knee or minimum-deviation.", rich_help_panel=LIMITS),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Column whose classes the release should still tell.", rich_help_panel=opt.ROLES),
    ] = None,
    learner: Annotated[
        str,
        typer.Option(
            help="What learns the target: zero-r, logistic, tree, boosting (needs scikit-learn).",
            rich_help_panel=opt.ROLES,
        ),
    ] = "tree",
    sensitive: opt.Sensitive = None,
    person: opt.Person = None,
    l: opt.L = None,
    t: opt.T = None,
    model: opt.Models = None,
    suppression_limit: shared.Limit = None,
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
    jobs: shared.Jobs = None,
    threads: shared.RunThreads = 1,
    cache: shared.CacheFolder = None,
    no_cache: shared.NoCache = False,
    fresh: shared.Fresh = False,
    config: opt.Config = None,
    plot: Annotated[
        Path | None, typer.Option(help="Loss and risk over k as a drawing: .svg.", rich_help_panel=opt.OUTPUT)
    ] = None,
    report: shared.Page = None,
    force: shared.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Try many k and recommend one, with the reason in words: your limits, accuracy, the knee of loss and risk.

    Nothing is released. Columns that no role names are left out. Exit code 4 says that no release meets the limits.

    Example: shoal advise data.csv --qi age,sex,zip --max-loss 0.1 --max-risk 0.05 --report advice.html
    """
    began = time.perf_counter()
    settings = Settings(
        l=l,
        t=t,
        models=opt.split_models(model),
        suppression_limit=suppression_limit,
        qi=opt.split_names(qi),
        sensitive=opt.split_names(sensitive),
        person=person,
        **opt.split_kinds(numeric, categorical, date, missing),
        hierarchies=opt.split_pairs(hierarchy, "--hierarchy"),
        trust_hierarchies=trust_hierarchies or None,
        unknown=unknown,
    ).over(opt.file_settings(delimiter, encoding, header))
    settings = settings.over(read_config(config)) if config else settings
    shared.check_outputs(data, None, report, force=force)
    if plot is not None:
        check_text_target(plot, suffix=".svg", what="the drawing is an SVG file", source=data, force=force)
    if max_drop is not None and target is None:
        raise UsageError("--max-drop has no target. Name the column of classes with --target.")
    opt.use_threads(None)
    from shoal.evaluate.comparison.advise import DEFAULT_SWEEP, RULES, Limits, advise_on
    from shoal.evaluate.comparison.compare import compare_table, make_cases
    from shoal.risks.estimate import read_threshold

    if rule is not None and rule not in RULES:
        raise UsageError(f"--rule {rule!r} is not known. Use one of {', '.join(RULES)}.")
    limits = Limits(max_loss, None if max_risk is None else float(read_threshold(max_risk)), max_drop)
    cases = make_cases(opt.split_names(methods) or ("shoaling",), shared.split_sizes(k) or DEFAULT_SWEEP, seeds)
    subject = shared.read_subject(
        data, settings, target=target, learner=None if target is None else learner, threads=threads
    )
    with terminal.counting() as counted:
        kept = shared.open_cache(cache, no_cache)
        found = compare_table(
            subject, cases, None, kept, jobs=jobs, fresh=fresh, progress=counted, spell=for_command_line
        )
    advice = advise_on(found, limits, rule)
    write_outputs(advice, plot, report)
    if as_json:
        places = {"plot": plot and str(plot), "report": report and str(report)}
        terminal.print_json(advice.as_dict() | {"seconds": round(time.perf_counter() - began, 3)} | places)
    else:
        print_advice(advice)
    if advice.chosen is None:
        raise InfeasibleError(advice.unmet or "no rule applies to these runs.")


def write_outputs(advice: Advice, plot: Path | None, report: Path | None) -> None:
    """Write the drawing and the page, where they are asked for."""
    from shoal.evaluate.comparison.page import advice_chart, advice_page

    if plot is not None and advice.opinions:
        write_text(plot, advice_chart(advice).standalone())
    if report is not None:
        write_text(report, advice_page(advice))


def print_advice(advice: Advice) -> None:
    """Print the runs, what each rule says, and the recommendation."""
    from shoal.evaluate.summary import opinion_words, recommendation_words

    assert advice.comparison is not None
    shared.print_runs(advice.comparison)
    for line in opinion_words(advice):
        typer.echo(line)
    if advice.chosen is not None:
        typer.echo(f"\n{recommendation_words(advice)}")
