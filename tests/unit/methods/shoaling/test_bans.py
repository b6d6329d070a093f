"""Bans, the balance of loss and rules, and ranges that do not overlap in part."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.partition import RANGE, node_losses
from shoal.errors import InfeasibleError, UsageError
from shoal.methods import Run, named
from shoal.methods.base import check_run, failing_groups
from shoal.methods.shoaling.nested_ranges import in_halves
from shoal.models import KAnonymity
from shoal.rules import judge_rules
from shoal.schema import Role, Schema
from shoal.tables.table import from_frame

BANS = (
    shoal.Rule("race", apart=("White", "Black"), ban=True),
    shoal.Rule("age", inflection=(64, 65), ban=True),
    shoal.Rule("race", apart=("Hispanic", ["Asian", "Black"]), ban=True),
)


def table(seed: int, n_rows: int = 300, **columns: list[str]) -> Encoded:
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": draw.integers(20, 90, n_rows).astype(str),
            "race": draw.choice(["White", "Black", "Asian", "Hispanic"], n_rows, p=[0.6, 0.1, 0.2, 0.1]),
            "pay": draw.integers(0, 5000, n_rows).astype(str),
            "ill": draw.choice(["a", "b", "c"], n_rows),
        }
        | columns
    )
    read = from_frame(frame)
    schema = Schema.build(frame.columns, {Role.QI: ["age", "race", "pay"], Role.SENSITIVE: ["ill"]})
    return encode(read, guess_kinds(read, schema))


def broken(encoded: Encoded, rules: tuple[shoal.Rule, ...], labels: np.ndarray) -> list[int]:
    codes = encoded.tuples[encoded.row_tuple]
    return [verdict.broken_groups for verdict in judge_rules(rules, encoded.attributes, codes, labels)]


@pytest.mark.parametrize("models", [(KAnonymity(4),), (KAnonymity(4), shoal.LDiversity("ill", l=2))], ids=["k", "l"])
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_bans_are_kept_by_every_group(models: tuple[shoal.PrivacyModel, ...], effort: str, seed: int) -> None:
    for n_rows in (60, 300):
        encoded = table(seed, n_rows)
        assert any(broken(encoded, BANS, named("shoaling").partition(encoded, models, Run()).labels))
        made = named("shoaling", effort=effort).partition(encoded, models, Run(rules=BANS))
        assert broken(encoded, BANS, made.labels) == [0, 0, 0]
        assert not failing_groups(encoded, models, made.labels).any()


@pytest.mark.parametrize("objective", ["ncp", "variance"])
@pytest.mark.parametrize("k", [1, 4])
def test_bans_are_kept_under_models_of_all_groups(k: int, objective: str, seed: int) -> None:
    """Mondrian's cuts, which are a candidate there, know no bans."""
    models = (KAnonymity(k), shoal.AverageRisk(0.3), shoal.SampleUniqueness(0.1))
    for n_rows in (60, 300):
        encoded = table(seed, n_rows)
        made = named("shoaling", objective=objective, effort="fast").partition(encoded, models, Run(rules=BANS))
        assert broken(encoded, BANS, made.labels) == [0, 0, 0]
        assert not failing_groups(encoded, models, made.labels).any()


def test_few_rows_of_a_side_borrow_rows_of_neither_side() -> None:
    """Two rows of one side must share their group with rows that others would take."""
    race = ["Black"] * 2 + ["Asian"] * 4 + ["White"] * 30
    encoded = table(3, 36, race=race)
    made = named("shoaling").partition(encoded, (KAnonymity(5),), Run(rules=BANS[:1]))
    assert broken(encoded, BANS[:1], made.labels) == [0]
    assert np.bincount(made.labels).min() >= 5


def test_ban_that_leaves_too_few_rows_is_refused() -> None:
    encoded = table(3, 36, race=["Black"] * 2 + ["White"] * 34)
    with pytest.raises(InfeasibleError, match="because of its ban, some rows may share a group with at most 2 rows"):
        named("shoaling").partition(encoded, (KAnonymity(5),), Run(rules=BANS[:1]))


def test_method_that_cannot_keep_bans_says_so() -> None:
    with pytest.raises(UsageError, match=r"'utility-driven' does not support bans. Methods that do: shoaling\."):
        check_run("utility-driven", [], Run(rules=BANS))
    with pytest.raises(UsageError, match="a base cannot be a ban"):
        shoal.Rule("race", base=3, ban=True)
    with pytest.raises(UsageError, match="neither true nor false"):
        shoal.Rule("race", apart=("a", "b"), ban="yes")  # type: ignore[arg-type]


def test_alpha_balances_loss_and_rules(seed: int) -> None:
    """More groups break the rules the less they count; a table where both pull apart."""
    encoded = table(seed, 400)
    rules = (
        shoal.Rule("age", inflection=(40, 41)),
        shoal.Rule("age", inflection=(55, 56)),
        shoal.Rule("race", apart=("White", "Asian")),
    )
    counts = [
        sum(broken(encoded, rules, named("shoaling", alpha=alpha).partition(encoded, (KAnonymity(8),), run).labels))
        for alpha in (0.05, 0.5, 1.0)
        for run in [Run(rules=rules)]
    ]
    assert counts[0] <= counts[1] < counts[2]
    with pytest.raises(UsageError, match=r"shoaling: alpha='1\.5' must be from 0 to 1"):
        named("shoaling", alpha="1.5")


@pytest.mark.parametrize("missing", [0, 7])
@pytest.mark.parametrize("limit", [0, 0.1])
def test_ranges_do_not_overlap_in_part(missing: int, limit: float, seed: int) -> None:
    draw = np.random.default_rng(seed)
    pay = draw.integers(0, 5000, 200).astype(str).tolist()
    pay[:missing] = [""] * missing
    encoded, models = table(seed, 200, pay=pay), (KAnonymity(4),)
    made = named("shoaling", non_overlapping="true").partition(encoded, models, Run(suppression_limit=limit))
    assert not failing_groups(encoded, models, made.labels).any()
    for a in (0, 2):
        cells = made.cells[a]
        codes, labels = encoded.tuples[encoded.row_tuple, a], made.labels
        shown = cells.index[labels[labels >= 0]]
        ranges = cells.form[shown] == RANGE
        inside = (cells.low[shown] <= codes[labels >= 0]) & (codes[labels >= 0] <= cells.high[shown])
        assert inside[ranges].all()
        ends = sorted(
            {
                (int(low), int(high))
                for low, high, form in zip(cells.low, cells.high, cells.form, strict=True)
                if form == RANGE
            }
        )
        assert ends
        assert not any(one[0] < two[0] <= one[1] < two[1] for one, two in itertools.product(ends, ends))


def test_nodes_of_numbers_lose_the_share_of_the_range_below_them(seed: int) -> None:
    """Also where there are far fewer values than the range is wide."""
    attribute = in_halves(table(seed, 50)).attributes[2]
    assert attribute.tree is not None
    losses = node_losses(attribute)
    assert losses.max() == 1
    for level in attribute.tree.nodes[1:]:
        for node in set(level.tolist()):
            below = attribute.values[level == node]
            assert losses[node] == pytest.approx(np.ptp(below) / np.ptp(attribute.values))
