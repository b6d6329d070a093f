"""The protocol of privacy models, and what a model can see of the groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.errors import InternalError
from shoal.models.terms import Distributions, Term

__all__ = ["Basis", "Groups", "Histogram", "PrivacyModel"]


class Basis(StrEnum):
    """What decides whether a group passes; a method declares which of these it can honour.

    The first three are additive: a search can keep them up to date while rows enter and leave a group.
    """

    SIZE = "size"  # the number of rows (or people)
    PERSONAL_K = "personal k"  # the size, and the largest k that a row of the group requires
    HISTOGRAM = "sensitive values"  # the number of rows with each value of the model's columns
    POPULATION = "population"  # the number of population rows that the group's cells cover
    TABLE = "all groups"  # all groups together; no group can be judged by itself
    SAMPLE = (
        "a sample at fixed levels"  # the size, in a random sample of the rows whose levels nobody chose by the data
    )


@dataclass(frozen=True)
class Histogram:
    """The number of rows with each value in each group: the pairs that occur, sorted by group, then by code.

    Attributes:
        groups: The group of each pair.
        codes: The value of each pair.
        rows: The number of rows of each pair.
        starts: The first pair of each group, and the end; every group has at least one pair.
    """

    groups: NDArray[np.int64]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    def sums(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Sum amounts, one for each pair, over each group."""
        return np.add.reduceat(amounts, self.starts[:-1])

    def largest(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Return the largest amount of each group."""
        return np.maximum.reduceat(amounts, self.starts[:-1])


@dataclass(frozen=True, eq=False)
class Groups:
    """What a model can see of the groups. Groups consist of entries: rows that no model can tell apart.

    Attributes:
        labels: The group of each entry, -1 if it is suppressed. Groups are numbered without gaps.
        counts: The number of rows of each entry.
        columns: The sensitive columns by name, with a code for each entry.
        personal_k: The k that the rows of each entry require, 0 for none.
        people: The person of each entry, if sizes count people; an entry is then one row.
        matches: Computes the number of population rows that the cells of each group cover.
        whole: All groups of the release, if these are only some of them; distributions are compared with it.
        n_people: The number of people of each group, if nobody knows whose each entry is.
    """

    labels: NDArray[np.int32]
    counts: NDArray[np.int64]
    columns: Mapping[str, Sensitive] = field(default_factory=dict)
    personal_k: NDArray[np.int64] | None = None
    people: NDArray[np.int32] | None = None
    matches: Callable[[], NDArray[np.int64]] | None = None
    whole: Groups | None = None
    n_people: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, encoded: Encoded, labels: NDArray[np.int32]) -> Groups:
        """Return the groups of a table.

        Args:
            encoded: The table.
            labels: The group of each canonical row, -1 for a suppressed row.
        """
        from shoal.encoding.population import covered_rows

        return cls(
            labels,
            np.ones(len(labels), dtype=np.int64) if encoded.weights is None else encoded.weights,
            {column.name: column for column in encoded.sensitive},
            encoded.personal_k,
            encoded.people,
            None if encoded.population is None else lambda: covered_rows(encoded, labels),
        )

    @cached_property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max(initial=-1)) + 1

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return _add_up(self.labels, self.counts, self.n_groups)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group, or of people if the table has a person column."""
        if self.n_people is not None:
            return self.n_people
        if self.people is None:
            return self.rows
        kept = self.labels >= 0
        n_people = int(self.people.max(initial=0)) + 1
        pairs = np.unique(self.labels[kept].astype(np.int64) * n_people + self.people[kept])
        return np.bincount(pairs // n_people, minlength=self.n_groups).astype(np.int64)

    @cached_property
    def largest_personal_k(self) -> NDArray[np.int64]:
        """The largest k that a row of each group requires, 0 if none does."""
        if self.personal_k is None:
            raise InternalError("a model needs the personal k of each row, which is not available.")
        largest = np.zeros(self.n_groups, dtype=np.int64)
        kept = self.labels >= 0
        np.maximum.at(largest, self.labels[kept], self.personal_k[kept])
        return largest

    @cached_property
    def population(self) -> NDArray[np.int64]:
        """The number of population rows that the cells of each group cover."""
        if self.matches is None:
            raise InternalError("a model needs a population, which is not available.")
        return self.matches()

    def column(self, name: str) -> Sensitive:
        """Return a sensitive column."""
        if name not in self.columns:
            raise InternalError(f"a model counts column {name!r}, which is not available.")
        return self.columns[name]

    def histogram(self, name: str) -> Histogram:
        """Return the histogram of a sensitive column in each group."""
        if name not in self._histograms:
            self._histograms[name] = self._count(self.column(name))
        return self._histograms[name]

    def totals(self, name: str) -> NDArray[np.int64]:
        """Return the number of rows with each value of a sensitive column in the whole release."""
        if self.whole is not None:
            return self.whole.totals(name)
        if name not in self._totals:
            column = self.column(name)
            if column.totals is not None:
                return column.totals
            self._totals[name] = _add_up(np.where(self.labels >= 0, column.codes, -1), self.counts, len(column.texts))
        return self._totals[name]

    @cached_property
    def _histograms(self) -> dict[str, Histogram]:
        return {}

    @cached_property
    def _totals(self) -> dict[str, NDArray[np.int64]]:
        return {}

    def _count(self, column: Sensitive) -> Histogram:
        kept = self.labels >= 0
        card = len(column.texts)
        key = self.labels[kept].astype(np.int64) * card + column.codes[kept]
        n_cells = self.n_groups * card
        if n_cells <= 4 * len(key) + 1024:  # few enough to count in an array
            cells = _add_up(key, self.counts[kept], n_cells)
            pairs = np.flatnonzero(cells)
            rows = cells[pairs]
        else:
            pairs, place = np.unique(key, return_inverse=True)
            rows = _add_up(place, self.counts[kept], len(pairs))
        groups, codes = np.divmod(pairs, card)
        return Histogram(groups, codes, rows, np.searchsorted(groups, np.arange(self.n_groups + 1)))

    def merged(self) -> Groups:
        """Return all groups merged into one."""
        labels = np.where(self.labels >= 0, np.int32(0), np.int32(-1))
        return replace(self, labels=labels, matches=None)


def _add_up(places: NDArray[Any], counts: NDArray[np.int64], n_places: int) -> NDArray[np.int64]:
    """Sum the counts at each place; negative places are skipped. Exact up to 2^53 rows."""
    kept = places >= 0
    return np.bincount(places[kept], weights=counts[kept], minlength=n_places).astype(np.int64)


@runtime_checkable
class PrivacyModel(Protocol):
    """A requirement that every group of a release must meet. A model is a frozen value.

    `monotone` and `closed` describe unions of groups within one release, whose distribution of values does not change.
    """

    @property
    def basis(self) -> Basis:
        """What decides whether a group passes."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that the model counts."""

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass."""

    @property
    def size_only(self) -> bool:
        """Whether every group of at least `minimum_size` rows passes."""

    @property
    def monotone(self) -> bool:
        """Whether the union of a passing group with any other group passes."""

    @property
    def closed(self) -> bool:
        """Whether the union of passing groups passes."""

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it fails."""

    def terms(self, whole: Distributions) -> tuple[Term, ...] | None:
        """Return what a search can keep up to date to form groups that pass.

        Args:
            whole: The distributions of the whole table, whichever of its rows are searched.

        Returns:
            The terms; () if every group of `minimum_size` rows passes; None if no terms express the model. A search
            then looks at sizes only and merges the groups that fail.
        """

    def obstacle(self, whole: Groups) -> str:
        """Say why no grouping of these rows can pass, and what is the nearest feasible goal.

        Args:
            whole: All rows as a single group.

        Returns:
            The reason; empty if the whole table passes.
        """

    def describe(self) -> str:
        """Describe the requirement in words."""

    def spec(self) -> dict[str, Any]:
        """Return the model as plain values, as in shoal.toml: its name and its fields."""
