"""Columns of an original that share a name: refused, or numbered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from shoal.errors import InputError
from shoal.verification.verdict import MOST_VIOLATIONS

__all__ = ["numbered", "refuse_doubles"]


def numbered(names: Sequence[str]) -> list[str]:
    """Return names of which no two are equal: every repetition of one gets the next number that makes a new name."""
    used, seen, unique = set(names), set(), []
    for name in names:
        if name in seen:
            name = next(new for n in count(2) if (new := f"{name}_{n}") not in used)
            used.add(name)
        seen.add(name)
        unique.append(name)
    return unique


def refuse_doubles(where: str, names: Sequence[str]) -> None:
    """Raise an InputError if two columns have the same name; it gives positions, because a name may be a cell."""
    first = {name: n for n, name in reversed(list(enumerate(names)))}
    if repeated := [str(n + 1) for n, name in enumerate(names) if first[name] != n]:
        positions = ", ".join(repeated[:MOST_VIOLATIONS])
        raise InputError(f"{where}the column at position {positions} has the name of an earlier column. Rename it.")
