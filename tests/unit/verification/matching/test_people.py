"""How many people the rows of a group can belong to, if only columns that are released unchanged tell."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.verification.matching.rows import Matching, Rows
from shoal.verification.reading.coded import CodedColumn, code_columns

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.sampled_from("uvwxyz")), min_size=1, max_size=14
)


def most_different(candidates: list[set[str]]) -> int:
    """Return to how many rows different people can be assigned."""
    row_of: dict[str, int] = {}

    def place(row: int, seen: set[str]) -> bool:
        for person in candidates[row] - seen:
            seen.add(person)
            if person not in row_of or place(row_of[person], seen):
                row_of[person] = row
                return True
        return False

    return sum(place(row, set()) for row in range(len(candidates)))


@given(rows=ROWS)
def test_most_people_of_each_group(rows: list[tuple[int, str, str]]) -> None:
    """Rows one by one or as distinct ones, each with its number."""
    names = {number: place for place, number in enumerate(sorted({number for number, _, _ in rows}))}
    groups = [names[number] for number, _, _ in rows]
    people_with = {key: {person for _, own, person in rows if own == key} for _, key, _ in rows}
    expected = [
        most_different([people_with[key] for group, (_, key, _) in zip(groups, rows, strict=True) if group == own])
        for own in range(len(names))
    ]
    for distinct in (False, True):
        shown = Counter(zip(groups, (key for _, key, _ in rows), strict=True))
        kept = list(shown) if distinct else list(zip(groups, (key for _, key, _ in rows), strict=True))
        times = np.array(list(shown.values()), dtype=np.int64) if distinct else None
        released = Rows([], [coded([key for _, key in kept])], len(kept), times)
        source = Rows([], [coded([key for _, key, _ in rows])], len(rows))
        matching = Matching([], released, source)
        of_row = np.array([group for group, _ in kept], dtype=np.int64)
        found = matching.count_people_by_key(of_row, coded([person for _, _, person in rows]))
        assert found.tolist() == expected


def coded(texts: list[str]) -> CodedColumn:
    return code_columns({"x": texts}).columns[0]
