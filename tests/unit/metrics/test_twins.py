"""Numeric twins of categories, against sums written out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from shoal.encoding.attributes import Encoded
from shoal.encoding.dictionary import Distinct
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.sensitive import Sensitive, sensitive_dictionary
from shoal.metrics.association import MOST_CLASSES, SMOOTHING, find_twins
from shoal.schema import Role, Schema
from shoal.tables.table import from_frame

SHOPS = ["a", "a", "a", "b", "b", "c"]


def table_of(target: list[str], qi: dict[str, list[str]]) -> tuple[Encoded, Sensitive]:
    table = from_frame(pl.DataFrame({**qi, "target": target}))
    schema = guess_kinds(table, Schema.build(table.names, {Role.QI: list(qi), Role.SENSITIVE: ["target"]}))
    encoded = encode(table, schema)
    column = schema.columns[-1]
    dictionary = sensitive_dictionary(column, Distinct.of(table, "target"), schema.missing)
    codes = dictionary.codes(table.factor("target"))[encoded.order]
    return encoded, replace(dictionary.meaning, codes=codes)


def smoothed(pairs: list[tuple[str, float]]) -> dict[str, float]:
    mean = sum(score for _, score in pairs) / len(pairs)
    found = {}
    for value in {value for value, _ in pairs}:
        own = [score for each, score in pairs if each == value]
        found[value] = (sum(own) + SMOOTHING * mean) / (len(own) + SMOOTHING)
    return found


def test_two_classes_have_one_twin_of_smoothed_shares() -> None:
    target = ["yes", "yes", "no", "no", "no", "yes"]
    encoded, column = table_of(target, {"shop": SHOPS, "age": ["1", "2", "3", "4", "5", "6"]})
    (twin,) = find_twins(encoded, column)  # a number has none
    assert (encoded.attributes[twin.place].name, twin.weight) == ("shop", 1)
    expected = smoothed([(shop, float(value == "no")) for shop, value in zip(SHOPS, target, strict=True)])
    assert twin.values == pytest.approx([expected[text] for text in encoded.attributes[twin.place].texts])


def test_several_classes_share_the_weight_of_one_range() -> None:
    target = ["x", "x", "y", "y", "z", "z"]
    encoded, column = table_of(target, {"shop": SHOPS})
    twins = find_twins(encoded, column)
    assert [twin.weight for twin in twins] == [Fraction(1, 3)] * 3
    assert np.sum([twin.values for twin in twins], axis=0) == pytest.approx(np.ones(3))


def test_rare_classes_count_as_one() -> None:
    shops = [str("abc"[i % 3]) for i in range(60)]
    encoded, column = table_of([f"c{(i * i) % 11}" for i in range(60)], {"shop": shops})
    assert column.n_values > MOST_CLASSES
    twins = find_twins(encoded, column)
    assert len(twins) == MOST_CLASSES
    assert np.sum([twin.values for twin in twins], axis=0) == pytest.approx(np.ones(3))


def test_numbers_have_a_twin_of_mean_ranks_that_an_outlier_does_not_stretch() -> None:
    near, far = (["10", "20", "30", "40", "50", last] for last in ("60", "60000000"))
    twins = [find_twins(*table_of(target, {"shop": SHOPS}))[0] for target in (near, far)]
    assert twins[0].values.tolist() == twins[1].values.tolist()
    expected = smoothed([(shop, 2 * rank + 1.0) for rank, shop in enumerate(SHOPS)])
    assert twins[0].values == pytest.approx([expected[shop] for shop in "abc"])


def test_rows_without_a_target_do_not_count() -> None:
    target = ["yes", "", "no", "no", "", "yes"]
    encoded, column = table_of(target, {"shop": SHOPS})
    (twin,) = find_twins(encoded, column)
    known = [(shop, float(value == "no")) for shop, value in zip(SHOPS, target, strict=True) if value]
    expected = smoothed(known)
    assert twin.values == pytest.approx([expected[shop] for shop in "abc"])


def test_a_category_that_tells_nothing_has_no_twin() -> None:
    encoded, column = table_of(["yes", "no"] * 3, {"shop": ["a", "a", "b", "b", "c", "c"]})
    assert find_twins(encoded, column) == ()
