"""Cells as numbers: a file is copied to a private folder with a number in place of each text.

A column of very many distinct texts stays text, unless it must have numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.tables.formats.writers import create

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NumberedCells", "Numbering"]

MOST_TEXTS = 200_000  # distinct cells of a column that are kept in memory; a column of more stays text
PART = ("cells-", ".parquet")  # before and after the number of a part in the name of its file


class Numbering:
    """The distinct cells of a column in the order in which they were met, and their numbers.

    A cell is found by its hash, so that Python has no object for it.
    """

    def __init__(self) -> None:
        import polars as pl

        self._texts = pl.Series(dtype=pl.String)
        self._hashes = np.empty(0, dtype=np.uint64)  # sorted
        self._numbers = np.empty(0, dtype=np.int32)  # of the cell with each of these hashes
        self._others: dict[str, int] = {}  # the numbers of cells whose hash another cell had before
        self._ranks: tuple[pl.Series, NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        """The number of distinct cells."""
        return len(self._texts)

    def number(self, cells: pl.Series) -> NDArray[np.int32]:
        """Return the number of each cell of a block; cells that are new get the next numbers."""
        import polars as pl

        texts = cells.unique()
        numbers = self._learn(texts)
        placed: NDArray[np.int32] = numbers[cells.cast(pl.Enum(texts)).to_physical().to_numpy()]
        return placed

    def _learn(self, texts: pl.Series) -> NDArray[np.int32]:
        """Return the numbers of distinct cells, some of which may be new."""
        hashes, first = _hashes(texts), len(self)
        order = np.argsort(hashes)
        hashes = hashes[order]
        places = np.searchsorted(self._hashes, hashes)
        is_met = np.append(self._hashes, 0)[places] == hashes
        is_met[places == len(self._hashes)] = False
        numbers = np.full(len(texts), -1, dtype=np.int32)
        numbers[order[is_met]] = self._numbers[places[is_met]]
        met = np.flatnonzero(numbers >= 0)
        differ = met[(texts.gather(met) != self._texts.gather(numbers[met])).to_numpy()]
        is_new = ~is_met
        is_new[1:] &= hashes[1:] != hashes[:-1]
        new = order[is_new]
        numbers[new] = np.arange(first, first + len(new), dtype=np.int32)
        numbers[differ] = -1
        self._hashes = np.insert(self._hashes, places[is_new], hashes[is_new])
        self._numbers = np.insert(self._numbers, places[is_new], numbers[new])
        self._extend(texts.gather(new))
        for i in np.flatnonzero(numbers < 0).tolist():
            text = texts[i]
            if text not in self._others:
                self._others[text] = len(self)
                self._extend(texts[i : i + 1])
            numbers[i] = self._others[text]
        return numbers

    def _extend(self, texts: pl.Series) -> None:
        if len(texts):
            self._texts, self._ranks = self._texts.extend(texts), None

    @property
    def texts(self) -> pl.Series:
        """The cell of each number."""
        return self._texts.clone()

    def numbers_of(self, texts: pl.Series) -> pl.Series:
        """Return the numbers of distinct texts; -1 for one that is no cell."""
        import polars as pl

        numbers = pl.Series(np.arange(len(self), dtype=np.int32))
        in_order, ranks = self.ranks()
        if texts.equals(in_order):
            return numbers.gather(np.argsort(ranks))
        return texts.replace_strict(self._texts, numbers, default=-1, return_dtype=pl.Int32)

    def ranks(self) -> tuple[pl.Series, NDArray[np.int32]]:
        """Return the distinct cells in sorted order, and the place of each number among them."""
        if self._ranks is None:
            texts = self.texts
            order = texts.arg_sort().to_numpy()
            ranks = np.empty(len(order), dtype=np.int32)
            ranks[order] = np.arange(len(order), dtype=np.int32)
            self._ranks = texts.gather(order), ranks
        return self._ranks


def _hashes(texts: pl.Series) -> NDArray[np.uint64]:
    return texts.hash().to_numpy()


class NumberedCells:
    """The cells of a file in a private folder, block by block.

    Args:
        folder: The folder.
        names: The columns of the file.
        numbered: The columns that have numbers however many distinct cells they have.
        most: How many distinct cells of these there may be; if there are more, their columns stay text, too.
    """

    def __init__(
        self, folder: Path, names: Sequence[str], numbered: Collection[str] = (), most: int | None = None
    ) -> None:
        self.columns: list[Numbering | None] = [Numbering() for _ in names]
        self.n_rows = 0
        self._folder, self._names, self._numbered, self._most = folder, names, numbered, most
        self._n_parts = 0
        self._first: list[int] = []  # of each part, the number of its first row

    def add(self, frame: pl.DataFrame) -> None:
        """Store a block of rows."""
        import polars as pl

        stored, is_too_much = {}, self._most is not None and self.n_numbered > self._most
        for i, name in enumerate(self._names):
            column, cells = self.columns[i], frame.to_series(i)
            may_be_many = name in self._numbered and not is_too_much
            if column is not None and len(column) > MOST_TEXTS and not may_be_many:
                self._to_text(i, column)
                column = self.columns[i] = None
            stored[f"c{i}"] = cells if column is None else pl.Series(column.number(cells))
        self._write(self._n_parts, pl.DataFrame(stored))
        self._n_parts += 1
        self._first.append(self.n_rows)
        self.n_rows += frame.height

    @property
    def n_numbered(self) -> int:
        """The number of distinct cells of the columns that have numbers however many they are."""
        known = dict(zip(self._names, self.columns, strict=True))
        return sum(len(column) for name in self._numbered if (column := known.get(name)) is not None)

    @property
    def beyond(self) -> list[int]:
        """The places of those of these columns that stay text, because there were too many distinct cells."""
        return [i for i, name in enumerate(self._names) if name in self._numbered and self.columns[i] is None]

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""
        import polars as pl

        texts = [None if column is None else column.texts for column in self.columns]
        for path in self.parts():
            frame = pl.read_parquet(path, glob=False)
            yield pl.DataFrame(
                {
                    name: frame.to_series(i) if known is None else known.gather(frame.to_series(i))
                    for i, (name, known) in enumerate(zip(self._names, texts, strict=True))
                }
            )

    def parts(self) -> list[Path]:
        """Return the files."""
        return [self._part(number) for number in range(self._n_parts)]

    def query(self) -> str:
        """Return the query of all rows: columns c0, c1 and so on, and the number of each row, from 0, as `line`."""
        paths = ", ".join("'" + str(path).replace("'", "''") + "'" for path in self.parts())
        part = f"regexp_extract(filename, '{PART[0]}([0-9]+){PART[1]}$', 1)::int"
        return (
            f"select * exclude (filename, file_row_number), {self._first}[{part} + 1] + file_row_number as line "
            f"from read_parquet([{paths}], hive_partitioning=false, filename=true, file_row_number=true)"
        )

    def remove(self) -> None:
        """Remove the files."""
        for path in self.parts():
            path.unlink(missing_ok=True)

    def _part(self, number: int) -> Path:
        return self._folder / f"{PART[0]}{number:05}{PART[1]}"

    def _write(self, number: int, frame: pl.DataFrame) -> None:
        with create(self._part(number)) as file:
            frame.write_parquet(file, compression="lz4", statistics=False)

    def _to_text(self, i: int, column: Numbering) -> None:
        """Give a column its texts back in the blocks that are stored already."""
        import polars as pl

        texts = column.texts
        for number, path in enumerate(self.parts()):
            frame = pl.read_parquet(path, glob=False)
            path.unlink()
            self._write(number, frame.with_columns(texts.gather(frame[f"c{i}"]).alias(f"c{i}")))
