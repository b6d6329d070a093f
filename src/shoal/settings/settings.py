"""The settings of a run: from arguments, from a shoal.toml, or from both."""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.encoding.grid import check_grid
from shoal.errors import FileError, UsageError, join_problems
from shoal.schema import Column, Kind, Role, Schema

if TYPE_CHECKING:
    from shoal.hierarchy.base import Rule
    from shoal.models import PrivacyModel
    from shoal.rules import Rule as ConstraintRule
    from shoal.tables.table import Table

__all__ = ["AUTO", "SIGNOFF", "Settings", "check_signoff", "read_config"]

AUTO = "auto"  # weights that the table itself gives


@dataclass(frozen=True)
class Settings:
    """Everything that a user may set about a run; what is None or empty is left open."""

    k: int | None = None
    l: int | str | None = None  # of distinct l-diversity, on every sensitive column
    t: float | str | None = None  # of t-closeness, on every sensitive column
    models: tuple[Mapping[str, Any], ...] = ()  # further models, as plain values
    k_column: str | None = None
    population: Any = None  # a table, or the path of one
    suppression_limit: float | str | None = None
    constraints: tuple[Any, ...] = ()  # data constraint rules, or plain values that describe them
    weights: Mapping[str, Any] | str = field(default_factory=dict)  # or AUTO
    all_qi: bool | None = None
    qi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    others: str | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    method: str | None = None
    effort: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    person: str | None = None
    accept_unique: tuple[str, ...] = ()
    hierarchies: Mapping[str, Any] = field(default_factory=dict)  # a rule, or the path of a file
    trust_hierarchies: bool | None = None
    unknown: str | None = None
    snap: bool | None = None
    grids: Mapping[str, str] = field(default_factory=dict)
    cells: str | None = None
    spreadsheet_safe: bool | None = None
    signoff: Mapping[str, str] = field(default_factory=dict)  # what the report says of who signs it; see SIGNOFF
    kinds: Mapping[str, str] = field(default_factory=dict)  # of columns that are no quasi-identifiers, to see drift

    def over(self, other: Settings) -> Settings:
        """Return these settings, with those of the other where these are open.

        A column that both give a role or kind keeps the one given here.
        """
        merged: dict[str, Any] = {}
        for f in fields(self):
            here, there = getattr(self, f.name), getattr(other, f.name)
            shared = next((group for group in SHARED if f.name in group), ())
            taken = {name for part in shared for name in getattr(self, part)} | {self.person, self.k_column}
            if not shared:
                merged[f.name] = there if here is None or (isinstance(here, tuple | dict) and not here) else here
            elif isinstance(there, Mapping):
                merged[f.name] = dict(here) | {name: form for name, form in there.items() if name not in taken}
            else:
                merged[f.name] = (*here, *(name for name in there if name not in taken))
        return Settings(**merged)

    def schema(self, names: tuple[str, ...]) -> Schema:
        """Return the schema of a table with these columns."""
        roles = {
            Role.QI: (*self.qi, *self.sensitive) if self.all_qi else self.qi,
            Role.SENSITIVE: () if self.all_qi else self.sensitive,
            Role.INSENSITIVE: self.insensitive,
            Role.IDENTIFIER: self.drop,
            Role.PERSON: (self.person,) if self.person else (),
            Role.PERSONAL_K: (self.k_column,) if self.k_column else (),
        }
        twice = [name for name in self.numeric if name in self.categorical]
        twice += [name for name in self.dates if name in self.numeric or name in self.categorical]
        if twice:
            raise UsageError(f"column {twice[0]!r} is given two kinds. Give it one.")
        kinds = dict.fromkeys(self.numeric, Kind.NUMERIC) | dict.fromkeys(self.categorical, Kind.CATEGORICAL)
        for name, grid in self.grids.items():
            check_grid(name, grid)
        decimal, thousands = self.decimal or ".", self.thousands or ""
        if len(decimal) != 1 or len(thousands) > 1 or decimal == thousands:
            raise UsageError(f"marks of numbers: decimal {decimal!r} and thousands {thousands!r} are no pair of marks.")
        return Schema.build(
            names,
            roles,
            kinds=kinds,
            date_formats=self.dates,
            others=self.others,
            missing=self.missing,
            decimal=decimal,
            thousands=thousands,
            grids=self.grids,
        )

    def data_rules(self) -> tuple[ConstraintRule, ...]:
        """Return the data constraint rules."""
        from shoal.rules import Rule, rule_from

        return tuple(rule if isinstance(rule, Rule) else rule_from(rule) for rule in self.constraints)

    def column_weights(self) -> dict[str, Fraction]:
        """Return the weights of the quasi-identifiers."""
        weights: dict[str, Fraction] = {}
        if self.weights == AUTO:
            return weights
        if isinstance(self.weights, str):
            raise UsageError(f"weights={self.weights!r} is not known. Use {AUTO!r}, or a weight for each column.")
        for name, given in self.weights.items():
            try:
                weights[name] = Fraction(str(given)).limit_denominator(10**6)
            except (ValueError, ZeroDivisionError):
                weights[name] = Fraction(-1)
            if weights[name] <= 0:
                raise UsageError(f"weight of {name!r} is {given!r}. Use a number above 0.")
        return weights

    def model_specs(self) -> list[dict[str, Any]]:
        """Return the models beside k and personal k as plain values; l and t hold for every sensitive column."""
        if (self.l is not None or self.t is not None) and not self.sensitive:
            raise UsageError("l and t need a sensitive column. Name one with sensitive (command line: --sensitive).")
        on_all: list[dict[str, Any]] = []
        on_all += [{"name": "distinct-l", "l": self.l}] if self.l is not None else []
        on_all += [{"name": "t-closeness", "t": self.t}] if self.t is not None else []
        return [*(spec | {"column": name} for spec in on_all for name in self.sensitive), *map(dict, self.models)]

    def privacy_models(self) -> tuple[PrivacyModel, ...]:
        """Return the models that the settings name, beside k."""
        from shoal.models import PersonalK, model_from

        own_k = (PersonalK(),) if self.k_column else ()
        return (*own_k, *map(model_from, self.model_specs()))

    def population_table(self) -> Table | None:
        """Return the population's table, read where a path is given."""
        if self.population is None:
            return None
        from shoal.tables.formats import read_table
        from shoal.tables.table import from_frame

        if isinstance(self.population, str | os.PathLike):
            return read_table(self.population)
        return from_frame(self.population)

    def rules(self) -> dict[str, Rule]:
        """Return the hierarchies by column; those given as paths are read."""
        from shoal import hierarchy

        trust = bool(self.trust_hierarchies)
        return {
            name: hierarchy.read(given, column=name, trust=trust) if isinstance(given, str | os.PathLike) else given
            for name, given in self.hierarchies.items()
        }


