"""The page that compares all runs of a project: a map of risk and loss, a table, and the choice of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.charts import charts
from shoal.web.pages.parts.elements import card, link, node, notice, say, svg
from shoal.web.pages.parts.language import _, number, percent
from shoal.web.pages.parts.layout import frame

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.runs import Run

__all__ = ["show_compare"]


def show_compare(project: Project) -> None:
    """Show the page.

    Args:
        project: The project.
    """
    lead = _(
        "Every run of this project, with what it costs and how safe it is. Low and left is best. Choose one to hand "
        "over."
    )
    with frame("compare", _("Compare the runs"), lead, project):
        runs = [run for run in project.runs() if str(run.state) == "done" and run.result]
        if not runs:
            notice(_("There is no finished run yet."), "warn")
            link(_("Go to the run"), f"/p/{project.id}/run", "button main")
            return
        with node("div", None, "stack"):
            if len(runs) == 1:
                notice(_("One run so far. Change the goal and run again to compare."), "info")
            with card(_("Risk and loss")):
                points = [charts.Point(_name(run), 100 * _risk(run), 100 * _loss(run)) for run in runs]
                title = _("Risk and loss of each run")
                summary = _("Each point is a run: the further left, the safer; the lower, the more exact.")
                with node("div", None, "cards wide-left"):
                    svg(charts.scatter(title, summary, points, x=_("highest risk in %"), y=_("loss in %")).svg)
                    say("p", summary, "soft")
            with card(_("All runs")):
                _table(project, runs)


def _table(project: Project, runs: list[Run]) -> None:
    heads = (
        _("Run"),
        "[[k]]",
        _("Method"),
        "[[loss|" + _("Loss") + "]]",
        "[[risk|" + _("Highest risk") + "]]",
        _("Groups"),
        _("Rows left out"),
        _("Seconds"),
        _("Choose"),
    )
    with node("div", None, "scroll", tabindex="0", role="region", aria_label=_("All runs")), node("table"):
        node("caption", _("All runs"), "unseen")
        with node("thead"), node("tr"):
            for i, head in enumerate(heads):
                say("th", head, "number" if 3 <= i <= 7 or i == 1 else "", scope="col")
        with node("tbody"):
            for run in runs:
                _row(project, run)


def _row(project: Project, run: Run) -> None:
    result = run.result
    with node("tr"):
        node("th", _("Run {n}", n=run.id), "", scope="row")
        node("td", str(result["k"]), "number")
        node("td", str(result["method"]))
        node("td", percent(_loss(run)), "number")
        node("td", percent(_risk(run)), "number")
        node("td", number(result["groups"]), "number")
        node("td", number(result["suppressed_rows"]), "number")
        node("td", number(run.seconds, 1), "number")
        with node("td"):
            if run.files():
                with node("div", None, "line"):
                    label = _("Look at run {n}", n=run.id)
                    link(_("Look"), f"/p/{project.id}/result?run={run.id}", "button tiny", aria_label=label)
                    label = _("Take run {n}", n=run.id)
                    link(_("Take"), f"/p/{project.id}/download?run={run.id}", "button tiny main", aria_label=label)
            else:
                node("span", _("files deleted"), "small soft")


def _name(run: Run) -> str:
    return _("run {n}: k = {k}", n=run.id, k=run.result["k"])


def _loss(run: Run) -> float:
    return float(run.result["measures"]["ncp"])


def _risk(run: Run) -> float:
    """Return the highest risk: that of a person in the smallest group."""
    return 1 / max(1, int(run.result["smallest_group"]))
