"""Read a shoal.toml: the keys and their types follow from the table of settings."""

from __future__ import annotations

import difflib
import inspect
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shoal.errors import FileError, UsageError, join_problems
from shoal.schema import ISO, Kind, Limits
from shoal.settings.fields import Field, Form, Place
from shoal.settings.settings import AUTO, FIELDS, SIGNOFF, Settings

__all__ = ["known_keys", "parse_config", "parse_toml", "read_config"]

MOST_BYTES = 1 << 24
DEEPEST = 32
MOST_BITS = 1328  # 400 decimal digits
KEY_PART = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*""")

# Hierarchies that [columns.NAME] describes in place of naming a file; the keyword arguments are those of
# shoal.hierarchy.intervals and shoal.hierarchy.prefixes.
DESCRIBED_HIERARCHIES = ("intervals", "prefixes")


def read_config(path: str | os.PathLike[str]) -> Settings:
    """Read a shoal.toml.

    Args:
        path: The file. Paths inside it start from its folder.

    Returns:
        Its settings.

    Raises:
        FileError: If the file cannot be read.
        UsageError: If it is not TOML, or has unknown keys or wrong values; the message lists all of them.
    """
    return _settings(_validated(_parse(Path(path)), path), Path(path).parent)


def parse_config(content: Mapping[str, Any], place: str = "settings", folder: Path = Path()) -> Settings:
    """Return the settings of plain values that have the form of a shoal.toml.

    Args:
        content: The values, as a TOML or JSON reader returns them.
        place: What to call them in messages.
        folder: Where paths in them start.

    Raises:
        UsageError: If keys are unknown or values wrong; the message lists all of them.
    """
    _check_integers(content, Path(place))
    return _settings(_validated(dict(content), place), folder)


def _parse(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; refuse one that is too large or nested too deeply to be a shoal.toml."""
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileError(f"{path}: not a regular file. Name a file.")
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    if len(raw) > MOST_BYTES:
        raise UsageError(f"{path}: is larger than {MOST_BYTES >> 20} MB. Name a shoal.toml, not a table.")
    return parse_toml(raw, path)


