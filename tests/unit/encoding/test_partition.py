"""Entries are the currency of partitions; labels of rows are a view of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.encoding.partition import Entries, Partition, tight_partition
from shoal.errors import InternalError
from shoal.methods.base import failing_groups
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table
from tests.strategies import Sheet, sheets


@given(sheet=sheets(max_rows=30), data=st.data())
def test_any_labels_come_back_from_their_entries(sheet: Sheet, data: st.DataObject) -> None:
    encoded = sheet.encoded
    drawn = data.draw(st.lists(st.integers(-1, 4), min_size=sheet.n_rows, max_size=sheet.n_rows))
    labels = np.array(drawn, dtype=np.int32)
    entries = Entries.of_rows(encoded, labels)
    np.testing.assert_array_equal(entries.labels(), labels)
    np.testing.assert_array_equal(np.bincount(entries.tuples, entries.rows), encoded.counts)
    assert entries.sizes(5).tolist() == [drawn.count(group) for group in range(5)]
    assert (np.diff(entries.tuples) >= 0).all()


def counted() -> Encoded:
    frame = pl.DataFrame({"x": ["1", "1", "2", "3"], "s": ["a", "b", "a", "b"]})
    schema = Schema.build(["x", "s"], {Role.QI: ["x"], Role.SENSITIVE: ["s"]}, kinds={"x": Kind.NUMERIC})
    return encode(Table(frame, weights=np.array([2, 3, 4, 5])), schema)


def test_entries_of_a_counted_table_count_its_source_rows() -> None:
    encoded = counted()
    labels = np.array([0, 1, 1, -1], dtype=np.int32)
    partition = tight_partition(encoded, labels)
    assert partition.entries.rows.tolist() == [2, 3, 4, 5]
    assert partition.entries.sizes().tolist() == [2, 7]
    np.testing.assert_array_equal(partition.labels, labels)
    models = (KAnonymity(3),)
    assert failing_groups(encoded, models, partition.entries).tolist() == [True, False]
    assert failing_groups(encoded, models, labels).tolist() == [True, False]


def test_entries_that_cut_a_counted_row_are_refused() -> None:
    encoded = counted()
    entries = Entries(np.array([0, 0, 1, 2]), np.array([1, 4, 4, 5]), np.array([0, 1, 1, 1], dtype=np.int32))
    with pytest.raises(InternalError, match="an entry ends inside a row"):
        entries.labels(encoded.weights)


def test_groups_of_tuples_need_no_rows() -> None:
    encoded = counted()
    groups = np.array([0, 0, -1], dtype=np.int32)
    partition = tight_partition(encoded, Entries.of_tuples(encoded, groups))
    again = Partition.of_tuples(encoded, groups, partition.cells)
    assert partition.labels.tolist() == again.labels.tolist() == [0, 0, 0, -1]
    assert partition.n_groups == 1


@given(sheet=sheets(max_rows=30), data=st.data())
def test_models_judge_entries_as_they_judge_rows(sheet: Sheet, data: st.DataObject) -> None:
    columns = sheet.columns | {
        "s": data.draw(st.lists(st.sampled_from("abc"), min_size=sheet.n_rows, max_size=sheet.n_rows))
    }
    encoded = Sheet(columns, sheet.kinds).encoded
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=sheet.n_rows, max_size=sheet.n_rows))
    labels = np.unique(drawn, return_inverse=True)[1].astype(np.int32)
    for models in ((KAnonymity(3),), (KAnonymity(2), shoal.LDiversity("s", l=2))):
        by_rows = failing_groups(encoded, models, labels)
        np.testing.assert_array_equal(failing_groups(encoded, models, Entries.of_rows(encoded, labels)), by_rows)
