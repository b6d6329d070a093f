"""Full-domain methods from the command line: levels, objectives, strings to choose from, and goals out of reach."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command import Shoal

ROWS = [(20 + i * 7 % 40, "fm"[i % 2], f"0{2130 + i % 5}", f"d{i % 4}") for i in range(120)]
CONFIG = """
k = 4
[columns.age]
role = "qi"
intervals = { widths = [5, 10, 20] }
[columns.sex]
role = "qi"
[columns.zip]
role = "qi"
kind = "categorical"
prefixes = { lengths = [4, 3] }
[columns.ill]
role = "sensitive"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["age,sex,zip,ill", *(",".join(map(str, row)) for row in ROWS)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "shoal.toml").write_text(CONFIG)
    return tmp_path


def told(shoal: Shoal, folder: Path, *more: str) -> dict:
    arguments = ["anonymize", str(folder / "data.csv"), "--dry-run", "--config", str(folder / "shoal.toml"), "--json"]
    ended = shoal(*arguments, *more)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.parametrize("method", ["incognito", "optimal", "rv-global", "rv-hybrid", "datafly"])
def test_levels_are_told(shoal: Shoal, folder: Path, method: str) -> None:
    found = told(shoal, folder, "--method", method, "--suppression-limit", "0.5")
    assert list(found["levels"]) == ["age", "sex", "zip"]
    assert all(isinstance(level, int) for level in found["levels"].values())
    assert found["smallest_group"] >= 4


def test_levels_of_other_methods_are_null(shoal: Shoal, folder: Path) -> None:
    found = told(shoal, folder, "--method", "mondrian")
    assert found["levels"] is None
    assert "search" not in found


def test_objective_changes_what_is_best(shoal: Shoal, folder: Path) -> None:
    by_loss = told(shoal, folder, "--method", "optimal")
    for objective in ("height", "precision", "entropy", "dm", "aecs", "rv"):
        other = told(shoal, folder, "--method", "optimal", "--objective", objective)
        assert other["measures"]["ncp"] >= by_loss["measures"]["ncp"] - 1e-12
    lowest = told(shoal, folder, "--method", "optimal", "--objective", "height")
    assert sum(lowest["levels"].values()) <= sum(by_loss["levels"].values())


def test_owner_sees_the_strings_and_chooses(shoal: Shoal, folder: Path) -> None:
    first = told(shoal, folder, "--method", "rv-global")
    strings = first["search"]["successful"]
    assert first["levels"] == strings[0]["levels"]
    assert len(strings) > 1
    second = told(shoal, folder, "--method", "rv-global", "--choose", "2")
    assert second["levels"] == strings[1]["levels"]
    apart = told(shoal, folder, "--method", "rv-global", "--subsets", "--option", "budget=4")
    assert apart["levels"] == first["levels"]


HAND = "values = { age = [0.9, 0.7, 0.2, 0.1], sex = [0.6], zip = [0.8, 0.75, 0.3] }"
RULES = """
[[rules]]
column = "age"
inflection = [29, 30]
importance = 20
[[rules]]
column = "sex"
apart = ["f", "m"]
importance = 5
"""
RESEARCH = {
    "computed": ("", ()),
    "weights and rules": (RULES, ("--weights", "age=3,zip=2")),
    "balanced": (RULES + "[options]\nalpha = 0.25\n", ()),
    "by hand": (f"[options]\n{HAND}\n", ()),
    "suppression": ("suppression_limit = 0.2\n", ()),
}


@pytest.mark.parametrize("method", ["rv-global", "rv-hybrid"])
@pytest.mark.parametrize("name", RESEARCH)
def test_listed_string_is_released_with_its_research_value(shoal: Shoal, folder: Path, name: str, method: str) -> None:
    """[S1]: list the strings with their values, choose one, release exactly that one, with one value everywhere."""
    settings, words = RESEARCH[name]
    is_top = settings.startswith("suppression")
    (folder / "shoal.toml").write_text(settings + CONFIG if is_top else CONFIG + settings)
    shared = ["--config", str(folder / "shoal.toml"), *words]
    strings = told(shoal, folder, "--method", method, *words)["search"]["successful"]
    assert len(strings) > 1
    for number, string in enumerate(strings[:4], 1):
        out = folder / f"{number}.csv"
        choice = ["--method", method, "--choose", str(number), "--json"]
        made = shoal("anonymize", folder / "data.csv", "-o", out, *shared, *choice)
        assert made.code == 0, made.err
        found = json.loads(made.out)
        assert found["levels"] == string["levels"]
        assert found["measures"]["research_value_total"] == pytest.approx(string["rv"], abs=1e-12)
        measured = shoal("measure", folder / "data.csv", out, *shared, "--json")
        assert measured.code == 0, measured.err
        measures = json.loads(measured.out)["measures"]
        assert measures["research_value_total"] == pytest.approx(string["rv"], abs=1e-12)
        assert measures["research_value"] == pytest.approx(found["measures"]["research_value"], abs=1e-12)


