"""Rows of codes packed into few integers: they compare as the rows do, in numpy, in polars and in SQL."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

from shoal.tables.sorting import LARGEST_KEY, Packing

CARDS = {
    "one column": [7],
    "one number": [3, 1, 50, 2],
    "two numbers": [2**31, 2**20, 2**12, 5],
    "a number of its own": [2**31, 2**31, 2**31],
    "exactly full": [2**31, 2**31, 2],
}


@pytest.mark.parametrize("cards", CARDS.values(), ids=CARDS)
def test_packed_rows_compare_like_their_codes(cards: list[int]) -> None:
    packing, draw = Packing.of(cards), np.random.default_rng(3)
    codes = np.column_stack([draw.integers(0, card, 200) for card in cards]).astype(np.int32)
    codes[0], codes[1] = 0, np.array(cards) - 1
    frame = pl.DataFrame({f"k{i}": codes[:, i] for i in range(len(cards))})
    packed = frame.select(packing.packed())
    assert [packed[name].to_list() for name in packing.names] == [each.tolist() for each in packing.pack(list(codes.T))]
    assert (packing.codes(packed) == codes).all()
    order = np.lexsort([packed[name].to_numpy() for name in reversed(packing.names)])
    assert (order == np.lexsort(codes.T[::-1])).all()
    assert max(packed.max().row(0)) < LARGEST_KEY


@pytest.mark.parametrize("cards", CARDS.values(), ids=CARDS)
def test_queries_pack_and_unpack_the_same_numbers(cards: list[int], tmp_path: object) -> None:
    packing, draw = Packing.of(cards), np.random.default_rng(4)
    codes = [draw.integers(0, card, 50).astype(np.int32) for card in cards]
    columns = [f"k{i}" for i in range(len(cards))]
    pl.DataFrame(dict(zip(columns, codes, strict=True))).write_parquet(f"{tmp_path}/codes.parquet")
    packed = [f"{key} as p{i}" for i, key in enumerate(packing.packed_in_sql(columns))]
    inside = f"select {', '.join(packed)} from read_parquet('{tmp_path}/codes.parquet')"
    found = duckdb.sql(f"select {', '.join(packing.names)} from ({inside})").fetchall()
    assert found == list(zip(*(each.tolist() for each in packing.pack(codes)), strict=True))
    unpacked = [packing.code_in_sql(i) for i in range(len(cards))]
    assert duckdb.sql(f"select {', '.join(unpacked)} from ({inside})").fetchall() == list(
        zip(*(own.tolist() for own in codes), strict=True)
    )
