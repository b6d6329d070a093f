"""`shoal init`, from the file to a release, as a user types it."""

from __future__ import annotations

import csv
import doctest
import json
import os
import re
import shlex
import stat
import tomllib
from pathlib import Path

import openpyxl
import pytest

from shoal.datasets import adult, patients_path
from shoal.profile import survey
from shoal.settings.read import read_config
from tests.command import Shoal, folder_of

ROOT = Path(__file__).parents[2]
HIPAA = sorted((ROOT / "tests" / "golden" / "hipaa").glob("*.csv"))
GUIDE = ROOT / "docs" / "guides" / "first-release-from-your-file.md"
PATIENTS_ROLES = {
    "name": "identifier",
    "patient_id": "identifier",
    "birth_date": "qi",
    "sex": "qi",
    "zip": "qi",
    "nationality": "qi",
    "education": "qi",
    "disease": "sensitive",
    "cost": "sensitive",
    "visit_date": "qi",
}
ADULT_ROLES = {
    "age": "qi",
    "workclass": "qi",
    "fnlwgt": "identifier",
    "education": "qi",
    "education-num": "qi",
    "marital-status": "qi",
    "occupation": "qi",
    "relationship": "qi",
    "race": "qi",
    "sex": "qi",
    "capital-gain": "sensitive",
    "capital-loss": "sensitive",
    "hours-per-week": "qi",
    "native-country": "qi",
    "salary": "sensitive",
}


