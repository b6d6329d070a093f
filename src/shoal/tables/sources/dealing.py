"""Rows dealt to groups by DuckDB: numbered inside their tuple, joined with their group, sorted and written.

DuckDB sorts integers: the ranks of released cells. Their texts come from dictionaries when the file is written. Beside
each row stands what it was made from, which the gate asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InternalError
from shoal.tables.formats.writers import create
from shoal.tables.sorting import Packing, number_rows
from shoal.tables.sources.base import LAYOUTS, Dealing, Gatherer, Verifier, Witness
from shoal.tables.sources.duck.file_columns import FileColumn, Other, file_columns
from shoal.tables.sources.duck.origins import ListedTexts, Origins, packing_of, spelled_columns, stated_columns
from shoal.tables.sources.duck.people import load_people
from shoal.tables.sources.duck_session import literal

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.sources.duck_session import DuckSession
    from shoal.tables.sources.numbering import Numbering
    from shoal.tables.values.people import People

__all__ = ["DuckDealer", "Engine", "SearchedGroups", "load_codes", "slices"]

SLICE_ROWS = 122_880  # rows that are read at once; DuckDB stores as many together

Ints = NDArray[np.int32]


@runtime_checkable
class Engine(Protocol):
    """A source whose cells DuckDB has: what a dealer, or the search of its sections, asks of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def session(self) -> DuckSession:
        """The open DuckDB."""

    @property
    def threads(self) -> int:
        """The number of threads to use."""

    def numbering(self, name: str) -> Numbering | None:
        """Return what the numbers of a column mean; None if it is stored as text."""

    def verify_table(self, verifier: Verifier) -> Any:
        """Have the verifier read the original block by block, as codes."""

    def check_room(self, n_tuples: int, n_columns: int, n_rows: int) -> None:
        """Raise a FileError if distinct tuples, and rows one by one, do not fit into memory."""

    def check_sections(self, n_cells: int, n_groups: int, n_values: int) -> None:
        """Raise a FileError if distinct cells, groups and values do not fit into memory; tuples are on disk."""


class SearchedGroups(Protocol):
    """Groups that were found section by section, and are in files of the private folder."""

    @property
    def packing(self) -> Packing:
        """How tuples are packed."""

    @property
    def ranking(self) -> Packing:
        """How the ranks of the cells of a group are packed."""

    @property
    def leaves_out(self) -> bool:
        """Whether some rows are not released."""

    def files(self, engine: Engine) -> tuple[Sequence[Path], Sequence[Path]]:
        """Return files of entries, and of those whose rows are not released; lost ones are searched again.

        An entry has its packed tuple (p0 and so on), the packed ranks of its group (q0 and so on), the number of rows
        of its tuple that are dealt before it (place), and whether its tuple has several entries (several). One whose
        rows are not released has no group.
        """


