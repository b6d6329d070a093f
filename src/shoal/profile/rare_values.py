"""Columns that are released unchanged and nevertheless single people out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from shoal.errors import InfeasibleError, Note, UsageError, setting
from shoal.profile.shapes import identifying_shape
from shoal.schema import Role, Schema
from shoal.tables.table import Table

__all__ = ["check_rare", "check_seen"]

SAMPLE = 1000  # distinct values to look at
# Dates have as many digits as phone numbers but are none.
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\b|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}\b")


class Seen(Protocol):
    """What the check needs to know of a column."""

    @property
    def sample(self) -> Sequence[str]:
        """The first distinct values in order, at most a thousand."""

    @property
    def distinct(self) -> int:
        """Number of distinct values."""

    @property
    def rare(self) -> int:
        """Number of values in fewer rows than the check asked for."""


class _Column(NamedTuple):
    sample: Sequence[str]
    distinct: int
    rare: int


def check_rare(table: Table, schema: Schema, k: int, accepted: tuple[str, ...]) -> list[Note]:
    """Refuse columns of a table that would be released unchanged and single people out; see `check_seen`."""

    def facts_of(name: str, least: int) -> _Column:
        texts = table.factor(name).texts
        return _Column(texts.head(SAMPLE).to_list(), len(texts), int((table.counts(name) < least).sum()))

    return check_seen(facts_of, table.n_rows, schema, k, accepted)


def check_seen(
    facts_of: Callable[[str, int], Seen], n_rows: int, schema: Schema, k: int, accepted: tuple[str, ...]
) -> list[Note]:
    """Refuse columns that would be released unchanged and single people out, unless the user accepts them by name.

    Two kinds of columns are refused: insensitive columns with values in fewer than k rows, and columns of any role but
    quasi-identifier whose values look like e-mail addresses, phone numbers, identity numbers and the like.

    Args:
        facts_of: Looks at a column by name, and counts its values in fewer than the given number of rows.
        n_rows: Rows of the table.
        schema: Columns of the table.
        k: Smallest number of rows in which a value of an insensitive column may occur.
        accepted: Columns that the user accepts in spite of the risk.

    Returns:
        A note for each accepted column that would have been refused.

    Raises:
        UsageError: An accepted column is not released unchanged.
        InfeasibleError: A column singles people out and was not accepted.
    """
    untouched = [column.name for column in schema.released if column.role is not Role.QI]
    if unknown_columns := [name for name in accepted if name not in untouched]:
        names = ", ".join(map(repr, untouched)) or "none"
        raise UsageError(
            f"{setting('accept_unique', [unknown_columns[0]])}: this column is not released unchanged. "
            f"The columns that are: {names}."
        )
    insensitive = schema.names(Role.INSENSITIVE)
    least = {name: k if name in insensitive else 0 for name in untouched}
    risks = {
        name: note for name in untouched if (note := _risk(name, facts_of(name, least[name]), n_rows, least[name]))
    }
    refused = [note for name, note in risks.items() if name not in accepted]
    if refused:
        raise InfeasibleError(
            f"columns that are released unchanged would single people out: {'; '.join(refused)}. Drop them, make them "
            f"quasi-identifiers, or accept the risk by name with {setting('accept_unique')}."
        )
    return [
        Note(
            risk.about,
            f"{risk.text} and is released unchanged, as you accepted",
            "drop it, or make it a quasi-identifier",
            risk.counts,
        )
        for name in accepted
        if (risk := risks.get(name))
    ]


def _risk(name: str, facts: Seen, n_rows: int, k: int) -> Note | None:
    """Say why a column singles people out; None if it does not."""
    about = f"column {name!r}"
    shape = identifying_shape(list(facts.sample), facts.distinct / n_rows)
    if shape is not None and not all(map(MOMENT.match, filter(None, facts.sample))):
        return Note(about, f"looks like {shape.label}")
    if not facts.rare:
        return None
    return Note(about, f"has {{values:value}} in fewer than k={k} rows", counts={"values": facts.rare})
