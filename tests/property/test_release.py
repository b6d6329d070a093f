"""What holds for the release of any table, however odd."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode
from shoal.encoding.partition import tight_partition
from shoal.errors import InputError
from shoal.methods import Mondrian
from shoal.tables.table import from_frame
from tests.naive.cover import covers
from tests.strategies import Sheet, odd_sheets

VARIANTS = ("strict", "relaxed", "single-dimensional")
EXAMPLES = settings().max_examples * 3


def goal(k: int) -> dict[str, Any]:
    """Return the arguments that ask for k; k = 1 promises nothing, and is allowed beside another model only."""
    return {"k": k, "models": [shoal.MaximalRisk(1)]} if k == 1 else {"k": k}


@settings(max_examples=EXAMPLES)
@given(sheet=odd_sheets(), k=st.integers(1, 12), variant=st.sampled_from(VARIANTS))
@example(sheet=Sheet({"x": ["José", "Jose\u0301"]}, {"x": "categorical"}), k=2, variant="strict")
@example(sheet=Sheet({"x": ["0.0", "-0.0", "0"]}, {"x": "numeric"}), k=3, variant="strict")
def test_release_of_any_table_is_anonymous_and_true(sheet: Sheet, k: int, variant: str) -> None:
    """C01, C03, C05, C06, C14: counted on text with a plain dictionary; every cell true of its row."""
    k = min(k, sheet.n_rows)
    release = shoal.anonymize(
        sheet.frame, **goal(k), method=Mondrian(variant), sensitive=sheet.sensitive, **sheet.arguments
    )
    counts = Counter(release.text.select(sheet.qi).rows())
    assert min(counts.values()) >= k
    assert release.measures.smallest_group == min(counts.values())
    assert release.measures.groups == len(counts)
    source = release.source_rows.tolist()
    assert sorted(source) == list(range(sheet.n_rows))
    assert release.text.columns == sheet.names
    for row, released in zip(source, release.text.rows(named=True), strict=True):
        for name, kind in sheet.kinds.items():
            original = sheet.columns[name][row]
            assert covers(released[name], original, kind, missing=("", *sheet.missing)), (name, released[name])
        for name in sheet.sensitive:
            assert released[name] == sheet.columns[name][row]
    assert 0 <= release.measures.ncp <= 1


@given(sheet=odd_sheets(), k=st.integers(2, 12), variant=st.sampled_from(VARIANTS), data=st.data())
def test_order_of_the_rows_never_matters(sheet: Sheet, k: int, variant: str, data: st.DataObject) -> None:
    """D03, L01: the same bytes for any order of the rows of any table."""
    k = min(k, sheet.n_rows)
    order = data.draw(st.permutations(range(sheet.n_rows)))
    texts = [
        shoal.anonymize(frame, **goal(k), method=Mondrian(variant), sensitive=sheet.sensitive, **sheet.arguments).text
        for frame in (sheet.frame, sheet.frame[order])
    ]
    assert texts[0].write_csv() == texts[1].write_csv()


@given(sheet=odd_sheets(), k=st.integers(2, 12), variant=st.sampled_from(VARIANTS))
def test_release_of_a_release_is_itself(sheet: Sheet, k: int, variant: str) -> None:
    """C28."""
    k = min(k, sheet.n_rows)
    first = shoal.anonymize(
        sheet.frame, **goal(k), method=Mondrian(variant), sensitive=sheet.sensitive, **sheet.arguments
    ).text
    second = shoal.anonymize(first, **goal(k), method=Mondrian(variant), qi=sheet.qi, sensitive=sheet.sensitive)
    assert second.text.write_csv() == first.write_csv()
    assert second.measures.ncp == 0


@settings(max_examples=EXAMPLES)
@given(sheet=odd_sheets())
def test_table_encoded_as_text_is_decoded_as_it_was(sheet: Sheet) -> None:
    """C12: nothing is lost on the way to codes and back, not a blank and not a spelling."""
    table = from_frame(sheet.frame)
    encoded = encode(table, sheet.schema, as_text=True)
    made = decode(encoded, tight_partition(encoded, encoded.row_tuple), sheet.schema, keep_order=True)
    assert made.table.frame.rows() == sheet.rows
    assert made.table.frame.columns == sheet.names
    assert made.source_rows.tolist() == list(range(sheet.n_rows))


@settings(max_examples=EXAMPLES)
@given(sheet=odd_sheets())
def test_codes_rise_with_the_values_behind_them(sheet: Sheet) -> None:
    """C08, C09, C14: one code for each value, in order; equal values have one text, which is one of theirs."""
    encoded = sheet.encoded
    assert [attribute.name for attribute in encoded.attributes] == sheet.qi
    rows = encoded.tuples[encoded.row_tuple].tolist()
    assert rows == sorted(rows)
    assert sorted(encoded.order.tolist()) == list(range(sheet.n_rows))
    assert encoded.counts.tolist() == list(Counter(map(tuple, rows)).values())
    for a, attribute in enumerate(encoded.attributes):
        assert len(set(attribute.texts)) == len(attribute.texts)
        assert {row[a] for row in rows} == set(range(len(attribute.texts)))
        for row, source in zip(rows, encoded.order.tolist(), strict=True):
            original = sheet.columns[attribute.name][source]
            shown = attribute.texts[row[a]]
            assert covers(shown, original, sheet.kinds[attribute.name], missing=("", *sheet.missing))
        if attribute.ordered:
            known = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
            assert known.tolist() == sorted(known.tolist())


@pytest.mark.parametrize("text", ["1e309", "-1e309", "1e400", "1e99999999999999999999", "-1e99999999999999999999"])
def test_number_beyond_a_float_is_refused_by_its_row(text: str) -> None:
    """B13: an error with the row, never an infinite one inside a range."""
    sheet = Sheet({"x": ["1", text, "2"]}, {"x": "numeric"})
    with pytest.raises(InputError, match=r"column 'x' is declared numeric, but 1 distinct value is not .*at row 2\)"):
        shoal.anonymize(sheet.frame, k=2, **sheet.arguments)


def outcome(sheet: Sheet, k: int) -> list[str] | str:
    """Return the released column, or what is said where it is refused."""
    try:
        return shoal.anonymize(sheet.frame, k=k, ends="exact", **sheet.arguments).text["x"].to_list()
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("text", ["1e-400", "1e-99999999999999999999", "0e99999999999999999999"])
def test_number_too_small_for_a_float_is_taken_or_refused(text: str) -> None:
    """B13: whichever, it is no crash and no other number."""
    found = outcome(Sheet({"x": ["1", text, "2"]}, {"x": "numeric"}), 3)
    assert found == [f"[{text}, 2]"] * 3 or "row 2" in found


@pytest.mark.parametrize("text", ["*", " *", "{a}", "{a, b}", "{}"])
def test_category_that_reads_like_a_released_cell_is_refused(text: str) -> None:
    """C22: where the table has to be changed, a cell cannot stand for two things."""
    sheet = Sheet({"x": ["a", "b", text]}, {"x": "categorical"})
    with pytest.raises(InputError, match=r"column 'x': 1 distinct values look like a released cell.*first at row 3"):
        shoal.anonymize(sheet.frame, k=3, **sheet.arguments)


@pytest.mark.parametrize("name", ["self", "len", "\0rows", "count", "literal", "a b", "*", "^.*$", "é", "column_0"])
def test_any_name_is_a_name(name: str) -> None:
    """B07: a column's name means nothing to the code."""
    sheet = Sheet({name: ["1", "2", "3", "3"], "d": ["x", "y", "x", "y"]}, {name: "numeric"})
    release = shoal.anonymize(sheet.frame, k=2, sensitive=["d"], ends="exact", **sheet.arguments)
    assert release.text[name].to_list() == ["3", "3", "[1, 2]", "[1, 2]"]
    assert release.frame.columns == [name, "d"]
