"""A release of our own is measured from its partition; the figures must be those of the written file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.ends import CHOICES, release_ends
from shoal.encoding.partition import tight_partition
from shoal.hierarchy import Hierarchy, intervals
from shoal.metrics import measure_partition, measure_tables
from shoal.tables.table import Table, from_frame
from tests.strategies import Sheet, odd_sheets, sheets

METHODS = ("shoaling", "mondrian", "sbca", "kaca", "bottom-up", "utility-driven")
EXAMPLES = settings().max_examples


def write_and_measure(release: shoal.Release, folder: Path, sheet: Sheet, **options: Any) -> shoal.Measures:
    """Write a release and measure the file as that of any other tool."""
    path = folder / "out.csv"
    release.write(path, force=True)
    return shoal.measure(sheet.frame, path, k=release.request.k, **sheet.arguments, **options)


def halves(sheet: Sheet, name: str) -> Hierarchy:
    """A hierarchy of two labels over the values of a column; missing values are below the root."""
    values = sorted({text.strip() for text in sheet.columns[name]} - {"", *sheet.missing})
    rows = {value: ("low half" if 2 * i < len(values) else "high half", "*") for i, value in enumerate(values)}
    return Hierarchy(rows or {"": ("*", "*")})


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sheet=sheets(max_rows=40, max_columns=4), data=st.data())
def test_measures_of_a_release_are_those_of_its_file(sheet: Sheet, data: st.DataObject, tmp_path: Path) -> None:
    k = data.draw(st.integers(2, max(2, sheet.n_rows // 2)))
    if k > sheet.n_rows:
        return
    method = data.draw(st.sampled_from(METHODS))
    labelled = [name for name in sheet.named("categorical") if data.draw(st.booleans())]
    hierarchies: dict[str, Any] = {name: halves(sheet, name) for name in labelled}
    bands = [name for name in sheet.named("numeric") if data.draw(st.booleans())]
    hierarchies |= {name: intervals([10, 100]) for name in bands}
    options: dict[str, Any] = {"hierarchies": hierarchies}
    if method in ("shoaling", "bottom-up"):
        options["weights"] = {name: data.draw(st.integers(1, 3)) for name in sheet.qi}
    try:
        release = shoal.anonymize(
            sheet.frame,
            k=k,
            method=method,
            unknown="top",
            ends=data.draw(st.sampled_from((None, *CHOICES))),
            suppression_limit=data.draw(st.sampled_from((0, 0.3))) if method in ("shoaling", "mondrian") else 0,
            **sheet.arguments,
            **options,
        )
    except (shoal.errors.InfeasibleError, shoal.errors.InputError):
        return
    if any("nothing was changed" in note for note in release.notes):
        return  # measured as text, without hierarchies
    assert release.measures == write_and_measure(release, tmp_path, sheet, **options)


@settings(max_examples=EXAMPLES)
@given(sheet=odd_sheets(), data=st.data())
def test_partitions_of_odd_tables_are_measured_as_their_cells(sheet: Sheet, data: st.DataObject) -> None:
    """Any labels: suppressed rows, spellings of one number, markers, texts that need quotes."""
    import numpy as np

    from shoal.encoding.decode import decode

    table = from_frame(sheet.frame)
    encoded = encode(table, sheet.schema)
    drawn = data.draw(st.lists(st.integers(-1, 3), min_size=sheet.n_rows, max_size=sheet.n_rows))
    if max(drawn) < 0:
        drawn[0] = 0
    kept = sorted(set(drawn) - {-1})
    labels = np.array([kept.index(label) if label >= 0 else -1 for label in drawn], dtype=np.int32)
    partition = tight_partition(encoded, labels)
    choice, k = data.draw(st.sampled_from(CHOICES)), data.draw(st.integers(1, 4))
    ends = release_ends(encoded, partition, sheet.schema, choice, k=k)
    released = decode(encoded, partition, sheet.schema, ends=ends)
    weights = {name: float(data.draw(st.integers(1, 3))) for name in sheet.qi}
    told = measure_partition(encoded, partition, sheet.schema, ends=ends, k=2, weights=weights)
    assert told == measure_tables(table, released.table, sheet.schema, k=2, weights=weights)


def test_tables_that_were_counted_are_measured_by_their_weights() -> None:
    import numpy as np

    from shoal.encoding.decode import decode

    frame = pl.DataFrame({"numeric0": ["1", "2", "5", "9"], "categorical1": ["a", "a", "b", ""]})
    sheet = Sheet(frame.to_dict(as_series=False), {"numeric0": "numeric", "categorical1": "categorical"})
    table = Table(frame, weights=np.array([3, 1, 7, 2]))
    encoded = encode(table, sheet.schema)
    partition = tight_partition(encoded, np.array([0, 0, 1, -1], dtype=np.int32))
    released = decode(encoded, partition, sheet.schema)
    measures = measure_partition(encoded, partition, sheet.schema, k=2)
    assert measures == measure_tables(table, released.table, sheet.schema, k=2)
    assert (measures.rows, measures.groups, measures.smallest_group, measures.suppressed_rows) == (11, 2, 4, 2)


@pytest.mark.parametrize("share", [1, 4])  # whole numbers, which read like decimals where "." marks thousands
@pytest.mark.parametrize("marks", [{}, {"decimal": ",", "thousands": "."}, {"decimal": ",", "thousands": " "}])
def test_marks_in_numbers_do_not_change_what_is_measured(marks: dict[str, str], share: int, tmp_path: Path) -> None:
    numbers = [n / share if share > 1 else n for n in (4938, 7997, 10000, 11002, 39996, 48003, 124000, 160002)]
    spell = str.maketrans({",": marks.get("thousands", ""), ".": marks.get("decimal", ".")})
    frame = pl.DataFrame({"pay": [f"{number:,}".translate(spell) for number in numbers]})
    release = shoal.anonymize(frame, qi=["pay"], numeric=["pay"], k=2, **marks)
    path = tmp_path / "out.csv"
    release.write(path)
    assert release.measures == shoal.measure(frame, path, qi=["pay"], numeric=["pay"], k=2, **marks)
    plain = shoal.anonymize(pl.DataFrame({"pay": numbers}), qi=["pay"], numeric=["pay"], k=2)
    assert release.measures == plain.measures
