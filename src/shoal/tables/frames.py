"""Return a release as a frame of the library that its original came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Schema
from shoal.tables.table import Native, Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["rebuild"]


def rebuild(text: pl.DataFrame, original: Table, rows: NDArray[np.int64], schema: Schema) -> Any:
    """Return the released rows: recoded columns as text, untouched ones with the type that they came with.

    Every column is built anew from the released values alone: no row that was cut off, no category that is not used,
    no value under a null, no index, no metadata is carried over.
    """
    native = original.native or Native(original.frame, "polars")
    recoded = [c.name for c in schema.qi if not _is_untouched(text[c.name], original, rows, c.name)]
    released = {name: [cell or None for cell in text[name].to_list()] for name in recoded}
    names = [column.name for column in schema.released]
    if native.library == "polars":
        import polars as pl

        return pl.DataFrame(
            [
                pl.Series(n, released[n], dtype=pl.String) if n in released else _polars_column(native.frame[n], rows)
                for n in names
            ]
        )
    if native.library == "pyarrow":
        import pyarrow as pa

        taken = {n: pa.array(released[n], pa.string()) for n in released}
        return pa.table({n: taken[n] if n in taken else _arrow_column(native.frame.column(n), rows) for n in names})
    import pandas as pd

    by_name = {str(name): name for name in native.frame.columns}
    columns = {}
    for name in names:
        if name in released:
            columns[by_name[name]] = pd.Series(released[name], dtype="str")
        else:
            columns[by_name[name]] = _pandas_column(native.frame[by_name[name]], rows)
    return pd.DataFrame(columns)


def _polars_column(series: pl.Series, rows: NDArray[np.int64]) -> pl.Series:
    """Return these rows of a column in arrays of their own; gathered texts would share the buffers of all rows."""
    import polars as pl

    taken, dtype = series.gather(rows), series.dtype
    if dtype == pl.Null:
        return pl.Series(series.name, [None] * len(rows), dtype=dtype)
    if dtype in (pl.String, pl.Boolean, pl.Decimal):
        return pl.Series(series.name, taken.to_list(), dtype=dtype)
    if isinstance(dtype, pl.Enum):
        texts = taken.cast(pl.String).to_list()
        used = set(texts)
        return pl.Series(series.name, texts, dtype=pl.Enum([c for c in dtype.categories.to_list() if c in used]))
    if isinstance(dtype, pl.Categorical):
        return pl.Series(series.name, taken.cast(pl.String).to_list(), dtype=pl.Categorical)
    physical = taken.to_physical()
    if not physical.dtype.is_numeric():
        return pl.Series(series.name, taken.to_list(), dtype=dtype)
    valid = taken.is_not_null()
    plain = np.zeros(len(rows), dtype=physical.drop_nulls().to_numpy().dtype)
    plain[valid.to_numpy()] = physical.drop_nulls().to_numpy()
    anew = pl.DataFrame({"cell": pl.Series(plain, dtype=physical.dtype), "valid": valid})
    cells = anew.select(pl.when("valid").then("cell"))["cell"] if taken.null_count() else anew["cell"]
    return cells.cast(dtype).alias(series.name)


def _arrow_column(column: Any, rows: NDArray[np.int64]) -> Any:
    import pyarrow as pa
    import pyarrow.types as kinds

    taken, dtype = column.take(pa.array(rows)), column.type
    if kinds.is_dictionary(dtype):
        decoded = _arrow_column(taken.cast(dtype.value_type), np.arange(len(taken)))
        return decoded.dictionary_encode().cast(pa.dictionary(dtype.index_type, dtype.value_type, dtype.ordered))
    if kinds.is_temporal(dtype):  # as whole numbers: a Python datetime has no nanoseconds
        whole = pa.int32() if dtype.bit_width == 32 else pa.int64()
        numbers = taken.cast(whole).to_pylist() if not kinds.is_date64(dtype) else taken.cast(pa.int64()).to_pylist()
        return pa.array(numbers, whole).cast(dtype)
    return pa.array(taken.to_pylist(), dtype)


def _pandas_column(series: Any, rows: NDArray[np.int64]) -> Any:
    import pandas as pd

    taken = series.iloc[rows]
    dtype = taken.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = taken.cat.codes.to_numpy()
        used = np.unique(codes[codes >= 0])
        categories = pd.Index(list(dtype.categories[used]), dtype=dtype.categories.dtype)
        place = np.full(len(dtype.categories) + 1, -1)
        place[used] = np.arange(len(used))
        return pd.Series(pd.Categorical.from_codes(place[codes], categories=categories, ordered=dtype.ordered))
    if isinstance(dtype, np.dtype):
        return pd.Series(np.array(taken.to_numpy(), copy=True), dtype=dtype)
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        whole = pa.chunked_array([pa.array(taken.array)])
        return pd.Series(pd.arrays.ArrowExtensionArray(_arrow_column(whole, np.arange(len(rows)))))
    values = taken.astype(object).to_numpy(dtype=object, na_value=None).tolist()
    return pd.Series(pd.array(values, dtype=dtype))


def _is_untouched(released: pl.Series, original: Table, rows: NDArray[np.int64], name: str) -> bool:
    return bool((released == original.frame[name].gather(rows)).all())
