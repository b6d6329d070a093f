"""The language of a page: English in the source, every other language in a gettext catalogue of `web/locale`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from nicegui import ui

__all__ = ["LANGUAGES", "N_", "_", "catalogue", "figure", "language", "number", "percent", "plural"]

LANGUAGES = {"en": "English", "de": "Deutsch"}
COOKIE = "shoal_language"


def language() -> str:
    """Return the language of the page that is being built or acted on: the user's choice, or the browser's."""
    request = ui.context.client.request
    chosen = request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    wanted = [part.split(";")[0].strip()[:2].lower() for part in request.headers.get("accept-language", "").split(",")]
    return next((name for name in wanted if name in LANGUAGES), "en")


def _(text: str, /, **values: object) -> str:
    """Return a text in the language of the page.

    Args:
        text: The English text, with placeholders in braces.
        values: What the placeholders stand for.
    """
    translated = catalogue(language()).get(text) or text
    return translated.format(**values) if values else translated


def N_(text: str) -> str:  # noqa: N802 - the name that gettext uses
    """Mark a text that is translated where it is shown."""
    return text


def plural(count: int, one: str, many: str) -> str:
    """Return one of two English texts by a count, in the language of the page; both may contain `{n}`."""
    return _(one if count == 1 else many, n=number(count))


def number(value: float, digits: int = 0) -> str:
    """Return a number with the thousands and decimal marks of the language of the page."""
    text = f"{value:,.{digits}f}"
    return text.translate(str.maketrans(",.", ".,")) if language() == "de" else text


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage in the language of the page; none and all have no digits."""
    digits = 0 if share in (0, 1) else digits
    sign = "\N{NO-BREAK SPACE}%" if language() == "de" else "%"
    return number(100 * share, digits) + sign


def figure(text: str) -> str:
    """Return a figure that a report wrote in English, such as "19.1%", with the marks of the language of the page."""
    if language() != "de":
        return text
    return text.translate({ord(","): ".", ord("."): ",", ord("%"): "\N{NO-BREAK SPACE}%"})


@cache
def catalogue(name: str) -> Mapping[str, str]:
    """Return the translations of a language by their English text; empty for English.

    The catalogue is read as it is edited (.po), so that nothing needs to be compiled to add a language.
    """
    path = files("shoal.web") / "locale" / f"{name}.po"
    return parse_catalogue(path.read_text(encoding="utf-8")) if path.is_file() else {}


def parse_catalogue(text: str) -> dict[str, str]:
    r"""Return the translations of a .po file, without the fuzzy ones.

    >>> parse_catalogue('msgid "a"\nmsgstr ""\n"b"\n"c"\n')
    {'a': 'bc'}
    """
    found: dict[str, str] = {}
    parts = {"msgid": "", "msgstr": ""}
    current, fuzzy = "", False
    for line in [*text.splitlines(), ""]:
        word, _space, rest = line.strip().partition(" ")
        if word in parts:
            current, parts[word] = word, ast.literal_eval(rest)
        elif line.startswith('"') and current:
            parts[current] += ast.literal_eval(line.strip())
        elif line.startswith("#,"):
            fuzzy = "fuzzy" in line
        elif not word:
            if parts["msgid"] and parts["msgstr"] and not fuzzy:
                found[parts["msgid"]] = parts["msgstr"]
            parts, current, fuzzy = {"msgid": "", "msgstr": ""}, "", False
    return found
