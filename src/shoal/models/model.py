"""What models share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.sensitive import Sensitive
from shoal.models.base import Basis, Groups, Histogram
from shoal.models.terms import Distributions, Term

__all__ = ["ColumnModel", "Model", "fields_of", "fold_missing", "shown", "too_few_rows"]


def shown(number: Fraction) -> str:
    """Write a threshold as people do."""
    return f"{float(number):g}"


def fields_of(model: Any) -> dict[str, Any]:
    """Return the name of a model and those of its fields that are not empty, as plain values."""
    told = {f.name: getattr(model, f.name) for f in fields(model)}
    plain = {name: str(value) if isinstance(value, Fraction) else value for name, value in told.items()}
    return {"name": model.name} | {name: value for name, value in plain.items() if value not in ((), "", False)}


@dataclass(frozen=True)
class Model:
    """What holds of a model unless it says otherwise."""

    name: ClassVar[str] = ""

    @property
    def basis(self) -> Basis:
        """The size."""
        return Basis.SIZE

    @property
    def columns(self) -> tuple[str, ...]:
        """No column is counted."""
        return ()

    @property
    def minimum_size(self) -> int:
        """No group with fewer rows can pass."""
        return 1

    @property
    def size_only(self) -> bool:
        """Whether every group with minimum_size rows passes."""
        return self.basis is Basis.SIZE

    @property
    def monotone(self) -> bool:
        """Rows that enter may spoil a group, unless its size alone decides."""
        return self.size_only

    @property
    def closed(self) -> bool:
        """The union of passing groups passes."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether it fails."""
        raise NotImplementedError

    def terms(self, whole: Distributions) -> tuple[Term, ...] | None:
        """Return no terms: sizes decide, or else groups are formed by size and merged until they pass."""
        return () if self.size_only else None

    def obstacle(self, whole: Groups) -> str:
        """Say why no grouping can pass: where unions of passing groups pass, all rows as one group would."""
        return self._reason(whole) if self.failing(whole)[0] else ""

    def _reason(self, whole: Groups) -> str:
        """Say why all rows as one group fail, and what they would pass."""
        return f"{self.describe()} cannot be met: all {int(whole.rows[0])} rows as one group fail. Weaken it."

    def describe(self) -> str:
        """Return the promise in words."""
        return " ".join(f"{key}={value}" if key != "name" else str(value) for key, value in self.spec().items())

    def spec(self) -> dict[str, Any]:
        """Return the model as plain values."""
        return fields_of(self)


@dataclass(frozen=True)
class ColumnModel(Model):
    """A promise about the values of one sensitive column; shares in a union lie between those in its parts."""

    column: str

    @property
    def basis(self) -> Basis:
        """The rows of each value of the column."""
        return Basis.HISTOGRAM

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that is counted."""
        return (self.column,)


def too_few_rows(k: int, size: int) -> str:
    """Say that a table has fewer rows than k."""
    return f"k={k} cannot be met: the table has {size} rows. Use k <= {size}."


def fold_missing(histogram: Histogram, column: Sensitive) -> Histogram:
    """Count missing values as the most frequent value of their group, so that they add no diversity.

    A group in which all are missing has that one value.
    """
    absent = histogram.codes == column.missing
    if column.missing < 0 or not absent.any():
        return histogram
    order = np.lexsort((histogram.codes, -histogram.rows, absent, histogram.groups))
    tops = order[histogram.starts[:-1]]  # the most frequent of the known, or the missing one where it is alone
    rows = np.where(absent, 0, histogram.rows)
    extra = histogram.sums(np.where(absent, histogram.rows, 0))
    rows[tops] += extra
    kept = rows > 0
    groups = histogram.groups[kept]
    starts = np.searchsorted(groups, np.arange(len(histogram.starts)))
    return Histogram(groups, histogram.codes[kept], rows[kept], starts)
