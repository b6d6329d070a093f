"""Columns that are released as they are, and single people out all the same."""

from __future__ import annotations

import numpy as np

from shoal.errors import InfeasibleError, UsageError
from shoal.schema import Role, Schema
from shoal.table import Table

__all__ = ["check_rare"]


def check_rare(table: Table, schema: Schema, k: int, accepted: tuple[str, ...]) -> list[str]:
    """Refuse insensitive columns with values in fewer than k rows, unless they are accepted by name.

    Returns what the user should know about the accepted ones.
    """
    insensitive = schema.names(Role.INSENSITIVE)
    strange = [name for name in accepted if name not in insensitive]
    if strange:
        raise UsageError(f"--accept-unique {strange[0]!r}: not an insensitive column. They are: {list(insensitive)}.")
    counts = {name: int((np.bincount(table.factor(name).ranks) < k).sum()) for name in insensitive}
    refused = {name: count for name, count in counts.items() if count and name not in accepted}
    if refused:
        listed = ", ".join(f"{name!r} ({count} values)" for name, count in refused.items())
        raise InfeasibleError(
            f"columns with values in fewer than k={k} rows would single people out: {listed}. Drop them, make them "
            "quasi-identifiers, or accept the risk by name with --accept-unique."
        )
    rare = [name for name in accepted if counts[name]]
    return [f"column {name!r} leaves with {counts[name]} values in fewer than k rows, as accepted" for name in rare]
