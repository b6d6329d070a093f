"""What the owner of a table should know before signing, each with what helps against it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from shoal.report.figures import Evidence
from shoal.report.words import hide_counts, percent

__all__ = ["warnings_of"]

LIFTED = 10.0  # times more frequent in a group than in the whole


def warnings_of(evidence: Evidence, *, private: bool) -> list[dict[str, str]]:
    """Return the remarks on a release, and what its groups give away; in the public part without small counts."""
    release = evidence.release
    remarks = [note for note in release.notes if note not in release.original.notes]
    texts = [*_given_away(evidence), *remarks]
    k, told = release.request.k, []
    for text, _, cure in map(_cut, texts):
        if not private:
            text, cure = hide_counts(_without_paths(text, release.settings), k), _without_paths(cure, release.settings)
        told.append({"text": _sentence(text), "cure": _sentence(cure)})
    return told


def _given_away(evidence: Evidence) -> list[str]:
    """Say which sensitive columns groups give away: by one value alone, or by one that is far more frequent."""
    limited = {spec.get("column") for spec in evidence.release.request.specs}
    texts = []
    for facts in evidence.sensitive:
        if facts.one_value and facts.name not in limited:
            share = percent(facts.one_value / max(1, evidence.written.rows - evidence.starred))
            texts.append(
                f"column {facts.name!r}: {facts.one_value:,} rows ({share}) stand in groups that share one value, "
                "which whoever finds the group learns; ask for --l 2 or more"
            )
        if facts.lift >= LIFTED and facts.name not in limited:
            texts.append(
                f"column {facts.name!r}: a value that makes up half of a group or more is {facts.lift:.0f} times as "
                "frequent there as in the whole release; --t limits that"
            )
    return texts


def _without_paths(text: str, settings: Any) -> str:
    for given in (*settings.hierarchies.values(), settings.population):
        if isinstance(given, str | os.PathLike):
            text = text.replace(str(given), Path(given).name)
    return text


def _cut(text: str) -> tuple[str, str, str]:
    """Return a remark, and the cure that stands after its last semicolon."""
    return text.rpartition("; ") if "; " in text else (text, "", "")


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
