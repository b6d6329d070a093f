"""Windows of limits over codes: which rows may share a group, known from the counts of the limited columns together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import Cut

__all__ = ["CodeWindows"]

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class CodeWindows:
    """A plan of windows; see `shoal.encoding.windows.plan_windows`.

    A window is a part of a part of the table, each by the codes of one column: by its walls, or by runs of its ranks.
    Windows are numbered in this order, so that some column always tells those before a number from the others.

    Attributes:
        places: The limited quasi-identifiers.
        codes: The combinations of their codes that occur.
        rows: The rows of each.
        labels: The window of each, -1 if no window has room for it.
    """

    places: tuple[int, ...]
    codes: Codes
    rows: NDArray[np.int64]
    labels: Codes

    def first_cut(self, histograms: Sequence[NDArray[np.int64]]) -> Cut | None:
        """Return the cut that separates windows of a section, about as many on each side; None if it has only one.

        Args:
            histograms: The rows of each code of each quasi-identifier. Sections are cut by codes of single columns, so
                that the combinations of a section are those whose codes all occur in it.
        """
        inside = self._inside(histograms)
        windows, ranks = np.unique(self.labels[inside], return_inverse=True)
        n_windows = len(windows)
        if n_windows < 2:
            return None
        found: list[tuple[int, int, int]] = []
        spans = []
        for i, place in enumerate(self.places):
            first, last = np.full(len(histograms[place]), n_windows), np.full(len(histograms[place]), -1)
            np.minimum.at(first, self.codes[inside, i], ranks)
            np.maximum.at(last, self.codes[inside, i], ranks)
            spans.append(first)
            occurs = last >= 0
            # How many codes have windows on both sides of each number.
            across = np.bincount(first[occurs] + 1, minlength=n_windows + 2)
            across -= np.bincount(last[occurs] + 1, minlength=n_windows + 2)
            numbers = 1 + np.flatnonzero(np.cumsum(across)[1:n_windows] == 0)
            found += [(abs(2 * int(number) - n_windows), i, int(number)) for number in numbers]
        _, i, number = min(found)
        return Cut(self.places[i], (spans[i] >= number).astype(np.int32), is_settled=True)

    def codes_of(self, window: int, n_codes: Sequence[int]) -> list[NDArray[np.bool_]]:
        """Say of each code of each quasi-identifier whether rows of a window may have it; n_codes: their numbers."""
        chosen = [np.ones(n, dtype=bool) for n in n_codes]
        for i, place in enumerate(self.places):
            chosen[place] = np.isin(np.arange(n_codes[place]), self.codes[self.labels == window, i])
        return chosen

    def last(self, histograms: Sequence[NDArray[np.int64]]) -> int:
        """Return the last window of a section; histograms: as for `first_cut`."""
        return int(self.labels[self._inside(histograms)].max())

    def _inside(self, histograms: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Say of each combination whether a section has it and some window has room for it."""
        return self._among([histograms[place] > 0 for place in self.places]) & (self.labels >= 0)

    def of(self, tuples: Codes) -> Codes:
        """Return the window of each tuple of a section."""
        own = tuples[:, list(self.places)]
        lengths = self.codes.max(axis=0, initial=0) + 1
        inside = self._among([np.isin(np.arange(n), own[:, i]) for i, n in enumerate(lengths.tolist())])
        known = self.codes[inside]
        _, number = np.unique(np.vstack([known, own]), axis=0, return_inverse=True)
        number = number.reshape(-1)
        window = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int32)
        window[number[: len(known)]] = self.labels[inside]
        return np.asarray(window[number[len(known) :]])

    def _among(self, chosen: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Say of each combination whether all of its codes are chosen; chosen: by limited column, of each code."""
        return np.asarray(np.logical_and.reduce([own[self.codes[:, i]] for i, own in enumerate(chosen)]))
