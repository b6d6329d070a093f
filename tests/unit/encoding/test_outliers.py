"""Outliers recoded before a run: bounds, shares, rare values, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.encoding.outliers import code_outliers, free_label
from shoal.errors import UsageError
from shoal.schema import Role, Schema, parse_codings
from shoal.tables.table import Table, from_frame
from shoal.verification.gate_streamed import outliers, tallies
from shoal.verification.gate_streamed.blocks import BlockColumn
from shoal.verification.gate_streamed.outliers import Recoded, find_recoded
from shoal.verification.matching.outliers import recode_source
from shoal.verification.matching.people import with_people
from shoal.verification.reading.coded import code_columns
from shoal.verification.verdict import Violation


def coded(texts: list[str], coding: str, k: int = 2, **facts: object) -> tuple[list[str], Schema]:
    """The cells of a column after its recoding, and the schema with what was found."""
    schema = Schema.build(["x"], {Role.QI: ["x"]}, codings={"x": parse_codings("x", coding)})
    schema = replace(schema, columns=(replace(schema.columns[0], **facts),))  # type: ignore[arg-type]
    table, schema, _ = code_outliers(from_frame(pl.DataFrame({"x": texts})), schema, k)
    return table.frame["x"].to_list(), schema


@pytest.mark.parametrize(
    ("coding", "texts", "expected"),
    [
        ("top:90", ["17", "90", "90.0", "91", ""], ["17", "90", "90", "90", ""]),
        ("bottom:18", ["17", "18", "90"], ["18", "18", "90"]),
        ("bottom:18,top:90", ["3", "50", "99"], ["18", "50", "90"]),
        ("top:50%", ["1", "2", "3", "4"], ["1", "2", "2", "2"]),  # two rows lie from 2 to below 4
        ("top:75%", ["7", "7", "7", "9"], ["7", "7", "7", "7"]),  # enough rows have 7 itself
        ("top:1960-01-01", ["1950-05-05", "1970-01-01"], ["1950-05-05", "1960-01-01"]),
        ("bottom:50%", ["1931-05-05", "1935-07-01", "1990-01-01"], ["1939-12-31", "1939-12-31", "1990-01-01"]),
        ("top:$2,000", ["$1,000", "$2,500", ""], ["$1,000", "$2,000", ""]),
        ("top:50%", ["1.000,50", "1.000,50", "2.345,10"], ["1.000,50", "1.000,50", "1.000,50"]),
        ("top:31.12.1960", ["05.05.1950", "13.01.1970"], ["05.05.1950", "31.12.1960"]),
        ("rare:2", ["yes", "yes", "no"], ["yes", "yes", "other"]),
        ("rare:2", ["a", "a", "b", "c", ""], ["a", "a", "other", "other", ""]),
        ("rare:2", ["a", "a", "Other", "c"], ["a", "a", "other values", "other values"]),
        ("rare:2", ["a", "a", "b", "b"], ["a", "a", "b", "b"]),
    ],
)
def test_cells_beyond_a_bound_show_it(coding: str, texts: list[str], expected: list[str]) -> None:
    """[S1]: a missing value stays as it is."""
    assert coded(texts, coding)[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "top",
        "top:",
        "top:0%",
        "top:100%",
        "top:1e2%",
        "rare:1",
        "rare:2%",
        "middle:3",
        "top:9,top:8",
        "rare:5,top:9",
    ],
)
def test_recodings_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="recode"):
        parse_codings("x", text)


@pytest.mark.parametrize(
    ("coding", "texts"),
    [
        ("top:9", ["a", "b"]),
        ("rare:3", ["1", "2"]),
        ("top:x", ["1", "2"]),
        ("bottom:9,top:3", ["1", "9"]),
        ("top:9%", [""]),
    ],
)
def test_recodings_that_do_not_suit_their_column_are_refused(coding: str, texts: list[str]) -> None:
    with pytest.raises(UsageError, match=r"'x'|x="):
        coded(texts, coding)


def test_decimal_marks_are_those_of_the_column() -> None:
    cells, schema = coded(["1,5", "2,25", "7,75"], "top:2,5", decimal=",")
    assert cells == ["1,5", "2,25", "2,5"]
    assert schema.columns[0].codings[0].words == "2,5 means 2,5 or more"


def test_a_label_looks_like_no_value() -> None:
    assert free_label({"a"}) == "other"
    assert free_label({"OTHER", "other values", "Other Values 2"}) == "other values 3"


@given(
    numbers=st.lists(st.integers(-50, 300), min_size=1, max_size=40),
    share=st.integers(1, 99),
    form=st.sampled_from(["top", "bottom"]),
    k=st.integers(1, 6),
    people=st.one_of(st.none(), st.integers(1, 9)),
)
def test_bounds_of_shares_are_shared_and_found_again(
    numbers: list[int], share: int, form: str, k: int, people: int | None
) -> None:
    """A share codes at least its rows, its bound is that of k or no one, and the verifier finds the same bound."""
    names, roles = ["x"], {Role.QI: ["x"]}
    columns = {"x": [str(number) for number in numbers]}
    if people:
        names, roles = ["x", "p"], {Role.QI: ["x"], Role.PERSON: ["p"]}
        columns["p"] = [f"{i % people}{' ' * (i % 2)}" for i in range(len(numbers))]
    schema = Schema.build(names, roles, codings={"x": parse_codings("x", f"{form}:{share}%")})
    table: Table = from_frame(pl.DataFrame(columns))
    after, schema, _ = code_outliers(table, schema, k)
    bound = int(schema.columns[0].codings[0].text)
    cells = [int(text) for text in after.frame["x"].to_list()]
    assert cells == [min(n, bound) if form == "top" else max(n, bound) for n in numbers]
    ranked = sorted(numbers)
    value = ranked[max(math.ceil(len(numbers) * share / 100), 1) - 1]
    assert bound <= value if form == "top" else bound >= value
    again, wrong = recode_source(with_people(code_columns(columns), schema), schema, k)
    assert not wrong
    texts = again.column("x")
    assert [texts.texts[code] for code in texts.codes.tolist()] == after.frame["x"].to_list()
    for most in (1, 62):
        recoded, wrong = streamed(columns, schema, k, most, patience=most)
        assert not wrong
        assert [recoded["x"].get(text, text) for text in columns["x"]] == after.frame["x"].to_list()


def streamed(
    columns: dict[str, list[str]], schema: Schema, k: int, most: int, patience: int
) -> tuple[Recoded, list[Violation]]:
    """Recode a table that is read three rows at a time, and asked about so many sets of cells at once."""

    def read(names: Sequence[str]) -> Iterator[list[tuple[BlockColumn, NDArray[np.int32]]]]:
        known = [BlockColumn() for _ in names]
        for first in range(0, len(columns["x"]), 3):
            rows = [columns[name][first : first + 3] for name in names]
            yield [(column, column.code(own)) for column, own in zip(known, rows, strict=True)]
            if first % 2:
                known[0].forget()

    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(outliers, "MOST_SETS", most)
        patch.setattr(outliers, "PATIENCE", patience)
        patch.setattr(tallies, "MOST_RUNS", 2)
        return find_recoded(schema, k, read, folder)
