"""Labels that look like a range of numbers or dates, and whether a value lies in one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from shoal.tables.values import ISO_DATE, NUMBER, PADDED

__all__ = ["Span", "is_true_of", "parse_span"]

_PLAIN = r"[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?"
_DATE = ISO_DATE.pattern
_BOUND = rf"{_DATE}|{_PLAIN}"
_BETWEEN = re.compile(rf"({_PLAIN})\s*(?:-|–|—|~|\.\.|to|bis)\s*({_PLAIN})")
_BRACKETS = re.compile(rf"([\[(\]])\s*({_BOUND})\s*(?:,|:|;|-|\.\.)\s*({_BOUND})\s*([\])\[])")
_ONE_SIDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_BOUND})")
_AND_MORE = re.compile(rf"({_PLAIN})\s*\+")
_MASKED = re.compile(r"([0-9]+)(\*+)")


@dataclass(frozen=True)
class Span:
    """A range with exact bounds.

    Attributes:
        low: The lower bound; None if there is none. Numbers are decimals; dates are ISO texts, which sort by date.
        high: The upper bound; None if there is none.
        includes_low: Whether the lower bound belongs to the range.
        includes_high: Whether the upper bound belongs to the range.
        digits: The width of the bounds if one has leading zeros; such bounds are codes, not quantities.
    """

    low: Decimal | str | None
    high: Decimal | str | None
    includes_low: bool = True
    includes_high: bool = False
    digits: int | None = None

    def contains(self, value: Decimal | str) -> bool:
        """Return whether a value of the same type as the bounds lies in the range."""
        low, high = self.low, self.high
        above = low is None or value > low or (self.includes_low and value == low)  # type: ignore[operator]
        below = high is None or value < high or (self.includes_high and value == high)  # type: ignore[operator]
        return above and below


def parse_span(label: str) -> Span | None:
    """Return the range that a label looks like, or None.

    >>> parse_span("20-24").contains(Decimal(24)), parse_span("[20, 25)").contains(Decimal(25)), parse_span("young")
    (True, False, None)
    """
    label = label.strip()
    if match := _BRACKETS.fullmatch(label):
        before, low, high, after = match.groups()
        return _span(low, high, before == "[", after == "]")
    if match := _BETWEEN.fullmatch(label):
        return _span(match[1], match[2], True, True)
    if match := _AND_MORE.fullmatch(label):
        return _span(match[1], None, True, True)
    if match := _ONE_SIDED.fullmatch(label):
        sign, bound = match.groups()
        closed = sign not in ("<", ">")
        return _span(None, bound, True, closed) if sign[0] in "<≤" else _span(bound, None, closed, True)
    return None


def _span(low: str | None, high: str | None, includes_low: bool, includes_high: bool) -> Span | None:
    bounds = [bound for bound in (low, high) if bound is not None]
    is_date = [bool(ISO_DATE.fullmatch(bound)) for bound in bounds]
    if all(is_date):
        return Span(low, high, includes_low, includes_high)
    if any(is_date):
        return None
    padded = any(PADDED.match(bound) for bound in bounds)
    digits = len(bounds[0]) if padded and len({len(bound) for bound in bounds}) == 1 else None
    decimals = [None if bound is None else Decimal(bound) for bound in (low, high)]
    return Span(decimals[0], decimals[1], includes_low, includes_high, digits)


def is_true_of(label: str, value: str) -> bool:
    """Return whether a label can be true of a value; a range or masked code that does not contain it cannot.

    A code with leading zeros is compared only with ranges whose bounds have the same width.
    """
    if masked := _MASKED.fullmatch(label):
        return not (value.isdigit() and len(value) == len(label)) or value.startswith(masked[1])
    span = parse_span(label)
    if span is None:
        return True
    if isinstance(span.low if span.low is not None else span.high, str):
        return not ISO_DATE.fullmatch(value) or span.contains(value)
    if not NUMBER.fullmatch(value):
        return True
    if (PADDED.match(value) or span.digits is not None) and span.digits != len(value):
        return True
    return span.contains(Decimal(value))
