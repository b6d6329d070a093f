"""The card of ordered columns: which value comes before which, changed with buttons or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from shoal.web.pages.parts.elements import announce, button, card, details, node, say, text_editor
from shoal.web.pages.parts.language import _
from shoal.web.pages.parts.layout import Page

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["Orders"]

MOST_BUTTONS = 40  # values that can be moved one by one; longer lists are edited as text


class Orders:
    """The card; it is empty while no column is of the kind "ordered"."""

    def __init__(self, page: Page, project: Project, changed: Callable[[], None]) -> None:
        """Show the card.

        Args:
            page: The page.
            project: The project.
            changed: Called when an order has changed.
        """
        self.page, self.project, self._changed = page, project, changed
        self.area = node("div", None, "stack", id="orders")
        self.show()

    def show(self) -> None:
        """Show the order of each ordered column."""
        self.area.clear()
        orders = self.project.settings.ordered
        if not orders:
            return
        with self.area, card(_("The order of [[ordered]] columns")):
            say("p", _("From the lowest value to the highest. A released cell covers values that follow each other."))
            with node("div", None, "cards three"):
                for place, (name, values) in enumerate(orders.items()):
                    with node("div", None, "stack tight"):
                        node("h3", name)
                        self._show_order(place, name, tuple(values))

    def _show_order(self, place: int, name: str, values: Sequence[str]) -> None:
        if len(values) <= MOST_BUTTONS:
            with node("ol", None, "order"):
                for i, value in enumerate(values):
                    self._show_value(place, name, values, i, value)
        with details(_("Edit as text"), opened=len(values) > MOST_BUTTONS):
            label = _("Order of {column}, one value on each line", column=name)
            save = (_("Save this order"), lambda text: self._set(name, text.split("\n")))
            text_editor(f"order-{place}", "\n".join(values), label, save, rows=8, look="tiny")

    def _show_value(self, place: int, name: str, values: Sequence[str], i: int, value: str) -> None:
        with node("li"):
            node("span", value, "order-value")
            for step, sign, words in (
                (-1, "\N{UPWARDS ARROW}", _("Move {value} up", value=value)),
                (1, "\N{DOWNWARDS ARROW}", _("Move {value} down", value=value)),
            ):
                moved, to = list(values), min(max(i + step, 0), len(values) - 1)
                moved[i], moved[to] = moved[to], moved[i]
                # The id belongs to the value, so that the focus follows it to its new place.
                id = f"order-{place}-{'up' if step < 0 else 'down'}-{sorted(values).index(value)}"
                button(sign, lambda moved=moved: self._set(name, moved), "tiny", id=id, aria_label=words)

    async def _set(self, name: str, values: Sequence[str]) -> None:
        wanted = [value.strip("\r") for value in values if value.strip()]
        had = self.project.settings.ordered.get(name, ())
        if sorted(wanted) != sorted(had):
            self.page.tell(_("The order must contain each value of {column} once.", column=name))
            return
        orders = {**self.project.settings.ordered, name: tuple(wanted)}
        if await self.page.attempt(self.project.change, ordered=orders) is not None:
            announce(_("Saved."))
            self.show()
            self._changed()
