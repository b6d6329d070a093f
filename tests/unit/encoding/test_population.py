"""Whom the cells of a group fit: counted over codes, by the verifier over text, and here one by one."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode
from shoal.encoding.partition import tight_partition
from shoal.encoding.population import count_strangers, covered_rows
from shoal.errors import InputError, UsageError
from shoal.hierarchy import Hierarchy
from shoal.methods.base import failing_groups
from shoal.models import AverageRisk, DeltaPresence, Groups, KMap
from shoal.tables.table import from_frame
from shoal.verification.cells import Cells
from shoal.verification.models.population import count_fitting
from tests.naive.cover import covers
from tests.strategies import Sheet, sheets


def random_labels(data: st.DataObject, n_rows: int) -> np.ndarray:
    """Labels of a few groups without a gap, some rows suppressed."""
    drawn = data.draw(st.lists(st.integers(-1, 4), min_size=n_rows, max_size=n_rows))
    used = {label: i for i, label in enumerate(sorted({label for label in drawn if label >= 0}))}
    return np.array([used.get(label, -1) for label in drawn], dtype=np.int32)


@st.composite
def sheets_with_people(draw: st.DrawFn) -> tuple[Sheet, Sheet]:
    """A table, and a population that shares some of its values."""
    sheet = draw(sheets(max_rows=25, max_columns=4))
    other = {
        name: [*column, *draw(st.lists(st.sampled_from(column), max_size=0))] for name, column in sheet.columns.items()
    }
    n_more = draw(st.integers(0, 25))
    for name, kind in sheet.kinds.items():
        strange = {
            "numeric": ["-60", "0.25", "7", "99"],
            "date": ["1940-01-01", "1960-02-03"],
            "categorical": ["Q", "a"],
        }
        values = [*dict.fromkeys(sheet.columns[name]), *strange[kind]]
        other[name] = [*other[name], *draw(st.lists(st.sampled_from(values), min_size=n_more, max_size=n_more))]
    return sheet, replace(sheet, columns=other)


def with_population(sheet: Sheet, people: Sheet, hierarchies: dict[str, Hierarchy] | None = None) -> Encoded:
    return encode(from_frame(sheet.frame), sheet.schema, hierarchies, population=from_frame(people.frame))


@settings(max_examples=150)
@given(drawn=sheets_with_people(), data=st.data())
def test_rows_that_fit_are_those_that_the_released_cells_cover(drawn: tuple[Sheet, Sheet], data: st.DataObject) -> None:
    sheet, people = drawn
    encoded = with_population(sheet, people)
    assert count_strangers(encoded) == 0
    labels = random_labels(data, encoded.n_rows)
    counted = covered_rows(encoded, labels)
    if (labels < 0).all():
        assert len(counted) == 0
        return
    released = decode(encoded, tight_partition(encoded, labels), sheet.schema, keep_order=True)
    of_source = dict(zip(encoded.order.tolist(), labels.tolist(), strict=True))
    shown = {}
    for row, cells in zip(released.source_rows.tolist(), released.table.frame.select(sheet.qi).rows(), strict=True):
        shown[of_source[row]] = cells
    for group, cells in shown.items():
        fitting = sum(
            all(covers(cell, text, sheet.kinds[name]) for cell, text, name in zip(cells, row, sheet.qi, strict=True))
            for row in zip(*(people.columns[name] for name in sheet.qi), strict=True)
        )
        assert counted[group] == fitting
    read = {name: Cells(sheet.kinds[name]) for name in sheet.qi}
    by_verifier = count_fitting(list(shown.values()), read, {name: people.columns[name] for name in sheet.qi})
    assert [by_verifier[shown[group]] for group in range(len(shown))] == counted.tolist()


def test_label_of_a_hierarchy_fits_values_that_the_table_lacks() -> None:
    rows = {"Rome": ("Italy", "*"), "Milan": ("Italy", "*"), "Turin": ("Italy", "*"), "Lyon": ("France", "*")}
    cities = Hierarchy(rows)
    frame = pl.DataFrame({"city": ["Rome", "Milan", "Lyon", "Lyon"]})
    people = pl.DataFrame({"city": ["Rome", "Milan", "Turin", "Turin", "Lyon", "Lyon", "Paris"]})
    made = shoal.anonymize(
        frame, qi=["city"], k=2, models=[KMap(2)], hierarchies={"city": cities}, population=people, method="mondrian"
    )
    assert made.text["city"].to_list() == ["Italy", "Italy", "Lyon", "Lyon"]
    sheet = Sheet({"city": frame["city"].to_list()}, {"city": "categorical"})
    crowd = Sheet({"city": people["city"].to_list()}, {"city": "categorical"})
    encoded = with_population(sheet, crowd, {"city": cities})
    of_city = {"Lyon": 0, "Milan": 1, "Rome": 1}
    labels = np.array([of_city[sheet.columns["city"][row]] for row in encoded.order], dtype=np.int32)
    assert covered_rows(encoded, labels).tolist() == [2, 4]


def test_label_of_an_interval_fits_long_numbers_however_they_are_written() -> None:
    incomes = Sheet({"income": ["1234561", "1234568"]}, {"income": "numeric"})
    people = ["1234561", "1234568.0", "1234562", "1234563.00", "1234572"]
    crowd = Sheet({"income": people}, {"income": "numeric"})
    rule = hierarchy.intervals(widths=[5, 10, 100])
    encoded = encode(from_frame(incomes.frame), incomes.schema, {"income": rule}, population=from_frame(crowd.frame))
    assert count_strangers(encoded) == 0
    assert covered_rows(encoded, np.zeros(2, dtype=np.int32)).tolist() == [4]


def random_population(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = random.Random(seed)
    everybody = [(draw.randint(20, 60), draw.choice("ab")) for _ in range(300)]
    people = pl.DataFrame(everybody, schema=["age", "sex"], orient="row")
    return people.head(80), people


def groups_by_age(seed: int, width: int) -> tuple[Encoded, np.ndarray]:
    table, people = random_population(seed)
    kinds = {"age": "numeric", "sex": "categorical"}
    sheet, crowd = (Sheet({n: f[n].cast(str).to_list() for n in f.columns}, kinds) for f in (table, people))
    encoded = with_population(sheet, crowd)
    bands = encoded.tuples[encoded.row_tuple, 0] // width
    return encoded, np.unique(bands, return_inverse=True)[1].astype(np.int32)


@pytest.mark.parametrize("model", [KMap(3), KMap(12), DeltaPresence(0, "0.25"), DeltaPresence("0.2", "0.5")])
def test_population_models_are_those_of_a_plain_count(model: KMap | DeltaPresence, seed: int) -> None:
    """Exact at the threshold, and monotone or closed where they say so."""
    encoded, labels = groups_by_age(seed, 3)
    rows, fitting = np.bincount(labels), covered_rows(encoded, labels)
    if isinstance(model, KMap):
        expected = [bool(n < model.k) for n in fitting]
    else:
        shares = [Fraction(int(r), int(n)) for r, n in zip(rows, fitting, strict=True)]
        expected = [not model.low <= share <= model.high for share in shares]
    failing = failing_groups(encoded, (model,), labels)
    assert failing.tolist() == expected
    merged, union = labels // 2, failing_groups(encoded, (model,), labels // 2)
    for group in range(int(merged.max()) + 1):
        parts = [failing[part] for part in (2 * group, 2 * group + 1) if part < len(failing)]
        assert not union[group] or not (model.monotone and not all(parts))
        assert not union[group] or not (model.closed and not any(parts))


@pytest.mark.parametrize("limit", ["1/10", "0.0999", "1/3"])
def test_average_risk_is_groups_over_rows(limit: str, seed: int) -> None:
    encoded, labels = groups_by_age(seed, 5)
    sizes = np.bincount(labels)
    broken = Fraction(len(sizes), len(labels)) > Fraction(limit)
    failing = AverageRisk(limit).failing(Groups.of(encoded, labels))
    assert failing.tolist() == [bool(broken and Fraction(1, int(size)) > Fraction(limit)) for size in sizes]
    assert failing.any() == broken


def test_average_risk_just_at_its_limit_passes() -> None:
    groups = Groups(np.repeat(np.arange(4, dtype=np.int32), [1, 9, 15, 15]), np.ones(40, dtype=np.int64))
    assert AverageRisk("0.1").failing(groups).tolist() == [False] * 4
    assert AverageRisk("0.0999").failing(groups).tolist() == [True, True, False, False]


def test_population_of_another_form_is_refused() -> None:
    table, people = random_population(0)
    with pytest.raises(UsageError, match="the population has no column 'sex'"):
        shoal.anonymize(table, qi=["age", "sex"], k=2, models=[KMap(2)], population=people.drop("sex"))
    spoilt = people.with_columns(age=pl.Series(["x", *map(str, people["age"].to_list()[1:])]))
    with pytest.raises(InputError, match=r"the population, column 'age': 1 distinct values .*\(first at row 1\)"):
        shoal.anonymize(table, qi=["age", "sex"], k=2, models=[KMap(2)], population=spoilt)
