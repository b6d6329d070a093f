"""Plans of windows: with one limit they leave out as few rows as any plan, and always keep to all limits."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.encode import encode
from shoal.encoding.limits import compile_limits
from shoal.encoding.windows import breaches, plan_windows
from shoal.schema import Kind, Limits, Role, Schema
from shoal.tables.table import from_frame


def fewest_left_out(values: list[int], width: int, k: int) -> int:
    """The least number of rows that no groups of k rows within the width contain, by trying all runs of values."""
    ordered = sorted(values)

    @cache
    def best(start: int) -> int:
        if start == len(ordered):
            return 0
        found = 1 + best(start + 1)
        for end in range(start + k, len(ordered) + 1):
            if ordered[end - 1] - ordered[start] <= width:
                found = min(found, best(end))
        return found

    return best(0)


@given(
    rows=st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abcd")), min_size=1, max_size=14),
    width=st.integers(0, 8),
    most=st.integers(1, 3),
    k=st.integers(1, 4),
)
def test_plans_keep_to_limits_and_waste_no_row(rows: list[tuple[int, str]], width: int, most: int, k: int) -> None:
    frame = pl.DataFrame({"x": [str(x) for x, _ in rows], "y": [y for _, y in rows]})
    kinds = {"x": Kind.NUMERIC, "y": Kind.CATEGORICAL}
    both = {"x": Limits(max_width=str(width)), "y": Limits(max_width=str(most))}
    for given_limits in ({"x": both["x"]}, {"y": both["y"]}, both):
        schema = Schema.build(["x", "y"], {Role.QI: ["x", "y"]}, kinds=kinds, limits=given_limits)
        encoded = encode(from_frame(frame), schema)
        limits = compile_limits(encoded, schema, ends="exact", k=k)
        labels = plan_windows(encoded, limits, k)
        kept = labels >= 0
        if kept.any():
            _, dense = np.unique(labels[kept], return_inverse=True)
            assert np.bincount(dense).min() >= k
            assert not breaches(encoded, limits, encoded.row_tuple[kept], dense).any()
        if list(given_limits) == ["x"]:
            assert int((~kept).sum()) == fewest_left_out([x for x, _ in rows], width, k)
