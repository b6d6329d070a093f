"""People of runs of sets, counted where they are; sets of many people are known by their number alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.attributes import Attribute, Encoded, PeopleCounts
from shoal.encoding.limits import Limited
from shoal.methods.shoaling.limits.together import count_limited
from shoal.release.counted_tables.searcher import RowSets, SetCounts
from shoal.release.counted_tables.sections.people import CountedPeople, latest_met
from shoal.schema import Kind


class Source:
    """Counts the people of sets as engines do; the rows with code c belong to people[c]."""

    def __init__(self, people: list[set[int]]) -> None:
        self.people = people
        self.asked = 0

    def count_sets(self, sets: RowSets, k: int) -> SetCounts:
        self.asked += 1
        of_codes = zip(sets.run.tolist(), sets.number.tolist(), sets.codes[:, 0].tolist(), strict=True)
        held = sorted({(run, number, person) for run, number, code in of_codes for person in self.people[code]})
        schema = dict.fromkeys(["run", "number", "person"], pl.Int32)
        pairs = pl.DataFrame(held, schema=schema, orient="row")
        sizes = pairs.group_by("run", "number").agg(pl.len().alias("n"))
        scarce = pairs.join(sizes.filter(pl.col("n") < k), on=["run", "number"], maintain_order="left")

        def slices() -> Iterator[pl.DataFrame]:
            return (scarce.slice(first, 3) for first in range(0, scarce.height, 3))

        return SetCounts.of(sizes, pl.concat(latest_met(slices(), k)))


@given(
    people=st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=16),
    k=st.integers(1, 7),
    data=st.data(),
)
def test_latest_start_leaves_enough_people(people: list[set[int]], k: int, data: st.DataObject) -> None:
    """Several rows make up a set, several sets a run; some rows are in none."""
    n = len(people)
    run = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)), dtype=np.int32)
    run = np.searchsorted(np.unique(run[run >= 0]), run).astype(np.int32) - (run < 0).astype(np.int32)
    number = np.zeros(n, dtype=np.int32)
    for own in (np.flatnonzero(run == each) for each in range(int(run.max()) + 1)):
        drawn = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(own), max_size=len(own))))
        number[own] = np.unique(drawn, return_inverse=True)[1]
    expected = []
    for key in sorted({(int(r), int(i)) for r, i in zip(run, number, strict=True) if r >= 0}):

        def of(first: int, key: tuple[int, int] = key) -> int:
            inside = (run == key[0]) & (number >= first) & (number <= key[1])
            return len(set().union(*(people[row] for row in np.flatnonzero(inside))))

        expected.append((of(key[1]), max((i for i in range(key[1] + 1) if of(i) >= k), default=-1)))
    source: Any = Source(people)
    codes = np.arange(n, dtype=np.int32)[:, None]
    counts = CountedPeople(10, {}, source).of_combinations((0,), codes)
    for _ in range(2):  # what was asked once is known
        sizes, latest = counts.in_sets(run, number, k)
        assert list(zip(sizes.tolist(), latest.tolist(), strict=True)) == expected
        assert counts.in_sets(run, number)[0].tolist() == sizes.tolist()
    assert source.asked == 2
    rows = [(code, person) for code in range(n) for person in sorted(people[code]) * (1 + code % 2)]
    sizes, latest = known_people(rows, n).in_sets(run, number, k)
    assert list(zip(sizes.tolist(), latest.tolist(), strict=True)) == expected
    assert known_people(rows, n).in_sets(run, number)[0].tolist() == sizes.tolist()


def known_people(rows: list[tuple[int, int]], n_codes: int) -> PeopleCounts:
    """Return the people of rows in memory, each with its code and its person."""
    attribute = Attribute("a", Kind.CATEGORICAL, tuple(map(str, range(n_codes))), np.empty(0), -1)
    codes, people = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    every = np.arange(n_codes, dtype=np.int32)
    counts, order = np.bincount(codes).astype(np.int64), np.arange(len(codes))
    table = Encoded((attribute,), every[:, None], counts, codes, order, people=people)
    limit = Limited(0, every.astype(np.int64), every.astype(np.int64), np.zeros(n_codes, dtype=np.int64), most=1)
    counted, combination = count_limited(table, [limit])
    assert combination.tolist() == codes.tolist()
    assert counted.counted_people is not None
    return counted.counted_people
