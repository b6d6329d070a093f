"""A table of text, made from a file or a pandas, polars or pyarrow frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import InputError, Note, UsageError, join_problems, setting
from shoal.schema import NUMBERED, Dialect
from shoal.tables.header import about_numbers, number_doubles
from shoal.tables.typed_text import arrow_texts, frame_orders, frame_types, pandas_text, polars_texts

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = [
    "Factor",
    "Native",
    "RankedTable",
    "Stamp",
    "Table",
    "changed_file",
    "check_cells",
    "check_header",
    "check_names",
    "check_stamp",
    "check_width",
    "factorize",
    "from_frame",
    "make_table",
]


MOST_COLUMNS = 100_000
LONGEST_CELL = 1 << 24  # bytes


class Stamp(NamedTuple):
    """The state of a file, which shows whether it changed since it was read: size, modification time and inode."""

    size: int
    changed: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Return the current stamp of a file."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


def check_stamp(path: Path, stamp: Stamp | None) -> None:
    """Raise an InputError if a file changed since it was read; do nothing if there is no stamp."""
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
    """A column as ranks.

    Attributes:
        ranks: For each row, the index of its cell in `texts`.
        texts: The distinct cells, sorted.
    """

    ranks: NDArray[np.int32]
    texts: pl.Series

    def cells(self) -> pl.Series:
        """Return the cell of each row."""
        return self.texts.gather(self.ranks)


@dataclass(frozen=True)
class Native:
    """The frame that a table was made from.

    Attributes:
        frame: The frame.
        library: Its library: "pandas", "polars" or "pyarrow".
    """

    frame: Any
    library: str


@dataclass(frozen=True)
class Table:
    """Columns of text and their origin.

    Attributes:
        frame: The cells; a missing cell is the empty text.
        path: The file; None for a frame.
        dialect: How a CSV file is written.
        native: The frame that the table was made from; None for a file.
        notes: What was detected or noticed when the table was read.
        stamp: The state of the file when it was read.
        sheet: The sheet of a workbook that was read.
        types: By column, its type in polars, if that is known; a column without one is text.
        weights: If the rows are the distinct rows of a counted table, how often each occurs there; otherwise None.
        header: The names of all columns of the file, if only some of them were read; otherwise empty.
        first_rows: The row (from 0) of the file in which each distinct row occurs first, if that is known.
        orders: By column of ordered categories, their order, lowest first.
    """

    frame: pl.DataFrame
    path: Path | None = None
    dialect: Dialect | None = None
    native: Native | None = None
    notes: tuple[Note, ...] = ()
    stamp: Stamp | None = None
    sheet: str | None = None
    types: Mapping[str, Any] = field(default_factory=dict, compare=False)
    weights: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    header: tuple[str, ...] = ()
    first_rows: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _factors: dict[str, Factor] = field(default_factory=dict, repr=False, compare=False)

    def factor(self, name: str) -> Factor:
        """Return a column as ranks; the result is cached."""
        if name not in self._factors:
            self._factors[name] = factorize(self.frame[name])
        return self._factors[name]

    def group_sizes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of rows with each combination of cells in these columns, sorted by combination."""
        import numpy as np

        key = self.group_keys(names)
        if self.weights is None:
            return np.unique(key, return_counts=True)[1].astype(np.int64)
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        return np.add.reduceat(self.weights[order], starts)

    def group_labels(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return for each row the index of its combination of cells in these columns, in the order of `group_sizes`."""
        import numpy as np

        return np.unique(self.group_keys(names), return_inverse=True)[1].astype(np.int64)

    def group_keys(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return a key for each row; keys compare like the combinations of cells in these columns."""
        import numpy as np

        from shoal.tables.sorting import pack

        if not names:
            return np.zeros(self.height, dtype=np.int64)
        factors = [self.factor(name) for name in names]
        return pack([factor.ranks for factor in factors], [len(factor.texts) for factor in factors])[0]

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return the number of rows with each distinct cell of a column, in the order of `factor(name).texts`."""
        import numpy as np

        ranks, texts = self.factor(name)
        if self.weights is None:
            return np.bincount(ranks, minlength=len(texts)).astype(np.int64)
        counts = np.zeros(len(texts), dtype=np.int64)
        np.add.at(counts, ranks, self.weights)
        return counts

    def part(self, rows: NDArray[np.int64]) -> Table:
        """Return some rows as a table of the same origin."""
        native = self.native
        if native is not None:
            frame = native.frame
            taken = (
                frame.iloc[rows] if native.library == "pandas" else frame[rows] if native.library == "polars" else None
            )
            native = Native(frame.take(rows) if taken is None else taken, native.library)
        return replace(self, frame=self.frame[rows], native=native, _factors={})

    def check_unchanged(self) -> None:
        """Raise an InputError if the file changed since it was read."""
        if self.path is not None:
            check_stamp(self.path, self.stamp)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.height if self.weights is None else int(self.weights.sum())

    @property
    def height(self) -> int:
        """Number of rows of the frame, which are the distinct ones of a counted table."""
        return self.frame.height

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.frame.columns)

    @property
    def known_names(self) -> tuple[str, ...]:
        """Names of the columns, then of those that were not read."""
        return tuple(dict.fromkeys((*self.names, *self.header)))


class RankedTable(Table):
    """A table that keeps its columns as ranks, which need a fraction of the memory of texts.

    Its frame is made anew whenever it is asked for.
    """

    def __init__(
        self,
        factors: Mapping[str, Factor],
        weights: NDArray[np.int64] | None = None,
        notes: tuple[Note, ...] = (),
        dialect: Dialect | None = None,
    ) -> None:
        """Make a table of columns; weights, notes and dialect are those of `Table`."""
        known: dict[str, Any] = {"_factors": dict(factors), "types": {}, "orders": {}}
        known |= {"weights": weights, "notes": notes, "dialect": dialect}
        for name, each in known.items():
            object.__setattr__(self, name, each)

    @property
    def frame(self) -> pl.DataFrame:
        """The cells."""
        import polars as pl

        return pl.DataFrame({name: factor.cells() for name, factor in self._factors.items()})

    @property
    def height(self) -> int:
        """Number of rows of the frame."""
        return len(next(iter(self._factors.values())).ranks) if self._factors else 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._factors)

    def part(self, rows: NDArray[np.int64]) -> Table:
        """Return some rows as a table of the same origin."""
        factors = {name: Factor(factor.ranks[rows], factor.texts) for name, factor in self._factors.items()}
        weights = None if self.weights is None else self.weights[rows]
        return RankedTable(factors, weights, self.notes, self.dialect)


def from_frame(frame: Any, *, numbered: bool = False) -> Table:
    """Make a table from a pandas, polars or pyarrow frame.

    Args:
        frame: The frame. Every cell becomes text, and a missing value of any kind becomes the empty text.
        numbered: Whether columns that share a name are numbered: a, a_2, a_3.

    Returns:
        The table, which remembers the frame.

    Raises:
        UsageError: If the argument is not such a frame.
        InputError: If the frame has no rows, or a column that cannot become text.
    """
    library = type(frame).__module__.split(".")[0]
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if not hasattr(frame, "columns") or library not in ("pandas", "polars", "pyarrow"):
        raise UsageError(
            f"a table of type {type(frame).__name__} is not supported. Pass a pandas, polars or pyarrow frame, "
            "or read a file with shoal.read_table."
        )
    frame, notes = _number(frame, library) if numbered else (frame, [])
    if library == "polars":
        columns = polars_texts(frame)
    elif library == "pandas":
        if getattr(frame.columns, "nlevels", 1) > 1:
            raise UsageError(
                f"the column names of the frame have {frame.columns.nlevels} levels. Give each column a single name: "
                "frame.columns = ['_'.join(map(str, name)) for name in frame.columns]."
            )
        check_names([str(name) for name in frame.columns], "frame")
        columns = {str(name): pandas_text(frame.iloc[:, i], str(name)) for i, name in enumerate(frame.columns)}
    else:
        if not hasattr(frame, "column_names"):
            raise UsageError(f"a pyarrow {type(frame).__name__} is not supported. Pass a pyarrow Table.")
        check_names(frame.column_names, "frame")
        columns = arrow_texts(frame)
    facts = {"types": frame_types(frame, library), "orders": frame_orders(frame, library)}
    table = make_table(columns, "frame", native=Native(frame, library), notes=tuple(notes), **facts)
    if table.n_rows == 0:
        raise InputError("the frame has no data rows.")
    return table


def _number(frame: Any, library: str) -> tuple[Any, list[Note]]:
    """Number the columns of a frame that share a name; those of polars never do."""
    if library == "polars" or not hasattr(frame, "column_names" if library == "pyarrow" else "iloc"):
        return frame, []
    before = list(frame.column_names if library == "pyarrow" else map(str, frame.columns))
    after = number_doubles(before)
    notes = about_numbers("frame", before, after)
    if not notes:
        return frame, []
    return frame.rename_columns(list(after)) if library == "pyarrow" else frame.set_axis(after, axis=1), notes


def make_table(columns: dict[str, pl.Series], place: str, **fields: Any) -> Table:
    """Make a table from columns of text that do not come from a CSV file.

    Args:
        columns: The columns by name.
        place: The frame or file, for messages.
        **fields: Other fields of `Table`.

    Raises:
        InputError: If names are missing or duplicate, or a cell contains a NUL character.
    """
    import polars as pl

    notes = check_names(list(columns), place)
    check_cells(columns.values(), place)
    for name, column in columns.items():
        if column.str.contains("\0", literal=True).any():
            raise InputError(
                f"{place}: column {name!r} contains a NUL character, which text files cannot contain. Remove it."
            )
    return Table(pl.DataFrame(columns), notes=(*fields.pop("notes", ()), *notes), **fields)


def factorize(series: pl.Series) -> Factor:
    """Return a column as ranks of its distinct cells."""
    import numpy as np
    import polars as pl

    texts = series.unique().sort()
    return Factor(series.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int32), texts)


def check_width(n_columns: int, place: str) -> None:
    """Raise an InputError if a table has more columns than any table has."""
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"{place}: {n_columns:,} columns; at most {MOST_COLUMNS:,} are possible. Look for a wrong delimiter."
        )


def check_cells(columns: Iterable[pl.Series], place: str) -> None:
    """Raise an InputError if a cell is longer than any cell is; the columns are counted from 1."""
    for number, column in enumerate(columns, start=1):
        if len(column) and int(column.str.len_bytes().max() or 0) > LONGEST_CELL:  # type: ignore[arg-type]
            raise InputError(
                f"{place}: column {number} has a cell of more than {LONGEST_CELL >> 20} MB. Look for a quote that is "
                "never closed, or leave the column out."
            )


def check_header(names: Iterable[str], place: str) -> None:
    """Raise an InputError if a column has no name or two columns have the same name."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(position)
    problems = []
    if "" in positions:
        where = ", ".join(map(str, positions.pop("")))
        problems.append(f"{place}: the column at position {where} has no name. Name every column in the first line.")
    for places in positions.values():
        if len(places) > 1:
            where = ", ".join(map(str, places))
            problems.append(
                f"{place}: columns {where} have the same name. Give each column its own name, or number them with "
                f"{setting('duplicate_columns', NUMBERED)}."
            )
    if problems:
        raise InputError(join_problems(problems))


def check_names(names: list[str], place: str) -> list[Note]:
    """Check the names as `check_header` does; return a note if some of them differ only in case."""
    check_header(names, place)
    folded = Counter(name.casefold() for name in names)
    alike = [name for name in names if folded[name.casefold()] > 1]
    return [Note("", f"column names {', '.join(map(repr, alike))} differ only in case")] if alike else []
