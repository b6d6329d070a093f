"""Cuts under models: a cut is made only if every part passes, checked for all open segments at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.population import covered_rows
from shoal.errors import CancelledError
from shoal.methods.base import Run
from shoal.models import AverageRisk, Basis, Groups, PrivacyModel, Uniqueness

if TYPE_CHECKING:
    from shoal.kernels.mondrian import Cuts

__all__ = ["Entries", "split_under_models"]

CHOICES = 16  # cuts to try for each attribute, the paper's cut first


@dataclass(frozen=True)
class Entries:
    """The rows of a table, counted by unit (tuple or row) and by everything that models count.

    Attributes:
        encoded: The table.
        row_unit: The unit of each canonical row.
        unit: The unit of each entry.
        whole: All entries as one group.
    """

    encoded: Encoded
    row_unit: NDArray[np.int32]
    unit: NDArray[np.int32]
    whole: Groups

    @classmethod
    def of(cls, encoded: Encoded, row_unit: NDArray[np.int32], models: tuple[PrivacyModel, ...]) -> Entries:
        """Combine the rows that the models cannot tell apart."""
        names = {name for model in models for name in model.columns}
        columns = [column for column in encoded.sensitive if column.name in names]
        personal = any(model.basis is Basis.PERSONAL_K for model in models)
        keys: list[NDArray[Any]] = [row_unit, *(column.codes for column in columns)]
        if personal and encoded.personal_k is not None:
            keys.append(encoded.personal_k)
        if encoded.people is not None:
            keys.append(np.arange(encoded.n_rows))  # people are counted by row
        order = np.lexsort(keys[::-1])
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in keys])
        first = order[new]
        whole = Groups(
            np.zeros(len(first), dtype=np.int32),
            np.diff(np.append(np.flatnonzero(new), len(order))).astype(np.int64),
            {column.name: replace(column, codes=column.codes[first]) for column in columns},
            encoded.personal_k[first] if personal and encoded.personal_k is not None else None,
            None if encoded.people is None else encoded.people[first],
        )
        return cls(encoded, row_unit, row_unit[first], whole)

    def groups(self, labels: NDArray[np.int32]) -> Groups:
        """Return groups of some units, compared with the whole table; other units have the label -1."""
        of_entry = labels[self.unit]
        kept = np.flatnonzero(of_entry >= 0)
        whole = self.whole
        matches = None
        if self.encoded.population is not None:
            matches = lambda: covered_rows(self.encoded, labels[self.row_unit])  # noqa: E731
        return Groups(
            of_entry[kept],
            whole.counts[kept],
            {name: replace(column, codes=column.codes[kept]) for name, column in whole.columns.items()},
            None if whole.personal_k is None else whole.personal_k[kept],
            None if whole.people is None else whole.people[kept],
            matches,
            whole,
        )


@dataclass(frozen=True)
class Segments:
    """Runs in the order of the units; tried: the number of cuts tried in each."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    tried: NDArray[np.int32]

    def take(self, chosen: NDArray[np.bool_]) -> Segments:
        """Return some of the segments."""
        return Segments(self.starts[chosen], self.stops[chosen], self.tried[chosen])

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places of all segments in the order, and the segment of each."""
        lengths = self.stops - self.starts
        number = np.repeat(np.arange(len(lengths)), lengths)
        first = np.cumsum(lengths) - lengths
        return np.arange(len(number)) - first[number] + self.starts[number], number


def split_under_models(
    cuts: Cuts,
    entries: Entries,
    n_units: int,
    k: int,
    relaxed: bool,
    models: tuple[PrivacyModel, ...],
    run: Run,
    spare_share: Fraction = Fraction(0),
) -> NDArray[np.int32]:
    """Return the group of each unit. In each round every open segment proposes its next cut; cuts that pass are made.

    Cost: a round is linear in the entries of the open segments; the number of rounds is that of the cuts tried on the
    way to the deepest segment.
    """
    local = tuple(model for model in models if not model.size_only and model.basis is not Basis.TABLE)
    n_people, n_rows = (int(int(n.sum()) * (1 - spare_share)) for n in (entries.whole.sizes, entries.whole.rows))
    budget = min((max(1, m.most_groups(n_people)) for m in models if isinstance(m, AverageRisk)), default=n_units)
    lone = [m.most_alone(n_rows) for m in models if isinstance(m, Uniqueness)] if k == 1 else []
    spare_rows = min(lone, default=0)
    order = np.arange(n_units, dtype=np.int32)
    begins = np.zeros(n_units, dtype=bool)  # whether a segment begins
    begins[0] = True
    parts = np.zeros(n_units, dtype=np.int32)
    spare = budget - 1
    segments = Segments(np.array([0]), np.array([n_units]), np.zeros(1, dtype=np.int32))
    while len(segments.starts):
        if run.cancelled():
            raise CancelledError
        cut = np.zeros(len(segments.starts), dtype=np.uint8)
        cuts.propose(k, relaxed, CHOICES, segments.starts, segments.stops, segments.tried, order, parts, cut)
        segments = segments.take(cut > 0)
        if not len(segments.starts):
            break
        places, number = segments.places()
        new = _new_parts(parts[places], number)
        group = np.cumsum(new) - 1
        labels = np.full(n_units, -1, dtype=np.int32)
        labels[order[places]] = group
        owner = number[new]
        passing = ~_any_of(owner, _failing(entries, local, labels, int(group[-1]) + 1))
        affordable, spare = _afford(passing, np.bincount(owner) - 1, segments, spare)
        spare = spare if (affordable == passing).all() else 0
        passing = affordable
        if lone:
            passing, spare_rows = _afford(passing, _more_alone(entries, labels, owner), segments, spare_rows)
        for i in np.flatnonzero(~passing).tolist():
            order[segments.starts[i] : segments.stops[i]].sort()
        begins[places[new & passing[number]]] = True
        segments = _next_segments(segments, passing, places[new], owner, open_left=spare > 0)
        run.progress(1 - float((segments.stops - segments.starts).sum()) / n_units)
    made = np.empty(n_units, dtype=np.int32)
    made[order] = np.cumsum(begins) - 1
    run.progress(1.0)
    return made


def _new_parts(parts: NDArray[np.int32], number: NDArray[np.int64]) -> NDArray[np.bool_]:
    new = np.ones(len(parts), dtype=bool)
    new[1:] = (parts[1:] != parts[:-1]) | (number[1:] != number[:-1])
    return new


def _failing(
    entries: Entries, models: tuple[PrivacyModel, ...], labels: NDArray[np.int32], n_groups: int
) -> NDArray[np.bool_]:
    groups = entries.groups(labels)
    failing = np.zeros(n_groups, dtype=bool)
    for model in models:
        failing |= model.failing(groups)
    return failing


def _any_of(owner: NDArray[np.int64], failing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.bincount(owner, weights=failing) > 0


def _more_alone(entries: Entries, labels: NDArray[np.int32], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many more rows are alone after the cut of each segment; labels: the part of each unit."""
    parts = entries.groups(labels)
    whole = entries.groups(np.where(labels >= 0, owner[labels], -1).astype(np.int32))
    after = np.bincount(owner, weights=np.where(parts.sizes == 1, parts.rows, 0)).astype(np.int64)
    return np.asarray(after - np.where(whole.sizes == 1, whole.rows, 0))


