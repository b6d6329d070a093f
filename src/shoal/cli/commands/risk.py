"""`shoal risk`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import demand as asked
from shoal.cli import on_spark as cluster
from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.risks import Risk
    from shoal.verification import Manifest


@with_settings("risk")
def risk(
    released: opt.Released,
    settings: Settings,
    saved: Settings,
    threshold: opt.Threshold = "0.2",
    population: Annotated[
        str | None,
        typer.Option(
            help="Size of the population from which the rows were drawn, or the file of its table.", metavar="N|FILE"
        ),
    ] = None,
    original: Annotated[
        Any | None,
        typer.Option(parser=opt.table_place, metavar="FILE", help="The original table, to show its risk beside."),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the number of people that each row represents.",
            rich_help_panel=Panel.ROLES,
        ),
    ] = None,
    manifest: asked.ManifestFile = None,
    no_manifest: asked.NoManifest = False,
    engine: opt.Engine = None,
    master: opt.Master = None,
    as_json: opt.AsJson = False,
) -> None:
    """Estimate how easily people are found in a release: prosecutor, journalist and marketer risk, and uniques.

    --delimiter, --encoding and --header apply to a file that cannot be read without them; --sheet applies to workbooks.

    Example: shoal risk out.csv --qi age,sex,zip --threshold 0.1 --population 100000
    """
    opt.use_threads(None)
    if opt.is_on_spark(engine, master, released):
        cluster.refuse(settings, person=settings.person, weight=weight)
        stated = cluster.find_manifest(released, manifest, no_manifest)
        settings = settings if stated is None else asked.take_from_manifest(settings, stated)
        qi = opt.require_qi(settings)
        found = cluster.risk(
            released, original, stated, master, qi=list(qi), threshold=threshold, population=population
        )
        _show(released, stated, *found, as_json=as_json)
        return
    stated = asked.find_manifest(released, manifest, no_manifest)
    if stated is not None:
        asked.require_true(released, stated)
        settings = asked.take_from_manifest(settings, stated)
    qi, reading = opt.require_qi(settings), settings.reading
    from shoal.metrics.extent import spread_names
    from shoal.risks import risk as risk_of
    from shoal.tables.table import Table

    people: int | Table | None = None
    if population is not None:
        people = int(population) if population.isdecimal() else opt.read_one_of(Path(population), reading, qi)

    # Whoever has the release tells groups apart by the spread of their centres, too; a population table lacks it.
    spread = [] if stated is None or isinstance(people, Table) else [n for c in stated.spread for n in spread_names(c)]

    counted = [name for name in (settings.person, weight) if name]
    release = asked.read_release(released, stated, settings, counted)
    # A release lacks the person column that a shoal.toml names; its original is counted in the same unit.
    is_absent = settings.person == saved.person and settings.person not in release.names

    def estimate(table: Table, *, is_release: bool) -> Risk:
        return risk_of(
            table,
            qi=[*qi, *(name for name in spread if is_release and name in table.names)],
            threshold=threshold,
            population=people,
            person=None if is_absent else settings.person,
            weight=weight,
            hierarchies=asked.given_hierarchies(settings),
            **reading.cells,
        )

    estimates = estimate(release, is_release=True)
    before = (
        None
        if original is None
        else estimate(opt.read_one_of(original, reading, qi, counted=counted), is_release=False)
    )
    _show(released, stated, estimates, before, as_json=as_json)


def _show(released: opt.Place, stated: Manifest | None, estimates: Risk, before: Risk | None, *, as_json: bool) -> None:
    from shoal.report import risk_summary

    if stated is not None and not as_json:
        is_by_row = stated.counts_people and estimates.counts == "rows"
        terminal.say_notes([asked.about_manifest(stated), *([asked.BY_ROW] if is_by_row else [])])
    if as_json:
        terminal.print_json(risk_summary.risk_json(estimates, before))
    else:
        terminal.print_table(f"shoal: {released}", risk_summary.risk_facts(estimates, before))
