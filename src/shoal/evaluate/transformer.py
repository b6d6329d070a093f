"""The encoding of released cells as a transformer of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evaluate.sklearn import sklearn_module
from shoal.metrics.features import Labels, NumericEncoding, fill_kinds, fit_encoding
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table, from_frame
from shoal.tables.typed_text import cell_text

__all__ = ["ReleaseEncoder"]

_base = sklearn_module("base")


class ReleaseEncoder(_base.TransformerMixin, _base.BaseEstimator):  # type: ignore[misc, name-defined]
    """Turns a frame of cells, released or original, into numbers: shoal.metrics.features says how.

    fit takes the values and kinds of the columns from a frame (pandas, polars, pyarrow, or an array whose columns are
    called x0, x1 ...); transform gives an array of the same features for any frame with these columns. numeric,
    categorical, dates: kinds that should not be told from the cells. missing: texts that stand for a missing value
    beside the empty one. labels: by column, the values below each label of its hierarchy, as in release.labels; without
    them a label of categories is a value like others.

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
        missing: Sequence[str] = (),
        labels: Labels | None = None,
    ) -> None:
        self.numeric = numeric
        self.categorical = categorical
        self.dates = dates
        self.missing = missing
        self.labels = labels

    def fit(self, X: Any, y: Any = None) -> ReleaseEncoder:  # noqa: N803 (the name that scikit-learn gives it)
        """Take the columns of a frame as they are; y is not looked at."""
        table = self._table(X, reset=True)
        kinds = dict.fromkeys(self.numeric, Kind.NUMERIC) | dict.fromkeys(self.categorical, Kind.CATEGORICAL)
        roles = {Role.QI: table.names}
        schema = Schema.build(table.names, roles, kinds=kinds, date_formats=self.dates, missing=self.missing)
        schema = fill_kinds(table, schema, table.names)
        self.encoding_: NumericEncoding = fit_encoding(table, schema, table.names, self.labels)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the features of the rows of a frame."""
        sklearn_module("utils.validation").check_is_fitted(self)
        return self.encoding_.matrix(self._table(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features."""
        sklearn_module("utils.validation").check_is_fitted(self)
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
        checked = sklearn_module("utils.validation").validate_data(
            self, cells, reset=reset, dtype=None, ensure_all_finite="allow-nan"
        )
        import polars as pl

        columns = {f"x{i}": list(map(cell_text, checked[:, i].tolist())) for i in range(checked.shape[1])}
        return Table(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)))
