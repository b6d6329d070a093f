"""The layout of a release that is read block by block: the columns that a file represents.

Groups are counted on what the file shows; what a cell means is read from the column that it represents.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.schema import INPUT, Column, Schema
from shoal.verification.cells.marks import OtherMark
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks
from shoal.verification.reading.layout import layout_violations, needs_quote, spread_names
from shoal.verification.verdict import Violation

__all__ = ["LaidBlocks", "LaidColumn", "Layout"]

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Layout:
    """How a release shows the columns that it represents; see `gate_dealt`."""

    bounds: frozenset[str] = frozenset()
    spreadsheet_safe: bool = False
    delimiter: str = ","
    decimal: str = INPUT
    center: str | None = None
    spread: bool = False

    def followed(self, schema: Schema) -> list[str]:
        """Return the columns that are followed by their spread."""
        return [column.name for column in schema.qi if self.spread]


@dataclass
class LaidColumn:
    """A column that a file represents.

    Attributes:
        name: Its name.
        places: The columns of the file in its place: one, or two bounds.
        spread: The column of the file with its spread; None if there is none.
        shown: Its cells.
    """

    name: str
    places: list[int]
    spread: int | None = None
    shown: BlockColumn = field(default_factory=BlockColumn)

    @property
    def all_places(self) -> list[int]:
        """All columns of the file that belong to it."""
        return [*self.places, *([] if self.spread is None else [self.spread])]


class LaidBlocks:
    """A released file as blocks of the columns that it represents.

    Args:
        table: The file.
        bounds: The columns that are written as NAME_min and NAME_max.
        safe: Whether a quote precedes every cell or name that a spreadsheet would take for a formula.
        mark: The decimal mark of the file, if it is not that of the original.
        spread: The columns that are followed by NAME_sd or NAME_share.
    """

    def __init__(
        self,
        table: CodedBlocks,
        bounds: Iterable[str] = (),
        safe: bool = False,
        mark: OtherMark | None = None,
        spread: Iterable[str] = (),
    ) -> None:
        self.table, self._bounds, self._safe = table, frozenset(bounds), safe
        self._mark, self._spread = mark, frozenset(spread)
        self._columns: list[LaidColumn] | None = None
        self._header: list[str] = []
        self._restored: dict[int, BlockColumn] = {}  # by column of the file, its cells without quotes and other marks
        self._epochs: dict[str, tuple[int, ...]] = {}
        self._wrong: dict[str, int] = {}  # by column, the distinct cells with a mark that is not that of the file
        self._n_risky = self._n_quoted = 0

    @property
    def columns(self) -> list[LaidColumn]:
        """The columns, known once the first block was read. One that is not laid out correctly keeps its name."""
        if self._columns is None:
            self._columns = self._find()
        return self._columns

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [column.name for column in self.columns]

    def read(self, block: Sequence[Codes]) -> list[tuple[BlockColumn, Codes]]:
        """Return the columns for the next rows of the file."""
        read = []
        for column in self.columns:
            parts = [(self._restore(i, column.name), block[i]) for i in column.places]
            read.append(parts[0] if len(parts) == 1 else self._merged(column, parts))
        if self._safe:
            for column in self.columns:
                if column.spread is not None:
                    self._restore(column.spread, "")
        return read

    def violations(self) -> list[Violation]:
        """Return what is wrong with quotes and decimal marks, after all rows were read."""
        return layout_violations(self._n_risky, self._n_quoted, self._wrong, "distinct cell")

    def spread_violations(self, columns: Iterable[Column]) -> list[Violation]:
        """Return the columns that are not followed by the spread that belongs to them."""
        found = {each.name: "" if each.spread is None else self._header[each.spread] for each in self.columns}
        texts = []
        for column in columns:
            of_numbers, of_categories = spread_names(column.name)
            expected = of_numbers if column.kind in ("numeric", "date") else of_categories
            if column.name in self._spread and found.get(column.name) != expected:
                texts.append(f"{expected!r} does not follow {column.name!r}")
        return [Violation("columns", text) for text in texts]

    @property
    def closed(self) -> Container[str]:
        """The columns whose ranges are written as two bounds."""
        return self._bounds

    def _find(self) -> list[LaidColumn]:
        header = self._header = self._bare(self.table.names) if self._safe else self.table.names
        columns: list[LaidColumn] = []
        place = 0
        while place < len(header):
            last = columns[-1] if columns else None
            is_followed = last is not None and last.spread is None and last.name in self._spread
            if last is not None and is_followed and header[place] in spread_names(last.name):
                last.spread = place
                place += 1
                continue
            name = header[place].removesuffix("_min")
            is_pair = name in self._bounds and header[place : place + 2] == [f"{name}_min", f"{name}_max"]
            columns.append(LaidColumn(name, [place, place + 1]) if is_pair else LaidColumn(header[place], [place]))
            place += 1 + is_pair
        return columns

    def _restore(self, place: int, name: str) -> BlockColumn:
        """Return a column of the file without escaping quotes and with the marks of the original; codes stay."""
        column = self.table.columns[place]
        if not self._safe and self._mark is None:
            return column
        shown = self._restored.setdefault(place, BlockColumn())
        if shown.epoch != column.epoch:
            shown.texts, shown.epoch = [], column.epoch
        new: Sequence[str] = column.texts[len(shown.texts) :]
        if self._safe:
            new = self._bare(new)
        if self._mark is not None and name:
            new, wrong = self._mark.restored(name, new)
            if wrong:
                self._wrong[name] = self._wrong.get(name, 0) + len(wrong)
        shown.texts += new
        return shown

    def _bare(self, cells: Sequence[str]) -> list[str]:
        """Remove the escaping quotes of cells; count the cells that are not escaped as they should be."""
        texts = []
        for cell in cells:
            is_escaped = cell[:1] == "'" and needs_quote(cell[1:])
            if not is_escaped and needs_quote(cell):
                self._n_quoted += cell[0] == "'"
                self._n_risky += cell[0] != "'"
            texts.append(cell[1:] if is_escaped else cell)
        return texts

    def _merged(self, column: LaidColumn, parts: Sequence[tuple[BlockColumn, Codes]]) -> tuple[BlockColumn, Codes]:
        """Merge two columns of bounds into one of ranges; equal bounds are a single value."""
        (low, lows), (high, highs) = parts
        epochs = low.epoch, high.epoch
        if self._epochs.setdefault(column.name, epochs) != epochs:
            self._epochs[column.name] = epochs
            column.shown.forget()
        pairs, places = np.unique(lows.astype(np.int64) << 32 | highs, return_inverse=True)
        bounds = [(low.texts[pair >> 32], high.texts[pair & 0xFFFFFFFF]) for pair in pairs.tolist()]
        texts = [least if least == greatest else f"[{least}, {greatest}]" for least, greatest in bounds]
        return column.shown, column.shown.code(texts)[places]
