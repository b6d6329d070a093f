"""Explanations of random releases: the true group is found, and narrow groups are what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.encode import encode
from shoal.release.explanation.boxes import Surroundings
from shoal.release.explanation.fitting import Coverage
from shoal.tables.table import from_frame
from tests.strategies import Sheet, odd_sheets, sheets


@given(sheet=sheets(max_rows=25, max_columns=3), data=st.data())
def test_true_group_of_a_row_is_among_those_that_fit(sheet: Sheet, data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    labelled = {name: "auto" for name in sheet.qi if data.draw(st.booleans())}
    try:
        release = shoal.anonymize(
            sheet.frame, k=k, sensitive=sheet.sensitive, suppression_limit=0.3, hierarchies=labelled, **sheet.arguments
        )
    except (shoal.errors.InfeasibleError, shoal.errors.InputError):
        return
    row = data.draw(st.integers(0, sheet.n_rows - 1))
    reading = {name: value for name, value in sheet.arguments.items() if name != "sensitive"}
    found = shoal.explain(release.text, sheet.frame, row + 1, k=k, hierarchies=labelled, **reading)
    shown = [{column.column: column.shown for column in group.columns} for group in found.groups]
    places = np.flatnonzero(release.source_rows == row)
    if len(places):
        assert dict(zip(sheet.qi, release.text.select(sheet.qi).row(int(places[0])), strict=True)) in shown
    assert found.suppressed == (not found.groups)


@given(sheet=odd_sheets(), data=st.data())
def test_narrow_groups_have_the_size_and_the_loss_that_they_state(sheet: Sheet, data: st.DataObject) -> None:
    """The loss that the search adds up is that of the cells, read as any release is."""
    table = from_frame(sheet.frame)
    encoded = encode(table, sheet.schema)
    at = data.draw(st.integers(0, len(encoded.tuples) - 1))
    around = Surroundings(encoded, sheet.schema, at)
    size = data.draw(st.integers(1, sheet.n_rows))
    box = around.narrowest(size)
    assert box is not None
    assert box.inside[at]
    assert box.size == encoded.counts[box.inside].sum() >= size
    coverages = [Coverage.of(table, column, sheet.schema, None) for column in sheet.schema.qi]
    losses = [
        0.0 if text in sheet.schema.missing else coverage.loss(text)
        for coverage, text in zip(coverages, around.texts(box.inside), strict=True)
    ]
    assert box.loss == pytest.approx(sum(losses) / len(losses), abs=1e-9)
    smaller = around.narrowest(max(1, size - 1))
    assert smaller is not None
    assert smaller.loss <= box.loss + 1e-9
