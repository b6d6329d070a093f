"""The first page: load a table from a file, a database or the built-in ones, and the projects of this machine."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.parts.elements import (
    Handler,
    announce,
    button,
    card,
    choice,
    details,
    field,
    link,
    node,
    notice,
    say,
    switch,
    text_input,
)
from shoal.web.pages.parts.language import _, plural
from shoal.web.pages.parts.layout import Page, frame

if TYPE_CHECKING:
    from shoal.settings.settings import Settings
    from shoal.web.projects import Project
    from shoal.web.workbench import Workbench

__all__ = ["show_home", "show_load"]

POLL = 0.2  # seconds
PREVIEW = 8  # rows
FORMATS = ".csv,.tsv,.txt,.gz,.zst,.parquet,.arrow,.feather,.xlsx,.zip"


def show_home(bench: Workbench) -> None:
    """Show the first page.

    Args:
        bench: The workbench.
    """
    lead = _(
        "shoal turns a table about people into one that can be handed over: every row gets look-alikes, and the "
        "written file is checked. Your data stays on this machine."
    )
    with frame("load", _("Which table do you want to hand over?"), lead) as page, node("div", None, "cards wide-left"):
        with node("div", None, "stack"):
            _show_file(page, bench)
            if bench.is_local:
                _show_database(page, bench)
        with node("div", None, "stack"):
            _show_tour(page, bench)
            _show_projects(page, bench)


def _show_file(page: Page, bench: Workbench) -> None:
    async def begin(event: Any) -> None:
        name = str(event.args)
        if name.lower().endswith(".zip"):
            ui.run_javascript("shoalUpload('/api/projects/import', '/')")
            return
        project = await page.attempt(bench.create, name.rsplit(".", 1)[0][:80] or "table")
        if project is not None:
            values = json.dumps([f"/api/projects/{project.id}/table", f"/p/{project.id}/load"])
            ui.run_javascript(f"shoalUpload(...{values})")

    with card(_("A file")), node("div", None, "drop", id="drop"):
        node("p", _("Drop a file here, or choose one"), "strong")
        node("p", _("CSV, Excel or Parquet; also compressed, and projects that you saved (zip)"), "small soft")
        box = node("input", None, "control", type="file", id="file", accept=FORMATS, aria_label=_("Choose a file"))
        box.on("change", begin, js_handler="(event) => event.target.files[0] && emit(event.target.files[0].name)")
        node("progress", None, "", max=1, value=0, id="sent", hidden=True, aria_label=_("Upload"))
        node("p", "", "notice bad", id="refused", role="alert", hidden=True)


def _show_database(page: Page, bench: Workbench) -> None:
    async def load(event: Any) -> None:
        url = str(event.args).strip()
        project = await page.attempt(bench.create, _("Table of a database"))
        if project is None:
            return
        if await page.attempt(_load_url, project, url):
            ui.navigate.to(f"/p/{project.id}/load")
        else:
            bench.delete(project.id)

    with card(_("A table of a database")):
        hint = _(
            "PostgreSQL, or a file of DuckDB or SQLite by its full path: {example}. The address is never stored.",
            example="duckdb:////home/me/clinic.duckdb?table=patients",
        )
        with field(_("Address of the table"), "url", hint=hint):
            node(
                "input",
                None,
                "control mono",
                id="url",
                type="text",
                autocomplete="off",
                spellcheck="false",
                placeholder="postgresql://user@host/database?table=schema.name",
            )
        made = button(_("Load the table"), None, id="load-url")
        made.on("click", load, js_handler="() => emit(document.getElementById('url').value)")


def _load_url(project: Project, url: str) -> bool:
    project.load_url(url)
    return True


def _show_tour(page: Page, bench: Workbench) -> None:
    async def begin(name: str) -> None:
        project = await page.attempt(bench.create, name)
        if project is None:
            return
        await page.attempt(project.load_builtin, name)
        values = json.dumps([project.id, f"/p/{project.id}/load"])
        ui.run_javascript(f"shoalTour(...{values})")

    with card(_("Try it with an example")):
        say("p", _("Invented people, with a short guide on every page. Takes five minutes."), "small soft")
        with node("div", None, "line"):
            button(_("5,000 patients"), lambda: begin("patients"), "", id="tour-patients")
            button(_("Visits, several per person"), lambda: begin("visits"), "", id="tour-visits")


def _show_projects(page: Page, bench: Workbench) -> None:
    projects = bench.projects()
    with card(_("Projects on this machine")):
        if not projects:
            say("p", _("None yet. Settings are kept here; a table only if you say so."), "small soft")
        with node("ul", None, "list"):
            for project in projects:
                with node("li", None, "listed"):
                    with node("div"):
                        link(project.name, f"/p/{project.id}/load", "strong")
                        node("div", _state(project), "small soft")
                    label = _("Delete {project}", project=project.name)
                    button(
                        _("Delete"),
                        lambda project=project: _delete(page, bench, project),
                        "tiny danger",
                        aria_label=label,
                    )


def _state(project: Project) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(project.created))
    if project.state == "ready" and project.table is not None:
        rows = plural(project.table["rows"], "{n} row", "{n} rows")
        runs = plural(len(project.runs()), "{n} run", "{n} runs")
        return f"{day}, {rows}, {runs}"
    words = {"loading": _("is being read"), "failed": _("could not be read"), "empty": _("table not here")}
    return f"{day}, {words.get(project.state, '')}"


async def _delete(page: Page, bench: Workbench, project: Project) -> None:
    if await ui.run_javascript(
        f"confirm({json.dumps(_('Delete {project} with all its files?', project=project.name))})", timeout=600
    ):
        await page.attempt(bench.delete, project.id)
        ui.navigate.reload()


def show_load(project: Project) -> None:
    """Show how the table of a project was read.

    Args:
        project: The project.
    """
    lead = _("Check that the table was read correctly: column names on top, one row for each record.")
    built = project.state
    with frame("load", project.name, lead, project) as page:
        area = node("div", None, "stack", id="load-area")
        with area:
            _show_state(page, project, built)

    def renew() -> None:
        if project.state == "loading":
            ui.run_javascript(f"document.getElementById('reading').value = {project.loading.fraction:.3f}")
        elif built == "loading":
            timer.cancel()
            ui.navigate.reload()  # the steps can be reached now

    timer = ui.timer(POLL, renew, active=built == "loading")


def _show_state(page: Page, project: Project, state: str) -> None:
    if state == "loading":
        with card(_("Reading the table")):
            node("progress", None, "", max=1, id="reading", aria_label=_("Reading the table"))
            say("p", _("shoal reads the table and looks at every column."), "soft", role="status")
    elif state == "failed":
        with node("div", None, "notice bad", role="alert", id="failed"):
            node("p", _("The table could not be read."), "strong")
            node("p", str(project.error), lang="en")
        _show_reading(page, project, opened=True)
        link(_("Choose another file"), "/", "button")
    elif state == "ready":
        _show_table(page, project)
    else:
        notice(_("The settings of this project are here, but not its table. Load the table again to go on."), "warn")
        _show_again(page, project)


def _show_again(page: Page, project: Project) -> None:
    values = json.dumps([f"/api/projects/{project.id}/table", f"/p/{project.id}/load"])
    with card(_("A file")), node("div", None, "drop", id="drop"):
        node("p", _("Drop a file here, or choose one"), "strong")
        box = node("input", None, "control", type="file", id="file", accept=FORMATS, aria_label=_("Choose a file"))
        box.on("change", js_handler=f"() => shoalUpload(...{values})")
        node("progress", None, "", max=1, value=0, id="sent", hidden=True, aria_label=_("Upload"))
        node("p", "", "notice bad", id="refused", role="alert", hidden=True)


def _show_table(page: Page, project: Project) -> None:
    table = project.table
    assert table is not None
    with node("div", None, "cards wide-left"):
        with card(table["name"]):
            count = plural(table["rows"], "{n} row", "{n} rows")
            columns = plural(len(table["columns"]), "{n} column", "{n} columns")
            node("p", f"{count}, {columns}", "strong")
            with node("div", None, "scroll", tabindex="0", role="region", aria_label=_("First rows")), node("table"):
                node("caption", _("First rows"), "unseen")
                with node("thead"), node("tr"):
                    for name in table["columns"]:
                        node("th", name, "cell", scope="col")
                with node("tbody"):
                    for row in project.rows(0, PREVIEW):
                        with node("tr"):
                            for cell in row:
                                node("td", cell, "cell")
            for note in table["notes"]:
                node("p", note, "small soft", lang="en")
        with node("div", None, "stack"):
            _show_reading(page, project)
            with card(_("Your data")):
                say("p", _("The table lies in a private folder and is deleted when you end shoal."), "small soft")
                hint = _("So that you can go on tomorrow. Delete it when you are done.")
                switch(
                    "keep",
                    _("Keep the data here"),
                    project.keep_data,
                    lambda value: _keep(page, project, value),
                    hint=hint,
                )


async def _keep(page: Page, project: Project, value: bool) -> None:
    await page.attempt(project.set_keep_data, value)
    announce(_("The data stays here.") if value else _("The data will be deleted at the end."))


def _show_reading(page: Page, project: Project, *, opened: bool = False) -> None:
    """Show how to read the table in another way: the sheet of a workbook, header, separator, decimal mark."""
    settings, sheets = project.settings, (project.table or {}).get("sheets", [])

    async def again(**reading: Any) -> None:
        keys = ("sheet", "header", "decimal") if sheets else ("header", "delimiter", "encoding", "decimal")
        now = {key: getattr(project.settings, key) for key in keys}
        wanted = {key: value for key, value in (now | reading).items() if value is not None}
        if await page.attempt(_reload, project, wanted):
            ui.navigate.reload()

    with card(_("How the file was read")):
        if sheets:
            with field(_("Sheet"), "sheet"):
                choice(
                    "sheet",
                    {name: name for name in sheets},
                    settings.sheet or sheets[0],
                    lambda value: again(sheet=value),
                )
        with details(_("Read it in another way"), opened=opened):
            heads = {
                "": _("found by shoal"),
                "yes": _("the first line has the column names"),
                "no": _("there are no column names"),
            }
            chosen = "" if settings.header is None else "yes" if settings.header else "no"
            with field(_("Column names"), "header"):
                choice("header", heads, chosen, lambda value: again(header=None if not value else value == "yes"))
            with field(_("Decimal mark"), "decimal"):
                points = {"": _("found by shoal"), ".": _("point: 1.5"), ",": _("comma: 1,5")}
                choice("decimal", points, settings.decimal or "", lambda value: again(decimal=value or None))
            if not sheets:
                _show_text_file(settings, again)


def _show_text_file(settings: Settings, again: Handler) -> None:
    """Show how to read a text file in another way; a workbook has neither separators nor an encoding."""
    marks = {"": _("found by shoal"), ",": _("comma"), ";": _("semicolon"), "tab": _("tab"), "|": "|"}
    with field(_("Separator of cells"), "delimiter"):
        choice("delimiter", marks, settings.delimiter or "", lambda value: again(delimiter=value or None))
    with field(_("Text encoding"), "encoding", hint=_("Usually UTF-8. Files of old programs: latin-1 or cp1252.")):
        text_input("encoding", settings.encoding or "", lambda value: again(encoding=value.strip() or None))


def _reload(project: Project, reading: dict[str, Any]) -> bool:
    project.reload(**reading)
    return True
