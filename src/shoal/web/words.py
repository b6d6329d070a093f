"""Texts of shoal for someone who sees pages: settings are called as the pages call them, never as options.

A setting that has no control of its own stands under its name in "All settings as text" on the page Goal.
"""

from __future__ import annotations

import re
import shlex

from shoal.errors import MENTION, PLAIN, Note, ShoalError

__all__ = ["error_in_words", "in_words"]

# What the pages call a setting, in English like the messages of shoal.
NAMES = {
    "boolean": "Kind: Yes or no",
    "categorical": "Kind: Category",
    "constraints": "Values that must not be mixed",
    "dates": "Kind: Date",
    "decimal": "Decimal mark",
    "delimiter": "Separator of cells",
    "drop": "Drop",
    "effort": "Effort",
    "encoding": "Text encoding",
    "header": "Column names",
    "hierarchies": "Hierarchy",
    "insensitive": "Not sensitive",
    "k_column": "Own k",
    "max_width": "Widest range",
    "method": "Method",
    "models": "More models",
    "numeric": "Kind: Number",
    "ordered": "Kind: Ordered",
    "other_hierarchies": "Hierarchy",
    "person": "k counts",
    "qi": "Quasi-identifier",
    "seed": "Seed",
    "sensitive": "Sensitive",
    "sheet": "Sheet",
    "suppression_limit": "Leaving out rows",
    "weights": "Which columns matter most",
}
# Commands that the same text offers to readers of the terminal.
COMMAND = re.compile(r" \(shoal [a-z][^()]*\)")


def in_words(text: str) -> str:
    """Spell the settings that a text or a note mentions as the pages call them.

    Args:
        text: The text, with its marks.

    >>> from shoal.errors import setting
    >>> in_words(f"try {setting('k', 5)} or {setting('suppression_limit')}")
    'try k = 5 or “Leaving out rows”'
    >>> in_words(f"use {setting('missing', ['?', 'NA'])} and {setting('header', False)}")
    'use “missing” = ?,NA and “Column names” = no'
    """
    marked = text.marked if isinstance(text, Note) else text
    return COMMAND.sub("", MENTION.sub(_mention, marked)).translate(PLAIN)


def error_in_words(error: ShoalError) -> str:
    """Return the message of an error for a page."""
    return in_words(error.text)


def _mention(found: re.Match[str]) -> str:
    name, _, value = found[1].partition("=")
    shown = NAMES.get(name, name)
    shown = shown if len(shown) == 1 else f"\N{LEFT DOUBLE QUOTATION MARK}{shown}\N{RIGHT DOUBLE QUOTATION MARK}"
    if value in ("True", "False"):
        return f"{shown} = {'yes' if value == 'True' else 'no'}"
    words = " ".join(shlex.split(found[2])[1:]) if value else ""
    return f"{shown} = {words}" if words else shown
