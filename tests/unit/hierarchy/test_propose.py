"""Proposed hierarchies."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.errors import InputError, UsageError
from shoal.hierarchy import Hierarchy, propose, propose_for
from shoal.hierarchy.likeness import merge_order
from shoal.tables.table import from_frame


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
