"""A table as text: read from a CSV file or taken from a pandas, polars or pyarrow frame."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.dialect import detect, numbered_names
from shoal.errors import FileError, InputError, InternalError, UsageError, join_problems
from shoal.schema import Dialect
from shoal.texts import arrow_texts, pandas_text, polars_texts

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Factor", "Native", "Stamp", "Table", "factorize", "from_frame", "parse_csv", "read_bytes", "read_csv"]

# Texts may begin like this, and polars takes it for bytes that zlib has packed.
PACKED = (b"x\x01", b"x\xda")


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
    notes: tuple[str, ...] = ()
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

        key, n_keys = np.zeros(self.frame.height, dtype=np.int64), 1
        for name in names:
            factor = self.factor(name)
            if n_keys * len(factor.texts) >= 2**62:  # the product of the ranks would not fit
                _, key = np.unique(key, return_inverse=True)
                n_keys = self.frame.height
            key = key * len(factor.texts) + factor.ranks
            n_keys *= len(factor.texts)
        return key

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
        """Raise an InputError if the file is no longer the one that was read."""
        if self.path is None or self.stamp is None:
            return
        try:
            now = Stamp.of(self.path)
        except OSError:
            raise InputError(f"{self.path}: the file went away after it was read. Run again when it is back.") from None
        if now != self.stamp:
            raise InputError(f"{self.path}: the file changed after it was read. Run again when nothing writes to it.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.height if self.weights is None else int(self.weights.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.frame.columns)


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a CSV file, every cell as text; delimiter, encoding and header are told from the file unless given.

    The bytes are checked against RFC 4180 first: a ragged row, an open quote or a byte that is not text is an
    InputError with its line, never a guess.
    """
    path = Path(path)
    raw, stamp = read_bytes(path)
    return parse_csv(raw, path, stamp, delimiter=delimiter, encoding=encoding, header=header)


def parse_csv(
    raw: bytes, path: Path, stamp: Stamp, *, delimiter: str | None, encoding: str | None, header: bool | None
) -> Table:
    """Make a table of the bytes of a CSV file; path and stamp are those of the file that they came from."""
    text, encoding_found = _decode(raw, encoding, path)
    del raw
    dialect = detect(text[:1_000_000], len(text) <= 1_000_000, delimiter=delimiter, header=header, place=str(path))
    dialect = replace(dialect, encoding=encoding_found)
    frame, blank = _parse(text, dialect, path)
    notes = [f"{path}: {dialect.describe()}"]
    if blank:
        notes.append(f"{path}: {blank} blank line{'s' * (blank > 1)} skipped")
    notes += check_names(frame.columns, str(path))
    return Table(frame, path=path, dialect=dialect, notes=tuple(notes), stamp=stamp)


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


