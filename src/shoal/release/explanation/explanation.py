"""Explain one row of a release: its groups, its neighbours, and what other requests would give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.encode import encode
from shoal.errors import UsageError
from shoal.hierarchy.base import Rule
from shoal.release.explanation.boxes import SLACK, Surroundings
from shoal.release.explanation.fitting import Coverage, fitting_groups
from shoal.schema import Schema
from shoal.tables.table import Table
from shoal.tables.values import normalise

__all__ = ["Alternative", "Explanation", "Group", "Neighbour", "ShownColumn", "explain_row"]

N_NEIGHBOURS = 3


@dataclass(frozen=True)
class ShownColumn:
    """A quasi-identifier of a row in one of its groups.

    Attributes:
        column: The column.
        value: The cell of the original.
        shown: The released cell.
        loss: Its loss (NCP).
        values: The number of values of the original that it covers.
        narrowest: The cell that a group of k around this row alone would show.
    """

    column: str
    value: str
    shown: str
    loss: float
    values: int
    narrowest: str


@dataclass(frozen=True)
class Neighbour:
    """Rows of the original with the same quasi-identifiers, outside a group.

    Attributes:
        row: The number of the first of them, from 1.
        rows: Their number.
        values: Their quasi-identifiers.
        distance: The mean loss of a group of them and the row.
    """

    row: int
    rows: int
    values: dict[str, str]
    distance: float


@dataclass(frozen=True)
class Group:
    """A group that the row can belong to.

    Attributes:
        rows: The number of its released rows.
        covered: The number of original rows that its cells cover.
        loss: The mean loss of its cells.
        columns: The quasi-identifiers.
        neighbours: The nearest rows that its cells do not cover, nearest first.
    """

    rows: int
    covered: int
    loss: float
    columns: tuple[ShownColumn, ...]
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True)
class Alternative:
    """What a narrow group around this row alone would show. The needs of other rows do not count.

    Attributes:
        k: The size of the group.
        without: A quasi-identifier that does not count, if any.
        cells: The cells.
        loss: Their mean loss.
        loss_now: The mean loss of the same columns in the release, in the group where it is least; None if the row is
            suppressed.
        size: The number of rows, or of people, that the cells cover.
    """

    k: int
    without: str | None
    cells: dict[str, str]
    loss: float
    loss_now: float | None
    size: int


@dataclass(frozen=True)
class Explanation:
    """Why the cells of a row are as wide as they are. It holds cells of the original: keep it private.

    Attributes:
        row: The number of the row in the original, from 1.
        values: Its quasi-identifiers.
        k: The k of the release.
        counts: What k counts: "rows" or "persons".
        alike: How many rows, or people, have the same quasi-identifiers, this row included.
        suppressed: Whether the row is in no group of the release.
        groups: The groups that the row can belong to.
        own: What a group of k around this row alone would show; None if the table is too small.
        smaller_k: The same for smaller k.
        without: The same without one quasi-identifier.
    """

    row: int
    values: dict[str, str]
    k: int
    counts: str
    alike: int
    suppressed: bool
    groups: tuple[Group, ...]
    own: Alternative | None
    smaller_k: tuple[Alternative, ...]
    without: tuple[Alternative, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values for JSON."""
        return asdict(self)


