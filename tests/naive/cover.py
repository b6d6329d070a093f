"""Whether a released cell covers its original, decided from the two texts only."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from tests.naive.cells import SUPPRESSED, bounds, members, number, plain, seconds


def covers(
    released: str, original: str, kind: str, *, missing: Collection[str] = ("",), date_format: str = "%Y-%m-%d"
) -> bool:
    """Return whether the released text is the original value, a range or set that contains it, or ``*``."""
    released, value = plain(released), plain(original)
    is_missing = value in missing
    if released == SUPPRESSED:
        return True
    if kind == "categorical":
        inside = members(released)
        if inside is not None and len(inside) > 1:
            return value in inside or (is_missing and bool(inside.intersection(missing)))
        return released == value or (is_missing and released in missing)
    if is_missing or released in missing:
        return is_missing and released in missing
    if not bounds(released):
        return _measure(released, kind, date_format) == _measure(value, kind, date_format)
    for low, high in bounds(released):
        try:
            ends = (_measure(low, kind, date_format), _measure(high, kind, date_format))
        except ValueError:
            continue
        place = _measure(value, kind, date_format)
        return ends[0] <= place < ends[1] if released.endswith(")") else ends[0] <= place <= ends[1]
    return False


def _measure(text: str, kind: str, date_format: str) -> Fraction:
    return number(text) if kind == "numeric" else seconds(text, date_format)
