"""SBCA, compared with its plain twin and the numbers of its paper."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from shoal.encoding.attributes import Encoded
from shoal.errors import InfeasibleError, UsageError
from shoal.methods import SBCA, Run
from shoal.models import KAnonymity
from tests.naive import leftovers, sbca
from tests.strategies import Sheet
from tests.unit.methods.plain import as_groups, code_rows, numbers_of, priced, sheets_and_k


def twin_groups(encoded: Encoded, k: int) -> tuple[list[list[int]], list[int]]:
    attributes = [sbca.Attribute(len(a.texts), numbers_of(a)) for a in encoded.attributes]
    return sbca.groups(code_rows(encoded), attributes, k)


@given(drawn=sheets_and_k())
def test_groups_are_those_of_the_twin(drawn: tuple[Sheet, int]) -> None:
    sheet, k = drawn
    encoded = sheet.encoded
    groups, remainder = twin_groups(encoded, k)
    partition = SBCA().partition(encoded, (KAnonymity(k),), Run())
    assert as_groups(partition.labels) == sorted(map(sorted, sbca.with_last(groups, remainder)))


@given(drawn=sheets_and_k(max_columns=3))
def test_rest_joins_the_groups_of_the_twin_or_none(drawn: tuple[Sheet, int]) -> None:
    sheet, k = drawn
    encoded = sheet.encoded
    groups, remainder = twin_groups(encoded, k)
    partition = SBCA(remainder="nearest").partition(encoded, (KAnonymity(k),), Run())
    joined = leftovers.join_nearest(code_rows(encoded), priced(encoded), groups, remainder)
    assert as_groups(partition.labels) == sorted(map(sorted, joined))
    partition = SBCA(remainder="suppress").partition(encoded, (KAnonymity(k),), Run(suppression_limit=Fraction(1)))
    assert as_groups(partition.labels) == sorted(map(sorted, groups))
    assert np.flatnonzero(partition.labels < 0).tolist() == sorted(remainder)


CONTINGENCY = {("Male", "Japan"): 4, ("Male", "US"): 4, ("Male", "Iran"): 1} | {
    ("Female", "Japan"): 4,
    ("Female", "US"): 1,
    ("Female", "Iran"): 6,
}


@pytest.mark.parametrize(("k", "order"), [(3, ["Japan", "US", "Iran"]), (10, ["Japan", "Iran", "US"])])
def test_likeness_is_that_of_s3_tables_1_and_2(k: int, order: list[str]) -> None:
    """[S3] Tables 1 and 2, [S0] Tables 3-1 to 3-3: of nine men too few for k = 10, so women are counted too."""
    sexes, nations = ["Male", "Female"], ["Japan", "US", "Iran"]
    rows = [(sexes.index(sex), nations.index(nation)) for (sex, nation), n in CONTINGENCY.items() for _ in range(n)]
    tables = sbca.category_distances(rows, [0, 1], k, (0, 0))
    assert [nations[code] for code in tables[1]] == order
    assert list(map(float, tables[1].values())) == [0, 0.5, 1]


@pytest.mark.parametrize(("k", "nearest"), [(9, "US"), (14, "Iran")])
def test_first_group_takes_the_likest_nation_of_s3(k: int, nearest: str) -> None:
    """[S3] Tables 1 and 2 through the kernel: the men of the first group's own nation, then the likest, then women."""
    cells = [pair for pair, n in CONTINGENCY.items() for _ in range(n)]
    renamed = {"Male": "0 man", "Female": "woman", "Japan": "0 Japan"}  # so that (Male, Japan) is the first row
    columns = {
        "sex": [renamed.get(sex, sex) for sex, _ in cells],
        "nation": [renamed.get(nation, nation) for _, nation in cells],
    }
    encoded = Sheet(columns, dict.fromkeys(columns, "categorical")).encoded
    labels = SBCA(remainder="suppress").partition(encoded, (KAnonymity(k),), Run(suppression_limit=Fraction(1))).labels
    groups, _ = twin_groups(encoded, k)
    assert np.flatnonzero(labels == 0).tolist() == sorted(groups[0])
    texts = [[a.texts[code] for a, code in zip(encoded.attributes, row, strict=True)] for row in code_rows(encoded)]
    members = [tuple(texts[row]) for row in groups[0]]
    assert members.index(("0 man", nearest)) == 4
    assert len(members) == k


def test_group_keeps_rows_of_a_tuple_in_canonical_order() -> None:
    encoded = Sheet({"x": ["1"] * 5 + ["2"] * 2}, {"x": "numeric"}).encoded
    labels = SBCA(remainder="nearest").partition(encoded, (KAnonymity(3),), Run()).labels
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_suppression_needs_a_limit() -> None:
    encoded = Sheet({"x": ["1", "2", "3"]}, {"x": "numeric"}).encoded
    with pytest.raises(InfeasibleError, match=r"would leave out 1 of 3 rows, and the suppression limit allows 0"):
        SBCA(remainder="suppress").partition(encoded, (KAnonymity(2),), Run())


def test_unknown_options_are_refused() -> None:
    with pytest.raises(UsageError, match=r"remainder 'first' is not known\. Use last, nearest, suppress"):
        SBCA(remainder="first")
