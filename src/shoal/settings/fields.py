"""What a setting is: how Python, the command line and shoal.toml spell it, and which commands have it.

The settings themselves are the fields of `shoal.settings.settings.Settings`: each is declared there once, by `entry`.
The options of the commands, the keywords of `shoal.anonymize`, the reader and the writer of shoal.toml and the
reference pages all come from those entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from shoal.errors import SPELLINGS

__all__ = ["Field", "Form", "Panel", "Place", "describe", "entry"]


class Form(StrEnum):
    """The form of a setting's value."""

    INTEGER = "integer"
    NUMBER = "number from 0 to 1"
    TEXT = "text"
    FLAG = "true or false"
    TABLE = "file name"  # in Python a frame too
    NAMES = "columns"  # comma-separated on the command line
    TEXTS = "texts"  # likewise
    DATES = "columns with formats"
    WEIGHTS = "weight by column, or auto"
    PAIRS = "value by name"  # name=value on the command line, may be repeated
    MODELS = "models"
    RULES = "rules"

    @property
    def is_list(self) -> bool:
        """Whether the value is a tuple, empty by default."""
        return self in (Form.NAMES, Form.TEXTS, Form.MODELS, Form.RULES)

    @property
    def is_mapping(self) -> bool:
        """Whether the value is a mapping, empty by default; it is merged key by key."""
        return self in (Form.DATES, Form.WEIGHTS, Form.PAIRS)


class Panel(StrEnum):
    """The headings of a command's help."""

    MAIN = "Options"
    MODELS = "Privacy models"
    ROLES = "Roles of columns"
    KINDS = "Kinds and hierarchies"
    FILES = "Reading files"
    LIMITS = "Limits of cells"
    RUN = "Running"
    OUTPUT = "Output"


class Place(StrEnum):
    """Where shoal.toml keeps a setting."""

    TOP = "top level"
    FILE = "[file]"
    SIGNOFF = "[signoff]"
    ROLE = "role of [columns.NAME]"
    KIND = "kind of [columns.NAME]"
    COLUMN = "[columns.NAME]"
    NOWHERE = "not in shoal.toml"


@dataclass(frozen=True)
class Field:
    """One setting.

    Attributes:
        name: The attribute of `Settings`, the keyword in Python and, unless `option` differs, the option.
        form: The form of its value.
        help: One sentence for `--help` and the reference pages.
        panel: The heading of `--help` under which the option appears.
        commands: The commands that have the option.
        place: Where shoal.toml keeps it.
        key: Its key there. For a role or kind it is the value of `role` or `kind`.
        keyword: The keyword in Python; empty if Python has none.
        option: How the command line spells it; empty if it has no option.
        metavar: What `--help` shows in place of the value.
        choices: The values allowed; empty if any is.
        least: The smallest integer allowed.
        in_python: What to say in place of `help` where values are objects of Python.
    """

    name: str
    form: Form
    help: str
    panel: Panel
    commands: frozenset[str]
    place: Place
    key: str
    keyword: str
    option: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    in_python: str = ""


def entry(
    form: Form,
    help: str,
    *,
    panel: Panel = Panel.MAIN,
    commands: frozenset[str] = frozenset(),
    place: Place = Place.TOP,
    key: str = "",
    keyword: str | None = None,
    metavar: str | None = None,
    choices: tuple[str, ...] = (),
    least: int | None = None,
    in_python: str = "",
) -> Any:
    """Declare a setting in the body of `Settings`; see `Field` for the arguments.

    Returns:
        A dataclass field whose default leaves the setting open and whose metadata describes it.
    """
    facts = {
        "form": form,
        "help": help,
        "panel": panel,
        "commands": commands,
        "place": place,
        "key": key,
        "keyword": keyword,
        "metavar": metavar,
        "choices": choices,
        "least": least,
        "in_python": in_python,
    }
    if form.is_mapping:
        return field(default_factory=dict, metadata=facts)
    return field(default=() if form.is_list else None, metadata=facts)


def describe(name: str, facts: Mapping[str, Any]) -> Field:
    """Return the setting that `entry` declared under a name."""
    keyword = name if facts["keyword"] is None else facts["keyword"]
    option = SPELLINGS.get(name, f"--{name.replace('_', '-')}") if facts["commands"] else ""
    other_facts = {key: value for key, value in facts.items() if key not in ("key", "keyword")}
    return Field(name=name, key=facts["key"] or name, keyword=keyword, option=option, **other_facts)
