"""A self-contained page of charts and tables: readable without script, in light and dark, and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.report.charts import Chart
from shoal.report.html import render

__all__ = ["Grid", "Section", "chart_page"]


@dataclass(frozen=True)
class Grid:
    """A table of texts; caption: what it shows."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, paragraphs, charts, each with its figures below it, and tables."""

    title: str
    words: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    grids: tuple[Grid, ...] = ()


def chart_page(title: str, verdict: str, sections: Sequence[Section], *, good: bool = True) -> str:
    """Return the page as HTML; every text in it is escaped, nothing is fetched. good: whether the verdict is a yes."""
    return render("charts.html", title=title, verdict=verdict, sections=sections, good=good)
