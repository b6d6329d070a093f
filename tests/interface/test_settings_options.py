"""The same setting has the same option in every command, and merges with shoal.toml key by key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer.main

import shoal as library
from shoal.cli.main import make_app
from shoal.schema import Role
from shoal.settings.settings import FIELDS
from tests.command import ROLES, Shoal

READERS = ("anonymize", "verify", "measure", "risk", "evaluate", "compare", "advise", "init")
READING = ("encoding", "sheet", "delimiter", "header", "decimal", "thousands", "missing", "numeric", "categorical")


def commands() -> dict[str, Any]:
    found: dict[str, Any] = dict(typer.main.get_command(make_app()).commands)  # type: ignore[attr-defined]
    return found | dict(found["hierarchy"].commands)


def test_every_setting_is_an_option_of_its_commands() -> None:
    found = commands()
    for each in FIELDS:
        for name in each.commands:
            (option,) = [p for p in found[name].params if each.option in p.opts]
            assert option.help == each.help, (name, each.name)


@pytest.mark.parametrize("name", READERS)
def test_commands_that_read_tables_share_the_options(name: str) -> None:
    options = {word for p in commands()[name].params for word in (*p.opts, *p.secondary_opts)}
    assert {f"--{each}" for each in READING} | {"--date", "--no-header", "--config"} <= options


GERMAN = "alter;ort;gehalt\n" + "".join(
    f"{30 + i % 3};{'Köln' if i % 2 else 'Bonn'};1.{i % 4}00,5\n" for i in range(24)
)
GERMAN_TOML = """\
k = 4
others = "drop"
[file]
delimiter = ";"
encoding = "cp1252"
header = true
decimal = ","
thousands = "."
[columns.alter]
role = "qi"
[columns.ort]
role = "qi"
[columns.gehalt]
role = "qi"
kind = "numeric"
"""


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A German table with its shoal.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_bytes(GERMAN.encode("cp1252"))
    (tmp_path / "shoal.toml").write_text(GERMAN_TOML)
    return tmp_path


def test_one_file_describes_the_table_for_every_command(shoal: Shoal, german: Path) -> None:
    """The release is UTF-8 with commas; the original is not."""
    config = ("--config", "shoal.toml")
    for words in (
        ("anonymize", "data.csv", "-o", "out.csv"),
        ("verify", "out.csv", "--original", "data.csv"),
        ("measure", "data.csv", "out.csv"),
        ("risk", "out.csv", "--original", "data.csv", "--population", "data.csv"),
        ("evaluate", "data.csv", "out.csv", "--queries", 20),
        ("compare", "data.csv", "--methods", "mondrian", "-k", 2, "--no-cache", "--jobs", 1, "--add", "own=out.csv"),
        ("advise", "data.csv", "--methods", "mondrian", "-k", "2,4", "--no-cache", "--jobs", 1),
        ("simulate", "data.csv", "--repetitions", 5, "--threads", 1),
        ("hierarchy", "propose", "data.csv", "--column", "ort"),
        ("init", "data.csv", "-o", "new.toml"),
    ):
        ended = shoal(*words, *config)
        assert ended.code == 0, (words, ended.err)


def test_options_describe_the_table_as_the_file_does(shoal: Shoal, german: Path) -> None:
    assert shoal("anonymize", "data.csv", "-o", "out.csv", "--config", "shoal.toml").code == 0
    words = ("--qi", "alter,ort,gehalt", "--numeric", "gehalt", "--decimal", ",", "--thousands", ".")
    words += ("--delimiter", ";", "--encoding", "cp1252")
    by_options = shoal("measure", "data.csv", "out.csv", *words, "-k", 4, "--json")
    by_file = shoal("measure", "data.csv", "out.csv", "--config", "shoal.toml", "--json")
    assert by_options.code == by_file.code == 0, by_options.err
    assert json.loads(by_options.out)["measures"] == json.loads(by_file.out)["measures"]
    assert shoal("verify", "out.csv", "-k", 4, *words, "--original", "data.csv").code == 0
    assert shoal("risk", "data.csv", *words).code == 0


def test_files_without_header_are_told_apart(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original has no header; the release that shoal writes has one."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("".join(f"a{i % 3},b{i % 2}\n" for i in range(24)))
    words = ("--qi", "column1,column2", "--no-header")
    assert shoal("anonymize", "data.csv", "-o", "out.csv", "-k", 8, *words).code == 0
    scored = shoal("measure", "data.csv", "out.csv", *words, "--json")
    assert json.loads(scored.out)["rows"] == 24
    assert shoal("verify", "out.csv", "-k", 8, *words, "--original", "data.csv").code == 0


RV_TOML = """\
k = 4
method = "rv-global"
others = "drop"
[options]
values = { alter = [0.0, 1.0], ort = [0.0, 0.5] }
[columns.alter]
role = "qi"
prefixes = { lengths = [1] }
kind = "categorical"
[columns.ort]
role = "qi"
prefixes = { lengths = [2] }
"""


def test_an_option_of_the_method_leaves_the_others_as_they_are(shoal: Shoal, german: Path) -> None:
    """`--choose 2` once dropped `values` of the file, and so released another transformation."""
    (german / "rv.toml").write_text(RV_TOML + '[file]\nencoding = "cp1252"\n')
    manifests = []
    for number, words in enumerate([(), ("--choose", 2), ("--option", "choose=2")]):
        ended = shoal("anonymize", "data.csv", "-o", f"{number}.csv", "--config", "rv.toml", *words)
        assert ended.code == 0, ended.err
        manifests.append(json.loads(Path(f"{number}.csv.manifest.json").read_text())["options"])
    assert manifests[0]["values"] == manifests[1]["values"] == manifests[2]["values"]
    assert [str(each["choose"]) for each in manifests] == ["1", "2", "2"]


def test_flags_can_be_turned_off(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "shoal.toml"
    config.write_text('k = 2\ncells = "bounds"\nspreadsheet_safe = true\nall_qi = true\n')
    out = tmp_path / "out.csv"
    words = ("anonymize", data, "-o", out, *ROLES, "--config", config, "--no-all-qi", "--cells", "text")
    assert shoal(*words, "--no-spreadsheet-safe").code == 0
    assert out.read_text().startswith("age,sex,zip,disease\n")


def test_a_model_does_not_remove_those_of_the_file(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "shoal.toml"
    config.write_text('k = 2\n[[models]]\nname = "distinct-l"\ncolumn = "disease"\nl = 3\n')
    words = ("anonymize", data, "-o", tmp_path / "out.csv", *ROLES, "--config", config)
    ended = shoal(*words, "--model", "entropy-l disease l=2")
    assert ended.code == 0, ended.err
    models = json.dumps(json.loads((tmp_path / "out.csv.manifest.json").read_text()))
    assert "entropy l-diversity" in models
    assert "l = 3" in models


def test_init_keeps_what_a_file_says(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    from shoal.settings.read import read_config

    old, new = tmp_path / "old" / "shoal.toml", tmp_path / "new.toml"
    old.parent.mkdir()
    old.write_text('k = 3\nl = 2\n[columns.zip]\nrole = "sensitive"\nkind = "numeric"\nhierarchy = "zip.csv"\n')
    ended = shoal("init", data, "-o", new, "--config", old, "--categorical", "age", "--missing", "?")
    assert ended.code == 0, ended.err
    settings = read_config(new)
    assert (settings.k, settings.l, settings.missing) == (3, 2, ("?",))
    assert "zip" in settings.sensitive
    assert "age" in settings.categorical
    assert settings.hierarchies["zip"].resolve() == (old.parent / "zip.csv").resolve()
    assert "name" in settings.drop


def test_init_leaves_out_columns_that_are_gone(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    from shoal.settings.read import read_config

    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text('[weights]\nheight = 2\n[columns.height]\nrole = "qi"\nkind = "numeric"\ngrid = 5\n')
    ended = shoal("init", data, "-o", new, "--config", old)
    assert ended.code == 0, ended.err
    assert "column 'height': is not in the table; the proposal leaves it out" in ended.err
    settings = read_config(new)
    assert "height" not in (*settings.qi, *settings.numeric, *settings.grids, *settings.weights)
    ended = shoal("init", data, "-o", new, "--force", "--numeric", "agee")
    assert ended.code == 2
    assert "column 'agee' is not in the table. Did you mean 'age'?" in ended.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--encoding", "nonsense"), "--encoding nonsense is not known"),
        (("--delimiter", "ab"), "--delimiter ab is not one ASCII character"),
        (("--decimal", ",", "--thousands", ","), "are not marks of numbers"),
        (("--others", "keep"), "--others keep is not known. Use drop or insensitive."),
        (("--cells", "both"), "--cells both is not known. Use text, bounds or center."),
        (("--unknown", "bottom"), "--unknown bottom is not known. Use error or top."),
        (("--effort", "much"), "--effort much is not known. Use fast, normal or high."),
        (("--hierarchy", "zip"), "--hierarchy 'zip' has no value"),
        (("--grid", "age=1", "--grid", "age=2"), "--grid names 'age' twice"),
        (("--drop", "a\nb"), "is not a list of names"),
        (("--seed", "x"), "Invalid value for '--seed'"),
        (("--signoff", "whom=me"), "the report has no line 'whom'"),
    ],
)
def test_wrong_values_end_with_2(shoal: Shoal, data: Path, tmp_path: Path, words: tuple[str, ...], text: str) -> None:
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, "--qi", "age,sex,zip", *words)
    assert ended.code == 2, ended.err
    assert text in " ".join(ended.err.split())
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("words", [("risk",), ("measure", "{data}"), ("evaluate", "{data}"), ("verify", "-k", "2")])
def test_quasi_identifiers_come_from_options_or_the_file(shoal: Shoal, data: Path, words: tuple[str, ...]) -> None:
    ended = shoal(words[0], *(word.format(data=data) for word in words[1:]), data)
    assert ended.code == 2
    assert "no quasi-identifier is named. Name them with --qi age,sex,zip." in ended.err


def test_roles_beside_a_config_replace_only_what_they_name(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same on the command line and in Python; what is not named keeps the role of the file."""
    monkeypatch.chdir(tmp_path)
    rows = [f"n{i},{20 + i % 3},{'fm'[i % 2]},d{i % 4},{i % 3}" for i in range(48)]
    Path("data.csv").write_text("\n".join(["name,age,sex,disease,ward", *rows]) + "\n")
    Path("shoal.toml").write_text(
        'k = 4\n[columns.name]\nrole = "identifier"\n[columns.age]\nrole = "qi"\n[columns.sex]\nrole = "qi"\n'
        '[columns.disease]\nrole = "sensitive"\n[columns.ward]\nrole = "insensitive"\n'
    )
    asked = {
        (): ("age,sex", "disease", "age,sex,disease,ward"),
        (("qi", "ward"),): ("ward,age,sex", "disease", "age,sex,disease,ward"),
        (("drop", "sex"),): ("age", "disease", "age,disease,ward"),
        (("sensitive", "ward"), ("drop", "disease")): ("age,sex", "ward", "age,sex,ward"),
        (("person", "name"),): ("age,sex", "disease", "age,sex,disease,ward"),
    }
    for roles, (qi, sensitive, released) in asked.items():
        words = [word for role, name in roles for word in (f"--{role}", name)]
        ended = shoal("anonymize", "data.csv", "-o", "out.csv", "--config", "shoal.toml", "--force", *words)
        assert ended.code == 0, ended.err
        assert Path("out.csv").read_text().splitlines()[0] == released
        keywords: Any = {role: name if role == "person" else [name] for role, name in roles}
        release = library.anonymize("data.csv", config="shoal.toml", **keywords)
        assert {column.name for column in release.schema.qi} == set(qi.split(","))
        assert release.schema.names(Role.SENSITIVE) == (sensitive,)
        release.write("python.csv", force=True)
        assert Path("python.csv").read_bytes() == Path("out.csv").read_bytes()
