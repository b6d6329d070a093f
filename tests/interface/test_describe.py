"""shoal describe: what it says of a file, `shoal verify` confirms, and nothing stronger."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal.errors import UsageError, VerificationError
from tests.command import Shoal

ROLES = ("--qi", "age,sex", "--sensitive", "disease,cost")
STEP = 0.0001


@pytest.fixture
def folder(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and its release."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i * 7 % 23},{'fm'[i % 2]},{('flu', 'cold', 'flu', '?')[i % 4]},{i * i % 17}" for i in range(80)]
    Path("data.csv").write_text("\n".join(["age,sex,disease,cost", *rows]) + "\n")
    words = ("anonymize", "data.csv", "-o", "out.csv", "-k", 4, *ROLES, "--missing", "?", "--method", "mondrian")
    ended = shoal(*words, "--l", 2)
    assert ended.code == 0, ended.err
    return tmp_path


def described(shoal: Shoal, *words: object) -> dict[str, Any]:
    ended = shoal("describe", *words, "--json")
    assert ended.code == 0, ended.err
    return dict(json.loads(ended.out))


def option(spec: dict[str, Any]) -> str:
    """Return a model as --model accepts it."""
    fields = [f"{name}={str(value).lower()}" for name, value in spec.items() if name not in ("name", "column")]
    return shlex.join([spec["name"], spec["column"], *fields])


def test_verify_confirms_what_describe_says_and_nothing_stronger(shoal: Shoal, folder: Path) -> None:
    """The manifest names the columns, their kinds and the markers of missing values."""
    content = described(shoal, "out.csv")
    assert content["k"] == content["smallest_group"] >= 4
    assert set(content["sensitive"]) == {"disease", "cost"}
    assert content["sensitive"]["disease"]["l"] == 2, "a missing value adds no diversity"
    assert content["sensitive"]["cost"]["t_distance"] == "ordered"
    words = ["verify", "out.csv", "-k", content["k"]]
    words += [word for spec in content["models"] for word in ("--model", option(spec))]
    assert shoal(*words).code == 0
    assert shoal("verify", "out.csv", "-k", content["k"] + 1).code == 5
    stronger = {"l": 1, "p": 1, "c": -STEP, "alpha": -STEP, "t": -STEP, "beta": -STEP, "delta": -STEP}
    for spec in content["models"]:
        name = next(name for name in ("c", "alpha", "t", "beta", "delta", "p", "l") if name in spec)
        step = STEP if spec["name"] == "entropy-l" else stronger[name]
        ended = shoal("verify", "out.csv", "--model", option({**spec, name: round(spec[name] + step, 4)}))
        assert ended.code == 5, (spec, ended.err)


def test_columns_come_from_options_where_there_is_no_manifest(shoal: Shoal, folder: Path) -> None:
    stated = described(shoal, "out.csv")
    Path("out.csv.manifest.json").unlink()
    content = described(shoal, "out.csv", *ROLES, "--missing", "?")
    assert {**content, "manifest": stated["manifest"]} == stated
    assert described(shoal, "out.csv", "--qi", "age")["sensitive"] == {}
    assert described(shoal, "data.csv", *ROLES)["k"] == 1, "any table can be described"
    ended = shoal("describe", "out.csv")
    assert (ended.code, "--qi" in ended.err) == (2, True)
    ended = shoal("describe", "out.csv", "--qi", "agee")
    assert (ended.code, "is its first line a header?" in ended.err) == (2, True)
    assert shoal("describe", "absent.csv", "--qi", "age").code == 6


def test_words_say_the_same_as_json(shoal: Shoal, folder: Path) -> None:
    content, ended = described(shoal, "out.csv"), shoal("describe", "out.csv")
    disease = content["sensitive"]["disease"]
    assert "taken from it: k = 4; quasi-identifiers 'age', 'sex'; sensitive 'disease', 'cost'" in ended.err
    for words in (
        f"{content['k']}: the smallest of {content['groups']} groups with 80 rows in all",
        f"entropy l-diversity: l = {disease['entropy_l']}",
        f"alpha = {disease['alpha']:g}, k = {content['k']}",
        f"t-closeness: t = {disease['t']:g} (equal distance)",
        f"beta-likeness: beta = {disease['beta']:g}",
    ):
        assert words in ended.out


def test_forged_manifest_is_not_described(shoal: Shoal, folder: Path) -> None:
    Path("out.csv").write_text(Path("out.csv").read_text().replace("flu", "cold", 1))
    ended = shoal("describe", "out.csv")
    assert (ended.code, "do not agree" in ended.err) == (5, True)
    with pytest.raises(VerificationError, match="do not agree"):
        library.describe("out.csv")
    assert library.describe("out.csv", qi=["age"], manifest=False).rows == 80


@pytest.mark.parametrize("name", ["out.parquet", "out.xlsx", "out.csv.gz"])
@pytest.mark.parametrize("options", [(), ("--cells", "bounds", "--spreadsheet-safe")])
def test_every_format_and_layout_is_described_alike(
    shoal: Shoal, folder: Path, name: str, options: tuple[str, ...]
) -> None:
    words = ("anonymize", "data.csv", "-o", name, "-k", 4, *ROLES, "--missing", "?", "--method", "mondrian", "--l", 2)
    assert shoal(*words, *options).code == 0
    content, plain = described(shoal, name), described(shoal, "out.csv")
    assert {**content, "manifest": ""} == {**plain, "manifest": ""}


def test_python_describes_frames_and_files(folder: Path) -> None:
    frame = pl.DataFrame({"age": ["[20, 30]"] * 3 + ["40"] * 4, "disease": ["flu", "flu", "cold"] + ["a", "b"] * 2})
    found = library.describe(frame, qi=["age"], sensitive=["disease"])
    assert isinstance(found, library.Description)
    assert (found.k, found.groups, found.columns[0].l) == (3, 2, 2)
    assert library.verify(frame, qi=["age"], k=found.k, models=found.models).ok
    assert library.describe("out.csv").columns[1].column == "cost"
    with pytest.raises(UsageError, match="there is no quasi-identifier"):
        library.describe(frame)
    tree = {"flu": ["airways", "*"], "cold": ["skin", "*"], "a": ["airways", "*"], "b": ["skin", "*"]}
    near = library.describe(frame, qi=["age"], sensitive=["disease"], paths={"disease": tree}).columns[0]
    assert (near.distance, found.columns[0].distance) == ("hierarchical", "equal")
    assert near.t < found.columns[0].t


def test_hierarchy_of_a_sensitive_column_is_used(shoal: Shoal, folder: Path) -> None:
    Path("tree.csv").write_text("flu;airways;*\ncold;airways;*\n?;?;*\n")
    content = described(shoal, "out.csv", "--hierarchy", "disease=tree.csv")
    assert content["sensitive"]["disease"]["t_distance"] == "hierarchical"
