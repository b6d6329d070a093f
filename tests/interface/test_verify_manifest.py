"""The receiver types nothing: commands read the manifest beside a release and compare it with the bytes."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal as library
from shoal.errors import InputError, UsageError, VerificationError
from tests.command import Shoal

ROLES = ("--qi", "age,zip", "--sensitive", "disease", "--drop", "name", "--insensitive", "ward")
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data.csv, and out.csv with its manifest: k = 3, l = 2."""
    path = tmp_path_factory.mktemp("made")
    ills = ("flu", "gout", "cold")
    lines = [f"name{i},{20 + i * 7 % 30},0{2130 + i % 6},{'AB'[i % 2]},{ills[i % 3]}" for i in range(30)]
    (path / "data.csv").write_text("\n".join(["name,age,zip,ward,disease", *lines]) + "\n")
    release = library.anonymize(
        path / "data.csv",
        qi=["age", "zip"],
        sensitive=["disease"],
        insensitive=["ward"],
        drop=["name"],
        k=3,
        l=2,
        method="mondrian",
    )
    release.write(path / "out.csv")
    return path


@pytest.fixture
def made(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(change: Change) -> None:
    path = Path("out.csv.manifest.json")
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def release(rows: list[list[str]]) -> None:
    """Replace the released file, and make the manifest agree with its bytes and counts."""
    with open("out.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    groups: dict[tuple[str, ...], int] = {}
    for row in rows[1:]:
        groups[tuple(row[:2])] = groups.get(tuple(row[:2]), 0) + 1

    def agree(content: dict[str, Any]) -> None:
        content["sha256"] = hashlib.sha256(Path("out.csv").read_bytes()).hexdigest()
        content["measures"] |= {"rows": len(rows) - 1, "groups": len(groups), "smallest_group": min(groups.values())}

    edit(agree)


def released() -> list[list[str]]:
    with open("out.csv", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


# ---- the receiver types nothing


def test_verify_needs_no_option(shoal: Shoal, made: Path) -> None:
    ended = shoal("verify", "out.csv")
    assert ended.code == 0, ended.err
    assert "out.csv: yes. 30 rows in" in ended.out
    assert "every group passes distinct l-diversity of disease with l = 2" in ended.out
    taken = "out.csv.manifest.json: taken from it: k = 3; quasi-identifiers 'age', 'zip'; sensitive 'disease'"
    assert taken in ended.err
    assert "not checked without the original: whether the rows are true to the original" in ended.err
    assert "--original" in ended.err


def test_verify_compares_with_the_original_by_the_manifest_alone(shoal: Shoal, made: Path) -> None:
    ended = shoal("verify", "out.csv", "--original", "data.csv")
    assert ended.code == 0, ended.err
    assert "every row is true to the original" in ended.out
    assert "not checked" not in ended.err


def test_json_says_what_was_taken_and_what_was_not_checked(shoal: Shoal, made: Path) -> None:
    ended = shoal("verify", "out.csv", "--json")
    said = json.loads(ended.out)
    assert (said["ok"], said["k"], said["manifest"]) == (True, 3, "out.csv.manifest.json")
    assert "--original" in said["unchecked"][0]


def test_risk_and_measure_need_no_option(shoal: Shoal, made: Path) -> None:
    typed = ("--qi", "age,zip", "--numeric", "age", "--categorical", "zip", "--no-manifest", "--json")
    for words in (("risk", "out.csv"), ("measure", "data.csv", "out.csv")):
        ended = shoal(*words, "--json")
        assert ended.code == 0, ended.err
        by_options = shoal(*words, *typed, *(("-k", 3) if words[0] == "measure" else ()))
        assert by_options.code == 0, by_options.err
        said, expected = json.loads(ended.out), json.loads(by_options.out)
        assert said.pop("seconds", 0) is not None
        assert expected.pop("seconds", 0) is not None
        assert said == expected
        assert "taken from it: k = 3" in shoal(*words).err


def test_risk_of_a_column_that_is_named_is_that_of_this_column(shoal: Shoal, made: Path) -> None:
    said = json.loads(shoal("risk", "out.csv", "--qi", "ward", "--json").out)
    assert said["groups"] == 2


@pytest.mark.parametrize("option", [("--cells", "bounds"), ("--spreadsheet-safe",)])
def test_risk_and_measure_understand_the_layout(shoal: Shoal, made: Path, option: tuple[str, ...]) -> None:
    words = ("-k", 3, "--l", 2, "--method", "mondrian", *ROLES)
    assert shoal("anonymize", "data.csv", "-o", "laid.csv", *words, *option).code == 0
    for command in (("risk",), ("measure", "data.csv")):
        plain, laid = (json.loads(shoal(*command, name, "--json").out) for name in ("out.csv", "laid.csv"))
        for figures in (plain, laid):
            figures.pop("seconds", None)
            figures.pop("output", None)
        assert laid == plain


def test_without_manifest_and_options_the_error_helps(shoal: Shoal, made: Path) -> None:
    os.remove("out.csv.manifest.json")
    ended = shoal("verify", "out.csv")
    assert ended.code == 2
    assert "k is not given, and there is no manifest" in ended.err
    assert "--manifest" in ended.err
    assert shoal("risk", "out.csv").code == 2


def test_no_manifest_ignores_it(shoal: Shoal, made: Path) -> None:
    edit(lambda content: content.update(k=30))
    assert shoal("verify", "out.csv").code == 5
    assert shoal("verify", "out.csv", "--no-manifest").code == 2
    assert shoal("verify", "out.csv", "--no-manifest", "-k", 3, "--qi", "age,zip").code == 0
    ended = shoal("verify", "out.csv", "--no-manifest", "--manifest", "out.csv.manifest.json")
    assert ended.code == 2


def test_manifest_elsewhere(shoal: Shoal, made: Path) -> None:
    (made / "sub").mkdir()
    os.rename("out.csv.manifest.json", "sub/m.json")
    assert shoal("verify", "out.csv", "--manifest", "sub/m.json").code == 0
    assert shoal("verify", "out.csv", "--manifest", "gone.json").code == 6


def test_python_reads_it_too(made: Path) -> None:
    verdict = library.verify("out.csv")
    assert (verdict.k, verdict.models) == (3, ("distinct l-diversity of disease with l = 2",))
    assert library.verify(Path("out.csv"), original="data.csv").unchecked == ()
    assert library.verify("out.csv", manifest="out.csv.manifest.json").ok
    with pytest.raises(UsageError, match="k is not given and there is no manifest"):
        library.verify("out.csv", manifest=False)
    with pytest.raises(VerificationError, match="k=20"):
        library.verify("out.csv", k=20)
    edit(lambda content: content.update(sha256="0" * 64))
    with pytest.raises(VerificationError, match="its hash differs from that of the manifest"):
        library.verify("out.csv")
    Path("out.csv.manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"the manifest is damaged: it is not valid JSON.*manifest=False"):
        library.verify("out.csv")


# ---- a forged manifest

FORGED: dict[str, tuple[Change, str]] = {
    "hash": (lambda m: m.update(sha256="0" * 64), "its hash differs"),
    "greater k": (lambda m: m.update(k=9), "k=9: "),
    "rows": (lambda m: m["measures"].update(rows=31), "'rows': 31 stated, 30 counted"),
    "groups": (lambda m: m["measures"].update(groups=1), "'groups': 1 stated"),
    "smallest group": (lambda m: m["measures"].update(smallest_group=29), "'smallest_group': 29 stated"),
    "column left out": (lambda m: m["columns"].pop(), "columns: 1 not in the table"),
    "column added": (lambda m: m["columns"].append({"name": "x", "role": "sensitive"}), "'x' is not in the file"),
    "columns turned": (lambda m: m["columns"].reverse(), "not in the order"),
    "role": (lambda m: m["columns"][1].update(role="insensitive"), "'columns': the roles are not those"),
    "kind": (lambda m: m["columns"][1].update(kind="date"), "'zip': the manifest states that it is date"),
    "model in words": (lambda m: m["models"].append("k-map with k = 5"), "'models': the models in words"),
    "model left out of the words": (lambda m: m["models"].pop(), "'models': the models in words"),
    "stronger model": (
        lambda m: (
            m["requirements"][1].update(l=3),
            m["models"].__setitem__(1, "distinct l-diversity of disease with l = 3"),
        ),
        "distinct-l 'disease' l=3",
    ),
    "model that cannot be counted": (
        lambda m: (
            m["requirements"].append({"name": "t-closeness", "column": "disease", "t": "1", "order": ["flu"]}),
            m["requirements"][-1].update(distance="ordered"),
            m["models"].append("t-closeness of disease with t = 1, ordered distance"),
        ),
        "'requirements': a model cannot be counted in this file",
    ),
    "model of another column": (lambda m: m["requirements"][1].update(column="zip"), "'models'"),
    "suppressed": (lambda m: m.update(suppressed_rows=4), "'suppressed_rows': 4 stated"),
    "few suppressed": (lambda m: m.update(suppressed_rows="<k"), "'suppressed_rows': <k stated"),
    "limit": (lambda m: m.update(suppression_limit=0.5), "'suppressed_rows': 0 stated"),
    "order": (lambda m: m.update(keep_order=True), "not in the order of the original"),
    "escaped": (lambda m: m.update(spreadsheet_safe=True), ""),
    "bounds": (lambda m: m["layout"].update(bounds=["age"]), "not written as two columns of bounds"),
    "hash of the dictionary": (
        lambda m: m["beside"].update({"out.csv.dictionary.md": "0" * 64}),
        "file 'out.csv.dictionary.md': its hash differs",
    ),
}
HARMLESS = {"escaped"}  # no cell of this table needs a quote, so the statement is true


@pytest.mark.parametrize("name", FORGED)
def test_forged_manifest_is_refused(shoal: Shoal, made: Path, name: str) -> None:
    change, words = FORGED[name]
    edit(change)
    ended = shoal("verify", "out.csv", "--original", "data.csv")
    assert ended.code == (0 if name in HARMLESS else 5), ended.err
    assert words in ended.err
    assert "gout" not in ended.err
    if name not in (*HARMLESS, "order"):
        for command in (("verify",), ("risk",), ("measure", "data.csv")):
            ended = shoal(*command, "out.csv")
            assert ended.code == 5, (command, ended.err)
            assert words in ended.err


def test_forged_manifest_with_the_hash_of_a_changed_file(shoal: Shoal, made: Path) -> None:
    """Everything in the manifest agrees with the file; what the original and the models say does not."""
    rows = released()
    release([rows[0], *rows[1:]])
    assert shoal("verify", "out.csv").code == 0
    rows[1][3] = "cold" if rows[1][3] != "cold" else "flu"
    release([rows[0], *sorted(rows[1:])])
    ended = shoal("verify", "out.csv", "--original", "data.csv")
    assert ended.code == 5
    assert "1 of 30 cannot be matched" in ended.err
    release([rows[0], *sorted(rows[1:], reverse=True)])
    ended = shoal("verify", "out.csv")
    assert ended.code == 5
    assert "not sorted by their cells" in ended.err


# ---- a damaged manifest

DAMAGED: dict[str, str] = {
    "empty": "",
    "not JSON": "{",
    "not UTF-8": "\udcff",
    "a list": "[]",
    "a number": "7",
    "nested": "[" * 200_000,
    "nested objects": '{"a":' * 200_000,
    "long number": '{"k": ' + "9" * 5000 + "}",
    "NaN": '{"k": NaN}',
    "key twice": '{"k": 3, "k": 2}',
    "huge": " " * (1 << 24) + "{}",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_manifest_ends_with_3(shoal: Shoal, made: Path, name: str) -> None:
    Path("out.csv.manifest.json").write_bytes(DAMAGED[name].encode(errors="surrogateescape"))
    for command in (("verify",), ("risk",), ("measure", "data.csv")):
        ended = shoal(*command, "out.csv")
        assert ended.code == 3, ended.err
        assert "the manifest is damaged" in ended.err
        assert "--no-manifest" in ended.err


VALUES: list[Any] = [None, True, -1, 0, 1.5, "x", [], [1], {}, {"a": 1}, "0" * 64, 10**30]


@pytest.mark.parametrize("key", ["sha256", "k", "columns", "measures", "models", "requirements", "beside", "layout"])
def test_wrong_types_end_with_3_or_5(shoal: Shoal, made: Path, key: str) -> None:
    text = Path("out.csv.manifest.json").read_text()
    for value in VALUES:
        Path("out.csv.manifest.json").write_text(text)
        is_same = json.loads(text).get(key) == value
        edit(lambda content: content.update({key: value}))  # noqa: B023
        ended = shoal("verify", "out.csv")
        may_pass = is_same or (key in ("beside", "layout") and value in (None, {}))
        may_pass |= key == "layout" and isinstance(value, dict)  # of a later version
        assert ended.code in ((0, 5) if may_pass else (3, 5)), (key, value, ended.err)
        assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["columns"][0].update(role="person"),
        lambda m: m["columns"][0].update(role=["qi"]),
        lambda m: m["columns"][0].update(kind="number"),
        lambda m: m["columns"][0].update(kind=[]),
        lambda m: m["columns"][0].update(name=7),
        lambda m: m["columns"].append(m["columns"][0]),
        lambda m: m["columns"].append("age"),
        lambda m: m["requirements"][1].update(l="2"),
        lambda m: m["requirements"][1].update(l=2.5),
        lambda m: m["requirements"][1].pop("l"),
        lambda m: m["requirements"].append({"name": "magic"}),
        lambda m: m["requirements"].extend(m["requirements"] * 600),
        lambda m: m["requirements"].append({"name": []}),
        lambda m: m["requirements"].append({"name": "delta-disclosure", "column": "disease", "delta": "1e-99"}),
        lambda m: m["requirements"].append({"name": "delta-disclosure", "column": "disease", "delta": f"0.{1:021}"}),
        lambda m: m["requirements"].append({"name": "maximal-risk", "limit": 0}),
        lambda m: m["requirements"].append({"name": "t-closeness", "column": "disease", "t": "1/0"}),
        lambda m: m["beside"].update({"../data.csv": "0" * 64}),
        lambda m: m["beside"].update({"/etc/passwd": "0" * 64}),
        lambda m: m["beside"].update({"out.csv": "short"}),
        lambda m: m["layout"].update(bounds=["unknown"]),
        lambda m: m.update(suppression_limit=2),
        lambda m: m.update(suppressed_rows=1),
        lambda m: m.update(suppressed_rows="<=x"),
        lambda m: m.update(decimal="xx"),
        lambda m: m.update(decimal=",", thousands=","),
        lambda m: m.update(missing=[1]),
        lambda m: m.update(missing=["*"]),
        lambda m: m["columns"][0].update(kind="date", format="%Y%Y"),
        lambda m: m["columns"][0].update(kind="date", format="%"),
        lambda m: m.update(format=0),
    ],
)
def test_wrong_values_end_with_3(shoal: Shoal, made: Path, change: Change) -> None:
    edit(change)
    ended = shoal("verify", "out.csv")
    assert ended.code == 3, ended.err
    assert "the manifest is damaged: key " in ended.err


def test_manifest_that_is_no_file(shoal: Shoal, made: Path) -> None:
    os.remove("out.csv.manifest.json")
    os.mkfifo("out.csv.manifest.json")
    assert shoal("verify", "out.csv").code == 6
    os.remove("out.csv.manifest.json")
    os.mkdir("out.csv.manifest.json")
    assert shoal("verify", "out.csv").code == 6
    os.rmdir("out.csv.manifest.json")
    os.symlink("gone", "out.csv.manifest.json")
    assert shoal("verify", "out.csv").code == 6


def test_names_from_a_manifest_cannot_act_on_the_terminal(shoal: Shoal, made: Path) -> None:
    edit(lambda content: content["columns"][2].update(name="\x1b[2Jward", role="sensitive"))
    edit(lambda content: content["models"].append("\x1b]0;evil\x07"))
    ended = shoal("verify", "out.csv")
    assert ended.code == 5
    assert "\x1b" not in ended.err + ended.out


# ---- options beside the manifest


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("-k", 2), 0, "(k = 3)"),
        (("-k", 9), 5, "k=9: "),
        (("--l", 1), 0, ""),
        (("--l", 3), 5, "distinct-l 'disease' l=3"),
        (("--model", "entropy-l disease l=2.9"), 5, "entropy-l 'disease'"),
        (("--model", "distinct-l ward l=3"), 5, "distinct-l 'ward'"),
        (("--qi", "age"), 0, "(k = 3)"),
        (("--qi", "age,ward"), 5, "'ward' is insensitive in the manifest and qi in the settings"),
        (("--sensitive", "zip"), 5, "'zip' is qi in the manifest and sensitive in the settings"),
        (("--sensitive", "ward"), 0, ""),
        (("--drop", "ward"), 5, "'ward' is insensitive in the manifest and identifier in the settings"),
        (("--drop", "name"), 0, ""),
        (("--qi", "nobody"), 5, "'nobody' is not in the manifest"),
        (("--model", "k-map k=3"), 2, "--population"),
        (("--person", "name"), 2, "--original"),
        (("--k-column", "name"), 2, "--original"),
        (("--suppression-limit", "0"), 0, ""),
        (("--suppression-limit", "7"), 2, "is not a share"),
        (("--numeric", "zip", "--original", "data.csv"), 5, "cover no value"),
    ],
)
def test_options_that_ask_for_more(shoal: Shoal, made: Path, words: tuple[object, ...], code: int, text: str) -> None:
    ended = shoal("verify", "out.csv", *words)
    assert ended.code == code, ended.err
    assert text in ended.err + ended.out


