"""Labels that read like a range of numbers or dates, and whether a value lies in one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from shoal.tables.values import ISO_DATE, NUMBER, PADDED

__all__ = ["Span", "is_true_of", "parse_span"]

_PLAIN = r"[+-]?[0-9]+(?:\.[0-9]+)?"
_DATE = ISO_DATE.pattern
_BOUND = rf"{_DATE}|{_PLAIN}"
_BETWEEN = re.compile(rf"({_PLAIN})\s*(?:-|–|—|~|\.\.|to|bis)\s*({_PLAIN})")
_BRACKETS = re.compile(rf"([\[(\]])\s*({_BOUND})\s*(?:,|:|;|-|\.\.)\s*({_BOUND})\s*([\])\[])")
_ONE_SIDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_BOUND})")
_AND_MORE = re.compile(rf"({_PLAIN})\s*\+")
_MASKED = re.compile(r"([0-9]+)(\*+)")


@dataclass(frozen=True)
class Span:
    """A range with an exact bound on each side, None where it has none.

    Numbers are decimals; days of the calendar are ISO texts, which sort as they should.
    """

    low: Decimal | str | None
    high: Decimal | str | None
    holds_low: bool = True
    holds_high: bool = False
    digits: int | None = None  # width of the bounds where one has leading zeros: codes, not quantities

    def holds(self, value: Decimal | str) -> bool:
        """Tell whether a value of the same sort as the bounds lies in the range."""
        low, high = self.low, self.high
        above = low is None or value > low or (self.holds_low and value == low)  # type: ignore[operator]
        below = high is None or value < high or (self.holds_high and value == high)  # type: ignore[operator]
        return above and below


def parse_span(label: str) -> Span | None:
    """Return the range that a label reads like, or None.

    >>> parse_span("20-24").holds(Decimal(24)), parse_span("[20, 25)").holds(Decimal(25)), parse_span("young")
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


def _span(low: str | None, high: str | None, holds_low: bool, holds_high: bool) -> Span | None:
    bounds = [bound for bound in (low, high) if bound is not None]
    dates = [bool(ISO_DATE.fullmatch(bound)) for bound in bounds]
    if all(dates):
        return Span(low, high, holds_low, holds_high)
    if any(dates):
        return None
    padded = any(PADDED.match(bound) for bound in bounds)
    digits = len(bounds[0]) if padded and len({len(bound) for bound in bounds}) == 1 else None
    decimals = [None if bound is None else Decimal(bound) for bound in (low, high)]
    return Span(decimals[0], decimals[1], holds_low, holds_high, digits)


def is_true_of(label: str, value: str) -> bool:
    """Tell whether a label may stand for a value: no, if it reads like a range (or a masked code) without it.

    Codes with leading zeros are compared with ranges whose bounds are as wide as they are, and with no others.
    """
    if masked := _MASKED.fullmatch(label):
        return not (value.isdigit() and len(value) == len(label)) or value.startswith(masked[1])
    span = parse_span(label)
    if span is None:
        return True
    if isinstance(span.low if span.low is not None else span.high, str):
        return not ISO_DATE.fullmatch(value) or span.holds(value)
    if not NUMBER.fullmatch(value):
        return True
    if (PADDED.match(value) or span.digits is not None) and span.digits != len(value):
        return True
    return span.holds(Decimal(value))
