"""The commands, as a user types them."""

from __future__ import annotations

import csv
import json
import shlex
import stat
from pathlib import Path

import pytest

from tests.command import ROLES, Shoal


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_anonymize_writes_a_verified_file_and_manifest(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    ended = shoal("anonymize", data, "-o", out, "-k", 2, *ROLES)
    assert ended.code == 0, ended.err
    rows = read(out)
    assert list(rows[0]) == ["age", "sex", "zip", "disease"]
    assert len(rows) == 6
    assert sorted(row["disease"] for row in rows) == sorted(
        ["broken leg", "flu", "HIV", "ulcer", "gastritis", "pneumonia"]
    )
    assert "verified" in ended.out
    assert "delimiter ','" in ended.err
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["k"] == 2
    assert manifest["measures"]["smallest_group"] >= 2
    assert "data.csv" not in json.dumps(manifest)


def test_zip_keeps_its_leading_zeros(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """C12: cells are text."""
    out = tmp_path / "out.csv"
    assert shoal("anonymize", data, "-o", out, "-k", 2, *ROLES).code == 0
    assert all("0213" in row["zip"] or "0214" in row["zip"] for row in read(out))


def test_json_is_one_object_and_nothing_else(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    ended = shoal("anonymize", data, "-o", out, "-k", 2, *ROLES, "--json")
    content = json.loads(ended.out)
    expected = {"method", "k", "rows", "groups", "smallest_group", "suppressed_rows", "measures", "levels", "seconds"}
    expected |= {"columns"}
    assert set(content) == expected | {"output", "manifest", "lower_bound", "ends"}
    figures = {"moved_ends", "rows_at_rare_ends", "rows_at_lone_ends", "rows_alone_in_sets", "cost"}
    assert set(content["ends"]) == figures | {"choice", "ncp_exact", "columns"}
    assert set(content["ends"]["columns"]["age"]) == figures
    assert content["ends"]["choice"] == "safe"
    assert content["ends"]["ncp_exact"] + content["ends"]["cost"] == pytest.approx(content["measures"]["ncp"])
    assert set(content["measures"]["per_attribute"]) == {"age", "sex", "zip"}
    assert (content["k"], content["rows"], content["suppressed_rows"]) == (2, 6, 0)
    assert content["measures"]["utility"] == pytest.approx(1 - content["measures"]["ncp"])
    assert Path(content["manifest"]).exists()


def test_dry_run_writes_nothing(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    ended = shoal("anonymize", data, "-k", 2, *ROLES, "--dry-run", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["output"] is None
    assert sorted(tmp_path.iterdir()) == before


def test_thread_count_and_row_order_do_not_change_the_bytes(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """L01, D02, D03: the same bytes for any order of rows and number of threads."""
    head, *lines = data.read_text().splitlines()
    seen = set()
    for number, (threads, order) in enumerate([(1, lines), (8, lines[::-1]), (2, lines[3:] + lines[:3])]):
        source = tmp_path / f"in{number}.csv"
        source.write_text("\n".join([head, *order]) + "\n")
        out = tmp_path / f"out{number}.csv"
        assert shoal("anonymize", source, "-o", out, "-k", 2, *ROLES, "--threads", threads).code == 0
        seen.add(out.read_bytes())
    assert len(seen) == 1


def test_a_second_run_on_a_release_changes_nothing(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """C28: what meets the goal is returned unchanged."""
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    assert shoal("anonymize", data, "-o", once, "-k", 2, *ROLES).code == 0
    ended = shoal("anonymize", once, "-o", twice, "-k", 2, *ROLES[:4], "--numeric", "age")
    assert ended.code == 0, ended.err
    assert once.read_bytes() == twice.read_bytes()
    assert "nothing was changed" in ended.err


def test_keep_order_aligns_with_the_input_and_warns(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    ended = shoal("anonymize", data, "-o", out, "-k", 2, *ROLES, "--keep-order")
    assert [row["disease"] for row in read(out)] == ["broken leg", "flu", "HIV", "ulcer", "gastritis", "pneumonia"]
    assert "keep their order" in ended.err


def test_verify_says_yes_and_no(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert shoal("anonymize", data, "-o", out, "-k", 2, *ROLES).code == 0
    yes = shoal("verify", out, "-k", 2, "--qi", "age,sex,zip", "--original", data, "--sensitive", "disease")
    assert yes.code == 0, yes.err
    assert "yes" in yes.out
    no = shoal("verify", data, "-k", 2, "--qi", "age,sex,zip", "--json")
    assert no.code == 5
    content = json.loads(no.out)
    assert content["ok"] is False
    assert content["smallest_group"] == 1
    assert content["violations"]


def test_measure_scores_a_release_as_anonymize_did(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    made = json.loads(shoal("anonymize", data, "-o", out, "-k", 2, *ROLES, "--json").out)
    scored = json.loads(shoal("measure", data, out, "--qi", "age,sex,zip", "-k", 2, "--json").out)
    assert scored["measures"] == made["measures"] | {"sse": None}  # two files do not say which row is in which group
    assert scored["groups"] == made["groups"]


def test_config_gives_roles_kinds_and_k_and_options_come_first(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "shoal.toml"
    config.write_text(
        'k = 3\nmethod = "mondrian"\nothers = "drop"\n[options]\nvariant = "relaxed"\n'
        '[columns.age]\nrole = "qi"\nkind = "numeric"\n[columns.disease]\nrole = "sensitive"\n'
    )
    out = tmp_path / "out.csv"
    content = json.loads(shoal("anonymize", data, "-o", out, "--config", config, "--json").out)
    assert content["k"] == 3
    assert list(read(out)[0]) == ["age", "disease"]
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["options"]["variant"] == "relaxed"
    content = json.loads(shoal("anonymize", data, "-k", 2, "--config", config, "--dry-run", "--json").out)
    assert content["k"] == 2


def test_key_file_signs_the_input_and_without_it_there_is_no_hash(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """D04: a plain hash of small data can be guessed, so it is keyed or absent."""
    import hashlib
    import hmac

    key = tmp_path / "key"
    key.write_bytes(b"a secret of 24 bytes...")
    plain, signed = tmp_path / "plain.csv", tmp_path / "signed.csv"
    assert shoal("anonymize", data, "-o", plain, "-k", 2, *ROLES).code == 0
    assert shoal("anonymize", data, "-o", signed, "-k", 2, *ROLES, "--key-file", key).code == 0
    text = (tmp_path / "plain.csv.manifest.json").read_text()
    assert hashlib.sha256(data.read_bytes()).hexdigest() not in text
    assert "hmac" not in text
    expected = hmac.new(b"a secret of 24 bytes...", data.read_bytes(), "sha256").hexdigest()
    assert json.loads((tmp_path / "signed.csv.manifest.json").read_text())["input_hmac_sha256"] == expected


def test_methods_lists_names_summaries_and_papers(shoal: Shoal) -> None:
    listed = json.loads(shoal("methods", "--json").out)
    assert {"name", "summary", "paper", "models"} == set(listed[0])
    models = {method["name"]: method["models"] for method in listed}
    assert "average-risk" in models["shoaling"]
    assert not {"average-risk", "sample-uniqueness", "population-uniqueness"} & set(models["sbca"])
    table = shoal("methods").out
    assert "LeFevre" in table
    assert "Models: all but average-risk" in table.replace("\n", " ")


def test_demo_says_where_what_was_asked_reached_and_lost(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = shoal("demo")
    assert ended.code == 0, ended.err
    assert (tmp_path / "shoal-demo" / "patients-released.csv").exists()
    for word in ("patients-released.csv", "k-anonymity with k = 5", "smallest", "loss"):
        assert word in ended.out
    assert shoal("demo").code == 0, "a second demo replaces the first"


def test_demo_has_nothing_to_warn_of_and_ends_with_three_commands_that_work(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = shoal("demo")
    assert (ended.code, ended.err) == (0, "")
    for name in ("report.json", "report.private.json"):
        content = json.loads((tmp_path / "shoal-demo" / name).read_text())
        assert content["warnings"] == []
        assert not any(row["found"] for row in content["mistakes"])
    commands = [line.strip() for line in ended.out.splitlines() if line.startswith("  shoal ")]
    assert [command.split()[1] for command in commands] == ["verify", "init", "anonymize"]
    for command in commands:
        tried = shoal(*shlex.split(command)[1:])
        assert tried.code == 0, tried.err


def test_release_mode_follows_the_umask(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """O09: the release has the mode that the umask gives."""
    import os

    before = os.umask(0o027)
    try:
        assert shoal("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, *ROLES).code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o640


def test_help_and_version(shoal: Shoal) -> None:
    assert shoal("--version").out.startswith("shoal 0.")
    text = shoal("anonymize", "--help").out
    for option in ("--qi", "--sensitive", "--dry-run", "--threads", "--json", "--force"):
        assert option in text


def test_standard_output_gets_the_verified_release_alone(data: Path, tmp_path: Path) -> None:
    """O10: verified first, then streamed; a reader that goes away is no error."""
    import subprocess
    import sys

    words = [
        sys.executable,
        "-c",
        "from shoal.cli.supervisor import main; main()",
        "anonymize",
        str(data),
        "-o",
        "-",
        "-k",
        "2",
    ]
    ended = subprocess.run([*words, *ROLES], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("age,sex,zip,disease\n")
    assert len(ended.stdout.splitlines()) == 7
    piped = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | head -n 0', "bash", *words, *ROLES], capture_output=True, check=False
    )
    assert piped.returncode == 0, piped.stderr
    assert b"Traceback" not in piped.stderr
