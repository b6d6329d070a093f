"""The people of a table whose rows are with an engine: what it counts of them, and what was asked before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.windows import LastMet
from shoal.release.counted_tables.searcher import RowSets, SetCounts, UnitSearcher, Upto

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CountedPeople", "latest_met"]


class _Combinations(NamedTuple):
    """Rows that have the counts of several columns together.

    Attributes:
        places: These columns.
        codes: The codes of each row.
        upto: Which rows of the table they stand for, if not for all.
    """

    places: tuple[int, ...]
    codes: NDArray[np.int32]
    upto: Upto | None


@dataclass
class CountedPeople:
    """The people of a table that an engine has; see `PeopleCounts`. What was asked once can be asked without it.

    Attributes:
        n_people: Their number.
        of_codes: By attribute with an order, the number of people with each code.
        source: The engine.
        answers: What was asked, by attribute and runs.
        counted: By attribute, runs that were counted: the first code of each, the code after its last, and its people.
        together: What rows stand for, if they have the counts of several columns together.
        of_sets: What was counted of sets of these rows.
    """

    n_people: int
    of_codes: dict[int, NDArray[np.int64]]
    source: UnitSearcher | None
    answers: dict[tuple[int, bytes], NDArray[np.bool_]] = field(default_factory=dict)
    counted: dict[int, list[NDArray[np.int64]]] = field(default_factory=dict)
    together: _Combinations | None = None
    of_sets: dict[bytes, SetCounts] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None, "counted": {}, "together": None, "of_sets": {}}

    def of_combinations(
        self, places: tuple[int, ...], codes: NDArray[np.int32], upto: Upto | None = None
    ) -> CountedPeople:
        """Return what is known of the same people, for rows with the counts of some columns together.

        Args:
            places: These columns.
            codes: The codes of each row.
            upto: Which rows of the table they stand for, if not for all.
        """
        return replace(self, together=_Combinations(places, codes, upto), of_sets={})

    def are_enough(self, a: int, starts: NDArray[np.int64], needed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for each code of an attribute whether its run has as many people as it needs."""
        key = a, sha256(starts.tobytes() + needed.tobytes()).digest()
        if key not in self.answers:
            self.answers[key] = self._judge(a, starts, needed)
        return self.answers[key]

    def _judge(self, a: int, starts: NDArray[np.int64], needed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Ask the engine about the runs for which neither their codes nor the runs inside them decide."""
        ends, of_codes = np.append(starts[1:], len(needed)), self.of_codes[a][: len(needed)]
        runs = np.repeat(np.arange(len(starts)), ends - starts)
        least, most = (bound.reduceat(of_codes, starts) for bound in (np.maximum, np.add))
        counted = self.counted.setdefault(a, [])
        for first, end, people in counted:
            is_inside = runs[first] == runs[end - 1]
            np.maximum.at(least, runs[first[is_inside]], people[is_inside])
        asked = np.unique(runs[(least[runs] < needed) & (most[runs] >= needed)])
        if len(asked):
            assert self.source is not None
            number = np.full(len(starts), -1, dtype=np.int32)
            number[asked] = np.arange(len(asked), dtype=np.int32)
            (least[asked],) = self.source.count_people({a: number[runs]})
            counted.append(np.stack([starts[asked], ends[asked], least[asked]]))
        enough: NDArray[np.bool_] = least[runs] >= needed
        return enough

    def in_sets(
        self, run: NDArray[np.int32], number: NDArray[np.int32], k: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the people of sets of rows; see `PeopleCounts`."""
        key = sha256(b"%d " % k + run.tobytes() + number.tobytes()).digest()
        if key not in self.of_sets:
            assert self.source is not None
            assert self.together is not None
            places, codes, upto = self.together
            inside = run >= 0
            sets = RowSets(places, codes[inside], run[inside], number[inside], upto)
            counts = self.source.count_sets(sets, k)
            self.of_sets[key] = counts.completed(k) if k else counts
        return self.of_sets[key].people, self.of_sets[key].latest


def latest_met(frames: Iterable[pl.DataFrame], k: int) -> Iterator[pl.DataFrame]:
    """Yield for each set of a run, by `run` and `number`, the `latest` from which on k people were met.

    Args:
        frames: The `person` of each set, by run and by number in order, some at a time.
        k: How many people a run of sets needs.
    """
    import polars as pl

    names = dict.fromkeys(["run", "number", "latest"], pl.Int32)
    met, own = LastMet(k), (-1, -1)
    for frame in frames:
        found: list[tuple[int, int, int]] = []
        for run, number, person in frame.select("run", "number", "person").iter_rows():
            if (run, number) != own:
                if own[0] >= 0:
                    found.append((*own, met.latest))
                if run != own[0]:
                    met = LastMet(k)
                own = run, number
            met.meet((person,), number)
        yield pl.DataFrame(found, schema=names, orient="row")
    yield pl.DataFrame([(*own, met.latest)] if own[0] >= 0 else [], schema=names, orient="row")
