"""Mondrian under models: its cuts are those of the plain twin, and what it gives passes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.errors import InfeasibleError, UsageError
from shoal.methods import Mondrian, Run
from shoal.methods.base import failing_groups
from shoal.methods.registry import METHODS
from shoal.methods.suppression import leave_out_outliers, loss_with_suppressed
from shoal.models import (
    AverageRisk,
    DeltaPresence,
    EntropyLDiversity,
    KAnonymity,
    KMap,
    LDiversity,
    PersonalK,
    PrivacyModel,
    TCloseness,
)
from shoal.schema import Kind
from tests.naive import models as naive_models
from tests.naive import mondrian as naive
from tests.strategies import sheets
from tests.unit.kernels.test_mondrian import as_groups, cut_order, twin_input

DISEASES = ("asthma", "cold", "flu")


def with_diseases(encoded: Encoded, diseases: list[int], own_k: list[int]) -> Encoded:
    codes = np.array(diseases, dtype=np.int32)
    column = Sensitive("disease", Kind.CATEGORICAL, DISEASES, np.empty(0), -1, codes)
    return replace(encoded, sensitive=(column,), personal_k=np.array(own_k, dtype=np.int64))


TESTS: list[tuple[PrivacyModel, Callable[[list[int], list[int], list[int], list[int]], bool]]] = [
    (LDiversity("disease", 2), lambda group, every, asked, size: naive_models.fails_distinct(group, 2)),
    (
        EntropyLDiversity("disease", "1.5"),
        lambda group, every, asked, size: naive_models.fails_entropy(group, Fraction(3, 2)),
    ),
    (
        TCloseness("disease", "0.3"),
        lambda group, every, asked, size: naive_models.equal_distance(group, every) > Fraction(3, 10),
    ),
    (PersonalK(), lambda group, every, asked, size: len(group) < max(asked)),
]


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@pytest.mark.parametrize(("model", "fails"), TESTS, ids=lambda x: getattr(x, "name", ""))
@settings(max_examples=40)
@given(sheet=sheets(max_rows=50), data=st.data())
def test_groups_under_a_model_are_those_of_the_twin(
    model: PrivacyModel, fails: Callable[..., bool], variant: str, sheet: object, data: st.DataObject
) -> None:
    encoded = sheet.encoded  # type: ignore[attr-defined]
    n = encoded.n_rows
    diseases = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    own_k = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    encoded = with_diseases(encoded, diseases, own_k)
    rows, attributes = twin_input(encoded)

    order = cut_order(encoded, *([diseases] if model.columns else []), own_k)

    def passes(group: list[int]) -> bool:
        return not fails([diseases[order[i]] for i in group], diseases, [own_k[order[i]] for i in group], n)

    every = list(range(n))
    k = data.draw(st.integers(1, 3))
    models = (KAnonymity(k), model)
    if not passes(every) or n < k:
        with pytest.raises(InfeasibleError, match="cannot"):
            Mondrian(variant).partition(encoded, models, Run())
        return
    k = max(k, model.minimum_size)
    found = naive.steered([rows[i] for i in order], attributes, k, variant == "relaxed", passes)
    expected = [[order[i] for i in group] for group in found]
    made = Mondrian(variant).partition(encoded, models, Run(threads=2))
    assert as_groups(made.labels) == sorted(map(sorted, expected))
    assert not failing_groups(encoded, models, made.labels).any()


def random_table(seed: int, n: int = 400) -> pl.DataFrame:
    draw = random.Random(seed)
    ages = [draw.randint(20, 80) for _ in range(n)]
    return pl.DataFrame(
        {
            "age": ages,
            "sex": [draw.choice("FM") for _ in range(n)],
            "zip": [f"z{draw.randint(1, 12)}" for _ in range(n)],
            "disease": [draw.choice(("flu", "cold", "ulcer") if age < 60 else ("flu", "gout")) for age in ages],
            "own": [draw.choice(("2", "4", "9", "")) for _ in range(n)],
        }
    )


QI = {"qi": ["age", "sex", "zip"]}


@pytest.mark.parametrize("variant", ["strict", "relaxed", "single-dimensional"])
@pytest.mark.parametrize(
    "models",
    [
        [shoal.LDiversity("disease", 2), shoal.TCloseness("disease", "0.35")],
        [shoal.AlphaK("disease", "0.6", 4), shoal.BetaLikeness("disease", 2)],
        [shoal.AverageRisk("0.05")],
        [shoal.MaximalRisk("0.2"), shoal.EntropyLDiversity("disease", 2)],
        [shoal.RecursiveLDiversity("disease", 2, 2), shoal.DeltaDisclosure("disease", 3)],
    ],
    ids=lambda models: models[0].name,
)
def test_release_under_models_passes_the_gate(
    models: list[PrivacyModel], variant: str, seed: int, tmp_path: object
) -> None:
    """C01, C24: several models at once; the written file is judged again by the verifier."""
    frame = random_table(seed).drop("own")
    made = shoal.anonymize(frame, **QI, sensitive=["disease"], k=3, models=models, method=Mondrian(variant))
    made.write(tmp_path / "out.csv")  # type: ignore[operator]
    assert made.request.models[1:] == tuple(model.describe() for model in models)
    verdict = shoal.verify(tmp_path / "out.csv", **QI, k=3, models=models)  # type: ignore[operator]
    assert verdict.ok
    assert made.measures.groups > 1


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_personal_k_is_kept_and_its_column_stays_at_home(variant: str, seed: int, tmp_path: object) -> None:
    """C23: [S0 5.1]."""
    frame = random_table(seed)
    made = shoal.anonymize(frame, **QI, sensitive=["disease"], k=3, k_column="own", method=Mondrian(variant))
    made.write(tmp_path / "out.csv")  # type: ignore[operator]
    assert "own" not in made.text.columns
    shown = made.text.select("age", "sex", "zip").rows()
    sizes = Counter(shown)
    own = frame["own"].to_list()
    for row, cells in zip(made.source_rows.tolist(), shown, strict=True):
        assert sizes[cells] >= int(own[row] or 3)
    assert made.measures.smallest_group < 9
    assert shoal.verify(made.text, **QI, k=3, original=frame, k_column="own").ok


def test_blank_personal_k_without_k_is_refused() -> None:
    """B23."""
    with pytest.raises(shoal.errors.InputError, match=r"rows have no k of their own, and k is not given"):
        shoal.anonymize(random_table(0), **QI, sensitive=["disease"], k_column="own", method="mondrian")


@pytest.mark.parametrize("cell", ["0", "-3", "two", "2.5", "9" * 30])
def test_personal_k_that_is_no_whole_number_is_refused(cell: str) -> None:
    """B23: with the row, without the cell."""
    frame = random_table(0).with_columns(own=pl.Series(["3"] * 7 + [cell] + ["3"] * 392))
    with pytest.raises(shoal.errors.InputError, match=r"the cell at row 8 is not a positive integer") as caught:
        shoal.anonymize(frame, **QI, sensitive=["disease"], k=3, k_column="own", method="mondrian")
    assert cell == "0" or cell not in str(caught.value)


def test_personal_k_beyond_the_rows_names_how_many_ask_and_can_be_suppressed() -> None:
    """C23, B28: exit 4 with the number of rows; with a limit that allows it they are left out."""
    frame = random_table(0).with_columns(own=pl.Series(["1000"] * 3 + ["3"] * 397))
    arguments = {**QI, "sensitive": ["disease"], "k_column": "own", "method": "mondrian"}
    with pytest.raises(InfeasibleError, match=r"3 rows require more than the 400 rows of the table\. Require at most"):
        shoal.anonymize(frame, **arguments)
    made = shoal.anonymize(frame, **arguments, suppression_limit=0.01)
    assert made.text.height <= 397
    assert not {0, 1, 2} & set(made.source_rows.tolist())


def test_average_risk_allows_small_groups_beside_large_ones(seed: int) -> None:
    frame = random_table(seed).drop("own")
    made = shoal.anonymize(frame, **QI, others="drop", k=2, models=[AverageRisk("0.1")], method="mondrian")
    assert made.measures.groups == 40
    assert made.measures.smallest_group < 10


@pytest.mark.parametrize("variant", ["strict", "relaxed", "single-dimensional"])
def test_population_models_hold_on_the_population(variant: str, seed: int, tmp_path: object) -> None:
    """R17: counted again by hand over the population."""
    draw = random.Random(seed)
    frame = random_table(seed).select("age", "sex", "zip")
    more = random_table(seed + 1, 1500).select("age", "sex", "zip")
    people = pl.concat([frame, more]).sample(fraction=1, shuffle=True, seed=draw.randint(0, 9))
    models = [KMap(15), DeltaPresence(0, "0.4")]
    made = shoal.anonymize(frame, **QI, k=2, models=models, population=people, method=Mondrian(variant))
    made.write(tmp_path / "out.csv")  # type: ignore[operator]
    assert made.measures.groups > 1
    assert shoal.verify(made.text, **QI, k=2, models=models, population=people).ok
    with pytest.raises(shoal.errors.VerificationError, match="k-map"):
        shoal.verify(made.text, **QI, k=2, models=[KMap(2000)], population=people)


def test_population_that_lacks_rows_of_the_table_is_refused() -> None:
    """R17."""
    frame = random_table(0).select("age", "sex", "zip")
    with pytest.raises(shoal.errors.InputError, match=r"^400 rows of the table are not in the population"):
        shoal.anonymize(frame, **QI, k=2, models=[KMap(2)], population=frame.with_columns(sex=pl.lit("X")))
    with pytest.raises(UsageError, match=r"k-map with k = 2 needs the table of the population"):
        shoal.anonymize(frame, **QI, k=2, models=[KMap(2)])


@pytest.mark.parametrize("limit", ["0.01", "0.05"])
def test_suppression_lowers_the_loss_and_keeps_the_limit(limit: str, seed: int, tmp_path: object) -> None:
    """C20, C30: rows that are left out are not in the file, at most the limit's share, and the loss is lower for it."""
    draw = random.Random(seed)
    rows = [(str(30 + i % 3), f"c{i % 4}", draw.choice(("a", "b"))) for i in range(200)]
    rows[7] = ("99", "c0", "a")
    rows[70] = ("98", "c1", "b")
    frame = pl.DataFrame(rows, schema=["age", "city", "disease"], orient="row")
    arguments = {"qi": ["age", "city"], "sensitive": ["disease"], "k": 5, "method": "mondrian"}
    whole = shoal.anonymize(frame, **arguments)
    made = shoal.anonymize(frame, **arguments, suppression_limit=limit)
    made.write(tmp_path / "out.csv")  # type: ignore[operator]
    assert made.measures.suppressed_rows == 200 - made.text.height
    assert 1 <= made.measures.suppressed_rows <= 200 * float(limit)
    assert made.measures.ncp < whole.measures.ncp
    assert 7 not in made.source_rows.tolist()
    assert made.lower_bound is None


