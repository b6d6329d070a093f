"""What the maker of a release states about its rows, for the verifier to hold against the file and its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dealt", "Feed", "Listed", "Texts", "whole"]


class Gatherer(Protocol):
    """The distinct cells of a column that are too many for a list."""

    def gather(self, places: NDArray[np.int64]) -> list[str]:
        """Return the cells at ascending places; none before the first of them is asked for again."""


@runtime_checkable
class Listed(Gatherer, Protocol):
    """The distinct cells of a column of which some are listed when they are needed; places may be asked for again."""

    def __len__(self) -> int:
        """The number of cells."""

    def __getitem__(self, places: slice) -> list[str]:
        """Return the cells at places that follow each other."""


Texts = list[str] | Listed | Gatherer


class Dealt(Protocol):
    """What the maker states: the cells behind each released row, and the rows that were left out."""

    @property
    def texts(self) -> Sequence[Texts]:
        """The distinct cells of each quasi-identifier, in the order of the file, and of each column held back.

        Those of quasi-identifiers may come as what lists them, those of people as what gathers them.
        """

    @property
    def chunks(self) -> Iterator[Sequence[NDArray[Any]]]:
        """Blocks of rows in the order of the file: places among these cells, column by column.

        The number of each row's group follows if cells are centres; then that of its row in the source, from 0, if rows
        keep their order.
        """

    @property
    def left_out(self) -> Iterator[Sequence[tuple[list[str], NDArray[Any]]]]:
        """Blocks of rows that are not released: texts and places, for all columns of the source.

        No texts and the numbers of the rows in the source follow if rows keep their order.
        """


class Feed:
    """Rows that come in blocks of any size, taken in blocks of another size."""

    def __init__(self, chunks: Iterable[Sequence[NDArray[Any]]], n_columns: int) -> None:
        self._chunks = iter(chunks)
        self._rest: Sequence[NDArray[Any]] = [np.empty(0, dtype=np.int32)] * n_columns

    def take(self, n_rows: int) -> Sequence[NDArray[Any]]:
        """Return the next rows; fewer if there are no more."""
        parts = [self._rest]
        while sum(len(part[0]) for part in parts) < n_rows:
            following = next(self._chunks, None)
            if following is None:
                break
            parts.append(following)
        joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        self._rest = [column[n_rows:] for column in joined]
        return [column[:n_rows] for column in joined]

    def has_more(self) -> bool:
        """Say whether rows are left."""
        return len(self._rest[0]) > 0 or any(len(chunk[0]) for chunk in self._chunks)


def whole(texts: Texts) -> list[str] | Listed:
    """Return cells all of which can be listed."""
    if not isinstance(texts, list | Listed):
        raise TypeError("the cells of a quasi-identifier must be listed")
    return texts
