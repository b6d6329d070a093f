"""A table as text: read from a CSV file or taken from a pandas, polars or pyarrow frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import InputError, Note, UsageError, join_problems
from shoal.schema import Dialect
from shoal.tables.typed_text import arrow_texts, pandas_text, polars_texts

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = [
    "Factor",
    "Native",
    "Stamp",
    "Table",
    "changed_file",
    "check_header",
    "check_names",
    "check_stamp",
    "factorize",
    "from_frame",
    "make_table",
]


class Stamp(NamedTuple):
    """What tells that a file is still the one that was read: its size, time of change and inode."""

    size: int
    changed: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Take the stamp of a file."""
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


def check_stamp(path: Path, stamp: Stamp | None) -> None:
    """Raise an InputError if a file no longer has the stamp that it had when it was read."""
    if stamp is None:
        return
    try:
        current = Stamp.of(path)
    except OSError:
        raise InputError(f"{path}: the file disappeared after it was read. Run again when it is back.") from None
    if current != stamp:
        raise changed_file(path)


def changed_file(path: Path) -> InputError:
    """Return the error for a file that changed after it was read."""
    return InputError(f"{path}: the file changed after it was read. Run again when nothing writes to it.")


class Factor(NamedTuple):
    """A column as ranks: the distinct cells in order, and the index among them of each row's cell."""

    ranks: NDArray[np.int32]
    texts: pl.Series


@dataclass(frozen=True)
class Native:
    """The frame that a table was made from, and the library that it belongs to."""

    frame: Any
    library: str  # "pandas", "polars" or "pyarrow"


@dataclass(frozen=True)
class Table:
    """Columns of text (a missing cell is the empty text), with the place they came from.

    notes: what was guessed or noticed on reading, for the user to see. stamp: the state of the file when it was read.
    sheet: the sheet of a workbook that was read. weights: where the rows are distinct ones of a table that was counted,
    how many of its rows each one stands for.
    """

    frame: pl.DataFrame
    path: Path | None = None
    dialect: Dialect | None = None
    native: Native | None = None
    notes: tuple[Note, ...] = ()
    stamp: Stamp | None = None
    sheet: str | None = None
    weights: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    _factors: dict[str, Factor] = field(default_factory=dict, repr=False, compare=False)

    def factor(self, name: str) -> Factor:
        """Return a column as ranks; worked out once."""
        if name not in self._factors:
            self._factors[name] = factorize(self.frame[name])
        return self._factors[name]

    def group_sizes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return how many rows share each combination of cells of these columns, in order of the combination."""
        import numpy as np

        key = self._keys(names)
        if self.weights is None:
            return np.unique(key, return_counts=True)[1].astype(np.int64)
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        return np.add.reduceat(self.weights[order], starts)

    def group_labels(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each row's combination of cells of these columns, in the order of group_sizes."""
        import numpy as np

        return np.unique(self._keys(names), return_inverse=True)[1].astype(np.int64)

    def _keys(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return a number for each row, equal and ordered as its combination of cells is."""
        import numpy as np

        from shoal.tables.sorting import pack

        if not names:
            return np.zeros(self.frame.height, dtype=np.int64)
        factors = [self.factor(name) for name in names]
        return pack([factor.ranks for factor in factors], [len(factor.texts) for factor in factors])[0]

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return how many rows have each distinct cell of a column, in the order of factor(name).texts."""
        import numpy as np

        ranks, texts = self.factor(name)
        if self.weights is None:
            return np.bincount(ranks, minlength=len(texts)).astype(np.int64)
        counts = np.zeros(len(texts), dtype=np.int64)
        np.add.at(counts, ranks, self.weights)
        return counts

    def check_unchanged(self) -> None:
        """Raise an InputError if the file changed since it was read."""
        if self.path is not None:
            check_stamp(self.path, self.stamp)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.height if self.weights is None else int(self.weights.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.frame.columns)


def from_frame(frame: Any) -> Table:
    """Take a pandas, polars or pyarrow frame; every cell becomes text, missing ones of any sort the empty text."""
    library = type(frame).__module__.split(".")[0]
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if not hasattr(frame, "columns") or library not in ("pandas", "polars", "pyarrow"):
        raise UsageError(
            f"a table of type {type(frame).__name__} cannot be taken. Give a pandas, polars or pyarrow frame, "
            "or read a file with shoal.read_table."
        )
    if library == "polars":
        columns = polars_texts(frame)
    elif library == "pandas":
        if getattr(frame.columns, "nlevels", 1) > 1:
            raise UsageError(
                f"the frame's columns have names of {frame.columns.nlevels} levels. Give each column one name: "
                "frame.columns = ['_'.join(map(str, name)) for name in frame.columns]."
            )
        check_names([str(name) for name in frame.columns], "frame")
        columns = {str(name): pandas_text(frame.iloc[:, i], str(name)) for i, name in enumerate(frame.columns)}
    else:
        if not hasattr(frame, "column_names"):
            raise UsageError(f"a pyarrow {type(frame).__name__} cannot be taken. Give a pyarrow Table.")
        check_names(frame.column_names, "frame")
        columns = arrow_texts(frame)
    taken = make_table(columns, "frame", native=Native(frame, library))
    if taken.n_rows == 0:
        raise InputError("the frame has no data rows.")
    return taken


def make_table(columns: dict[str, pl.Series], place: str, **more: Any) -> Table:
    """Make a table of columns of text that did not come from CSV; place: the frame or file, for messages."""
    import polars as pl

    notes = check_names(list(columns), place)
    for name, column in columns.items():
        if column.str.contains("\0", literal=True).any():
            raise InputError(f"{place}: column {name!r} holds a NUL character. Remove it; no text file can hold one.")
    return Table(pl.DataFrame(columns), notes=(*more.pop("notes", ()), *notes), **more)


def factorize(series: pl.Series) -> Factor:
    """Return a column as ranks among its distinct cells."""
    import numpy as np
    import polars as pl

    texts = series.unique().sort()
    ranks = pl.Series(np.arange(len(texts), dtype=np.int32))
    return Factor(series.replace_strict(texts, ranks, return_dtype=pl.Int32).to_numpy(), texts)


def check_header(names: Iterable[str], place: str) -> None:
    """Refuse columns without a name and duplicate names."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(position)
    problems = []
    if "" in positions:
        where = ", ".join(map(str, positions.pop("")))
        problems.append(f"{place}: the column at position {where} has no name. Name every column in the first line.")
    for name, where_all in positions.items():
        if len(where_all) > 1:
            where = ", ".join(map(str, where_all))
            problems.append(
                f"{place}: column name {name!r} stands at positions {where}. Give each column its own name."
            )
    if problems:
        raise InputError(join_problems(problems))


def check_names(names: list[str], place: str) -> list[Note]:
    """Refuse duplicate names; note names that differ only in case."""
    check_header(names, place)
    folded = Counter(name.casefold() for name in names)
    alike = [name for name in names if folded[name.casefold()] > 1]
    return [Note("", f"column names {', '.join(map(repr, alike))} differ only in case")] if alike else []
