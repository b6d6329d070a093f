"""The encoding of released cells as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evaluate.extra import extra_module
from shoal.metrics.features import Labels, NumericEncoding, fill_kinds, fit_encoding
from shoal.schema import Reading, Role, Schema
from shoal.tables.table import Table, from_frame
from shoal.tables.typed_text import cell_text

__all__ = ["ReleaseEncoder"]

_base = extra_module("sklearn.base")


class ReleaseEncoder(_base.TransformerMixin, _base.BaseEstimator):  # type: ignore[misc, name-defined]
    """Encodes a frame of cells, released or original, as numbers; `shoal.metrics.features` defines the encoding.

    `fit` learns the values and kinds of the columns from a frame (pandas, polars, pyarrow) or an array, whose columns
    are named x0, x1 and so on. `transform` returns the same features for any frame with these columns.

    Args:
        numeric: Columns of numbers; kinds that are not given are detected.
        categorical: Columns of categories.
        dates: Columns of dates, each with its format.
        boolean: Columns of yes and no.
        ordered: Ordered categories: by column, its values, lowest first.
        units: By column, the unit of its numbers.
        missing: Texts that mean a missing value, in addition to the empty text.
        labels: For each column with a hierarchy, the values under each label (`release.labels`). Without it, a label
            is encoded as one more category.

    >>> import polars as pl
    >>> encoder = ReleaseEncoder().fit(pl.DataFrame({"age": ["[20, 30]", "40"], "sex": ["{F, M}", "M"]}))
    >>> encoder.transform(pl.DataFrame({"age": ["25", "*"], "sex": ["F", "M"]})).tolist()
    [[25.0, 1.0, 0.0], [32.5, 0.0, 1.0]]
    >>> list(encoder.get_feature_names_out())
    ['age', 'sex=F', 'sex=M']
    """

    def __init__(
        self,
        *,
        numeric: Sequence[str] = (),
        categorical: Sequence[str] = (),
        dates: Mapping[str, str] | None = None,
        boolean: Sequence[str] = (),
        ordered: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, str] | None = None,
        missing: Sequence[str] = (),
        labels: Labels | None = None,
    ) -> None:
        self.numeric = numeric
        self.categorical = categorical
        self.dates = dates
        self.boolean = boolean
        self.ordered = ordered
        self.units = units
        self.missing = missing
        self.labels = labels

    def fit(self, X: Any, y: Any = None) -> ReleaseEncoder:  # noqa: N803 (the name that scikit-learn gives it)
        """Learn the columns of a frame; `y` is ignored."""
        table = self._table(X, reset=True)
        reading = Reading.of_cells(
            numeric=self.numeric,
            categorical=self.categorical,
            dates=self.dates,
            boolean=self.boolean,
            ordered=self.ordered,
            units=self.units,
            missing=self.missing,
        )
        schema = Schema.build(table.names, {Role.QI: table.names}, reading=reading)
        schema = fill_kinds(table, schema, table.names)
        self.encoding_: NumericEncoding = fit_encoding(table, schema, table.names, self.labels)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the features of the rows of a frame."""
        extra_module("sklearn.utils.validation").check_is_fitted(self)
        return self.encoding_.matrix(self._table(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features."""
        extra_module("sklearn.utils.validation").check_is_fitted(self)
        return np.asarray(self.encoding_.features, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _table(self, cells: Any, *, reset: bool) -> Table:
        """Return a frame or an array as a table of text."""
        if hasattr(cells, "columns") or hasattr(cells, "column_names"):
            table = from_frame(cells)
            names = list(table.names)
            if reset:
                self.n_features_in_, self.feature_names_in_ = len(names), np.asarray(names, dtype=object)
            return table
        array = extra_module("sklearn.utils.validation").validate_data(
            self, cells, reset=reset, dtype=None, ensure_all_finite="allow-nan"
        )
        import polars as pl

        columns = {f"x{i}": list(map(cell_text, array[:, i].tolist())) for i in range(array.shape[1])}
        return Table(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)))
