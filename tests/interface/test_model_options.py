"""Privacy models on the command line, in shoal.toml and through the gate."""

from __future__ import annotations

import csv
import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest

from shoal.methods import mondrian
from tests.command import Shoal, folder_of

WORDS = ("-k", 3, "--qi", "age,sex,zip", "--sensitive", "disease,cost")
PEOPLE = ("--population", "people.csv")
# A model, and what else has to be said; each holds for the table as one group, and not for the groups of k alone.
MODELS = {
    "distinct-l": ("--model", "distinct-l disease l=3"),
    "l": ("--l", 3),
    "entropy-l": ("--model", "entropy-l disease l=2.2"),
    "recursive-l": ("--model", "recursive-l disease c=1.5 l=2"),
    "alpha-k": ("--model", "alpha-k disease alpha=0.5 k=4"),
    "p-sensitive": ("--model", "p-sensitive disease p=3 k=4"),
    "t": ("--t", "0.3"),
    "t-closeness ordered": ("--model", "t-closeness cost t=0.15 distance=ordered"),
    "t-closeness by order": ("--model", "t-closeness disease t=0.2 distance=ordered order=cold|flu|gout|ulcer"),
    "t-closeness by hierarchy": ("--model", "t-closeness disease t=0.2", "--hierarchy", "disease=disease.csv"),
    "delta-disclosure": ("--model", "delta-disclosure disease delta=1.5"),
    "beta-likeness": ("--model", "beta-likeness disease beta=1"),
    "enhanced": ("--model", "beta-likeness disease beta=1 enhanced=true"),
    "k-map": ("--model", "k-map k=40", *PEOPLE),
    "delta-presence": ("--model", "delta-presence low=0 high=0.22", *PEOPLE),
    "maximal-risk": ("--model", "maximal-risk limit=0.1"),
    "average-risk": ("--model", "average-risk limit=0.1"),
    "grassberger-l": ("--model", "grassberger-l disease l=3.5"),
    "prosecutor-profit": ("--model", "prosecutor-profit cost=3 gain=30"),
    "journalist-profit": ("--model", "journalist-profit cost=2 gain=90 payout=0.25", *PEOPLE),
    "personal k": ("--k-column", "own"),
}
# The same with k = 1: no row of a group of k is alone.
LONE = {
    "sample-uniqueness": ("-k", 1, "--model", "sample-uniqueness limit=0.1"),
    "population-uniqueness": ("-k", 1, "--model", "population-uniqueness limit=0.01 population=1200"),
    "pitman": ("-k", 1, "--model", "population-uniqueness limit=0.01 population=5000 estimator=pitman"),
    "snb": ("-k", 1, "--model", "population-uniqueness limit=0.03 population=900 estimator=snb"),
    "zayatz": ("-k", 1, "--model", "population-uniqueness limit=0.01 population=1200 estimator=zayatz"),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of 200 rows, the population of 1,200 that it was drawn from, and a hierarchy of its diseases."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(4)
    people = [(draw.randint(20, 79), draw.choice("FM"), draw.randint(2130, 2139)) for _ in range(1200)]
    with open("people.csv", "w", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "zip"), *people])
    rows = [
        (*person, draw.choice(("flu", "cold", "gout", "ulcer")), draw.randint(1, 30) * 100, draw.choice(("3", "6", "")))
        for person in people[:200]
    ]
    with open("in.csv", "w", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "zip", "disease", "cost", "own"), *rows])
    Path("disease.csv").write_text("flu;nose;*\ncold;nose;*\ngout;other;*\nulcer;other;*\n")
    return tmp_path


def words_for(name: str) -> tuple[Any, ...]:
    more = (MODELS | LONE)[name]
    return more if "--k-column" in more else (*more, "--drop", "own")


