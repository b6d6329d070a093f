"""The page of the goal: k in words, people or rows, models, suppression, weights, rules, effort, and what-if."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.pages.forecast import Forecast
from shoal.web.pages.parts.choices import change_model, model_of, qi_of, without
from shoal.web.pages.parts.elements import (
    announce,
    card,
    choice,
    details,
    field,
    node,
    say,
    slider,
    text_editor,
    text_input,
)
from shoal.web.pages.parts.language import _, number, percent
from shoal.web.pages.parts.layout import Page, frame
from shoal.web.pages.rules import show_rules

if TYPE_CHECKING:
    from shoal.web.projects import Project

__all__ = ["show_goal"]

PROPOSED_K = 5
MOST_K = 100
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0)
SUPPRESSION = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
CHECKED_VALUE = "(event) => event.target.checked && emit(event.target.value)"


def show_goal(project: Project) -> None:
    """Show the page.

    Args:
        project: The project.
    """
    lead = _(
        "Decide how well people must be hidden. The larger [[k]], the safer the release and the coarser its values. "
        "The estimate shows what a choice costs before you run it."
    )
    with (
        frame("goal", _("How well must people be hidden?"), lead, project) as page,
        node("div", None, "cards wide-left"),
    ):
        goal = Goal(page, project)
        with node("div", None, "stack"):
            goal.show_k()
            goal.show_models()
            goal.show_suppression()
            goal.show_weights()
            show_rules(page, project)
            goal.show_effort()
            goal.show_text()
        with node("div", None, "stack sticky"):
            goal.forecast = Forecast(page, project)


class Goal:
    """The parts of the page; each change is saved at once and can be undone."""

    def __init__(self, page: Page, project: Project) -> None:
        self.page, self.project = page, project
        self.forecast: Forecast | None = None
        self._radios: list[ui.element] = []

    async def change(self, **changes: Any) -> bool:
        """Change settings; whether they were accepted."""
        if await self.page.attempt(self.project.change, **changes) is None:
            return False
        announce(_("Saved."))
        if self.forecast is not None:
            self.forecast.renew()
        return True

    def show_k(self) -> None:
        """Show k with what it means in words, and what it counts."""
        settings = self.project.settings
        k = settings.k or PROPOSED_K
        with card(_("The smallest group: [[k]]")):
            meaning = node("p", _meaning(k, people=settings.person is not None), id="k-meaning")

            async def move(value: float) -> None:
                if await self.change(k=int(value)):
                    meaning.set_text(_meaning(int(value), people=self.project.settings.person is not None))  # type: ignore[attr-defined]

            with field(_("Each person looks like at least this many, counting themselves"), "k"):
                slider("k", k, 2, max(MOST_K, k), 1, move, words=lambda value: f"k = {value:.0f}")
            say(
                "p",
                _(
                    "Common choices: 3 for partners bound by a contract, 5 for health data, 10 or 11 for official "
                    "statistics, 20 and more for publication on the internet."
                ),
                "small soft",
            )
            self._show_people()

    def _show_people(self) -> None:
        names = self.project.table["columns"] if self.project.table else []
        options = {"": _("rows: each row is another person")}
        options |= {name: _("people, told apart by {column}", column=name) for name in names}

        async def count(value: str) -> None:
            person = self.project.settings.person
            done = await self.page.attempt(
                self.project.set_role, [value or person], "person" if value else "identifier"
            )
            if done is not None:
                ui.navigate.reload()

        with field(
            _("k counts"),
            "person",
            hint=_("If a person can have several rows, choose the column that names the [[person|person]]."),
        ):
            choice("person", options, self.project.settings.person or "", count)

    def show_models(self) -> None:
        """Show how each sensitive column is protected beyond k."""
        names = self.project.settings.sensitive
        with card(_("Sensitive columns")):
            if not names:
                say("p", _("No column is [[sensitive]], so nothing more is needed here."), "soft")
                return
            say(
                "p",
                _(
                    "If all look-alikes share a diagnosis, it is known without knowing the row. These protections "
                    "prevent that."
                ),
                "small soft",
            )
            for i, name in enumerate(names):
                self._show_model(i, name)
            self._show_other_models()

    def _show_model(self, i: int, name: str) -> None:
        form, value = model_of(self.project.settings, name)
        options = {
            "": _("no further protection"),
            "l": _("several different values in each group (l-diversity)"),
            "t": _("values spread as in the whole table (t-closeness)"),
        }

        async def choose(chosen: str) -> None:
            start = {"l": 3.0, "t": 0.2}.get(chosen, 0.0)
            if await self.change(**change_model(self.project.settings, name, chosen, start)):
                ui.navigate.reload()

        with field(name, f"model-{i}"):
            choice(f"model-{i}", options, form, choose)
        if form == "l":
            with field(_("Different values in each group: [[l-diversity]]"), f"amount-{i}"):
                slider(
                    f"amount-{i}", value, 2, max(10, value), 1, self._moving(name, form), words=lambda v: f"l = {v:.0f}"
                )
        elif form == "t":
            with field(_("Largest distance from the whole table: [[t-closeness]]"), f"amount-{i}"):
                slider(
                    f"amount-{i}",
                    value,
                    0.05,
                    0.6,
                    0.05,
                    self._moving(name, form),
                    words=lambda v: f"t = {number(v, 2)}",
                )

    def _moving(self, name: str, form: str) -> Any:
        async def move(value: float) -> None:
            await self.change(**change_model(self.project.settings, name, form, value))

        return move

    def _show_other_models(self) -> None:
        """Show the models that only an expert chooses, as a list and as text."""
        from shoal.models.registry import MODELS, model_from, parse_model

        settings = self.project.settings
        simple = ("distinct-l", "t-closeness")
        others = [spec for spec in settings.models if not (isinstance(spec, dict) and spec["name"] in simple)]

        async def add(text: str) -> None:
            if not text.strip():
                return
            try:
                spec = parse_model(text)
                model_from(spec)
            except ShoalError as error:
                self.page.tell(error)
                return
            if await self.change(models=(*self.project.settings.models, spec)):
                ui.navigate.reload()

        with details(_("More models")):
            for spec in others:
                node("p", str(spec), "mono small")
            hint = _("For experts. Known models: {names}.", names=", ".join(MODELS))
            with field(_("Add a model, such as: entropy-l disease l=2"), "other-model", hint=hint):
                text_input("other-model", "", add)

    def show_suppression(self) -> None:
        """Show how many rows may be left out."""
        current = float(self.project.settings.suppression_limit or 0)
        limits = SUPPRESSION if current in SUPPRESSION else (*SUPPRESSION, current)

        async def move(place: float) -> None:
            await self.change(suppression_limit=limits[int(place)] or None)

        def words(place: float) -> str:
            return percent(limits[int(place)]) if limits[int(place)] else _("no row")

        with card(_("Leaving out rows: [[suppression]]")):
            with field(_("At most this share of the rows may be left out"), "suppression"):
                slider("suppression", limits.index(current), 0, len(limits) - 1, 1, move, words=words)
            say(
                "p",
                _("A few odd rows can make many others coarse. Leaving them out keeps the rest more exact."),
                "small soft",
            )

    def show_weights(self) -> None:
        """Show how important each quasi-identifier is."""
        settings = self.project.settings
        names = qi_of(self.project)
        weights = (
            {} if isinstance(settings.weights, str) else {key: float(value) for key, value in settings.weights.items()}
        )
        words = [_("much less"), _("less"), _("normal"), _("more"), _("much more")]
        with card(_("Which columns matter most: [[weight|weights]]")):
            say("p", _("shoal keeps important columns more exact, at the expense of the others."), "small soft")
            for i, name in enumerate(names):
                weight = min(WEIGHTS, key=lambda each, name=name: abs(each - weights.get(name, 1.0)))  # type: ignore[misc]

                async def move(place: float, name: str = name) -> None:
                    now = self.project.settings.weights
                    others = without({} if isinstance(now, str) else now, name)
                    chosen = WEIGHTS[int(place)]
                    await self.change(weights=others if chosen == 1 else {**others, name: chosen})

                with field(name, f"weight-{i}", look="beside"):
                    slider(f"weight-{i}", WEIGHTS.index(weight), 0, 4, 1, move, words=lambda place: words[int(place)])

    def show_effort(self) -> None:
        """Show how long to search, and under "more" the method and the seed."""
        from shoal.methods.registry import METHODS

        settings = self.project.settings
        options = {
            "fast": (_("Fast"), _("for a first look")),
            "normal": (_("Normal"), _("a good balance")),
            "high": (_("High"), _("less loss, takes several times as long")),
        }
        with card(_("How long to search: [[effort]]")):
            with node("fieldset"):
                node("legend", _("Effort"), "unseen")
                with node("div", None, "options"):
                    for key, (name, words) in options.items():
                        self._radio("effort", key, name, words, settings.effort or "normal")
            with details(_("More: method and seed"), opened=bool(settings.method and settings.method != "shoaling")):
                with field(_("[[method|Method]]"), "method"):
                    methods = {each.name: f"{each.name}: {each.summary}" for each in METHODS}
                    choice("method", methods, settings.method or "shoaling", lambda value: self.change(method=value))
                with field(_("[[seed|Seed]]"), "seed"):
                    text_input("seed", str(settings.seed or 0), self._set_seed, kind="number", look="narrow", min=0)

    def show_text(self) -> None:
        """Show all settings as the text of a shoal.toml, also those that have no control of their own."""

        async def save(text: str) -> None:
            if await self.page.attempt(self.project.replace_toml, text) is not None:
                ui.navigate.reload()

        with card(_("Everything else")), details(_("All settings as text")):
            say(
                "p",
                _("For experts. The text of shoal.toml, which also has settings without a control on these pages."),
                "small soft",
            )
            label = _("All settings as text")
            text_editor("settings", self.project.toml(), label, (_("Save the settings"), save), rows=18)

    async def _set_seed(self, text: str) -> None:
        await self.change(seed=int(text) if text.strip().isdigit() else 0)

    async def _choose(self, name: str, key: str) -> None:
        for box in self._radios:
            box._props["checked"] = box._props["value"] == key
        await self.change(**{name: key})

    def _radio(self, name: str, key: str, title: str, words: str, current: str) -> None:
        with node("label", None, "option"):
            box = node("input", None, type="radio", name=name, id=f"{name}-{key}", value=key)
            box._props["checked"] = key == current
            box.on("change", lambda event: self._choose(name, event.args), js_handler=CHECKED_VALUE)
            self._radios.append(box)
            with node("span"):
                node("b", title)
                node("span", words, "small soft")


def _meaning(k: int, *, people: bool) -> str:
    others, chance = number(k - 1), percent(1 / k, 0 if 100 % k == 0 else 1)
    if people:
        return _(
            "Every person in the release looks like at least {others} other people. Someone who knows all "
            "quasi-identifiers of a person picks the right one with a chance of at most 1 in {k} ({chance}).",
            others=others,
            k=k,
            chance=chance,
        )
    return _(
        "Every row in the release looks like at least {others} other rows. Someone who knows all quasi-identifiers of "
        "a person picks the right row with a chance of at most 1 in {k} ({chance}).",
        others=others,
        k=k,
        chance=chance,
    )
