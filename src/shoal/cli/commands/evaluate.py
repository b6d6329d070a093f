"""`shoal evaluate`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import demand as asked
from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

LEARNING = "Queries and learners"


@with_settings("evaluate")
def evaluate(
    original: opt.Original,
    released: opt.Released,
    settings: Settings,
    target: opt.Target = None,
    held_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Original rows that were not released, to test learners on.", rich_help_panel=LEARNING
        ),
    ] = None,
    queries: Annotated[int, typer.Option(help="Number of random range queries.", rich_help_panel=LEARNING)] = 1000,
    folds: Annotated[int, typer.Option(help="Number of folds of cross-validation.", rich_help_panel=LEARNING)] = 5,
    seed: Annotated[int, typer.Option(help="Seed of queries and folds.", rich_help_panel=Panel.RUN)] = 0,
    manifest: asked.ManifestFile = None,
    no_manifest: asked.NoManifest = False,
    as_json: opt.AsJson = False,
) -> None:
    """Test what a release is still good for: range queries, statistics and, with a target, learners and trees.

    --delimiter, --encoding and --header apply to a file that cannot be read without them; --sheet applies to workbooks.

    Example: shoal evaluate data.csv out.csv --qi age,sex,zip --target disease
    """
    began = time.perf_counter()
    opt.use_threads(None)
    stated = asked.find_manifest(released, manifest, no_manifest)
    if stated is not None:
        asked.require_true(released, stated)
        settings = asked.take_from_manifest(settings, stated)
    qi, reading = opt.require_qi(settings), settings.reading
    from shoal.evaluate.assessment import STAGES, utility

    hierarchies = settings.rules()
    with terminal.progress(dict.fromkeys(STAGES, 1 / len(STAGES))) as (stage, progress):
        assessment = utility(
            opt.read_one_of(original, reading, qi, original=True),
            asked.read_release(released, stated, settings),
            qi=qi,
            target=target,
            held_out=opt.read_one_of(held_out, reading, qi) if held_out and target else held_out,
            queries=queries,
            folds=folds,
            seed=seed,
            hierarchies=hierarchies,
            recode=settings.recode,
            k=settings.k,
            stage=stage,
            progress=progress,
            **reading.cells,
        )
    terminal.say_notes([] if stated is None or as_json else [asked.about_manifest(stated)])
    if as_json:
        terminal.print_timed_json(assessment.as_dict(), began)
        return
    from shoal.evaluate.summary import utility_facts

    terminal.print_table(f"shoal: {released}", utility_facts(assessment))
