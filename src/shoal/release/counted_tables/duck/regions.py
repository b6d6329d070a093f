"""Regions that parts of quasi-identifiers make, counted and judged by DuckDB; none of them is in memory for long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.release.counted_tables.searcher import Regions, RegionSizes
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.tables.sorting import Packing
from shoal.tables.sources.dealing import slices
from shoal.tables.sources.duck_session import DuckSession

__all__ = ["DuckRegions"]


@dataclass(frozen=True)
class DuckRegions:
    """Regions of tuples or units in a table of DuckDB.

    Attributes:
        session: The open DuckDB.
        packing: How tuples or units are packed.
        source: The tuples or units in SQL, with the parts of their codes.
        parts: The part of each quasi-identifier in SQL.
        regions: The regions.
    """

    session: DuckSession
    packing: Packing
    source: str
    parts: tuple[str, ...]
    regions: Regions

    @classmethod
    def of(cls, session: DuckSession, packing: Packing, regions: Regions, where: str) -> DuckRegions:
        """Give DuckDB the parts of codes.

        Args:
            session: The open DuckDB.
            packing: How tuples or units are packed.
            regions: The regions.
            where: The condition of rows that are counted.
        """
        import polars as pl

        codes = [np.flatnonzero(own >= 0).astype(np.int32) for own in regions.parts]
        frames = [
            pl.DataFrame({"a": np.full(len(known), a, dtype=np.int32), "code": known, "part": own[known]})
            for a, (known, own) in enumerate(zip(codes, regions.parts, strict=True))
        ]
        session.load("parts", pl.concat(frames))
        joins = [
            f"join (select code, part from parts where a = {a}) as m{a} on m{a}.code = {packing.code_in_sql(a)}"
            for a in range(len(codes))
        ]
        source = f"from section {' '.join(joins)} {where}"
        return cls(session, packing, source, tuple(f"m{a}.part" for a in range(len(codes))), regions)

    def measure(self) -> RegionSizes:
        """Count the rows of each region."""
        asked = f"select count(*), coalesce(min(n), 0), count(*) filter (where n = 1) from ({self._counted([()])})"
        return RegionSizes(*map(int, self.session.ask(asked)[0]))

    def pass_models(self, judge: PartJudge) -> bool:
        """Say whether every region passes; some regions are fetched at a time, each with all that models count."""
        packing = self.regions.packing(self.packing, judge.judged)
        with self.session.stored(f"{self._counted(judge.judged)} order by {', '.join(packing.names)}") as path:
            return judge.passes_blocks(packing, packing.whole_tuples(slices(path)))

    def _counted(self, asked: Sequence[Sequence[int]]) -> str:
        """Return the query of the rows of each region, for each entry of `asked` by the codes of some columns."""
        packing, queries = self.regions.packing(self.packing, asked), []
        for number, places in enumerate(asked):
            codes = [self.packing.code_in_sql(self.packing.n_keys + place) for place in places]
            blank = ["0"] * (len(packing.cards) - packing.n_keys - 1 - len(codes))
            packed = packing.packed_in_sql([*self.parts, str(number), *codes, *blank])
            keys = ", ".join(f"{key} as {name}" for key, name in zip(packed, packing.names, strict=True))
            queries.append(f"select {keys}, sum(n)::bigint as n {self.source} group by all")
        return f"select * from ({' union all '.join(queries)})"

    def count_codes(self) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of all regions together by code, column after column."""
        for column, card in enumerate(self.packing.cards):
            code = self.packing.code_in_sql(column)
            found = self.session.fetch(f"select {code} as code, sum(n)::bigint as n {self.source} group by 1")
            rows = np.zeros(card, dtype=np.int64)
            rows[found["code"].to_numpy()] = found["n"].to_numpy()
            yield rows
