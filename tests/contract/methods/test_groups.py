"""Every method, every table: labels are complete and every group passes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import InfeasibleError
from shoal.methods import Method, Run
from shoal.models import Groups, KAnonymity, PrivacyModel
from tests.contract.subjects import (
    FULL_DOMAIN,
    MAY_SUPPRESS,
    SMALL,
    every_method,
    every_table,
    make_sheet,
    partition,
    random_sheet,
    release,
    released_rows,
    smaller_k,
)
from tests.strategies import Sheet


def check_partition(sheet: Sheet, k: int, method: Method) -> None:
    encoded, made = partition(sheet, k, method)
    labels = made.labels.tolist()
    assert len(labels) == sheet.n_rows
    assert len(made.cells) == len(sheet.qi)
    assert method.name in MAY_SUPPRESS or min(labels) >= 0
    assert min(labels) >= -1
    sizes = Counter(label for label in labels if label >= 0)
    assert sorted(sizes) == list(range(made.n_groups))
    assert min(sizes.values()) >= k
    assert not KAnonymity(k).failing(Groups(made.labels, np.ones(len(labels), dtype=np.int64))).any()
    shown = Counter(row[: len(sheet.qi)] for row in released_rows(sheet, encoded, made))
    assert min(shown.values()) >= k


@every_method
@every_table
def test_labels_are_complete_and_groups_pass_on_odd_tables(method: Method, sheet: Sheet) -> None:
    """C01, C04, C05, B17: constant, missing, duplicate, single and skewed tables."""
    for k in smaller_k(sheet):
        check_partition(sheet, k, method)


@every_method
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_labels_are_complete_and_groups_pass(method: Method, k: int, seed: int) -> None:
    """C01: every row has its group, every group at least k rows, on labels and on released text."""
    check_partition(random_sheet(seed), k, method)


@every_method
@every_table
def test_k_of_all_rows_gives_one_group(method: Method, sheet: Sheet) -> None:
    encoded, made = partition(sheet, sheet.n_rows, method)
    assert made.labels.tolist() == [0] * sheet.n_rows
    assert len({row[: len(sheet.qi)] for row in released_rows(sheet, encoded, made)}) == 1


@every_method
@every_table
def test_k_beyond_the_rows_is_refused(method: Method, sheet: Sheet) -> None:
    """B03."""
    n = sheet.n_rows
    for k in (n + 1, 10**30):
        rows = "1 row" if n == 1 else f"{n} rows"
        text = rf"^k={k} cannot be met: the table has {rows}\. Use k <= {n}\.$"
        with pytest.raises(InfeasibleError, match=text):
            partition(sheet, k, method)
        with pytest.raises(InfeasibleError, match=text):
            release(sheet, k, method)


@every_method
def test_every_row_counts_where_many_are_equal(method: Method) -> None:
    """C01: a tuple of 10,000 rows beside one of a single row."""
    sheet = make_sheet({"age": "numeric"}, *[("1",)] * 10_000, ("2",))
    shown = Counter(release(sheet, 2, method).text["age"].to_list())
    wide = next(cell for cell in shown if cell != "1")
    assert wide == "*" if method.name in FULL_DOMAIN else wide.startswith("[1, ")
    assert shown.pop(wide) >= 2
    assert set(shown) <= {"1"}


@every_method
def test_labels_are_of_the_declared_type(method: Method) -> None:
    _, made = partition(SMALL["all distinct"], 2, method)
    assert made.labels.dtype == np.int32
    assert made.labels.flags.c_contiguous


def test_method_that_suppresses_every_row_is_refused() -> None:
    """Whatever may be suppressed, a release has rows; else the goal is out of reach (exit code 4)."""

    @dataclass(frozen=True)
    class SuppressAll:
        name: ClassVar[str] = "suppress-all"

        def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
            return tight_partition(encoded, np.full(encoded.n_rows, -1, dtype=np.int32))

    with pytest.raises(InfeasibleError, match="'suppress-all' would suppress every one of the 11 rows"):
        release(SMALL["all distinct"], 2, SuppressAll())
