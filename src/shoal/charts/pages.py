"""A self-contained page of charts and tables: readable without script, in light and dark, and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from shoal.charts.charts import Chart, stylesheet
from shoal.charts.svg import plain

if TYPE_CHECKING:
    import jinja2

__all__ = ["Grid", "Section", "chart_page", "render"]


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


def render(template: str, *, package: str = "shoal.charts", **values: Any) -> str:
    """Render a template as a self-contained page.

    Args:
        template: File name of the template.
        package: Package whose `templates` folder holds it; the base page and the style sheets are found from anywhere.
        **values: What the template refers to.

    Returns:
        The HTML of the page, with the style sheet of its charts.
    """
    return _environment(package).get_template(template).render(chart_style=stylesheet(), **values)


@cache
def _environment(package: str) -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("shoal.charts")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Show all that a text holds, whatever its letters would do to the page; what is markup already stays as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return plain(value)
    return value
