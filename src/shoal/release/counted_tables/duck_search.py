"""Sections cut by DuckDB and searched one by one: tuples and groups are on disk, never all of them in memory.

DuckDB has the tuples as packed 64-bit numbers; where models tell the rows of a tuple apart, it has units. It counts
them by code to cut them into sections, which Python fetches, searches in a pool of threads and stores as files.
Dictionaries of single columns are in memory.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.methods.sections import Tree, cut_sections
from shoal.methods.shoaling.grouping import no_groups
from shoal.methods.shoaling.pricing import Pricing
from shoal.metrics.association import Pairs
from shoal.release.counted_tables.dealing import Coding
from shoal.release.counted_tables.filed_groups import DuckFound
from shoal.release.counted_tables.section_search import SectionGroups, SectionSearch
from shoal.tables.sorting import Packing
from shoal.tables.sources.dealing import SLICE_ROWS, Engine, load_codes
from shoal.tables.sources.duck_session import DuckSession

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DuckSearcher"]

POLL_SECONDS = 0.1

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]


class _Units(NamedTuple):
    """Tuples or units and their rows, as arguments of a search."""

    tuples: Codes
    beside: Codes
    counts: Counts

    @classmethod
    def of(cls, frame: pl.DataFrame, packing: Packing) -> _Units:
        """Unpack them."""
        codes, counts = packing.codes(frame), frame["n"].to_numpy().astype(np.int64)
        return cls(np.ascontiguousarray(codes[:, : packing.n_keys]), codes[:, packing.n_keys :], counts)


class DuckSearcher:
    """Counts, cuts and searches tuples or units of an open source; see `Searcher` and `UnitSearcher`."""

    searches = True

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._coding: tuple[Coding, Coding] = {}, {}
        self._packing = Packing.of([])
        self._n_units = 0

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

    def count_tuples(self, codes: Coding) -> tuple[int, int]:
        """Count the table by codes; return the number of tuples, and the rows of the rarest."""
        return self.count_units(codes, {})

    def count_units(self, coding: Coding, beside: Coding) -> tuple[int, int]:
        """Count the table by the codes of quasi-identifiers and of columns beside them.

        Returns:
            The number of units, and the rows of the rarest tuple.
        """
        session, codes = self._engine.session, {**coding, **beside}
        packing = Packing.of([int(own.max(initial=0)) + 1 for _, own in codes.values()], len(coding))
        joins = load_codes(self._engine, codes)
        packed = packing.packed_in_sql([f"m{i}.code" for i in range(len(codes))])
        keys = ", ".join(f"{key} as {name}" for key, name in zip(packed, packing.names, strict=True))
        session.ask(
            f"create or replace temp table section as select {keys}, count(*)::bigint as n from cells as t "
            f"{' '.join(joins)} group by all"
        )
        tuples = f"(select sum(n) as n from section group by {', '.join(packing.key_names)})" if beside else "section"
        n_units, rarest = session.ask(f"select (select count(*) from section), (select min(n) from {tuples})")[0]
        self._coding, self._packing, self._n_units = (coding, beside), packing, int(n_units)
        return int(n_units), int(rarest)

    def count_pairs(self) -> Pairs:
        """Count the rows of each pair of codes of the quasi-identifiers that were counted last."""
        return {pair: self.count_together(pair) for pair in combinations(range(self._packing.n_keys), 2)}

    def count_together(self, places: Sequence[int]) -> tuple[Codes, Counts]:
        """Count the rows by the codes of some of these quasi-identifiers; return the codes, sorted, and the rows."""
        keys = [f"k{place}" for place in places]
        codes = (f"{self._packing.code_in_sql(place)} as {key}" for place, key in zip(places, keys, strict=True))
        query = f"select {', '.join(codes)}, sum(n)::bigint as n from section group by all"
        found = self._engine.session.fetch(query).sort(keys)
        return found.select(keys).to_numpy().astype(np.int32), found["n"].to_numpy().astype(np.int64)

    def count_beyond(self, tuples: Codes, rows: Counts) -> int:
        """Count the rows of the table that are not among some rows, given as distinct tuples of codes."""
        import polars as pl

        cards = self._packing.cards[: self._packing.n_keys]
        inside = (tuples < np.array(cards)).all(axis=1)
        keys, joined = self._packing.key_names, ", ".join(self._packing.key_names)
        packed = Packing.of(cards).pack(list(tuples[inside].T))
        self._engine.session.load("known", pl.DataFrame(dict(zip(keys, packed, strict=True)) | {"n": rows[inside]}))
        own = f"(select {joined}, sum(n) as n from section group by {joined})"
        beyond = "sum(greatest(own.n - coalesce(known.n, 0), 0))"
        return int(
            self._engine.session.ask(f"select {beyond} from {own} as own left join known using ({joined})")[0][0]
        )

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""
        import polars as pl

        keys, names = self._packing.key_names, ", ".join(self._packing.names)
        held: pl.DataFrame | None = None  # the last tuple, of which there may be more
        with self._engine.session.stored(f"select * from section order by {names}") as path:
            rows, first = pl.scan_parquet(path, glob=False), 0
            while (frame := rows.slice(first, SLICE_ROWS).collect()).height:
                first += frame.height
                whole = frame if held is None else pl.concat([held, frame])
                is_last = whole.select((pl.struct(keys) == pl.struct(keys).last()).alias("is_last"))["is_last"]
                held, complete = whole.filter(is_last), whole.filter(~is_last)
                if complete.height and not search.meets(*_Units.of(complete, self._packing)):
                    return False
        return held is None or search.meets(*_Units.of(held, self._packing))

    def largest_beside(self) -> list[Codes]:
        """Return the largest code of the last column beside that occurs with each code of each quasi-identifier."""
        largest, last = [], self._packing.code_in_sql(len(self._packing.cards) - 1)
        for place in range(self._packing.n_keys):
            code = self._packing.code_in_sql(place)
            found = self._engine.session.fetch(f"select {code} as code, max({last}) as last from section group by 1")
            own = np.zeros(self._packing.cards[place], dtype=np.int32)
            own[found["code"].to_numpy()] = found["last"].to_numpy()
            largest.append(own)
        return largest

    def search_sections(self, search: SectionSearch, largest: int) -> DuckFound:
        """Cut the tuples or units that were counted last into sections of at most so many, and search each."""
        session, packing = self._engine.session, self._packing
        n_cells = sum(len(codes) for _, codes in self._coding[0].values())
        n_rows, n_groups = search.whole.n_rows, min(self._n_units, search.whole.n_rows // search.plan.k)
        n_pairs = packing.n_keys * min(n_rows, self._n_units + n_groups) if search.center else 0
        self._engine.check_sections(n_cells, n_groups, n_pairs)
        whole = _Section(session, packing, search.plan.pricing, "section", self._n_units, count())
        tree = cut_sections(whole, search.plan.pricing.prices, largest)
        found = DuckFound(self._engine, packing, partial(_search_again, search, largest, self._coding))
        if search.row_by_row:
            self._search_tree(search, tree, found)
            return found
        for frame, groups in self._searched(search, _leaves(tree), drop=True):
            if isinstance(groups, InfeasibleError):
                raise groups
            found.add(frame, groups)
        return found

    def _search_tree(self, search: SectionSearch, tree: Tree[_Section], found: DuckFound) -> None:
        """Search sections; where one has no groups that pass, the section that it was cut from.

        Raises:
            InfeasibleError: No groups that pass were found.
        """
        import polars as pl

        session, numbers = self._engine.session, count()
        if search.by_units or search.by_population:
            tree = tree.whole_where(lambda section: search.fails(*_Units.of(section.fetch(), self._packing)))

        def kept(outcome: SectionGroups | InfeasibleError) -> Path | InfeasibleError:
            if isinstance(outcome, InfeasibleError):
                return outcome
            path = session.folder / f"section-{next(numbers):06}.parquet"
            session.save(pl.DataFrame({"groups": [pickle.dumps(outcome)]}), path)
            return path

        leaves = _leaves(tree)
        outcomes = {
            id(leaf): kept(each) for leaf, (_, each) in zip(leaves, self._searched(search, leaves), strict=True)
        }

        def work(section: _Section, number: int) -> tuple[_Section, Path]:
            outcome = outcomes.get(id(section))
            if outcome is None:
                outcome = kept(next(iter(self._searched(search, [section], number)))[1])
            if isinstance(outcome, InfeasibleError):
                raise outcome
            return section, outcome

        is_passing = True
        for section, path in tree.work(work):
            groups: SectionGroups = pickle.loads(pl.read_parquet(path, glob=False)["groups"][0])
            found.add(section.fetch(drop=True).drop("n"), groups)
            is_passing &= groups.passing
        for path in session.folder.glob("section-*.parquet"):
            path.unlink()
        if not is_passing:
            raise InfeasibleError(no_groups(search.models))

    def _searched(
        self, search: SectionSearch, sections: Sequence[_Section], first: int = 0, *, drop: bool = False
    ) -> Iterator[tuple[pl.DataFrame, SectionGroups | InfeasibleError]]:
        """Search sections in a pool of threads; yield the tuples or units of each, in order, and what was found.

        Args:
            search: Searches a section.
            sections: The sections.
            first: The number of the first of them.
            drop: Whether their tables are not needed any more.
        """
        watch, packing, stopped = self._engine.session.watch, self._packing, Event()
        watched = replace(search.run, cancelled=lambda: stopped.is_set() or watch.cancelled())
        search = replace(search, run=watched)
        pending: deque[tuple[pl.DataFrame, Future[SectionGroups | InfeasibleError]]] = deque()
        n_done = 0

        def task(units: _Units, number: int) -> SectionGroups | InfeasibleError:
            try:
                return search.group(units.tuples, units.counts, number, units.beside if search.by_units else None)
            except InfeasibleError as error:
                return error

        def take() -> tuple[pl.DataFrame, SectionGroups | InfeasibleError]:
            frame, future = pending.popleft()
            while not future.done():
                wait([future], POLL_SECONDS)
                watch.check()
            return frame, future.result()

        with ThreadPoolExecutor(max_workers=max(1, self._engine.threads)) as pool:
            try:
                for number, section in enumerate(sections, first):
                    frame = section.fetch(drop=drop)
                    pending.append((frame.drop("n"), pool.submit(task, _Units.of(frame, packing), number)))
                    if len(pending) > self._engine.threads:
                        yield take()
                        n_done += 1
                        watch.progress(n_done / len(sections))
                while pending:
                    yield take()
                    n_done += 1
                    watch.progress(n_done / len(sections))
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise


def _search_again(search: SectionSearch, largest: int, coding: tuple[Coding, Coding], engine: Engine) -> DuckFound:
    """Search the groups of a table once more."""
    searcher = DuckSearcher(engine)
    searcher.count_units(*coding)
    return searcher.search_sections(search, largest)


@dataclass
class _Section:
    """Tuples or units in a table of DuckDB, or in those of its two sides; see `shoal.methods.sections.Section`."""

    session: DuckSession
    packing: Packing
    pricing: Pricing
    table: str
    n_tuples: int
    numbers: Iterator[int]
    sides: tuple[_Section, ...] = ()

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
            sides.append(replace(self, table=table, n_tuples=int(counts[codes].sum()), sides=()))
        self.session.ask(f"drop table {self.table}")
        self.sides = sides[0], sides[1]
        return sides[0], sides[1]

    def fetch(self, *, drop: bool = False) -> pl.DataFrame:
        """Return the tuples or units, sorted; drop: whether the table is not needed any more."""
        frame = self.session.fetch(self.query()).sort(self.packing.names)
        if drop:
            for table in self.tables():
                self.session.ask(f"drop table {table}")
        return frame

    def tables(self) -> list[str]:
        """Return the tables that have the tuples or units."""
        return [table for side in self.sides for table in side.tables()] or [self.table]

    def query(self) -> str:
        """Return the query of all tuples or units, with their rows."""
        return " union all ".join(f"select * from {table}" for table in self.tables())

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
