"""Tuples or units in tables of DuckDB: counted by code, cut by queries, fetched one section at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InternalError
from shoal.methods.sections import Cut, Division, Loan, Ruling
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.plan import PartCounts, Sectioning
from shoal.tables.sorting import Packing
from shoal.tables.sources.dealing import slices
from shoal.tables.sources.duck_session import DuckSession

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DuckSection"]

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass
class DuckSection:
    """Tuples or units in a table of DuckDB, or in those of its two sides; see `shoal.methods.sections.Section`."""

    session: DuckSession
    packing: Packing
    plan: Sectioning
    table: str
    n_tuples: int
    numbers: Iterator[int]
    stays: str = "true"  # says in SQL which tuples or units are counted to find and judge a cut
    sides: tuple[DuckSection, ...] = ()

    @classmethod
    def whole(cls, session: DuckSession, packing: Packing, plan: Sectioning, table: str, n_tuples: int) -> DuckSection:
        """Return the tuples or units of a whole table."""
        leaving = plan.leaving
        if plan.divides_units:
            pieces = f"select *, 0::bigint as start, n as total from {table}"  # see `PIECE`
            session.ask(f"create or replace temp table {table} as {pieces}")
        section = cls(session, packing, plan, table, n_tuples, count())
        return section if leaving is None else replace(section, stays=_staying_in_sql(session, packing, leaving))

    def histograms(self) -> list[Counts]:
        """Return the number of tuples, or of rows if these decide, of each code, column after column."""
        counts = self._counts("sum(n)" if self.plan.by_rows else "count(*)", where=self.stays)
        return [
            np.bincount(codes, counts[a], n_codes).astype(np.int64)
            for n_codes, (a, codes) in zip(self.plan.n_codes, self.plan.columns, strict=True)
        ]

    def rule(self, cut: Cut) -> Ruling:
        """Say whether people and models allow a cut."""
        if cut.is_settled or not (self.plan.judged or self.plan.counts_people):
            return Ruling.ALLOWED
        part, source = self._parts_in_sql(cut)
        people = None
        if self.plan.counts_people:
            person = self.packing.code_in_sql(len(self.packing.cards) - 1)
            pairs = f"select distinct {part}, {person} as person {source}"
            frame = self.session.fetch(f"select count(*)::bigint as n from ({pairs}) group by part order by part")
            people = frame["n"].to_numpy().astype(np.int64)
            if (people < self.plan.least).any():
                return Ruling.FEW_PEOPLE
        return Ruling.ALLOWED if self.plan.passes(self._count_parts(part, source), people) else Ruling.REFUSED

    def _parts_in_sql(self, cut: Cut) -> tuple[str, str]:
        """Return the part of a tuple or unit by a cut in SQL, and the tables to take it from."""
        attribute, search_codes = self.plan.columns[cut.column]
        code, parts = self.packing.code_in_sql(attribute), cut.parts[search_codes]
        if cut.loan is not None:
            dealt, names = self._dealt_in_sql(cut.column, parts, cut.loan), ", ".join(self.packing.names)
            own = f"select {names}, part, n - lent as n from ({dealt}) where lent < n"
            lent = f"select {names}, 0 as part, lent as n from ({dealt}) where lent > 0"
            return "part", f"from ({own} union all {lent}) where {self.stays}"
        if parts.max() == 1 and (np.diff(parts) >= 0).all():
            return f"({code} >= {np.argmax(parts)})::int as part", f"from {self.table} where {self.stays}"
        self._load_codes(np.arange(len(parts)), parts)
        return "part", f"from {self.table} join codes on codes.code = {code} where {self.stays}"

    def _count_parts(self, part: str, source: str) -> Iterator[PartCounts]:
        """Yield the rows of the parts of a cut, for each model that is asked; see `_parts_in_sql`."""
        for places in self.plan.judged:
            names = [f"b{i}" for i in range(len(places))]
            codes = [self.packing.code_in_sql(self.packing.n_keys + place) for place in places]
            columns = ", ".join([part, *(f"{each} as {name}" for each, name in zip(codes, names, strict=True))])
            frame = self.session.fetch(f"select {columns}, sum(n)::bigint as n {source} group by all")
            beside = frame.select(names).to_numpy().astype(np.int32)
            yield PartCounts(frame["part"].to_numpy(), beside, frame["n"].to_numpy().astype(np.int64))

    def locate(self, cut: Cut) -> Cut:
        """Find the last row that is lent by a cut: its packed unit, and its number there."""
        assert cut.loan is not None
        attribute, search_codes = self.plan.columns[cut.column]
        self._load_codes(np.flatnonzero(np.isin(search_codes, cut.loan.codes)))
        chosen = f"{self.packing.code_in_sql(attribute)} in (select code from codes) and {self.stays}"
        names, rows = self.packing.names, cut.loan.rows
        query = f"select {', '.join(names)}, n, start from {self.table} where {chosen} order by {', '.join(names)}"
        with self.session.stored(query) as path:
            for units in slices(path):
                upto = np.cumsum(units["n"].to_numpy())
                if upto[-1] < rows:
                    rows -= int(upto[-1])
                    continue
                place = int(np.searchsorted(upto, rows))
                number = int(units["start"][place] + units["n"][place] - (upto[place] - rows))
                last = *(int(units[name][place]) for name in names), number
                return cut._replace(loan=cut.loan._replace(last=last))
        raise InternalError("a part of a cut lends more rows than it has.")

    def halves(self, division: Division) -> tuple[DuckSection, DuckSection]:
        """Return the two sides of the section; its own table is gone then."""
        column, goes_left, loan = division
        attribute, search_codes = self.plan.columns[column]
        is_left = goes_left[search_codes]
        if loan is None:
            queries = [f"select * from {self.table} where {where}" for where in self._separate(attribute, is_left)]
        else:
            dealt, names = self._dealt_in_sql(column, 1 - is_left, loan), ", ".join(self.packing.names)
            queries = [
                f"select {names}, lent as n, start, total from ({dealt}) where lent > 0",
                f"select {names}, n - lent as n, start + lent as start, total from ({dealt}) where lent < n",
            ]
        sides = []
        for query in queries:
            table = f"section{next(self.numbers)}"
            self.session.ask(f"create temp table {table} as {query}")
            n_tuples = int(self.session.ask(f"select count(*) from {table}")[0][0])
            sides.append(replace(self, table=table, n_tuples=n_tuples, sides=()))
        self.session.ask(f"drop table {self.table}")
        self.sides = sides[0], sides[1]
        return sides[0], sides[1]

    def _separate(self, attribute: int, is_left: NDArray[np.bool_]) -> tuple[str, str]:
        """Return the conditions of both sides in SQL; is_left: of each code of an attribute."""
        counts = self._counts("count(*)", attribute)[attribute]
        left, right = (np.flatnonzero((counts > 0) & side) for side in (is_left, ~is_left))
        code = self.packing.code_in_sql(attribute)
        if left[-1] < right[0] or right[-1] < left[0]:
            chosen = f"{code} between {left[0]} and {left[-1]}"
        else:
            self._load_codes(left)
            chosen = f"{code} in (select code from codes)"
        return chosen, f"not ({chosen})"

    def _dealt_in_sql(self, column: int, parts: NDArray[np.integer[Any]], loan: Loan) -> str:
        """Return the query of tuples or units with their part, and how many of their rows (`lent`) part 0 has.

        Args:
            column: The column by whose codes a cut is made.
            parts: The part of each code of its attribute.
            loan: The rows of other parts that part 0 has.
        """
        attribute, search_codes = self.plan.columns[column]
        self._load_codes(np.arange(len(parts)), parts.astype(np.int32), np.isin(search_codes, loan.codes))
        names, (*unit, number) = ", ".join(self.packing.names), loan.last
        last = ", ".join(map(str, unit))
        lent = (
            f"case when part = 0 then n when not lends or ({names}) > ({last}) then 0 "
            f"when ({names}) < ({last}) then n else least(greatest({number} - start, 0), n) end"
        )
        code = self.packing.code_in_sql(attribute)
        return f"select {self.table}.*, part, {lent} as lent from {self.table} join codes on codes.code = {code}"

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

    def _counts(self, counted: str, only: int | None = None, where: str = "true") -> list[Counts]:
        """Return how much there is of each code of each attribute.

        Args:
            counted: Of what, in SQL.
            only: One attribute; None for all.
            where: Which tuples or units are counted, in SQL.
        """
        lengths = {a: len(codes) for a, codes in self.plan.columns if only in (None, a)}
        code = self.packing.code_in_sql
        queries = [
            f"select {a} as a, {code(a)} as code, {counted}::bigint as n from {self.table} where {where} group by 2"
            for a in lengths
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

    def _load_codes(
        self, codes: NDArray[np.int64], parts: Codes | None = None, lends: NDArray[np.bool_] | None = None
    ) -> None:
        """Give DuckDB codes, the part of each if there are several, and whether its rows may be lent."""
        import polars as pl

        columns = {"code": codes.astype(np.int32), "part": parts, "lends": lends}
        self.session.load("codes", pl.DataFrame({name: own for name, own in columns.items() if own is not None}))


def _staying_in_sql(session: DuckSession, packing: Packing, leaving: LeavingBefore) -> str:
    """Return the condition of tuples or units whose rows are not suppressed before the search."""
    import polars as pl

    stays = ["true"]
    if leaving.largest_k >= 0:
        stays.append(f"{packing.code_in_sql(leaving.place_of_k)} <= {leaving.largest_code}")
    if leaving.places:
        names = [f"g{place}" for place in leaving.places]
        session.load("gone", pl.DataFrame(dict(zip(names, leaving.codes.T, strict=True))))
        equal = " and ".join(f"gone.g{place} = {packing.code_in_sql(place)}" for place in leaving.places)
        stays.append(f"not exists (select 1 from gone where {equal})")
    return " and ".join(stays)
