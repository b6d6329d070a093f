"""The page of a result: verdict, before and after, loss, groups, risk, rules, and what to consider before signing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.charts import charts
from shoal.web.pages.columns import tile
from shoal.web.pages.parts.elements import button, card, details, link, node, notice, say, svg, table
from shoal.web.pages.parts.language import _, figure, number, percent
from shoal.web.pages.parts.layout import Page, frame

if TYPE_CHECKING:
    from shoal.web.projects import Project
    from shoal.web.runs import Run

__all__ = ["finished_run", "show_result", "warn_of_import"]

PAGE_ROWS = 12
YEAR = 365.25  # days


def finished_run(project: Project, wanted: str = "") -> Run | None:
    """Return the wanted run if it is done, or the last one that is."""
    done = [run for run in project.runs() if str(run.state) == "done"]
    return next((run for run in done if run.id == wanted), done[-1] if done else None)


def warn_of_import(run: Run) -> None:
    """Say that the figures of a run from elsewhere were not checked here."""
    if run.is_imported:
        notice(
            _("This run came with the project file; shoal did not check it here. Run it again to be sure."),
            "warn",
        )


def show_result(project: Project, wanted: str = "") -> None:
    """Show the page.

    Args:
        project: The project.
        wanted: The id of the run; the last one by default.
    """
    lead = _("Look at what was reached and what it cost. Then decide, or change the goal and run again.")
    with frame("result", _("What came out"), lead, project) as page:
        run = finished_run(project, wanted)
        report = run.report() if run else {}
        if run is None or not report:
            notice(_("There is no finished run whose files are still here. Make the release first."), "warn")
            link(_("Go to the run"), f"/p/{project.id}/run", "button main")
            return
        with node("div", None, "stack"):
            warn_of_import(run)
            _verdict(run, report)
            _tiles(report)
            _signing(project, run, report)
            Rows(page, run).show()
            with node("div", None, "cards"):
                with node("div", None, "stack"):
                    _loss(report)
                    _sensitive(report)
                with node("div", None, "stack"):
                    _groups(report)
                    _risk(report)
            _rules(report)
            _spreads(report)
            _attacks(report)


def _verdict(run: Run, report: Mapping[str, Any]) -> None:
    reached, people = report["reached"], report["risk"]["counts"] == "persons"
    who = _("people") if people else _("rows")
    with node("div", None, "verdict", id="verdict"):
        node("span", "\N{HEAVY CHECK MARK}", "tick", aria_hidden="true")
        with node("div"):
            say(
                "p",
                _(
                    "Every combination of [[qi|quasi-identifiers]] in the release is shared by at least {n} {who}. The "
                    "[[gate]] read the written file and counted it again.",
                    n=number(reached["smallest"]),
                    who=who,
                ),
                "strong",
            )
            with details(_("In the words of the report")):
                node("p", report["verdict"], lang="en")
                with node("ul", None, "", lang="en"):
                    for sentence in report["meaning"]:
                        node("li", sentence)
                with node("ul", None, "", lang="en"):
                    for check in report["checks"]:
                        node("li", f"{check['what']}: {check['found']}")


def _tiles(report: Mapping[str, Any]) -> None:
    reached, source = report["reached"], report["source"]
    with node("ul", None, "tiles"):
        tile(percent(reached["loss"]), _("information loss"))
        tile(number(reached["rows"]), _("rows released"))
        tile(number(source["left_out"]), _("rows left out"))
        tile(number(reached["groups"]), _("groups"))
        tile(number(reached["smallest"]), _("smallest group"))
        tile(percent(reached["cells_changed"], 0), _("cells changed"))


def _signing(project: Project, run: Run, report: Mapping[str, Any]) -> None:
    """Show what to consider before signing."""
    warnings = report["warnings"]
    with card(_("Before you sign")):
        if not warnings:
            say("p", _("shoal found nothing unusual in this release. These questions remain for you:"))
        else:
            _warnings(warnings)
        with node("ul", None, "small"):
            node("li", _("Is every column that others may know a quasi-identifier?"))
            node("li", _("Will the recipient get other tables about the same people? Two releases can be joined."))
            node("li", _("Is the purpose written down, and who answers for it?"))
        with node("div", None, "line"):
            link(_("Fill in and download the report"), f"/p/{project.id}/download?run={run.id}", "button")
        with (
            details(_("The three questions of the European data protection authorities")),
            node("dl", None, "facts", lang="en"),
        ):
            for each in report["criteria"]:
                node("dt", each["question"])
                node("dd", each["words"])


def _warnings(warnings: Sequence[Any]) -> None:
    with node("ul", None, "warnings"):
        for each in warnings:
            with node("li"):
                words, cure = (each, "") if isinstance(each, str) else (each.get("text", ""), each.get("cure", ""))
                notice(words, "warn", cure=cure)._props["lang"] = "en"


class Rows:
    """Rows before and after, side by side, paged from the server."""

    def __init__(self, page: Page, run: Run) -> None:
        self.page, self.run, self.start = page, run, 0
        self.area: ui.element | None = None

    def show(self) -> None:
        """Show the card with its first page."""
        with card(_("Rows before and after")):
            say(
                "p",
                _("Marked cells were made coarser. A cell that is cut off shows its full text when you point at it."),
                "small soft",
            )
            self.area = node("div", None, "stack")
            self._show_page()

    def _show_page(self) -> None:
        from shoal.errors import ShoalError

        assert self.area is not None
        self.area.clear()
        with self.area:
            try:
                found = self.run.before_after(self.start, PAGE_ROWS)
            except ShoalError as error:
                node("p", str(error), "soft", lang="en")
                return
            with node("div", None, "compared"):
                self._side(found, _("Before"), "before")
                self._side(found, _("After"), "after")
            self._pager(found["of_rows"])

    def _side(self, found: Mapping[str, Any], title: str, key: str) -> None:
        columns = [i for i, cell in enumerate(found["rows"][0]) if "before" in cell] if found["rows"] else []
        with node("div", None, "stack tight"):
            node("h3", title)
            with node("div", None, "scroll together", tabindex="0", role="region", aria_label=title), node("table"):
                node("caption", title, "unseen")
                with node("thead"), node("tr"):
                    node("th", _("Row"), "number", scope="col")
                    for i in columns:
                        node("th", found["columns"][i], "cell", scope="col")
                with node("tbody"):
                    for at, row in enumerate(found["rows"]):
                        with node("tr"):
                            node("td", number(self.start + at + 1), "number soft")
                            for i in columns:
                                cell = row[i]
                                look = "cell changed" if cell.get("changed") and key == "after" else "cell"
                                node("td", cell[key], look, title=cell[key])

    def _pager(self, of_rows: int) -> None:
        last = min(of_rows, self.start + PAGE_ROWS)
        with node("div", None, "line"):
            button(_("Previous rows"), lambda: self._go(-PAGE_ROWS), "tiny", off=self.start == 0, id="rows-back")
            words = _(
                "Rows {first} to {last} of {all}", first=number(self.start + 1), last=number(last), all=number(of_rows)
            )
            node("span", words, "small", role="status")
            button(_("Next rows"), lambda: self._go(PAGE_ROWS), "tiny", off=last >= of_rows, id="rows-on")

    def _go(self, step: int) -> None:
        self.start = max(0, self.start + step)
        self._show_page()


def _loss(report: Mapping[str, Any]) -> None:
    with card(_("What each column lost: [[loss]]")):
        rows = report["loss"]
        if not rows:
            say("p", _("Nothing was lost: the table already met the goal."), "soft")
            return
        drawn = charts.bars(
            _("Loss by column"),
            _("{column} lost most.", column=rows[0]["column"]),
            [charts.Bar(row["column"], row["loss"], percent(row["loss"])) for row in rows],
            head=(_("column"), _("loss")),
        )
        svg(drawn.svg)
        with node("ul", None, "list small"):
            for row in rows:
                node("li", f"{row['column']}: {_width(row)}")
        with details(_("Why")), node("dl", None, "facts", lang="en"):
            for row in rows:
                node("dt", row["column"])
                node("dd", row["why"])


def _width(row: Mapping[str, Any]) -> str:
    """Say how wide the cells of a column are on average."""
    if not row["loss"]:
        return _("every value is exact")
    if row["mean_width"] is not None:
        width, unit = row["mean_width"], row["unit"]
        if unit == "days" and width >= 2 * YEAR:
            return _("a cell spans {n} years on average", n=number(width / YEAR, 1))
        if unit == "days":
            return _("a cell spans {n} days on average", n=number(width, 0 if width >= 10 else 1))
        return _("a cell is {n} wide on average", n=number(width, 1))
    return _("a cell covers {n} values on average", n=number(row["mean_values"], 1))


def _groups(report: Mapping[str, Any]) -> None:
    people = report["groups_count"] == "persons"
    with card(_("Group sizes")):
        columns = []
        for each in report["groups"]:
            low, high = each["smallest"], each["largest"]
            name = f"{low:,}" if low == high else f"{low:,}\N{EN DASH}{high:,}"
            columns.append(charts.Bar(name, each["rows"], number(each["rows"])))
        drawn = charts.histogram(
            _("Group sizes"),
            _("The smallest group has {n}.", n=number(report["reached"]["smallest"])),
            columns,
            x=_("people in the group") if people else _("rows in the group"),
            y=_("people in groups of this size") if people else _("rows in groups of this size"),
            marked=f"k = {report['reached']['k']}",
        )
        svg(drawn.svg)


def _risk(report: Mapping[str, Any]) -> None:
    risk, source = report["risk"], report["source"]
    with card(_("Risk before and after")):
        rows = []
        if "alone_before" in source:
            rows.append((_("alone with their values"), number(source["alone_before"]), number(source["alone_after"])))
            before, after = source["average_group_before"], source["average_group_after"]
            rows.append((_("average group"), number(before, 1), number(after, 1)))
            if before:
                rows.append((_("average risk"), percent(1 / before), figure(risk["prosecutor"]["average"])))
        highest = percent(1) if source.get("alone_before") else ""
        rows.append((_("highest risk"), highest, figure(risk["prosecutor"]["max"])))
        table((_("[[risk|Risk]]"), _("Before"), _("After")), rows, caption=_("Risk before and after"), numbers=(1, 2))
        with node("ul", None, "list small"):
            for each in report["conventions"]:
                with node("li", None, "marked"):
                    met = bool(each["met"])
                    node("span", _("met") if met else _("not met"), "badge good" if met else "badge warn")
                    with node("span"):
                        words = _("groups of at least {n}", n=each["least_group"])
                        node("span", f"{words}: ")
                        node("span", each["words"], lang="en")


def _sensitive(report: Mapping[str, Any]) -> None:
    facts = report["sensitive"]
    with card(_("What groups reveal about sensitive columns")):
        if not facts:
            say("p", _("No column is [[sensitive]]."), "soft")
            return
        rows = [
            (each["name"], str(each["fewest"]), number(each["one_value"]), figure(str(each["highest_share"])))
            for each in facts
        ]
        head = (_("Column"), _("Fewest different values"), _("Groups with one value"), _("Highest share of a value"))
        table(head, rows, caption=_("Sensitive columns"), numbers=(1, 2, 3))


def _rules(report: Mapping[str, Any]) -> None:
    if not report["rules"]:
        return
    with card(_("Rules")), node("ul", None, "list", lang="en"):
        for each in report["rules"]:
            node("li", each if isinstance(each, str) else ", ".join(str(value) for value in each.values()))


def _spreads(report: Mapping[str, Any]) -> None:
    with card(_("Values before and after")):
        say(
            "p",
            _("How often each value or interval occurs; a range counts evenly for all values that it covers."),
            "small soft",
        )
        for column in report.get("before_after", ()):
            with details(column["column"]):
                rows = [charts.Pair(row["name"], row["before"], row["after"]) for row in column["rows"]]
                head = (column["column"], _("before"), _("after"))
                title = _("{column} before and after", column=column["column"])
                svg(charts.pairs(title, title, rows, head=head).svg)


def _attacks(report: Mapping[str, Any]) -> None:
    with card(_("[[attack|Attacks]]")):
        attacks = report.get("attacks", ())
        if not attacks:
            say("p", _("No attack was run on this release. Its figures above follow from the groups alone."), "soft")
        with node("ul", None, "list", lang="en"):
            for each in attacks:
                node("li", str(each))
