"""Dictionaries come from distinct texts; the codes of any block of rows follow from them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.dictionary import Distinct
from shoal.encoding.encode import encode, encode_rows, make_dictionaries
from shoal.errors import InputError
from shoal.hierarchy import Hierarchy
from shoal.schema import Kind, Role, Schema
from shoal.tables.sorting import pack, sort_keys
from shoal.tables.table import Table, from_frame
from tests.strategies import Sheet, odd_sheets


def distinct_as_sql(table: Table, name: str) -> Distinct:
    """The distinct cells of a column as a GROUP BY gives them: without row numbers."""
    counted = table.frame.group_by(name).len("rows").sort(name)
    return Distinct(counted[name], counted["rows"].cast(pl.Int64).to_numpy())


@given(sheet=odd_sheets(), data=st.data())
def test_codes_of_a_block_are_those_of_the_whole_table(sheet: Sheet, data: st.DataObject) -> None:
    table = from_frame(sheet.frame)
    whole = encode(table, sheet.schema)
    dictionaries = make_dictionaries(sheet.schema, lambda name: distinct_as_sql(table, name))
    by_row = np.empty((sheet.n_rows, len(whole.attributes)), dtype=np.int32)
    by_row[whole.order] = whole.tuples[whole.row_tuple]
    size = data.draw(st.integers(1, sheet.n_rows))
    for start in range(0, sheet.n_rows, size):
        block = encode_rows(dictionaries, Table(table.frame.slice(start, size)))
        assert [a.texts for a in block.attributes] == [a.texts for a in whole.attributes]
        np.testing.assert_array_equal(block.tuples[block.row_tuple], by_row[start + block.order])
        for column, of_block in zip(whole.sensitive, block.sensitive, strict=True):
            by_source = np.empty(sheet.n_rows, dtype=np.int32)
            by_source[whole.order] = column.codes
            np.testing.assert_array_equal(of_block.codes, by_source[start + block.order])


def test_block_with_a_new_cell_is_refused() -> None:
    schema = Schema.build(["x"], {Role.QI: ["x"]}, kinds={"x": Kind.CATEGORICAL})
    table = Table(pl.DataFrame({"x": ["a", "b"]}))
    dictionaries = make_dictionaries(schema, lambda name: Distinct.of(table, name))
    with pytest.raises(InputError, match=r"column 'x': 1 distinct values of this block are not among"):
        encode_rows(dictionaries, Table(pl.DataFrame({"x": ["a", "secret"]})))


def test_errors_of_all_columns_come_together_and_name_rows_if_there_are_any() -> None:
    table = Table(pl.DataFrame({"x": ["1", "?", "3"], "y": ["a", "b", "b"], "k": ["2", "2", "0"]}))
    roles = {Role.QI: ["x", "y"], Role.PERSONAL_K: ["k"]}
    schema = Schema.build(["x", "y", "k"], roles, kinds={"x": Kind.NUMERIC, "y": Kind.CATEGORICAL})
    rules = {"y": Hierarchy({"a": ("*",)})}
    with pytest.raises(InputError) as caught:
        encode(table, schema, rules)
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0].split(" is ")[0].split(" contains ")[0] for line in lines] == [
        "column 'x'",
        "column 'y'",
        "column 'k'",
    ]
    assert all(f"row {row}" in line for row, line in zip((2, 2, 3), lines, strict=True))
    with pytest.raises(InputError) as caught:
        make_dictionaries(schema, lambda name: distinct_as_sql(table, name), rules)
    assert "row" not in str(caught.value).replace("the row", "").replace("each row", "")


def test_part_of_a_counted_table_keeps_its_weights() -> None:
    frame = pl.DataFrame({"x": ["1", "1", "2"], "s": ["a", "b", "a"]})
    table = Table(frame, weights=np.array([5, 7, 11]))
    schema = Schema.build(["x", "s"], {Role.QI: ["x"], Role.SENSITIVE: ["s"]}, kinds={"x": Kind.NUMERIC})
    encoded = encode(table, schema)
    part = encoded.part(np.array([False, True, True]))
    assert encoded.counts.tolist() == [12, 11]
    assert part.counts.tolist() == [7, 11]
    assert part.n_rows == 18


@given(
    rows=st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 3), st.integers(0, 2**40)), max_size=30, min_size=1),
    wide=st.booleans(),
)
def test_packed_rows_sort_as_rows_do(rows: list[tuple[int, int, int]], wide: bool) -> None:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    if not wide:
        columns = [column % 4 for column in columns]
    order = sort_keys(*pack(columns, [int(column.max()) + 1 for column in columns]))
    np.testing.assert_array_equal(order, np.lexsort(columns[::-1]))
