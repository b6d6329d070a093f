"""Groups that rows may leave, in files of the private folder: DuckDB adds up what leaving saves in all sections."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.methods.suppression.leaving import Bound
from shoal.release.counted_tables.duck.groups import DuckFound
from shoal.release.counted_tables.sections.suppression import HeldGroups, SectionSuppression, settle
from shoal.tables.sources.dealing import Engine
from shoal.tables.sources.duck_session import literal
from shoal.tables.watch import pooled

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DuckHeld"]

Counts = NDArray[np.int64]
Result = TypeVar("Result")


class DuckHeld:
    """The groups of all sections in files, one for each; see `HeldSections`.

    Args:
        engine: The source.
        suppression: What is done in a section.
    """

    def __init__(self, engine: Engine, suppression: SectionSuppression) -> None:
        self._engine, self._suppression = engine, suppression
        self._folder = engine.session.folder / f"held-{secrets.token_hex(8)}"
        self._folder.mkdir(mode=0o700)
        self._first: list[Path] = []  # before outliers left
        self._paths: list[Path] = []
        self._numbers: list[int] = []

    def add(self, tuples: pl.DataFrame, groups: HeldGroups) -> None:
        """Take the groups of the next section; their entries have its tuples or units."""
        if not groups.passing:
            search = self._suppression.search
            raise search.plan.refusal(search.models)
        self._first.append(self._write("first", len(self._first), groups.entries))
        self._numbers.append(groups.number)
        self._paths.append(self._first[-1])

    def show(self, found: DuckFound) -> None:
        """Decide which rows leave, and hand over the groups of all sections; the files are gone then."""
        bounds = settle(self, self._suppression.search)
        for path, bound in zip(self._paths, bounds, strict=True):
            self._engine.session.watch.check()
            found.add(*self._suppression.show(_read(path), bound))
        for path in self._folder.iterdir():
            path.unlink()
        self._folder.rmdir()

    def sums(self, column: str, shift: int, low: int, high: int) -> tuple[NDArray[np.int64], Counts]:
        """Add up rows by what entries save as outliers or others; see `shoal.methods.suppression.leaving.RowSums`."""
        found = self._engine.session.fetch(
            f"select {column} >> {shift} as worth, sum(rows)::bigint as rows from {self._entries()} "
            f"where {column} >= {low} and {column} < {high} group by 1"
        ).sort("worth")
        return found["worth"].to_numpy().astype(np.int64), found["rows"].to_numpy().astype(np.int64)

    def rows_worth(self, column: str, worth: int) -> Counts:
        """Return the rows of each section, in order, that save exactly this."""
        found = self._engine.session.fetch(
            f"select section, sum(rows)::bigint as rows from {self._entries()} where {column} = {worth} group by 1"
        )
        rows = np.zeros(len(self._paths), dtype=np.int64)
        rows[found["section"].to_numpy()] = found["rows"].to_numpy()
        return rows

    def regroup(self, bounds: Sequence[Bound]) -> int:
        """Group the sections that outliers leave again; bounds: of each section. Return how many rows leave."""

        def task(suppression: SectionSuppression, place: int) -> tuple[pl.DataFrame | None, int]:
            held = _read(self._paths[place])
            entries = suppression.regroup(held, self._numbers[place], bounds[place])
            return entries, 0 if entries is None else _gone(entries) - _gone(held)

        used = 0
        for place, (entries, more) in enumerate(self._each(task)):
            if entries is not None:
                self._paths[place] = self._write("again", place, entries)
                used += more
        return used

    def restore(self) -> None:
        """Return to the groups before outliers left."""
        self._paths = [*self._first]

    def count_gone(self, bounds: Sequence[Bound]) -> list[Counts]:
        """Count the rows that are not released then, by the codes of each sensitive column."""
        counted = self._each(lambda own, place: own.count_gone(_read(self._paths[place]), bounds[place]))
        return [np.sum(columns, axis=0) for columns in zip(*counted, strict=True)]

    def pass_then(self, bounds: Sequence[Bound], totals: Sequence[Counts]) -> bool:
        """Say whether all groups pass then; totals: the rows of each sensitive code in the release."""
        return all(self._each(lambda own, place: own.passes(_read(self._paths[place]), bounds[place], totals)))

    def _each(self, task: Callable[[SectionSuppression, int], Result]) -> Iterator[Result]:
        """Do a task for each section, in a pool of threads; yield what it returns, in order."""
        watch, stopped, search = self._engine.session.watch, Event(), self._suppression.search
        run = replace(search.run, cancelled=lambda: stopped.is_set() or watch.cancelled())
        watched = replace(self._suppression, search=replace(search, run=run))
        jobs = (partial(task, watched, place) for place in range(len(self._paths)))
        silent = replace(watch, progress=lambda share: None)
        return pooled(jobs, len(self._paths), self._engine.threads, silent, stopped)

    def _entries(self) -> str:
        """Return the entries of all sections as a relation of DuckDB."""
        return f"read_parquet([{', '.join(map(literal, self._paths))}])"

    def _write(self, name: str, place: int, entries: pl.DataFrame) -> Path:
        import polars as pl

        path = self._folder / f"{name}-{place:06}.parquet"
        self._engine.session.save(entries.with_columns(pl.lit(place, pl.Int32).alias("section")), path)
        return path


def _gone(entries: pl.DataFrame) -> int:
    """Count the rows that are suppressed."""
    return int(entries.filter(entries["group"] < 0)["rows"].sum())


def _read(path: Path) -> pl.DataFrame:
    import polars as pl

    return pl.read_parquet(path, glob=False)
