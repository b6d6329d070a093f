"""Draw loss against CPU as a small SVG: our methods as a line, other tools as points. Equal figures, equal bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from xml.sax.saxutils import escape

from benchmarks.cases import EFFORTS, VARIANTS
from benchmarks.peers import PART_NOTE, PEERS
from benchmarks.report import Report, Row

__all__ = ["draw", "time_rows"]

WORK = ("W8", 10)
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 20, 46
FONT = 12
LETTER = 6.2  # mean width of a letter
# From the palette of Okabe and Ito, which people with any colour vision can distinguish; the shapes differ too.
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#767676", "#333333"


@dataclass(frozen=True)
class Point:
    """A tool with its CPU in units, its loss and its colour."""

    label: str
    cpu: float
    loss: float
    colour: str


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis: maps figures from low to high onto positions from begin to end."""

    low: float
    high: float
    begin: float
    end: float

    @classmethod
    def around(cls, figures: Sequence[float], begin: float, end: float) -> Self:
        """Return an axis with room for all figures."""
        return cls(min(figures) / 1.5, max(figures) * 1.5, begin, end)

    def at(self, figure: float) -> float:
        """Return the position of a figure."""
        share = (math.log10(figure) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return round(self.begin + share * (self.end - self.begin), 1)

    @property
    def ticks(self) -> list[float]:
        """1, 2 and 5 times the powers of ten on the axis."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        candidates = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
        return [tick for tick in candidates if self.low <= tick <= self.high]


def time_rows(report: Report) -> list[Row]:
    """Return the rows of our methods for the chart, in order of CPU."""
    rows = [row for row in report.rows if row.kind == "kernel" and (row.subject, row.k) == WORK and not row.form]
    rows = [row for row in rows if row.threads == 1]
    return sorted((row for row in rows if row.units and row.loss), key=lambda row: (row.units or 0.0, row.variant))


def draw(report: Report) -> str:
    """Return the chart as SVG; empty if its workload was not measured."""
    rows = {row.variant: row for row in time_rows(report)}
    ours = [
        Point(label, rows[label].units or 0.0, rows[label].loss or 0.0, ORANGE if label in EFFORTS else BLUE)
        for label in VARIANTS
        if label in rows
    ]
    if not ours:
        return ""
    theirs = [
        Point(peer.tool, float(peer.seconds), peer.losses[WORK], GREY)
        for peer in PEERS
        if peer.seconds and WORK in peer.losses and peer.note != PART_NOTE
    ]
    points = ours + theirs
    across = Scale.around([p.cpu for p in points], LEFT, WIDTH - RIGHT)
    up = Scale.around([p.loss for p in points], HEIGHT - BOTTOM, TOP)
    efforts = [f"{across.at(p.cpu)},{up.at(p.loss)}" for p in ours if p.colour == ORANGE]
    lines = [
        *_axes(across, up),
        f'<polyline points="{" ".join(efforts)}" fill="none" stroke="{ORANGE}" stroke-width="2"/>',
        *(_mark(point, across, up) for point in points),
        *_labels(points, across, up),
    ]
    return "\n".join([*_head(points), *lines, "</svg>"]) + "\n"


def _head(points: Sequence[Point]) -> list[str]:
    description = "; ".join(f"{p.label}: {p.cpu:.3g} units, loss {p.loss:.4f}" for p in points)
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="title description" font-family="sans-serif" font-size="{FONT}" fill="{INK}">',
        f'<title id="title">Loss against CPU time, {WORK[0]}, k = {WORK[1]}</title>',
        f'<desc id="description">{escape(description)}.</desc>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]


def _axes(across: Scale, up: Scale) -> list[str]:
    floor, wall = HEIGHT - BOTTOM, WIDTH - RIGHT
    lines = []
    for tick in across.ticks:
        x = across.at(tick)
        lines.append(f'<path d="M{x} {TOP}V{floor}" stroke="#e5e5e5"/>')
        lines.append(f'<text x="{x}" y="{floor + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in up.ticks:
        y = up.at(tick)
        lines.append(f'<path d="M{LEFT} {y}H{wall}" stroke="#e5e5e5"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{tick:g}</text>')
    middle = (TOP + floor) // 2
    return [
        *lines,
        f'<path d="M{LEFT} {TOP}V{floor}H{wall}" fill="none" stroke="{INK}"/>',
        f'<text x="{(LEFT + wall) // 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        "CPU, units (other tools: CPU seconds)</text>",
        f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">loss (mean NCP of a cell)</text>',
    ]


def _mark(point: Point, across: Scale, up: Scale) -> str:
    x, y = across.at(point.cpu), up.at(point.loss)
    if point.colour == GREY:
        return f'<rect x="{x - 3.5:g}" y="{y - 3.5:g}" width="7" height="7" fill="{GREY}"/>'
    if point.colour == BLUE:
        return f'<path d="M{x} {y - 5:g}l5 9h-10z" fill="{BLUE}"/>'
    return f'<circle cx="{x}" cy="{y}" r="4.5" fill="{ORANGE}"/>'


def _labels(points: Sequence[Point], across: Scale, up: Scale) -> list[str]:
    """Write each name to the right of its point, or to the left if there is no room; move it down to avoid overlap."""
    occupied = [(across.at(p.cpu) - 6, across.at(p.cpu) + 6, up.at(p.loss)) for p in points]
    lines = []
    for point in sorted(points, key=lambda p: (-p.loss, p.label)):
        x, y, length = across.at(point.cpu), up.at(point.loss), LETTER * len(point.label)
        y += FONT if point.colour == ORANGE else 0
        is_left = x + 9 + length > WIDTH - RIGHT
        begin = x - 9 - length if is_left else x + 9
        while any(b < begin + length and begin < e and abs(y - at) < FONT for b, e, at in occupied):
            y += 1
        occupied.append((begin, begin + length, y))
        anchor = ' text-anchor="end"' if is_left else ""
        place = f'x="{x - 9 if is_left else x + 9:g}" y="{y + 4:g}"'
        lines.append(f'<text {place}{anchor} fill="{_dark(point.colour)}">{escape(point.label)}</text>')
    return lines


def _dark(colour: str) -> str:
    """Return the colour of a label: the colour of the mark, or a darker one that is legible on white."""
    return "#A34700" if colour == ORANGE else "#5A5A5A" if colour == GREY else colour
