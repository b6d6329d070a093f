"""Every method: neither the order of columns nor the names of categories matter; doubled tables keep their groups."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

import shoal
from shoal.methods import Method
from tests.contract.subjects import (
    FULL_DOMAIN,
    MAY_SUPPRESS,
    METHODS,
    coarse_sheet,
    every_method,
    partition,
    random_sheet,
    release,
    released_rows,
    suppression_limit,
)
from tests.strategies import Sheet

# Doubling every row and k keeps the groups (C29) where cuts depend on shares of rows alone: medians, sides and limits
# of a strict or single-dimensional cut all double. A relaxed cut deals out single rows: {1, 2, 3} with k = 1 becomes
# three groups, the doubled table with k = 2 the halves {1, 1, 2} and {2, 3, 3}, which are too small for another cut.
DOUBLING_HOLDS = frozenset({"mondrian-strict", "mondrian-single-dimensional"})


@every_method
@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("make", [random_sheet, coarse_sheet])
def test_order_of_the_columns_does_not_matter(method: Method, k: int, make: Callable[[int], Sheet], seed: int) -> None:
    """C29: the quasi-identifiers are ranked as they are named, not as they stand in the frame."""
    sheet = make(seed)
    made = release(sheet, k, method).text
    assert made.columns == sheet.names
    for another in range(3):
        names = random.Random(another).sample(sheet.names, len(sheet.names))
        moved = replace(sheet, columns={name: sheet.columns[name] for name in names})
        arguments = {**moved.arguments, "qi": sheet.qi, "suppression_limit": suppression_limit(method)}
        again = shoal.anonymize(moved.frame, k=k, method=method, sensitive=sheet.sensitive, **arguments).text
        assert again.columns == names
        assert sorted(again.select(sheet.names).rows()) == made.rows()


@every_method
@pytest.mark.parametrize("k", [2, 7])
def test_names_of_categories_do_not_matter(method: Method, k: int, seed: int) -> None:
    """C29: categories renamed in the same order fall into the same groups."""
    sheet = random_sheet(seed)
    renamed = {}
    for name in sheet.named("categorical"):
        distinct = sorted(set(sheet.columns[name]))
        new = {text: f"value {i:03}" for i, text in enumerate(distinct)}
        renamed[name] = [new[text] for text in sheet.columns[name]]
    _, made = partition(sheet, k, method)
    _, again = partition(replace(sheet, columns=sheet.columns | renamed), k, method)
    assert again.labels.tolist() == made.labels.tolist()


@every_method
@pytest.mark.parametrize("k", [2, 7])
def test_doubled_table_with_doubled_k_keeps_its_groups(method: Method, k: int, seed: int) -> None:
    """C29: or, where a method deals out single rows, still keeps the promise."""
    sheet = random_sheet(seed)
    doubled = replace(sheet, columns={name: cells * 2 for name, cells in sheet.columns.items()})
    encoded, made = partition(sheet, k, method)
    encoded_twice, made_twice = partition(doubled, 2 * k, method)
    before = Counter(row[: len(sheet.qi)] for row in released_rows(sheet, encoded, made))
    after = Counter(row[: len(sheet.qi)] for row in released_rows(doubled, encoded_twice, made_twice))
    (subject,) = (name for name, known in METHODS.items() if known == method)
    if subject in DOUBLING_HOLDS or method.name in FULL_DOMAIN - MAY_SUPPRESS:  # a vector's groups all double
        assert after == Counter({row: 2 * count for row, count in before.items()})
    else:
        assert min(after.values()) >= 2 * k
