"""The page of hierarchies and limits: how each quasi-identifier becomes coarser, and how coarse it may become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from nicegui import ui

from shoal.hierarchy import BUILTINS
from shoal.web.pages.forecast import Forecast
from shoal.web.pages.parts.choices import (
    DATE_STEPS,
    DATE_WIDTHS,
    NUMBER_STEPS,
    NUMBER_WIDTHS,
    SET_SIZES,
    interval_rule,
    interval_step,
    kinds_of,
    qi_of,
    without,
)
from shoal.web.pages.parts.elements import (
    announce,
    card,
    choice,
    details,
    field,
    node,
    notice,
    say,
    slider,
    text_editor,
)
from shoal.web.pages.parts.language import N_, _, number, plural
from shoal.web.pages.parts.layout import Page, frame

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["show_hierarchies"]

MOST_NODES = 400  # of a tree on a page
INTERVALS = "intervals"
FIRST_STEP = {"numeric": NUMBER_STEPS.index("5"), "date": DATE_STEPS.index(("year", 5))}
MONTHS, YEARS = (N_("{n} month"), N_("{n} months")), (N_("{n} year"), N_("{n} years"))
OPENED = "(event) => emit(event.target.open)"
TEXT_FILE = "(event) => shoalReadText(event.target.files[0], emit)"


def show_hierarchies(project: Project) -> None:
    """Show the page.

    Args:
        project: The project.
    """
    lead = _(
        "Numbers and dates become ranges; other values become sets, or the labels of a [[hierarchy]]. Everything here "
        "is optional: without a hierarchy or limit, shoal finds the narrowest cells by itself."
    )
    with frame("hierarchies", _("How may values become coarser?"), lead, project) as page:
        columns = project.profile()["columns"]
        chosen = qi_of(project)
        kinds = kinds_of(project.settings, columns)
        distinct = {column["name"]: column["distinct"] for column in columns}
        if not chosen:
            notice(
                _("No column is a [[qi]]. Go back and choose the columns that others may know about a person."), "warn"
            )
        with node("div", None, "cards wide-left"):
            columns_area = node("div", None, "stack")
            with node("div", None, "stack sticky"):
                forecast = Forecast(page, project)
        with columns_area:
            for i, name in enumerate(chosen):
                _column(Part(page, project, forecast, i, name, kinds[name]), distinct[name])


class Part(NamedTuple):
    """One column on the page."""

    page: Page
    project: Project
    forecast: Forecast
    i: int
    name: str
    kind: str


def _column(part: Part, distinct: int) -> None:
    with card() as made:
        made._props["aria-label"] = part.name
        with node("div", None, "line apart"):
            node("h2", part.name)
            node("span", plural(distinct, "{n} different value", "{n} different values"), "small soft")
        with node("div", None, "cards pair"):
            _limit(part)
            with field(_("[[hierarchy|Hierarchy]]"), f"hierarchy-{part.i}"):
                current = _current(part.project, part.name)
                choice(f"hierarchy-{part.i}", _options(part), current, lambda value: _use(part, value, tree, steps))
        steps = node("div", None, "stack")
        with steps:
            _steps(part, lambda: tree)
        with details(_("Show, edit or upload the hierarchy")) as shown:
            tree = Tree(part.page, part.project, part.name, part.i)
            shown.on("toggle", lambda event: tree.open(event.args), js_handler=OPENED)


def _options(part: Part) -> dict[str, str]:
    options = {"": _("None: as narrow as possible"), "auto": _("Proposed by shoal")}
    if part.kind in FIRST_STEP or _current(part.project, part.name) == INTERVALS:
        options[INTERVALS] = _("Intervals of equal width")
    options |= {f"builtin:{name}": _("Built in: {name}", name=name) for name in BUILTINS}
    return options | {name: _("File: {name}", name=name) for name in part.project.hierarchy_files()}


def _current(project: Project, name: str) -> str:
    rule = project.settings.hierarchies.get(name)
    if rule is None:
        return "auto" if project.settings.other_hierarchies else ""
    if not isinstance(rule, str | PathLike):
        return INTERVALS
    text = str(rule)
    return text if text == "auto" or text.startswith("builtin:") else text.rsplit("/", 1)[-1]


async def _use(part: Part, value: str, tree: Tree, steps: ui.element) -> None:
    if value == INTERVALS:
        await _use_step(part, FIRST_STEP.get(part.kind, 0), lambda: tree)
    elif await part.page.attempt(part.project.use_hierarchy, part.name, value or None) is not None:
        announce(_("Saved."))
        part.forecast.renew()
        await tree.renew()
    steps.clear()
    with steps:
        _steps(part, lambda: tree)


async def _use_step(part: Part, step: int, tree: Callable[[], Tree]) -> None:
    """Give the column intervals whose finest ones have the width of a step."""
    rules = {**part.project.settings.hierarchies, part.name: interval_rule(part.kind, step)}
    if await part.page.attempt(part.project.change, hierarchies=rules) is not None:
        announce(f"{part.name}: {_step_words(part.kind, step)}")
        part.forecast.renew()
        await tree().renew()


def _steps(part: Part, tree: Callable[[], Tree]) -> None:
    """Show the slider of the finest intervals, if the column has such a hierarchy."""
    step = interval_step(part.kind, part.project.settings.hierarchies.get(part.name))
    if step is None:
        return
    most = len(DATE_STEPS if part.kind == "date" else NUMBER_STEPS) - 1
    hint = _("Coarser levels are twice and four times as wide, so that every value can be hidden step by step.")
    with field(_("Width of the finest intervals"), f"step-{part.i}", hint="" if part.kind == "date" else hint):
        slider(
            f"step-{part.i}",
            step,
            0,
            most,
            1,
            lambda place: _use_step(part, int(place), tree),
            words=lambda place: _step_words(part.kind, int(place)),
        )


def _step_words(kind: str, step: int) -> str:
    if kind != "date":
        return _width(NUMBER_STEPS[step])
    unit, count = DATE_STEPS[step]
    return plural(count, *(MONTHS if unit == "month" else YEARS))


def _limit(part: Part) -> None:
    if part.kind == "numeric":
        widths, words, label = NUMBER_WIDTHS, _range, _("Widest range")
    elif part.kind == "date":
        widths, words, label = DATE_WIDTHS, _span, _("Longest period")
    else:
        widths, words, label = SET_SIZES, _set, _("Largest set")
    current = str(part.project.settings.max_width.get(part.name, ""))
    if current not in widths:
        widths = (*widths, current)

    def spoken(place: float) -> str:
        width = widths[int(place)]
        return words(width) if width else _("no limit")

    async def move(place: float) -> None:
        width = widths[int(place)]
        limits = without(part.project.settings.max_width, part.name) | ({part.name: width} if width else {})
        if await part.page.attempt(part.project.change, max_width=limits) is not None:
            announce(f"{part.name}: {spoken(place)}")
            part.forecast.renew()

    with field(label, f"width-{part.i}"):
        slider(f"width-{part.i}", widths.index(current), 0, len(widths) - 1, 1, move, words=spoken)


def _range(width: str) -> str:
    return _("at most {n} wide", n=_width(width))


def _width(width: str) -> str:
    return number(float(width), len(width.partition(".")[2]))


def _set(width: str) -> str:
    return _("at most {n} values", n=width)


def _span(width: str) -> str:
    one, many = {"m": MONTHS, "y": YEARS}.get(width[-1], (N_("{n} day"), N_("{n} days")))
    return _("at most {span}", span=plural(int(width.rstrip("dwmy")), one, many))


class Tree:
    """The tree of one column, made when the user opens it, with what changes it."""

    def __init__(self, page: Page, project: Project, name: str, i: int) -> None:
        self.page, self.project, self.name, self.i = page, project, name, i
        self.area = node("div", None, "stack")
        self.is_open = False

    async def open(self, is_open: bool) -> None:
        """Show the hierarchy when the user opens its part of the page."""
        self.is_open = is_open
        await self.renew()

    async def renew(self) -> None:
        """Show the hierarchy anew if the user sees it."""
        if self.is_open:
            await self.show()

    async def show(self) -> None:
        """Show the hierarchy that the column has, or the one that shoal would propose."""
        self.area.clear()
        rule: Any = _current(self.project, self.name)
        if rule == INTERVALS:
            rule = self.project.settings.hierarchies[self.name]
        with self.area:
            node("p", _("Working ..."), "soft", role="status")
        found = await self.page.attempt(self.project.hierarchy, self.name, rule or "auto")
        self.area.clear()
        with self.area:
            if found is not None:
                self._tree(found, chosen=bool(rule))
            self._upload()

    def _tree(self, found: Mapping[str, Any], *, chosen: bool) -> None:
        if not chosen:
            say("p", _("This is what shoal would propose. Choose it above to use it."), "small soft")
        levels = ", ".join(number(count) for count in found["labels"])
        say("p", _("[[level|Levels]] with their number of labels: {levels}.", levels=levels), "small")
        with node("ul", None, "tree", tabindex="0", aria_label=_("Hierarchy of {column}", column=self.name)):
            _branches(_nested(found["rows"]), [MOST_NODES])
        lines = [";".join((value, *labels)) for value, labels in found["rows"].items()]
        with details(_("Edit as text")):
            say(
                "p",
                _("One line for each value: the value, then its label on each level, separated by semicolons."),
                "small",
            )
            save = (_("Save this hierarchy"), lambda text: self._keep(text, f"{self.name}.csv"))
            text_editor(f"edit-{self.i}", "\n".join(lines), _("Hierarchy as text"), save, rows=10)

    def _upload(self) -> None:
        with field(_("Upload a hierarchy (CSV as ARX writes it)"), f"file-{self.i}"):
            box = node("input", None, "control", type="file", id=f"file-{self.i}", accept=".csv,.xml,.txt")
            box.on("change", lambda event: self._keep(event.args["text"], event.args["name"]), js_handler=TEXT_FILE)

    async def _keep(self, text: str, filename: str) -> None:
        name = await self.page.attempt(self.project.add_hierarchy, [text.encode()], filename)
        if name is not None and await self.page.attempt(self.project.use_hierarchy, self.name, name) is not None:
            ui.navigate.reload()


def _nested(rows: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the tree of a hierarchy, from the coarsest label down."""
    root: dict[str, Any] = {}
    for value, labels in rows.items():
        place = root
        for label in (*reversed(labels), value):
            place = place.setdefault(label, {})
    return root


def _branches(tree: Mapping[str, Any], left: list[int]) -> None:
    for label, below in tree.items():
        if left[0] <= 0:
            node("li", _("... and more"), "soft")
            return
        left[0] -= 1
        with node("li"):
            if below and list(below) != [label]:
                with node("details", None, open=True if len(tree) == 1 else None):
                    node("summary", f"{label} ({number(len(below))})")
                    with node("ul"):
                        _branches(below, left)
            else:
                node("span", label)
