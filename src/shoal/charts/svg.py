"""Building blocks of charts: escaped text, SVG elements, scales and ticks."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "LETTER",
    "WIDTH",
    "Scale",
    "decimals",
    "element",
    "fitted",
    "marker",
    "plain",
    "spoken",
    "spread",
    "text",
    "widest",
]

WIDTH = 640  # of every chart, in user units; the page scales it
LETTER = 7.0  # mean width of a letter


def plain(words: str) -> str:
    """Make control and direction characters of a text visible as their code points."""
    if words.isascii() and words.isprintable():
        return words
    return "".join(
        f"\N{MATHEMATICAL LEFT ANGLE BRACKET}U+{ord(letter):04X}\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else letter
        for letter in words
    )


def fitted(words: str, room: float) -> str:
    """Shorten a text with an ellipsis to fit a width."""
    words, most = plain(words), max(3, int(room / LETTER))
    return words if len(words) <= most else words[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def decimals(number: float) -> str:
    """Return a coordinate with at most one decimal.

    >>> decimals(12.04), decimals(3.96), decimals(-0.01)
    ('12', '4', '0')
    """
    words = f"{number:.1f}".removesuffix(".0")
    return "0" if words == "-0" else words


def spoken(number: float) -> str:
    """Return a number as an axis shows it.

    >>> spoken(0.30000000000000004), spoken(20000), spoken(5)
    ('0.3', '20,000', '5')
    """
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def element(name: str, content: str | None = None, /, **attributes: object) -> str:
    """Return an SVG element; numbers are rounded, class_ becomes class, x_y becomes x-y, and None is left out."""
    attributes_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if content is None:
        return f"<{name}{attributes_text}/>"
    return f"<{name}{attributes_text}>{content}</{name}>"


def _attribute(value: object) -> str:
    return decimals(value) if isinstance(value, float | int) else html.escape(str(value))


def text(
    words: str, x: float, y: float, look: str = "", *, room: float | None = None, anchor: str | None = None
) -> str:
    """Return a text element; a text shortened to fit its room shows in full in a tooltip."""
    visible = plain(words) if room is None else fitted(words, room)
    tooltip = "" if visible == plain(words) else element("title", html.escape(plain(words)))
    anchor = None if anchor in (None, "start") else anchor
    return element("text", html.escape(visible) + tooltip, x=x, y=y, class_=look or None, text_anchor=anchor)


def marker(series: int, x: float, y: float) -> str:
    """Return the mark of a series; its shape distinguishes it without its colour."""
    look = f"fill-{series % 6 + 1}"
    shape = series % 6
    if shape == 0:
        return element("circle", cx=x, cy=y, r=4, class_=look)
    if shape == 1:
        return element("rect", x=x - 3.6, y=y - 3.6, width=7.2, height=7.2, class_=look)
    corners = {
        2: ((0, -5), (4.6, 3.6), (-4.6, 3.6)),
        3: ((0, -5), (5, 0), (0, 5), (-5, 0)),
        4: ((0, 5), (4.6, -3.6), (-4.6, -3.6)),
        5: ((-4.5, -1.6), (-1.6, -1.6), (0, -5), (1.6, -1.6), (4.5, -1.6), (2.6, 4.4), (-2.6, 4.4)),
    }[shape]
    points = " ".join(f"{decimals(x + dx)},{decimals(y + dy)}" for dx, dy in corners)
    return element("polygon", points=points, class_=look)


@dataclass(frozen=True)
class Scale:
    """Maps numbers to places on an axis.

    Attributes:
        low, high: Smallest and largest number.
        start, end: Their places.
        log: Whether the axis is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, number: float) -> float:
        """Return the place of a number."""
        low, high = self.low, self.high
        if self.log:
            low, high, number = math.log(low), math.log(high), math.log(number)
        share = (number - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def spread(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers that span an interval, with a step of 1, 2 or 5 times a power of ten.

    >>> spread(0, 0.43)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    >>> spread(3, 3)
    [2.0, 3.0, 4.0]
    """
    if high <= low:
        return [low - 1.0, float(low), low + 1.0]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20):
        step = factor * power
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [round(i * step, 12) for i in range(first, last + 1)]


def widest(names: Sequence[str], most: float) -> float:
    """Return the width that names need at the side of a chart, at most `most`."""
    return min(most, max((len(plain(name)) for name in names), default=0) * LETTER + 4)
