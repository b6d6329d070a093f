"""Proposed hierarchies."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from shoal import hierarchy
from shoal.errors import InputError, Note, UsageError
from shoal.hierarchy import Hierarchy, propose, propose_for
from shoal.hierarchy.likeness import merge_order
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table, from_frame


def n_labels(hierarchy: Hierarchy) -> list[int]:
    return [len(hierarchy.labels(level)) for level in range(hierarchy.height + 1)]


def test_numbers_by_round_widths() -> None:
    ages = propose({str(n): 1 for n in range(18, 91)}, "numeric")
    assert ages.rows["37"] == ("[35, 40)", "[30, 40)", "[20, 40)", "[0, 40)", "*")
    assert n_labels(ages)[1:] == [16, 9, 5, 3, 1]
    assert propose({"35": 1, "38": 1}, "numeric").rows["35"] == ("[34, 36)", "*")
    assert propose({"4": 1, "5": 1}, "numeric").rows["5"] == ("*",)
    assert propose({"0.1": 1, "0.35": 1}, "numeric").rows["0.35"][0] == "[0.34, 0.36)"


def test_quantiles_have_about_the_same_number_of_rows() -> None:
    counts = {str(n): 1 if n < 900 else 20 for n in range(1000)}
    hierarchy = propose(counts, "numeric", by="quantiles")
    assert n_labels(hierarchy) == [1000, 16, 8, 4, 2, 1]
    rows: dict[str, int] = {}
    for value, count in counts.items():
        label = hierarchy.label(value, 1)
        rows[label] = rows.get(label, 0) + count
    assert max(rows.values()) - min(rows.values()) <= 2 * 20
    assert not any("0," in label.split()[0] and label.startswith("[0,") for label in rows)  # no source minimum
    assert "are values of the table" in hierarchy.notes[0]


def test_quantiles_of_heaped_values_still_nest() -> None:
    hierarchy = propose({"0": 1000, "1": 1, "2": 5, "7": 900}, "numeric", by="quantiles")
    assert hierarchy.rows["0"][0].startswith("<")
    assert propose({"5": 3}, "numeric", by="quantiles").rows == {"5": ("*",)}


def test_dates_by_the_calendar() -> None:
    births = propose({"1931-02-03": 1, "1999-12-31": 1}, "date")
    assert births.rows["1999-12-31"] == (
        "[1999-01-01, 2000-01-01)", "[1990-01-01, 2000-01-01)", "[1980-01-01, 2000-01-01)", "*",
    )  # fmt: skip
    visits = propose({"2024-01-03": 1, "2024-08-31": 1}, "date")
    assert visits.rows["2024-08-31"][0] == "[2024-08-01, 2024-09-01)"
    german = propose({"03.02.1931": 1, "31.12.1999": 2}, "date", by="quantiles", date_format="%d.%m.%Y")
    assert german.rows["31.12.1999"][0] == ">=31.12.1999"


def test_codes_by_prefix() -> None:
    assert propose({"02139": 1, "94110": 2}, "categorical").rows["02139"] == ("0213*", "021**", "02***", "0****", "*")


PETS = pl.DataFrame(
    {
        "pet": ["cat", "dog", "cow", "hen"] * 10,
        "place": ["house", "house", "farm", "farm"] * 10,
        "legs": ["4", "4", "4", "2"] * 10,
        "id": [f"n{i}" for i in range(40)],
        "weight": [str(i * 1.5) for i in range(40)],
    }
)


def test_categories_by_cooccurrence() -> None:
    hierarchy = propose_for(from_frame(PETS), "pet", others=["place", "legs"])
    assert hierarchy.rows["cat"] == ("cat | dog", "*")
    assert hierarchy.rows["hen"] == ("cow | hen", "*")


def test_proposal_does_not_depend_on_the_order_of_rows() -> None:
    first = propose_for(from_frame(PETS), "pet")
    second = propose_for(from_frame(PETS.reverse()), "pet")
    assert first == second
    assert list(first.rows) == list(second.rows)


def test_merge_order_starts_with_the_closest_pair_and_the_lowest_of_ties() -> None:
    assert merge_order([1, 1, 1], [[1.0, 0.0], [0.0, 1.0], [0.1, 0.9]]) == [(1, 2), (0, 1)]
    assert merge_order([1, 1, 1, 1], [[1.0]] * 4) == [(0, 1), (0, 2), (0, 3)]
    assert merge_order([5], [[1.0]]) == []


def test_large_groups_are_named_by_their_first_members() -> None:
    counts = dict.fromkeys("abcdefghijkl", 1)
    profiles = {letter: [1.0, 0.0] if letter < "g" else [0.0, 1.0] for letter in counts}
    hierarchy = propose(counts, "categorical", by="cooccurrence", profiles=profiles)
    assert hierarchy.rows["a"][-2] == "a | b | 4 more"
    assert hierarchy.rows["l"][-2] == "g | h | 4 more"


def test_two_categories_are_kept_or_suppressed() -> None:
    assert propose({"f": 1, "m": 1}, "categorical").rows == {"f": ("*",), "m": ("*",)}


def test_missing_values_are_left_out() -> None:
    table = from_frame(pl.DataFrame({"age": ["20", "?", "", "70"]}))
    assert list(propose_for(table, "age", missing=["?"]).rows) == ["20", "70"]
    with pytest.raises(InputError, match="column 'age' has only missing values"):
        propose_for(from_frame(pl.DataFrame({"age": ["?"]})), "age", missing=["?"])


@pytest.mark.parametrize("name", ["code_postal", "PLZ", "home_zip", "ZipCode", "CAP", "kod pocztowy"])
def test_postal_codes_are_generalised_by_their_first_digits(name: str) -> None:
    """Also where no code begins with a zero, so that all could be numbers."""
    codes = ["75011", "75012", "69003", "13001"]
    assert propose_for(from_frame(pl.DataFrame({name: codes})), name).rows["75011"][:2] == ("7501*", "750**")
    assert propose_for(from_frame(pl.DataFrame({name: codes})), name, by="widths").rows["75011"][0].startswith("[")
    for other in ({name: ["1907", "75011"]}, {"handicap": codes}, {name: ["3.5", "4.5"]}):
        column, texts = next(iter(other.items()))
        assert propose_for(from_frame(pl.DataFrame({column: texts})), column).rows[texts[0]][0].startswith("[")


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(UsageError, match=r"by='prefix' does not fit a date column\. Use widths or quantiles"):
        propose({"2020-01-01": 1}, "date", by="prefix")
    with pytest.raises(UsageError, match="column 'town' is not in the table"):
        propose_for(from_frame(PETS), "town")
    with pytest.raises(InputError, match="column 'pet': 4 values are not a number"):
        propose_for(from_frame(PETS), "pet", kind="numeric")
    with pytest.raises(InputError, match="there are no values"):
        propose({}, "numeric")
    with pytest.raises(InputError, match="too many to compare"):
        propose({f"v{i:x}": 1 for i in range(1600)}, "categorical", by="cooccurrence")
    with pytest.raises(UsageError, match="3 values have none"):
        propose(dict.fromkeys("abc", 1), "categorical", by="cooccurrence")


PEOPLE = pl.DataFrame(
    {
        "age": [str(20 + i % 31) for i in range(60)],
        "zip": [("02139", "02141-1234", "02142")[i % 3] for i in range(60)],
        "land": [("Kenya", "Peru", "France", "Italy")[i % 4] for i in range(60)],
        "job": [("nurse", "doctor", "smith", "baker")[i % 4] for i in range(60)],
        "ill": [f"ill{i % 7}" for i in range(60)],
    }
)
OPEN = dict.fromkeys(("age", "zip", "land", "job"), hierarchy.Auto())


def opened(
    frame: pl.DataFrame, rules: dict[str, Any] | None = None, **options: Any
) -> tuple[dict[str, Any], list[Note]]:
    """Propose hierarchies for the quasi-identifiers of a table."""
    table = Table(frame, **options)
    kinds = {"age": Kind.NUMERIC, "zip": Kind.CATEGORICAL, "land": Kind.CATEGORICAL, "job": Kind.CATEGORICAL}
    schema = Schema.build(table.names, {Role.QI: list(OPEN)}, kinds=kinds, others="insensitive")
    return hierarchy.propose_open(OPEN if rules is None else rules, table, schema)


def test_open_hierarchies_are_proposed_and_given_ones_win() -> None:
    given = hierarchy.prefixes([3])
    rules, notes = opened(PEOPLE, {**OPEN, "zip": given})
    assert rules["zip"] is given
    assert list(rules) == list(OPEN)
    assert rules["land"] == hierarchy.builtin("countries")
    assert rules["age"].rows["23"][-1] == "*"
    assert len(notes) == 1
    assert "hierarchies were proposed for 'age' (5 levels), 'land' (built-in countries), 'job' (2 levels)" in notes[0]
    assert "zip" not in notes[0]
    meet = opened(PEOPLE)[0]["zip"].over(["02141-1234", "02141"])
    assert meet.rows["02141-1234"][-4:] == meet.rows["02141"][-4:] == ("021*", "02*", "0*", "*")


def test_proposals_depend_on_neither_row_order_nor_counting_nor_other_columns() -> None:
    import numpy as np

    rules = opened(PEOPLE)[0]
    assert opened(PEOPLE.sample(fraction=1, shuffle=True, seed=1))[0] == rules
    names = ["age", "zip", "land", "job"]
    counted = PEOPLE.group_by(names).len().sort(names)
    weights = np.array(counted["len"].to_list())
    assert opened(counted.select(names), weights=weights)[0] == rules
    assert opened(PEOPLE.with_columns(ill=pl.lit("x")))[0] == rules, "categories are compared by quasi-identifiers only"


def test_column_without_a_proposal_is_noted() -> None:
    frame = PEOPLE.with_columns(job=pl.lit(""))
    rules, notes = opened(frame)
    assert "job" not in rules
    assert "column 'job': no hierarchy could be proposed, so its values stay or become '*'" in notes[1]


def test_numbers_keep_their_marks_in_proposals() -> None:
    from shoal.tables.values import Marks

    proposed = hierarchy.propose({"1.234,5": 1, "9.876,5": 2}, "numeric", marks=Marks(",", "."))
    assert proposed.rows["1.234,5"][0] == "[1.000, 2.000)"
