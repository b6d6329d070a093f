"""What rows that DuckDB dealt were made from: the cells of the source behind each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.tables.sorting import Packing
from shoal.tables.sources.base import Dealing
from shoal.tables.sources.duck.people import MetIds

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ListedTexts", "Origins", "packing_of", "spelled_columns", "stated_columns"]

Ints = NDArray[np.int32]


def packing_of(dealing: Dealing) -> Packing:
    """Return how the tuples or units of a dealing are packed."""
    if dealing.searched is not None:
        packing: Packing = dealing.searched.packing
        return packing
    n_keys = sum(name in dealing.cells for name in dealing.codes)
    return Packing.of([int(codes.max(initial=0)) + 1 for _, codes in dealing.codes.values()], n_keys)


def stated_columns(dealing: Dealing) -> list[str]:
    """Return the columns whose cells are stated beside each row: the quasi-identifiers, and those not released."""
    return [*(name for name in dealing.names if name in dealing.cells and name in dealing.codes), *dealing.held_back]


def spelled_columns(dealing: Dealing) -> list[int]:
    """Return the columns to state of which some code may have several cells, by their places in `Dealing.keyed`."""
    stated = stated_columns(dealing)
    spelled = [
        i
        for i, (name, (_, codes)) in enumerate(dealing.codes.items())
        if name in stated and np.bincount(codes).max(initial=0) > 1
    ]
    return spelled if dealing.people is None else [*spelled, len(dealing.codes)]


@dataclass(frozen=True)
class ListedTexts:
    """The distinct cells of a column in a series; Python has objects only for those that are asked for."""

    series: pl.Series

    def __len__(self) -> int:
        """The number of cells."""
        return len(self.series)

    def __getitem__(self, places: slice) -> list[str]:
        """Return the cells at places that follow each other."""
        return self.series[places].to_list()

    def gather(self, places: NDArray[np.int64]) -> list[str]:
        """Return the cells at some places."""
        return self.series.gather(places).to_list()


@dataclass(frozen=True)
class Origins:
    """The cells behind rows.

    Attributes:
        packing: How tuples are packed.
        columns: The columns to state, by their places in `Dealing.keyed`: the place of the cell of each code, or None
            if a code has several cells.
        met: The ids of people, if they are stated as text.
    """

    packing: Packing
    columns: dict[int, Ints | None]
    met: MetIds = field(default_factory=MetIds)

    @classmethod
    def of(cls, dealing: Dealing) -> Origins:
        """Prepare to state the cells of a dealing."""
        spelled, columns = spelled_columns(dealing), dict[int, Ints | None]()
        for name in stated_columns(dealing):
            i = dealing.keyed.index(name)
            columns[i] = None if i in spelled else _cell_of_code(*dealing.codes[name])
        return cls(packing_of(dealing), columns)

    def places(self, frame: pl.DataFrame) -> list[NDArray[Any]]:
        """Return the cells behind stored rows, column by column: their places among the cells of the source."""
        import polars as pl

        tuples, found = self.packing.codes(frame), list[NDArray[Any]]()
        for i, cell_of in self.columns.items():
            if cell_of is not None:
                found.append(cell_of[tuples[:, i]])
            elif frame.schema[f"s{i}"] == pl.String:
                found.append(self.met.places(frame[f"s{i}"]))
            else:
                found.append(frame[f"s{i}"].to_numpy().astype(np.int32))
        return found


def _cell_of_code(cells: pl.Series, codes: Ints) -> Ints:
    """Return the place among the cells of each code, if every code has one cell."""
    place = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
    place[codes] = np.arange(len(cells), dtype=np.int32)
    return place