class DuckDealer:
    """Deals the rows of an open source to groups."""

    lays_out = LAYOUTS

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stored: Path | None = None
        self._left: Path | None = None  # the rows that are not released
        self._dealing: Dealing | None = None
        self._others: dict[str, Other] = {}

    def forget(self) -> None:
        """Remove what was kept of the rows that were written last."""
        for path in (self._stored, self._left):
            if path is not None:
                path.unlink(missing_ok=True)
        self._stored = self._left = self._dealing = None

    def deal(self, dealing: Dealing, path: Path) -> None:
        """Write the rows as CSV, sorted by their released cells."""
        import polars as pl

        self.forget()
        dealing = self._dealing = self._load_groups(dealing)
        columns = file_columns(dealing)
        changes = {column.of: column.change for column in columns if column.of not in dealing.cells}
        self._others = {
            name: Other.make(self._engine, j, name, changes.get(name))
            for j, name in enumerate(dealing.names)
            if name not in dealing.cells
        }
        self._deal(dealing, columns)
        bare = len(columns) > 1  # in a table of one column, a bare empty cell would be a blank line
        with create(path) as file:
            shown = [other.shown for other in self._others.values()]
            for number, frame in enumerate(self._slices(self._stored, ["g", *shown])):
                groups = frame["g"].to_numpy()
                cells = [
                    self._others[column.of].cells(frame) if column.ranks is None else column.cells(groups)
                    for column in columns
                ]
                rows = pl.DataFrame([each.alias(column.name) for each, column in zip(cells, columns, strict=True)])
                rows = rows.with_columns(pl.all().replace("", None)) if bare else rows
                separator = dealing.layout.delimiter
                rows.write_csv(file, include_header=number == 0, quote_style="necessary", separator=separator)

    def check_room(self, n_tuples: int, n_columns: int, n_rows: int) -> None:
        """Raise a FileError if distinct tuples, and rows one by one, do not fit into memory."""
        self._engine.check_room(n_tuples, n_columns, n_rows)

    def original(self, verifier: Verifier) -> Any:
        """Return how the verifier reads the original itself."""
        return self._engine.verify_table(verifier)

    def count_cells(self, name: str, texts: Sequence[str]) -> int:
        """Return the number of written rows whose cell of an unchanged column is one of these texts."""
        if self._stored is None:
            raise InternalError("no rows were dealt.")
        other = self._others[name]
        wanted: list[Any] = list(texts) if other.texts is None else other.texts.is_in(list(texts)).arg_true().to_list()
        query = f"select count(*) from read_parquet({literal(self._stored)}) where list_contains(?, {other.kept})"
        return int(self._engine.session.ask(query, [wanted])[0][0])

    def judge_cells(self, name: str, judge: Callable[[list[str]], str]) -> set[str]:
        """Return what is said of the distinct cells of a column of the source, some of them at a time."""
        return set(map(judge, self._distinct_cells(name)))

    def _distinct_cells(self, name: str) -> Iterator[list[str]]:
        if numbering := self._engine.numbering(name):
            yield numbering.texts.to_list()
            return
        query = f"select distinct c{self._column(name)} as cell from cells"
        with self._engine.session.stored(query, in_order=False) as stored:
            for frame in self._slices(stored, ["cell"]):
                yield frame["cell"].to_list()

    def witness(self) -> Witness:
        """Return what each written row was made from."""
        dealing = self._dealing
        if dealing is None:
            raise InternalError("no rows were dealt.")
        origins, layout = Origins.of(dealing), dealing.layout
        texts: dict[str, list[str] | Gatherer] = {}
        for name in stated_columns(dealing):
            if name in dealing.codes:
                cells = dealing.codes[name][0]
                texts[name] = ListedTexts(cells) if name in dealing.cells else cells.to_list()
            else:
                numbering = self._engine.numbering(name)
                texts[name] = origins.met if numbering is None else numbering.ranks()[0].to_list()

        def left_out() -> Iterator[list[tuple[list[str], NDArray[Any]]]]:
            if self._left is None:
                return
            released = [name for name in dealing.names if name in texts or name in self._others]
            for frame in self._slices(self._left, None):
                stated = dict(zip(texts, origins.places(frame), strict=True))
                block: list[tuple[list[str], NDArray[Any]]] = []
                for name in [*released, *(name for name in texts if name not in dealing.cells)]:
                    if name in stated:
                        known = texts[name]
                        own, places = np.unique(stated[name], return_inverse=True)
                        met = [known[i] for i in own.tolist()] if isinstance(known, list) else known.gather(own)
                        block.append((met, places.astype(np.int32)))
                        continue
                    cells = self._others[name].originals(frame).to_list()
                    block.append((cells, np.arange(frame.height, dtype=np.int32)))
                yield [*block, *([([], frame["line"].to_numpy())] if layout.keep_order else [])]

        further = [*(["g"] if layout.centers else []), *(["line"] if layout.keep_order else [])]
        columns = [*origins.packing.names, *(f"s{i}" for i in spelled_columns(dealing)), *further]
        chunks = (
            [*origins.places(frame), *(frame[name].to_numpy() for name in further)]
            for frame in self._slices(self._stored, columns)
        )
        return Witness(list(texts.values()), chunks, left_out())

    def _slices(self, stored: Path | None, columns: list[str] | None) -> Iterator[pl.DataFrame]:
        """Yield columns of the rows that were dealt last, or all of them, some rows at a time."""
        if stored is None:
            raise InternalError("no rows were dealt.")
        return slices(stored, columns)

    def _deal(self, dealing: Dealing, columns: Sequence[FileColumn]) -> None:
        """Store the rows in the order of the file: group, packed tuple and what else is needed of each."""
        ask, others, packing = self._engine.session.ask, self._others, packing_of(dealing)
        spelled, tuples = [f"s{i}" for i in spelled_columns(dealing)], packing.names
        joins = load_codes(self._engine, dealing.codes, dealing.people)
        keys = packing.packed_in_sql([f"m{i}.code" for i in range(len(joins))])
        joins += [f"join {other.table} on {other.table}.cell = t.c{self._column(n)}" for n, other in others.items()]
        of_others = list(dict.fromkeys(column for other in others.values() for column in (other.kept, other.shown)))
        of_others += ["line"] if dealing.layout.keep_order else []
        carried = [*tuples, *spelled, *of_others]
        picked = ", ".join(["u.*", *(f"m{each[1:]}.{each}" for each in spelled), *of_others])
        matches = " and ".join(f"u.{name} = {key}" for name, key in zip(tuples, keys, strict=True))
        ask(
            f"create or replace temp table coded as select {picked} from cells as t {' '.join(joins)} join tuples as u "
            f"on {matches}"
        )
        order = [*(others[name].kept for name in sorted(others)), *(["line"] if dealing.layout.keep_order else [])]
        same = " and ".join(f"n.{name} = e.{name}" for name in tuples)
        ask(
            f"create or replace temp table dealt as select {', '.join(['g', *carried])} from coded where g is not "
            f"null union all select e.g, {', '.join(f'n.{column}' for column in carried)} "
            f"from (select *, row_number() over (partition by {', '.join(tuples)} order by "
            f"{', '.join(order) or tuples[0]}) - 1 as place "
            f"from coded where g is null) as n asof join entries as e on {same} and n.place >= e.place"
        )
        for name in ("coded", "tuples", "entries"):
            ask(f"drop table {name}")
        by_cells = self._load_ranks(columns)
        sorted_by = "line" if dealing.layout.keep_order else by_cells
        store, kept = self._engine.session.store, ", ".join(["g", *carried])
        self._stored = store(f"select {kept} from dealt join shown using (g) order by {sorted_by}", "dealt")
        if dealing.leaves_out:
            self._left = store(f"select {kept} from dealt where g < 0", "left", in_order=False)
        ask("drop table dealt")

    def _column(self, name: str) -> int:
        return self._engine.names.index(name)

    def _load_groups(self, dealing: Dealing) -> Dealing:
        """Make the tables `tuples`, whose g is null if a tuple has several groups, and `entries` of these.

        Returns:
            The dealing with the cells of each group.
        """
        import polars as pl

        if dealing.searched is not None:
            return self._load_searched(dealing, dealing.searched)
        of_tuple, rows, groups = dealing.entries
        starts = np.flatnonzero(np.diff(of_tuple, prepend=-1) != 0)
        lengths = np.diff(starts, append=len(rows))
        place = np.cumsum(rows) - rows
        place -= np.repeat(place[starts], lengths)
        single = lengths == 1
        only = pl.DataFrame({"g": groups[starts]}).with_columns(pl.when(pl.Series(single)).then("g").alias("g"))
        packing = packing_of(dealing)
        keys = dict(zip(packing.names, packing.pack(list(dealing.tuples.T)), strict=True))
        self._engine.session.load("tuples", pl.DataFrame(keys).with_columns(only["g"]))
        several = ~np.repeat(single, lengths)
        entries = {name: key[of_tuple[several]] for name, key in keys.items()}
        entries |= {"place": place[several], "g": groups[several]}
        self._engine.session.load("entries", pl.DataFrame(entries))
        return dealing

    def _load_searched(self, dealing: Dealing, groups: SearchedGroups) -> Dealing:
        """Make the same tables of groups that are in files."""
        session = self._engine.session
        found, gone = (f"read_parquet([{', '.join(map(literal, files))}])" for files in groups.files(self._engine))
        tuples, ranks = ", ".join(groups.packing.names), ", ".join(f"q{i}" for i in range(len(groups.ranking.parts)))
        session.ask(
            f"create or replace temp table found as select {ranks}, row_number() over (order by {ranks}) - 1 as g "
            f"from (select distinct {ranks} from {found})"
        )
        for name, columns, chosen in (
            ("tuples", "case when several then null else g::int end as g", "place = 0"),
            ("entries", "place, g::int as g", "several"),
        ):
            none = f" union all select {tuples}, {columns} from (select *, -1 as g from {gone}) where {chosen}"
            session.ask(
                f"create or replace temp table {name} as select {tuples}, {columns} from (select * from {found} where "
                f"{chosen}) join found using ({ranks}){none if groups.leaves_out else ''}"
            )
        shown = session.fetch("select * from found").sort("g")
        session.ask("drop table found")
        codes = groups.ranking.codes(shown.rename({f"q{i}": f"p{i}" for i in range(len(groups.ranking.parts))}))
        texts = [texts for texts, _ in dealing.cells.values()]
        of_groups = [np.ascontiguousarray(codes[:, i]) for i in range(len(texts))]
        return replace(dealing, cells=dict(zip(dealing.cells, zip(texts, of_groups, strict=True), strict=True)))

    def _load_ranks(self, columns: Sequence[FileColumn]) -> str:
        """Make the table `shown`: where each group stands among all, by its neighbouring columns.

        Returns:
            What rows are sorted by.
        """
        import polars as pl

        n_groups = next(len(column.ranks) for column in columns if column.ranks is not None)
        shown, keys, cards = {"g": np.arange(n_groups, dtype=np.int32)}, [], []
        for of_groups, run in groupby(columns, lambda column: column.ranks is not None):
            if of_groups:
                known = [(each.ranks, len(each.texts)) for each in run if each.ranks is not None]
                together = number_rows([ranks for ranks, _ in known], [n for _, n in known]).astype(np.int32)
                keys.append(f"shown.q{len(shown)}")
                cards.append(int(together.max(initial=0)) + 1)
                shown[f"q{len(shown)}"] = together
                continue
            for other in (self._others[column.of] for column in run):
                keys.append(other.shown)
                cards.append(other.n_shown)
        self._engine.session.load("shown", pl.DataFrame(shown))
        return ", ".join(Packing.of(cards).packed_in_sql(keys) if all(cards) else keys)


