"""What the owner of a table should know before signing a release, each with its cure."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.errors import Note, setting
from shoal.report.figures import Evidence
from shoal.report.words import percent

__all__ = ["warnings_of"]

LIFTED = 10.0  # times as frequent in a group as in the release


def warnings_of(evidence: Evidence, *, private: bool) -> list[dict[str, str]]:
    """Return what the groups of a release disclose, and the notes on it.

    The public part redacts by field: it hides counts below k, row numbers and folders, and leaves out a note that is
    a plain string, because nobody knows what that string mentions.

    Args:
        evidence: The release and its figures.
        private: Whether the warnings go into the private part.
    """
    release = evidence.release
    reading = set(release.original.notes)
    notes = [*_disclosures(evidence), *(note for note in release.notes if note not in reading)]
    warnings = []
    for note in notes:
        if not isinstance(note, Note):
            if not private:
                continue
            note = Note("", note)
        text, cure = note.sentences(None if private else release.request.k)
        warnings.append({"text": text, "cure": cure})
    return warnings


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
