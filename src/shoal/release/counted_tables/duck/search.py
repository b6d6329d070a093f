"""Sections cut by DuckDB and searched one by one: tuples and groups are on disk, never all of them in memory.

DuckDB has the tuples as packed 64-bit numbers; where models tell the rows of a tuple apart, it has units. It counts
them by code to cut them into sections, which Python fetches, searches in a pool of threads and stores as files.
Dictionaries of single columns are in memory.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.methods.sections import Tree, cut_by
from shoal.metrics.association import Pairs
from shoal.release.counted_tables.dealing import Coding
from shoal.release.counted_tables.duck.groups import DuckFound
from shoal.release.counted_tables.duck.regions import DuckRegions
from shoal.release.counted_tables.duck.sections import DuckSection
from shoal.release.counted_tables.duck.suppression import DuckHeld
from shoal.release.counted_tables.searcher import Regions, RegionSizes, RowSets, SetCounts, UnitCounts, Upto
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.release.counted_tables.sections.people import latest_met
from shoal.release.counted_tables.sections.search import SectionGroups, SectionSearch
from shoal.release.counted_tables.sections.suppression import HeldGroups, SectionSuppression
from shoal.tables.sorting import Packing
from shoal.tables.sources.dealing import Engine, load_codes, slices
from shoal.tables.sources.duck.people import load_people
from shoal.tables.values.people import People
from shoal.tables.watch import pooled

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DuckSearcher"]

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]
Outcome = SectionGroups | HeldGroups | InfeasibleError


class Taker(Protocol):
    """Takes what is found in sections, one after another."""

    def add(self, tuples: pl.DataFrame, groups: Any) -> None:
        """Take the packed tuples or units of the next section, and its groups."""


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

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._counted: tuple[Coding, Coding, People | None] = {}, {}, None
        self._people = ""  # joins the codes of people
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
        found = self.count_units(codes, {})
        return found.tuples, found.rarest

    def code_people(self, people: People) -> int:
        """Give every person a code; return their number."""
        self._people = f"join people on people.cell = t.c{self._engine.names.index(people.name)}"
        return load_people(self._engine, people)

    def count_lone_rows(self, names: Sequence[str]) -> list[int]:
        """Count for each column the rows whose cell no other person has; people have codes already."""
        found = []
        for column in (f"t.c{self._engine.names.index(name)}" for name in names):
            held = f"select count(*) as n from cells as t {self._people} group by {column} having min(code) = max(code)"
            found.append(int(self._engine.session.ask(f"select coalesce(sum(n), 0) from ({held})")[0][0]))
        return found

    def count_holders(self, name: str, cells: pl.Series) -> int:
        """Count the people who have one of some cells of a column; people have codes already."""
        import polars as pl

        session, numbering = self._engine.session, self._engine.numbering(name)
        if numbering is not None:
            cells = pl.Series(np.flatnonzero(numbering.texts.is_in(cells.to_list())), dtype=pl.Int32)
        session.load("chosen", cells.alias("cell").to_frame())
        column = f"c{self._engine.names.index(name)}"
        chosen = f"(select * from cells semi join chosen on chosen.cell = cells.{column})"
        return int(session.ask(f"select count(distinct code) from {chosen} as t {self._people}")[0][0])

    def count_units(self, coding: Coding, beside: Coding, people: People | None = None) -> UnitCounts:
        """Count the table by the codes of quasi-identifiers, of columns beside them, and at last of people."""
        session, codes = self._engine.session, {**coding, **beside}
        cards = [int(own.max(initial=0)) + 1 for _, own in codes.values()]
        cards += [] if people is None else [self.code_people(people)]
        packing, n_beside = Packing.of(cards, len(coding)), len(cards) - len(coding)
        joins = load_codes(self._engine, codes, people)
        packed = packing.packed_in_sql([f"m{i}.code" for i in range(len(cards))])
        keys = ", ".join(f"{key} as {name}" for key, name in zip(packed, packing.names, strict=True))
        session.ask(
            f"create or replace temp table section as select {keys}, count(*)::bigint as n from cells as t "
            f"{' '.join(joins)} group by all"
        )
        keys = ", ".join(packing.key_names)
        sizes = f"(select {keys}, sum(n) as n from section group by {keys})" if n_beside else "section"
        if people is not None:
            of_person = f"select distinct {keys}, {packing.code_in_sql(len(cards) - 1)} as person from section"
            sizes = f"(select count(*) as n from ({of_person}) group by {keys})"
        n_units = int(session.ask("select count(*) from section")[0][0])
        counted = f"select count(*), min(n), count(*) filter (where n = 1) from {sizes}"
        n_tuples, rarest, lone = map(int, session.ask(counted)[0])
        self._counted, self._packing, self._n_units = (coding, beside, people), packing, n_units
        return UnitCounts(n_units, n_tuples, rarest, lone)

    def count_people(self, runs: Mapping[int, Codes]) -> list[Counts]:
        """Count the people of runs of codes; runs: by place of a quasi-identifier, of each code, or -1 for none."""
        import polars as pl

        session, packing, counted = self._engine.session, self._packing, []
        person = packing.code_in_sql(len(packing.cards) - 1)
        for place, own in runs.items():
            frame = pl.DataFrame({"code": np.arange(len(own), dtype=np.int32), "run": own})
            session.load("runs", frame.filter(pl.col("run") >= 0))
            pairs = f"select {packing.code_in_sql(place)} as code, {person} as person from section"
            people = f"select distinct run, person from ({pairs}) join runs using (code)"
            found = session.fetch(f"select run, count(*)::bigint as n from ({people}) group by run")
            counts = np.zeros(int(own.max(initial=-1)) + 1, dtype=np.int64)
            counts[found["run"].to_numpy()] = found["n"].to_numpy()
            counted.append(counts)
        return counted

    def count_sets(self, sets: RowSets, k: int) -> SetCounts:
        """Count the people of sets of rows; see `UnitSearcher`."""
        import polars as pl

        session, packing = self._engine.session, self._packing
        keys = [f"k{place}" for place in sets.places]
        columns = {key: np.ascontiguousarray(sets.codes[:, i]) for i, key in enumerate(keys)}
        session.load("sets", pl.DataFrame(columns | {"run": sets.run, "number": sets.number}))
        codes = [f"{packing.code_in_sql(place)} as {key}" for place, key in zip(sets.places, keys, strict=True)]
        codes.append(f"{packing.code_in_sql(len(packing.cards) - 1)} as person")
        people = f"select distinct {', '.join(codes)} from section {self._where(sets.upto)}"
        held = f"select distinct run, number, person from ({people}) join sets using ({', '.join(keys)})"
        session.ask(f"create or replace temp table held as {held}")
        sizes = "select run, number, count(*)::bigint as n from held group by all"
        latest = list(latest_met([], k))
        if k:
            scarce = f"select held.* from held join ({sizes}) using (run, number) where n < {k} order by run, number"
            with session.stored(scarce) as path:
                latest = list(latest_met(slices(path), k))
        found = SetCounts.of(session.fetch(sizes), pl.concat(latest))
        session.ask("drop table held")
        return found

    def count_pairs(self) -> Pairs:
        """Count the rows of each pair of codes of the quasi-identifiers that were counted last."""
        return {pair: self.count_together(pair) for pair in combinations(range(self._packing.n_keys), 2)}

    def count_together(self, places: Sequence[int], upto: Upto | None = None) -> tuple[Codes, Counts]:
        """Count the rows by the codes of some of these quasi-identifiers; return the codes, sorted, and the rows."""
        keys = [f"k{place}" for place in places]
        codes = (f"{self._packing.code_in_sql(place)} as {key}" for place, key in zip(places, keys, strict=True))
        query = f"select {', '.join(codes)}, sum(n)::bigint as n from section {self._where(upto)} group by all"
        found = self._engine.session.fetch(query).sort(keys)
        return found.select(keys).to_numpy().astype(np.int32), found["n"].to_numpy().astype(np.int64)

    def _where(self, upto: Upto | None) -> str:
        """Return the condition of rows that are counted."""
        if upto is None:
            return ""
        return f"where {self._packing.code_in_sql(self._packing.n_keys + upto.place)} <= {upto.code}"

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

    def measure_regions(self, regions: Regions) -> RegionSizes:
        """Count the rows of each region."""
        return self._regions(regions).measure()

    def regions_pass(self, regions: Regions, judge: PartJudge) -> bool:
        """Say whether every region passes the models of a judge."""
        return self._regions(regions).pass_models(judge)

    def count_in_regions(self, regions: Regions) -> list[Counts]:
        """Return the rows of all regions together by code, for each quasi-identifier and each column beside them."""
        return list(self._regions(regions).count_codes())

    def _regions(self, regions: Regions) -> DuckRegions:
        """Give DuckDB the parts of codes."""
        return DuckRegions.of(self._engine.session, self._packing, regions, self._where(regions.upto))

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""
        packing = self._packing
        with self._engine.session.stored(f"select * from section order by {', '.join(packing.names)}") as path:
            blocks = packing.whole_tuples(slices(path))
            return all(search.meets(*_Units.of(block, packing)) for block in blocks)

    def largest_beside(self, place: int) -> list[Codes]:
        """Return the largest code of a column beside that occurs with each code of each quasi-identifier."""
        largest, last = [], self._packing.code_in_sql(self._packing.n_keys + place)
        for a in range(self._packing.n_keys):
            code = self._packing.code_in_sql(a)
            found = self._engine.session.fetch(f"select {code} as code, max({last}) as last from section group by 1")
            own = np.zeros(self._packing.cards[a], dtype=np.int32)
            own[found["code"].to_numpy()] = found["last"].to_numpy()
            largest.append(own)
        return largest

    def search_sections(self, search: SectionSearch, largest: int) -> DuckFound:
        """Cut the tuples or units that were counted last into sections of at most so many, and search each."""
        session, packing = self._engine.session, self._packing
        n_cells, n_values = (sum(len(codes) for _, codes in coding.values()) for coding in self._counted[:2])
        n_groups = min(self._n_units, search.whole.n_rows // search.plan.k)
        self._engine.check_sections(n_cells, n_groups, n_values)
        for movement in search.moves:
            movement.prepare()
        whole = DuckSection.whole(session, packing, search.plan, "section", self._n_units)
        plan = search.plan
        tree = cut_by(whole, lambda rows: plan.cuts(rows, largest), largest, DuckSection.rule, DuckSection.locate)
        again = partial(_search_again, search, largest, self._counted)
        found = DuckFound(self._engine, packing, again, by_person=search.by_person)
        if not search.suppresses:
            self._search_into(found, search, tree)
            return found
        held = DuckHeld(self._engine, SectionSuppression(search, packing))
        self._search_into(held, search, tree)
        held.show(found)
        return found

    def _search_into(self, found: Taker, search: SectionSearch, tree: Tree[DuckSection]) -> None:
        """Search all sections, and hand over what is found in each, in order."""
        if search.plan.may_fail:
            self._search_tree(search, tree, found)
            return
        for frame, groups in self._searched(search, tree.leaves(), drop=True):
            if isinstance(groups, InfeasibleError):
                raise groups
            found.add(frame, groups)

    def _search_tree(self, search: SectionSearch, tree: Tree[DuckSection], found: Taker) -> None:
        """Search sections; where one has no groups that pass, the section that it was cut from.

        Raises:
            InfeasibleError: No groups that pass were found.
        """
        import polars as pl

        session, numbers = self._engine.session, count()
        if search.joins_failing:
            tree = tree.whole_where(lambda section: search.fails(*_Units.of(section.fetch(), self._packing)))

        def kept(outcome: Outcome) -> Path | InfeasibleError:
            if isinstance(outcome, InfeasibleError):
                return outcome
            path = session.folder / f"section-{next(numbers):06}.parquet"
            session.save(pl.DataFrame({"groups": [pickle.dumps(outcome)]}), path)
            return path

        leaves = tree.leaves()
        outcomes = {
            id(leaf): kept(each) for leaf, (_, each) in zip(leaves, self._searched(search, leaves), strict=True)
        }

        def work(section: DuckSection, number: int) -> tuple[DuckSection, Path]:
            outcome = outcomes.get(id(section))
            if outcome is None:
                outcome = kept(next(iter(self._searched(search, [section], number)))[1])
            if isinstance(outcome, InfeasibleError):
                raise outcome
            return section, outcome

        is_passing = True
        for section, path in tree.work(work):
            groups: SectionGroups | HeldGroups = pickle.loads(pl.read_parquet(path, glob=False)["groups"][0])
            found.add(section.fetch(drop=True).drop("n"), groups)
            is_passing &= groups.passing
        for path in session.folder.glob("section-*.parquet"):
            path.unlink()
        if not is_passing:
            raise search.plan.refusal(search.models)

    def _searched(
        self, search: SectionSearch, sections: Sequence[DuckSection], first: int = 0, *, drop: bool = False
    ) -> Iterator[tuple[pl.DataFrame, Outcome]]:
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
        suppression = SectionSuppression(search, packing)

        def task(frame: pl.DataFrame, number: int) -> tuple[pl.DataFrame, Outcome]:
            try:
                if search.suppresses:
                    return frame, suppression.hold(frame, number)
                units = _Units.of(frame, packing)
                beside = units.beside if search.by_units else None
                return frame.drop("n"), search.group(units.tuples, units.counts, number, beside)
            except InfeasibleError as error:
                return frame, error

        jobs = (partial(task, section.fetch(drop=drop), number) for number, section in enumerate(sections, first))
        return pooled(jobs, len(sections), self._engine.threads, watch, stopped)


def _search_again(
    search: SectionSearch, largest: int, counted: tuple[Coding, Coding, People | None], engine: Engine
) -> DuckFound:
    """Search the groups of a table once more."""
    searcher = DuckSearcher(engine)
    searcher.count_units(*counted)
    return searcher.search_sections(search, largest)
