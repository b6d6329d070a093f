"""Write settings as a shoal.toml."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from shoal.hierarchy.interval import IntervalHierarchy
from shoal.hierarchy.prefix import PrefixHierarchy
from shoal.schema import Kind, Limits
from shoal.settings.fields import Field, Form, Place
from shoal.settings.settings import FIELDS, Settings

__all__ = ["to_plain", "to_toml"]

ARRAYS_OF_TABLES = (Form.MODELS, Form.RULES)


def to_toml(
    settings: Settings,
    *,
    header: Sequence[str] = (),
    comments: Mapping[str, Sequence[str]] | None = None,
    columns: Sequence[str] = (),
) -> str:
    """Return the text of a shoal.toml; settings that are open do not appear.

    `shoal.settings.read.read_config` returns the same settings from it, except for hierarchies made in Python, which
    the file mentions in a comment.

    Args:
        settings: The settings.
        header: Comment lines at the beginning.
        comments: Comment lines above a key, such as "k", or above a table, such as "columns.age" or "rules".
        columns: The order of the columns; others follow, quasi-identifiers first.
    """
    import tomlkit

    comments = comments or {}
    document = tomlkit.document()
    for line in header:
        document.add(tomlkit.comment(line))
    if header:
        document.add(tomlkit.nl())
    top = [(each, _top_value(each, settings)) for each in FIELDS if each.place is Place.TOP]
    for each, value in top:
        if each.form not in ARRAYS_OF_TABLES and not isinstance(value, Mapping):
            _add_value(document, each.key, value, comments.get(each.key, ()))
    for each, value in top:
        if isinstance(value, Mapping):
            _add_table(document, each.key, value, comments)
    in_file = {each.key: getattr(settings, each.name) for each in FIELDS if each.place is Place.FILE}
    _add_table(document, Place.FILE[1:-1], in_file, comments)
    for each, value in top:
        if each.form in ARRAYS_OF_TABLES:
            _add_tables(document, each.key, value, comments.get(each.key, ()))
    _add_columns(document, settings, columns, comments)
    _add_table(document, Place.SIGNOFF[1:-1], settings.signoff, comments)
    return tomlkit.dumps(document).lstrip("\n")


def to_plain(settings: Settings) -> dict[str, Any]:
    """Return settings as plain values in the form of a shoal.toml, which JSON can hold too."""
    import tomllib

    return tomllib.loads(to_toml(settings))


def _top_value(field: Field, settings: Settings) -> Any:
    value = getattr(settings, field.name)
    if field.form is Form.TABLE and not isinstance(value, str | os.PathLike):
        return None  # a frame has no name
    return None if value in ((), {}) else value


def _add_value(document: Any, key: str, value: Any, lines: Sequence[str]) -> None:
    import tomlkit

    for line in lines:
        document.add(tomlkit.comment(line))
    if value is not None:
        document.add(key, _item(value))
    if lines:
        document.add(tomlkit.nl())


def _add_table(parent: Any, name: str, content: Mapping[str, Any], comments: Mapping[str, Sequence[str]]) -> None:
    if any(value is not None for value in content.values()):
        parent.append(name, _table(content, comments.get(name, ())))


def _add_tables(document: Any, name: str, values: Sequence[Any] | None, lines: Sequence[str]) -> None:
    """Add an array of tables; its comment remains if the array is empty."""
    import tomlkit

    if lines and not values:
        document.add(tomlkit.nl())
        for line in lines:
            document.add(tomlkit.comment(line))
    if values:
        document.append(name, tomlkit.aot())
        for value in values:
            document[name].append(_table(_plain_object(value), ()))


def _add_columns(
    document: Any, settings: Settings, order: Sequence[str], comments: Mapping[str, Sequence[str]]
) -> None:
    import tomlkit

    contents = dict(_columns(settings))
    ordered = [name for name in dict.fromkeys((*order, *contents)) if name in contents]
    if not ordered:
        return
    columns = tomlkit.table(is_super_table=True)
    for name in ordered:
        lines = list(comments.get(f"columns.{name}", ()))
        if settings.hierarchies.get(name) is not None and not _hierarchy(settings.hierarchies[name]):
            lines.append("hierarchy: made in Python; pass the same one again")
        columns.append(name, _table(contents[name], lines))
    document.append("columns", columns)


def _columns(settings: Settings) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the keys of every column that has a role."""
    kind_of = {**settings.kinds, **{name: str(kind) for name, kind in settings.reading.kinds.items()}}
    for each in FIELDS:
        if each.place is not Place.ROLE:
            continue
        value = getattr(settings, each.name)
        for name in (value,) if isinstance(value, str) else value or ():
            grid = settings.grids.get(name)
            yield (
                name,
                {
                    "role": each.key,
                    "kind": kind_of.get(name),
                    "format": (settings.dates.get(name) or None) if kind_of.get(name) == Kind.DATE else None,
                    "order": list(settings.reading.ordered.get(name, ())) or None,
                    "unit": settings.units.get(name) or None,
                    "grid": grid or None,
                    **{key: str(limit) for key in Limits._fields if (limit := getattr(settings, key).get(name))},
                    "accept_unique": True if name in settings.accept_unique else None,
                    **_hierarchy(settings.hierarchies.get(name)),
                },
            )


def _hierarchy(rule: Any) -> dict[str, Any]:
    """Return the key that describes a hierarchy; nothing for one that only Python can make."""
    if isinstance(rule, str | os.PathLike):
        return {"hierarchy": os.fspath(rule)}
    if isinstance(rule, PrefixHierarchy):
        content: dict[str, Any] = {"lengths": list(rule.lengths)} if rule.lengths else {"mask": rule.mask}
        return {"prefixes": content | ({"meet": True} if rule.meet else {})}
    if isinstance(rule, IntervalHierarchy) and rule.widths:
        content = {"widths": list(rule.widths), "origin": rule.origin or None, "unit": rule.unit}
        return {"intervals": {name: value for name, value in content.items() if value is not None}}
    return {}


def _plain_object(value: Any) -> Mapping[str, Any]:
    """Return a model or a rule as plain values."""
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "spec"):
        spec: Mapping[str, Any] = value.spec()
        return spec
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else dict(value)


def _table(content: Mapping[str, Any], lines: Sequence[str]) -> Any:
    """Return a table with comment lines above its header."""
    import tomlkit

    table = tomlkit.table()
    for key, value in content.items():
        if value is not None:
            table.append(key, _item(value))
    # Last, because tomlkit copies the indentation of a table to what is added later.
    table.trivia.indent = "\n" + "".join(f"# {line}".rstrip() + "\n" for line in lines)
    return table


def _item(value: Any) -> Any:
    """Return a value of TOML: a set in order, a fraction as the integer or decimal that it equals."""
    import tomlkit

    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, bool | int | float):
        return tomlkit.item(value)
    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        for key, each in value.items():
            inline.append(str(key), _item(each))
        return inline
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        array = tomlkit.array()
        for each in value:
            array.append(_item(each))
        return array
    return tomlkit.string(value.isoformat() if isinstance(value, date) else str(value))
