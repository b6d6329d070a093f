"""What became of columns: widths against a plain count, and the words."""

from __future__ import annotations

import statistics
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.report import Evidence, Written, gather
from shoal.report.columns import ReleasedColumn, why_words
from shoal.report.spread import spread_of
from shoal.schema import Kind
from shoal.tables.table import Table


def evidence(frame: pl.DataFrame, **settings: object) -> Evidence:
    release = shoal.anonymize(frame, **settings)  # type: ignore[arg-type]
    facts = release.measures
    return gather(release, Written("out.csv", "0", "m", facts.rows, facts.groups, facts.smallest_group))


def ages(n: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + i * 7 % 40 for i in range(n)],
            "town": [f"t{i * i % 7}" for i in range(n)],
            "born": [f"19{40 + i % 50}-03-{i % 28 + 1:02d}" for i in range(n)],
        }
    )


def test_widths_are_those_of_the_released_cells() -> None:
    found = evidence(ages(), qi=["age", "town", "born"], k=4)
    text = found.release.text
    facts = {column.name: column for column in found.columns}
    widths = []
    for cell in text["age"].to_list():
        low, _, high = cell.strip("[])").partition(", ")
        widths.append(int(high or low) - int(low))
    wide = [width for width in widths if width]
    assert facts["age"].cells.mean == pytest.approx(statistics.mean(wide))
    assert facts["age"].cells.median == statistics.median_low(wide)
    assert facts["age"].cells.exact == pytest.approx(widths.count(0) / len(widths))
    sets = [len(cell.strip("{}").split(", ")) for cell in text["town"].to_list()]
    assert facts["town"].cells.exact == pytest.approx(sets.count(1) / len(sets))
    wider = [size for size in sets if size > 1]
    assert facts["town"].cells.mean == pytest.approx(statistics.mean(wider))


def test_shares_sum_to_one_and_the_costliest_comes_first() -> None:
    found = evidence(ages(), qi=["age", "town", "born"], k=4)
    shares = [column.share for column in found.columns]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert found.loss == pytest.approx(found.release.measures.ncp)


def test_loss_does_not_tell_the_rows_left_out() -> None:
    """C21: measures count a row left out as lost; what is public does not."""
    frame = pl.DataFrame({"a": ["x"] * 20 + ["y"] * 2, "b": ["u"] * 22})
    found = evidence(frame, qi=["a", "b"], k=5, suppression_limit=0.1, method="mondrian")
    assert found.left_out == 2
    assert found.release.measures.ncp > 0
    assert found.loss == 0


def test_words_say_shares_values_and_widths() -> None:
    found = evidence(ages(), qi=["age", "town", "born"], k=4)
    born = next(column for column in found.columns if column.name == "born")
    said = why_words(born, found.columns)
    assert f"It has {born.distinct:,} distinct values." in said
    assert "ranges that span" in said
    assert "year" in said or "month" in said
    shown = next(column for column in found.part(private=False).columns if column.name == "born")
    assert "distinct" not in why_words(shown, found.part(private=False).columns)


def test_words_name_weights_and_levels() -> None:
    found = evidence(ages(), qi=["age", "town"], others="drop", k=4, weights={"age": 4, "town": 0.5})
    said = {column.name: why_words(column, found.columns) for column in found.columns}
    assert "weight of 4 is above" in said["age"]
    assert "weight of 0.5 is below" in said["town"]
    trees = {
        "age": shoal.hierarchy.intervals(widths=[10, 20]),
        "town": shoal.hierarchy.from_dict({f"t{i}": ["*"] for i in range(7)}),
    }
    full = evidence(ages(), qi=["age", "town"], others="drop", k=4, method="optimal", hierarchies=trees)
    assert any("cells have one level of the hierarchy" in why_words(c, full.columns) for c in full.columns)


@pytest.mark.parametrize("name", ["age", "town", "born"])
def test_spread_keeps_every_row(name: str) -> None:
    found = evidence(ages(), qi=["age", "town", "born"], k=4)
    release = found.release
    column = next(c for c in release.schema.qi if c.name == name)
    shares = spread_of(ReleasedColumn.of(release, found.released, column))
    assert sum(share.before for share in shares) == 60
    assert sum(share.after for share in shares) == pytest.approx(60)


def test_spread_of_dates_is_by_years() -> None:
    days = ["1950-01-01", "1959-12-31", "1960-01-01", "1999-12-31"]
    frame = pl.DataFrame({"born": days * 5})
    found = evidence(frame, qi=["born"], k=5, dates=["born"])
    release = found.release
    column = replace(release.schema.qi[0], kind=Kind.DATE)
    shares = spread_of(ReleasedColumn(column, release.original, found.released, {}, {}, ("",)))
    assert [(share.name, share.before) for share in shares if share.before] == [
        ("1950 to 1954", 5),
        ("1955 to 1959", 5),
        ("1960 to 1964", 5),
        ("1995 to 1999", 5),
    ]
    assert all(share.before == share.after for share in shares)


def test_spread_skips_stretches_without_rows() -> None:
    """Bins between the values are joined if a range covers them, and left out if none does."""
    frame = pl.DataFrame({"age": [*range(20, 30), *range(80, 90)] * 5})
    found = evidence(frame, qi=["age"], k=5)
    shares = spread_of(ReleasedColumn.of(found.release, found.released, found.release.schema.qi[0]))
    assert [share.name for share in shares] == ["20 to 29", "80 to 89"]
    column = found.release.schema.qi[0]
    wide = Table(pl.DataFrame({"age": ["[20, 89]"] * 100}))
    both = ReleasedColumn(column, found.release.original, wide, {"[20, 89]": ("20", "89")}, {}, ("",))
    joined = spread_of(both)
    assert [(share.name, share.before) for share in joined] == [
        ("20 to 29", 50),
        ("30 to 39 ... 70 to 79", 0),
        ("80 to 89", 50),
    ]
    assert sum(share.after for share in joined) == pytest.approx(100)


def test_spread_tells_what_is_hidden() -> None:
    frame = pl.DataFrame({"age": [*range(20, 40), 90], "b": ["u"] * 21})
    found = evidence(frame, qi=["age", "b"], k=5, suppression_limit=0.1, method="mondrian")
    release = found.release
    shares = spread_of(ReleasedColumn.of(release, found.released, release.schema.qi[0]))
    assert shares[-1].name == "shown as * or suppressed"
    assert shares[-1].after == found.left_out == 1