# What a report leaves a line for.
SIGNOFF = ("who", "when", "purpose", "legal_basis", "reviewer")
# Settings that share out columns: one of each may name a column.
SHARED = (("qi", "sensitive", "insensitive", "drop"), ("numeric", "categorical", "dates"))
ROLE_FIELDS = {
    "qi": "qi",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "identifier": "drop",
    "person": "person",
    "k": "k_column",
}


def check_signoff(lines: Mapping[str, str]) -> dict[str, str]:
    """Return lines of a report that are filled in, or refuse those that it does not have."""
    strange = [line for line in lines if line not in SIGNOFF]
    if strange:
        raise UsageError(f"sign-off: {strange[0]!r} is no line of the report. Lines: {', '.join(SIGNOFF)}.")
    return dict(lines)


def read_config(path: str | os.PathLike[str]) -> Settings:
    """Read a shoal.toml; every problem in it is reported at once, each by its key."""
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a valid TOML file: {error}.") from None
    return _settings(_validated(content, path), Path(path).parent)


def _validated(content: dict[str, Any], path: str | os.PathLike[str]) -> Any:
    """Check the content against the file's form."""
    from typing import Annotated, Literal

    from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")

    class ColumnForm(Strict):
        role: Literal["qi", "sensitive", "insensitive", "identifier", "person", "k"]
        kind: Literal["numeric", "categorical", "date"] | None = None
        format: StrictStr | None = None
        hierarchy: StrictStr | None = None
        intervals: dict[str, Any] | None = None
        prefixes: dict[str, Any] | None = None
        grid: StrictInt | StrictFloat | StrictStr | None = None
        accept_unique: StrictBool = False

    class FileForm(Strict):
        delimiter: StrictStr | None = None
        encoding: StrictStr | None = None
        header: StrictBool | None = None
        sheet: StrictStr | None = None
        decimal: StrictStr | None = None
        thousands: StrictStr | None = None

    class SignoffForm(Strict):
        who: StrictStr | None = None
        when: StrictStr | None = None
        purpose: StrictStr | None = None
        legal_basis: StrictStr | None = None
        reviewer: StrictStr | None = None

    class ConfigForm(Strict):
        k: Annotated[StrictInt, Field(ge=1)] | None = None
        l: Annotated[StrictInt, Field(ge=1)] | None = None
        t: Annotated[StrictFloat | StrictInt, Field(ge=0, le=1)] | None = None
        models: list[dict[str, Any]] = Field(default_factory=list)
        population: StrictStr | None = None
        suppression_limit: Annotated[StrictFloat | StrictInt, Field(ge=0, le=1)] | None = None
        rules: list[dict[str, Any]] = Field(default_factory=list)
        weights: dict[str, StrictFloat | StrictInt] | Literal["auto"] = Field(default_factory=dict)
        all_qi: StrictBool | None = None
        method: StrictStr | None = None
        effort: Literal["fast", "normal", "high"] | None = None
        options: dict[str, Any] = Field(default_factory=dict)
        seed: StrictInt | None = None
        others: Literal["drop", "insensitive"] | None = None
        missing: list[StrictStr] = Field(default_factory=list)
        trust_hierarchies: StrictBool | None = None
        unknown: Literal["error", "top"] | None = None
        snap: StrictBool | None = None
        cells: Literal["text", "bounds"] | None = None
        spreadsheet_safe: StrictBool | None = None
        columns: dict[str, ColumnForm] = Field(default_factory=dict)
        file: FileForm = Field(default_factory=FileForm)
        signoff: SignoffForm = Field(default_factory=SignoffForm)

    known = {"": ConfigForm, "columns": ColumnForm, "file": FileForm, "signoff": SignoffForm}
    try:
        return ConfigForm.model_validate(content)
    except ValidationError as error:
        problems = [_explain(fault, known) for fault in error.errors(include_input=False, include_url=False)]
        raise UsageError(join_problems([f"{path}: {problem}" for problem in problems])) from None


