"""A release in Python: what a notebook shows, and what its text may not do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import UsageError
from shoal.models import KMap


def made(**columns: list[str]) -> shoal.Release:
    return shoal.anonymize(pl.DataFrame(columns), qi=["age"], others="insensitive", k=2)


def test_notebook_shows_the_verdict_and_the_first_rows() -> None:
    shown = made(age=[str(20 + i // 3) for i in range(30)])._repr_html_()
    assert "of the cells changed" in shown
    assert "mean cell: age: " in shown
    assert "30 rows in 10 groups, the smallest of 3 rows (k = 2)" in shown
    assert shown.count("<tr>") == 1 + 8
    assert "22 more rows" in shown


def test_notebook_escapes_names_and_cells() -> None:
    """W07: a cell is text, never markup."""
    frame = pl.DataFrame({"age": ["<script>x</script>"] * 3, "<b>": ["<i>"] * 3})
    shown = shoal.anonymize(frame, qi=["age"], others="insensitive", k=2)._repr_html_()
    assert "<script>" not in shown
    assert "<i>" not in shown
    assert "&lt;b&gt;" in shown


def test_a_text_in_place_of_a_list_of_names_is_refused() -> None:
    with pytest.raises(UsageError, match="Give a list of column names"):
        shoal.anonymize(pl.DataFrame({"age": ["1"] * 3}), qi="age", k=2)


def test_release_is_written_verified_and_found_true(tmp_path: object) -> None:
    from pathlib import Path

    frame = pl.DataFrame({"age": [str(i) for i in range(20)], "disease": [f"d{i % 3}" for i in range(20)]})
    release = shoal.anonymize(frame, qi=["age"], sensitive=["disease"], k=4)
    path = Path(str(tmp_path)) / "out.csv"
    assert release.write(path).exists()
    assert shoal.verify(path, qi=["age"], k=4, original=frame, sensitive=["disease"]).ok
    assert shoal.measure(frame, path, qi=["age"], k=4) == release.measures


def test_a_thousand_quasi_identifiers(tmp_path: object) -> None:
    """B12: wide tables work, through the gate."""
    from pathlib import Path

    frame = pl.DataFrame({f"c{i}": [str((i * j) % 7) for j in range(12)] for i in range(1000)})
    release = shoal.anonymize(frame, qi=frame.columns, k=3)
    assert release.measures.smallest_group >= 3
    release.write(Path(str(tmp_path)) / "out.csv")


@pytest.mark.parametrize("base", [0, 1_234_500])
def test_the_gate_counts_values_that_only_the_population_has(tmp_path: Path, base: int) -> None:
    """Labels of a hierarchy also cover them: 18 rows of the population are in [60, 70), 6 of them in the table."""
    incomes = [base + 61, base + 68] * 3
    others = [base + 62 + i for i in range(6)] * 2 + [base + 72] * 30
    release = shoal.anonymize(
        pl.DataFrame({"income": incomes}),
        qi=["income"],
        k=4,
        models=[KMap(18)],
        population=pl.DataFrame({"income": incomes + others}),
        hierarchies={"income": shoal.hierarchy.intervals(widths=[5, 10, 100])},
    )
    release.write(tmp_path / "out.csv")
    assert set(release.text["income"]) == {f"[{base + 60}, {base + 70})"}