@every_model
def test_model_is_kept_and_verified(shoal: Shoal, folder: Path, name: str) -> None:
    """C24: the release passes, and the file of k alone does not."""
    made = shoal("anonymize", "in.csv", "-o", "out.csv", *WORDS, *words_for(name), "--method", "mondrian", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["groups"] > 1
    check = (*WORDS, "--original", "in.csv", *MODELS[name])
    said = shoal("verify", "out.csv", *check)
    assert said.code == 0, said.err
    assert "every group passes" in said.out
    plain = shoal("anonymize", "in.csv", "-o", "plain.csv", *WORDS, "--drop", "own", "--method", "mondrian")
    assert plain.code == 0
    said = shoal("verify", "plain.csv", *check)
    assert said.code == 5, said.out
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert len(manifest["models"]) > 1
    assert "own" not in {column["name"] for column in manifest["columns"]}


@pytest.mark.parametrize("method", ["shoaling", "mondrian", "optimal"])
@pytest.mark.parametrize("name", LONE)
def test_limit_on_lone_rows_is_kept_and_verified(shoal: Shoal, folder: Path, name: str, method: str) -> None:
    """C24: the release passes, and the table itself does not."""
    made = shoal("anonymize", "in.csv", "-o", "out.csv", *WORDS, *words_for(name), "--method", method, "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["groups"] > 1
    check = (*WORDS, *LONE[name])
    said = shoal("verify", "out.csv", *check, "--original", "in.csv")
    assert said.code == 0, said.err
    said = shoal("verify", "in.csv", *check)
    assert said.code == 5, said.out
    assert "uniqueness" in said.err


@pytest.mark.parametrize("name", [*MODELS, *LONE])
def test_method_that_forgets_a_model_is_stopped(
    shoal: Shoal, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C02: the gate counts every model on its own."""
    whole = mondrian.Mondrian.partition
    monkeypatch.setattr(mondrian.Mondrian, "partition", lambda self, e, models, run: whole(self, e, models[:1], run))
    before = folder_of(folder)
    ended = shoal("anonymize", "in.csv", "-o", "out.csv", *WORDS, *words_for(name), "--method", "mondrian")
    assert ended.code == 5, ended.err
    assert "failed its own check" in ended.err
    assert folder_of(folder) == before
    assert "ulcer" not in ended.err


def test_method_that_leaves_out_too_many_rows_is_stopped(
    shoal: Shoal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C02, C30."""
    from shoal.encoding.partition import tight_partition

    whole = mondrian.Mondrian.partition

    def partition(self: Any, encoded: Any, models: Any, run: Any) -> Any:
        labels = whole(self, encoded, models, run).labels.copy()
        labels[labels == labels.max()] = -1
        return tight_partition(encoded, labels)

    monkeypatch.setattr(mondrian.Mondrian, "partition", partition)
    words = ("anonymize", "in.csv", "-o", "out.csv", *WORDS, "--drop", "own", "--method", "mondrian")
    ended = shoal(*words, "--suppression-limit", "0.005")
    assert ended.code == 5
    assert "at most 1 may be" in ended.err
    assert shoal(*words, "--suppression-limit", "0.1").code == 0


def test_models_stand_in_the_configuration(shoal: Shoal, folder: Path) -> None:
    Path("shoal.toml").write_text(
        "\n".join(
            [
                'k = 3\nl = 2\nt = 0.5\nsuppression_limit = 0.05\npopulation = "people.csv"\nmethod = "mondrian"',
                '[[models]]\nname = "entropy-l"\ncolumn = "disease"\nl = 1.5',
                '[[models]]\nname = "k-map"\nk = 10',
                '[columns.own]\nrole = "k"',
                *(f'[columns.{name}]\nrole = "qi"' for name in ("age", "sex", "zip")),
                '[columns.disease]\nrole = "sensitive"',
                '[columns.cost]\nrole = "sensitive"',
            ]
        )
    )
    made = shoal("anonymize", "in.csv", "-o", "out.csv", "--config", "shoal.toml")
    assert made.code == 0, made.err
    assert json.loads(Path("out.csv.manifest.json").read_text())["models"] == [
        "k-anonymity with k = 3",
        "each row's own k",
        "distinct l-diversity of disease with l = 2",
        "distinct l-diversity of cost with l = 2",
        "t-closeness of disease with t = 0.5",
        "t-closeness of cost with t = 0.5",
        "entropy l-diversity of disease with l = 1.5",
        "k-map with k = 10",
    ]
    said = shoal("verify", "out.csv", "--config", "shoal.toml", "--original", "in.csv")
    assert said.code == 0, said.err


def test_goal_out_of_reach_ends_with_4(shoal: Shoal, folder: Path) -> None:
    """B06, B28."""
    before = folder_of(folder)
    ended = shoal("anonymize", "in.csv", "-o", "out.csv", *WORDS, "--drop", "own", "--l", 5)
    assert ended.code == 4
    assert "disease has 4 values, l = 5 cannot be met. Use l <= 4." in ended.err
    assert folder_of(folder) == before


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--model", "entropy-l age l=2"), "'age' is not among the sensitive columns (disease, cost)"),
        (("--model", "entropy disease l=2"), "model 'entropy' is not known. Did you mean 'entropy-l'?"),
        (("--t", "20"), "t='20' is not a number from 0 to 1"),
        (("--suppression-limit", "5"), "suppression_limit=5 is not a share. Use a number from 0 to 1."),
        (("--model", "k-map k=3"), "needs the table of the population"),
        (("--k-column", "disease"), "column 'disease' is named as sensitive and as k. Give it one role."),
    ],
)
def test_wrong_model_ends_with_2(shoal: Shoal, folder: Path, words: tuple[str, ...], reason: str) -> None:
    """B05, B17."""
    ended = shoal("anonymize", "in.csv", "-o", "out.csv", *WORDS, *words, "--others", "drop")
    assert ended.code == 2, ended.err
    assert reason in ended.err


def test_own_k_cannot_be_verified_without_the_original(shoal: Shoal, folder: Path) -> None:
    assert shoal("anonymize", "in.csv", "-o", "out.csv", *WORDS, "--k-column", "own").code == 0
    ended = shoal("verify", "out.csv", *WORDS, "--k-column", "own")
    assert ended.code == 2
    assert "is in the original" in ended.err


def test_differential_privacy_as_its_page_shows_it(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default method refuses it; the command of the page passes the gate and the verifier."""
    page = (Path(__file__).parents[2] / "docs/concepts/differential-privacy.md").read_text()
    command = page.partition("```sh\n")[2].partition("```")[0].replace("\\\n", " ")
    words = shlex.split(command)[1:]
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    cells = [(draw.randint(20, 59), draw.choice("FM"), draw.choice(("low", "high"))) for _ in range(3000)]
    with open("census.csv", "w", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "salary"), *cells])
    tens = {age: age // 10 * 10 for age in range(20, 60)}
    Path("age.csv").write_text("".join(f"{a};{a // 5 * 5}-{a // 5 * 5 + 4};{t}-{t + 9};*\n" for a, t in tens.items()))
    ended = shoal(*words)
    assert ended.code == 0, ended.err
    assert "drawn with probability 0.6321" in ended.err
    for original in ((), ("--original", "census.csv", "--qi", "age,sex,salary", "--hierarchy", "age=age.csv")):
        said = shoal("verify", "out.csv", *original)
        assert said.code == 0, said.err
        assert "whether the rows were drawn at random" in said.err
    at = words.index("--method")
    ended = shoal(*words[:at], *words[at + 4 :], "--force")
    assert ended.code == 2
    assert "Methods that can: incognito, optimal" in ended.err
