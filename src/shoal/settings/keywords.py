"""The settings as keywords of `shoal.anonymize`, `shoal.compare` and `shoal.advise`."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from shoal.errors import UsageError
from shoal.schema import ISO, column_names
from shoal.settings.fields import Field, Form, Place
from shoal.settings.settings import AUTO, FIELDS, Settings

if TYPE_CHECKING:
    import os

    from shoal.hierarchy.base import Rule
    from shoal.models import PrivacyModel
    from shoal.rules import Rule as ConstraintRule

__all__ = ["SettingsKeywords", "list_keywords", "settings_from"]

Function = TypeVar("Function", bound=Callable[..., Any])


class SettingsKeywords(TypedDict, total=False):
    """The types of the keywords, for editors and type checkers; k, method and target are parameters of their own.

    A test compares the names with the table of settings.
    """

    l: int | None
    t: float | str | None
    models: Iterable[PrivacyModel | Mapping[str, Any]]
    k_column: str | None
    population: Any
    suppression_limit: float | str | None
    qi: Sequence[str]
    sensitive: Sequence[str]
    insensitive: Sequence[str]
    drop: Sequence[str]
    person: str | None
    others: str | None
    all_qi: bool | None
    accept_unique: Sequence[str]
    numeric: Sequence[str]
    categorical: Sequence[str]
    dates: Sequence[str] | Mapping[str, str] | None
    boolean: Sequence[str]
    ordered: Mapping[str, Sequence[str]] | None
    units: Mapping[str, str] | None
    hierarchies: Mapping[str, Rule | str | os.PathLike[str]] | str | None
    trust_hierarchies: bool | None
    unknown: str | None
    missing: Sequence[str]
    delimiter: str | None
    encoding: str | None
    header: bool | None
    sheet: str | None
    duplicate_columns: str | None
    decimal: str | None
    thousands: str | None
    effort: str | None
    options: Mapping[str, object] | None
    weights: Mapping[str, float] | str | None
    rules: Sequence[ConstraintRule | Mapping[str, Any]]
    recode: Mapping[str, str] | None
    max_width: Mapping[str, str | float] | None
    finest: Mapping[str, str | float] | None
    coarsest: Mapping[str, str | int] | None
    uniform: Mapping[str, str | float] | None
    seed: int | None
    ends: str | None
    snap: bool | None
    grids: Mapping[str, str] | None
    cells: str | None
    center: str | None
    spread: bool | None
    spreadsheet_safe: bool | None
    output_delimiter: str | None
    output_decimal: str | None


def settings_from(keywords: Mapping[str, Any]) -> Settings:
    """Return the settings that keywords give; None leaves a setting open.

    Raises:
        UsageError: If a keyword is not a setting, or its value has the wrong form.
    """
    by_keyword = {field.keyword or field.name: field for field in FIELDS} | {field.name: field for field in FIELDS}
    values = {}
    for keyword, value in keywords.items():
        if keyword not in by_keyword:
            close_names = difflib.get_close_matches(keyword, by_keyword, n=1)
            hint = f"Did you mean {close_names[0]!r}?" if close_names else "The settings are those of shoal.anonymize."
            raise UsageError(f"{keyword!r} is not a setting. {hint}")
        if keyword == "hierarchies" and value == AUTO:
            values["other_hierarchies"] = value
        elif value is not None:
            field = by_keyword[keyword]
            values[field.name] = _value(field, keyword, value)
    return Settings(**values)


def _value(field: Field, keyword: str, value: Any) -> Any:
    """Return the value of a keyword in the form that Settings has."""
    if field.form is Form.TEXTS and isinstance(value, str):
        return (value,)
    if field.form is Form.NAMES or (field.form is Form.DATES and not isinstance(value, Mapping)):
        names = _names(keyword, value)
        return names if field.form is Form.NAMES else dict.fromkeys(names, ISO)
    if field.form is Form.WEIGHTS and isinstance(value, str):
        return value
    if field.place is Place.ROLE:
        return str(value) if isinstance(value, int) else value
    if field.form in (Form.MODELS, Form.RULES) and isinstance(value, Iterable):
        return tuple(map(_with_text_column, value))
    try:
        if field.form.is_mapping:
            return {str(name): each for name, each in dict(value).items()}
        return tuple(value) if field.form.is_list else value
    except (TypeError, ValueError):
        required_form = "a list" if field.form.is_list else "a mapping"
        raise UsageError(f"{keyword}: a {type(value).__name__} is not {required_form} ({field.form}).") from None


def _names(keyword: str, value: Any) -> tuple[str, ...]:
    try:
        return column_names(keyword, value)
    except TypeError:
        raise UsageError(f"{keyword}: a {type(value).__name__} is not a list ({Form.NAMES}).") from None


def _with_text_column(spec: Any) -> Any:
    """Return a model or a rule whose column is named by a text; the names of a pandas frame may be integers."""
    column = spec.get("column") if isinstance(spec, Mapping) else getattr(spec, "column", None)
    if column is None or isinstance(column, str):
        return spec
    return {**spec, "column": str(column)} if isinstance(spec, Mapping) else replace(spec, column=str(column))


def list_keywords(function: Function) -> Function:
    """Insert the list of keywords into the docstring of a function, in place of the line `{settings}`."""
    if function.__doc__:
        lines = []
        for field in FIELDS:
            if field.keyword in SettingsKeywords.__annotations__:
                words = f"{field.keyword}: {field.in_python or field.help}"
                lines += textwrap.wrap(words, 112, subsequent_indent="    ")
        function.__doc__ = function.__doc__.replace("{settings}", "\n            ".join(lines))
    return function
