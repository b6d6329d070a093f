"""Cells as numbers: ranges, sets, labels, stars and missing values, of the original and of the release alike."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import hierarchy
from shoal.errors import InputError, UsageError
from shoal.metrics import features
from shoal.metrics.features import fill_kinds, fit_encoding
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table


def table(**columns: list[str]) -> Table:
    return Table(pl.DataFrame(columns))


def schema(given: Table, missing: tuple[str, ...] = (), **kinds: Kind) -> Schema:
    built = Schema.build(given.names, {Role.QI: given.names}, kinds=kinds, missing=missing)
    return fill_kinds(given, built, given.names)


def encode(fitted: Table, other: Table | None = None, missing: tuple[str, ...] = ()) -> dict[str, list[float]]:
    encoding = fit_encoding(fitted, schema(fitted, missing))
    matrix = encoding.matrix(other or fitted)
    return {name: matrix[:, i].tolist() for i, name in enumerate(encoding.features)}


def test_number_is_the_middle_of_its_range_and_a_star_the_mean_of_the_others() -> None:
    assert encode(table(age=["20", "[30, 41]", "[50, 60)", "*"])) == {"age": [20, 35.5, 54.5, 110 / 3]}


def test_date_is_counted_in_days_since_1970() -> None:
    cells = table(born=["1970-01-02", "[1970-01-01, 1970-01-05]", "2020-02-29"])
    assert encode(cells) == {"born": [1, 2, (date(2020, 2, 29) - date(1970, 1, 1)).days]}


def test_category_is_spread_over_the_members_of_its_set_and_a_star_like_the_others() -> None:
    found = encode(table(sex=["F", "{F, M}", "*", '{"a, b", M}']))
    assert found == {"sex=F": [1, 0.5, 0.5, 0], "sex=M": [0, 0.5, 1 / 3, 0.5], "sex=a, b": [0, 0, 1 / 6, 0.5]}


def test_star_alone_tells_nothing() -> None:
    assert encode(table(age=["*", "*"], sex=["*", "NULL"]), table(age=["5", "*"], sex=["F", "*"])) == {}
    numbers = fit_encoding(table(age=["*"]), Schema.build(["age"], {Role.QI: ["age"]}, kinds={"age": Kind.NUMERIC}))
    assert numbers.matrix(table(age=["5", "*"])).tolist() == [[5], [0]]


def test_missing_number_has_a_feature_of_its_own_and_missing_category_a_value() -> None:
    found = encode(table(age=["20", "", "30"], sex=["?", "F", ""]), missing=("?",))
    assert found == {"age": [20, 25, 30], "age missing": [0, 1, 0], "sex=": [1, 0, 1], "sex=F": [0, 1, 0]}


def test_marker_that_reads_like_a_star_is_missing_where_it_is_declared() -> None:
    assert encode(table(sex=["NULL", "F"]), missing=("NULL",)) == {"sex=": [1, 0], "sex=F": [0, 1]}


def test_label_is_a_value_unless_its_hierarchy_is_known() -> None:
    cells = table(town=["Bonn", "Europe", "Lima"])
    assert list(encode(cells)) == ["town=Bonn", "town=Europe", "town=Lima"]
    labels = {"town": {"Europe": frozenset({"Bonn", "Rome"})}}
    encoding = fit_encoding(cells, schema(cells), labels=labels)
    assert encoding.features == ("town=Bonn", "town=Lima", "town=Rome")
    assert encoding.matrix(cells).tolist() == [[1, 0, 0], [0.5, 0, 0.5], [0, 1, 0]]


def test_label_over_numbers_is_the_middle_of_the_values_below_it() -> None:
    cells = table(age=["20", "young"])
    given = schema(cells, age=Kind.NUMERIC)
    encoding = fit_encoding(cells, given, labels={"age": {"young": frozenset({"18", "24", "20"})}})
    assert encoding.matrix(cells).tolist() == [[20], [21]]
    with pytest.raises(InputError, match="column 'age', row 2: the cell is not a numeric value"):
        fit_encoding(cells, given)


def test_original_and_release_get_the_same_features() -> None:
    original, released = table(age=["20", "30"], sex=["F", "M"]), table(age=["[20, 30]"] * 2, sex=["{F, M}"] * 2)
    encoding = fit_encoding(original, schema(original))
    assert encoding.matrix(original).tolist() == [[20, 1, 0], [30, 0, 1]]
    assert encoding.matrix(released).tolist() == [[25, 0.5, 0.5]] * 2
    low, high = encoding.bounds(released)
    assert (low[0].tolist(), high[0].tolist()) == ([20, 0, 0], [30, 1, 1])


def test_value_that_was_not_there_is_0_everywhere_and_a_number_is_itself() -> None:
    assert encode(table(age=["20"], sex=["F"]), table(age=["99"], sex=["X"])) == {"age": [99], "sex=F": [0]}


def test_zip_codes_and_mixtures_are_categories() -> None:
    cells = table(
        zip=["02139", "02140"], mixed=["1", "x"], ranges=["[1, 2]", "3"], days=["[2020-01-01, 2020-01-02]"] * 2
    )
    kinds = {column.name: column.kind for column in schema(cells).columns}
    assert kinds == {"zip": "categorical", "mixed": "categorical", "ranges": "numeric", "days": "date"}


def test_share_of_a_cell_inside_a_range_counts_whole_numbers() -> None:
    cells = table(age=["[20, 29]", "25", "", "*"])
    read = features.fit_scale(cells, schema(cells).columns[0], ("",)).read(cells)
    assert isinstance(read, features.Numbers)
    assert read.inside(25, 26).tolist() == pytest.approx([0.2, 1, 0, 0.2])
    halves = table(age=["[0, 0.5]", "0.25"])
    read = features.fit_scale(halves, schema(halves).columns[0], ("",)).read(halves)
    assert isinstance(read, features.Numbers)
    assert read.inside(0, 0.25).tolist() == pytest.approx([0.5, 1])


def test_too_many_features_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MOST_CELLS", 5)
    with pytest.raises(UsageError, match="column 'town' has 3 values in 3 different cells, too many to spread"):
        encode(table(town=["a", "b", "c"]))
    with pytest.raises(UsageError, match="4 rows x 2 features are too many; column 'town' alone has 2"):
        encode(table(town=["a", "b", "a", "b"]))


def test_unknown_column_and_clashing_names_are_refused() -> None:
    cells = table(sex=["F"], **{"sex=F": ["1"]})
    with pytest.raises(UsageError, match="column 'age' is not in the table"):
        fit_encoding(cells, schema(cells), ["age"])
    with pytest.raises(UsageError, match="1 features would have the name of another"):
        fit_encoding(cells, schema(cells))


FRAME = pl.DataFrame({"age": [20, 21, 40, 44], "town": ["Bonn", "Rome", "Lima", "Lima"], "ill": ["a", "b", "a", "a"]})


@pytest.mark.parametrize("convert", [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_release_gives_a_frame_of_the_library_that_was_given(convert: object) -> None:
    given = convert(FRAME)  # type: ignore[operator]
    made = shoal.anonymize(given, qi=["age", "town"], sensitive=["ill"], k=2, ends="exact").to_numeric()
    assert isinstance(made, pl.DataFrame | pd.DataFrame | pa.Table)
    assert type(made) is type(given)
    assert made.shape == (4, 6)
    assert sorted(np.asarray(made["age"]).tolist()) == [20.5, 20.5, 42, 42]


def test_release_of_labels_shows_nothing_of_the_original_unless_asked() -> None:
    europe = hierarchy.from_dict({"Bonn": ("Europe", "*"), "Rome": ("Europe", "*"), "Lima": ("America", "*")})
    release = shoal.anonymize(
        FRAME, qi=["age", "town"], sensitive=["ill"], k=2, hierarchies={"town": europe}, method="mondrian"
    )
    shown = release.to_numeric(["town"])
    assert shown.columns == ["town=Europe", "town=Lima"]
    spread = release.to_numeric(["town"], domain="original")
    assert spread.columns == ["town=Bonn", "town=Lima", "town=Rome"]
    assert sorted(spread["town=Rome"].to_list()) == [0, 0, 0.5, 0.5]
    with pytest.raises(UsageError, match="domain='both' is not known"):
        release.to_numeric(domain="both")


def test_every_cell_holds_its_original_and_its_feature_lies_inside(seed: int) -> None:
    generator = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {"age": generator.integers(0, 50, 80), "town": generator.choice(["Bonn", "Lima", "Oslo", "Rome"], 80)}
    )
    release = shoal.anonymize(frame, qi=["age", "town"], k=4, method="mondrian", keep_order=True)
    encoding = fit_encoding(release.original, release.schema)
    exact, middle = encoding.matrix(release.original), encoding.matrix(Table(release.text))
    low, high = encoding.bounds(Table(release.text))
    assert ((low <= exact) & (exact <= high)).all()
    assert ((low <= middle) & (middle <= high)).all()
    assert (low < high).any()