def test_a_k_below_the_stated_requirements_is_a_no(shoal: Shoal, made: Path) -> None:
    edit(lambda content: content.update(k=2))
    ended = shoal("verify", "out.csv")
    assert (ended.code, "manifest, 'k': 2 stated, but the requirements ask for 3" in ended.err) == (5, True)


def test_a_manifest_of_a_newer_format_is_not_guessed_at(shoal: Shoal, made: Path) -> None:
    edit(lambda content: content.update(format=99))
    ended = shoal("verify", "out.csv")
    assert (ended.code, "Install a newer version" in ended.err) == (3, True)


def test_a_signed_manifest_asks_for_the_key(shoal: Shoal, made: Path) -> None:
    edit(lambda content: content.update(signature="AAAA"))
    ended = shoal("verify", "out.csv")
    assert (ended.code, "it is signed; check the signature with --public-key" in ended.err) == (0, True), ended.err


def test_the_manifest_says_where_hierarchies_come_from(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path of the user is not told; a built-in or proposed hierarchy is, and the error names its option."""
    monkeypatch.chdir(tmp_path)
    places = ("Austria", "Germany", "Japan", "Kenya")
    lines = [f"{places[i % 4]},{'AB'[i % 2]},{20 + i % 12},{'uv'[i % 2]}" for i in range(24)]
    Path("data.csv").write_text("\n".join(["country,ward,age,ill", *lines]) + "\n")
    Path("secret-name.csv").write_text("A;*\nB;*\n")
    roles = ("--qi", "country,ward,age", "--sensitive", "ill", "-k", "4", "--method", "optimal")
    given = ("--hierarchy", "country=builtin:countries", "--hierarchy", "ward=secret-name.csv", "--hierarchies", "auto")
    made = shoal("anonymize", "data.csv", "-o", "out.csv", *roles, *given)
    assert made.code == 0, made.err
    text = Path("out.csv.manifest.json").read_text()
    origins = {"age": "auto", "country": "builtin:countries", "ward": "given"}
    assert json.loads(text)["hierarchies"] == origins
    assert "secret-name" not in text
    ended = shoal("verify", "out.csv", "--original", "data.csv")
    assert ended.code == 2
    assert "=builtin:countries" in ended.err or "age=auto" in ended.err or "--hierarchy" in ended.err
    ended = shoal("verify", "out.csv", "--original", "data.csv", *given)
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("command", ["verify", "describe", "risk"])
def test_a_file_that_does_not_exist_is_the_first_problem(shoal: Shoal, tmp_path: Path, command: str) -> None:
    """Neither k nor roles are missing, which its manifest would have told."""
    ended = shoal(command, tmp_path / "typo.csv")
    assert ended.code == 6
    assert "typo.csv: no such file." in ended.err
