"""Data constraint rules in the verifier's own reading: the sets of values that no group may mix."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.schema import Kind
from shoal.verification.cells import Cells, normalise
from shoal.verification.matching.rows import Avoided
from shoal.verification.reading.coded import CodedColumn

__all__ = ["avoided_sets"]


def avoided_sets(rule: Mapping[str, Any], position: int, column: CodedColumn, cells: Cells) -> list[Avoided]:
    """Return the pairs of sets of values that a rule keeps apart.

    Args:
        rule: The rule as plain values, in exactly one of the forms apart, groupings, inflection and range.
        position: The position of its column among the quasi-identifiers.
        column: The column in the original.
        cells: How to read its cells.
    """
    normal = [normalise(text) for text in column.texts]
    is_missing = [cells.is_missing(text) for text in normal]
    markers = {text for text, missing in zip(normal, is_missing, strict=True) if missing}
    token = markers.pop() if len(markers) == 1 else ""  # the one marker stays as it is, several are one value
    forms = [token if missing else text for text, missing in zip(normal, is_missing, strict=True)]
    if rule.get("apart") is not None:
        one, other = (_is_member(forms, side, cells) for side in rule["apart"])
        return [Avoided(position, (one, other))]
    if rule.get("groupings") is not None:
        members = [_is_member(forms, grouping, cells) for grouping in rule["groupings"]]
        listed = np.logical_or.reduce([np.zeros(len(forms), dtype=bool), *members])
        alone = sorted({form for form, is_listed in zip(forms, listed, strict=True) if not is_listed})
        members += [_is_member(forms, [form], cells) for form in alone]
        return [Avoided(position, (mask, ~mask)) for mask in members]
    places = [None if missing else _position(cells, form) for form, missing in zip(forms, is_missing, strict=True)]
    is_dated = any(isinstance(place, datetime.datetime) for place in places)
    low, high = (_bound(rule, bound, is_dated, cells) for bound in rule.get("inflection") or rule["range"])

    def where(holds: Callable[[Any], bool]) -> NDArray[np.bool_]:
        return np.array([place is not None and holds(place) for place in places], dtype=bool)

    if rule.get("inflection") is not None:
        return [Avoided(position, (where(lambda place: place <= low), where(lambda place: place >= high)))]
    below, above = where(lambda place: place < low), where(lambda place: place > high)
    known = where(lambda place: True)
    return [Avoided(position, (below, known & ~below)), Avoided(position, (known & ~above, above))]


def _is_member(forms: Sequence[str], side: object, cells: Cells) -> NDArray[np.bool_]:
    """Return which values are on a side; of booleans, every spelling of a value is."""
    texts = {normalise(str(side))} if isinstance(side, str | int | float) else {normalise(str(t)) for t in side}  # type: ignore[attr-defined]
    truths = {place for place in map(cells.place, texts) if place[0] == "truth"}
    return np.array([form in texts or cells.place(form) in truths for form in forms], dtype=bool)


def _position(cells: Cells, form: str) -> Any:
    """Return a number, a rank or a moment; None for a text."""
    scale, value = cells.place(form)
    return _moment(value) if scale == "date" else value if scale in ("number", "rank") else None


def _bound(rule: Mapping[str, Any], bound: object, is_dated: bool, cells: Cells) -> Any:
    """Return the position of a bound: as a plain number or an ISO date, else as the column writes its values."""
    if isinstance(bound, datetime.datetime):
        return bound.replace(tzinfo=None)
    text = bound.isoformat() if isinstance(bound, datetime.date) else normalise(str(bound))
    place = _position(Cells(Kind.DATE if is_dated else Kind.NUMERIC), text) if not cells.has_ranks else None
    if place is None:
        place = _position(cells, text)
    if place is None:
        raise UsageError(f"rule for column {rule['column']!r}: a bound is not a {'date' if is_dated else 'number'}.")
    return place


def _moment(day: datetime.date) -> datetime.datetime:
    if isinstance(day, datetime.datetime):
        return day.replace(tzinfo=None)
    return datetime.datetime.combine(day, datetime.time())
