"""Centres without a witness: true ones are never refused, and those that no groups could have are found."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.schema import Column, Kind, Role
from shoal.verification.cells.centers import CenterCells
from shoal.verification.matching.centers import CenteredColumn
from shoal.verification.matching.groups import Groups
from shoal.verification.reading.coded import CodedTable, code_columns

ORDER = ("0", "1", "2", "3", "4", "5", "6", "7")


def refusal(kind: Kind, choice: str, original: list[str], shown: list[str]) -> list[str]:
    """Return why a column of centres is refused."""
    column = Column("x", Role.QI, kind, order=ORDER if kind is Kind.ORDERED else ())
    source, release = code_columns({"x": original}), code_columns({"x": shown})
    own = source.column("x")
    cells = CenterCells(column, (), own.texts, own.counts().tolist(), choice)
    centered = CenteredColumn(column, cells, release.column("x"))
    is_complete = len(original) == len(shown)
    found = centered.possible(own, Groups(release, ["x"]), release.row_numbers(), complete=is_complete)
    return [violation.text for violation in found]


def true_centers(kind: Kind, choice: str, source: CodedTable, groups: list[int]) -> list[str]:
    """Return the centre of the group of each row."""
    column = Column("x", Role.QI, kind, order=ORDER if kind is Kind.ORDERED else ())
    own = source.column("x")
    cells = CenterCells(column, (), own.texts, own.counts().tolist(), choice)
    codes, of_row = own.codes.tolist(), np.array(groups)
    shown = []
    for group in groups:
        members = [codes[i] for i in np.flatnonzero(of_row == group).tolist()]
        center = cells.expected({code: members.count(code) for code in members}, len(members), 1)
        shown.append(center[1] if isinstance(center, tuple) else ORDER[center] if kind is Kind.ORDERED else str(center))
    return shown


@pytest.mark.parametrize("choice", ["mean", "median"])
@pytest.mark.parametrize("kind", [Kind.NUMERIC, Kind.ORDERED, Kind.CATEGORICAL])
def test_true_centers_are_not_refused(kind: Kind, choice: str) -> None:
    """Of any groups, with or without rows that were left out."""
    draw = random.Random(7)
    for _ in range(60):
        original = [draw.choice(ORDER) for _ in range(draw.randint(1, 30))]
        groups = [draw.randrange(4) for _ in original]
        shown = true_centers(kind, choice, code_columns({"x": original}), groups)
        assert refusal(kind, choice, original, shown) == []
        kept = [cell for cell, group in zip(shown, groups, strict=True) if group]
        assert not kept or refusal(kind, choice, original, kept) == []


@pytest.mark.parametrize(
    ("kind", "choice", "original", "shown"),
    [
        (Kind.NUMERIC, "median", "0 0 0 0 1 1 5 9", "5 5 5 5 5 5 5 5"),
        (Kind.NUMERIC, "mean", "0 4 4 4 4 4 4 8", "1 1 1 1 7 7 7 7"),
        (Kind.ORDERED, "mean", "0 0 0 0 1 1 5 7", "5 5 5 5 5 5 5 5"),
        (Kind.CATEGORICAL, "mean", "a a a a a a a b", "b b b b b b b b"),
    ],
)
def test_too_few_values_around_centers(kind: Kind, choice: str, original: str, shown: str) -> None:
    """The mean of the second column is right, but its halves lie too far apart."""
    (text,) = refusal(kind, choice, original.split(), shown.split())
    assert "too few such values" in text
