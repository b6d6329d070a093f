"""A model that is added as CONTRIBUTING describes works with the default method, registered or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal import verification
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import InfeasibleError, UsageError, VerificationError
from shoal.methods import Run, infos, named
from shoal.methods.base import failing_groups
from shoal.methods.shoaling.model_terms import find_requirement
from shoal.methods.shoaling.search import Shoaling
from shoal.models import MODELS, Basis, Distributions, Groups, KAnonymity, PrivacyModel, Term, model_from
from shoal.models.model import ColumnModel, Model
from shoal.schema import Role, Schema
from shoal.tables.table import from_frame
from shoal.verification.models.judges import JUDGES, Evidence
from shoal.verification.verdict import Group
from tests.contract.subjects import every_method


@dataclass(frozen=True)
class MinorityRows(ColumnModel):
    """At least `rows` rows of every group have another value than the most frequent one. It declares no terms."""

    rows: int

    name: ClassVar[str] = "minority-rows"

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether it has too few rows with other values."""
        histogram = groups.histogram(self.column)
        return np.asarray(groups.rows - histogram.largest(histogram.rows) < self.rows)


@dataclass(frozen=True)
class CappedShare(ColumnModel):
    """No value has a share above `cap` in any group. It declares a term that steers the search."""

    cap: Fraction

    name: ClassVar[str] = "capped-share"

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether a value has too large a share."""
        histogram = groups.histogram(self.column)
        return np.asarray(histogram.largest(histogram.rows) > float(self.cap) * groups.rows)

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Limit the share of the most frequent value."""
        return (Term.largest_share(whole[self.column], self.cap),)


@dataclass(frozen=True)
class EvenSize(Model):
    """Every group has an even number of rows: sizes decide, but not every size from a minimum on passes."""

    name: ClassVar[str] = "even-size"

    @property
    def size_only(self) -> bool:
        """A group of `minimum_size` rows may still fail."""
        return False

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether its size is odd."""
        return np.asarray(groups.sizes % 2 == 1)


@dataclass(frozen=True)
class ExactSize(EvenSize):
    """Every group has exactly `size` rows: the union of two passing groups fails."""

    size: int = 3

    name: ClassVar[str] = "exact-size"

    @property
    def closed(self) -> bool:
        """Unions fail."""
        return False

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether it has another size."""
        return np.asarray(groups.sizes != self.size)


NEW_MODELS: dict[str, PrivacyModel] = {
    "no terms": MinorityRows("disease", rows=2),
    "terms": CappedShare("disease", cap=Fraction(1, 2)),
    "sizes": EvenSize(),
}
every_new_model = pytest.mark.parametrize("model", NEW_MODELS.values(), ids=NEW_MODELS)