def test_table_shows_levels_and_strings(shoal: Shoal, folder: Path) -> None:
    arguments = ["--dry-run", "--config", str(folder / "shoal.toml"), "--method", "rv-hybrid"]
    ended = shoal("anonymize", str(folder / "data.csv"), *arguments)
    assert ended.code == 0
    assert "levels" in ended.out
    assert "research value" in ended.out


def test_limits_of_levels_hold(shoal: Shoal, folder: Path) -> None:
    found = told(shoal, folder, "--method", "optimal", "--option", "minimum=age:2", "--option", "maximum=sex:0")
    assert found["levels"]["age"] >= 2
    assert found["levels"]["sex"] == 0


def test_goal_out_of_reach_ends_with_4_and_the_nearest_levels(shoal: Shoal, folder: Path) -> None:
    arguments = ["--config", str(folder / "shoal.toml"), "--method", "optimal", "--option", "maximum=age:1,sex:0,zip:0"]
    ended = shoal("anonymize", str(folder / "data.csv"), "-o", str(folder / "out.csv"), *arguments)
    assert ended.code == 4
    assert "The nearest levels that pass: age " in ended.err
    assert "loss (NCP) " in ended.err
    assert not (folder / "out.csv").exists()


def test_option_of_another_method_is_refused(shoal: Shoal, folder: Path) -> None:
    arguments = ["--config", str(folder / "shoal.toml"), "--dry-run", "--method", "mondrian", "--objective", "ncp"]
    ended = shoal("anonymize", str(folder / "data.csv"), *arguments)
    assert ended.code == 2
    assert "method 'mondrian' has no option 'objective'. Its options: variant, domains." in ended.err


def test_release_on_levels_passes_the_gate(shoal: Shoal, folder: Path) -> None:
    out = folder / "out.csv"
    arguments = [
        "--config",
        str(folder / "shoal.toml"),
        "--method",
        "optimal",
        "--suppression-limit",
        "0.1",
        "--l",
        "2",
    ]
    ended = shoal("anonymize", str(folder / "data.csv"), "-o", str(out), *arguments)
    assert ended.code == 0, ended.err
    checked = shoal("verify", str(out), "-k", "4", "--qi", "age,sex,zip", "--sensitive", "ill", "--l", "2")
    assert checked.code == 0
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["options"]["objective"] == "ncp"


def test_missing_hierarchies_are_noted_and_proposed_on_request(shoal: Shoal, folder: Path) -> None:
    """In place of a silent all or nothing."""
    data, out, counted = folder / "data.csv", folder / "out.csv", folder / "counted.csv"
    roles = ("--qi", "age,sex,zip", "--categorical", "zip", "-k", 4)
    asked = ("anonymize", data, *roles, "--sensitive", "ill", "--method", "optimal", "--hierarchy", "sex=auto")
    silent = shoal(*asked, "--dry-run", "--json")
    assert "columns 'age', 'zip': no hierarchy: optimal releases the values of such a column as they are" in silent.err
    assert "--hierarchies auto proposes hierarchies" in silent.err
    made = shoal(*asked, "--hierarchies", "auto", "-o", out, "--json")
    assert made.code == 0, made.err
    assert re.search(
        r"hierarchies were proposed for 'sex' \(1 level\), 'age' \(\d levels\), 'zip' \(5 levels\)", made.err
    )
    assert json.loads(made.out)["measures"]["ncp"] < json.loads(silent.out)["measures"]["ncp"]
    assert shoal(*asked, "--hierarchies", "auto", "-o", counted, "--engine", "duckdb").code == 0
    assert counted.read_bytes() == out.read_bytes(), "the same proposals from counts"
    against = ("--original", data, "--hierarchies", "auto")
    assert shoal("verify", out, *against).code == 0
    wrong = re.sub(r"\[(\d+), ", lambda match: f"[{int(match[1]) + 1}, ", out.read_text())
    assert wrong != out.read_text()
    out.write_text(wrong)
    assert shoal("verify", out, "--no-manifest", *roles, *against).code == 5


def test_hierarchies_of_python_may_be_named(folder: Path) -> None:
    import shoal as library

    frame = library.datasets.patients().head(400)
    options = {"qi": ["nationality", "zip"], "others": "drop", "k": 3, "method": "optimal", "suppression_limit": 0.3}
    made = library.anonymize(frame, **options, hierarchies={"nationality": "builtin:countries", "zip": "auto"})
    assert made.settings.labelled == ("nationality", "zip")
    auto = library.anonymize(frame, **options, hierarchies="auto")
    assert auto.text.equals(made.text)
    plain = library.anonymize(frame, **options)
    assert any("hierarchies='auto' proposes hierarchies" in note for note in plain.notes)
