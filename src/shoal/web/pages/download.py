"""The page of downloads: release, reports, settings, manifest, dictionary, and what repeats the run."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from nicegui import ui

from shoal.settings.settings import SIGNOFF
from shoal.web.pages.parts.elements import announce, button, card, details, field, link, node, notice, say, text_input
from shoal.web.pages.parts.language import _, number
from shoal.web.pages.parts.layout import Page, frame
from shoal.web.pages.result import finished_run, warn_of_import

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.web.projects import Project
    from shoal.web.runs import Run

__all__ = ["show_download"]


def signoff_names() -> dict[str, str]:
    """Return the lines of the report that a person fills in, in the language of the page."""
    return {
        "who": _("Released by"),
        "when": _("Date"),
        "purpose": _("Purpose and recipient"),
        "legal_basis": _("Legal basis"),
        "reviewer": _("Reviewed by"),
    }


def show_download(project: Project, wanted: str = "") -> None:
    """Show the page.

    Args:
        project: The project.
        wanted: The id of the run; the last one by default.
    """
    lead = _("Take the release and its proof with you. The files marked private stay in your organisation.")
    with frame("download", _("Take it with you"), lead, project) as page:
        run = finished_run(project, wanted)
        files = run.files() if run else {}
        if run is None or not files:
            notice(_("There is no finished run whose files are still here. Make the release first."), "warn")
            link(_("Go to the run"), f"/p/{project.id}/run", "button main")
            return
        warn_of_import(run)
        with node("div", None, "cards"):
            with node("div", None, "stack"):
                _files(project, run, files)
                _project(page, project)
            with node("div", None, "stack"):
                _signoff(page, project)
                _repeat(project, run)


def _about(name: str) -> tuple[str, bool]:
    """Return what a file is, and whether it is private."""
    if name.endswith(".manifest.json"):
        return _("[[manifest|Manifest]]: how the release was made and checked"), False
    if ".dictionary." in name:
        if name.endswith(".json"):
            return _("Data dictionary, for programs: what each column means"), False
        return _("Data dictionary, to read: what each column means"), False
    if name.endswith(".private.html"):
        return _("[[private-report|Private report]], to read"), True
    if name.endswith(".private.json"):
        return _("[[private-report|Private report]], for programs"), True
    if name.startswith("report."):
        return (
            _("[[public-report|Public report]], to read and sign")
            if name.endswith(".html")
            else _("[[public-report|Public report]], for programs")
        ), False
    return _("The release"), False


def _files(project: Project, run: Run, files: dict[str, Path]) -> None:
    with card(_("Files of run {n}", n=run.id)), node("ul", None, "list"):
        ordered = sorted(files, key=lambda name: (name != run.output, not name.startswith("report.html"), name))
        for name in ordered:
            words, private = _about(name)
            with node("li", None, "listed"):
                with node("div"):
                    say("div", words)
                    with node("div", None, "small soft"):
                        node("span", f"{name}, {_size(files[name].stat().st_size)} ")
                        if private:
                            node("span", _("private"), "badge warn")
                look = "button tiny main" if name == run.output else "button tiny"
                target = f"/api/projects/{project.id}/runs/{run.id}/files/{quote(name)}"
                link(_("Download"), target, look, download=name, aria_label=_("Download {file}", file=name))
        with node("li", None, "listed"):
            with node("div"):
                node("div", _("Settings"))
                node("div", "shoal.toml", "small soft")
            target = f"/api/projects/{project.id}/settings.toml"
            link(
                _("Download"),
                target,
                "button tiny",
                download="shoal.toml",
                aria_label=_("Download {file}", file="shoal.toml"),
            )


def _size(count: int) -> str:
    return f"{number(count / 1e6, 1)} MB" if count >= 100_000 else f"{number(max(1, count / 1e3))} kB"


def _signoff(page: Page, project: Project) -> None:
    names = signoff_names()
    with card(_("The lines above the signature")):
        say("p", _("They are printed in the report of the next run. Run again after you changed them."), "small soft")
        for line in SIGNOFF:

            async def save(text: str, line: str = line) -> None:
                lines = {key: value for key, value in project.settings.signoff.items() if key != line}
                if await page.attempt(project.change, signoff={**lines, line: text} if text else lines) is not None:
                    announce(_("Saved."))

            with field(names[line], f"sign-{line}"):
                text_input(f"sign-{line}", str(project.settings.signoff.get(line, "")), save)
        link(_("Run again"), f"/p/{project.id}/run", "button")


def _repeat(project: Project, run: Run) -> None:
    with card(_("Repeat it without this page")):
        say("p", _("With shoal.toml beside the table, these give the same bytes."), "small soft")
        for key, title, text in (
            ("command", _("Command line"), project.command_line(run)),
            ("python", "Python", project.python_code(run)),
        ):
            with node("div", None, "line apart"):
                node("h3", title)
                copy = button(_("Copy"), None, "tiny", aria_label=_("Copy: {what}", what=title))
                copy.on(
                    "click", lambda: announce(_("Copied.")), [], js_handler=f"() => {{ shoalCopy('{key}'); emit(); }}"
                )
            node("pre", text, "", id=key, tabindex="0")


def _project(page: Page, project: Project) -> None:
    with card(_("The project")):
        say(
            "p",
            _("One file carries settings and figures elsewhere; your table stays here unless you ask for it."),
            "small soft",
        )
        with node("div", None, "line"):
            target = f"/api/projects/{project.id}/export"
            link(_("Save the project"), target, "button tiny", download=f"{project.name}.zip")
            link(_("Save with the data"), f"{target}?with_data=true", "button tiny", download=f"{project.name}.zip")
        with details(_("Delete the data now")):
            say("p", _("Deletes the table and the files of all runs. Settings and figures stay."), "small")
            button(_("Delete the data"), lambda: _delete(page, project), "danger tiny", id="delete-data")


async def _delete(page: Page, project: Project) -> None:
    await page.attempt(project.delete_data)
    ui.navigate.to("/")
