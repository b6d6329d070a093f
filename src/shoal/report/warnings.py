"""What the owner of a table should know before signing a release, each with its cure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.errors import Note, setting
from shoal.report.figures import Evidence
from shoal.report.words import percent
from shoal.schema import Role, Schema

if TYPE_CHECKING:
    from shoal.release.release import Request

__all__ = ["about_settings", "warnings_of"]

SMALL_K = 3  # below it, a warning

LIFTED = 10.0  # times as frequent in a group as in the release


def warnings_of(evidence: Evidence, *, private: bool) -> list[dict[str, str]]:
    """Return what the groups of a release disclose, and the notes on it.

    Notes on the original are private. The public part has the notes that follow from the settings.

    Args:
        evidence: The release and its figures.
        private: Whether the warnings go into the private part.
    """
    release = evidence.release
    if private:
        reading = set(release.original.notes)
        notes = [note for note in release.notes if note not in reading]
    else:
        k = release.public_figures.k
        notes = [*about_settings(release.request, release.schema, k), *_accepted(release.request)]
    warnings = []
    for note in (*_disclosures(evidence), *notes):
        note = note if isinstance(note, Note) else Note("", note)
        text, cure = note.sentences(None if private else release.public_figures.k)
        warnings.append({"text": text, "cure": cure})
    return warnings


def about_settings(request: Request, schema: Schema, k: int) -> list[Note]:
    """Note what the settings of a release leave open.

    Args:
        request: What the user requested.
        schema: The columns.
        k: The k of the release.
    """
    notes = []
    if k < SMALL_K:
        notes.append(Note("", f"k={k} protects little", "5 is a common choice"))
    if request.keep_order:
        text = "rows keep their order, which identifies people to anyone who knows it"
        notes.append(Note("", text, f"leave out {setting('keep_order', True)}"))
    if not schema.names(Role.PERSON):
        cure = f"if a person has several rows, name the column that identifies people with {setting('person')}"
        notes.append(Note("", "each row counts as one person", cure))
    return notes


def _accepted(request: Request) -> Iterator[Note]:
    """Yield a note for each column that is released although its values may be rare; their number is private."""
    for name in request.accept_unique:
        text = "is released unchanged although some of its values may be rare, as was accepted"
        yield Note(f"column {name!r}", text, "make sure that nobody knows these values of a person")


def _disclosures(evidence: Evidence) -> Iterator[Note]:
    """Yield a note for each sensitive column of which groups show one value, or one value far too often."""
    protected = {spec.get("column") for spec in evidence.release.request.specs}
    for facts in evidence.sensitive:
        if facts.name in protected:
            continue
        about = f"column {facts.name!r}"
        if facts.one_value:
            share = percent(facts.one_value / max(1, evidence.written.rows - evidence.starred))
            text = (
                f"{{rows:row is|rows are}} in groups that share one value ({share} of the rows), so finding the group "
                "reveals "
                "the value"
            )
            yield Note(about, text, f"ask for {setting('l', 2)} or more", {"rows": facts.one_value})
        if facts.lift >= LIFTED:
            text = (
                f"a value that makes up at least half of a group is {facts.lift:.0f} times as frequent there as in "
                "the release"
            )
            yield Note(about, text, f"limit this with {setting('t')} (t-closeness)")
