"""Why cells are as wide as they are: groups that fit, neighbours, and narrower groups, each counted along."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import UsageError

BEFORE = pl.DataFrame(
    {
        "age": ["20", "24", "40", "60", "61", ""],
        "town": ["Bonn", "Bonn", "Lima", "Rome", "Rome", "Rome"],
        "ill": ["flu", "cold", "flu", "flu", "cold", "flu"],
    }
)
AFTER = pl.DataFrame(
    {
        "age": ["[20, 24]", "[20, 24]", "*", "[60, 61]", "[60, 61]", "*"],
        "town": ["Bonn", "Bonn", "{Lima, Rome}", "Rome", "Rome", "{Lima, Rome}"],
        "ill": ["flu", "cold", "flu", "flu", "cold", "flu"],
    }
)
NAMES = ["age", "town"]


def test_row_has_its_group_its_neighbours_and_its_alternatives() -> None:
    found = shoal.explain(AFTER, BEFORE, 2, qi=NAMES, k=2, numeric=["age"])
    assert (found.values, found.alike, found.suppressed) == ({"age": "24", "town": "Bonn"}, 1, False)
    (group,) = found.groups
    assert (group.rows, group.covered) == (2, 2)
    age, town = group.columns
    assert (age.value, age.shown, age.values, age.narrowest) == ("24", "[20, 24]", 2, "[20, 24]")
    assert (town.shown, town.loss) == ("Bonn", 0)
    assert group.loss == pytest.approx((4 / 41 + 0) / 2)
    assert [neighbour.row for neighbour in group.neighbours] == [3, 4, 5]
    assert group.neighbours[0].distance == pytest.approx((16 / 41 + 2 / 3) / 2)
    assert found.own is not None
    assert found.own.loss == found.own.loss_now == group.loss
    alone = {each.without: each for each in found.without}
    assert alone["age"].cells == {"town": "Bonn"}
    assert (alone["age"].loss, alone["town"].loss) == (0, pytest.approx(4 / 41))


def test_all_groups_that_fit_are_told() -> None:
    """The row of Lima can only be the one with a star; a row of Rome fits two groups."""
    assert [len(shoal.explain(AFTER, BEFORE, row, qi=NAMES, k=2, numeric=["age"]).groups) for row in (3, 4, 5)] == [
        1,
        2,  # with flu it could be one of the stars too
        1,
    ]
    first, second = shoal.explain(AFTER, BEFORE, 4, qi=NAMES, k=2, numeric=["age"]).groups
    assert first.loss < second.loss


def test_suppressed_row_is_in_no_group() -> None:
    found = shoal.explain(AFTER.head(2), BEFORE, 3, qi=NAMES, k=2, numeric=["age"])
    assert found.suppressed
    assert found.groups == ()
    assert found.own is not None
    assert found.own.loss_now is None


def test_missing_values_and_rows_without_a_manifest() -> None:
    found = shoal.explain(AFTER, BEFORE, 6, qi=NAMES, k=2, numeric=["age"])
    assert found.groups[0].columns[0].shown == "*"
    assert found.own is not None
    assert found.own.cells["age"] == "*", "a missing number and another one have no range"
    with pytest.raises(UsageError, match=r"there is no manifest that says what the release promises"):
        shoal.explain(AFTER, BEFORE, 6)
    with pytest.raises(UsageError, match=r"no row 7\. Its rows are numbered from 1 to 6"):
        shoal.explain(AFTER, BEFORE, 7, qi=NAMES, k=2, numeric=["age"])


def test_people_are_counted_once() -> None:
    before = pl.DataFrame({"age": ["20", "20", "21", "30"], "who": ["a", "a", "b", "c"]})
    after = pl.DataFrame({"age": ["[20, 21]"] * 3 + ["30"]})
    rows = shoal.explain(after, before, 1, qi=["age"], k=2, numeric=["age"])
    people = shoal.explain(after, before, 1, qi=["age"], k=2, numeric=["age"], person="who")
    assert (rows.counts, rows.alike) == ("rows", 2)
    assert (people.counts, people.alike) == ("persons", 1)
    assert rows.own is not None
    assert people.own is not None
    assert (rows.own.cells["age"], people.own.cells["age"]) == ("20", "[20, 21]")
    assert people.own.size == 2


def test_labels_of_hierarchies_cover_what_is_below_them() -> None:
    before = pl.DataFrame({"land": ["Kenya", "Ghana", "Peru", "Chile", "Chad"]})
    after = pl.DataFrame({"land": ["Africa", "Africa", "South America", "South America", "Africa"]})
    named = {"land": "builtin:countries"}
    found = shoal.explain(after, before, 1, qi=["land"], k=2, hierarchies=named)
    assert found.groups[0].columns[0].shown == "Africa"
    assert found.groups[0].covered == 3
    assert found.own is not None
    assert found.own.cells == {"land": "Sub-Saharan Africa"}
    assert {neighbour.values["land"] for neighbour in found.groups[0].neighbours} == {"Peru", "Chile"}


def test_k_beyond_the_table_has_no_group_of_its_own() -> None:
    found = shoal.explain(AFTER, BEFORE, 1, qi=NAMES, k=7, numeric=["age"])
    assert found.own is None
    assert [each.k for each in found.smaller_k] == [6, 3, 2]
    losses = [each.loss for each in found.smaller_k]
    assert losses == sorted(losses, reverse=True)


def test_manifest_says_how_cells_are_read(tmp_path: Path) -> None:
    """Units, orders and formats are those of the release; what is given wins."""
    before = pl.DataFrame(
        {
            "tall": [f"{150 + i} cm" for i in range(12)],
            "size": ["low", "mid", "high"] * 4,
            "born": [f"{i % 6 + 1:02d}.01.2020" for i in range(12)],
        }
    )
    order = {"size": ["low", "mid", "high"]}
    release = shoal.anonymize(before, qi=list(before.columns), k=3, ordered=order, dates={"born": "%d.%m.%Y"})
    release.write(tmp_path / "out.csv")
    for row in range(1, 13):
        found = shoal.explain(tmp_path / "out.csv", before, row)
        shown = [[column.shown for column in group.columns] for group in found.groups]
        assert list(release.text.row(release.source_rows.tolist().index(row - 1))) in shown
    as_text = shoal.explain(tmp_path / "out.csv", before, 1, categorical=["size"])
    assert as_text.own is not None
