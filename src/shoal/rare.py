"""Columns that are released as they are, and single people out all the same."""

from __future__ import annotations

import re

import numpy as np

from shoal.errors import InfeasibleError, UsageError
from shoal.profile.shapes import identifying_shape
from shoal.schema import Role, Schema
from shoal.table import Table

__all__ = ["check_rare"]

SAMPLE = 1000  # distinct values looked at
MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}\b|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}\b"
)  # no phone number, for all its digits


def check_rare(table: Table, schema: Schema, k: int, accepted: tuple[str, ...]) -> list[str]:
    """Refuse columns that would leave as they are and single people out, unless they are accepted by name.

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
    found = {name: reason for name in untouched if (reason := _reason(table, name, k if name in insensitive else 0))}
    refused = {name: reason for name, reason in found.items() if name not in accepted}
    if refused:
        listed = "; ".join(f"column {name!r} {reason}" for name, reason in refused.items())
        raise InfeasibleError(
            f"columns that leave as they are would single people out: {listed}. Drop them, make them "
            "quasi-identifiers, or accept the risk by name with --accept-unique."
        )
    return [f"column {name!r} {found[name]} and leaves as it is, as accepted" for name in accepted if name in found]


def _reason(table: Table, name: str, k: int) -> str:
    """Say why a column singles people out; empty where it does not."""
    ranks, texts = table.factor(name)
    sample = texts.head(SAMPLE).to_list()
    shape = identifying_shape(sample, len(texts) / len(ranks))
    if shape is not None and not all(map(MOMENT.match, filter(None, sample))):
        return f"looks like {shape.label}"
    rare = int((np.bincount(ranks) < k).sum())
    return f"has {rare} values in fewer than k={k} rows" if rare else ""
