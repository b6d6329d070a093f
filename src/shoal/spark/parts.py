"""Sorted rows as files, one for each task, in the canonical form that the verifier reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.spark.jobs import batches
from shoal.tables.formats.columnar import sink_parquet
from shoal.tables.formats.sniff import Format, suffix_of
from shoal.tables.formats.writers import create

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["Part", "Rendering", "Stated", "join_parts", "stored_rows", "write_parts"]


@dataclass(frozen=True)
class Rendering:
    """How sorted rows become cells.

    Attributes:
        names: The names of the released columns.
        columns: The columns of the sorted frame that hold them: texts, or numbers of texts.
        texts: By column of numbers, the texts.
        sources: The columns of numbers that say what each row was made from; see `Dealer.witness`.
        delimiter: The separator of cells in a CSV file.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    texts: Mapping[str, pl.Series] = field(default_factory=dict, repr=False)
    sources: tuple[str, ...] = ()
    delimiter: str = ","

    def cells(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the released cells of some rows."""
        import polars as pl

        picked = zip(self.names, self.columns, strict=True)
        return pl.DataFrame([self.text(frame, column).alias(name) for name, column in picked])

    def text(self, frame: pl.DataFrame, column: str) -> pl.Series:
        """Return a column as text."""
        return self.texts[column].gather(frame[column]) if column in self.texts else frame[column]


@dataclass(frozen=True, order=True)
class Part:
    """A file that a task wrote.

    Attributes:
        number: Its place among the parts.
        name: Its name, which no other attempt of the task has.
        rows: The number of its rows.
    """

    number: int
    name: str
    rows: int


def write_parts(rows: DataFrame, rendering: Rendering, folder: Path, form: Format) -> list[Part]:
    """Have tasks write their sorted rows to files of a folder that all of them can reach.

    Every attempt of a task writes a file of its own. The parts returned are those of the attempts that count; others
    may be there, too, if Spark ran a task twice.

    Args:
        rows: The rows, sorted.
        rendering: How they become cells.
        folder: The folder.
        form: CSV or Parquet.

    Returns:
        The parts that have rows, in order.
    """

    def write(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        name = f"part-{task.partitionId():05}-{task.taskAttemptId()}"
        n_rows = _write_part(given, rendering, folder / name, form)
        facts = {"number": [task.partitionId()], "name": [name + suffix_of(form)], "rows": [n_rows]}
        yield from batches([pl.DataFrame(facts)] if n_rows else [])

    written = rows.mapInArrow(write, "number bigint, name string, rows bigint").toArrow().to_pylist()
    return sorted(Part(**row) for row in written)


def _write_part(given: Iterable[Any], rendering: Rendering, path: Path, form: Format) -> int:
    import polars as pl
    import pyarrow as pa

    plain, stored, n_rows, writer = path.with_suffix(".csv"), path.with_suffix(".arrow"), 0, None
    bare = len(rendering.names) > 1  # in a table of one column, a bare empty cell would be a blank line
    with create(plain) as file, create(stored) as beside:
        for batch in given:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            cells = rendering.cells(frame)
            cells = cells.with_columns(pl.all().replace("", None)) if bare else cells
            is_first, separator = n_rows == 0, rendering.delimiter
            cells.write_csv(file, include_header=is_first, quote_style="necessary", separator=separator)
            n_rows += frame.height
            if rendering.sources:
                sources = pa.RecordBatch.from_arrays(
                    [batch.column(name) for name in rendering.sources], names=list(rendering.sources)
                )
                writer = writer or pa.ipc.new_stream(beside, sources.schema)
                writer.write_batch(sources)
        if writer is not None:
            writer.close()
    if not n_rows or not rendering.sources:
        stored.unlink()
    if not n_rows:
        plain.unlink()
    elif form is Format.PARQUET:
        sink_parquet(plain, path.with_suffix(suffix_of(form)))
        plain.unlink()
    return n_rows


class Stated:
    """What the rows of a part were made from, as the verifier asks for it.

    Attributes:
        texts: The distinct cells of each column met so far; more follow with every block.
    """

    def __init__(self, folder: Path, part: str, rendering: Rendering) -> None:
        self._path = folder / f"{os.path.splitext(part)[0]}.arrow"
        self._rendering, self._is_whole = rendering, "g" in rendering.sources
        self.texts: list[list[str]] = []
        for name in rendering.sources:
            if name != "g":
                # Centres are compared with all cells of the source.
                is_known = self._is_whole and name in rendering.texts
                self.texts.append(rendering.texts[name].to_list() if is_known else [])

    @property
    def chunks(self) -> Iterator[list[NDArray[Any]]]:
        """Blocks of rows: the places of their cells, column by column; with centres, then the numbers of groups."""
        names, texts = self._rendering.sources, self._rendering.texts
        numbers: list[_Places | _TextPlaces | _Numbers] = []
        for name, known in zip(names, [*self.texts, *([[]] if self._is_whole else [])], strict=True):
            if name == "g" or (self._is_whole and name in texts):
                numbers.append(_Numbers())
            else:
                numbers.append(_Places(known, texts[name]) if name in texts else _TextPlaces(known))
        for frame in _stored(self._path):
            yield [own.of(frame[name]) for name, own in zip(names, numbers, strict=True)]

    @property
    def left_out(self) -> Iterator[Any]:
        """Nothing: rows that are left out are in no part."""
        return iter(())


class _Numbers:
    """Numbers that are places already."""

    def of(self, cells: pl.Series) -> NDArray[Any]:
        """Return the numbers."""
        return cells.to_numpy()


class _Places:
    """Places of cells among those that were met; known: these, which grow. Cells are numbers of texts."""

    def __init__(self, known: list[str], texts: pl.Series) -> None:
        self._known, self._texts = known, texts
        self._places = np.full(len(texts), -1, dtype=np.int32)

    def of(self, cells: pl.Series) -> NDArray[np.int32]:
        """Return the places of some cells."""
        codes, places, known = cells.to_numpy(), self._places, self._known
        new = np.unique(codes)
        new = new[places[new] < 0]
        places[new] = np.arange(len(known), len(known) + len(new), dtype=np.int32)
        known += self._texts.gather(new).to_list()
        found: NDArray[np.int32] = places[codes]
        return found


class _TextPlaces:
    """The same of cells that are texts."""

    def __init__(self, known: list[str]) -> None:
        self._known = known
        self._place_of: dict[str, int] = {}

    def of(self, cells: pl.Series) -> NDArray[np.int32]:
        """Return the places of some cells."""
        import polars as pl

        texts = cells.unique()
        for text in texts.to_list():
            if self._place_of.setdefault(text, len(self._known)) == len(self._known):
                self._known.append(text)
        places = pl.Series([self._place_of[text] for text in texts.to_list()], dtype=pl.Int32)
        found: NDArray[np.int32] = cells.replace_strict(texts, places, return_dtype=pl.Int32).to_numpy()
        return found


def stored_rows(folder: Path, parts: Sequence[Part]) -> Iterator[pl.DataFrame]:
    """Yield what the rows of parts were made from, as it is stored beside them."""
    for part in parts:
        yield from _stored(folder / f"{os.path.splitext(part.name)[0]}.arrow")


def _stored(path: Path) -> Iterator[pl.DataFrame]:
    import polars as pl
    import pyarrow as pa

    with open(path, "rb") as file, pa.ipc.open_stream(file) as stream:
        for batch in stream:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame


def join_parts(folder: Path, parts: Sequence[Part], path: Path) -> None:
    """Copy the parts, which are CSV, to one file."""
    import shutil

    with create(path) as whole:
        for number, part in enumerate(parts):
            with open(folder / part.name, "rb") as file:
                if number:
                    _skip_header(file)
                shutil.copyfileobj(file, whole, 1 << 20)


def _skip_header(file: Any) -> None:
    """Read the first record, whose names may contain line feeds in quotes."""
    line = file.readline()
    while line.count(b'"') % 2:
        line += file.readline()
