"""The what-if card: expected loss and risk of the current settings, marked as an estimate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks, run

from shoal.errors import CancelledError, ShoalError
from shoal.web.pages.parts.elements import card, node, say
from shoal.web.pages.parts.language import _, percent
from shoal.web.pages.parts.layout import Page
from shoal.web.words import error_in_words

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["Forecast"]

LEAST_CHANGE = 0.0005  # of the loss, that is worth a sentence
PATIENCE = 0.3  # seconds in which more changes may follow


class Forecast:
    """The card, which asks for an estimate at once and whenever settings change. Only the newest answer is shown."""

    def __init__(self, page: Page, project: Project) -> None:
        self.page, self.project = page, project
        self._asked = 0
        self._busy = False
        self._last: Mapping[str, Any] | None = None
        with card(_("What to expect")):
            self._area = node("div", None, "stack", aria_live="polite", id="forecast")
            with self._area:
                node("p", _("Working ..."), "soft")
        self.renew()

    def renew(self) -> None:
        """Ask for an estimate of the current settings; one question at a time."""
        self._asked += 1
        if not self._busy:
            self._busy = True
            background_tasks.create(self._answer())

    async def _answer(self) -> None:
        answered = 0
        try:
            while answered != self._asked and not self._area.is_deleted:
                await asyncio.sleep(PATIENCE)
                answered = self._asked
                await self._ask()
        finally:
            self._busy = False

    async def _ask(self) -> None:
        asked, found, problem = self._asked, None, ""
        try:
            found = await run.io_bound(self.project.forecast)
        except CancelledError:  # another tab asked later; it is this one's turn again
            self._asked += 1
            return
        except ShoalError as error:
            problem = error_in_words(error)
        if asked != self._asked or self._area.is_deleted:
            return
        self._area.clear()
        with self._area:
            if found is None:
                say("p", _("There is no estimate for these settings."), "soft")
                node("p", problem, "small soft", lang="en")
            else:
                _show(found, self._last)
                self._last = found


def _show(found: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
    if found["exact"]:
        say("p", _("Computed on the whole table, which is small:"), "small soft")
    else:
        say(
            "p",
            _("An [[estimate]] from samples of your table; 9 of 10 such ranges hold the real figure:"),
            "small soft",
        )
    with node("ul", None, "tiles"):
        for key, words in (("loss", _("information loss")), ("risk", _("average risk"))):
            with node("li", None, "tile"):
                node("span", words, "soft")
                if not found["exact"]:
                    low, high = percent(found[key]["low"]), percent(found[key]["high"])
                    node("span", _("{low} to {high}", low=low, high=high), "small")
                value = percent(found[key]["value"])
                node("b", value if found["exact"] else _("about {value}", value=value))
    change = found["loss"]["value"] - before["loss"]["value"] if before is not None else 0.0
    if abs(change) >= LEAST_CHANGE:
        words = _("more loss than before") if change > 0 else _("less loss than before")
        node("p", f"{percent(abs(change))} {words}", "small strong")
