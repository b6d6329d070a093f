"""Charts of reports as SVG text, each with its figures as a table and a summary in words.

`lines` draws curves over k, `bars` one bar for each name, `pairs` bars before and after, `histogram` group sizes and
`scatter` a map. Drawings contain classes only; `templates/charts.css` has the colours for light and dark pages, those
of Okabe and Ito, which remain distinct under common colour blindness. Every series also has its own mark and
dash. The same figures give the same bytes.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from shoal.charts.svg import LETTER, WIDTH, Scale, decimals, element, marker, plain, spoken, spread, text, widest

__all__ = ["Bar", "Chart", "Pair", "Point", "Series", "bars", "histogram", "lines", "pairs", "scatter", "stylesheet"]

HEIGHT = 300  # of charts with two axes
LEFT, RIGHT, FOOT = 62, 16, 46  # margins: numbers and name of the upright axis, last mark, names below
ROW, PAIR_ROW = 26, 34  # heights of rows of bars
MOST_TICKS = 9
LONGEST_NAME, LEAD = 200, 16  # room for names at the side of bars, height of a line above a bar


@dataclass(frozen=True)
class Series:
    """A named curve."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Bar:
    """A named length; `words` is the text beside it."""

    name: str
    value: float
    words: str = ""


@dataclass(frozen=True)
class Pair:
    """A named length before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Point:
    """A named point of a map; points of one series share mark and colour."""

    name: str
    x: float
    y: float
    series: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        title: Title of the chart.
        summary: What it shows, in a sentence.
        svg: The drawing.
        head: Head of the table of figures.
        rows: Rows of the table of figures.
    """

    title: str
    summary: str
    svg: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def standalone(self) -> str:
        """Return the drawing as a separate SVG file with its style sheet."""
        style = element("style", stylesheet())
        return self.svg.replace("><title", f">{style}<title", 1) + "\n"


@cache
def stylesheet() -> str:
    """Return the style sheet of charts, for a page that contains some."""
    return files("shoal.charts").joinpath("templates/charts.css").read_text(encoding="utf-8")


def lines(
    title: str,
    summary: str,
    series: Sequence[Series],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    zero: bool = True,
) -> Chart:
    """Draw curves over a common axis, such as the loss of several methods over k.

    Args:
        title: Title of the chart.
        summary: What it shows, in a sentence.
        series: The curves.
        x: Name of the level axis.
        y: Name of the upright axis.
        log_x: Use a logarithmic level axis.
        zero: Begin the upright axis at 0.
    """
    places = sorted({place for curve in series for place, _ in curve.points})
    heights = [height for curve in series for _, height in curve.points]
    names = [curve.name for curve in series]
    legend, top = _legend(names)
    across, up, axes = _axes(places, heights, top, x, y, log_x=log_x, zero=zero)
    curves = []
    for i, curve in enumerate(series):
        path = " ".join(f"{decimals(across(a))},{decimals(up(b))}" for a, b in curve.points)
        curves.append(element("polyline", points=path, class_=f"curve line-{i % 6 + 1}"))
        curves += [marker(i, across(a), up(b)) for a, b in curve.points]
    heights_at = [dict(curve.points) for curve in series]
    rows = tuple(
        (spoken(place), *(spoken(curve[place]) if place in curve else "" for curve in heights_at)) for place in places
    )
    return _chart(title, summary, HEIGHT + top, [legend, axes, *curves], (x, *names), rows)


def scatter(
    title: str, summary: str, points: Sequence[Point], *, x: str, y: str, log_x: bool = False, zero: bool = True
) -> Chart:
    """Draw a map of named points, such as risk against utility; see `lines` for the arguments."""
    names = list(dict.fromkeys(point.series for point in points))
    legend, top = _legend([name for name in names if name])
    across, up, axes = _axes(
        sorted({point.x for point in points}), [point.y for point in points], top, x, y, log_x=log_x, zero=zero
    )
    marks = []
    for point in points:
        place, height = across(point.x), up(point.y)
        marks.append(marker(names.index(point.series), place, height))
        left = place > WIDTH * 0.7
        at = place - 8 if left else place + 8
        marks.append(text(point.name, at, height + 4, "small", room=130, anchor="end" if left else "start"))
    rows = tuple((point.name, point.series, spoken(point.x), spoken(point.y)) for point in points)
    return _chart(title, summary, HEIGHT + top, [legend, axes, *marks], ("point", "series", x, y), rows)


