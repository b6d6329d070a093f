"""KACA, compared with its plain twin and the tables of its paper."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.errors import InfeasibleError, UsageError
from shoal.hierarchy import Hierarchy, prefixes
from shoal.hierarchy.level_weights import Climb
from shoal.methods import KACA, Run
from shoal.methods.counter_random import draws, mix
from shoal.models import KAnonymity
from shoal.tables.table import from_frame
from tests.naive import kaca as naive
from tests.strategies import Sheet
from tests.unit.methods.plain import as_groups, code_rows, sheets_and_k, with_trees


def twin_attributes(encoded: Encoded, climb: Climb) -> list[naive.Attribute]:
    attributes = []
    for attribute in encoded.attributes:
        codes = tuple(range(len(attribute.texts)))
        levels = (codes, (len(codes),) * len(codes))
        if attribute.tree is not None:
            levels = tuple(map(tuple, attribute.tree.nodes.tolist()))
        attributes.append(naive.Attribute(levels, tuple(climb.to_levels(attribute.name, len(levels) - 1))))
    return attributes


@given(drawn=sheets_and_k(), shape=st.integers(0, 5), weighting=st.sampled_from(["uniform", "height"]))
def test_groups_are_those_of_the_twin(drawn: tuple[Sheet, int], shape: int, weighting: str) -> None:
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    lots = draws(mix(shape), np.arange(sheet.n_rows)).tolist()
    attributes = twin_attributes(encoded, Climb(weighting))
    classes, _ = naive.groups(code_rows(encoded), attributes, k, lots)
    partition = KACA(weighting=weighting).partition(encoded, (KAnonymity(k),), Run(seed=shape))
    assert as_groups(partition.labels) == sorted(map(sorted, classes.values()))


@given(drawn=sheets_and_k(), shape=st.integers(0, 5), threshold=st.integers(0, 12))
def test_outliers_are_those_of_the_twin(drawn: tuple[Sheet, int], shape: int, threshold: int) -> None:
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    lots = draws(mix(shape), np.arange(sheet.n_rows)).tolist()
    limit = Fraction(threshold, 2)
    classes, suppressed = naive.groups(code_rows(encoded), twin_attributes(encoded, Climb()), k, lots, limit)
    if not classes:
        return
    method = KACA(threshold=float(limit))
    partition = method.partition(encoded, (KAnonymity(k),), Run(seed=shape, suppression_limit=Fraction(1)))
    assert np.flatnonzero(partition.labels < 0).tolist() == sorted(suppressed)
    assert as_groups(partition.labels) == sorted(map(sorted, classes.values()))


TABLE_2_2 = {"AX": 1, "AY": 11, "BX": 7, "BY": 4, "BZ": 5, "CX": 20, "CY": 35, "DY": 21}


def table_2_2() -> tuple[pl.DataFrame, dict[str, Hierarchy]]:
    """The 104 rows of [S0] Table 2-2, and the hierarchy that its recodings show."""
    cells = [pair for pair, n in TABLE_2_2.items() for _ in range(n)]
    frame = pl.DataFrame({"one": [pair[0] for pair in cells], "two": [pair[1] for pair in cells]})
    return frame, {"two": Hierarchy({"X": ("(X, Y)", "*"), "Y": ("(X, Y)", "*"), "Z": ("Z", "*")})}


@pytest.mark.parametrize("method", ["incognito", "optimal"])
def test_global_recoding_gives_s0_table_2_3(method: str) -> None:
    """[S0] Tables 2-2 and 2-3, k = 5."""
    frame, above = table_2_2()
    release = shoal.anonymize(frame, qi=["one", "two"], k=5, method=method, hierarchies=above)
    assert Counter(release.text.rows()) == {
        ("A", "(X, Y)"): 12,
        ("B", "(X, Y)"): 11,
        ("B", "Z"): 5,
        ("C", "(X, Y)"): 55,
        ("D", "(X, Y)"): 21,
    }


@pytest.mark.parametrize("lots", range(8))
def test_stub_and_trunk_give_s0_table_2_5(lots: int) -> None:
    """[S0] Tables 2-2 and 2-5, k = 5, whatever the lots."""
    frame, above = table_2_2()
    release = shoal.anonymize(frame, qi=["one", "two"], k=5, method="kaca", hierarchies=above, seed=lots)
    assert Counter(release.text.rows()) == {
        ("A", "(X, Y)"): 5,
        ("A", "Y"): 7,
        ("B", "X"): 6,
        ("B", "(X, Y)"): 5,
        ("B", "Z"): 5,
        ("C", "X"): 20,
        ("C", "Y"): 35,
        ("D", "Y"): 21,
    }


PATIENTS = [
    ("male", "middle", "4350"),
    ("male", "middle", "4350"),
    ("male", "young", "4351"),
    ("female", "young", "4352"),
    ("female", "old", "4353"),
    ("female", "old", "4353"),
]


def test_release_is_s2_table_1b() -> None:
    """[S2] Table 1 (a) and (b), k = 2."""
    frame = pl.DataFrame(PATIENTS, schema=["gender", "age", "postcode"], orient="row")
    names = frame.columns
    release = shoal.anonymize(
        frame, qi=names, categorical=names, k=2, method="kaca", hierarchies={"postcode": prefixes([3, 2, 1])}
    )
    assert Counter(release.text.rows()) == {
        ("male", "middle", "4350"): 2,
        ("{female, male}", "young", "435*"): 2,
        ("female", "old", "4353"): 2,
    }


def test_distance_is_that_of_s2() -> None:
    """[S2] section 4.1: Dist((male, young, 4351), (female, young, 4352)) = 2.5, both become (*, young, 435*)."""
    frame = pl.DataFrame(PATIENTS, schema=["gender", "age", "postcode"], orient="row")
    sheet = Sheet(frame.to_dict(as_series=False), dict.fromkeys(frame.columns, "categorical"))
    encoded = encode(from_frame(frame), sheet.schema, {"postcode": prefixes([3, 2, 1])})
    attributes = twin_attributes(encoded, Climb())
    texts = [a.texts for a in encoded.attributes]
    one, other = (tuple(t.index(x) for t, x in zip(texts, PATIENTS[row], strict=True)) for row in (2, 3))
    assert naive.tuple_distance(one, other, attributes) == Fraction(5, 2)
    top = naive.common_label(one, other, attributes)
    tree = encoded.attributes[2].tree
    assert tree is not None
    assert (top[0], top[1], tree.labels[top[2]]) == (len(texts[0]), one[1], "435*")


def test_climbs_are_those_of_s2() -> None:
    """[S2] section 3: WHD(6, 4) = 0.4 uniform, WHD(6, 5) = 0.087591 by height, WHD(2, 1) = 1 either way."""
    assert Climb().to_levels("born", 5)[2] == Fraction(2, 5)
    assert round(float(Climb("height").to_levels("born", 5)[1]), 6) == 0.087591
    assert Climb().to_levels("sex", 1) == Climb("height", beta=2).to_levels("sex", 1) == [0, 1]
    assert Climb(given={"born": (1, 0, 3)}).to_levels("born", 3) == [0, Fraction(1, 4), Fraction(1, 4), 1]


@given(drawn=sheets_and_k(max_rows=8), shape=st.integers(0, 9), beta=st.sampled_from([1, 1.5, 2]))
def test_distance_of_tuples_is_a_metric(drawn: tuple[Sheet, int], shape: int, beta: float) -> None:
    """[S2] Lemma 1."""
    encoded = with_trees(drawn[0], shape)
    attributes = twin_attributes(encoded, Climb("height", beta=beta))
    rows = sorted(set(code_rows(encoded)))
    far = {pair: naive.tuple_distance(*pair, attributes) for pair in product(rows, rows)}
    for x, y, z in product(rows, rows, rows):
        assert (far[x, y] == 0) == (x == y)
        assert far[x, y] == far[y, x]
        assert far[x, z] <= far[x, y] + far[y, z]


def test_seed_matters() -> None:
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({name: draw.integers(0, 9, 200).astype(str) for name in "abc"})
    sheet = Sheet(frame.to_dict(as_series=False), dict.fromkeys("abc", "categorical"))
    labels = [KACA().partition(sheet.encoded, (KAnonymity(3),), Run(seed=seed)).labels for seed in (1, 2)]
    assert (labels[0] != labels[1]).any()


def test_outliers_need_a_suppression_limit() -> None:
    encoded = Sheet({"x": ["a", "a", "b"]}, {"x": "categorical"}).encoded
    with pytest.raises(InfeasibleError, match=r"would leave out 1 of 3 rows"):
        KACA(threshold=0.5).partition(encoded, (KAnonymity(2),), Run())
    partition = KACA(threshold=0.5).partition(encoded, (KAnonymity(2),), Run(suppression_limit=Fraction(34, 100)))
    assert partition.labels.tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weighting": "depth"}, r"weighting 'depth' is not known\. Use uniform, height"),
        ({"beta": 0.5}, r"beta=0.5 is not a number from 1"),
        ({"beta": "x"}, r"kaca: beta='x' is not a number from 0 on"),
        ({"threshold": -1}, r"kaca: threshold=-1 is not a number from 0 on"),
        ({"level_weights": {"a": [0, 0]}}, r"level weights of 'a': give numbers from 0 up"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        KACA(**options)  # type: ignore[arg-type]


def test_wrong_level_weights_are_refused() -> None:
    encoded = Sheet({"x": ["a", "b"]}, {"x": "categorical"}).encoded
    with pytest.raises(UsageError, match=r"'y', which is not a quasi-identifier"):
        KACA(level_weights={"y": [1]}).partition(encoded, (KAnonymity(2),), Run())
    with pytest.raises(UsageError, match=r"there are 2, but its hierarchy has 1 steps"):
        KACA(level_weights={"x": [1, 1]}).partition(encoded, (KAnonymity(2),), Run())


def test_every_row_suppressed_is_refused() -> None:
    """A threshold below every distance leaves no group."""
    frame = pl.DataFrame({"age": ["20", "35", "50", "70"], "sex": ["f", "m", "f", "m"]})
    with pytest.raises(InfeasibleError, match=r"every one of the 4 rows.*Lower suppression_limit="):
        shoal.anonymize(
            frame, qi=["age", "sex"], k=2, method=shoal.methods.KACA(threshold=0.001), suppression_limit=1, threads=1
        )
