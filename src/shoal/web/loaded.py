"""A table that a worker has read and profiled: any page of it, and who is unique, without the whole in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from shoal.errors import UsageError
from shoal.schema import unknown_column
from shoal.web.tasks import AFTER, BEFORE, CODES, ROWS

__all__ = ["MASK", "Loaded", "Uniques", "read_page", "read_pairs"]

MOST_ROWS = 500  # rows of one page
FACTS = "table.json"
MASK = "\N{BULLET}" * 3  # in place of a cell of the original, where others reach the server


class Uniques(NamedTuple):
    """How many rows and people have a combination of values that nobody else has.

    Attributes:
        rows: The rows.
        people: The people; without a person column, each row is one.
        of_rows: All rows.
    """

    rows: int
    people: int
    of_rows: int


class Loaded:
    """The facts of a loaded table, and access to its cells.

    Attributes:
        facts: What the worker found: "rows", "columns", "profile", "missing", "unique", "notes".
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self.facts = facts
        self._folder = folder

    @classmethod
    def read(cls, folder: Path) -> Loaded | None:
        """Return the table that an earlier worker loaded into a folder; None if there is none."""
        path = folder / FACTS
        return cls(folder, json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def save(self) -> None:
        """Keep the facts beside the cells."""
        (self._folder / FACTS).write_text(json.dumps(self.facts), encoding="utf-8")

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.facts["rows"])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.facts["columns"])

    def rows(self, start: int, count: int) -> list[list[str]]:
        """Return a page of cells. Reads only this page from the disk: some milliseconds for any table."""
        return read_page(self._folder / ROWS, start, count)

    def values(self, column: str, most: int) -> list[tuple[str, int]]:
        """Return the most frequent values of a column with their rows; reads the column, 0.1 s for 1,000,000 rows."""
        import polars as pl

        self._check([column])
        cells = pl.scan_ipc(self._folder / ROWS).select(pl.col(column).alias("value")).collect()["value"]
        ordered = cells.value_counts().sort(["count", "value"], descending=[True, False])
        return [(text, rows) for text, rows in ordered.head(most).rows()]

    def uniques(self, qi: Sequence[str], person: str | None = None) -> Uniques:
        """Count unique rows and people: 0.2 s for 1,000,000 rows and 5 columns, 0.7 s if people are counted."""
        import numpy as np

        from shoal.profile.columns import Coded
        from shoal.profile.singling_out import count_unique

        self._check([*qi, *([person] if person else [])])

        def coded(name: str) -> Coded:
            codes = self._codes[self.names.index(name)]
            return Coded(codes.astype(np.int64), self._n_values[self.names.index(name)])

        rows, people = count_unique([coded(name) for name in qi], coded(person) if person else None)
        return Uniques(rows, people, self.n_rows)

    @cached_property
    def _codes(self) -> Any:
        import numpy as np

        return np.load(self._folder / CODES, mmap_mode="r")

    @cached_property
    def _n_values(self) -> list[int]:
        return [int(codes.max(initial=-1)) + 1 for codes in self._codes]

    def _check(self, names: Sequence[str]) -> None:
        lost = [name for name in names if name not in self.names]
        if lost:
            raise UsageError(unknown_column(lost[0], self.names))


def read_page(path: Path, start: int, count: int) -> list[list[str]]:
    """Return rows of a file of cells."""
    import polars as pl

    if start < 0 or count < 0:
        raise UsageError("a page starts at row 0 or later and has no negative number of rows.")
    page = pl.scan_ipc(path).slice(start, min(count, MOST_ROWS)).collect()
    return [["" if cell is None else str(cell) for cell in row] for row in page.rows()]


def read_pairs(folder: Path, start: int, count: int, *, masked: bool = False) -> dict[str, Any]:
    """Return a page of released rows with the cells that they were made from.

    Returns:
        "columns": the names; "rows": for each row its cells, each {"after": text} and, if the cell belongs to a
        quasi-identifier, "before" and "changed". Reads only this page: some milliseconds.
    """
    import polars as pl

    head = pl.scan_ipc(folder / AFTER)
    names = head.collect_schema().names()
    before_names = pl.scan_ipc(folder / BEFORE).collect_schema().names()
    after, before = (read_page(folder / name, start, count) for name in (AFTER, BEFORE))
    place = {name: i for i, name in enumerate(before_names)}

    def cell(name: str, text: str, origin: list[str]) -> dict[str, Any]:
        source = next((n for n in (name, name.removesuffix("_min"), name.removesuffix("_max")) if n in place), None)
        if source is None:
            return {"after": text}
        before = origin[place[source]]
        return {"before": MASK if masked else before, "after": text, "changed": text != before}

    rows = [
        [cell(name, text, origin) for name, text in zip(names, row, strict=True)]
        for row, origin in zip(after, before, strict=True)
    ]
    n_rows = head.select(pl.len()).collect().item()
    return {"columns": names, "rows": rows, "start": start, "of_rows": n_rows}
