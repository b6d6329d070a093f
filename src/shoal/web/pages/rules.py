"""The card of rules on the page of the goal: values that a group should not mix, chosen from those of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.parts.choices import kinds_of, qi_of, rule_words
from shoal.web.pages.parts.elements import button, card, choice, details, field, node, say, switch
from shoal.web.pages.parts.language import _
from shoal.web.pages.parts.layout import Page

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["show_rules"]

MOST_VALUES = 200
IMPORTANCE = 25


def show_rules(page: Page, project: Project) -> None:
    """Show the rules and a form for a new one.

    Args:
        page: The page.
        project: The project.
    """
    rules = project.settings.constraints
    with card(_("Values that must not be mixed: [[rule|rules]]")):
        if not rules:
            say("p", _("None yet. A rule keeps, for example, children and adults in different groups."), "small soft")
        with node("ul", None, "list"):
            for i, rule in enumerate(rules):
                with node("li", None, "listed"):
                    node("span", rule_words(rule))
                    button(
                        _("Remove"),
                        lambda i=i: _remove(page, project, i),
                        "tiny",
                        aria_label=_("Remove rule {n}", n=i + 1),
                    )
        with details(_("Add a rule")):
            Form(page, project).show()


async def _remove(page: Page, project: Project, place: int) -> None:
    rules = project.settings.constraints
    if await page.attempt(project.change, constraints=(*rules[:place], *rules[place + 1 :])) is not None:
        ui.navigate.reload()


class Form:
    """The form of a new rule: a column, then two sides that must not meet."""

    def __init__(self, page: Page, project: Project) -> None:
        self.page, self.project = page, project
        self.column = next(iter(qi_of(project)), "")
        self.must = False
        self.sides: ui.element | None = None

    def show(self) -> None:
        """Show the form."""
        names = {name: name for name in qi_of(self.project)}
        with field(_("Column"), "rule-column"):
            choice("rule-column", names, self.column, self._choose)
        self.sides = node("div", None, "stack")
        switch("rule-must", _("This is a must: no group may break the rule, whatever it costs"), False, self._set_must)
        add = button(_("Add the rule"), None, id="rule-add")
        add.on("click", lambda event: self._add(event.args), js_handler="() => emit(shoalRule())")
        ui.timer(0.05, self._show_sides, once=True)

    def _set_must(self, value: bool) -> None:
        self.must = value

    async def _choose(self, column: str) -> None:
        self.column = column
        await self._show_sides()

    async def _show_sides(self) -> None:
        assert self.sides is not None
        columns = self.project.profile()["columns"]
        kind = kinds_of(self.project.settings, columns).get(self.column, "")
        self.sides.clear()
        if kind in ("numeric", "date"):
            shape = "date" if kind == "date" else "number"
            with self.sides, node("div", None, "line"):
                for side, label in (("up", _("Values up to")), ("from", _("must not meet values from"))):
                    with field(label, f"rule-{side}"):
                        node("input", None, "control narrow", type=shape, id=f"rule-{side}", step="any")
            return
        values = await self.page.attempt(self.project.values, self.column, MOST_VALUES) if self.column else None
        with self.sides, node("div", None, "cards"):
            for side, label in (("these", _("These values")), ("those", _("must not meet these"))):
                with (
                    field(label, f"rule-{side}"),
                    node("select", None, "control", id=f"rule-{side}", multiple=True, size=6),
                ):
                    for text, _rows in values or ():
                        node("option", text or _("(missing)"), value=text)

    async def _add(self, sides: dict[str, Any]) -> None:
        rule: dict[str, Any] = {"column": self.column, "importance": IMPORTANCE}
        if sides.get("up") and sides.get("from"):
            rule["inflection"] = [_bound(sides["up"]), _bound(sides["from"])]
        elif sides.get("these") and sides.get("those"):
            rule["apart"] = [list(sides["these"]), list(sides["those"])]
        else:
            self.page.tell(_("Choose values on both sides of the rule."))
            return
        if self.must:
            rule = {key: value for key, value in rule.items() if key != "importance"} | {"ban": True}
        rules = (*self.project.settings.constraints, rule)
        if await self.page.attempt(self.project.change, constraints=rules) is not None:
            ui.navigate.reload()


def _bound(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
