"""URLs on the command line: passwords are masked before any library sees the arguments."""

from __future__ import annotations

from shoal.tables.sources.url import ANY_SCHEME, SCHEMES, mask

__all__ = ["hide", "reveal"]

# The URL behind each masked text.
_HIDDEN: dict[str, str] = {}


def hide(word: str) -> str:
    """Mask the secrets of a URL in an argument, so that no error of a library can show a password.

    `reveal` finds the URL again.
    """
    scheme = ANY_SCHEME.search(word)
    if scheme is None or scheme[1].lower() not in SCHEMES:
        return word
    url = word[scheme.start() :]
    _HIDDEN[mask(url)] = url
    return word[: scheme.start()] + mask(url)


def reveal(word: str) -> str:
    """Return the URL that `hide` masked; any other argument as it is."""
    return _HIDDEN.get(word, word)
