"""Models that steer shoaling: groups that pass in the kernels pass the models."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.partition import cell_losses
from shoal.errors import InfeasibleError
from shoal.methods import Run, named
from shoal.methods.base import failing_groups
from shoal.methods.shoaling.grouping import Grouping, repair, spread_out
from shoal.methods.shoaling.problem import prepare
from shoal.methods.shoaling.search import cut
from shoal.methods.shoaling.steps import EFFORTS, Search
from shoal.models import KAnonymity, PrivacyModel
from shoal.rules import judge_rules
from shoal.schema import Role, Schema
from shoal.tables.table import from_frame
from tests.losses import total_loss

MODELS: dict[str, PrivacyModel] = {
    "distinct l": shoal.LDiversity("disease", l=3),
    "p-sensitive": shoal.PSensitiveK("disease", p=2, k=4),
    "alpha": shoal.AlphaK("disease", alpha=0.6, k=3),
    "entropy l": shoal.EntropyLDiversity("disease", l=2.2),
    "recursive": shoal.RecursiveLDiversity("disease", c=3, l=2),
    "t equal": shoal.TCloseness("disease", t=0.4, distance="equal"),
    "t ordered": shoal.TCloseness("pay", t=0.2),
    "t by hierarchy": shoal.TCloseness("disease", t=0.3, distance="hierarchical"),
    "delta": shoal.DeltaDisclosure("sex", delta=2),
    "beta": shoal.BetaLikeness("disease", beta=2),
    "enhanced beta": shoal.BetaLikeness("disease", beta=1.5, enhanced=True),
    "personal k": shoal.PersonalK(),
    "risk": shoal.MaximalRisk(0.2),
}


def table(seed: int, n_rows: int = 240, *, far: int = 0) -> Encoded:
    draw = np.random.default_rng(seed)
    ages = draw.integers(20, 80, n_rows)
    ages[:far] += 200
    frame = pl.DataFrame(
        {
            "age": ages.astype(str),
            "zip": draw.integers(0, 12, n_rows).astype(str),
            "disease": draw.choice(["flu", "cough", "ulcer", "cancer", ""], n_rows, p=[0.4, 0.2, 0.2, 0.1, 0.1]),
            "pay": draw.integers(1, 9, n_rows).astype(str),
            "sex": draw.choice(["f", "m"], n_rows),
            "own": draw.choice(["2", "3", "9"], n_rows),
        }
    )
    roles = {Role.QI: ["age", "zip"], Role.SENSITIVE: ["disease", "pay", "sex"], Role.PERSONAL_K: ["own"]}
    kinds = Schema.build(frame.columns, roles)
    read = from_frame(frame)
    lung, other = dict.fromkeys(["flu", "cough"], ("lung", "*")), dict.fromkeys(["ulcer", "cancer"], ("other", "*"))
    tree = hierarchy.from_dict({**lung, **other, "": ("*", "*")})
    return encode(read, guess_kinds(read, kinds), {"disease": tree})


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_models_steer_the_search(model: PrivacyModel, effort: str, seed: int) -> None:
    """The groups pass, and lose no more than those of Mondrian under the same models."""
    encoded, models = table(seed), (KAnonymity(3), model)
    losses = []
    for method in (named("shoaling", effort=effort), named("mondrian")):
        made = method.partition(encoded, models, Run())
        assert not failing_groups(encoded, models, made.labels).any()
        losses.append(total_loss(encoded, made))
    assert losses[0] <= losses[1] * (1 + 1e-6)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_groups_that_pass_in_the_kernels_pass_the_models(model: PrivacyModel, seed: int) -> None:
    """Exchanges and all other steps keep groups that pass, without a repair after them."""
    encoded, models = table(seed), (KAnonymity(3), model)
    problem = prepare(encoded, max(each.minimum_size for each in models), models)
    with ThreadPoolExecutor(1) as pool:
        search = Search(problem, EFFORTS["high"], Run(seed=seed), pool)
        grouping = repair(encoded, problem, models, search.grow(Grouping.of_tuples(problem)))
        assert grouping is not None
        for cycle in range(3):
            grouping = search.improve(grouping, cycle)
            labels = grouping.labels(problem)
            assert not failing_groups(encoded, models, labels).any()


# For each model two towns whose rows pass by themselves, just at the threshold, so that nothing needs to be mixed.
AT_THE_THRESHOLD = {
    "distinct l": (shoal.LDiversity("d", l=2), "aaab", "aaab"),
    "alpha": (shoal.AlphaK("d", alpha=0.75, k=4), "aaab", "abbb"),
    "entropy l": (shoal.EntropyLDiversity("d", l=2), "aabb", "ccdd"),
    "recursive": (shoal.RecursiveLDiversity("d", c=3.01, l=2), "aaab", "aaab"),
    "t": (shoal.TCloseness("d", t=0.25), "aaab", "abbb"),
    "beta": (shoal.BetaLikeness("d", beta=0.5), "aaab", "abbb"),
    "personal k": (shoal.PersonalK(), "aaab", "abbb"),
}


@pytest.mark.parametrize(("model", "left", "right"), AT_THE_THRESHOLD.values(), ids=AT_THE_THRESHOLD)
def test_thresholds_are_reached_exactly(model: PrivacyModel, left: str, right: str) -> None:
    frame = pl.DataFrame({"town": ["x"] * 4 + ["y"] * 4, "d": [*left, *right], "own": ["4"] * 8})
    roles = {Role.QI: ["town"], Role.SENSITIVE: ["d"], Role.PERSONAL_K: ["own"]}
    encoded = encode(from_frame(frame), guess_kinds(from_frame(frame), Schema.build(frame.columns, roles)))
    made = named("shoaling").partition(encoded, (KAnonymity(2), model), Run())
    assert total_loss(encoded, made) == 0


def test_rows_that_cost_most_are_left_out_within_the_limit(seed: int) -> None:
    encoded, models = table(seed, far=1), (KAnonymity(9), MODELS["distinct l"])
    some = named("shoaling").partition(encoded, models, Run(suppression_limit=Fraction(1, 20)))
    out = np.flatnonzero(some.labels < 0)
    assert 1 <= len(out) <= 12
    ages = np.array([int(text) for text in encoded.attributes[0].texts])[encoded.tuples[encoded.row_tuple, 0]]
    assert set(np.flatnonzero(ages > 200)) <= set(out)
    assert not failing_groups(encoded, models, some.labels).any()
    assert (named("shoaling").partition(encoded, models, Run()).labels >= 0).all()


def test_boundary_survives_with_a_rule_and_not_without() -> None:
    """The example of the thesis [S1]: 64|65 stays a boundary where it is said to matter."""
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({"age": draw.integers(50, 80, 300).astype(str), "zip": draw.integers(0, 9, 300).astype(str)})
    schema = guess_kinds(from_frame(frame), Schema.build(frame.columns, {Role.QI: frame.columns}))
    encoded = encode(from_frame(frame), schema)
    rules = (shoal.Rule("age", inflection=(64, 65), importance=25),)
    broken = []
    for run in (Run(), Run(rules=rules)):
        made = named("shoaling").partition(encoded, (KAnonymity(5),), run)
        codes = encoded.tuples[encoded.row_tuple]
        broken += [v.broken_groups for v in judge_rules(rules, encoded.attributes, codes, made.labels)]
    assert broken[0] > 0
    assert broken[1] == 0


def test_weights_shift_the_loss() -> None:
    losses = []
    for weight in (1, 20):
        run = Run(weights={"age": Fraction(weight)})
        encoded = table(1)
        made = named("shoaling").partition(encoded, (KAnonymity(5),), run)
        losses.append(float((cell_losses(encoded.attributes[0], made.cells[0])[made.cells[0].index]).mean()))
    assert losses[1] < losses[0] / 2


def test_goal_out_of_reach() -> None:
    with pytest.raises(InfeasibleError, match="disease has 4 values, l = 5 cannot be met"):
        named("shoaling").partition(table(1), (KAnonymity(2), shoal.LDiversity("disease", l=5)), Run())


def test_start_by_cuts_passes(seed: int) -> None:
    encoded, models = table(seed), (KAnonymity(3), MODELS["t equal"])
    problem = prepare(encoded, 3, models)
    made = cut(encoded, problem, models, Run())
    assert not failing_groups(encoded, models, made.labels(problem)).any()


def test_tuples_with_the_same_codes_are_spread_out() -> None:
    """The first two cover the range of pay, the first four its quarters; the codes keep their order."""
    frame = pl.DataFrame({"age": ["30"] * 8 + ["20"] * 3, "pay": [str(pay) for pay in (*range(1, 9), 4, 9, 6)]})
    schema = Schema.build(["age", "pay"], {Role.QI: ["age"], Role.SENSITIVE: ["pay"]})
    encoded = encode(from_frame(frame), guess_kinds(from_frame(frame), schema))
    problem = prepare(encoded, 2, (shoal.TCloseness("pay", t=0.2),))
    spread = spread_out(problem, Grouping.of_tuples(problem))
    assert problem.of_codes[spread.tuples].tolist() == [0] * 3 + [1] * 8
    assert np.diff(problem.classes).tolist()[3:] == [1] * 7  # of age 30, in the order of pay
    assert spread.tuples.tolist() == [0, 2, 1, *(3 + place for place in (0, 4, 2, 6, 1, 5, 3, 7))]
    assert spread.groups.tolist() == list(range(11))
