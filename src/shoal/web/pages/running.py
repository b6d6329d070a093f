"""The page of a run: what is asked for, stages, progress, remaining time, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.parts.choices import model_of, rule_words
from shoal.web.pages.parts.elements import announce, button, card, choice, field, link, node, notice, say
from shoal.web.pages.parts.language import _, number, percent, plural
from shoal.web.pages.parts.layout import Page, frame

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.runs import Run

__all__ = ["show_run"]

POLL = 0.3  # seconds
STAGES = ("reading", "counting", "encoding", "grouping", "measuring", "writing", "verifying")


def stage_names() -> dict[str, str]:
    """Return the stages of a run with their names in the language of the page."""
    return {
        "reading": _("Read the table"),
        "counting": _("Count values"),
        "encoding": _("Prepare the columns"),
        "grouping": _("Form groups of look-alikes"),
        "measuring": _("Measure the loss"),
        "writing": _("Write the release"),
        "verifying": _("Check the written file independently"),
    }


def show_run(project: Project) -> None:
    """Show the page.

    Args:
        project: The project.
    """
    lead = _(
        "shoal forms the groups, writes the release, and a second program checks the written file before you get it."
    )
    with frame("run", _("Make the release"), lead, project) as page, node("div", None, "cards"):
        panel = Panel(page, project)
        with node("div", None, "stack"):
            panel.area = node("div", None, "stack", id="run-area")
        with card(_("What you asked for")):
            _summary(project)
        panel.show()


class Panel:
    """The part of the page that follows a run."""

    def __init__(self, page: Page, project: Project) -> None:
        self.page, self.project = page, project
        self.area: ui.element | None = None
        self.format = "csv"
        runs = project.runs()
        self.run: Run | None = runs[-1] if runs else None
        self._parts: dict[str, Any] = {}
        self._seen = ""
        ui.timer(POLL, self.renew)

    def show(self) -> None:
        """Show the state of the run, or the button that starts one."""
        assert self.area is not None
        self.area.clear()
        self._seen = str(self.run.state) if self.run else ""
        with self.area:
            if self.run is None or self.run.state.is_over:
                self._show_end()
                self._show_start()
            else:
                self._show_progress()

    def renew(self) -> None:
        """Follow the run; another tab may have started one."""
        runs = self.project.runs()
        latest = runs[-1] if runs else None
        if latest is not self.run or (self.run is not None and str(self.run.state) != self._seen):
            self.run = latest
            self.show()
        elif self.run is not None and not self.run.state.is_over:
            self._show_figures()

    def _show_start(self) -> None:
        formats = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet", "csv.gz": _("CSV, compressed")}
        with card(_("Start") if self.run is None else _("Run again")):
            with field(_("File format of the release"), "format"):
                choice("format", formats, self.format, self._set_format)
            button(_("Make the release"), self._start, "main", id="start")

    def _set_format(self, value: str) -> None:
        self.format = value

    async def _start(self) -> None:
        run = await self.page.attempt(self.project.start_run, self.format)
        if run is not None:
            self.run = run
            self.show()

    def _show_progress(self) -> None:
        assert self.run is not None
        names = stage_names()
        with card(_("Working")):
            bar = node("progress", None, "", max=1, aria_label=_("Progress"), id="progress")
            words = node("p", "", "strong", role="status")
            stages = {}
            with node("ol", None, "stages"):
                for key in STAGES:
                    stages[key] = node("li", names[key])
            button(_("Cancel the run"), self._cancel, "danger", id="cancel")
        self._parts = {"bar": bar, "words": words, "stages": stages}
        self._show_figures()

    def _show_figures(self) -> None:
        assert self.run is not None
        if not self._parts:
            return
        fraction, left = self.run.fraction, self.run.remaining_seconds
        self._parts["bar"]._props["value"] = round(fraction, 3)
        self._parts["bar"].update()
        words = _("{share} done", share=percent(fraction, 0))
        if str(self.run.state) == "queued":
            words = _("Waiting: two other runs are at work.")
        elif left is not None:
            words += ", " + _("about {time} left", time=_time(left))
        if words != self._parts["words"].text:
            self._parts["words"].set_text(words)
        now = STAGES.index(self.run.stage) if self.run.stage in STAGES else 0
        for i, item in enumerate(self._parts["stages"].values()):
            item.classes(replace="done" if i < now else "now" if i == now else "")

    async def _cancel(self) -> None:
        if self.run is not None:
            await self.page.attempt(self.run.cancel)
            announce(_("The run was cancelled."))
            self.show()

    def _show_end(self) -> None:
        if self.run is None:
            return
        state = str(self.run.state)
        self._parts = {}
        if state == "done":
            result = self.run.result
            with node("div", None, "verdict", role="status"):
                node("span", "\N{HEAVY CHECK MARK}", "tick", aria_hidden="true")
                with node("div", None, "stack"):
                    words = _(
                        "Done and checked: {rows} rows in {groups} groups, in {time}.",
                        rows=number(result["rows"]),
                        groups=number(result["groups"]),
                        time=_time(self.run.seconds),
                    )
                    node("p", words, "strong")
                    link(_("See the result"), f"/p/{self.project.id}/result?run={self.run.id}", "button main", id="see")
        elif state == "cancelled":
            notice(_("The run was cancelled. Nothing was written."), "warn")
        else:
            with node("div", None, "notice bad", role="alert", id="failed"):
                node("p", _("The run ended without a release. Nothing was written."), "strong")
                node("p", str(self.run.error), lang="en")
                with node("div", None, "line"):
                    link(_("Change the goal"), f"/p/{self.project.id}/goal", "button")
                    link(_("Change the columns"), f"/p/{self.project.id}/columns", "button")


def _summary(project: Project) -> None:
    settings = project.settings
    table = project.table or {"rows": 0}
    with node("dl", None, "facts"):
        _fact(_("Table"), f"{table.get('name', '')}: {plural(table['rows'], '{n} row', '{n} rows')}")
        _fact(
            "[[k]]",
            f"{settings.k or '?'}, "
            + (_("counting people by {column}", column=settings.person) if settings.person else _("counting rows")),
        )
        _fact("[[qi|" + _("Quasi-identifiers") + "]]", ", ".join(settings.qi) or _("none"))
        for name in settings.sensitive:
            form, value = model_of(settings, name)
            words = {"": _("released unchanged"), "l": f"l = {value:.0f}", "t": f"t = {number(value, 2)}"}[form]
            _fact(_("Sensitive: {column}", column=name), words)
        if settings.insensitive:
            _fact(_("Not sensitive"), ", ".join(settings.insensitive))
        if settings.drop:
            _fact(_("Dropped"), ", ".join(settings.drop))
        if settings.suppression_limit:
            _fact(_("Rows that may be left out"), percent(float(settings.suppression_limit)))
        for name, width in settings.max_width.items():
            _fact(_("Limit of {column}", column=name), str(width))
        for rule in settings.constraints:
            _fact(_("Rule"), rule_words(rule))


def _fact(name: str, words: str) -> None:
    say("dt", name)
    node("dd", words)


def _time(seconds: float) -> str:
    if seconds < 90:
        return plural(max(1, round(seconds)), "{n} second", "{n} seconds")
    return plural(round(seconds / 60), "{n} minute", "{n} minutes")