def roles_and_kinds(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    columns = tomllib.loads(path.read_text())["columns"]
    return {n: c["role"] for n, c in columns.items()}, {n: c["kind"] for n, c in columns.items()}


def write(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def run_both(shoal: Shoal, data: Path, folder: Path) -> Path:
    """Run init, then anonymize with what it wrote; return the proposal."""
    proposal, out = folder / "shoal.toml", folder / "out.csv"
    ended = shoal("init", data, "-o", proposal)
    assert ended.code == 0, ended.err
    ended = shoal("anonymize", data, "-o", out, "--config", proposal, "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["smallest_group"] >= 5
    return proposal


def test_patients_get_the_roles_of_a_steward_and_run_as_proposed(shoal: Shoal, tmp_path: Path) -> None:
    roles, kinds = roles_and_kinds(run_both(shoal, patients_path(), tmp_path))
    assert roles == PATIENTS_ROLES
    assert kinds == dict.fromkeys(PATIENTS_ROLES, "categorical") | {
        "birth_date": "date",
        "visit_date": "date",
        "cost": "numeric",
    }


def test_adult_gets_the_roles_of_a_steward_and_runs_as_proposed(shoal: Shoal, tmp_path: Path) -> None:
    folder = Path(os.environ.get("SHOAL_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not any((place / "adult.data").is_file() for place in (folder, folder / "adult")):
        pytest.skip("the adult table is not here (SHOAL_DATA)")
    data = tmp_path / "adult.csv"
    adult(folder).write_csv(data)
    proposal = run_both(shoal, data, tmp_path)
    roles, kinds = roles_and_kinds(proposal)
    assert roles == ADULT_ROLES
    assert {name for name, kind in kinds.items() if kind == "numeric" and roles[name] == "qi"} == {
        "age",
        "education-num",
        "hours-per-week",
    }
    assert read_config(proposal).missing == ("?",)
    warnings = json.loads(shoal("init", data, "-o", tmp_path / "again.toml", "--json").out)["warnings"]
    assert {w["about"]: w["columns"] for w in warnings if w["about"] == "dependency"} == {
        "dependency": ["education", "education-num"]
    }
    assert sum(w["about"] == "missing" for w in warnings) == 3


@pytest.mark.parametrize("data", HIPAA, ids=lambda path: path.stem)
def test_each_safe_harbor_fixture_runs_as_proposed(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    run_both(shoal, data, tmp_path)


def canary_rows() -> tuple[list[list[str]], set[str]]:
    """A table in which every cell but the markers is a text that occurs nowhere else."""
    sexes = ("Qfemme", "Qhomme", "QHOMME")
    rows = [["name", "mail", "city", "score", "when", "sex", "disease", "odd", "fixed"]]
    for i in range(120):
        name, when = f"Canary{i % 90:03d}Q", f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.19{i % 60 + 30}"
        score = "999" if i % 9 == 0 else f"{31.0417 + i % 50:.4f}"
        city = "?" if i % 10 == 0 else f"Qtown{i % 7}"
        odd = f"{70_0001 + i % 30}" if i % 50 else "Qslip"
        rows.append([name, f"q{i % 90}@canary.example", city, score, when, sexes[i % 3], f"Qill{i % 5}", odd, "Qsame"])
    cells = {cell for row in rows[1:] for cell in row}
    return rows, cells - {"?", "999"}


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_no_cell_is_shown_or_written(shoal: Shoal, tmp_path: Path, form: tuple[str, ...]) -> None:
    rows, cells = canary_rows()
    data = write(tmp_path / "data.csv", rows)
    ended = shoal("init", data, "-o", tmp_path / "shoal.toml", *form)
    assert ended.code == 0, ended.err
    text = (tmp_path / "shoal.toml").read_text()
    assert tomllib.loads(text)["missing"] == ["999", "?"], "there is something to warn of"
    abouts = {w["about"] for w in json.loads(ended.out)["warnings"]} if form else set()
    assert not form or abouts >= {"missing", "look-alikes", "person", "decide"}
    for place in (ended.out, ended.err, text):
        assert [cell for cell in cells if cell in place] == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "shoal.toml"]


def test_bytes_depend_on_the_table_alone(shoal: Shoal, tmp_path: Path) -> None:
    rows, _ = canary_rows()
    texts = set()
    for number, order in enumerate((rows[1:], rows[:0:-1], rows[60:] + rows[1:60])):
        (tmp_path / str(number)).mkdir()
        data = write(tmp_path / str(number) / f"data{number}.csv", [rows[0], *order])
        assert shoal("init", data, "-o", tmp_path / f"{number}.toml", "--threads", number + 1).code == 0
        texts.add((tmp_path / f"{number}.toml").read_bytes())
    assert len(texts) == 1
    assert str(tmp_path).encode() not in texts.pop()


def test_strange_column_names_are_quoted(shoal: Shoal, tmp_path: Path) -> None:
    names = [
        "native-country",
        "a.b",
        'say "x"',
        "two\nlines",
        "🐟",
        "back\\slash",
        "# no comment",
        " led",
        "\x7fdel",
        "]",
    ]
    rows = [names, *([f"v{(i + j) % 3}" for j in range(len(names))] for i in range(60))]
    data = write(tmp_path / "data.csv", rows)
    roles, _ = roles_and_kinds(run_both(shoal, data, tmp_path))
    assert list(roles) == names
    shown = shoal("init", data, "-o", tmp_path / "again.toml").out
    assert "\x7f" not in shown


def test_existing_proposal_is_kept_unless_forced(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    proposal = tmp_path / "shoal.toml"
    proposal.write_text("k = 7\n")
    before = folder_of(tmp_path)
    ended = shoal("init", data, "-o", proposal)
    assert ended.code == 6
    assert "exists already" in ended.err
    assert "--force" in ended.err
    assert folder_of(tmp_path) == before
    assert shoal("init", data, "-o", proposal, "--force").code == 0
    assert read_config(proposal).k == 5


def test_refused_places_leave_everything_as_it_was(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(data)
    before = folder_of(tmp_path)
    assert shoal("init", data, "-o", data, "--force").code == 2, "not a .toml"
    assert shoal("init", data, "-o", link, "--force").code == 3, "the table itself"
    assert shoal("init", data, "-o", tmp_path / "no" / "shoal.toml").code == 6
    assert shoal("init", tmp_path / "absent.csv", "-o", tmp_path / "x.toml").code == 6
    (tmp_path / "folder.toml").mkdir()
    assert shoal("init", data, "-o", tmp_path / "folder.toml", "--force").code == 6
    assert folder_of(tmp_path) == before


def test_failed_write_leaves_the_old_proposal(
    shoal: Shoal, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = tmp_path / "shoal.toml"
    proposal.write_text("k = 7\n")
    before = folder_of(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ended = shoal("init", data, "-o", proposal, "--force")
    assert ended.code == 6
    assert "No space left" in ended.err
    assert folder_of(tmp_path) == before


def test_proposal_is_private_whatever_the_umask(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        assert shoal("init", data, "-o", tmp_path / "shoal.toml").code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "shoal.toml").stat().st_mode) == 0o600


def test_json_has_columns_combinations_warnings_output(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    content = json.loads(shoal("init", data, "-o", tmp_path / "shoal.toml", "--json").out)
    assert set(content) == {"columns", "combinations", "warnings", "output"}
    assert content["output"] == str(tmp_path / "shoal.toml")
    by_name = {column["name"]: column for column in content["columns"]}
    assert {name: column["role"] for name, column in by_name.items()} == {
        "name": "identifier",
        "age": "qi",
        "sex": "qi",
        "zip": "qi",
        "disease": "sensitive",
    }
    assert (by_name["age"]["distinct"], by_name["age"]["unique_share"]) == (4, pytest.approx(2 / 6, abs=1e-6))
    assert content["combinations"][0]["unique_share"] == pytest.approx(1.0), "age, sex and zip tell all six apart"


def test_screen_shows_columns_combinations_and_the_next_command(shoal: Shoal, tmp_path: Path) -> None:
    ended = shoal("init", patients_path(), "-o", tmp_path / "shoal.toml")
    for word in ("birth_date", "identifier", "sensitive", "5,000", "█", "birth_date + zip", "shoal anonymize"):
        assert word in ended.out
    assert "delimiter ','" in ended.err


def test_dialect_is_kept_for_the_run(shoal: Shoal, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    lines = ["größe;ort;alter", *(f"{150 + i % 40};Köln{i % 3};{20 + i % 50}" for i in range(80))]
    data.write_bytes("\n".join(lines).encode("cp1252"))
    ended = shoal("init", data, "-o", tmp_path / "shoal.toml", "--encoding", "cp1252")
    assert ended.code == 0, ended.err
    settings = read_config(tmp_path / "shoal.toml")
    assert (settings.delimiter, settings.encoding, settings.header) == (";", "cp1252", True)
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "--config", tmp_path / "shoal.toml")
    assert ended.code == 0, ended.err


def warnings_of(shoal: Shoal, tmp_path: Path, rows: list[list[str]]) -> dict[str, list[str]]:
    ended = shoal("init", write(tmp_path / "data.csv", rows), "-o", tmp_path / "shoal.toml", "--force", "--json")
    assert ended.code == 0, ended.err
    found: dict[str, list[str]] = {}
    for warning in json.loads(ended.out)["warnings"]:
        found.setdefault(warning["about"], []).append(warning["text"])
    return found


def test_repeated_identifier_is_told(shoal: Shoal, tmp_path: Path) -> None:
    rows = [["email", "age"], *([f"p{i // 2}@example.org", str(20 + i)] for i in range(40))]
    (text,) = warnings_of(shoal, tmp_path, rows)["person"]
    assert "20 values in 40 rows" in text
    assert "k counts people" in text
    assert tomllib.loads((tmp_path / "shoal.toml").read_text())["columns"]["email"]["role"] == "person"
    rows = [["email", "age"], *([f"p{i}@example.org", str(20 + i)] for i in range(40))]
    assert "person" not in warnings_of(shoal, tmp_path, rows)


def test_look_alike_texts_are_told_by_column_and_count(shoal: Shoal, tmp_path: Path) -> None:
    forms = ["José", "Jose\u0301", "a b", "a\u00a0b", "Ulm", "Ulm ", "Bonn", "B\u043enn"]
    rows = [["city", "age"], *([forms[i % 8], str(20 + i % 4)] for i in range(80))]
    alike, merged = warnings_of(shoal, tmp_path, rows)["look-alikes"]
    assert alike.startswith("column 'city': 4 distinct values")
    assert merged.startswith("column 'city': 2 spellings")


def test_what_cannot_run_is_told(shoal: Shoal, tmp_path: Path) -> None:
    rows = [["email"], *([f"p{i}@example.org"] for i in range(3))]
    found = warnings_of(shoal, tmp_path, rows)
    assert "no column is proposed as a quasi-identifier" in found["roles"][0]
    assert "k = 5 needs at least 5 rows" in found["rows"][0]
    proposal = tmp_path / "shoal.toml"
    assert shoal("anonymize", tmp_path / "data.csv", "-o", tmp_path / "out.csv", "--config", proposal).code == 2
    rows = [["x@example.org", "age"], *([f"p{i}@example.org", str(i)] for i in range(30))]
    assert "--no-header" in warnings_of(shoal, tmp_path, rows)["header"][0]


def test_undecided_columns_are_counted_once(shoal: Shoal, tmp_path: Path) -> None:
    rows = [["age", "q1", "q2"], *([str(20 + i % 9), "ab"[i % 2], "xyz"[i % 3]] for i in range(60))]
    (text,) = warnings_of(shoal, tmp_path, rows)["decide"]
    assert text.startswith("2 columns are left to you")
    assert text.endswith("give each a role")
    assert (tmp_path / "shoal.toml").read_text().count("left to you") == 1
    (text,) = warnings_of(shoal, tmp_path, [row[:2] for row in rows])["decide"]
    assert text.startswith("1 column is left to you")
    assert text.endswith("give it a role")
    decided, proposal = tmp_path / "decided.toml", tmp_path / "shoal.toml"
    decided.write_text('[columns.q1]\nrole = "insensitive"\n')
    assert shoal("init", tmp_path / "data.csv", "-o", proposal, "--force", "--config", decided).code == 0
    assert "left to you" not in proposal.read_text()


def test_columns_that_reveal_each_other_keep_their_role(shoal: Shoal, tmp_path: Path) -> None:
    rows = [["education", "education_num", "age"], *(["abcd"[i % 4], str(i % 4), str(20 + i % 9)] for i in range(90))]
    (text,) = warnings_of(shoal, tmp_path, rows)["dependency"]
    assert text.endswith("reveal each other (100% of their information); drop one of them, unless readers need both")


def test_decimal_comma_is_asked_for_and_obeyed(shoal: Shoal, tmp_path: Path) -> None:
    lines = ["Gewicht|Alter", *(f"{60 + i % 30},{i % 10}|{20 + i % 9}" for i in range(90))]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(lines))
    words = ("init", data, "-o", tmp_path / "shoal.toml", "--force")
    ended = shoal(*words)
    assert "distinct values are numbers with a comma; proposed as categorical; if the comma" in ended.out
    ended = shoal(*words, "--decimal", ",")
    assert (ended.code, "CHECK: column 'Gewicht'" in ended.out) == (0, False)
    config = tomllib.loads((tmp_path / "shoal.toml").read_text())
    assert (config["columns"]["Gewicht"]["kind"], config["file"]["decimal"]) == ("numeric", ",")
    data.write_text("\n".join(lines).replace("|", ";"))
    ended = shoal(*words)
    assert (ended.code, "CHECK: column 'Gewicht'" in ended.out) == (0, False)
    config = tomllib.loads((tmp_path / "shoal.toml").read_text())
    assert config["columns"]["Gewicht"]["kind"] == "numeric"
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "--config", tmp_path / "shoal.toml")
    assert (ended.code, "(verified)" in ended.out) == (0, True)


def test_ambiguous_dates_are_named(shoal: Shoal, tmp_path: Path) -> None:
    rows = [["seen", "age"], *([f"0{i % 9 + 1}/0{i % 7 + 1}/2024", str(i % 9)] for i in range(60))]
    (text,) = warnings_of(shoal, tmp_path, rows)["kind"]
    assert "%d/%m/%Y and %m/%d/%Y" in text
    assert tomllib.loads((tmp_path / "shoal.toml").read_text())["columns"]["seen"]["format"] == "%d/%m/%Y"


def test_docstring_examples_run() -> None:
    result = doctest.testmod(survey)
    assert (result.attempted > 0, result.failed) == (True, 0)


def test_commands_of_the_guide_run_in_order(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text()
    (maker,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    exec(compile(maker, str(GUIDE), "exec"), {})
    commands = re.findall(r"^\$ (shoal .*)$", text, flags=re.MULTILINE)
    assert [shlex.split(command)[1] for command in commands] == ["init", "anonymize", "verify", "verify"]
    for command in commands:
        ended = shoal(*shlex.split(command)[1:])
        assert ended.code == 0, ended.err
    shown = re.findall(r"^```toml\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[0]
    assert shown in (tmp_path / "shoal.toml").read_text(), "the guide shows what init writes"


def test_proposal_for_a_workbook_can_be_run(shoal: Shoal, tmp_path: Path) -> None:
    """A sheet has no delimiter and no encoding."""
    book = openpyxl.Workbook()
    rows = [["age", "sex", "disease"], *([30 + i % 9, "fm"[i % 2], ("flu", "gout")[i % 3 % 2]] for i in range(30))]
    for row in rows:
        book.worksheets[0].append(row)
    book.save(tmp_path / "data.xlsx")
    config = tmp_path / "shoal.toml"
    assert shoal("init", tmp_path / "data.xlsx", "-o", config).code == 0
    ended = shoal("anonymize", tmp_path / "data.xlsx", "-o", tmp_path / "out.xlsx", "--config", config)
    assert ended.code == 0, ended.err
