"""Rows of a large table that are suppressed before its search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.methods.suppression import leave_out_greedy
from shoal.models import PrivacyModel

__all__ = ["LeavingBefore"]


@dataclass(frozen=True)
class LeavingBefore:
    """Which rows are suppressed before the search.

    Attributes:
        rows: How many they are.
        largest_k: The largest personal k of a row that stays; -1 if all may stay.
        largest_code: Its code.
        place_of_k: The place of the personal k among the codes of a unit.
        places: Limited quasi-identifiers.
        codes: The combinations of their codes that no window of a plan has room for.
    """

    rows: int
    largest_k: int = -1
    largest_code: int = -1
    place_of_k: int = -1
    places: tuple[int, ...] = ()
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 0), dtype=np.int32))

    @classmethod
    def of(cls, encoded: Encoded, models: tuple[PrivacyModel, ...], most: int) -> LeavingBefore | None:
        """Return which rows leave because of their personal k; None if none do.

        Args:
            encoded: Rows with the counts of each column of the table.
            models: The models.
            most: How many rows of the table may be suppressed.
        """
        stays = leave_out_greedy(encoded, models, most)
        if stays.all():
            return None
        assert encoded.personal_k is not None
        gone = int(encoded.row_weights[~stays].sum())
        largest = int(encoded.personal_k[stays].max(initial=0))
        code = int(np.searchsorted(np.unique(encoded.personal_k), largest, side="right")) - 1
        return cls(gone, largest, code, len(encoded.attributes) + len(encoded.sensitive))

    @classmethod
    def of_limits(
        cls, counted: Encoded, limits: Sequence[Limited], windows: NDArray[np.int32], most: int
    ) -> LeavingBefore | None:
        """Return which rows leave because of limits; None if none do, or if the plan of windows leaves out too many.

        Args:
            counted: Rows with the counts of the limited columns together.
            limits: The limits.
            windows: The window of each of these rows, -1 if none has room for it.
            most: How many rows of the table may be suppressed.
        """
        places, gone = tuple(limit.place for limit in limits), windows < 0
        rows = int(counted.row_weights[gone].sum())
        return cls(rows, places=places, codes=counted.tuples[gone][:, places]) if 0 < rows <= most else None

    def besides(self, others: LeavingBefore | None) -> LeavingBefore:
        """Return these rows, which leave because of their personal k, and others that limits have no room for."""
        if others is None:
            return self
        return replace(self, rows=self.rows + others.rows, places=others.places, codes=others.codes)

    def stays(self, rows: Encoded) -> NDArray[np.bool_]:
        """Say of each canonical row whether it stays."""
        stays = self._have_room(rows.tuples)[rows.row_tuple]
        if self.largest_k < 0:
            return stays
        assert rows.personal_k is not None
        return np.asarray(stays & (rows.personal_k <= self.largest_k))

    def keeps(self, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each tuple or unit whether its rows stay; codes: of quasi-identifiers, then of columns beside them."""
        keeps = self._have_room(codes)
        return keeps if self.largest_k < 0 else np.asarray(keeps & (codes[:, self.place_of_k] <= self.largest_code))

    def _have_room(self, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of tuples whether limits have room for them."""
        if not len(self.codes):
            return np.ones(len(codes), dtype=bool)
        known = np.concatenate([self.codes, codes[:, self.places]])
        number = np.unique(known, axis=0, return_inverse=True)[1].reshape(-1)
        is_gone = np.zeros(len(known), dtype=bool)
        is_gone[number[: len(self.codes)]] = True
        staying: NDArray[np.bool_] = ~is_gone[number[len(self.codes) :]]
        return staying
