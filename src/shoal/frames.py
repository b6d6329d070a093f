"""Give a release back as a frame of the user's library, and show it in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Schema
from shoal.table import Native, Table

if TYPE_CHECKING:
    import polars as pl

    from shoal.metrics import Measures

__all__ = ["notebook_html", "rebuild"]

SHOWN_ROWS = 8


def rebuild(text: pl.DataFrame, original: Table, rows: NDArray[np.int64], schema: Schema) -> Any:
    """Return the released rows: recoded columns as text, untouched ones with the type that they came with."""
    native = original.native or Native(original.frame, "polars")
    recoded = [c.name for c in schema.qi if not _is_untouched(text[c.name], original, rows, c.name)]
    released = {c.name: text[c.name].replace("", None) for c in schema.released if c.name in recoded}
    names = [column.name for column in schema.released]
    if native.library == "polars":
        import polars as pl

        return pl.DataFrame({n: released[n] if n in released else native.frame[n].gather(rows) for n in names})
    if native.library == "pyarrow":
        import pyarrow as pa

        taken = {n: pa.array(released[n].to_list(), pa.string()) for n in released}
        return pa.table({n: taken[n] if n in taken else native.frame.column(n).take(pa.array(rows)) for n in names})
    import pandas as pd

    by_name = {str(name): name for name in native.frame.columns}
    columns = {}
    for name in names:
        if name in released:
            columns[by_name[name]] = pd.Series(released[name].to_list(), dtype="str")
        else:
            column = native.frame[by_name[name]].iloc[rows].reset_index(drop=True)
            is_category = isinstance(column.dtype, pd.CategoricalDtype)
            columns[by_name[name]] = column.cat.remove_unused_categories() if is_category else column
    return pd.DataFrame(columns)


def _is_untouched(released: pl.Series, original: Table, rows: NDArray[np.int64], name: str) -> bool:
    return bool((released == original.frame[name].gather(rows)).all())


def notebook_html(text: pl.DataFrame, k: int, method: str, measures: Measures) -> str:
    """Return the verdict in a sentence and the first released rows."""
    verdict = (
        f"{measures.rows:,} rows in {measures.groups:,} groups, the smallest of {measures.smallest_group} (k = {k}); "
        f"loss {measures.ncp:.4f} by {html.escape(method)}"
    )
    head = "".join(f"<th>{html.escape(name)}</th>" for name in text.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in text.head(SHOWN_ROWS).rows()
    )
    more = f"<p>... and {text.height - SHOWN_ROWS:,} more rows</p>" if text.height > SHOWN_ROWS else ""
    return f"<div><p><b>shoal release</b>: {verdict}</p><table><tr>{head}</tr>{body}</table>{more}</div>"