def test_rows_are_left_out_only_where_that_pays(seed: int) -> None:
    """Beside the loss worked out by the twin: never more than before, and the models still hold."""
    frame = random_table(seed).drop("own")
    from shoal.encoding.decode import decode
    from shoal.encoding.encode import encode, guess_kinds
    from shoal.encoding.partition import tight_partition
    from shoal.schema import Role, Schema
    from shoal.tables.table import from_frame

    table = from_frame(frame)
    schema = Schema.build(table.names, {Role.QI: QI["qi"], Role.SENSITIVE: ["disease"]})
    encoded = encode(table, guess_kinds(table, schema))
    models = (KAnonymity(5), LDiversity("disease", 2))
    labels = Mondrian().partition(encoded, models, Run()).labels
    fewer = leave_out_outliers(encoded, models, labels, 5, 40)
    assert (fewer < 0).sum() <= 40
    assert loss_with_suppressed(encoded, fewer) <= loss_with_suppressed(encoded, labels)
    assert not failing_groups(encoded, models, fewer).any()
    assert (fewer == leave_out_outliers(encoded, models, labels, 5, 40)).all()
    released = decode(encoded, tight_partition(encoded, fewer), guess_kinds(table, schema)).table.frame
    measured = shoal.measure(frame, released, **QI).ncp * frame.height * 3
    assert loss_with_suppressed(encoded, fewer) == pytest.approx(measured)


