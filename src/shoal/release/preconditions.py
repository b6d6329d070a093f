"""Check before the search whether the table meets the requirement already, and whether it can meet it at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.dictionary import Distinct
from shoal.encoding.encode import encode, guess_sensitive_kinds
from shoal.encoding.population import count_strangers
from shoal.encoding.sensitive import sensitive_dictionary
from shoal.errors import InfeasibleError, InputError, UsageError, counted, join_problems, setting
from shoal.hierarchy.base import Rule
from shoal.methods.base import Method, failing_groups
from shoal.methods.registry import METHODS, info_of
from shoal.metrics.association import Twin, find_twins
from shoal.models import Basis, PrivacyModel
from shoal.release.release import Request
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table
from shoal.tables.values.people import person_codes

__all__ = [
    "as_it_is",
    "check_columns",
    "check_enough",
    "check_personal",
    "check_population",
    "check_promise",
    "check_target",
    "count_people",
    "twins_for",
]


def as_it_is(
    table: Table, schema: Schema, models: tuple[PrivacyModel, ...], k: int, hierarchies: Mapping[str, Rule]
) -> tuple[Schema, Encoded] | None:
    """Encode the table for a release without generalisation, if it already passes all models.

    Args:
        table: The table.
        schema: The roles and kinds of its columns.
        models: The privacy models.
        k: The smallest group size.
        hierarchies: By column, its hierarchy; only those of sensitive columns matter.

    Returns:
        The schema and the table, with the quasi-identifiers as plain text; None if some group fails.
    """
    names = [column.name for column in schema.qi]
    if table.group_sizes(names).min() < k or any(model.basis is Basis.POPULATION for model in models):
        return None
    schema = schema.with_kinds(dict.fromkeys(names, Kind.CATEGORICAL))
    schema = guess_sensitive_kinds(table, schema)
    rules = {name: rule for name, rule in hierarchies.items() if name not in names}
    encoded = encode(table, schema, rules, as_text=True)
    return None if failing_groups(encoded, models, encoded.row_tuple).any() else (schema, encoded)


def check_columns(models: tuple[PrivacyModel, ...], schema: Schema, population: Table | None) -> None:
    """Raise a UsageError if a model uses a column that is not sensitive, or needs a population that is not given."""
    sensitive = schema.names(Role.SENSITIVE)
    problems = [
        f"{model.describe()}: column {name!r} is not among the sensitive columns ({', '.join(sensitive) or 'none'})."
        for model in models
        for name in model.columns
        if name not in sensitive
    ]
    if population is not None and (coded := [column.name for column in schema.qi if column.codings]):
        problems.append(
            f"{setting('recode')} of column {coded[0]!r}: the population is not recoded. Recode both tables before the "
            "run, or leave it out."
        )
    if population is None:
        problems += [
            f"{model.describe()} needs the table of the population. Pass it with {setting('population')}."
            for model in models
            if model.basis is Basis.POPULATION
        ]
    if problems:
        raise UsageError(join_problems(problems))


def check_population(encoded: Encoded, strangers: int | None = None) -> None:
    """Raise an InputError if the population lacks some rows of the table; strangers: their number, if it is known."""
    if strangers is None:
        strangers = 0 if encoded.population is None else count_strangers(encoded)
    if strangers:
        raise InputError(
            f"{counted(strangers, 'row of the table is', 'rows of the table are')} not in the population: no row there "
            f"has the same quasi-identifiers. Pass the population of the table with {setting('population')}."
        )


def check_personal(encoded: Encoded, k: int) -> int:
    """Return the minimum group size if rows have their own k: the smallest of these, or k if it is larger.

    Raises:
        InputError: If some rows have no k of their own and k is not given.
    """
    if encoded.personal_k is None:
        return k
    blank = int(encoded.row_weights[encoded.personal_k == 0].sum())
    if blank and k == 1:
        raise InputError(
            f"{counted(blank, 'row has', 'rows have')} no k of their own, and k is not given. Fill in the column, or "
            f"set k for all rows, such as {setting('k', 5)}."
        )
    return max(k, int(encoded.personal_k.min()))


def check_promise(k: int, models: Sequence[PrivacyModel]) -> None:
    """Raise a UsageError if k is 1 and no other model makes a promise."""
    if k == 1 and not models:
        raise UsageError(
            f"k=1 promises nothing: every row may be alone in its group. Use k >= 2; {setting('k', 5)} is common. "
            f"k=1 is allowed only beside another model ({setting('models')}) or a personal k ({setting('k_column')})."
        )


def count_people(table: Table, schema: Schema) -> dict[str, int]:
    """Return the number of people by the column that tells them apart, if there is one."""
    return {
        name: len(np.unique(person_codes(table.factor(name).texts, schema.missing)))
        for name in schema.names(Role.PERSON)
    }


def check_enough(n_rows: int, people_by: Mapping[str, int], k: int) -> None:
    """Raise an InfeasibleError if a table has fewer rows, or people, than k; people_by: see `count_people`."""
    if n_rows < k:
        raise InfeasibleError(f"k={k} cannot be met: the table has {counted(n_rows, 'row')}. Use k <= {n_rows}.")
    for name, people in people_by.items():
        if people < k:
            raise InfeasibleError(
                f"k={k} cannot be met: the table has rows of only {counted(people, 'person', 'people')} (column "
                f"{name!r}). Use k <= {people}."
            )


def check_target(request: Request, schema: Schema, method: Method) -> None:
    """Refuse a target that is not released as it is, and a method that does not know targets.

    Raises:
        UsageError: The target is a quasi-identifier, not a column, or not released; or the method ignores it.
    """
    target = request.target
    if target is None:
        return
    place = setting("target", target)
    roles = {column.name: column.role for column in schema.columns}
    if target not in roles:
        raise UsageError(f"{place}: the table has no such column. Columns: {', '.join(map(repr, roles))}.")
    if roles[target] is Role.QI:
        raise UsageError(
            f"{place}: a quasi-identifier cannot be the target: groups alike in it would all show one value. Leave the "
            f"target out, or make the column sensitive ({setting('sensitive', target)})."
        )
    if roles[target] not in (Role.SENSITIVE, Role.INSENSITIVE):
        raise UsageError(
            f"{place}: the column is not released, so nothing can be learned from the release about it. Make it "
            f"sensitive ({setting('sensitive', target)}), or leave the target out."
        )
    info = info_of(method.name)
    if info is not None and "target" not in info.takes:
        able = ", ".join(each.name for each in METHODS if "target" in each.takes)
        raise UsageError(f"method {method.name!r} does not support {place}. Methods that do: {able}.")
    if getattr(method, "by_variance", False):
        raise UsageError(f"{place} prices the cells of groups, not their variance. Leave out objective=variance.")


def twins_for(
    request: Request,
    table: Table,
    schema: Schema,
    encoded: Encoded,
    find: Callable[[Encoded], tuple[Twin, ...]] | None = None,
) -> tuple[Twin, ...]:
    """Return the twins of the categories of a table, if a target is named.

    Args:
        request: What the user requested.
        table: The table.
        schema: Its columns.
        encoded: The same table as codes.
        find: What finds them, if the table does not have the target.

    Raises:
        UsageError: A population is compared with, which has no target.
    """
    if request.target is None:
        return ()
    if encoded.population is not None:
        raise UsageError(
            f"{setting('target', request.target)} does not support a population ({setting('population')}). Leave out "
            "one of the two."
        )
    if find is not None:
        return find(encoded)
    column = next(column for column in schema.columns if column.name == request.target)
    dictionary = sensitive_dictionary(column, Distinct.of(table, column.name), schema.missing)
    codes = dictionary.codes(table.factor(column.name))[encoded.order]
    return find_twins(encoded, replace(dictionary.meaning, codes=codes))
