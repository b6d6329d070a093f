"""Return a release as a frame of the library that its original came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Role, Schema
from shoal.tables.table import Native, Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["rebuild"]


def rebuild(
    text: pl.DataFrame,
    original: Table,
    rows: NDArray[np.int64],
    schema: Schema,
    typed: Mapping[str, Sequence[pl.Series]] | None = None,
) -> Any:
    """Return the released rows as a frame of the original's library.

    Recoded columns are text; untouched columns keep their type. Every column is rebuilt from the released values only,
    so the frame contains no suppressed row, unused category, value under a null, index or metadata of the original.

    Args:
        text: The released cells as text.
        original: The table that the release was made from.
        rows: For each released row, its row in the original.
        schema: The roles and kinds of the columns.
        typed: By column that has other types than the original's, the columns in its place: two bounds, or a centre.

    Returns:
        A pandas, polars or pyarrow frame; polars if the original was a file.
    """
    native = original.native or Native(original.frame, "polars")
    typed = typed or {}
    changing = [c.name for c in schema.released if (c.role is Role.QI or c.codings) and c.name not in typed]
    recoded = [name for name in changing if not _is_untouched(text[name], original, rows, name)]
    released = {name: [cell or None for cell in text[name].to_list()] for name in recoded}
    names = [column.name for column in schema.released]
    if native.library == "polars":
        import polars as pl

        columns = [
            typed.get(n)
            or [pl.Series(n, released[n], dtype=pl.String) if n in released else _polars_column(native.frame[n], rows)]
            for n in names
        ]
        return pl.DataFrame([column for pair in columns for column in pair])
    if native.library == "pyarrow":
        import pyarrow as pa

        arrays: dict[str, Any] = {}
        for n in names:
            if n in typed:
                arrays |= {each.name: each.to_arrow() for each in typed[n]}
            else:
                text_column = pa.array(released[n], pa.string()) if n in released else None
                arrays[n] = _arrow_column(native.frame.column(n), rows) if text_column is None else text_column
        return pa.table(arrays)
    import pandas as pd

    by_name = {str(name): name for name in native.frame.columns}
    frames: dict[Any, Any] = {}
    for name in names:
        if name in typed:
            frames |= {by_name.get(each.name, each.name): each.to_pandas() for each in typed[name]}
        elif name in released:
            frames[by_name[name]] = pd.Series(released[name], dtype="str")
        else:
            frames[by_name[name]] = _pandas_column(native.frame[by_name[name]], rows)
    return pd.DataFrame(frames)


def _polars_column(series: pl.Series, rows: NDArray[np.int64]) -> pl.Series:
    """Copy these rows of a column into new arrays; gathered texts would share the buffers of all rows."""
    import polars as pl

    released_rows, dtype = series.gather(rows), series.dtype
    if dtype == pl.Null:
        return pl.Series(series.name, [None] * len(rows), dtype=dtype)
    if dtype in (pl.String, pl.Boolean, pl.Decimal):
        return pl.Series(series.name, released_rows.to_list(), dtype=dtype)
    if isinstance(dtype, pl.Enum):
        texts = released_rows.cast(pl.String).to_list()
        used = set(texts)
        return pl.Series(series.name, texts, dtype=pl.Enum([c for c in dtype.categories.to_list() if c in used]))
    if isinstance(dtype, pl.Categorical):
        return pl.Series(series.name, released_rows.cast(pl.String).to_list(), dtype=pl.Categorical)
    physical = released_rows.to_physical()
    if not physical.dtype.is_numeric():
        return pl.Series(series.name, released_rows.to_list(), dtype=dtype)
    valid = released_rows.is_not_null()
    plain = np.zeros(len(rows), dtype=physical.drop_nulls().to_numpy().dtype)
    plain[valid.to_numpy()] = physical.drop_nulls().to_numpy()
    rebuilt = pl.DataFrame({"cell": pl.Series(plain, dtype=physical.dtype), "valid": valid})
    cells = rebuilt.select(pl.when("valid").then("cell"))["cell"] if released_rows.null_count() else rebuilt["cell"]
    return cells.cast(dtype).alias(series.name)


def _arrow_column(column: Any, rows: NDArray[np.int64]) -> Any:
    import pyarrow as pa
    import pyarrow.types as kinds

    released_rows, dtype = column.take(pa.array(rows)), column.type
    if kinds.is_dictionary(dtype):
        decoded = _arrow_column(released_rows.cast(dtype.value_type), np.arange(len(released_rows)))
        return decoded.dictionary_encode().cast(pa.dictionary(dtype.index_type, dtype.value_type, dtype.ordered))
    if kinds.is_temporal(dtype):  # via integers, because a Python datetime has no nanoseconds
        integer_type = pa.int32() if dtype.bit_width == 32 else pa.int64()
        numbers = (
            released_rows.cast(integer_type).to_pylist()
            if not kinds.is_date64(dtype)
            else released_rows.cast(pa.int64()).to_pylist()
        )
        return pa.array(numbers, integer_type).cast(dtype)
    return pa.array(released_rows.to_pylist(), dtype)


def _pandas_column(series: Any, rows: NDArray[np.int64]) -> Any:
    import pandas as pd

    released_rows = series.iloc[rows]
    dtype = released_rows.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = released_rows.cat.codes.to_numpy()
        used = np.unique(codes[codes >= 0])
        categories = pd.Index(list(dtype.categories[used]), dtype=dtype.categories.dtype)
        place = np.full(len(dtype.categories) + 1, -1)
        place[used] = np.arange(len(used))
        return pd.Series(pd.Categorical.from_codes(place[codes], categories=categories, ordered=dtype.ordered))
    if isinstance(dtype, np.dtype):
        return pd.Series(np.array(released_rows.to_numpy(), copy=True), dtype=dtype)
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        arrow_column = pa.chunked_array([pa.array(released_rows.array)])
        return pd.Series(pd.arrays.ArrowExtensionArray(_arrow_column(arrow_column, np.arange(len(rows)))))
    values = released_rows.astype(object).to_numpy(dtype=object, na_value=None).tolist()
    return pd.Series(pd.array(values, dtype=dtype))


def _is_untouched(released: pl.Series, original: Table, rows: NDArray[np.int64], name: str) -> bool:
    return bool((released == original.frame[name].gather(rows)).all())
