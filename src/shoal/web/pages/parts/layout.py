"""The frame of every page: header, the steps of the way, title, undo and redo, problems, the way back and on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from nicegui import app, run, ui

import shoal
from shoal.errors import ShoalError
from shoal.web.pages.parts.elements import button, choice, link, node, say
from shoal.web.pages.parts.language import COOKIE, LANGUAGES, _, language
from shoal.web.words import error_in_words

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["STEPS", "Page", "add_static_files", "frame", "step_names"]

STEPS = ("load", "columns", "hierarchies", "goal", "run", "result", "compare", "download")
THEMES = ("auto", "light", "dark")
THEME_COOKIE = "shoal_theme"
TOUR_COOKIE = "shoal_tour"
STATIC = f"/static/{shoal.__version__}"

WATCH = 2.0  # seconds between two looks at the settings

Value = TypeVar("Value")


class Page:
    """A page that is being shown: its project, the buttons that undo and redo, and a place for problems."""

    def __init__(self, project: Project | None) -> None:
        self.project = project
        self.problems: ui.element | None = None
        self.buttons: tuple[ui.element, ...] = ()
        self._settings = project.settings if project is not None else None

    def tell(self, error: ShoalError | str) -> None:
        """Show a problem at the top of the page; screen readers read it out."""
        assert self.problems is not None
        self.problems.clear()
        with self.problems, node("div", None, "notice bad"):
            if isinstance(error, ShoalError):
                node("p", error_in_words(error), lang="en")
            else:
                node("p", error)
        ui.run_javascript("document.getElementById('problems').scrollIntoView({block: 'nearest'})")

    async def attempt(self, action: Callable[..., Value], *values: Any, **named: Any) -> Value | None:
        """Do something in another thread; show the problem and return None if it fails."""
        try:
            result = await run.io_bound(action, *values, **named)
        except ShoalError as error:
            self.tell(error)
            return None
        if self.problems is not None and self.problems.default_slot.children:
            self.problems.clear()
        self._show_history()
        return result

    def _show_history(self) -> None:
        """Let undo and redo be pressed if there is something to undo or redo."""
        if self.project is None:
            return
        self._settings = self.project.settings
        for made, active in zip(self.buttons, (self.project.can_undo, self.project.can_redo), strict=False):
            if bool(made._props.get("disabled")) == active:
                made._props["disabled"] = not active
                made.update()

    def watch(self) -> None:
        """Say so when another tab has changed the settings that this page shows."""
        if self.project is None or self.project.settings == self._settings:
            return
        self._settings = self.project.settings
        assert self.problems is not None
        self.problems.clear()
        with self.problems, node("div", None, "notice warn"):
            node("p", _("The settings were changed in another tab."), "strong")
            button(_("Show the changes"), ui.navigate.reload, "tiny", id="renew")


def add_static_files() -> None:
    """Serve the style sheet and the script of the pages."""
    app.add_static_files(f"{STATIC}/charts", str(files("shoal.charts") / "templates"))
    app.add_static_files(STATIC, str(files("shoal.web.pages") / "static"))


def step_names() -> dict[str, str]:
    """Return the steps with their names in the language of the page."""
    return {
        "load": _("Load"),
        "columns": _("Columns"),
        "hierarchies": _("Hierarchies and limits"),
        "goal": _("Goal"),
        "run": _("Run"),
        "result": _("Result"),
        "compare": _("Compare"),
        "download": _("Download"),
    }


@contextmanager
def frame(step: str, title: str, lead: str, project: Project | None = None) -> Iterator[Page]:
    """Show the frame of a page; what is made inside is its content.

    Args:
        step: The step of the way, one of `STEPS`.
        title: The title of the page.
        lead: What the user does here, in a sentence.
        project: The project; None on the first page.
    """
    client, page = ui.context.client, Page(project)
    client.page = copy(client.page)  # the language is that of this request
    client.page.language = "de" if language() == "de" else "en-US"
    ui.page_title(f"{title} - shoal")
    ui.add_head_html(f'<link rel="stylesheet" href="{STATIC}/pages.css"><script src="{STATIC}/pages.js"></script>')
    ui.add_head_html(f'<link rel="stylesheet" href="{STATIC}/charts/charts.css">')
    theme = client.request.cookies.get(THEME_COOKIE, "auto")
    client.layout.classes(f"theme-{theme if theme in THEMES else 'auto'}")
    with client.layout:  # before NiceGUI's own <main>, which holds the content
        top = node("div", None, "frame-top")
        with top:
            link(_("Skip to the content"), "#content", "skip")
            with node("header", None, "top"):
                _bar(page, theme)
                _steps(step, project)
    top.move(client.layout, 0)
    with node("div", None, "content", id="content", tabindex="-1"):
        with node("div", None, "head"), node("div"):
            node("h1", title)
            say("p", lead, "lead")
        _tour(step, project)
        page.problems = node("div", None, "problems", id="problems", role="alert")
        yield page
    if project is not None:
        _foot(step, project)
        ui.timer(WATCH, page.watch)
    node("div", "", "live", id="live", role="status", aria_live="polite")


def _bar(page: Page, theme: str) -> None:
    project = page.project
    with node("div", None, "bar"):
        with link("shoal", "/", "brand", title=_("All projects")):
            node("span", _("hand over the table, not the people"))
        node("div", None, "gap")
        if project is not None:
            node("span", project.name, "project-name", title=project.name)
            title = _("Undo the last setting (Ctrl+Z)")
            undo = button(
                _("Undo"), lambda: _back(project.undo), "quiet", id="undo", title=title, off=not project.can_undo
            )
            title = _("Redo the setting (Ctrl+Y)")
            redo = button(
                _("Redo"), lambda: _back(project.redo), "quiet", id="redo", title=title, off=not project.can_redo
            )
            page.buttons = (undo, redo)
        themes = {"auto": _("System colours"), "light": _("Light"), "dark": _("Dark")}
        chosen = theme if theme in THEMES else "auto"
        choice("theme", themes, chosen, lambda value: _remember(THEME_COOKIE, value), label=_("Colours"))
        choice("language", LANGUAGES, language(), lambda value: _remember(COOKIE, value), label=_("Language"))
        if app.state.can_log_out:
            button(_("Log out"), look="quiet", id="log-out").on("click", js_handler="() => shoalLogOut()")


def _back(action: Callable[[], object]) -> None:
    action()
    ui.navigate.reload()


def _remember(cookie: str, value: str) -> None:
    if value in THEMES or value in LANGUAGES:
        ui.run_javascript(f"shoalRemember('{cookie}', '{value}')")


def _steps(step: str, project: Project | None) -> None:
    with node("nav", None, "", aria_label=_("Steps")), node("ol", None, "steps"):
        for i, (key, name) in enumerate(step_names().items()):
            state = "now" if key == step else "done" if i < STEPS.index(step) else ""
            with node("li", None, state):
                target = _target(key, project)
                if target:
                    link(name, target, aria_current="step" if key == step else None)
                else:
                    node("span", name, "step", aria_disabled="true")


def _target(step: str, project: Project | None) -> str:
    """Return the address of a step; empty while it cannot be reached."""
    if project is None:
        return "/" if step == "load" else ""
    if step != "load" and project.state != "ready":
        return ""
    if step in ("result", "download", "compare") and not any(str(run.state) == "done" for run in project.runs()):
        return ""
    return f"/p/{project.id}/{step}"


def _tour(step: str, project: Project | None) -> None:
    """Show the guide of this step, if the user takes the tour with this project."""
    if project is None or ui.context.client.request.cookies.get(TOUR_COOKIE) != project.id:
        return
    guide = {
        "load": _("This is the table as shoal read it. It is complete: go on with the button at the end of the page."),
        "columns": _(
            "Each column has a proposed role. With the quasi-identifiers chosen here, almost everyone is unique: that "
            "is the problem that shoal solves. Try it: drop birth_date and watch the figure, then press Undo."
        ),
        "hierarchies": _("Nothing is needed here. Try it: move the slider of the birth date to at most 10 years."),
        "goal": _("Choose k = 5, and l-diversity for the disease. Watch how the estimate changes when you move k."),
        "run": _("Press the button. The run takes some seconds; you can cancel it at any time."),
        "result": _("Read the verdict first, then what to consider before you sign. Marked cells were made coarser."),
        "compare": _("Go back to the goal, choose k = 10 and run again: this page then shows both runs."),
        "download": _("Download the release and the public report. The report has lines for your signature."),
    }[step]
    with node("aside", None, "notice tour", aria_label=_("Guided tour")):
        with node("div", None, "line apart"):
            node("p", _("Guided tour, step {n} of {all}", n=STEPS.index(step) + 1, all=len(STEPS)), "strong")
            end = button(_("End the tour"), None, "quiet tiny")
            end.on("click", js_handler="() => shoalTour('', location.href)")
        say("p", guide)


def _foot(step: str, project: Project) -> None:
    """Show the way back and on."""
    place, names = STEPS.index(step), step_names()
    with node("nav", None, "foot", aria_label=_("Back and on")):
        if place:
            link(_("Back: {step}", step=names[STEPS[place - 1]]), _target(STEPS[place - 1], project) or "/", "button")
        else:
            link(_("All projects"), "/", "button")
        if place + 1 < len(STEPS) and (target := _target(STEPS[place + 1], project)):
            link(_("Next: {step}", step=names[STEPS[place + 1]]), target, "button main", id="next")
