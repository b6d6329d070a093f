"""Base classes and helpers of the models."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.sensitive import Sensitive
from shoal.errors import counted
from shoal.models.base import Basis, Groups, Histogram
from shoal.models.terms import Distributions, Term

__all__ = ["ColumnModel", "Model", "fields_of", "fold_missing", "shown", "too_few_rows"]


def shown(number: Fraction) -> str:
    """Format a threshold."""
    return f"{float(number):g}"


def fields_of(model: Any) -> dict[str, Any]:
    """Return the name of a model and its non-empty fields as plain values."""
    values = {f.name: getattr(model, f.name) for f in fields(model)}
    plain = {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
    return {"name": model.name} | {name: value for name, value in plain.items() if value not in ((), "", False)}


@dataclass(frozen=True)
class Model:
    """The defaults of a model: it counts rows, and unions of passing groups pass."""

    name: ClassVar[str] = ""

    @property
    def basis(self) -> Basis:
        """What decides: the size."""
        return Basis.SIZE

    @property
    def columns(self) -> tuple[str, ...]:
        """The model counts no sensitive column."""
        return ()

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass."""
        return 1

    @property
    def size_only(self) -> bool:
        """Whether every group of at least `minimum_size` rows passes."""
        return self.basis is Basis.SIZE

    @property
    def monotone(self) -> bool:
        """Further rows may make a group fail, unless only its size decides."""
        return self.size_only

    @property
    def closed(self) -> bool:
        """The union of passing groups passes."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it fails."""
        raise NotImplementedError

    def terms(self, whole: Distributions) -> tuple[Term, ...] | None:
        """Return no terms: sizes decide, or else groups are formed by size and merged until they pass."""
        return () if self.size_only else None

    def obstacle(self, whole: Groups) -> str:
        """Say why no grouping can pass: the table as one group fails, and unions of passing groups pass."""
        return self._reason(whole) if self.failing(whole)[0] else ""

    def _reason(self, whole: Groups) -> str:
        """Say why the table as one group fails, and what it would pass."""
        return f"{self.describe()} cannot be met: all {int(whole.rows[0])} rows as one group fail. Weaken it."

    def describe(self) -> str:
        """Describe the requirement in words."""
        return " ".join(f"{key}={value}" if key != "name" else str(value) for key, value in self.spec().items())

    def spec(self) -> dict[str, Any]:
        """Return the model as plain values."""
        return fields_of(self)


@dataclass(frozen=True)
class ColumnModel(Model):
    """A requirement on the values of one sensitive column. Shares in a union lie between those in its parts."""

    column: str

    @property
    def basis(self) -> Basis:
        """What decides: the number of rows with each value of the column."""
        return Basis.HISTOGRAM

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column that the model counts."""
        return (self.column,)


def too_few_rows(k: int, size: int) -> str:
    """Return the reason that a table with fewer than k rows fails."""
    return f"k={k} cannot be met: the table has {counted(size, 'row')}. Use k <= {size}."


def fold_missing(histogram: Histogram, column: Sensitive) -> Histogram:
    """Count missing values as the most frequent value of their group, so that they add no diversity.

    A group with missing values only has one value.
    """
    absent = histogram.codes == column.missing
    if column.missing < 0 or not absent.any():
        return histogram
    order = np.lexsort((histogram.codes, -histogram.rows, absent, histogram.groups))
    tops = order[histogram.starts[:-1]]  # the most frequent known value, or the missing value if there is no other
    rows = np.where(absent, 0, histogram.rows)
    extra = histogram.sums(np.where(absent, histogram.rows, 0))
    rows[tops] += extra
    kept = rows > 0
    groups = histogram.groups[kept]
    starts = np.searchsorted(groups, np.arange(len(histogram.starts)))
    return Histogram(groups, histogram.codes[kept], rows[kept], starts)