def check_file(path: Path) -> Stamp:
    """Return the stamp of a regular file that is there, else raise a FileError."""
    try:
        if not path.exists():
            raise FileError(f"{path}: no such file.")
        if not path.is_file():
            raise FileError(f"{path}: not a regular file. Give the path of a table.")
        return Stamp.of(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def read_bytes(path: Path) -> tuple[bytes, Stamp]:
    """Return the content of a file and the stamp that it had; a file that changes meanwhile is an InputError."""
    stamp = check_file(path)
    try:
        raw = path.read_bytes()
        after = Stamp.of(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    if stamp != after or len(raw) != stamp.size:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    return raw, stamp


BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def _decode(raw: bytes, encoding: str | None, path: Path) -> tuple[bytes, str]:
    """Return the text as UTF-8 without byte order mark, and the name of the encoding."""
    if encoding is None:
        for mark, name in BYTE_ORDER_MARKS.items():
            if raw.startswith(mark):
                raise InputError(f"{path}: the file begins like {name}. Say so with --encoding {name}.")
    try:
        if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
            raw = raw.removeprefix(b"\xef\xbb\xbf")
            if not raw.isascii():
                raw.decode("utf-8")
            return raw, "utf-8"
        return raw.decode(encoding).removeprefix("\ufeff").encode(), encoding
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Common ones: utf-8, cp1252, latin-1, utf-16.") from None
    except UnicodeDecodeError as error:
        cure = "Name the file's encoding with --encoding (cp1252 is common)" if encoding is None else "Try another"
        raise InputError(f"{path}: byte {error.start} is not {encoding or 'utf-8'} ({error.reason}). {cure}.") from None


def _parse(text: bytes, dialect: Dialect, path: Path) -> tuple[pl.DataFrame, int]:
    frame, blank = parse_records(text, dialect, path)
    if frame.height <= dialect.header:
        raise InputError(f"{path}: no data rows.")
    names = take_names(frame, dialect, path)
    frame = frame.slice(1) if dialect.header else frame
    return frame.rename(dict(zip(frame.columns, names, strict=True))), blank


def take_names(frame: pl.DataFrame, dialect: Dialect, path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a file from its first records."""
    if not dialect.header:
        return numbered_names(frame.width)
    _check_header(frame.row(0), str(path))
    return tuple(frame.row(0))


def parse_records(
    text: bytes, dialect: Dialect, path: Path, *, lines_before: int = 0, width: int = 0
) -> tuple[pl.DataFrame, int]:
    """Return the records of CSV text, a header among them, and the number of blank lines.

    lines_before: lines of the file before this text. width: cells of the file's first record, where it stands there.
    """
    import numpy as np
    import polars as pl

    import shoal.kernels.csv_scan as csv_scan

    plain = bytearray(len(text) + 1)
    found = np.zeros(11, dtype=np.int64)
    csv_scan.scan_csv(text, ord(dialect.delimiter), dialect.initial_space, plain, found)
    if width and found[csv_scan.RECORDS] and found[csv_scan.FIELDS] != width:
        found[csv_scan.RAGGED] = found[csv_scan.RECORDS] - found[csv_scan.RAGGED]
        found[csv_scan.RAGGED_LINE], found[csv_scan.RAGGED_FIELDS] = 1, found[csv_scan.FIELDS]
        found[csv_scan.FIELDS] = width
    for line in ("RAGGED_LINE", "OPEN_QUOTE", "STRAY_QUOTE", "NUL", "LONE_CR"):
        found[getattr(csv_scan, line)] += lines_before * (found[getattr(csv_scan, line)] > 0)
    _refuse_malformed(found.tolist(), dialect, path)
    n_records = int(found[csv_scan.RECORDS])
    columns = [str(i) for i in range(width or found[csv_scan.FIELDS])]
    if not n_records:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), int(found[csv_scan.BLANK])
    content = bytes(memoryview(plain)[: found[csv_scan.LENGTH]])
    if looks_packed := content.startswith(PACKED):  # one record more, before what polars would unpack
        content = b'""' + dialect.delimiter.encode() * (len(columns) - 1) + b"\n" + content
    frame = pl.read_csv(
        content, has_header=False, separator=dialect.delimiter, infer_schema=False, new_columns=columns
    ).slice(int(looks_packed))
    if frame.height != n_records:
        raise InternalError(f"{path}: {n_records} records were scanned but {frame.height} read.")
    return frame.select(pl.all().fill_null("")), int(found[csv_scan.BLANK])


def _refuse_malformed(found: list[int], dialect: Dialect, path: Path) -> None:
    import shoal.kernels.csv_scan as csv_scan

    problems = []
    if found[csv_scan.NUL]:
        problems.append(f"{path}, line {found[csv_scan.NUL]}: a NUL byte. This is not a text file, or is damaged.")
    if found[csv_scan.OPEN_QUOTE]:
        problems.append(f"{path}, line {found[csv_scan.OPEN_QUOTE]}: a quote opens here and is never closed.")
    if found[csv_scan.STRAY_QUOTE]:
        problems.append(
            f"{path}, line {found[csv_scan.STRAY_QUOTE]}: a quote stands inside a cell. Put the whole cell in quotes "
            "and double each quote in it."
        )
    if found[csv_scan.LONE_CR]:
        problems.append(f"{path}, line {found[csv_scan.LONE_CR]}: a carriage return without line feed ends no line.")
    if found[csv_scan.RAGGED]:
        problems.append(
            f"{path}, line {found[csv_scan.RAGGED_LINE]}: {found[csv_scan.RAGGED_FIELDS]} cells, but the first line "
            f"has {found[csv_scan.FIELDS]} ({found[csv_scan.RAGGED]} such rows). Mend the rows, or name another "
            f"--delimiter than {dialect.delimiter!r}."
        )
    if problems:
        raise InputError(join_problems(problems))


def _check_header(names: Iterable[str], place: str) -> None:
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


def check_names(names: list[str], place: str) -> list[str]:
    """Refuse double names; note those that differ in case alone."""
    _check_header(names, place)
    folded = Counter(name.casefold() for name in names)
    alike = [name for name in names if folded[name.casefold()] > 1]
    return [f"column names {', '.join(map(repr, alike))} differ in case alone"] if alike else []