def explain_row(
    original: Table,
    released: Table,
    row: int,
    schema: Schema,
    *,
    k: int,
    hierarchies: Mapping[str, Rule] | None = None,
    others: Sequence[str] = (),
) -> Explanation:
    """Explain one row of a release.

    Args:
        original: The original.
        released: The release.
        row: The number of the row in the original, from 1.
        schema: The columns of the original, with the kinds of the quasi-identifiers.
        k: The k of the release.
        hierarchies: Hierarchies by column.
        others: Columns that are released unchanged, which help to tell groups apart.

    Raises:
        UsageError: The original has no such row.
        InputError: A value does not suit its column.
    """
    if not 1 <= row <= original.n_rows:
        raise UsageError(f"the original has no row {row}. Its rows are numbered from 1 to {original.n_rows:,}.")
    encoded = encode(original, schema, hierarchies, unknown="top")
    canonical = int(np.flatnonzero(encoded.order == row - 1)[0])
    around = Surroundings(encoded, schema, int(encoded.row_tuple[canonical]))
    trees = {attribute.name: attribute.hierarchy for attribute in encoded.attributes}
    coverages = [Coverage.of(original, column, schema, trees[column.name]) for column in schema.qi]
    names = [column.name for column in schema.qi]
    values = {name: str(original.frame[name][row - 1]) for name in names}
    own = _alternative(around, names, k)
    narrowest = {} if own is None else own.cells
    distances = around.distances()
    groups = []
    for members in fitting_groups(original, released, row - 1, coverages, others):
        shown = {name: normalise(released.frame[name][int(members[0])]) for name in names}
        columns = tuple(
            ShownColumn(name, values[name], shown[name], c.loss(shown[name]), c.n_values(shown[name]), cell)
            for name, c, cell in zip(names, coverages, (narrowest.get(name, "*") for name in names), strict=True)
        )
        covered = _covered(around, coverages, shown)
        rows = len(members) if released.weights is None else int(released.weights[members].sum())
        mean = sum(column.loss for column in columns) / len(columns)
        neighbours = _neighbours(around, np.where(covered, np.inf, distances), names)
        groups.append(Group(rows, int(encoded.counts[covered].sum()), mean, columns, neighbours))
    groups.sort(key=lambda group: (group.loss, [column.shown for column in group.columns]))
    smaller = [size for size in dict.fromkeys((k - 1, k // 2, 2)) if 2 <= size < k]

    def compared(found: Alternative | None) -> Alternative | None:
        return None if found is None else _compared(found, groups)

    return Explanation(
        row,
        values,
        k,
        "rows" if encoded.people is None else "persons",
        around.count(np.arange(len(encoded.tuples)) == around.at),
        not groups,
        tuple(groups),
        compared(own),
        tuple(each for size in smaller if (each := compared(_alternative(around, names, size))) is not None),
        tuple(
            each
            for a in range(len(names))
            if len(names) > 1 and (each := compared(_alternative(around, names, k, a))) is not None
        ),
    )


def _alternative(
    around: Surroundings, names: Sequence[str], size: int, without: int | None = None
) -> Alternative | None:
    """Return what a group of this size around the row alone would show; None if the table is smaller."""
    box = around.narrowest(size, without)
    if box is None:
        return None
    dropped = None if without is None else names[without]
    texts = zip(names, around.texts(box.inside), strict=True)
    cells = {name: text for name, text in texts if name != dropped}
    return Alternative(size, dropped, cells, box.loss, None, box.size)


def _compared(found: Alternative, groups: Sequence[Group]) -> Alternative:
    """Add the loss of the same columns in the release."""
    now = [np.mean([c.loss for c in group.columns if c.column != found.without]) for group in groups]
    return replace(found, loss_now=float(min(now)) if now else None)


def _covered(around: Surroundings, coverages: Sequence[Coverage], shown: Mapping[str, str]) -> NDArray[np.bool_]:
    """Return for each tuple of the original whether these cells cover it."""
    covered = np.ones(len(around.encoded.tuples), dtype=bool)
    for a, (attribute, coverage) in enumerate(zip(around.encoded.attributes, coverages, strict=True)):
        inside = [coverage.covers(shown[attribute.name], normalise(text)) for text in attribute.texts]
        covered &= np.array(inside, dtype=bool)[around.encoded.tuples[:, a]]
    return covered


def _neighbours(around: Surroundings, distances: NDArray[np.float64], names: Sequence[str]) -> tuple[Neighbour, ...]:
    """Return the nearest tuples; distances: infinite for those inside the group."""
    encoded = around.encoded
    order = np.lexsort((np.arange(len(distances)), np.round(distances / SLACK) * SLACK))[:N_NEIGHBOURS]
    found = []
    for at in order[np.isfinite(distances[order])].tolist():
        first = int(encoded.order[encoded.row_tuple == at].min()) + 1
        codes = encoded.tuples[at].tolist()
        cells = {name: a.texts[code] for name, a, code in zip(names, encoded.attributes, codes, strict=True)}
        found.append(Neighbour(first, int(encoded.counts[at]), cells, float(distances[at])))
    return tuple(found)