@pytest.mark.parametrize("limit", ["-0.1", "1.5", "2%", "many", float("nan")])
def test_suppression_limit_that_is_no_share_is_refused(limit: object) -> None:
    """B05."""
    with pytest.raises(UsageError, match=r"is not a share\. Use a number from 0 to 1"):
        shoal.anonymize(random_table(0), **QI, others="drop", k=2, suppression_limit=limit)


def test_model_that_a_method_cannot_honour_is_refused_by_name() -> None:
    unable = [info.name for info in METHODS if LDiversity("disease", 2).basis not in info.honours]
    frame = random_table(0).drop("own")
    for name in unable:
        with pytest.raises(UsageError, match=rf"method '{name}' cannot honour distinct l.*Methods that can:.*mondr"):
            shoal.anonymize(frame, **QI, sensitive=["disease"], k=2, l=2, method=name)


def test_default_method_honours_the_models() -> None:
    made = shoal.anonymize(random_table(0).drop("own"), **QI, sensitive=["disease"], k=2, l=2)
    assert not any("cannot" in note for note in made.notes)
    assert shoal.verify(made.text, **QI, k=2, models=[LDiversity("disease", 2)]).ok


def test_order_of_the_rows_does_not_matter_under_models(seed: int) -> None:
    """D03: also with rows left out."""
    frame = random_table(seed)
    arguments = {**QI, "sensitive": ["disease"], "k": 3, "k_column": "own", "l": 2, "suppression_limit": "0.1"}
    made = shoal.anonymize(frame, **arguments, method="mondrian").text.write_csv()
    for another in range(3):
        moved = frame.sample(fraction=1, shuffle=True, seed=another)
        assert shoal.anonymize(moved, **arguments, method="mondrian").text.write_csv() == made