def slices(stored: Path, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
    """Yield columns of a Parquet file, or all of them, some rows at a time."""
    import polars as pl

    first = 0
    rows = pl.scan_parquet(stored, glob=False).select(columns or pl.all())
    while (frame := rows.slice(first, SLICE_ROWS).collect()).height:
        yield frame
        first += frame.height


def load_codes(
    engine: Engine, dictionaries: Mapping[str, tuple[pl.Series, Ints]], people: People | None = None
) -> list[str]:
    """Make the tables m0, m1 and so on, the codes of cells; the last one has those of people.

    Returns:
        The joins of these tables with the cells as t.
    """
    import polars as pl

    joins = []
    for i, (name, (cells, codes)) in enumerate(dictionaries.items()):
        keys = cells.alias("cell")
        if numbering := engine.numbering(name):
            keys = numbering.numbers_of(cells).alias("cell")
        places = np.arange(len(cells), dtype=np.int32)
        engine.session.load(f"m{i}", pl.DataFrame({"cell": keys, f"s{i}": places, "code": codes}))
        joins.append(f"join m{i} on m{i}.cell = t.c{engine.names.index(name)}")
    if people is not None:
        load_people(engine, people)
        own, cell = f"m{len(joins)}", f"t.c{engine.names.index(people.name)}"
        joins.append(f"join (select cell, stated as s{len(joins)}, code from people) as {own} on {own}.cell = {cell}")
    return joins