def bars(
    title: str, summary: str, rows: Sequence[Bar], *, head: tuple[str, str] = ("", ""), longest: float | None = None
) -> Chart:
    """Draw one level bar for each name, in the given order; `longest` is the value of a bar of full width."""
    side, lead = _side([row.name for row in rows])
    reach, height = WIDTH - side - 110, ROW + lead
    most = longest if longest is not None else max((row.value for row in rows), default=0)
    drawn = []
    for i, row in enumerate(rows):
        y, length = i * height + lead + 4, reach * row.value / most if most > 0 else 0.0
        drawn.append(_bar_name(row.name, side, y + 13, lead))
        drawn.append(element("rect", x=side, y=y, width=max(length, 1.0), height=ROW - 8, class_="fill-1"))
        drawn.append(text(row.words or spoken(row.value), side + max(length, 1) + 6, y + 13, "small", room=104))
    drawn.append(element("path", d=f"M{decimals(side)} 0V{len(rows) * height + 2}", class_="axis"))
    table = tuple((row.name, row.words or spoken(row.value)) for row in rows)
    return _chart(title, summary, len(rows) * height + 6, drawn, head, table)


def pairs(
    title: str,
    summary: str,
    rows: Sequence[Pair],
    *,
    head: tuple[str, str, str] = ("", "before", "after"),
) -> Chart:
    """Draw two bars for each name, before and after, in the given order."""
    legend, top = _legend(list(head[1:]), squares=True)
    side, lead = _side([row.name for row in rows])
    reach, height = WIDTH - side - 80, PAIR_ROW + lead
    most = max((max(row.before, row.after) for row in rows), default=0) or 1
    drawn = [legend]
    for i, row in enumerate(rows):
        y = top + i * height + lead
        drawn.append(_bar_name(row.name, side, y + (18 if not lead else 13), lead))
        for j, value in enumerate((row.before, row.after)):
            length, at = max(reach * value / most, 1.0), y + 2 + j * 13
            drawn.append(element("rect", x=side, y=at, width=length, height=12, class_=f"fill-{j + 1}"))
            drawn.append(text(spoken(round(value)), side + length + 5, at + 10, "tiny"))
    drawn.append(element("path", d=f"M{decimals(side)} {top}V{top + len(rows) * height}", class_="axis"))
    table = tuple((row.name, spoken(round(row.before)), spoken(round(row.after))) for row in rows)
    return _chart(title, summary, top + len(rows) * height + 4, drawn, head, table)


def histogram(title: str, summary: str, columns: Sequence[Bar], *, x: str, y: str, marked: str | None = None) -> Chart:
    """Draw upright bars, such as the rows in groups of each size; `marked` labels the left edge."""
    ticks = spread(0, max((column.value for column in columns), default=1) or 1, 5)
    top, floor = 22, HEIGHT - FOOT
    up = Scale(0, ticks[-1], floor, top)
    drawn = [_upright(ticks, up, y)]
    step = (WIDTH - LEFT - RIGHT) / max(1, len(columns))
    for i, column in enumerate(columns):
        place, height = LEFT + i * step, up(column.value)
        gap = min(4.0, step * 0.15)
        size = {"width": step - 2 * gap, "height": max(floor - height, 0.8)}
        drawn.append(element("rect", x=place + gap, y=min(height, floor - 0.8), class_="fill-1", **size))
        if column.value:
            drawn.append(text(column.words, place + step / 2, height - 5, "tiny", room=step + 6, anchor="middle"))
        drawn.append(text(column.name, place + step / 2, floor + 16, "small", room=step + 4, anchor="middle"))
    if marked:
        drawn.append(element("path", d=f"M{LEFT} {top}V{floor}", class_="limit"))
        drawn.append(text(marked, LEFT + 5, top - 6, "small"))
    drawn.append(element("path", d=f"M{LEFT} {floor}H{WIDTH - RIGHT}", class_="axis"))
    drawn.append(text(x, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "name", anchor="middle"))
    rows = tuple((column.name, column.words or spoken(column.value)) for column in columns)
    return _chart(title, summary, HEIGHT, drawn, (x, y), rows)


def _side(names: Sequence[str]) -> tuple[float, int]:
    """Return where bars begin, and the height of a line above each for its name if a name is too long for the side."""
    width = widest(names, WIDTH)
    return (width + 6, 0) if width <= LONGEST_NAME else (2.0, LEAD)


