"""Merge the settings of two sources, such as the command line and shoal.toml, key by key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.schema import ISO, Kind
from shoal.settings.fields import Field, Form, Place

if TYPE_CHECKING:
    from shoal.models import PrivacyModel

__all__ = ["merge"]

Values = Mapping[str, Any]


def merge(fields: Sequence[Field], ours: Values, theirs: Values) -> dict[str, Any]:
    """Merge two sets of values by field name; where both have a value, ours applies.

    A mapping merges by its keys, a list of columns by column, models by name and column. Roles share the columns: a
    column that has a role in ours keeps it, and every other column keeps the role that it has in theirs. The same holds
    for kinds. Where ours names another person or another personal k, the column that theirs names is dropped: it was
    not to be released. Of a column that ours does not release as theirs did, hierarchy, grid and weight of theirs lose
    their meaning.
    """
    merged = {field.name: _merge_value(field, ours[field.name], theirs[field.name]) for field in fields}
    for place in (Place.ROLE, Place.KIND):
        names = [field.name for field in fields if field.place is place]
        claimed = set(_columns(ours[name] for name in names))
        merged |= {name: _join(ours[name], theirs[name], claimed) for name in names}
    claimed = set(_columns(ours[field.name] for field in fields if field.place is Place.ROLE))
    merged["drop"] = (*merged["drop"], *_displaced(fields, ours, theirs, claimed))
    return _apply_kinds(merged | _that_apply(merged, ours, claimed))


def _displaced(fields: Sequence[Field], ours: Values, theirs: Values, claimed: set[str]) -> list[str]:
    """Return the columns of roles that only one column can have, where ours names another one."""
    single = (field.name for field in fields if field.place is Place.ROLE and not field.form.is_list)
    return [
        theirs[name]
        for name in single
        if ours[name] is not None and theirs[name] is not None and theirs[name] not in claimed
    ]


def _that_apply(merged: Values, ours: Values, claimed: set[str]) -> dict[str, Any]:
    """Return hierarchies, grids and weights without those of columns that ours gave a role in which they mean nothing.

    A hierarchy describes a quasi-identifier or a sensitive column, a grid and a weight a quasi-identifier.
    """
    qi = set(merged["qi"])
    useful = {"hierarchies": qi | set(merged["sensitive"]), "grids": qi, "weights": qi}
    return {
        name: {
            column: value
            for column, value in merged[name].items()
            if column not in claimed or column in columns or column in ours[name]
        }
        for name, columns in useful.items()
        if isinstance(merged[name], Mapping)
    }


def _merge_value(field: Field, ours: Any, theirs: Any) -> Any:
    if field.form is Form.MODELS:
        replaced = {key for model in ours if (key := _model_key(model)) is not None}
        return (*(model for model in theirs if _model_key(model) not in replaced), *ours)
    if field.form is Form.NAMES:
        return tuple(dict.fromkeys((*ours, *theirs)))
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return {**theirs, **ours}
    is_empty = isinstance(ours, tuple | Mapping) and not ours  # a frame must not be compared
    return theirs if ours is None or is_empty else ours


def _model_key(model: Mapping[str, Any] | PrivacyModel) -> tuple[str, str] | None:
    """Return what identifies a model among others: its name and column."""
    spec = model if isinstance(model, Mapping) else model.spec()
    return (str(spec["name"]), str(spec.get("column", ""))) if "name" in spec else None


def _columns(values: Iterable[Any]) -> tuple[str, ...]:
    """Return the columns that the values of several fields name."""
    return tuple(column for value in values for column in ((value,) if isinstance(value, str) else value or ()))


def _join(ours: Any, theirs: Any, claimed: set[str]) -> Any:
    """Add to our columns those of theirs that no field of ours claims."""
    if isinstance(ours, tuple):
        return (*ours, *(name for name in theirs if name not in claimed))
    if isinstance(ours, Mapping):
        return {**ours, **{name: value for name, value in theirs.items() if name not in claimed}}
    return theirs if ours is None and theirs not in claimed else ours


def _apply_kinds(merged: dict[str, Any]) -> dict[str, Any]:
    """Give a column that one source made a quasi-identifier the kind that the other declares for it."""
    declared = _columns(merged[name] for name in ("numeric", "categorical", "dates", "boolean", "ordered", "units"))
    kinds = {name: kind for name, kind in merged["kinds"].items() if name in merged["qi"] and name not in declared}

    def named(kind: Kind) -> list[str]:
        return [name for name, each in kinds.items() if each == kind]

    return merged | {
        "numeric": (*merged["numeric"], *named(Kind.NUMERIC)),
        "categorical": (*merged["categorical"], *named(Kind.CATEGORICAL)),
        "dates": {**merged["dates"], **dict.fromkeys(named(Kind.DATE), ISO)},
        "boolean": (*merged["boolean"], *named(Kind.BOOLEAN)),
        "kinds": {name: kind for name, kind in merged["kinds"].items() if name not in kinds},
    }
