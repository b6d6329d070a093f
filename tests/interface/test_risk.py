"""`shoal risk`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command import Shoal

RELEASE = 'age,sex,disease\n"[20, 30]",F,a\n"[20, 30]",F,b\n40,M,c\n*,*,d\n'


def test_json_has_the_agreed_names(shoal: Shoal, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text(RELEASE)
    ended = shoal("risk", out, "--qi", "age,sex", "--threshold", "0.5", "--population", 100, "--json")
    assert ended.code == 0, ended.err
    content = json.loads(ended.out)
    assert content["prosecutor"] == {"max": 1.0, "average": 2 / 3, "share_above": 1 / 3}
    assert content["journalist"] == content["prosecutor"] | {"basis": "release"}
    assert (content["marketer"], content["uniques"], content["suppressed_rows"]) == (2 / 3, 1, 1)
    assert (content["threshold"], content["least_group"], content["met"]) == (0.5, 2, False)
    assert content["population"]["size"] == 100
    assert content["population"]["zayatz"] > 0


def test_before_and_after_r11(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert shoal("anonymize", data, "-o", out, "-k", 2, "--qi", "age,sex,zip", "--others", "drop").code == 0
    ended = shoal("risk", out, "--qi", "age,sex,zip", "--original", data, "--threshold", "cell-size-2", "--json")
    content = json.loads(ended.out)
    assert content["met"]
    assert content["uniques"] == 0
    assert not content["before"]["met"]
    assert content["before"]["uniques"] == 6


def test_the_original_is_counted_in_the_unit_of_the_release(shoal: Shoal, tmp_path: Path) -> None:
    """A release lacks the person column of the shoal.toml, so rows are compared with rows."""
    data, config, out = tmp_path / "data.csv", tmp_path / "shoal.toml", tmp_path / "out.csv"
    data.write_text("patient,age\n" + "".join(f"P{i // 3},{20 + i}\n" for i in range(30)))
    config.write_text('k = 2\n[columns.patient]\nrole = "person"\n[columns.age]\nrole = "qi"\n')
    assert shoal("anonymize", data, "-o", out, "--config", config).code == 0
    ended = shoal("risk", out, "--config", config, "--original", data, "--json")
    content = json.loads(ended.out)
    assert (content["counts"], content["before"]["counts"]) == ("rows", "rows")
    assert content["before"]["uniques"] == 30


def test_table_rounds_up_and_says_what_is_not_available(shoal: Shoal, tmp_path: Path) -> None:
    """R05: 1/11 is never shown as 0.09; R15: a failed estimate is named as such."""
    out = tmp_path / "out.csv"
    out.write_text("age,sex\n" + "30,F\n" * 11)
    ended = shoal("risk", out, "--qi", "age,sex", "--threshold", "0.09", "--population", 1000)
    assert ended.code == 0, ended.err
    assert "9% requires groups of 12 rows: not met" in ended.out
    assert "at most 9.1%" in ended.out
    out.write_text("age,sex\n" + "30,F\n" * 10)
    assert "at most 10%, 10% on average" in shoal("risk", out, "--qi", "age,sex").out
    assert "Pitman not available" in ended.out


def test_population_file(shoal: Shoal, tmp_path: Path) -> None:
    out, everybody = tmp_path / "out.csv", tmp_path / "everybody.csv"
    out.write_text(RELEASE)
    everybody.write_text("age,sex\n20,F\n25,F\n30,F\n40,M\n40,M\n")
    ended = shoal("risk", out, "--qi", "age,sex", "--population", everybody, "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["journalist"]["max"] == 0.5
    everybody.write_text("age,sex\n20,F\n25,F\n30,F\n")
    ended = shoal("risk", out, "--qi", "age,sex", "--population", everybody)
    assert (ended.code, "1 of 2 groups match fewer rows" in ended.err) == (3, True)


def test_wrong_options_are_usage_errors(shoal: Shoal, data: Path) -> None:
    assert shoal("risk", data, "--qi", "age", "--threshold", "2").code == 2
    assert shoal("risk", data, "--qi", "age", "--population", 3).code == 2
    assert shoal("risk", data, "--qi", "nobody").code == 2


def test_file_in_another_encoding_is_read_as_the_message_says(shoal: Shoal, tmp_path: Path) -> None:
    """The original is in one encoding, the release, as shoal writes it, in UTF-8."""
    before, out = tmp_path / "before.csv", tmp_path / "out.csv"
    before.write_bytes("town,sex\nKöln,F\nKöln,F\nRom,M\nRom,M\n".encode("cp1252"))
    out.write_text("town,sex\nKöln,F\nKöln,F\nRom,M\nRom,M\n", encoding="utf-8")
    for words in (
        ("risk", out, "--original", before, "--qi", "town,sex"),
        ("measure", before, out, "--qi", "town,sex"),
        ("evaluate", before, out, "--qi", "town,sex", "--queries", 5),
        ("compare", out, "--add", f"other={before}", "--qi", "town", "-k", 2, "--methods", "mondrian", "--no-cache"),
    ):
        ended = shoal(*words)
        assert (ended.code, "Name the encoding; --encoding cp1252" in ended.err) == (3, True), words
        ended = shoal(*words, "--encoding", "cp1252", "--json")
        assert ended.code == 0, ended.err
    ended = shoal("verify", before, "-k", 2, "--qi", "town")
    assert (ended.code, "Save it as UTF-8" in ended.err) == (3, True)


def test_a_release_that_counts_people_says_that_its_file_shows_rows(shoal: Shoal, tmp_path: Path) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("who,age,flu\n" + "".join(f"p{i // 2},{20 + i // 2 % 3},{'yn'[i % 2]}\n" for i in range(60)))
    roles = ("--qi", "age", "--person", "who", "--sensitive", "flu")
    assert shoal("anonymize", data, "-o", out, "--k", 5, *roles).code == 0  # --k is -k, as --l is --l
    ended = shoal("risk", out)
    assert "the figures below are those of rows" in ended.err
