"""`shoal measure`."""

from __future__ import annotations

import csv
import time
from dataclasses import replace
from typing import Annotated, Any

import typer

from shoal.cli import demand as asked
from shoal.cli import on_spark as cluster
from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import split_pairs, with_settings
from shoal.errors import UsageError
from shoal.hierarchy.level_weights import Climb
from shoal.schema import check_k
from shoal.settings.fields import Panel
from shoal.settings.settings import AUTO, Settings


@with_settings("measure")
def measure(
    original: opt.Original,
    released: opt.Released,
    settings: Settings,
    target: opt.Target = None,
    beta: Annotated[
        float | None,
        typer.Option(
            "--beta", help="Give levels near the root more weight: 1/height^beta.", rich_help_panel=Panel.KINDS
        ),
    ] = None,
    level_weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=WEIGHTS",
            help="Weights of the steps of a hierarchy, from the values up: zip=1,2,4. May be repeated.",
            rich_help_panel=Panel.KINDS,
        ),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=DOMAIN",
            help="Domain of a column, if it exceeds the values of the original: age=0:120, or sex=f:m:x. May be "
            "repeated.",
            rich_help_panel=Panel.KINDS,
        ),
    ] = None,
    manifest: asked.ManifestFile = None,
    no_manifest: asked.NoManifest = False,
    engine: opt.Engine = None,
    master: opt.Master = None,
    as_json: opt.AsJson = False,
) -> None:
    """Score a release: how much information it lost, and how large its groups are.

    --config supplies data constraint rules and declared values for the research value. --delimiter, --encoding and
    --header apply to a file that cannot be read without them; --sheet applies to workbooks.

    Example: shoal measure data.csv out.csv --qi age,sex,zip
    """
    began = time.perf_counter()
    opt.use_threads(None)
    on_spark = opt.is_on_spark(engine, master, original, released)
    if on_spark:
        cluster.refuse(settings, target=target)
    stated = (cluster if on_spark else asked).find_manifest(released, manifest, no_manifest)
    if stated is not None:
        if not on_spark:
            asked.require_true(released, stated)
        settings = asked.take_from_manifest(settings, stated)
    k = None if settings.k is None else check_k(settings.k)
    qi, reading = opt.require_qi(settings), settings.reading
    from shoal.release.anonymize import measure as measure_release
    from shoal.report import summary

    weights = {name: float(weight) for name, weight in settings.column_weights().items()}
    research: dict[str, Any] = {
        name: settings.options[name] for name in ("values", "alpha") if name in settings.options
    }
    options: dict[str, Any] = {
        "qi": qi,
        "k": k,
        "weights": weights if settings.weights != AUTO else AUTO,
        "hierarchies": settings.rules(),
        "domains": _domains(domain),
        "climb": _climb(beta, level_weights),
        "target": target,
        "rules": settings.data_rules(),
        "recode": settings.recode,
        "cells": "center" if stated is not None and stated.center else settings.cells,
        **research,
        **reading.cells,
    }
    if on_spark:
        measures = cluster.measure(original, released, stated, master, options)
    else:
        # A hierarchy is proposed from all columns.
        counted = None if asked.has_proposals(settings) else [target] if target else []
        measures = measure_release(
            opt.read_one_of(original, reading, qi, original=True, counted=counted),
            asked.read_release(released, stated, settings, counted),
            **options,
        )
    if stated is not None and stated.center == "median":
        measures = replace(measures, sse=None)
    terminal.say_notes([] if stated is None or as_json else [asked.about_manifest(stated)])
    if as_json:
        terminal.print_timed_json(summary.measures_json(measures, k), began, output=released, manifest=None)
    else:
        facts = summary.measures_facts(measures)
        facts += summary.further_facts(measures) if measures.has_loss else []
        terminal.print_table(f"shoal: {released}", facts)


def _domains(texts: list[str] | None) -> dict[str, list[str]]:
    """Return the domains by column: the parts between colons; a part with a colon is in double quotes."""
    domains = {}
    for name, text in split_pairs(texts, "--domain").items():
        domains[name] = next(csv.reader([text], delimiter=":"), [])
        if len(domains[name]) < 2:
            raise UsageError(f"--domain {name}={text}: write the least and the greatest value, or all: {name}=0:120.")
    return domains


def _climb(beta: float | None, level_weights: list[str] | None) -> Climb:
    """Return the weights of the levels of hierarchies."""
    weights = {}
    for name, text in split_pairs(level_weights, "--level-weights").items():
        try:
            weights[name] = [float(weight) for weight in text.split(",")]
        except ValueError:
            raise UsageError(
                f"--level-weights {name}={text}: not numbers. Give one for each step, from the values up: {name}=1,2,4."
            ) from None
    return Climb(given=weights) if beta is None else Climb("height", beta, weights)
