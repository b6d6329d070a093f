"""Group sizes and what groups show of sensitive columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from shoal.report.groups import look_at_sensitive, size_classes
from shoal.tables.table import Table


@pytest.mark.parametrize("k", [1, 2, 5, 11])
def test_size_classes_hold_every_row_once(k: int) -> None:
    sizes = np.array([k, k, k + 1, 2 * k, 7 * k + 1, 130 * k], dtype=np.int64)
    classes = size_classes(sizes, k)
    assert sum(each.rows for each in classes) == sizes.sum()
    assert all(each.smallest > before.largest for before, each in pairwise(classes))
    assert classes[0].smallest == k
    assert classes[-1].largest == sizes.max()
    assert all(each.rows >= k for each in classes), "none is empty"


def table(groups: list[list[str]]) -> Table:
    rows = [(f"g{i}", value) for i, values in enumerate(groups) for value in values]
    return Table(pl.DataFrame(rows, schema=["zip", "disease"], orient="row"))


def test_group_of_one_value_is_counted() -> None:
    """A01: five people with one disease."""
    found = look_at_sensitive(table([["flu"] * 5, ["flu", "hiv", "flu", "flu", "flu"]]), ["zip"], ["disease"], 5)[0]
    assert (found.fewest, found.one_value, found.highest_share) == (1, 5, 1.0)


def test_skewed_group_is_lifted() -> None:
    """A03: 1 % in the whole, half of a group."""
    groups = [["pos"] * 5 + ["neg"] * 5, *([["neg", "other"] * 5] * 49)]
    found = look_at_sensitive(table(groups), ["zip"], ["disease"], 5)[0]
    assert found.lift == pytest.approx(0.5 / 0.01)
    assert found.fewest == 2


def test_weights_stand_for_rows() -> None:
    plain = table([["a", "a", "b"], ["b", "b"]])
    counted = Table(
        pl.DataFrame({"zip": ["g0", "g0", "g1"], "disease": ["a", "b", "b"]}),
        weights=np.array([2, 1, 2], dtype=np.int64),
    )
    assert look_at_sensitive(plain, ["zip"], ["disease"], 2) == look_at_sensitive(counted, ["zip"], ["disease"], 2)
