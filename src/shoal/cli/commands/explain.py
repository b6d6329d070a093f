"""`shoal explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import demand as asked
from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.errors import Note, UsageError, counted, setting
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shoal.release.explanation import Explanation
    from shoal.release.explanation.explanation import Alternative, Group
    from shoal.verification import Manifest

PRIVATE = Note("", "this output contains cells of the original", "keep it as private as the table")
PEOPLE = Note(
    "",
    "k counts people, but the release does not say which rows belong to one person, so rows are counted here",
    f"name the column that identifies people with {setting('person')}",
)


@with_settings("explain")
def explain(
    released: opt.Released,
    settings: Settings,
    original: Annotated[Path, typer.Option(help="The original table.", metavar="FILE", rich_help_panel=Panel.FILES)],
    row: Annotated[int, typer.Option(help="Row of the original, from 1; the header does not count.")],
    manifest: asked.ManifestFile = None,
    no_manifest: asked.NoManifest = False,
    as_json: opt.AsJson = False,
) -> None:
    """Say why the cells of a row are as wide as they are: its group, its neighbours, and what else is possible.

    The output contains cells of the original: keep it as private as the table. The manifest beside the release says
    what it promises; hierarchies come from --hierarchy, --hierarchies or --config. A release does not say which of its
    rows an original row became, so every group that fits is shown.

    Example: shoal explain out.csv --original data.csv --row 17
    """
    opt.use_threads(None)
    from shoal.release.explanation.explain import explain_tables

    stated = asked.find_manifest(released, manifest, no_manifest)
    if stated is not None:
        asked.require_true(released, stated)
        settings = asked.take_from_manifest(settings, stated)
    qi, reading = opt.require_qi(settings), settings.reading
    if settings.k is None:
        raise UsageError(f"k is not given, and there is no manifest. Pass the k of the release: {setting('k', 5)}.")
    explanation = explain_tables(
        opt.read_one_of(original, reading, qi, original=True),
        asked.read_release(released, stated, settings),
        row,
        qi=qi,
        k=settings.k,
        person=settings.person,
        rules=settings.rules(),
        reading=reading,
        stated=stated,
    )
    terminal.say_notes([PRIVATE])
    if stated is not None:
        terminal.say_notes(_about_manifest(stated, settings))
    if as_json:
        terminal.print_json(explanation.as_dict())
        return
    terminal.print_table(f"shoal: row {row}", _facts(explanation))
    for number, group in enumerate(explanation.groups, 1):
        title = "its group" if len(explanation.groups) == 1 else f"group {number} of {len(explanation.groups)}"
        terminal.print_table(title, _group_facts(group, explanation))
    terminal.print_table("if only this row mattered", list(_alternative_facts(explanation)))


def _about_manifest(stated: Manifest, settings: Settings) -> list[Note]:
    """Note what the explanation does not consider."""
    notes = [PEOPLE] if stated.counts_people and settings.person is None else []
    if len(stated.words) > 1:
        text = f"the release also meets {', '.join(stated.words[1:])}, which can widen cells; only k is considered here"
        notes.append(Note("", text))
    return notes


def _facts(found: Explanation) -> list[tuple[str, str]]:
    """Return what is known about the row itself."""
    if found.counts == "persons":
        alike = counted(found.alike, "person has", "people have")
    else:
        alike = counted(found.alike, "row has", "rows have")
    lacking = found.k - found.alike
    needs = f"k = {found.k} needs {lacking} more" if lacking > 0 else f"k = {found.k} needs no more"
    groups = {0: "none: the row is not in the release", 1: "one fits"}
    fitting = groups.get(len(found.groups), f"{len(found.groups)} fit; nothing tells which of them is its own")
    facts = [("quasi-identifiers", _listed(found.values)), ("alike", f"{alike} them all; {needs}"), ("groups", fitting)]
    return [*facts, ("why", _why(found))] if found.groups and found.own is not None else facts


def _why(found: Explanation) -> str:
    """Divide the loss of the row into what k costs it and what other rows, and the method, cost it."""
    assert found.own is not None
    lost, own = found.groups[0].loss, found.own.loss
    if lost == 0:
        return "every cell is exact: the row has enough look-alikes as it is"
    if lost <= own:
        return f"loss {lost:.2%}: no more than a group of {found.k} around this row alone was found to lose ({own:.2%})"
    share = f"loss {lost:.2%}: {own:.2%} because {found.k} must look alike"
    return f"{share}, {lost - own:.2%} because other rows need look-alikes too, or the method found no better group"


def _group_facts(group: Group, found: Explanation) -> list[tuple[str, str]]:
    """Return why the cells of a group are as wide as they are."""
    covered = counted(group.covered, "original row")
    facts = [("rows", f"{group.rows:,} released; its cells cover {covered}"), ("loss", f"{group.loss:.2%}")]
    for column in sorted(group.columns, key=lambda each: -each.loss):
        if column.shown == column.value or column.loss == 0:
            facts.append((column.column, f"{_cell(column.shown)}: exact"))
            continue
        own = (
            f"{found.k} {'rows' if found.counts == 'rows' else 'people'} around this row alone need {column.narrowest}"
        )
        values = counted(column.values, "value")
        facts.append(
            (
                column.column,
                f"{_cell(column.value)} became {_cell(column.shown)}: {values}, loss {column.loss:.2%}; {own}",
            )
        )
    for neighbour in group.neighbours:
        rows = f"row {neighbour.row}" + f" and {neighbour.rows - 1} more" * (neighbour.rows > 1)
        words = f"{rows}: {_listed(neighbour.values)}; together they would lose {neighbour.distance:.2%}"
        facts.append(("nearest outside", words))
    return facts


def _alternative_facts(found: Explanation) -> Iterable[tuple[str, str]]:
    """Yield what a group around this row alone would show: with this k, a smaller one, or without a column."""
    if found.own is None:
        yield f"k = {found.k}", "the table is too small"
    for each in (*(() if found.own is None else (found.own,)), *found.smaller_k):
        yield f"k = {each.k}", _alternative_words(each)
    for each in found.without:
        yield f"without {each.without}", _alternative_words(each)


def _alternative_words(found: Alternative) -> str:
    now = "" if found.loss_now is None else f" (released: {found.loss_now:.2%})"
    return f"loss {found.loss:.2%}{now}; {_listed(found.cells)}"


def _listed(cells: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {_cell(text)}" for name, text in cells.items())


def _cell(text: str) -> str:
    return text or "(missing)"