def _afford(
    passing: NDArray[np.bool_], more: NDArray[np.int64], segments: Segments, spare: int
) -> tuple[NDArray[np.bool_], int]:
    """Keep the cuts that a limit allows, longest segments first; more: what each cut adds to the limited count."""
    if int(more[passing].sum()) <= spare:
        return passing, spare - int(more[passing].sum())
    kept = np.zeros(len(passing), dtype=bool)
    for i in np.argsort(segments.starts - segments.stops, kind="stable").tolist():
        if passing[i] and more[i] <= spare:
            kept[i] = True
            spare -= int(more[i])
    return kept, spare


def _next_segments(
    segments: Segments,
    passing: NDArray[np.bool_],
    part_starts: NDArray[np.int64],
    owner: NDArray[np.int64],
    *,
    open_left: bool,
) -> Segments:
    """Return the parts of the segments that were cut, and the other segments, which try further cuts."""
    if not open_left:
        return segments.take(np.zeros(len(passing), dtype=bool))
    stops = np.append(part_starts[1:], 0)
    last = np.append(owner[1:] != owner[:-1], True)
    stops[last] = segments.stops
    made = passing[owner]
    waiting = segments.take(~passing)
    return Segments(
        np.concatenate([part_starts[made], waiting.starts]),
        np.concatenate([stops[made], waiting.stops]),
        np.concatenate([np.zeros(int(made.sum()), dtype=np.int32), waiting.tried]),
    )
