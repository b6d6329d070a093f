"""Every method: the order of the input rows does not change the release."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shoal.methods import Method
from tests.contract.subjects import (
    MAY_SUPPRESS,
    coarse_sheet,
    every_method,
    random_sheet,
    release,
    shuffled,
)
from tests.strategies import Sheet


@every_method
@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("make", [random_sheet, coarse_sheet])
def test_order_of_the_rows_does_not_matter(method: Method, k: int, make: Callable[[int], Sheet], seed: int) -> None:
    """D03, L01: the same bytes for any order of the input, and these are sorted."""
    sheet = make(seed)
    made = release(sheet, k, method).text
    assert made.rows() == sorted(made.rows())
    for another in range(5):
        assert release(shuffled(sheet, another), k, method).text.write_csv() == made.write_csv()


@every_method
def test_keep_order_aligns_rows_with_the_input(method: Method, seed: int) -> None:
    sheet = shuffled(random_sheet(seed), seed)
    made = release(sheet, 3, method, keep_order=True)
    source = made.source_rows.tolist()
    assert source == sorted(source)
    assert len(source) == sheet.n_rows or method.name in MAY_SUPPRESS
    assert made.text["disease"].to_list() == [sheet.columns["disease"][row] for row in source]
    assert sorted(made.text.rows()) == release(sheet, 3, method).text.rows()