def frame(seed: int, n_rows: int = 240) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, n_rows),
            "zip": draw.integers(0, 8, n_rows).astype(str),
            "disease": draw.choice(["flu", "cough", "ulcer", "cancer"], n_rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def encoded_table(seed: int) -> Encoded:
    table = from_frame(frame(seed))
    roles = {Role.QI: ["age", "zip"], Role.SENSITIVE: ["disease"]}
    return encode(table, guess_kinds(table, Schema.build(table.names, roles)))


def released_groups(released: pl.DataFrame) -> list[list[str]]:
    """Return the diseases of each group of released cells."""
    return released.group_by("age", "zip").agg("disease")["disease"].to_list()


def test_new_models_are_models() -> None:
    assert all(isinstance(model, PrivacyModel) for model in NEW_MODELS.values())


@every_new_model
def test_every_group_of_a_release_passes_a_new_model(model: PrivacyModel, seed: int) -> None:
    release = shoal.anonymize(
        frame(seed), qi=["age", "zip"], sensitive=["disease"], k=3, models=[model], effort="fast", threads=1
    )
    assert release.request.method == "shoaling"
    groups = released_groups(release.frame)
    assert min(map(len, groups)) >= 3
    assert len(groups) > 1
    for group in groups:
        most = max(group.count(value) for value in group)
        if isinstance(model, MinorityRows):
            assert len(group) - most >= model.rows
        elif isinstance(model, CappedShare):
            assert most <= model.cap * len(group)
        else:
            assert len(group) % 2 == 0


@every_new_model
@every_method
def test_new_model_works_with_every_method_that_takes_its_basis(
    method: shoal.methods.Method, model: PrivacyModel
) -> None:
    info = next(info for info in infos() if info.name == method.name)
    if model.basis not in info.honours:
        pytest.skip("the method cannot honour it")
    table = encoded_table(1)
    try:
        partition = method.partition(table, (KAnonymity(3), model), Run(suppression_limit=Fraction(1, 2)))
    except UsageError as error:
        if "Use optimal" not in str(error):
            raise
        pytest.skip("the method requires monotone models")
    assert not failing_groups(table, (KAnonymity(3), model), partition.labels).any()


def test_release_says_that_the_verifier_did_not_check_the_model(tmp_path: Path) -> None:
    """The gate counts k and l from the bytes; the manifest and a note name the model that checked itself."""
    models = [shoal.LDiversity("disease", l=2), NEW_MODELS["no terms"]]
    release = shoal.anonymize(
        frame(1), qi=["age", "zip"], sensitive=["disease"], k=3, models=models, effort="fast", threads=1
    )
    release.write(tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["models"] == [
        "k-anonymity with k = 3",
        "distinct l-diversity of disease with l = 2",
        "minority-rows column=disease rows=2 (checked by the model itself, not by the verifier)",
    ]
    assert any("the verifier has no judge for this model" in note for note in release.notes)
    with pytest.raises(UsageError, match="the verifier has no judge for model 'minority-rows'"):
        verification.verify(release.text, qi=["age", "zip"], k=3, models=[NEW_MODELS["no terms"]])


def test_model_with_a_judge_is_counted_by_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entered in the registry and with a judge, a model is read by name and counted from the written bytes."""

    def judge(case: Evidence) -> list[Group]:
        cap = case.fraction("cap")
        return [group for group, counts in case.values.items() if max(counts.values()) > cap * case.rows[group]]

    monkeypatch.setitem(MODELS, "capped-share", CappedShare)
    monkeypatch.setitem(JUDGES, "capped-share", judge)
    model = model_from({"name": "capped-share", "column": "disease", "cap": Fraction(1, 2)})
    release = shoal.anonymize(
        frame(1), qi=["age", "zip"], sensitive=["disease"], k=3, models=[model], effort="fast", threads=1
    )
    release.write(tmp_path / "out.csv")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["models"][1] == "capped-share column=disease cap=1/2"
    assert not any("has no judge" in note for note in release.notes)
    strict = CappedShare("disease", cap=Fraction(1, 4))
    with pytest.raises(VerificationError, match="capped-share"):
        verification.verify(release.text, qi=["age", "zip"], k=3, models=[strict], sensitive=["disease"])


def test_release_that_fails_a_new_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that ignores a model is found out by the model itself."""

    def ignore(self: Shoaling, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        return tight_partition(encoded, (np.arange(encoded.n_rows) // 3).astype(np.int32))

    monkeypatch.setattr(Shoaling, "partition", ignore)
    with pytest.raises(VerificationError, match=r"minority-rows .* groups of the release fail; nothing was written"):
        shoal.anonymize(
            frame(1), qi=["age", "zip"], sensitive=["disease"], k=3, models=[MinorityRows("disease", 2)], threads=1
        )


def test_model_whose_unions_fail_is_infeasible_and_never_released() -> None:
    with pytest.raises(InfeasibleError, match="no groups"):
        shoal.anonymize(frame(1), qi=["age", "zip"], sensitive=["disease"], k=3, models=[ExactSize()], threads=1)


def test_goal_out_of_reach_has_a_message_without_any_work() -> None:
    with pytest.raises(InfeasibleError, match="minority-rows column=disease rows=999 cannot be met: all 240 rows"):
        named("shoaling").partition(encoded_table(1), (MinorityRows("disease", 999),), Run())


def test_models_without_terms_do_not_steer_but_split_tuples() -> None:
    table = encoded_table(1)
    requirement = find_requirement(table, (MinorityRows("disease", 2),))
    assert requirement.plain
    assert not requirement.size_only
    assert len(np.unique(requirement.classes)) == 4
    assert not find_requirement(table, (CappedShare("disease", Fraction(1, 2)),)).plain


@pytest.mark.parametrize(
    "model",
    [
        shoal.TCloseness("disease", t=0.2),
        shoal.BetaLikeness("disease", beta=1),
        shoal.DeltaDisclosure("disease", delta=2),
    ],
    ids=lambda model: model.name,
)
def test_part_of_a_table_is_searched_under_the_distribution_of_all_rows(model: PrivacyModel) -> None:
    table = encoded_table(1)
    part = table.part(np.arange(table.n_rows) < 60)
    whole = Distributions.of(table)
    every, block = find_requirement(table, (model,)), find_requirement(part, (model,), whole)
    assert (every.facts == block.facts).all()
    assert (every.terms == block.terms).all()
    assert len(block.classes) == 60
    assert not (find_requirement(part, (model,)).facts == block.facts).all()


def test_terms_of_a_size_are_empty_and_of_all_groups_unknown() -> None:
    whole = Distributions.of(encoded_table(1))
    assert KAnonymity(3).terms(whole) == ()
    assert shoal.AverageRisk(0.1).terms(whole) is None
    assert shoal.AverageRisk(0.1).basis is Basis.TABLE


def test_terms_of_populations_count_no_values() -> None:
    terms = [*shoal.KMap(k=3).terms(Distributions({})), *shoal.DeltaPresence(0, 0.5).terms(Distributions({}))]
    assert [(term.kind, term.threshold) for term in terms] == [("covered", (3, 0)), ("presence", (0.0, 0.5))]
    assert not any(len(term.facts) for term in terms)
