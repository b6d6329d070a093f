"""Settings as the pages show them: the role, kind, limit and models of each column, and the changes that set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shoal.schema import ISO, Role
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.hierarchy import IntervalHierarchy
    from shoal.web.projects import Project

__all__ = [
    "DATE_STEPS",
    "DATE_WIDTHS",
    "NUMBER_STEPS",
    "NUMBER_WIDTHS",
    "SET_SIZES",
    "change_kind",
    "change_model",
    "interval_rule",
    "interval_step",
    "kinds_of",
    "model_of",
    "qi_of",
    "roles_of",
    "rule_words",
    "without",
]

# The widths that a slider offers; the first one is no limit.
NUMBER_WIDTHS: tuple[str, ...] = (
    "",
    "0.1",
    "0.5",
    "1",
    "2",
    "3",
    "5",
    "10",
    "15",
    "20",
    "25",
    "50",
    "100",
    "500",
    "1000",
    "5000",
    "10000",
    "100000",
)
DATE_WIDTHS: tuple[str, ...] = ("", "1d", "7d", "14d", "1m", "3m", "6m", "1y", "2y", "5y", "10y", "20y")
SET_SIZES: tuple[str, ...] = ("", *map(str, range(2, 21)))
# The widths of the finest intervals that a slider offers: of numbers, and of dates by unit.
NUMBER_STEPS: tuple[str, ...] = (
    *("0.1", "0.5", "1", "2", "5", "10", "20", "25", "50"),
    *("100", "200", "500", "1000", "2000", "5000", "10000", "50000"),
)
DATE_STEPS: tuple[tuple[str, int], ...] = (
    ("month", 1),
    ("month", 3),
    ("year", 1),
    ("year", 2),
    ("year", 5),
    ("year", 10),
    ("year", 20),
)
LEVELS = {("month", 1): (1, 3, 12), ("month", 3): (3, 12)}  # of other steps: once, twice and four times as wide
NAME_OF_MODEL = {"l": "distinct-l", "t": "t-closeness"}


def roles_of(settings: Settings, names: Sequence[str]) -> dict[str, str]:
    """Return the role of each column; one without a role is dropped, or released unchanged if `others` says so."""
    default = Role.INSENSITIVE if settings.others == "insensitive" else Role.IDENTIFIER
    roles = dict.fromkeys(names, str(default))
    for role, members in settings.roles.items():
        roles |= {name: str(role) for name in members if name in roles}
    return roles


def qi_of(project: Project) -> list[str]:
    """Return the quasi-identifiers of a project in the order of its table."""
    return [column["name"] for column in project.profile()["columns"] if column["name"] in project.settings.qi]


def kinds_of(settings: Settings, columns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the kind of each column: the declared one, or the one that the profile found."""
    kinds = {column["name"]: str(column["kind"]) for column in columns}
    declared = {
        "numeric": settings.numeric,
        "categorical": settings.categorical,
        "date": settings.dates,
        "boolean": settings.boolean,
        "ordered": settings.ordered,
    }
    for kind, names in declared.items():
        kinds |= dict.fromkeys((name for name in names if name in kinds), kind)
    return kinds | {name: kind for name, kind in settings.kinds.items() if name in kinds}


def change_kind(settings: Settings, column: Mapping[str, Any], kind: str, order: Sequence[str] = ()) -> dict[str, Any]:
    """Return the changes that give a column a kind.

    Args:
        settings: The settings.
        column: The column of the profile.
        kind: The kind.
        order: The values from the lowest on, for an ordered column.
    """
    name = column["name"]
    changes: dict[str, Any] = {
        "numeric": tuple(each for each in settings.numeric if each != name),
        "categorical": tuple(each for each in settings.categorical if each != name),
        "boolean": tuple(each for each in settings.boolean if each != name),
        "dates": without(settings.dates, name),
        "ordered": without(settings.ordered, name),
        "kinds": without(settings.kinds, name),
    }
    if kind == "date":
        changes["dates"] = {**changes["dates"], name: column.get("format") or ISO}
    elif kind == "ordered":
        changes["ordered"] = {**changes["ordered"], name: tuple(order)}
    else:
        changes[kind] = (*changes[kind], name)
    return changes


def interval_rule(kind: str, step: int) -> IntervalHierarchy:
    """Return the hierarchy of intervals whose finest ones have the width of a step of the slider.

    Args:
        kind: "numeric" or "date".
        step: The place in `NUMBER_STEPS` or `DATE_STEPS`.
    """
    from shoal.hierarchy import intervals

    if kind != "date":
        width = Decimal(NUMBER_STEPS[step])
        return intervals([str(width), str(2 * width), str(4 * width)])
    unit, count = DATE_STEPS[step]
    return intervals(list(LEVELS.get((unit, count), (count, 2 * count, 4 * count))), unit=unit)


def interval_step(kind: str, rule: object) -> int | None:
    """Return the step of the slider that made a hierarchy; None for any other one."""
    steps = range(len(DATE_STEPS if kind == "date" else NUMBER_STEPS))
    return next((step for step in steps if interval_rule(kind, step) == rule), None)


def without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a mapping without one of its keys."""
    return {key: value for key, value in values.items() if key != name}


def model_of(settings: Settings, column: str) -> tuple[str, float]:
    """Return how a sensitive column is protected: "" or "l" or "t", and the value of that parameter."""
    for spec in settings.models:
        if isinstance(spec, Mapping) and spec.get("column") == column:
            for key, name in NAME_OF_MODEL.items():
                if spec["name"] == name:
                    return key, float(spec[key])
    if settings.l is not None:
        return "l", float(settings.l)
    return ("t", float(settings.t)) if settings.t is not None else ("", 0.0)


def change_model(settings: Settings, column: str, form: str, value: float = 0.0) -> dict[str, Any]:
    """Return the changes that protect a sensitive column by l-diversity ("l"), t-closeness ("t") or nothing ("").

    `l` and `t` of the settings hold for every sensitive column. They become a model of each column first, so that one
    can differ from the others.
    """
    wanted = {name: model_of(settings, name) for name in settings.sensitive}
    wanted[column] = (form, value)
    names = tuple(NAME_OF_MODEL.values())
    kept = [
        m for m in settings.models if not (isinstance(m, Mapping) and m["name"] in names and m.get("column") in wanted)
    ]
    made = [
        {"name": NAME_OF_MODEL[key], "column": name, key: round(amount) if key == "l" else amount}
        for name, (key, amount) in wanted.items()
        if key
    ]
    return {"l": None, "t": None, "models": (*kept, *made)}


def rule_words(rule: Mapping[str, Any] | Any) -> str:
    """Return a rule as text: its column and what it keeps apart."""
    values = rule if isinstance(rule, Mapping) else vars(rule)
    form = next(
        (key for key in ("apart", "groupings", "inflection", "range", "base") if values.get(key) is not None), ""
    )
    if form == "inflection":
        low, high = values[form]
        return f"{values['column']}: ... {low} | {high} ..."
    if form == "apart":
        sides = [each if isinstance(each, str) else ", ".join(each) for each in values[form]]
        return f"{values['column']}: {sides[0]} | {sides[1]}"
    return f"{values['column']}: {form} {values.get(form)}"
