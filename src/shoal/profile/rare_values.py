"""Columns that are released as they are, and single people out all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from shoal.errors import InfeasibleError, UsageError
from shoal.profile.shapes import identifying_shape
from shoal.schema import Role, Schema
from shoal.tables.table import Table

__all__ = ["check_rare", "check_seen"]

SAMPLE = 1000  # distinct values looked at
MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}\b|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}\b"
)  # no phone number, for all its digits


class Seen(Protocol):
    """What must be known of a column: its first distinct values in order, how many there are, how many in few rows."""

    @property
    def sample(self) -> Sequence[str]:
        """At most a thousand."""

    @property
    def distinct(self) -> int:
        """Number of distinct values."""

    @property
    def rare(self) -> int:
        """Number of values in fewer rows than was asked for."""


class _Column(NamedTuple):
    sample: Sequence[str]
    distinct: int
    rare: int


def check_rare(table: Table, schema: Schema, k: int, accepted: tuple[str, ...]) -> list[str]:
    """Refuse columns of a table that would leave as they are and single people out; see check_seen."""

    def facts_of(name: str, least: int) -> _Column:
        texts = table.factor(name).texts
        return _Column(texts.head(SAMPLE).to_list(), len(texts), int((table.counts(name) < least).sum()))

    return check_seen(facts_of, table.n_rows, schema, k, accepted)


def check_seen(
    facts_of: Callable[[str, int], Seen], n_rows: int, schema: Schema, k: int, accepted: tuple[str, ...]
) -> list[str]:
    """Refuse columns that would leave as they are and single people out, unless they are accepted by name.

    facts_of: tells of a column by its name, and of its values in fewer than so many rows.

    These are insensitive columns with values in fewer than k rows, and columns of any role but quasi-identifier whose
    values look like e-mail addresses, phone or identity numbers and the like. Returns what the user should know about
    the accepted ones.
    """
    untouched = [column.name for column in schema.released if column.role is not Role.QI]
    strange = [name for name in accepted if name not in untouched]
    if strange:
        listed = ", ".join(map(repr, untouched)) or "none"
        raise UsageError(f"--accept-unique {strange[0]!r}: not a column that leaves as it is. They are: {listed}.")
    insensitive = schema.names(Role.INSENSITIVE)
    least = {name: k if name in insensitive else 0 for name in untouched}
    found = {
        name: reason for name in untouched if (reason := _reason(facts_of(name, least[name]), n_rows, least[name]))
    }
    refused = {name: reason for name, reason in found.items() if name not in accepted}
    if refused:
        listed = "; ".join(f"column {name!r} {reason}" for name, reason in refused.items())
        raise InfeasibleError(
            f"columns that leave as they are would single people out: {listed}. Drop them, make them "
            "quasi-identifiers, or accept the risk by name with --accept-unique."
        )
    return [
        f"column {name!r} {found[name]} and leaves as it is, as accepted; drop it, or make it a quasi-identifier"
        for name in accepted
        if name in found
    ]


def _reason(seen: Seen, n_rows: int, k: int) -> str:
    """Say why a column singles people out; empty where it does not."""
    shape = identifying_shape(list(seen.sample), seen.distinct / n_rows)
    if shape is not None and not all(map(MOMENT.match, filter(None, seen.sample))):
        return f"looks like {shape.label}"
    return f"has {seen.rare} values in fewer than k={k} rows" if seen.rare else ""
