"""What the owner of a table should know before signing a release, each with its cure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from shoal.errors import Note, counted, setting
from shoal.metrics.measure import count_starred
from shoal.report.groups import count_one_value, with_spread
from shoal.report.words import percent, rounded
from shoal.schema import Role, Schema
from shoal.tables.table import Factor, Table

if TYPE_CHECKING:
    from shoal.release.release import Request
    from shoal.report.figures import Evidence

__all__ = ["about_groups", "about_one_value", "about_settings", "warnings_of"]

SMALL_K = 3  # below it, a warning

LIFTED = 10.0  # times as frequent in a group as in the release


def warnings_of(evidence: Evidence, *, private: bool) -> list[dict[str, str]]:
    """Return what the groups of a release disclose, and the notes on it.

    Notes on the original are private. The public part has the notes that follow from the settings.

    Args:
        evidence: The release and its figures.
        private: Whether the warnings go into the private part.
    """
    release, disclosures = evidence.release, _disclosures(evidence)
    if private:
        known = {*release.original.notes, *disclosures}
        notes = [note for note in release.notes if note not in known]
    else:
        k = release.public_figures.k
        notes = [*about_settings(release.request, k), *_accepted(release.request)]
    warnings = []
    for note in (*disclosures, *notes):
        note = note if isinstance(note, Note) else Note("", note)
        text, cure = note.sentences(None if private else release.public_figures.k, evidence.written.spell)
        warnings.append({"text": text, "cure": cure})
    return warnings


def about_settings(request: Request, k: int) -> list[Note]:
    """Note what the settings of a release leave open.

    Args:
        request: What the user requested.
        k: The k of the release.
    """
    notes = []
    if k < SMALL_K:
        notes.append(Note("", f"a k of {k} protects little", "5 is a common choice"))
    if request.target is not None:
        text = "the release was made for this column, so its groups tell more about it than those of another release"
        notes.append(Note(f"column {request.target!r}", text, f"{setting('l', 2)} or more keeps groups diverse"))
    if request.has_centers:
        text = "cells are the centres of their groups and not true of each row"
        notes.append(Note("", text, "tell whoever computes with them"))
        if request.center == "mean":
            text = (
                "whoever knows all values behind a mean but one can work out that one, up to the rounding of the mean"
            )
            if request.spread:
                text += "; with its standard deviation the last two, so a group of two shows both values"
            notes.append(Note("", text, "the larger k is, the fewer can know that much"))
        else:
            text = "a median is the exact value of a row of its group, or lies between those of two rows"
            notes.append(Note("", text, f"{setting('center', 'mean')} shows no value of a single row"))
    if request.keep_order:
        text = "rows keep their order, which identifies people to anyone who knows it"
        notes.append(Note("", text, f"leave out {setting('keep_order', True)}"))
    return notes


def about_groups(table: Table, schema: Schema, request: Request, spread: Mapping[str, Factor]) -> list[Note]:
    """Note that whole groups share one value of a sensitive column that no model protects.

    Args:
        table: The released rows.
        schema: The columns.
        request: What the user requested.
        spread: The spread of each quasi-identifier, if groups show their centres with it.
    """
    protected = {spec.get("column") for spec in request.specs}
    names = [column.name for column in schema.qi]
    sensitive = [name for name in schema.names(Role.SENSITIVE) if name in table.names and name not in protected]
    counts = count_one_value(*with_spread(table, names, spread), sensitive)
    return about_one_value(counts, table.n_rows - count_starred(table, names))


def about_one_value(counts: Mapping[str, int], n_rows: int) -> list[Note]:
    """Note the rows in groups that share one value: of the column with most of them, and how many other columns.

    Args:
        counts: By sensitive column, these rows.
        n_rows: The number of rows in groups.
    """
    ranked = sorted((name for name, rows in counts.items() if rows), key=lambda name: -counts[name])
    if not ranked:
        return []
    text = (
        f"{{rows:row is|rows are}} in groups that share one value ({percent(counts[ranked[0]] / n_rows)} of the rows), "
        "so whoever finds the group learns the value"
    )
    text += f"; the same holds for {counted(len(ranked) - 1, 'other sensitive column')}" if len(ranked) > 1 else ""
    return [Note(f"column {ranked[0]!r}", text, f"ask for {setting('l', 2)} or more", {"rows": counts[ranked[0]]})]


def _accepted(request: Request) -> Iterator[Note]:
    """Yield a note for each column that is released although its values may be rare; their number is private."""
    for name in request.accept_unique:
        text = "is released unchanged although some of its values may be rare, as was accepted"
        yield Note(f"column {name!r}", text, "make sure that nobody knows these values of a person")


def _disclosures(evidence: Evidence) -> list[Note]:
    """Note the sensitive columns of which groups show one value, or one value far too often."""
    protected = {spec.get("column") for spec in evidence.release.request.specs}
    unprotected = [facts for facts in evidence.sensitive if facts.name not in protected]
    counts = {**evidence.written.one_value, **{facts.name: facts.one_value for facts in unprotected}}
    notes = about_one_value(counts, evidence.written.rows - evidence.starred)
    lifted = sorted((facts for facts in unprotected if facts.lift >= LIFTED), key=lambda facts: -facts.lift)
    if lifted:
        text = (
            "a value that makes up at least half of a group is "
            f"{rounded(lifted[0].lift):g} times as frequent there as in the release"
        )
        text += f"; similar in {counted(len(lifted) - 1, 'other sensitive column')}" if len(lifted) > 1 else ""
        notes.append(Note(f"column {lifted[0].name!r}", text, f"limit this with {setting('t')} (t-closeness)"))
    return notes
