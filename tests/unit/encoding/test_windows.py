"""Plans of windows: with one limit they leave out as few rows as any plan, and always keep to all limits."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.encode import encode
from shoal.encoding.limits import breaches, compile_limits
from shoal.encoding.windows import plan_combinations, plan_windows
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


@given(
    values=st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30), most=st.integers(1, 4), k=st.integers(1, 6)
)
def test_counted_values_are_planned_as_their_rows(values: list[str], most: int, k: int) -> None:
    """The rows of a value that is left out are as many; without lent rows, all rows of a value share a window."""
    schema = Schema.build(
        ["y"], {Role.QI: ["y"]}, kinds={"y": Kind.CATEGORICAL}, limits={"y": Limits(max_width=str(most))}
    )
    encoded = encode(from_frame(pl.DataFrame({"y": values})), schema)
    limits = compile_limits(encoded, schema, ends="exact", k=k)
    counted, combination = encoded.counted_together([0])
    expected = plan_windows(encoded, limits, k) < 0
    assert (plan_windows(counted, limits, k)[combination[encoded.row_tuple]] < 0).tolist() == expected.tolist()
    labels = plan_combinations(counted, limits, k, 0)
    sizes = counted.counts.tolist()
    rare, frequent = (sum((size >= k) == enough for size in sizes) for enough in (False, True))
    assert labels is not None or most == 1 or rare > frequent * (most - 1)
    if labels is not None:
        assert np.bincount(labels, counted.counts).min() >= k
        assert not breaches(counted, limits, counted.row_tuple, labels).any()


def test_several_columns_are_counted_together() -> None:
    """Their rows, and the largest k that a row with each value asks for."""
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": list("xyxx"), "c": list("pqpq"), "k": ["3", "4", "5", "3"]})
    schema = Schema.build(frame.columns, {Role.QI: ["a", "b", "c"], Role.PERSONAL_K: ["k"]})
    encoded = encode(from_frame(frame), schema)
    counted, combination = encoded.counted_together([2, 1])
    assert counted.tuples[:, [2, 1]].tolist() == [[0, 0], [1, 0], [1, 1]]
    assert counted.counts.tolist() == [2, 1, 1]
    assert combination.tolist() == [0, 2, 0, 1]
    assert [own.tolist() for own in counted.asked] == [[4, 5], [5, 4], [5, 4]]
    assert counted.personal_k is None
