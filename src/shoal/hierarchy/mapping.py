"""Hierarchies from dictionaries and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.check import Line, build

__all__ = ["from_dict", "from_function"]


def from_dict(content: Mapping[str, Any], *, trust: bool = False) -> Hierarchy:
    """Return the hierarchy that a dictionary describes.

    Args:
        content: One of three forms.
            Value to labels: ``{"SE": ["North", "Europe"], "IT": ["South", "Europe"]}``.
            Child to parent: ``{"SE": "North", "IT": "South", "North": "Europe", "South": "Europe"}``.
            A tree: ``{"Europe": {"North": {"SE", "NO"}, "South": {"IT"}}}``; its leaves are the members of a set or
            the keys without content.
            A single label at the top is the root; above several, "*" is added.
        trust: Accept labels that do not contain their values.

    Raises:
        InputError: The hierarchy is malformed, for example because a label is its own ancestor.
        UsageError: The dictionary has none of the three forms.

    >>> from_dict({"Europe": {"North": {"SE"}, "MT": None}}).rows
    {'SE': ('North', 'Europe'), 'MT': ('MT', 'Europe')}
    """
    parts = list(content.values())
    if parts and all(isinstance(part, str) for part in parts):
        lines = list(_from_parents(content))
    elif parts and all(isinstance(part, Sequence) and not isinstance(part, str) for part in parts):
        lines = [Line(i, value, tuple(labels)) for i, (value, labels) in enumerate(content.items(), start=1)]
    else:
        lines = [Line(i, path[0], path[1:]) for i, path in enumerate(_paths(content, (), ()), start=1)]
    return build(lines, source="dict", unit="value", trust=trust, add_root=True)


def from_function(labels: Callable[[str], Sequence[str]], texts: Iterable[str], *, trust: bool = False) -> Hierarchy:
    """Return the hierarchy in which a function labels each value.

    Args:
        labels: Returns the labels of a value from level 1 up.
        texts: The values.
        trust: Accept labels that do not contain their values.

    Raises:
        InputError: The labels do not form a hierarchy.

    >>> from_function(lambda month: ["winter" if month in ("12", "1", "2") else "rest"], ["1", "2", "3"]).rows
    {'1': ('winter', '*'), '2': ('winter', '*'), '3': ('rest', '*')}
    """
    lines = [Line(i, text, tuple(labels(text))) for i, text in enumerate(dict.fromkeys(texts), start=1)]
    return build(lines, source="function", unit="value", trust=trust, add_root=True)


def _from_parents(parents: Mapping[str, str]) -> Iterator[Line]:
    """Follow each key that is not a parent up to its root."""
    above = set(parents.values())
    visited = set()
    leaves = [child for child in parents if child not in above]
    for number, leaf in enumerate(leaves, start=1):
        path = [leaf]
        while path[-1] in parents and parents[path[-1]] not in path:
            path.append(parents[path[-1]])
        if path[-1] in parents:
            raise InputError(_cycle(number, len(path) - 1))
        visited.update(path)
        yield Line(number, leaf, tuple(path[1:]))
    for number, child in enumerate(parents, start=1):
        if child not in visited:
            raise InputError(_cycle(number, 0))


def _cycle(number: int, level: int) -> str:
    place = f"dict, value {number}, level {level}"
    return f"{place}: the label is its own ancestor (a cycle). Make every path end in one root."


def _paths(tree: Any, path: tuple[str, ...], ancestors: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path from each leaf to the root of the tree."""
    if id(tree) in ancestors:
        raise InputError(_cycle(1, len(path)))
    if isinstance(tree, (set, frozenset)):
        tree = dict.fromkeys(sorted(tree))
    if not isinstance(tree, Mapping):
        raise UsageError(
            f"the hierarchy has content of type {type(tree).__name__}. Give each value a list of its labels, or each "
            "label a dictionary or set of what is below it."
        )
    for name, below in tree.items():
        if below:
            yield from _paths(below, (name, *path), (*ancestors, id(tree)))
        else:
            yield (name, *path)
