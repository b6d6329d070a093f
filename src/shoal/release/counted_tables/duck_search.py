"""Sections cut by DuckDB and searched one by one: tuples and groups are on disk, never all of them in memory.

DuckDB has the tuples as packed 64-bit numbers. It counts them by code to cut them into sections, which Python fetches,
searches in a pool of threads and stores as files. Dictionaries of single columns are in memory.
"""

from __future__ import annotations

import secrets
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import Tree, cut_sections
from shoal.methods.shoaling.pricing import Pricing
from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.metrics.singled import Singled, added_figures
from shoal.release.counted_tables.section_search import SectionGroups, SectionSearch
from shoal.tables.sorting import Packing
from shoal.tables.sources.base import Dealing
from shoal.tables.sources.dealing import Engine, load_codes
from shoal.tables.sources.duck_session import DuckSession, literal
from shoal.tables.sources.numbering import Numbering
from shoal.tables.targets.folders import PrivateFolder

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DuckFound", "DuckSearcher", "FiledGroups", "keep_groups"]

POLL_SECONDS = 0.1

Dictionaries = Mapping[str, tuple["pl.Series", NDArray[np.int32]]]
Counts = NDArray[np.int64]


class DuckSearcher:
    """Counts, cuts and searches the tuples of an open source; see `Searcher` for the methods."""

    searches = True

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._codes: Dictionaries = {}
        self._n_tuples = 0

    def count_columns(self, names: Sequence[str]) -> dict[str, tuple[pl.Series, Counts]]:
        """Return the distinct cells of columns, in order, and their counts."""
        counted = {}
        for name in names:
            column = f"c{self._engine.names.index(name)}"
            frame = self._engine.session.fetch(f"select {column} as c, count(*)::bigint as n from cells group by 1")
            if numbering := self._engine.numbering(name):
                texts, ranks = numbering.ranks()
                counts = np.zeros(len(texts), dtype=np.int64)
                counts[ranks[frame["c"].to_numpy()]] = frame["n"].to_numpy()
            else:
                frame = frame.sort("c")
                texts, counts = frame["c"], frame["n"].to_numpy().astype(np.int64)
            counted[name] = texts, counts
        return counted

    def count_tuples(self, codes: Dictionaries) -> tuple[int, int]:
        """Count the table by codes; return the number of tuples, and the rows of the rarest."""
        session, packing = self._engine.session, _packing(codes)
        joins = load_codes(self._engine, codes)
        packed = packing.packed_in_sql([f"m{i}.code" for i in range(len(codes))])
        keys = ", ".join(f"{key} as {name}" for key, name in zip(packed, packing.names, strict=True))
        session.ask(
            f"create or replace temp table section as select {keys}, count(*)::bigint as n from cells as t "
            f"{' '.join(joins)} group by all"
        )
        n_tuples, rarest = session.ask("select count(*), min(n) from section")[0]
        self._codes, self._n_tuples = codes, int(n_tuples)
        return int(n_tuples), int(rarest)

    def search_sections(self, search: SectionSearch, largest: int) -> DuckFound:
        """Cut the tuples that were counted last into sections of at most so many, and search each."""
        session, packing = self._engine.session, _packing(self._codes)
        n_cells = sum(len(codes) for _, codes in self._codes.values())
        self._engine.check_sections(n_cells, min(self._n_tuples, search.whole.n_rows // search.plan.k))
        numbers = count()
        whole = _Section(session, packing, search.plan.pricing, "section", self._n_tuples, numbers)
        sections = _leaves(cut_sections(whole, search.plan.pricing.prices, largest))
        found = DuckFound(self._engine, search, largest, self._codes)
        stopped = Event()
        watch = session.watch
        watched = replace(search.run, cancelled=lambda: stopped.is_set() or watch.cancelled())
        search = replace(search, run=watched)
        pending: deque[tuple[pl.DataFrame, Future[SectionGroups]]] = deque()

        def take() -> None:
            frame, future = pending.popleft()
            while not future.done():
                wait([future], POLL_SECONDS)
                watch.check()
            found.add(frame, future.result())
            watch.progress(len(found.parts) / len(sections))

        with ThreadPoolExecutor(max_workers=max(1, self._engine.threads)) as pool:
            try:
                for number, section in enumerate(sections):
                    frame = section.fetch()
                    counts = frame["n"].to_numpy().astype(np.int64)
                    task = pool.submit(search.group, packing.codes(frame), counts, number)
                    pending.append((frame.drop("n"), task))
                    if len(pending) > self._engine.threads:
                        take()
                while pending:
                    take()
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
        return found


def _packing(codes: Dictionaries) -> Packing:
    return Packing.of([int(own.max(initial=0)) + 1 for _, own in codes.values()])


@dataclass
class _Section:
    """Tuples in a table of DuckDB; see `shoal.methods.sections.Section`."""

    session: DuckSession
    packing: Packing
    pricing: Pricing
    table: str
    n_tuples: int
    numbers: Iterator[int]

    def histograms(self) -> list[Counts]:
        """Return the number of tuples of each code, column after column."""
        counts = self._counts()
        offsets = self.pricing.prices.offsets
        return [
            np.bincount(codes, counts[a], int(offsets[c + 1] - offsets[c])).astype(np.int64)
            for c, (a, codes) in enumerate(self.pricing.columns)
        ]

    def halves(self, column: int, goes_left: NDArray[np.bool_]) -> tuple[_Section, _Section]:
        """Cut the section by the codes of a column; its own table is gone then."""
        attribute, search_codes = self.pricing.columns[column]
        counts = self._counts()[attribute]
        is_left = goes_left[search_codes]
        left, right = (np.flatnonzero((counts > 0) & side) for side in (is_left, ~is_left))
        code = self.packing.code_in_sql(attribute)
        if left[-1] < right[0] or right[-1] < left[0]:
            chosen = f"{code} between {left[0]} and {left[-1]}"
        else:
            self._load_lefts(left)
            chosen = f"{code} in (select code from lefts)"
        sides = []
        for where, codes in ((chosen, left), (f"not ({chosen})", right)):
            table = f"section{next(self.numbers)}"
            self.session.ask(f"create temp table {table} as select * from {self.table} where {where}")
            sides.append(replace(self, table=table, n_tuples=int(counts[codes].sum())))
        self.session.ask(f"drop table {self.table}")
        return sides[0], sides[1]

    def fetch(self) -> pl.DataFrame:
        """Return the tuples, sorted; the table is gone then."""
        frame = self.session.fetch(f"select * from {self.table}").sort(self.packing.names)
        self.session.ask(f"drop table {self.table}")
        return frame

    def _counts(self) -> list[Counts]:
        """Return the number of tuples of each code of each attribute."""
        lengths = {a: len(codes) for a, codes in self.pricing.columns}
        code = self.packing.code_in_sql
        queries = [
            f"select {a} as a, {code(a)} as code, count(*)::bigint as n from {self.table} group by 2" for a in lengths
        ]
        frame = self.session.fetch(" union all ".join(queries))
        attributes, codes, rows = (frame[name].to_numpy() for name in ("a", "code", "n"))
        found = []
        for a in range(len(self.packing.cards)):
            own = attributes == a
            counts = np.zeros(lengths.get(a, 0), dtype=np.int64)
            counts[codes[own]] = rows[own]
            found.append(counts)
        return found

    def _load_lefts(self, codes: NDArray[np.int64]) -> None:
        import polars as pl

        self.session.load("lefts", pl.DataFrame({"code": codes.astype(np.int32)}))


def _leaves(tree: Tree[_Section]) -> list[_Section]:
    """Return the sections that were not cut, from left to right."""
    if tree.sides is None:
        return [tree.section]
    return [leaf for side in tree.sides for leaf in _leaves(side)]


class DuckFound:
    """The groups of all sections in files; see `shoal.release.counted_tables.in_place.Found`.

    An entry has its packed tuple, `several`, `place`, `rows`, and the number of its cell in each column: c0 and so on.
    """

    def __init__(self, engine: Engine, search: SectionSearch, largest: int, codes: Dictionaries) -> None:
        self.parts: list[Path] = []
        self._engine, self._again = engine, (search, largest, codes)
        self._packing = _packing(codes)
        # The path of the private folder may be that of a later one, so the name must tell them apart.
        self._folder = engine.session.folder / f"groups-{secrets.token_hex(8)}"
        self._folder.mkdir(mode=0o700)
        self._cells = [Numbering() for _ in codes]
        self._rows: list[Counts] = [np.zeros(0, dtype=np.int64) for _ in codes]
        self._sse: list[float] = []
        self._singled: list[Singled] = []

    def add(self, tuples: pl.DataFrame, groups: SectionGroups) -> None:
        """Store the groups of the next section; tuples: those of the section, packed."""
        import polars as pl

        columns = [
            pl.Series("several", groups.several),
            pl.Series("place", groups.places),
            pl.Series("rows", groups.rows),
        ]
        for i, keys in enumerate(groups.cells):
            cells = self._cells[i].number(pl.Series(keys.tolist(), dtype=pl.String))
            rows = np.bincount(cells, groups.rows, len(self._cells[i])).astype(np.int64)
            rows[: len(self._rows[i])] += self._rows[i]
            self._rows[i] = rows
            columns.append(pl.Series(f"c{i}", cells))
        entries = tuples[groups.tuples.astype(np.int64)].with_columns(columns)
        self.parts.append(self._write(f"entries-{len(self.parts):06}", entries))
        self._sse.append(groups.sse)
        self._singled.append(groups.singled)

    @property
    def cells(self) -> list[tuple[list[str], Counts]]:
        """For each attribute, the keys of its distinct cells, and the rows that show each."""
        found = []
        for numbering, rows in zip(self._cells, self._rows, strict=True):
            keys, ranks = numbering.ranks()
            in_order = np.empty_like(rows)
            in_order[ranks] = rows
            found.append((keys.to_list(), in_order))
        return found

    @property
    def sse(self) -> float:
        """The sum of squares inside groups over that of the table."""
        return sum(self._sse)

    @property
    def singled(self) -> Singled:
        """What the cells show of single rows."""
        return added_figures(self._singled)

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        """Return the sizes of the groups that the release shows, and the rows that are exact in every column."""
        import polars as pl

        ranking = Packing.of([int(each.ranks.max(initial=0)) + 1 for each in columns])
        names, sizes, n_exact, n_starred = [f"q{i}" for i in range(len(ranking.parts))], [], 0, 0
        for part, frame, places in self._entries():
            rows = frame["rows"].to_numpy()
            n_exact += int(rows[_all(each.exact[own] for each, own in zip(columns, places, strict=True))].sum())
            n_starred += int(rows[_all(each.starred[own] for each, own in zip(columns, places, strict=True))].sum())
            packed = ranking.pack([each.ranks[own] for each, own in zip(columns, places, strict=True)])
            shown = pl.DataFrame(dict(zip(names, packed, strict=True))).with_columns(frame["rows"])
            shown = shown.group_by(names).agg(pl.col("rows").sum())
            sizes.append(self._write(part.stem.replace("entries", "sizes"), shown))
        found = f"read_parquet([{', '.join(map(literal, sizes))}])"
        groups = f"select sum(rows)::bigint as rows from {found} group by {', '.join(names)}"
        query = f"select rows, count(*)::bigint as times from ({groups}) group by rows"
        counted = self._engine.session.fetch(query).sort("rows")
        for path in sizes:
            path.unlink()
        rows, times = (counted[name].to_numpy().astype(np.int64) for name in ("rows", "times"))
        return GroupSizes(rows, n_rows, int(rows @ times), n_starred, n_exact, times)

    def count_rows(self, chosen: Sequence[Sequence[NDArray[np.bool_]]]) -> list[int]:
        """Count the rows whose cells are all chosen; several choices together."""
        found = [0] * len(chosen)
        for _, frame, places in self._entries():
            rows = frame["rows"].to_numpy()
            for i, flags in enumerate(chosen):
                found[i] += int(rows[_all(each[own] for each, own in zip(flags, places, strict=True))].sum())
        return found

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> FiledGroups:
        """Return the groups with the ranks of their cells, for dealing; ranks: by attribute, one for each cell."""
        ranking = Packing.of([int(own.max(initial=0)) + 1 for own in ranks])
        return FiledGroups(self._packing, ranking, tuple(ranks), self._again, tuple(self.rank(ranks, ranking)))

    def rank(self, ranks: Sequence[NDArray[np.int32]], ranking: Packing) -> list[Path]:
        """Store the entries once more, with packed ranks in place of cells; return the files."""
        import polars as pl

        files = []
        for part, frame, places in self._entries():
            packed = ranking.pack([own[place] for own, place in zip(ranks, places, strict=True)])
            columns = [pl.Series(f"q{i}", numbers) for i, numbers in enumerate(packed)]
            kept = frame.select(*self._packing.names, "several", "place").with_columns(columns)
            files.append(self._write(part.stem.replace("entries", "ranked"), kept))
            part.unlink()
        return files

    def _entries(self) -> Iterator[tuple[Path, pl.DataFrame, list[NDArray[np.int32]]]]:
        """Yield the entries of each section, and the place of their cells among those of each column."""
        import polars as pl

        places = [numbering.ranks()[1] for numbering in self._cells]
        for part in self.parts:
            self._engine.session.watch.check()
            frame = pl.read_parquet(part, glob=False)
            yield part, frame, [place[frame[f"c{i}"].to_numpy()] for i, place in enumerate(places)]

    def _write(self, name: str, frame: pl.DataFrame) -> Path:
        path = self._folder / f"{name}.parquet"
        self._engine.session.save(frame, path)
        return path


@dataclass(eq=False)
class FiledGroups:
    """Groups with the ranks of their cells, in files; see `shoal.tables.sources.dealing.SearchedGroups`.

    The files are gone with the source that was open, unless they are kept. A copy made by pickle has none. The groups
    are then searched again, which gives the same ones.

    Attributes:
        packing: How tuples are packed.
        ranking: How the ranks of a group are packed.
        ranks: For each attribute, the rank of each cell.
        again: What searches the groups: a search, the size of its sections, and the codes of cells.
        paths: The files.
    """

    packing: Packing
    ranking: Packing
    ranks: tuple[NDArray[np.int32], ...]
    again: tuple[SectionSearch, int, Dictionaries]
    paths: tuple[Path, ...]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"paths": ()}

    def keep(self) -> None:
        """Move the files to a private folder of their own, which is removed together with this object."""
        folder = PrivateFolder().__enter__()
        weakref.finalize(self, folder.__exit__, None, None, None)
        self.paths = tuple(path.rename(folder.path / path.name) for path in self.paths)

    def files(self, engine: Engine) -> list[Path]:
        """Return files of entries; groups that are gone are searched again."""
        if self.paths and all(path.exists() for path in self.paths):
            return list(self.paths)
        search, largest, codes = self.again
        searcher = DuckSearcher(engine)
        searcher.count_tuples(codes)
        return searcher.search_sections(search, largest).rank(self.ranks, self.ranking)


def keep_groups(recoding: object) -> None:
    """Keep the files of groups for as long as the release that has them, after its source is closed."""
    if isinstance(recoding, Dealing) and isinstance(recoding.searched, FiledGroups):
        recoding.searched.keep()


def _all(flags: Iterator[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.logical_and.reduce(list(flags))
    return found
