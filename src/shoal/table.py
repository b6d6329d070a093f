"""A table as text: read from a CSV file or taken from a pandas, polars or pyarrow frame."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.dialect import detect, numbered_names
from shoal.errors import FileError, InputError, InternalError, UsageError, join_problems
from shoal.schema import Dialect

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Factor", "Native", "Table", "factorize", "from_frame", "read_csv"]


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

    notes: what was guessed or noticed on reading, for the user to see.
    """

    frame: pl.DataFrame
    path: Path | None = None
    dialect: Dialect | None = None
    native: Native | None = None
    notes: tuple[str, ...] = ()
    _factors: dict[str, Factor] = field(default_factory=dict, repr=False, compare=False)

    def factor(self, name: str) -> Factor:
        """Return a column as ranks; worked out once."""
        if name not in self._factors:
            self._factors[name] = factorize(self.frame[name])
        return self._factors[name]

    def group_sizes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return how many rows share each combination of cells of these columns, in order of the combination."""
        import numpy as np

        key, n_keys = np.zeros(self.n_rows, dtype=np.int64), 1
        for name in names:
            factor = self.factor(name)
            if n_keys * len(factor.texts) >= 2**62:  # the product of the ranks would not fit
                _, key = np.unique(key, return_inverse=True)
                n_keys = self.n_rows
            key = key * len(factor.texts) + factor.ranks
            n_keys *= len(factor.texts)
        return np.unique(key, return_counts=True)[1].astype(np.int64)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.height

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
    raw = _read_bytes(path)
    text, encoding_found = _decode(raw, encoding, path)
    del raw
    dialect = detect(text[:1_000_000], len(text) <= 1_000_000, delimiter=delimiter, header=header, place=str(path))
    dialect = replace(dialect, encoding=encoding_found)
    frame, blank = _parse(text, dialect, path)
    notes = [f"{path}: {dialect.describe()}"]
    if blank:
        notes.append(f"{path}: {blank} blank line{'s' * (blank > 1)} skipped")
    notes += _check_names(frame.columns, path)
    return Table(frame, path=path, dialect=dialect, notes=tuple(notes))


def from_frame(frame: Any) -> Table:
    """Take a pandas, polars or pyarrow frame; every cell becomes text, missing ones of any sort the empty text."""
    library = type(frame).__module__.split(".")[0]
    if library == "polars":
        frame = frame.collect() if hasattr(frame, "collect") else frame
        columns = {name: _polars_text(frame[name]) for name in frame.columns}
    elif library == "pandas":
        _check_names([str(name) for name in frame.columns], None)
        columns = {str(name): _pandas_text(frame[name], str(name)) for name in frame.columns}
    elif library == "pyarrow":
        _check_names(frame.column_names, None)
        columns = _arrow_text(frame)
    else:
        raise UsageError(
            f"a table of type {type(frame).__name__} cannot be taken. Give a pandas, polars or pyarrow frame, "
            "or read a file with shoal.read_csv."
        )
    import polars as pl

    notes = _check_names(list(columns), None)
    taken = Table(pl.DataFrame(columns), native=Native(frame, library), notes=tuple(notes))
    if taken.n_rows == 0:
        raise InputError("the frame has no data rows.")
    return taken


def factorize(series: pl.Series) -> Factor:
    """Return a column as ranks among its distinct cells."""
    import numpy as np
    import polars as pl

    texts = series.unique().sort()
    ranks = pl.Series(np.arange(len(texts), dtype=np.int32))
    return Factor(series.replace_strict(texts, ranks, return_dtype=pl.Int32).to_numpy(), texts)


def _read_bytes(path: Path) -> bytes:
    try:
        if not path.exists():
            raise FileError(f"{path}: no such file.")
        if not path.is_file():
            raise FileError(f"{path}: not a regular file. Give the path of a CSV file.")
        before = path.stat()
        raw = path.read_bytes()
        after = path.stat()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size) or len(raw) != after.st_size:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    return raw


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
    import numpy as np
    import polars as pl

    import shoal.kernels.csv_scan as csv_scan

    plain = bytearray(len(text) + 1)
    found = np.zeros(11, dtype=np.int64)
    csv_scan.scan_csv(text, ord(dialect.delimiter), dialect.initial_space, plain, found)
    _refuse_malformed(found.tolist(), dialect, path)
    n_rows = int(found[csv_scan.RECORDS]) - dialect.header
    if n_rows < 1:
        raise InputError(f"{path}: no data rows.")
    frame = pl.read_csv(
        bytes(memoryview(plain)[: found[csv_scan.LENGTH]]),
        has_header=False,
        separator=dialect.delimiter,
        infer_schema=False,
        new_columns=[str(i) for i in range(found[csv_scan.FIELDS])],
    )
    frame = frame.select(pl.all().fill_null(""))
    names = frame.row(0) if dialect.header else numbered_names(frame.width)
    if dialect.header:
        frame = frame.slice(1)
        _check_header(names, path)
    if frame.height != n_rows:
        raise InternalError(f"{path}: {n_rows} rows were scanned but {frame.height} read.")
    return frame.rename(dict(zip(frame.columns, names, strict=True))), int(found[csv_scan.BLANK])


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


def _check_header(names: Iterable[str], path: Path) -> None:
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(position)
    problems = []
    if "" in positions:
        where = ", ".join(map(str, positions.pop("")))
        problems.append(f"{path}: the column at position {where} has no name. Name every column in the first line.")
    for name, where_all in positions.items():
        if len(where_all) > 1:
            where = ", ".join(map(str, where_all))
            problems.append(f"{path}: column name {name!r} stands at positions {where}. Give each column its own name.")
    if problems:
        raise InputError(join_problems(problems))


def _check_names(names: list[str], path: Path | None) -> list[str]:
    """Refuse double names; note those that differ in case alone."""
    _check_header(names, path or Path("frame"))
    folded = Counter(name.casefold() for name in names)
    alike = [name for name in names if folded[name.casefold()] > 1]
    return [f"column names {', '.join(map(repr, alike))} differ in case alone"] if alike else []


def cell_text(value: Any) -> str:
    """Return the text of one cell of a frame: numbers as Python prints them, missing ones empty, -0.0 as 0.0."""
    if value is None or value != value:  # NaN and NaT are not equal to themselves
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(float(value) + 0.0) if math.isfinite(value) else str(value)
    if hasattr(value, "isoformat"):
        text: str = value.isoformat()
        return text.removesuffix("T00:00:00").replace("T", " ")
    if isinstance(value, (list, tuple, dict, set, bytes)):
        raise InputError(f"a cell of type {type(value).__name__} cannot be released. Turn the column into text first.")
    return str(value)


def _polars_text(series: pl.Series) -> pl.Series:
    import polars as pl

    if series.dtype == pl.String:
        return series.fill_null("")
    if series.dtype.is_integer() or series.dtype in (pl.Categorical, pl.Enum, pl.Date):
        return series.cast(pl.String).fill_null("")
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
        raise InputError(f"column {series.name!r} has type {series.dtype}. Turn it into text or numbers first.")
    return _text_by_value(series, series.unique().to_list())


def _text_by_value(series: pl.Series, values: list[Any]) -> pl.Series:
    import polars as pl

    values = [value for value in values if value is not None]
    old = pl.Series(values, dtype=series.dtype)
    new = pl.Series([cell_text(value) for value in values], dtype=pl.String)
    return series.replace_strict(old, new, default="", return_dtype=pl.String).fill_null("")


def _pandas_text(series: Any, name: str) -> pl.Series:
    import polars as pl

    if series.dtype.kind == "O" and str(series.dtype) == "object":
        missing = series.isna().to_numpy()
        cells = ["" if gone else cell_text(value) for value, gone in zip(series.tolist(), missing, strict=True)]
        return pl.Series(name, cells, dtype=pl.String)
    import pandas as pd

    codes, values = pd.factorize(series, use_na_sentinel=True)
    texts = pl.Series(name, [*map(cell_text, list(values)), ""], dtype=pl.String)
    return texts.gather(pl.Series(codes).cast(pl.Int64).replace(-1, len(texts) - 1))


def _arrow_text(frame: Any) -> dict[str, pl.Series]:
    import polars as pl

    taken = pl.from_arrow(frame)
    if not isinstance(taken, pl.DataFrame):
        raise UsageError("give a pyarrow Table, not a single column.")
    return {name: _polars_text(taken[name]) for name in taken.columns}
