"""What a release is to reach: is it met already, and can the table and its columns be held to it at all?"""

from __future__ import annotations

from collections.abc import Mapping

from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_sensitive_kinds
from shoal.encoding.population import count_strangers
from shoal.errors import InfeasibleError, InputError, UsageError, join_problems
from shoal.hierarchy.base import Rule
from shoal.methods.base import failing_groups
from shoal.models import Basis, PrivacyModel
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table

__all__ = ["as_it_is", "check_columns", "check_enough", "check_personal", "check_population"]


def as_it_is(
    table: Table, schema: Schema, models: tuple[PrivacyModel, ...], k: int, hierarchies: Mapping[str, Rule]
) -> tuple[Schema, Encoded] | None:
    """Return the table with its quasi-identifiers as plain text, if its rows pass all models as they stand."""
    names = [column.name for column in schema.qi]
    if table.group_sizes(names).min() < k or any(model.basis is Basis.POPULATION for model in models):
        return None
    schema = schema.with_kinds(dict.fromkeys(names, Kind.CATEGORICAL))
    schema = guess_sensitive_kinds(table, schema)
    rules = {name: rule for name, rule in hierarchies.items() if name not in names}
    encoded = encode(table, schema, rules, as_text=True)
    return None if failing_groups(encoded, models, encoded.row_tuple).any() else (schema, encoded)


def check_columns(models: tuple[PrivacyModel, ...], schema: Schema, population: Table | None) -> None:
    """Refuse models that count a column which is not sensitive, or a population that is not there."""
    sensitive = schema.names(Role.SENSITIVE)
    problems = [
        f"{model.describe()}: column {name!r} is not among the sensitive columns ({', '.join(sensitive) or 'none'})."
        for model in models
        for name in model.columns
        if name not in sensitive
    ]
    if population is None:
        problems += [
            f"{model.describe()} needs the table of the population. Give it with population (--population)."
            for model in models
            if model.basis is Basis.POPULATION
        ]
    if problems:
        raise UsageError(join_problems(problems))


def check_population(encoded: Encoded) -> None:
    """Refuse a population that the table was not drawn from."""
    strangers = 0 if encoded.population is None else count_strangers(encoded)
    if strangers:
        raise InputError(
            f"{strangers} rows of the table are not in the population, with the same quasi-identifiers. Give the table "
            "that it was drawn from."
        )


def check_personal(encoded: Encoded, k: int) -> int:
    """Return the size that every group has where rows ask for their own k: the least of these, if it is above k."""
    if encoded.personal_k is None:
        return k
    blank = int((encoded.personal_k == 0).sum())
    if blank and k == 1:
        raise InputError(
            f"{blank} rows have no k of their own, and no k is given for them. Say k (command line: -k 5), or fill in "
            "their cells."
        )
    return max(k, int(encoded.personal_k.min()))


def check_enough(table: Table, schema: Schema, k: int) -> None:
    """Refuse a table with fewer rows, or people, than k."""
    if table.n_rows < k:
        raise InfeasibleError(f"k={k} cannot be met: the table has {table.n_rows} rows. Use k <= {table.n_rows}.")
    for name in schema.names(Role.PERSON):
        people = len(table.factor(name).texts)
        if people < k:
            raise InfeasibleError(
                f"k={k} cannot be met: the table has rows of {people} people (column {name!r}). Use k <= {people}."
            )
