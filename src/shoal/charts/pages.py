"""Self-contained pages of charts and tables, without scripts, for light and dark screens and for paper."""

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
    """A table of texts with a caption."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A section of a page: heading, paragraphs, charts with their figures below them, and tables."""

    title: str
    words: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    grids: tuple[Grid, ...] = ()


def chart_page(title: str, verdict: str, sections: Sequence[Section], *, good: bool = True) -> str:
    """Return a page as HTML; every text in it is escaped, and it loads nothing.

    Args:
        title: Title of the page.
        verdict: The result in a sentence.
        sections: Sections of the page.
        good: Whether the verdict is positive.
    """
    return render("charts.html", title=title, verdict=verdict, sections=sections, good=good)


def render(template: str, *, package: str = "shoal.charts", **values: Any) -> str:
    """Render a template as a self-contained page.

    Args:
        template: File name of the template.
        package: Package whose `templates` folder contains it; the base page and the style sheets are always found.
        **values: Variables of the template.

    Returns:
        The HTML of the page, including the style sheet of charts.
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
    """Make control characters of a text visible; markup stays unchanged."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return plain(value)
    return value
