"""Hierarchies from dictionaries and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.check import Line, build

__all__ = ["from_dict", "from_function"]


def from_dict(given: Mapping[str, Any], *, trust: bool = False) -> Hierarchy:
    """Return the hierarchy that a dictionary writes down, in one of three ways.

    Value to labels: ``{"SE": ["North", "Europe"], "IT": ["South", "Europe"]}``.
    Child to parent: ``{"SE": "North", "IT": "South", "North": "Europe", "South": "Europe"}``.
    A tree: ``{"Europe": {"North": {"SE", "NO"}, "South": {"IT"}}}``; the last level is a set, or keys without content.
    "*" is put on top where it is not.

    >>> from_dict({"Europe": {"North": {"SE"}, "MT": None}}).rows
    {'SE': ('North', 'Europe', '*'), 'MT': ('MT', 'Europe', '*')}
    """
    contents = list(given.values())
    if contents and all(isinstance(content, str) for content in contents):
        lines = list(_from_parents(given))
    elif contents and all(isinstance(content, Sequence) and not isinstance(content, str) for content in contents):
        lines = [Line(i, value, tuple(labels)) for i, (value, labels) in enumerate(given.items(), start=1)]
    else:
        lines = [Line(i, path[0], path[1:]) for i, path in enumerate(_walk(given, (), ()), start=1)]
    return build(lines, source="dict", unit="value", trust=trust, add_root=True)


def from_function(labels: Callable[[str], Sequence[str]], texts: Iterable[str], *, trust: bool = False) -> Hierarchy:
    """Return the hierarchy in which each value has the labels that a function gives it, from level 1 up.

    >>> from_function(lambda month: ["winter" if month in ("12", "1", "2") else "rest"], ["1", "2", "3"]).rows
    {'1': ('winter', '*'), '2': ('winter', '*'), '3': ('rest', '*')}
    """
    lines = [Line(i, text, tuple(labels(text))) for i, text in enumerate(dict.fromkeys(texts), start=1)]
    return build(lines, source="function", unit="value", trust=trust, add_root=True)


def _from_parents(parents: Mapping[str, str]) -> Iterator[Line]:
    """Follow each key that is nobody's parent up to the end."""
    above = set(parents.values())
    on_a_way = set()
    leaves = [child for child in parents if child not in above]
    for number, leaf in enumerate(leaves, start=1):
        way = [leaf]
        while way[-1] in parents and parents[way[-1]] not in way:
            way.append(parents[way[-1]])
        if way[-1] in parents:
            raise InputError(_cycle(number, len(way) - 1))
        on_a_way.update(way)
        yield Line(number, leaf, tuple(way[1:]))
    for number, child in enumerate(parents, start=1):
        if child not in on_a_way:
            raise InputError(_cycle(number, 0))


def _cycle(number: int, level: int) -> str:
    place = f"dict, value {number}, level {level}"
    return f"{place}: the label is its own ancestor (a cycle). Let every way up end in one root."


def _walk(tree: Any, path: tuple[str, ...], seen: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the way from each leaf up to the top of the tree."""
    if id(tree) in seen:
        raise InputError(_cycle(1, len(path)))
    if isinstance(tree, (set, frozenset)):
        tree = dict.fromkeys(sorted(tree))
    if not isinstance(tree, Mapping):
        raise UsageError(
            f"a hierarchy with content of type {type(tree).__name__} cannot be taken. Give each value the list of its "
            "labels, or each label a dictionary or set of what is below it."
        )
    for name, below in tree.items():
        if below:
            yield from _walk(below, (name, *path), (*seen, id(tree)))
        else:
            yield (name, *path)
