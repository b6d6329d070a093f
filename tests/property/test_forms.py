"""Every form of cells: written back as it was read, and every released cell covers its original."""

from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.partition import tight_partition
from shoal.schema import Reading, Role, Schema
from shoal.tables.table import from_frame
from tests.forms import FORMS, Form

every_form = pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in FORMS.items()])


def spread(form: Form, n: int = 60, seed: int = 1) -> list[int]:
    """Return integers all over the form, so that the cells tell day from month and thousands from decimals."""
    draw = random.Random(seed)
    ends = [form.most * i // 12 for i in range(13)]
    return [*ends, *(draw.randint(0, form.most) for _ in range(n - len(ends)))]


@every_form
@settings(max_examples=5)
@given(data=st.data())
def test_cells_that_are_not_generalised_stay_as_they_are(form: Form, data: st.DataObject) -> None:
    chosen = [*spread(form), *data.draw(st.lists(st.integers(0, form.most), max_size=5))]
    table = from_frame(pl.DataFrame({"x": [form.cell(i) for i in chosen]}))
    reading = Reading.of_cells(**form.settings)
    schema = guess_kinds(table, Schema.build(["x"], {Role.QI: ["x"]}, reading=reading))
    assert schema.columns[0].kind == form.kind
    encoded = encode(table, schema)
    released = decode(encoded, tight_partition(encoded, encoded.row_tuple), schema, keep_order=True)
    assert released.table.frame["x"].to_list() == table.frame["x"].to_list()


def ends_of(form: Form, cell: str) -> tuple[object, object]:
    """Return the least and the greatest value of a released cell, found among all that the form can write."""
    value_of = {form.cell(i): form.value(i) for i in range(form.most + 1)}
    if cell in value_of:
        return value_of[cell], value_of[cell]
    if form.kind in ("boolean", "ordered"):
        values = [value_of[member] for member in cell.strip("{}").split(", ")]
        assert values == list(range(values[0], values[-1] + 1))
        return values[0], values[-1]
    low, high = cell.strip("[]").split(", ")
    return value_of[low], value_of[high]


@every_form
@pytest.mark.parametrize("method", ["shoaling", "mondrian"])
def test_every_released_cell_covers_its_original(form: Form, method: str) -> None:
    chosen = spread(form, 40)
    frame = pl.DataFrame({"x": [form.cell(i) for i in chosen], "y": ["ab"[i % 2] for i in range(40)]})
    release = shoal.anonymize(frame, qi=["x", "y"], k=4, method=method, ends="exact", keep_order=True, **form.settings)
    for i, cell in zip(chosen, release.frame["x"].to_list(), strict=True):
        low, high = ends_of(form, cell)
        assert low <= form.value(i) <= high  # type: ignore[operator]
    measured = shoal.measure(frame, release.frame, qi=["x", "y"], k=4, **form.settings)
    assert measured.ncp == pytest.approx(release.measures.ncp, abs=1e-12)


@every_form
@pytest.mark.parametrize("ends", ["safe", "round"])
def test_moved_ends_are_written_like_the_column_and_read_back(form: Form, ends: str) -> None:
    chosen = spread(form, 40)
    frame = pl.DataFrame({"x": [form.cell(i) for i in chosen], "y": ["ab"[i % 2] for i in range(40)]})
    release = shoal.anonymize(frame, qi=["x", "y"], k=4, ends=ends, **form.settings)
    shape = "".join(sign for sign in form.cell(0) if not sign.isalnum() and sign not in ".,")
    for cell in release.frame["x"].unique().to_list():
        for end in cell.strip("[])").split(", ") if cell[0] == "[" else ():
            assert "".join(sign for sign in end if not sign.isalnum() and sign not in ".,") == shape
    assert shoal.measure(frame, release.frame, qi=["x", "y"], **form.settings).ncp == release.measures.ncp
    assert shoal.verify(release.frame, original=frame, qi=["x", "y"], k=4, **form.settings).ok