def parse_toml(raw: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; refuse one that is nested too deeply to be a shoal.toml."""
    try:
        text = raw.decode()
        _check_dots(text, path)
        content = tomllib.loads(text)
        _check_integers(content, path)
        return content
    except RecursionError:
        raise UsageError(f"{path}: lists or tables are nested too deeply. A shoal.toml has a few levels.") from None
    except ValueError as error:  # not UTF-8, not TOML, or an integer of thousands of digits
        raise UsageError(f"{path}: not a valid TOML file: {error}.") from None


def _check_integers(value: Any, path: Path) -> None:
    """Refuse integers of more digits than Python can print."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise UsageError(f"{path}: an integer has more than 400 digits. Write a smaller one.")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_integers(each, path)


def _check_dots(text: str, path: Path) -> None:
    """Refuse a key of many parts, such as a.b.c, for which the parser needs quadratic time."""
    depth = 0
    for part in text.split("."):
        depth = depth + 1 if KEY_PART.fullmatch(part) else 0
        if depth > DEEPEST:
            raise UsageError(f"{path}: a key has more than {DEEPEST} parts. A shoal.toml has a few levels.")


def known_keys(table: str = "") -> tuple[str, ...]:
    """Return the keys of a table of shoal.toml: the top level, "columns", "file" or "signoff"."""
    return tuple(_forms()[table].model_fields)


def _fields(*places: Place) -> list[Field]:
    return [field for field in FIELDS if field.place in places]


@cache
def _forms() -> dict[str, Any]:
    """Return the pydantic model of each table of the file, made from the table of settings."""
    from typing import Literal

    from pydantic import ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr, create_model
    from pydantic import Field as Checked

    strict = ConfigDict(extra="forbid")

    def type_of(field: Field) -> Any:
        types: dict[Form, Any] = {
            Form.INTEGER: StrictInt,
            Form.NUMBER: StrictFloat | StrictInt,
            Form.FLAG: StrictBool,
            Form.TEXTS: list[StrictStr],
            Form.MODELS: list[dict[str, Any]],
            Form.RULES: list[dict[str, Any]],
            Form.PAIRS: dict[str, Any],
            Form.WEIGHTS: dict[str, StrictFloat | StrictInt] | Literal[AUTO],
        }
        return Literal[field.choices] if field.choices else types.get(field.form, StrictStr)

    def form(name: str, keys: Mapping[str, Any]) -> Any:
        return create_model(name, __config__=strict, **keys)

    def optional(field: Field) -> Any:
        bounds = {"ge": 0, "le": 1} if field.form is Form.NUMBER else {"ge": field.least}
        return type_of(field) | None, Checked(default=None, **bounds)

    kinds: Any = Literal[tuple(field.key for field in _fields(Place.KIND))]
    roles: Any = Literal[tuple(field.key for field in _fields(Place.ROLE))]
    column = {
        "role": (roles, ...),
        "kind": (kinds | None, None),
        "format": (StrictStr | None, None),
        "order": (list[StrictStr] | None, None),
        "unit": (StrictStr | None, None),
        "hierarchy": (StrictStr | None, None),
        **dict.fromkeys(DESCRIBED_HIERARCHIES, (dict[str, Any] | None, None)),
        **dict.fromkeys(("grid", *Limits._fields), (StrictInt | StrictFloat | StrictStr | None, None)),
        "accept_unique": (StrictBool, False),
    }
    column_form: Any = form("Columns", column)
    forms = {
        "columns": column_form,
        "file": form("File", {field.key: optional(field) for field in _fields(Place.FILE)}),
        "signoff": form("Signoff", dict.fromkeys(SIGNOFF, (StrictStr | None, None))),
    }
    tables = {
        "columns": (dict[str, column_form], Checked(default_factory=dict)),
        "file": (forms["file"], Checked(default_factory=forms["file"])),
        "signoff": (forms["signoff"], Checked(default_factory=forms["signoff"])),
    }
    return {"": form("Config", {field.key: optional(field) for field in _fields(Place.TOP)} | tables), **forms}


def _validated(content: dict[str, Any], path: str | os.PathLike[str]) -> Any:
    """Check the content of the file against its form."""
    from pydantic import ValidationError

    try:
        return _forms()[""].model_validate(content)
    except ValidationError as error:
        problems = [_explain(fault) for fault in error.errors(include_input=False, include_url=False)]
        raise UsageError(join_problems([f"{path}: {problem}" for problem in problems])) from None


def _explain(fault: Any) -> str:
    place = [str(part) for part in fault["loc"]]
    key = ".".join(place)
    if fault["type"] != "extra_forbidden":
        return f"key '{key}': {fault['msg']}."
    allowed = known_keys(place[0] if len(place) > 1 else "")
    close_keys = difflib.get_close_matches(place[-1], allowed, n=1)
    hint = f"Did you mean '{close_keys[0]}'?" if close_keys else f"Known here: {', '.join(allowed)}."
    return f"key '{key}' is not known. {hint}"


def _settings(form: Any, folder: Path) -> Settings:
    """Return the settings of a file that has the right form."""
    values: dict[str, Any] = {}
    for field in FIELDS:
        if field.place in (Place.TOP, Place.FILE):
            value = getattr(form if field.place is Place.TOP else form.file, field.key)
            values[field.name] = tuple(value) if isinstance(value, list) else value
    if values["population"] is not None:
        values["population"] = folder / values["population"]
    values |= _roles(form.columns) | _kinds(form.columns)
    columns = form.columns.items()
    for setting, key in (("grids", "grid"), *zip(Limits._fields, Limits._fields, strict=True)):
        values[setting] = {name: str(value) for name, column in columns if (value := getattr(column, key)) is not None}
    values["accept_unique"] = tuple(name for name, column in columns if column.accept_unique)
    values["hierarchies"] = {
        name: rule for name, column in columns if (rule := _hierarchy(name, column, folder)) is not None
    }
    values["signoff"] = form.signoff.model_dump(exclude_none=True)
    return Settings(**{name: value for name, value in values.items() if value is not None})


def _roles(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of each role; person and k have one column each."""
    values: dict[str, Any] = {}
    for field in _fields(Place.ROLE):
        names = tuple(name for name, column in columns.items() if column.role == field.key)
        if field.form is Form.NAMES:
            values[field.name] = names
        elif len(names) > 1:
            raise UsageError(f"columns {', '.join(map(repr, names))} all have the role {field.key}. Give it to one.")
        elif names:
            values[field.name] = names[0]
    return values


def _kinds(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kinds of quasi-identifiers, and those of the other columns apart."""
    kind_of = {name: c.kind or _kind_of_form(c) for name, c in columns.items()}
    problems = [
        f"key 'columns.{name}': kind \"ordered\" needs order = [...], the values from lowest to highest."
        for name, column in columns.items()
        if kind_of[name] == Kind.ORDERED and not column.order
    ]
    if problems:
        raise UsageError(join_problems(problems))
    qi = [name for name, column in columns.items() if column.role == "qi"]
    return {
        "numeric": tuple(name for name in qi if kind_of[name] == Kind.NUMERIC),
        "categorical": tuple(name for name in qi if kind_of[name] == Kind.CATEGORICAL),
        "dates": {name: columns[name].format or ISO for name in qi if kind_of[name] == Kind.DATE},
        "boolean": tuple(name for name in qi if kind_of[name] == Kind.BOOLEAN),
        "ordered": {name: tuple(c.order) for name, c in columns.items() if kind_of[name] == Kind.ORDERED},
        "units": {name: c.unit for name, c in columns.items() if c.unit and kind_of[name] in (None, Kind.NUMERIC)},
        "kinds": {
            name: column.kind
            for name, column in columns.items()
            if column.kind and name not in qi and column.kind != Kind.ORDERED
        },
    }


def _kind_of_form(column: Any) -> Kind | None:
    """Return the kind that the form of a column implies."""
    return Kind.DATE if column.format else Kind.ORDERED if column.order else None


def _hierarchy(name: str, column: Any, folder: Path) -> Any:
    """Return the hierarchy that a column names by its file or describes."""
    from shoal import hierarchy

    keys = [key for key in ("hierarchy", *DESCRIBED_HIERARCHIES) if getattr(column, key) is not None]
    if not keys:
        return None
    if len(keys) > 1:
        raise UsageError(f"key 'columns.{name}': {' and '.join(keys)} are two hierarchies. Give one.")
    if keys == ["hierarchy"]:
        return folder / column.hierarchy if hierarchy.is_file(column.hierarchy) else column.hierarchy
    make = hierarchy.intervals if keys == ["intervals"] else hierarchy.prefixes
    try:
        return make(**getattr(column, keys[0]))
    except TypeError:
        allowed = ", ".join(inspect.signature(make).parameters)
        raise UsageError(f"key 'columns.{name}.{keys[0]}' accepts: {allowed}.") from None
