"""Releases of counted tables: what a search needs of the rows, and how they are dealt to its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import Released
from shoal.encoding.partition import Partition
from shoal.methods.base import Method
from shoal.methods.full_domain.base import FullDomain
from shoal.methods.mondrian import Mondrian
from shoal.methods.shoaling.search import Shoaling
from shoal.models import Basis, PrivacyModel
from shoal.tables.sorting import pack
from shoal.tables.sources.base import Dealing
from shoal.tables.table import Factor

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Coding", "coding_of", "dealing_of", "works_on_counts"]

Coding = dict[str, tuple["pl.Series", NDArray[np.int32]]]  # by column, its distinct cells and their codes


def works_on_counts(method: Method, models: Sequence[PrivacyModel], *, plain: bool) -> bool:
    """Say whether a method forms groups of counted tuples, whichever of their rows go where.

    Args:
        method: The method.
        models: The privacy models.
        plain: Whether there are no limits, people and personal k, and no row may be suppressed.
    """
    if isinstance(method, FullDomain):
        return True
    if not plain or any(model.basis is not Basis.SIZE for model in models):
        return False
    if isinstance(method, Shoaling):
        return not method.non_overlapping
    return isinstance(method, Mondrian) and method.variant == "strict" and not method.domains


def dealing_of(
    encoded: Encoded, partition: Partition, released: Released, spread: Mapping[str, Factor] | None = None
) -> Dealing | None:
    """Return how the rows of a counted table are dealt to groups; None if they are in memory, or keep to levels.

    Args:
        encoded: The table as codes.
        partition: Its groups.
        released: Their cells.
        spread: By name of a column of spread, the cell of each group.
    """
    if encoded.weights is None or partition.levels is not None:
        return None
    coding, beside = coding_of(encoded)
    shown = {**released.group_cells, **(spread or {})}
    cells = {name: (factor.texts, factor.ranks) for name, factor in shown.items()}
    names, entries = tuple(released.table.names), partition.entries
    if not beside:
        return Dealing(names, coding, encoded.tuples, (entries.tuples, entries.rows, entries.groups), cells)
    columns: list[NDArray[np.int32]] = [encoded.tuples[encoded.row_tuple, a] for a in range(encoded.tuples.shape[1])]
    columns += [column.codes for column in encoded.sensitive]
    for values in (encoded.personal_k, encoded.people):
        if values is not None:
            columns.append(np.unique(values, return_inverse=True)[1].astype(np.int32))
    key, _ = pack(columns, [int(column.max(initial=0)) + 1 for column in columns])
    _, first, units = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(units, kind="stable")
    tuples = np.column_stack([column[first] for column in columns]).astype(np.int32)
    dealt = units[order].astype(np.int32), encoded.weights[order], partition.labels[order]
    return Dealing(names, coding | beside, tuples, dealt, cells)


def coding_of(encoded: Encoded) -> tuple[Coding, Coding]:
    """Return the codes of the quasi-identifiers, and of what else tells the rows of a tuple apart.

    The second are those of sensitive columns, of the personal k and of people, in this order.
    """
    own = {each.name: (each.distinct.texts, each.values.astype(np.int32)) for each in encoded.dictionaries}
    beside = {}
    for dictionary in encoded.counted:  # a personal k may be too large for a code
        _, ranks = np.unique(dictionary.values, return_inverse=True)
        beside[dictionary.name] = dictionary.distinct.texts, ranks.astype(np.int32)
    return own, beside
