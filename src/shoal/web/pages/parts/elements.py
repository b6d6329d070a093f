"""Accessible building blocks of the pages: native HTML elements, whose text is always escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from shoal.web.pages.parts.glossary import explain
from shoal.web.pages.parts.language import _

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Handler",
    "announce",
    "button",
    "card",
    "choice",
    "details",
    "field",
    "link",
    "node",
    "notice",
    "say",
    "slider",
    "svg",
    "switch",
    "table",
    "text_editor",
    "text_input",
]

Handler = Callable[..., Any]
TERM = re.compile(r"\[\[([a-z0-9-]+)(?:\|([^\]]+))?\]\]")
VALUE = "(event) => emit(event.target.value)"
CHECKED = "(event) => emit(event.target.checked)"


class Text(TextElement):
    """An HTML element with a text of its own."""

    def __init__(self, tag: str, text: str) -> None:
        super().__init__(tag=tag, text=text)


def node(tag: str, text: str | None = None, /, look: str = "", **attributes: object) -> ui.element:
    """Return an HTML element.

    Args:
        tag: Its tag.
        text: Its text, if it has one; a browser never reads it as HTML.
        look: Its classes.
        attributes: Its attributes; aria_label becomes aria-label, and None is left out.
    """
    made = ui.element(tag) if text is None else Text(tag, text)
    if look:
        made.classes(look)
    for name, value in attributes.items():
        if value is not None:
            made._props[name.rstrip("_").replace("_", "-")] = value
    return made


def text_editor(
    id: str, text: str, label: str, save: tuple[str, Callable[[str], Awaitable[None]]], *, rows: int, look: str = ""
) -> None:
    """Show a field for longer texts and the button that saves what it holds.

    The text is content of the field, not a value: an update of the page keeps what is typed.

    Args:
        id: The id of the field; that of the button ends in `-save`.
        text: The text at first.
        label: What the field is, for screen readers.
        save: The words of the button, and what is called with the text.
        rows: The height of the field.
        look: The look of the button.
    """
    node("textarea", text, "control mono", spellcheck="false", id=id, rows=rows, aria_label=label)
    words, keep = save
    made = button(words, None, look, id=f"{id}-save")
    made.on(
        "click", lambda event: keep(str(event.args)), js_handler=f"() => emit(document.getElementById('{id}').value)"
    )


def say(tag: str, text: str, /, look: str = "", **attributes: object) -> ui.element:
    """Return an element whose text explains its technical words, written as `[[k]]` or `[[qi|quasi-identifiers]]`."""
    parts = TERM.split(text)
    if len(parts) == 1:
        return node(tag, text, look, **attributes)
    made = node(tag, None, look, **attributes)
    with made:
        for i in range(0, len(parts), 3):
            if parts[i]:
                node("span", parts[i])
            if i + 1 < len(parts):
                term(parts[i + 1], parts[i + 2])
    return made


def term(key: str, words: str | None = None) -> None:
    """Show a technical word that explains itself on hover and on focus."""
    title, explanation = explain(key)
    with node("span", None, "term"):
        name = f"term-{ui.context.client.id[:4]}-{ui.context.client.next_element_id}"
        node("span", words or title, "word", tabindex="0", role="note", aria_describedby=name)
        node("span", explanation, "hint", role="tooltip", id=name)


def button(
    label: str, handler: Handler | None = None, /, look: str = "", *, off: bool = False, **attributes: object
) -> ui.element:
    """Return a button; `off` makes it inactive."""
    made = node("button", label, f"button {look}", type="button", **attributes)
    if off:
        made._props["disabled"] = True
    if handler is not None:
        made.on("click", handler, [])
    return made


def link(label: str, target: str, /, look: str = "", **attributes: object) -> ui.element:
    """Return a link to another page of the app."""
    return node("a", label, look, href=target, **attributes)


@contextmanager
def card(title: str = "", /, look: str = "", *, level: str = "h2") -> Iterator[ui.element]:
    """Show a card with a title; what is made inside belongs to it."""
    with node("section", None, f"card {look}") as made:
        if title:
            say(level, title)
        yield made


@contextmanager
def details(title: str, /, *, opened: bool = False, look: str = "") -> Iterator[ui.element]:
    """Show a part that the user opens."""
    with node("details", None, look, open=True if opened else None) as made:
        say("summary", title)
        yield made


@contextmanager
def field(label: str, /, name: str, *, hint: str = "", look: str = "") -> Iterator[ui.element]:
    """Show a labelled field; the control inside has the id `name`."""
    with node("div", None, f"field {look}") as made:
        with node("div", None, "field-head"):
            head = node("label", None, "label", for_=name)
            with head:
                say("span", TERM.sub(lambda found: found[2] or explain(found[1])[0], label))
            for found in TERM.finditer(label):
                about(found[1])
        yield made
        if hint:
            say("p", hint, "soft small", id=f"{name}-hint")


def about(key: str) -> None:
    """Show a question mark that explains a technical word on hover and on focus."""
    title, explanation = explain(key)
    with node("span", None, "term"):
        name = f"about-{ui.context.client.next_element_id}"
        node(
            "span",
            "?",
            "about",
            tabindex="0",
            role="note",
            aria_label=_("About {word}", word=title),
            aria_describedby=name,
        )
        node("span", explanation, "hint", role="tooltip", id=name)


def _kept(made: ui.element, name: str, value: object, event: str, read: str, handler: Handler) -> ui.element:
    """Give a control its value, and have it remember what the user enters: a later update must not take it back."""
    made._props[name] = value

    def take(found: Any) -> Any:
        made._props[name] = found.args
        return handler(found.args)

    return made.on(event, take, js_handler=read)


def choice(
    name: str, options: Mapping[str, str], value: str, handler: Handler, /, *, look: str = "", label: str | None = None
) -> ui.element:
    """Return a drop-down list; `options` maps values to what the list shows."""
    made = node("select", None, f"control {look}", id=name, aria_label=label)
    with made:
        for key, words in options.items():
            node("option", words, value=key)
    return _kept(made, "value", value, "change", VALUE, handler)


def text_input(
    name: str,
    value: str,
    handler: Handler,
    /,
    *,
    kind: str = "text",
    look: str = "",
    label: str | None = None,
    event: str = "change",
    **attributes: object,
) -> ui.element:
    """Return a field for a text or a number; the handler gets its text."""
    made = node("input", None, f"control {look}", id=name, type=kind, aria_label=label, **attributes)
    made._props["autocomplete"] = "off"
    return _kept(made, "value", value, event, VALUE, handler)


def slider(
    name: str,
    value: float,
    least: float,
    most: float,
    step: float,
    handler: Handler,
    /,
    *,
    words: Callable[[float], str] = str,
    label: str | None = None,
) -> ui.element:
    """Return a slider with its value in words beside it; the handler gets the number when the user lets go."""
    with node("div", None, "slider") as made:
        bar = node("input", None, "", id=name, type="range", min=least, max=most, step=step, aria_label=label)
        _kept(bar, "value", value, "change", VALUE, lambda moved: handler(float(moved)))
        bar._props["aria-valuetext"] = words(value)
        shown = node("output", words(value), "slider-value", for_=name)

    def move(event: Any) -> None:
        shown.set_text(words(float(event.args)))  # type: ignore[attr-defined]
        bar._props["aria-valuetext"] = words(float(event.args))

    bar.on("input", move, js_handler=VALUE, throttle=0.05)
    return made


def switch(name: str, label: str, value: bool, handler: Handler, /, *, hint: str = "", look: str = "") -> ui.element:
    """Return a labelled check box; the handler gets whether it is checked."""
    with node("div", None, f"switch {look}") as made:
        box = node("input", None, "", type="checkbox", id=name, aria_describedby=f"{name}-hint" if hint else None)
        _kept(box, "checked", value, "change", CHECKED, lambda checked: handler(bool(checked)))
        with node("div"):
            with node("label", None, for_=name):
                say("span", TERM.sub(lambda found: found[2] or explain(found[1])[0], label))
            for found in TERM.finditer(label):
                about(found[1])
            if hint:
                say("p", hint, "soft small", id=f"{name}-hint")
    return made


def notice(text: str, /, kind: str = "info", *, cure: str = "") -> ui.element:
    """Show a message: kind `info`, `good`, `warn` or `bad`. A bad one is read out at once."""
    with node("div", None, f"notice {kind}", role="alert" if kind == "bad" else None) as made:
        say("p", text)
        if cure:
            say("p", cure, "soft")
    return made


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], /, *, caption: str, numbers: Sequence[int] = ()
) -> ui.element:
    """Show a table of texts; `numbers` are the columns to align to the right."""
    with node("div", None, "scroll", tabindex="0", role="region", aria_label=caption) as made, node("table"):
        node("caption", caption, "unseen")
        with node("thead"), node("tr"):
            for i, title in enumerate(head):
                say("th", title, "number" if i in numbers else "", scope="col")
        with node("tbody"):
            for row in rows:
                with node("tr"):
                    for i, cell in enumerate(row):
                        node("td", cell, "number" if i in numbers else "")
    return made


def svg(drawing: str) -> ui.element:
    """Show a drawing of `shoal.charts`, whose texts are escaped there."""
    return ui.html(drawing, sanitize=False).classes("drawing")


def announce(text: str) -> None:
    """Show a short message at the foot of the page, which screen readers read out."""
    ui.run_javascript(f"shoalAnnounce({json.dumps(text)})")
