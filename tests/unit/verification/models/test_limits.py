"""The verifier's own judgement of limits, and releases whose cells were changed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.main import run
from shoal.errors import VerificationError
from shoal.release.gate import Gate
from shoal.schema import Column, Kind, Limits, Role
from shoal.verification.cells import Cells
from shoal.verification.models.limits import LimitedCells

LADDER = {"1": ("a", "x", "*"), "2": ("a", "x", "*"), "3": ("b", "x", "*"), "4": ("c", "y", "*")}


def keeps(kind: Kind, limit: str, given: str, cell: str, *, ladder: bool = False, form: str = "%Y-%m-%d") -> bool:
    column = Column("x", Role.QI, kind, form)
    limits = Limits(**{limit: given})
    return LimitedCells(column, limits, Cells(kind, form), LADDER if ladder else {}).keeps(limit, cell)


@pytest.mark.parametrize(
    ("kind", "limit", "given", "good", "bad"),
    [
        (Kind.NUMERIC, "max_width", "10", ["5", "[20, 30]", "[20, 30)", ""], ["[20, 31]", "[20, 30.5)", "*"]),
        (Kind.NUMERIC, "finest", "5", ["[20, 25)", "[-5, 40)", "*", ""], ["20", "[20, 25]", "[21, 25)", "[20, 26)"]),
        (Kind.NUMERIC, "uniform", "5", ["[20, 25)", "[-5, 0)", ""], ["[20, 30)", "22", "*", "[21, 26)"]),
        (Kind.NUMERIC, "coarsest", "20", ["20", "[20, 39]", "[20, 40)", "[-20, 0)"], ["[20, 40]", "[19, 20]", "*"]),
        (Kind.NUMERIC, "uniform", "0.5", ["[0.5, 1)"], ["[0, 1)", "[0.25, 0.75)"]),
        (Kind.DATE, "max_width", "30", ["[2020-01-01, 2020-01-31]"], ["[2020-01-01, 2020-02-01]"]),
        (Kind.DATE, "max_width", "5y", ["[2020-02-29, 2025-02-28]"], ["[2020-02-29, 2025-03-01]"]),
        (Kind.DATE, "finest", "month", ["[2020-02-01, 2020-04-30]", "*"], ["2020-02-01", "[2020-02-01, 2020-04-29]"]),
        (Kind.DATE, "uniform", "quarter", ["[2020-04-01, 2020-06-30]"], ["[2020-01-01, 2020-06-30]", "*"]),
        (Kind.DATE, "uniform", "day", ["2020-04-01"], ["[2020-04-01, 2020-04-02]"]),
        (Kind.DATE, "coarsest", "year", ["[2020-02-03, 2020-12-31]"], ["[2020-12-31, 2021-01-01]", "*"]),
        (Kind.CATEGORICAL, "max_width", "2", ["a", "{a, b}"], ["{a, b, c}", "*"]),
    ],
)
def test_cells_are_judged_by_their_texts(kind: Kind, limit: str, given: str, good: list[str], bad: list[str]) -> None:
    assert [cell for cell in good if not keeps(kind, limit, given, cell)] == []
    assert [cell for cell in bad if keeps(kind, limit, given, cell)] == []


@pytest.mark.parametrize(
    ("kind", "limit", "given", "cell"),
    [
        (Kind.NUMERIC, "max_width", "10", "[0, 1e999999999]"),
        (Kind.NUMERIC, "uniform", "10", "[0, 1e999999999)"),
        (Kind.NUMERIC, "coarsest", "10", "1e-999999999"),
        (Kind.NUMERIC, "max_width", "10", f"[0, 10.{'0' * 40}1]"),
        (Kind.NUMERIC, "max_width", "10", "[$20,000, $65,000)"),
        (Kind.NUMERIC, "coarsest", "1" + "0" * 5000, "5"),
        (Kind.DATE, "max_width", "9" * 400 + "d", "[2020-01-01, 2020-01-02]"),
    ],
)
def test_a_forged_number_is_a_violation_at_once(kind: Kind, limit: str, given: str, cell: str) -> None:
    """Huge exponents, widths and levels, ranges that are barely too wide, and ranges that cannot be read."""
    assert not keeps(kind, limit, given, cell)


def test_a_limit_without_the_original_is_checked_in_the_unit_that_the_manifest_states(tmp_path: Path) -> None:
    frame = pl.DataFrame({"income": [f"${n},000" for n in range(20, 60)]})
    path = tmp_path / "out.csv"
    shoal.anonymize(frame, qi=["income"], k=5, max_width={"income": "30000"}).write(path)
    settings = tmp_path / "shoal.toml"
    for width, code in (("30000", 0), ("2000", 5)):
        settings.write_text(f'k = 5\n[columns.income]\nrole = "qi"\nmax_width = "{width}"\n')
        with pytest.raises(SystemExit) as ended:
            run(["verify", str(path), "--config", str(settings)])
        assert ended.value.code == code


@pytest.mark.parametrize(
    ("limit", "given", "good", "bad"),
    [
        ("max_width", "2", ["1", "a", "b"], ["x", "*"]),
        ("finest", "1", ["a", "x", "*"], ["1", "4"]),
        ("coarsest", "1", ["1", "a", "c"], ["x", "y", "*"]),
        ("coarsest", "x", ["1", "a", "x"], ["*"]),
        ("uniform", "2", ["x", "y"], ["a", "1", "*"]),
    ],
)
def test_labels_are_judged_by_their_levels(limit: str, given: str, good: list[str], bad: list[str]) -> None:
    assert [cell for cell in good if not keeps(Kind.CATEGORICAL, limit, given, cell, ladder=True)] == []
    assert [cell for cell in bad if keeps(Kind.CATEGORICAL, limit, given, cell, ladder=True)] == []


def test_cells_that_break_a_limit_are_found(tmp_path: Path) -> None:
    """A file with wider cells than promised fails the gate, and verification by its manifest."""
    frame = pl.DataFrame({"age": [str(20 + i % 30) for i in range(60)], "sex": ["f", "m"] * 30})
    release = shoal.anonymize(frame, qi=["age", "sex"], k=4, uniform={"age": "10"})
    path = tmp_path / "out.csv"
    release.write(path)
    assert shoal.verify(path).ok
    content = path.read_text()
    for old, new in (("[20, 30)", "[20, 40)"), ("[20, 30)", "[15, 30)"), ("[20, 30)", "*")):
        path.write_text(content.replace(f'"{old}"', f'"{new}"' if "," in new else new))
        with pytest.raises(VerificationError, match="not one of the bands"):
            Gate(release).check_file(path)
        with pytest.raises(VerificationError, match="not one of the bands"):
            shoal.verify(path)
