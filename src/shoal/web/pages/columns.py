"""The page of columns: a grid with roles and kinds, and live who is unique with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.pages.forecast import Forecast
from shoal.web.pages.orders import Orders
from shoal.web.pages.parts.choices import change_kind, kinds_of, qi_of, roles_of
from shoal.web.pages.parts.elements import announce, button, card, choice, details, node, notice, say
from shoal.web.pages.parts.language import _, number, percent, plural
from shoal.web.pages.parts.layout import Page, frame

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["show_columns"]

ROLE_KEYS = {"q": "qi", "s": "sensitive", "i": "insensitive", "d": "identifier", "p": "person"}
MOST_ORDERED = 200  # values of a column whose order is set by hand
MUCH = 0.2  # a share of unique people that is shown as a warning
GRID_KEYS = "(event) => shoalGridKey(event, emit)"


def role_names() -> dict[str, str]:
    """Return the roles with their names in the language of the page."""
    return {
        "qi": _("Quasi-identifier"),
        "sensitive": _("Sensitive"),
        "insensitive": _("Not sensitive"),
        "identifier": _("Drop"),
        "person": _("Person key"),
        "k": _("Own k"),
    }


def kind_names() -> dict[str, str]:
    """Return the kinds with their names in the language of the page."""
    return {
        "numeric": _("Number"),
        "date": _("Date"),
        "categorical": _("Category"),
        "boolean": _("Yes or no"),
        "ordered": _("Ordered"),
    }


@dataclass
class Grid:
    """The elements of the grid that change.

    Attributes:
        page: The page.
        names: The columns, in the order of the table.
        roles: The list of roles of each column.
        live: Where the page says who is unique.
        forecast: What a run would cost.
        orders: The order of ordered columns.
    """

    page: Page
    names: Sequence[str]
    roles: dict[str, ui.element] = field(default_factory=dict)
    live: ui.element | None = None
    forecast: Forecast | None = None
    orders: Orders | None = None

    @property
    def project(self) -> Project:
        """The project of the page."""
        assert self.page.project is not None
        return self.page.project

    async def set_role(self, rows: Sequence[int], role: str) -> None:
        """Give some columns a role."""
        names = [self.names[row] for row in rows if 0 <= row < len(self.names)]
        if not names:
            announce(_("Select columns first: tick the box at the start of a row."))
            return
        if role == "person" and len(names) > 1:
            announce(_("Only one column can be the person key."))
            return
        await self.page.attempt(self.project.set_role, names, role)
        self.show_roles()
        announce(_("{columns}: {role}", columns=", ".join(names), role=role_names()[role]))
        await self.show_uniques()

    async def set_kind(self, column: Mapping[str, Any], kind: str) -> None:
        """Give a column a kind; the order of an ordered one is that of its values until the user changes it."""
        order: list[str] = []
        if kind == "ordered":
            if column["distinct"] > MOST_ORDERED:
                self.page.tell(_("A column of more than {n} values cannot be ordered here.", n=number(MOST_ORDERED)))
                return
            values = await self.page.attempt(self.project.values, column["name"], MOST_ORDERED + 1)
            missing = {"", *self.project.settings.missing}
            order = sorted(text for text, _rows in values or () if text not in missing)
        changes = change_kind(self.project.settings, column, kind, order)
        if await self.page.attempt(self.project.change, **changes) is not None:
            announce(_("Saved."))
            if self.orders is not None:
                self.orders.show()
            self.renew_forecast()

    def renew_forecast(self) -> None:
        """Ask for a new estimate."""
        if self.forecast is not None:
            self.forecast.renew()

    def show_roles(self) -> None:
        """Show the role that each column has now."""
        for name, role in roles_of(self.project.settings, self.names).items():
            shown = self.roles[name]
            shown._props["value"] = role
            shown.update()

    async def show_uniques(self, *, renew: bool = True) -> None:
        """Say how many people are unique with these quasi-identifiers."""
        found = await self.page.attempt(self.project.uniques)
        if found is None or self.live is None:
            return
        if renew:
            self.renew_forecast()
        self.live.clear()
        with self.live:
            _uniques(self.project, found)


async def show_columns(project: Project) -> None:
    """Show the page.

    Args:
        project: The project.
    """
    lead = _(
        "Say what each column tells about people. shoal proposes a role; please check it, because you know your table. "
        "[[qi|Quasi-identifiers]] are made coarser, [[sensitive]] columns stay as they are, "
        "[[identifier|identifiers]] are dropped."
    )
    with frame("columns", _("What does each column tell about people?"), lead, project) as page:
        facts = {column["name"]: column for column in project.profile()["columns"]}
        grid = Grid(page, list(facts))
        with node("div", None, "stack"):
            with node("div", None, "cards"):
                with card(_("Who can be singled out")):
                    grid.live = node("div", None, "stack", aria_live="polite")
                with node("div", None, "stack"):
                    grid.forecast = Forecast(page, project)
                    _warnings(project)
            with card(_("Columns")):
                _tools(grid)
                _table(grid, facts)
            grid.orders = Orders(page, project, grid.renew_forecast)
        await grid.show_uniques(renew=False)


def _tools(grid: Grid) -> None:
    names = role_names()
    with node("div", None, "line", role="toolbar", aria_label=_("Role of the selected columns")):
        node("span", _("Make the selected columns:"), "small soft")
        for key, role in ROLE_KEYS.items():
            made = button(names[role], None, "tiny", id=f"make-{role}", aria_keyshortcuts=key)
            with made:
                node("span", key, "kbd", aria_hidden="true")
            made.on(
                "click",
                lambda event, role=role: grid.set_role(event.args, role),
                js_handler="() => emit(shoalSelected())",
            )
    say(
        "p",
        _(
            "Keys: arrows move between rows, space selects a row, and the letter sets the role of the selected rows, "
            "or of the row you are in."
        ),
        "small soft",
    )


def _table(grid: Grid, facts: Mapping[str, Mapping[str, Any]]) -> None:
    heads = (
        _("Column"),
        _("Role"),
        "[[kind|" + _("Kind") + "]]",
        _("Values"),
        "[[distinct|" + _("Different") + "]]",
        "[[missing|" + _("Missing") + "]]",
        "[[singles-out|" + _("Singles out") + "]]",
        _("Why this role is proposed"),
    )
    with node("div", None, "scroll", tabindex="0", role="region", aria_label=_("Columns")), node("table", None, "grid"):
        node("caption", _("Columns with their roles"), "unseen")
        with node("thead"), node("tr"):
            with node("th", None, "", scope="col"):
                box = node("input", None, type="checkbox", id="select-all", aria_label=_("Select all columns"))
                box.on("change", js_handler="(event) => shoalSelectAll(event.target.checked)")
            for i, head in enumerate(heads):
                say("th", head, ("", "", "", "values", "number", "number", "number", "reason")[i], scope="col")
        body = node("tbody", id="grid")
        body.on(
            "keydown",
            lambda event: grid.set_role(event.args["rows"], ROLE_KEYS[event.args["key"]]),
            js_handler=GRID_KEYS,
        )
        with body:
            for row, (name, fact) in enumerate(facts.items()):
                _row(grid, row, name, fact)


def _row(grid: Grid, row: int, name: str, fact: Mapping[str, Any]) -> None:
    roles, kinds = role_names(), kind_names()
    project = grid.project
    with node("tr"):
        with node("td"):
            box = node("input", None, type="checkbox", id=f"row-{row}", data_row=row)
            box._props["aria-label"] = _("Select {column}", column=name)
        with node("th", None, "cell", scope="row", title=name):
            node("span", name)
            if fact["decide"]:
                node("span", _("your decision"), "badge warn")
        with node("td"):
            grid.roles[name] = choice(
                f"role-{row}",
                roles,
                roles_of(project.settings, [name])[name],
                lambda value: grid.set_role([row], value),
                look="tiny",
                label=_("Role of {column}", column=name),
            )
        with node("td"):
            choice(
                f"kind-{row}",
                kinds,
                kinds_of(project.settings, [fact])[name],
                lambda value: grid.set_kind(fact, value),
                look="tiny",
                label=_("Kind of {column}", column=name),
            )
        node("td", fact["sparkline"], "sparkline", aria_hidden="true")
        node("td", number(fact["distinct"]), "number")
        node("td", percent(fact["missing_share"]), "number")
        with node("td", None, "number"):
            share = fact["unique_share"]
            with node("span", None, "meter", aria_hidden="true"):
                node("i").style(f"width: {100 * share:.0f}%")
            node("span", percent(share))
        node("td", fact["reason"], "reason", lang="en")


def _uniques(project: Project, found: Any) -> None:
    chosen = qi_of(project)
    if not chosen:
        notice(_("No column is a [[qi]]. Choose the columns that others may know about a person."), "warn")
        return
    person = project.settings.person
    in_people = person is not None
    distinct = {column["name"]: column["distinct"] for column in project.profile()["columns"]}
    of_people = distinct[person] if person else found.of_rows
    share = found.people / of_people if of_people else 0.0
    count = number(found.people)
    if in_people:
        text = _("With these [[qi|quasi-identifiers]], {n} people are [[unique]].", n=count)
    else:
        text = _("With these [[qi|quasi-identifiers]], {n} rows are [[unique]].", n=count)
    say("p", text, "strong", id="uniques")
    if share > MUCH:
        say("p", _("Anyone who knows {columns} of such a person finds the row.", columns=", ".join(chosen)), "small")
    with node("ul", None, "tiles"):
        tile(percent(share), _("can be singled out"))
        tile(number(len(chosen)), _("quasi-identifiers"))
    combinations = project.profile().get("combinations", ())[:4]
    if combinations:
        with details(_("Smallest combinations that single people out")), node("ul", None, "list small"):
            for each in combinations:
                node("li", f"{', '.join(each['columns'])}: {percent(each['unique_share'])}")


def tile(value: str, words: str) -> None:
    """Show a figure with what it counts."""
    with node("li", None, "tile"):
        node("span", words, "soft")
        node("b", value)


def _warnings(project: Project) -> None:
    warnings = project.profile().get("warnings", ())
    if not warnings:
        return
    with (
        card(plural(len(warnings), "{n} thing to check", "{n} things to check")),
        node("ul", None, "warnings scrolled"),
    ):
        for each in warnings:
            with node("li"):
                text: str = each["text"]
                notice(text[:1].upper() + text[1:], "warn")._props["lang"] = "en"
