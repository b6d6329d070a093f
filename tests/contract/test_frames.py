"""What holds for every kind of frame: the same kind comes back, with the same content."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import Release
from shoal.errors import InputError, UsageError
from shoal.tables.table import from_frame

COLUMNS: dict[str, list[Any]] = {
    "age": [31, 33, 35, 47, 47, None, 52, 58],
    "zip": ["02139", "02139", "02140", "10001", "10001", "10002", "10002", None],
    "seen": [date(2020, 1, d) for d in range(1, 9)],
    "disease": ["flu", "cold", None, "flu", "ulcer", "flu", "cold", "José"],
    "cost": [1.5, -0.0, float("inf"), 1e300, 0.1, None, 2.0, 3.25],
    "visits": [1, 2, 3, 4, 5, 6, 7, 9007199254740993],
    "smoker": [True, False, None, True, False, True, False, True],
}
TYPES: dict[str, Any] = {
    "age": pl.Int64,
    "zip": pl.String,
    "seen": pl.Date,
    "disease": pl.String,
    "cost": pl.Float64,
    "visits": pl.Int64,
    "smoker": pl.Boolean,
}
QI = ["age", "zip", "seen"]
SENSITIVE = ["disease", "cost", "visits", "smoker"]


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(COLUMNS, schema=TYPES)


def arrow_table() -> pa.Table:
    types = {"age": pa.int64(), "cost": pa.float64(), "seen": pa.date32(), "smoker": pa.bool_()}
    return pa.table({name: pa.array(cells, types.get(name)) for name, cells in COLUMNS.items()})


def pandas_frame() -> pd.DataFrame:
    types = {"age": "Int64", "seen": "datetime64[s]", "smoker": "boolean"}
    columns = {name: pd.Series(cells, dtype=types.get(name)) for name, cells in COLUMNS.items()}
    return pd.DataFrame(columns).set_axis([f"row {i}" for i in range(8)])


LIBRARIES: dict[str, tuple[Callable[[], Any], type]] = {
    "pandas": (pandas_frame, pd.DataFrame),
    "polars": (polars_frame, pl.DataFrame),
    "polars lazy": (lambda: polars_frame().lazy(), pl.DataFrame),
    "pyarrow": (arrow_table, pa.Table),
}
every_library = pytest.mark.parametrize("library", LIBRARIES)


def release(frame: Any, **options: Any) -> Release:
    return shoal.anonymize(frame, qi=QI, sensitive=SENSITIVE, k=2, **options)


def names_of(frame: Any) -> list[str]:
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def cells_of(frame: Any, name: str) -> list[Any]:
    """The cells of a column as Python values, None where there is none."""
    if isinstance(frame, pd.DataFrame):
        return [None if pd.isna(cell) else cell for cell in frame[name].tolist()]
    cells = frame.column(name).to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if isinstance(cell, float) and cell != cell else cell for cell in cells]


@every_library
def test_frame_comes_back_as_the_same_kind(library: str) -> None:
    make, kind = LIBRARIES[library]
    made = release(make()).frame
    assert type(made) is kind
    assert names_of(made) == list(COLUMNS)


@every_library
def test_content_is_the_same_for_every_library(library: str) -> None:
    """D03: one table, four kinds of frame, one release."""
    expected = release(polars_frame()).text
    made = release(LIBRARIES[library][0]())
    assert made.text.write_csv() == expected.write_csv()
    assert made.text["age"].to_list() != [""] * 8
    for name in QI:
        assert cells_of(made.frame, name) == [cell or None for cell in expected[name].to_list()]
    for name in SENSITIVE:
        assert cells_of(made.frame, name) == [COLUMNS[name][row] for row in made.source_rows.tolist()]


@every_library
def test_text_of_each_cell_is_what_the_user_sees(library: str) -> None:
    """C08, C10, C12: -0.0 prints as 0.0, whole numbers in full, 0.1 short, every missing value empty."""
    table = from_frame(LIBRARIES[library][0]()).frame
    assert table["age"].to_list() == ["31", "33", "35", "47", "47", "", "52", "58"]
    assert table["cost"].to_list() == ["1.5", "0.0", "inf", "1e+300", "0.1", "", "2.0", "3.25"]
    assert table["seen"].to_list()[0] == "2020-01-01"
    assert table["visits"].to_list()[-1] == "9007199254740993"
    assert table["smoker"].to_list()[:3] == ["True", "False", ""]
    assert table["disease"].to_list()[2] == ""


@every_library
def test_columns_that_are_not_recoded_keep_their_type(library: str) -> None:
    make, _ = LIBRARIES[library]
    frame = make().collect() if library == "polars lazy" else make()
    made = release(frame).frame
    for name in SENSITIVE:
        if library == "pyarrow":
            assert made.schema.field(name).type == frame.schema.field(name).type
        else:
            assert made[name].dtype == frame[name].dtype


@every_library
def test_quasi_identifier_that_is_not_recoded_keeps_its_type(library: str) -> None:
    make, _ = LIBRARIES[library]
    frame = make()
    made = shoal.anonymize(
        frame, qi=["age"], sensitive=["zip", "seen", *SENSITIVE], k=1, models=[shoal.MaximalRisk(1)]
    ).frame
    numbers = cells_of(made, "age")
    assert [int(number) for number in numbers if number is not None] == [31, 33, 35, 47, 47, 52, 58]
    assert not any(isinstance(number, str) for number in numbers)


@every_library
def test_release_has_the_declared_columns_and_no_index(library: str) -> None:
    """L02, L06: no row id of any sort, and nothing beside the cells."""
    frame = LIBRARIES[library][0]()
    if library == "pandas":
        frame.attrs["source"] = "secret"
    if library == "pyarrow":
        frame = frame.replace_schema_metadata({"source": "secret"})
    made = shoal.anonymize(frame, qi=QI, sensitive=["disease"], drop=["cost", "visits", "smoker"], k=2).frame
    assert names_of(made) == [*QI, "disease"]
    if library == "pandas":
        assert isinstance(made.index, pd.RangeIndex)
        assert made.index.name is None
        assert made.attrs == {}
        assert all(made[name].attrs == {} for name in made.columns)
    if library == "pyarrow":
        assert made.schema.metadata is None


@every_library
def test_keep_order_aligns_with_the_input(library: str) -> None:
    made = release(LIBRARIES[library][0](), keep_order=True)
    assert cells_of(made.frame, "visits") == COLUMNS["visits"]
    assert made.source_rows.tolist() == list(range(8))
    assert any("keep their order" in note for note in made.notes)


def test_unused_categories_of_pandas_are_gone() -> None:
    """L03: a category that no row holds is not handed over."""
    disease = pd.Categorical(["flu", "cold", "flu", "cold"], categories=["canary", "cold", "flu"])
    made = shoal.anonymize(
        pd.DataFrame({"age": [1, 2, 3, 4], "disease": disease}), qi=["age"], sensitive=["disease"], k=2
    )
    assert list(made.frame["disease"].cat.categories) == ["cold", "flu"]
    sex = pd.Categorical(["f", "f", "m", "m"], categories=["canary", "f", "m"])
    untouched = shoal.anonymize(pd.DataFrame({"sex": sex}), qi=["sex"], k=2)
    assert list(untouched.frame["sex"].cat.categories) == ["f", "m"]


def test_unused_values_of_an_arrow_dictionary_are_gone() -> None:
    """L03."""
    disease = pa.DictionaryArray.from_arrays(pa.array([1, 2, 1, 2]), pa.array(["canary", "cold", "flu"]))
    made = shoal.anonymize(pa.table({"age": [1, 2, 3, 4], "disease": disease}), qi=["age"], sensitive=["disease"], k=2)
    column = made.frame.column("disease")
    assert sorted(column.to_pylist()) == ["cold", "cold", "flu", "flu"]
    for chunk in column.chunks:
        assert "canary" not in getattr(chunk, "dictionary", chunk).to_pylist()


def test_unused_values_of_a_polars_enum_are_gone() -> None:
    """L03."""
    disease = pl.Series(["cold", "flu", "cold", "flu"], dtype=pl.Enum(["canary", "cold", "flu"]))
    made = shoal.anonymize(
        pl.DataFrame({"age": [1, 2, 3, 4], "disease": disease}), qi=["age"], sensitive=["disease"], k=2
    )
    column = made.frame["disease"]
    assert sorted(column.cast(pl.String).to_list()) == ["cold", "cold", "flu", "flu"]
    assert "canary" not in list(getattr(column.dtype, "categories", []))


def test_every_missing_value_of_pandas_is_one() -> None:
    """C06: None, NaN, NaT, NA and the empty text, each once, are five of a kind."""
    column = pd.Series([None, float("nan"), pd.NaT, pd.NA, ""], dtype=object)
    for kind in ("numeric", "categorical"):
        made = shoal.anonymize(pd.DataFrame({"x": column}), qi=["x"], k=5, **{kind: ["x"]})
        assert made.text["x"].to_list() == [""] * 5
        assert made.measures.ncp == 0
        assert made.measures.groups == 1


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1.0, None, None], dtype="float64"),
        pd.Series([1, None, pd.NA], dtype="Int64"),
        pd.Series([True, None, pd.NA], dtype="boolean"),
        pd.Series(["a", None, pd.NA], dtype="string"),
        pd.Series(["a", None, float("nan")], dtype="str"),
        pd.Series([pd.Timestamp("2020-01-01"), None, pd.NaT]),
        pd.Series([pd.Timedelta("1h"), None, pd.NaT]),
        pd.Series(["a", None, float("nan")], dtype="category"),
        pd.Series([1, None, None], dtype=pd.ArrowDtype(pa.int64())),
        pd.Series([Decimal("1.5"), None, Decimal("NaN")], dtype=object),
        pd.Series([1.5, np.float32("nan"), np.datetime64("NaT")], dtype=object),
    ],
    ids=lambda series: str(series.dtype),
)
def test_missing_value_of_any_pandas_type_is_the_empty_text(series: pd.Series) -> None:
    """C06."""
    texts = from_frame(pd.DataFrame({"x": series})).frame["x"].to_list()
    assert texts[1:] == ["", ""]
    assert texts[0] != ""


@pytest.mark.parametrize(
    "values",
    [[1.0, float("nan"), None], [Decimal("1.5"), None, None], [datetime(2020, 1, 1, 12), None, None]],
    ids=["float", "decimal", "datetime"],
)
def test_missing_value_of_polars_and_arrow_is_the_empty_text(values: list[Any]) -> None:
    """C06."""
    for frame in (pl.DataFrame({"x": values}, strict=False), pa.table({"x": pa.array(values)})):
        texts = from_frame(frame).frame["x"].to_list()
        assert texts[1:] == ["", ""]
        assert texts[0] != ""


def test_column_without_any_value_is_taken() -> None:
    for frame in (
        pd.DataFrame({"x": [None, None]}),
        pl.DataFrame({"x": [None, None]}),
        pa.table({"x": pa.nulls(2)}),
    ):
        assert from_frame(frame).frame["x"].to_list() == ["", ""]


def test_numbers_texts_and_truth_values_in_one_column_have_one_text_each() -> None:
    """C09: 1 and "1" are one text and so one value; 1.0 and True are others."""
    column = pd.Series([1, 1.0, "1", True], dtype=object)
    assert from_frame(pd.DataFrame({"x": column})).frame["x"].to_list() == ["1", "1.0", "1", "True"]
    made = shoal.anonymize(pd.DataFrame({"x": column}), qi=["x"], categorical=["x"], k=4)
    assert made.text["x"].to_list() == ["{1, 1.0, True}"] * 4
    with pytest.raises(InputError, match=r"column 'x' is declared numeric, but 1 distinct value is not .*row 4"):
        shoal.anonymize(pd.DataFrame({"x": column}), qi=["x"], numeric=["x"], k=4)


def test_numbers_written_in_two_ways_are_one_value_where_declared_numeric() -> None:
    """C09: released by the shorter text."""
    column = pd.Series([1, 1.0, "1", "1.00"], dtype=object)
    made = shoal.anonymize(pd.DataFrame({"x": column}), qi=["x"], numeric=["x"], k=4)
    assert made.text["x"].to_list() == ["1"] * 4
    assert made.measures.ncp == 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "object"])
def test_negative_zero_is_zero_in_pandas(dtype: str) -> None:
    """C08: of any width."""
    made = shoal.anonymize(pd.DataFrame({"x": pd.Series([0.0, -0.0], dtype=dtype)}), qi=["x"], k=2)
    assert made.text["x"].to_list() == ["0.0", "0.0"]


def test_negative_zero_of_another_type_in_an_object_column_is_zero() -> None:
    """C08: also as a scalar of numpy."""
    column = pd.Series([0.0, np.float32(-0.0), np.float64(-0.0)], dtype=object)
    assert from_frame(pd.DataFrame({"x": column})).frame["x"].to_list() == ["0.0"] * 3


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_negative_zero_is_zero_in_polars_and_arrow(dtype: Any) -> None:
    """C08."""
    frame = pl.DataFrame({"x": pl.Series([-0.0, 0.0, -0.0], dtype=dtype)})
    for given in (frame, frame.to_arrow()):
        assert from_frame(given).frame["x"].to_list() == ["0.0"] * 3


def test_float32_has_one_text_in_every_library() -> None:
    """C10, D03."""
    numbers = np.array([0.1, 1 / 3, 1e10], dtype="float32")
    texts = {
        tuple(from_frame(frame).frame["x"].to_list())
        for frame in (pd.DataFrame({"x": numbers}), pl.DataFrame({"x": numbers}), pa.table({"x": numbers}))
    }
    assert len(texts) == 1


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_have_one_text_in_every_library(unit: str) -> None:
    """D03, B14: down to the nanosecond, each moment its own text."""
    moments = np.array(["2020-01-01T00:00:00", "2020-01-01T12:30:00", "2020-01-02T00:00:00.001"], f"datetime64[{unit}]")
    if unit == "ns":
        moments = np.append(moments, moments[:1] + np.timedelta64(1, "ns"))
    texts = [
        from_frame(frame).frame["x"].to_list()
        for frame in (
            pd.DataFrame({"x": moments}),
            pl.DataFrame({"x": pl.Series(moments)}),
            pa.table({"x": pa.array(moments)}),
        )
    ]
    assert texts[0][0] == "2020-01-01"
    assert len(set(texts[0])) == len(moments)
    assert texts[1] == texts[0]
    assert texts[2] == texts[0]


def test_stretches_of_time_have_one_text_in_every_library() -> None:
    """D03."""
    stretches = np.array([3600, 90061], "timedelta64[s]").astype("timedelta64[us]")
    frames = (
        pd.DataFrame({"x": stretches}),
        pl.DataFrame({"x": pl.Series(stretches)}),
        pa.table({"x": pa.array(stretches)}),
    )
    texts = {tuple(from_frame(frame).frame["x"].to_list()) for frame in frames}
    assert len(texts) == 1


def test_column_names_that_are_no_text_come_back_as_they_were() -> None:
    frame = pd.DataFrame({0: [1, 2], "x": ["a", "b"]})
    made = shoal.anonymize(frame, qi=["0"], sensitive=["x"], k=2, ends="exact").frame
    assert list(made.columns) == [0, "x"]
    assert made[0].tolist() == ["[1, 2]", "[1, 2]"]


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (pd.DataFrame({"x": []}), "the frame has no data rows"),
        (pl.DataFrame({"x": []}), "the frame has no data rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1, 2 have the same name"),
        (pa.table([[1], [2]], names=["a", "a"]), "columns 1, 2 have the same name"),
        (pd.DataFrame([[1, 2]], columns=["a", ""]), "the column at position 2 has no name"),
        (pl.DataFrame({"x": [[1], [2]]}), "column 'x' has type List"),
        (pd.DataFrame({"x": [[1], [2]]}), "of type list cannot be released"),
    ],
    ids=["pandas empty", "polars empty", "pandas twice", "arrow twice", "no name", "polars nested", "pandas nested"],
)
def test_frame_that_cannot_be_taken_is_refused(frame: Any, text: str) -> None:
    """B02, B07."""
    with pytest.raises(InputError, match=text):
        from_frame(frame)


def test_anything_but_a_frame_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a table of type dict is not supported\. Pass a pandas, polars or pyarrow"):
        from_frame({"x": [1]})