def _explain(fault: Any, known: Mapping[str, Any]) -> str:
    import difflib

    place = [str(part) for part in fault["loc"]]
    key = ".".join(place)
    if fault["type"] != "extra_forbidden":
        return f"key '{key}': {fault['msg']}."
    allowed = list(known[place[0] if len(place) > 1 else ""].model_fields)
    near = difflib.get_close_matches(place[-1], allowed, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"Known here: {', '.join(allowed)}."
    return f"key '{key}' is not known. {hint}"


def _settings(form: Any, folder: Path) -> Settings:
    roles: dict[str, list[str]] = {name: [] for name in ROLE_FIELDS.values()}
    kinds: dict[str, list[str]] = {"numeric": [], "categorical": []}
    dates: dict[str, str] = {}
    for name, column in form.columns.items():
        roles[ROLE_FIELDS[column.role]].append(name)
        if column.role != "qi":
            continue
        if column.kind == "date" or (column.kind is None and column.format):
            dates[name] = column.format or Column.date_format
        elif column.kind is not None:
            kinds[column.kind].append(name)
    single: dict[str, str | None] = {}
    for field_name, role in (("person", "person"), ("k_column", "k")):
        named = roles.pop(field_name)
        if len(named) > 1:
            raise UsageError(f"columns {', '.join(map(repr, named))} all have the role {role}. Give it to one.")
        single[field_name] = named[0] if named else None
    columns = form.columns.items()
    return Settings(
        k=form.k,
        l=form.l,
        t=form.t,
        models=tuple(form.models),
        population=folder / form.population if form.population else None,
        suppression_limit=form.suppression_limit,
        constraints=tuple(form.rules),
        weights=form.weights,
        all_qi=form.all_qi,
        **{name: tuple(names) for name, names in (roles | kinds).items()},
        person=single["person"],
        k_column=single["k_column"],
        dates=dates,
        kinds={name: column.kind for name, column in columns if column.kind and column.role != "qi"},
        grids={name: str(column.grid) for name, column in columns if column.grid is not None},
        accept_unique=tuple(name for name, column in columns if column.accept_unique),
        hierarchies={name: made for name, column in columns if (made := _hierarchy(name, column, folder)) is not None},
        trust_hierarchies=form.trust_hierarchies,
        unknown=form.unknown,
        snap=form.snap,
        cells=form.cells,
        spreadsheet_safe=form.spreadsheet_safe,
        sheet=form.file.sheet,
        decimal=form.file.decimal,
        thousands=form.file.thousands,
        others=form.others,
        missing=tuple(form.missing),
        method=form.method,
        effort=form.effort,
        options=form.options,
        seed=form.seed,
        delimiter=form.file.delimiter,
        encoding=form.file.encoding,
        header=form.file.header,
        signoff=form.signoff.model_dump(exclude_none=True),
    )


def _hierarchy(name: str, column: Any, folder: Path) -> Any:
    """Return the hierarchy that a column of the file names (a path is taken from the file's folder) or describes."""
    from shoal import hierarchy

    given = [key for key in ("hierarchy", "intervals", "prefixes") if getattr(column, key) is not None]
    if len(given) > 1:
        raise UsageError(f"key 'columns.{name}': {' and '.join(given)} are two hierarchies. Give one.")
    if not given:
        return None
    if given == ["hierarchy"]:
        return folder / column.hierarchy
    make = hierarchy.intervals if given == ["intervals"] else hierarchy.prefixes
    try:
        return make(**getattr(column, given[0]))
    except TypeError:
        allowed = ", ".join(list(inspect.signature(make).parameters))
        raise UsageError(f"key 'columns.{name}.{given[0]}' takes: {allowed}.") from None
