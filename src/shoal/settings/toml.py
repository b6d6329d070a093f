"""Write plain values as TOML, which the standard library only reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

__all__ = ["key", "pairs", "string", "value"]

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def string(text: str) -> str:
    """Return a TOML basic string; JSON's escapes are TOML's, but DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def key(name: str) -> str:
    """Return a key, in quotes where it needs them."""
    return name if BARE_KEY.fullmatch(name) else string(name)


def value(given: Any) -> str:
    """Return a plain value: a set in order, a fraction as the whole number or decimal that it is.

    >>> value({"widths": (5, Fraction(5, 2)), "unit": "year"})
    '{ widths = [5, 2.5], unit = "year" }'
    """
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, Fraction):
        return str(int(given)) if given.denominator == 1 else repr(float(given))
    if isinstance(given, int | float):
        return repr(given)
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{key(str(name))} = {value(inner)}" for name, inner in given.items()) + " }"
    if isinstance(given, set | frozenset):
        given = sorted(given)
    if isinstance(given, Sequence) and not isinstance(given, str):
        return "[" + ", ".join(map(value, given)) + "]"
    return string(given.isoformat() if isinstance(given, date) else str(given))


def pairs(content: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each value that is not None."""
    for name, given in content.items():
        if given is not None:
            yield f"{key(name)} = {value(given)}"
