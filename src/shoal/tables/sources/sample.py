"""A random sample of a table in memory as a source: a row that was not drawn is no part of the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.tables.sources.base import Rows, Verifier
from shoal.tables.sources.memory import TableSource

__all__ = ["Sample"]


class Sample(TableSource):
    """The drawn rows of a source; see `Source` for the methods."""

    def __init__(self, whole: TableSource, rows: NDArray[np.int64]) -> None:
        """Take some rows of an open source."""
        super().__init__(whole.table.part(rows))
        self.whole = whole
        self.rows = rows

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Yield these columns of the drawn rows."""
        return (list(map(list, block.select(names).iter_rows())) for block in self.blocks())

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Have the verifier read the complete original again, and pass on the drawn rows."""
        columns = self.whole.verify_columns(verifier, step)
        if isinstance(columns, dict):
            rows = self.rows.tolist()
            return {name: [cells[row] for row in rows] for name, cells in columns.items()}
        return replace(columns, columns=[column.at(self.rows) for column in columns.columns], n_rows=len(self.rows))

    def signature(self, key: bytes) -> str:
        """Return the keyed hash of the complete original."""
        return self.whole.signature(key)
