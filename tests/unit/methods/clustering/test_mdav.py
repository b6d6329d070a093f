"""MDAV, compared with its plain twin."""

from __future__ import annotations

from hypothesis import given

from shoal.methods import MDAV, Run
from shoal.metrics.variance import coordinates_of
from shoal.models import KAnonymity
from tests.naive import mdav
from tests.strategies import Sheet
from tests.unit.methods.plain import as_groups, sheets_and_k


@given(drawn=sheets_and_k())
def test_groups_are_those_of_the_twin(drawn: tuple[Sheet, int]) -> None:
    sheet, k = drawn
    encoded = sheet.encoded
    points, rows = coordinates_of(encoded), encoded.row_tuple
    places, values = (list(map(tuple, each[rows].tolist())) for each in (points.places, points.values))
    expected = mdav.groups(places, values, points.units.tolist(), k)
    labels = MDAV().partition(encoded, (KAnonymity(k),), Run()).labels
    assert as_groups(labels) == sorted(map(sorted, expected))
