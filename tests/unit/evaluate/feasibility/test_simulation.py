"""Simulated success rates: near the exact chance, the same for any threads and row order, refused where too large."""

from __future__ import annotations

import polars as pl
import pytest
from scipy.stats import binom, binomtest

from shoal.errors import UsageError
from shoal.evaluate.feasibility import simulation
from shoal.evaluate.feasibility.simulation import Urn, rows_needed, simulate
from shoal.tables.table import Table, from_frame
from tests.unit.evaluate.feasibility.test_probability import TABLE_12

MOST_ROWS_DRAWN = 10**7  # by a case; the large tables are drawn fewer times


def near(successes: int, repetitions: int, chance: float) -> bool:
    """Say whether so many successes are within the middle 99.9 % of what the chance gives."""
    low, high = binom.ppf([0.0005, 0.9995], repetitions, chance)
    return bool(low <= successes <= high)


@pytest.mark.parametrize(("attributes", "k", "rows", "repetitions", "printed", "exact"), TABLE_12)
def test_rates_are_those_of_s1_table_12(
    attributes: int, k: int, rows: int, repetitions: int, printed: float, exact: float
) -> None:
    """[S1] Table 12: every row simulated."""
    drawn = min(500, MOST_ROWS_DRAWN // rows)
    answer = simulate(Urn.binary(attributes), k=k, rows=rows, repetitions=drawn)
    assert answer.repetitions == drawn
    assert answer.exact == pytest.approx(exact, abs=6e-5)
    assert near(answer.successes, drawn, exact)


@pytest.fixture(scope="module")
def table() -> Table:
    rows = [("a", "x")] * 50 + [("a", "y")] * 30 + [("b", "y")] * 18 + [("c", "x")] * 2
    return from_frame(pl.DataFrame(rows, schema=["one", "two"], orient="row"))


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(("rows", "k"), [(60, 2), (200, 3), (400, 3)])
def test_rates_of_a_table_are_near_the_exact_chance(table: Table, rows: int, k: int, joint: bool) -> None:
    answer = simulate(Urn.of_table(table, ["one", "two"], joint=joint), k=k, rows=rows, repetitions=2000)
    assert answer.cells == (4 if joint else 6)
    assert answer.exact is not None
    assert 0.02 < answer.exact < 0.99
    assert near(answer.successes, 2000, answer.exact)


def test_joint_draws_make_fewer_combinations_than_independent_ones(table: Table) -> None:
    rates = [simulate(Urn.of_table(table, ["one", "two"], joint=j), k=3, rows=300).exact for j in (False, True)]
    assert rates[0] is not None
    assert rates[1] is not None
    assert rates[0] < rates[1]


def test_given_cardinalities_are_near_the_exact_chance() -> None:
    answer = simulate(Urn.uniform([2, 3, 5]), k=2, rows=180, repetitions=2000)
    assert answer.cells == 30
    assert answer.exact is not None
    assert 0.2 < answer.exact < 0.9
    assert near(answer.successes, 2000, answer.exact)


def test_groups_that_are_looked_up_succeed_like_cells_that_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = simulate(Urn.uniform([2, 3, 5]), k=2, rows=180)
    monkeypatch.setattr(simulation, "DENSE_CELLS", 0)
    assert simulate(Urn.uniform([2, 3, 5]), k=2, rows=180) == counted


def test_threads_do_not_matter_and_seeds_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """D02."""
    monkeypatch.setattr(simulation, "BLOCK_DRAWS", 2000)
    shares: list[float] = []
    one = simulate(Urn.binary(3), k=3, rows=50, repetitions=333, progress=shares.append)
    assert simulate(Urn.binary(3), k=3, rows=50, repetitions=333, threads=3) == one
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 3
    others = {simulate(Urn.binary(3), k=3, rows=50, repetitions=333, seed=seed).successes for seed in range(5)}
    assert len(others) > 1


@pytest.mark.parametrize("joint", [False, True])
def test_order_of_rows_does_not_matter(table: Table, joint: bool) -> None:
    """D03."""
    turned = from_frame(table.frame.reverse())
    answers = [simulate(Urn.of_table(t, ["one", "two"], joint=joint), k=3, rows=200) for t in (table, turned)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("attributes", [40, 100])
def test_more_combinations_than_memory_are_looked_up(attributes: int) -> None:
    answer = simulate(Urn.binary(attributes), k=2, rows=10_000, repetitions=20)
    assert (answer.success_rate, answer.exact, answer.cells) == (0.0, 0.0, 2**attributes)
    assert answer.small_share == pytest.approx(1, abs=1e-6)
    assert simulate(Urn.binary(attributes), k=1, rows=100, repetitions=20).success_rate == 1


def test_many_columns_have_keys_that_tell_rows_apart() -> None:
    """Beyond 2^62 combinations: columns of two values, both alike in each row, make two groups."""
    frame = pl.DataFrame({f"c{i}": [0] * 30 + [1] * 10 for i in range(70)})
    urn = Urn.of_table(from_frame(frame), frame.columns, joint=True)
    assert urn.n_cells == 2
    apart = Urn.of_table(from_frame(frame), frame.columns)
    assert apart.n_cells == 2**70
    assert simulate(urn, k=3, rows=40).success_rate == pytest.approx(1, abs=0.1)
    assert simulate(apart, k=2, rows=40).success_rate == 0
    assert simulate(apart, k=1, rows=40).success_rate == 1


def test_without_rows_only_the_rows_needed_are_told() -> None:
    answer = simulate(Urn.binary(7), k=5)
    assert (answer.rows, answer.repetitions, answer.success_rate, answer.exact) == (None, 0, None, None)
    assert (answer.rows_needed, answer.rows_needed_by) == rows_needed(Urn.binary(7), 5) == (2043, "exact")


def test_work_that_takes_hours_is_refused_with_what_is_known() -> None:
    """O08: told before anything is drawn."""
    with pytest.raises(
        UsageError, match=r"1,000,000,000 rows over 8 combinations.*500,000,000,000 random values.*is 1.0000"
    ):
        simulate(Urn.binary(3), k=5, rows=10**9)
    with pytest.raises(UsageError, match=r"1,099,511,627,776 combinations: counting takes up to 11.9 GB"):
        simulate(Urn.binary(40), k=5, rows=10**9, repetitions=1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Urn.binary(0), "attributes: 0 is not a positive integer"),
        (lambda: Urn.uniform([]), "there is no cardinality"),
        (lambda: Urn.uniform([3, 0]), "a cardinality: 0"),
        (lambda: simulate(Urn.binary(2), k=0, rows=5), "k=0 is not"),
        (lambda: simulate(Urn.binary(2), k=2, rows=0), "rows=0 is not"),
        (lambda: simulate(Urn.binary(2), k=2, rows=5, repetitions=-1), "repetitions=-1 is not"),
        (lambda: simulate(Urn.binary(2), k=2, rows=5, repetitions=10**8), "repetitions=100000000 is too many"),
        (
            lambda: simulate(Urn.binary(2), k=2, rows=5, wanted_success=1),
            "a probability of success of 1 is not between",
        ),
    ],
)
def test_odd_numbers_are_refused(call: object, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        call()  # type: ignore[operator]


def test_unknown_column_is_named(table: Table) -> None:
    with pytest.raises(UsageError, match=r"column 'height'.*is not in the table"):
        Urn.of_table(table, ["one", "height"])


def test_interval_is_wilsons() -> None:
    answer = simulate(Urn.binary(3), k=3, rows=50, repetitions=50)
    expected = binomtest(answer.successes, 50).proportion_ci(method="wilson")
    assert answer.interval == pytest.approx((expected.low, expected.high), abs=1e-6)