def _bar_name(name: str, side: float, y: float, lead: int) -> str:
    """Return the name of a bar: to its left, or above it."""
    if lead:
        return text(name, side + 4, y - lead, room=WIDTH - 12)
    return text(name, side - 6, y, room=side - 6, anchor="end")


def _chart(
    title: str,
    summary: str,
    height: float,
    drawn: Sequence[str],
    head: tuple[str, ...],
    rows: tuple[tuple[str, ...], ...],
) -> Chart:
    """Assemble a drawing; its ids come from its content, so that different charts on a page have different ids."""
    body = "".join(drawn)
    key = hashlib.sha256(f"{title}\0{summary}\0{body}".encode()).hexdigest()[:10]
    labels = element("title", html.escape(plain(title)), id=f"t{key}")
    labels += element("desc", html.escape(plain(summary)), id=f"d{key}")
    svg = element(
        "svg",
        labels + body,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        viewBox=f"0 0 {WIDTH} {decimals(height)}",
        role="img",
        aria_labelledby=f"t{key} d{key}",
    )
    return Chart(title, summary, svg, head, rows)


def _legend(names: Sequence[str], *, squares: bool = False) -> tuple[str, int]:
    """Return the legend of the series, in as many lines as it needs, and its height."""
    if not names or (len(names) == 1 and not squares):
        return "", 16
    drawn, x, y = [], 6.0 if squares else float(LEFT), 12
    for i, name in enumerate(names):
        room = min(220.0, len(plain(name)) * LETTER) + 44
        if x + room > WIDTH:
            x, y = LEFT, y + 18
        if squares:
            drawn.append(element("rect", x=x, y=y - 6, width=12, height=12, class_=f"fill-{i + 1}"))
        else:
            drawn.append(element("path", d=f"M{decimals(x - 2)} {y}h22", class_=f"curve line-{i % 6 + 1}"))
            drawn.append(marker(i, x + 9, y))
        drawn.append(text(name, x + (18 if squares else 26), y + 4, room=220))
        x += room
    return "".join(drawn), y + 18


def _axes(
    places: Sequence[float], heights: Sequence[float], top: int, x: str, y: str, *, log_x: bool, zero: bool
) -> tuple[Scale, Scale, str]:
    """Return the two scales of a chart and the drawing of its axes, which begins at `top`."""
    floor = HEIGHT + top - FOOT
    steps = spread(min([0.0, *heights] if zero else heights, default=0), max(heights, default=1), 5)
    up = Scale(steps[0], steps[-1], floor, top + 8)
    few = log_x or (len(places) <= MOST_TICKS and all(place == int(place) for place in places))
    ticks = list(places) if few else spread(places[0], places[-1])
    ends = (places[0], places[-1]) if few else (ticks[0], ticks[-1])
    across = Scale(*ends, LEFT + 14, WIDTH - RIGHT - 14, log_x)
    drawn, last = [_upright(steps, up, y)], float("-inf")
    for place in ticks:
        at = across(place)
        drawn.append(element("path", d=f"M{decimals(at)} {floor}v4", class_="axis"))
        if at - last > 7 * len(spoken(place)) + 4:
            drawn.append(text(spoken(place), at, floor + 17, "small", anchor="middle"))
            last = at
    drawn.append(element("path", d=f"M{LEFT} {floor}H{WIDTH - RIGHT}", class_="axis"))
    drawn.append(text(x, (LEFT + WIDTH - RIGHT) / 2, floor + 38, "name", anchor="middle"))
    return across, up, "".join(drawn)


def _upright(ticks: Sequence[float], up: Scale, name: str) -> str:
    """Return the grid, the numbers and the name of an upright axis."""
    drawn = []
    for tick in ticks:
        y = decimals(up(tick))
        drawn.append(element("path", d=f"M{LEFT} {y}H{WIDTH - RIGHT}", class_="grid"))
        drawn.append(text(spoken(tick), LEFT - 7, up(tick) + 4, "small", anchor="end"))
    middle = (up(ticks[0]) + up(ticks[-1])) / 2
    title = html.escape(plain(name))
    turned = f"translate(14 {decimals(middle)}) rotate(-90)"
    return "".join(drawn) + element("text", title, transform=turned, class_="name", text_anchor="middle")
