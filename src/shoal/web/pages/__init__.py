"""The pages of the web app, one file for each step of the way. They call the workbench and compute nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING

from nicegui import app, ui

from shoal.errors import ShoalError
from shoal.web.pages.columns import show_columns
from shoal.web.pages.compare import show_compare
from shoal.web.pages.download import show_download
from shoal.web.pages.goal import show_goal
from shoal.web.pages.hierarchies import show_hierarchies
from shoal.web.pages.load import show_home, show_load
from shoal.web.pages.parts.elements import link, notice
from shoal.web.pages.parts.language import _
from shoal.web.pages.parts.layout import add_static_files, frame
from shoal.web.pages.result import show_result
from shoal.web.pages.running import show_run

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.workbench import Workbench

__all__ = ["add_pages"]

Show = Callable[["Project"], Awaitable[None] | None]


def add_pages(bench: Workbench, *, can_log_out: bool = False) -> None:
    """Add all pages to NiceGUI's app.

    Args:
        bench: The workbench that they show.
        can_log_out: Whether they offer to end the session: a password opens another one, a token was used up.
    """
    add_static_files()
    app.state.can_log_out = can_log_out

    async def show_step(project_id: str, step: str, run: str = "") -> None:
        await _show_step(bench, project_id, step, run)

    ui.page("/")(lambda: show_home(bench))
    ui.page("/p/{project_id}/{step}")(show_step)


async def _show_step(bench: Workbench, project_id: str, step: str, run: str) -> None:
    """Show a step of a project; the way begins with Load as long as there is no table."""
    shown: dict[str, Show] = {
        "load": show_load,
        "columns": show_columns,
        "hierarchies": show_hierarchies,
        "goal": show_goal,
        "run": show_run,
        "result": lambda project: show_result(project, run),
        "compare": show_compare,
        "download": lambda project: show_download(project, run),
    }
    try:
        project = bench.open(project_id)
    except ShoalError:
        project = None
    if project is None or step not in shown:
        _show_lost()
        return
    made = (shown[step] if project.state == "ready" else show_load)(project)
    if isawaitable(made):
        await made


def _show_lost() -> None:
    with frame("load", _("This page is not here"), _("The project may have been deleted, or the address is wrong.")):
        notice(_("Your other projects are on the first page."), "warn")
        link(_("All projects"), "/", "button main")
