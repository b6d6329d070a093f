"""What only a manifest says about the cells of an original, beside what the original shows.

A manifest may have been forged with its release. A reading of cells that it alone states must not make cells equal
that the original keeps apart, nor order them in another way than the original does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from shoal.errors import setting
from shoal.schema import Column, Kind
from shoal.verification.cells import Cells
from shoal.verification.verdict import Violation

__all__ = ["doubt_about", "doubtful_reading"]

PADDED = re.compile(r"[^0-9]*0[0-9]")


def doubtful_reading(
    claimed: Column, own: Column, texts: Sequence[str], unconfirmed: Collection[str]
) -> tuple[Column, bool] | None:
    """Return how the cells must be read as well, so that a manifest alone cannot say which of them are equal.

    Args:
        claimed: The column as the manifest describes it.
        own: The column as the original shows it.
        texts: The distinct values of the original.
        unconfirmed: Those of them that mean a missing value only because the manifest says so.

    Returns:
        A column, and whether single values are compared by their texts; None if the manifest says nothing new.
    """
    if claimed.kind in (None, Kind.CATEGORICAL) or (claimed == own and not unconfirmed):
        return None
    one, other = Cells.of(claimed), Cells.of(own)
    is_measured = own.kind in (Kind.NUMERIC, Kind.DATE) or (own.kind is None and _are_measured(other, texts))
    if claimed.kind is not None and claimed.kind.is_measured and is_measured:
        known = [text for text in texts if text not in unconfirmed]
        if _ranks(one, known) != _ranks(other, known):
            return own, False
    by_place = is_measured or own.kind is Kind.BOOLEAN
    meanings: dict[tuple[str, Any], tuple[str, Any]] = {}
    for text in texts:
        place = one.place(text)
        is_told = by_place and text not in unconfirmed
        meaning = other.place(text) if is_told else ("text", text)
        if place[0] != "text" and meanings.setdefault(place, meaning) != meaning:
            return claimed, True
    return None


def _are_measured(cells: Cells, texts: Sequence[str]) -> bool:
    """Return whether all texts are numbers or dates, and none of them a code such as 02139."""
    scales = [(text, cells.place(text)[0]) for text in texts]
    return all(scale == "date" or (scale == "number" and not PADDED.match(text)) for text, scale in scales)


def _ranks(cells: Cells, texts: Sequence[str]) -> list[int]:
    """Return the rank of each text among all of them; equal ones share it."""
    places = [cells.place(text) for text in texts]
    rank_of = {place: rank for rank, place in enumerate(sorted(set(places)))}
    return [rank_of[place] for place in places]


def doubt_about(column: Column) -> Violation:
    """Return what to say about a column whose reading only the manifest states, if its cells do not fit without it."""
    kind, cure = column.kind, setting("numeric")
    form = ""
    if kind is Kind.DATE:
        form, cure = f" ({column.date_format})", setting("dates")
    elif kind is Kind.BOOLEAN:
        cure = setting("boolean")
    elif column.unit:
        form, cure = f" (unit {column.unit})", setting("units")
    elif (column.decimal, column.thousands) != (Column.decimal, Column.thousands):
        form = f" (marks {column.decimal!r} and {column.thousands!r})"
        cure = f"{setting('decimal')} and {setting('thousands')}"
    text = f"only the manifest says that its cells are {kind}{form}; if that is so, declare it with {cure}"
    return Violation(f"column {column.name!r}", text)
