"""The report on the command line and from Python: what it says, what it must not say, when it is written."""

from __future__ import annotations

import html
import json
import re
import stat
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal import verification
from shoal.schema import Kind
from tests.command import ROLES, Shoal, folder_of

PARTS = ("r.html", "r.json", "r.private.html", "r.private.json")
MARKS = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def people(folder: Path, n: int = 120, name: str = "data.csv") -> Path:
    """Write a table with a rare disease and a few strange towns."""
    path = folder / name
    lines = ["name,age,sex,town,disease"]
    for i in range(n):
        town = "Nowhere" if i % 41 == 7 else f"Town{i * i % 5}"
        lines.append(f"Person{i:03d},{18 + i * 7 % 60},{'FM'[i % 2]},{town},{'rare' if i == 3 else f'd{i % 4}'}")
    path.write_text("\n".join(lines) + "\n")
    return path


ASKED = ("--qi", "age,sex,town", "--sensitive", "disease", "--drop", "name")


def reported(shoal: Shoal, folder: Path, *words: object, k: int = 5) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make a release with its report, and return both parts."""
    ended = shoal(
        "anonymize", folder / "data.csv", "-o", folder / "out.csv", "-k", k, "--report", folder / "r.html", *words
    )
    assert ended.code == 0, ended.err
    return tuple(json.loads((folder / name).read_text()) for name in ("r.json", "r.private.json"))  # type: ignore[return-value]


def test_report_comes_in_four_files_with_the_release(shoal: Shoal, tmp_path: Path) -> None:
    """O09: the private part is its owner's alone; the manifest lists the public part."""
    people(tmp_path)
    public, private = reported(shoal, tmp_path, *ASKED)
    assert {path.name for path in tmp_path.iterdir()} >= set(PARTS)
    for name in PARTS:
        mode = stat.S_IMODE((tmp_path / name).stat().st_mode)
        assert (mode & 0o077 == 0) == ("private" in name)
        assert (tmp_path / name).stat().st_size < 400_000
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert {"r.html", "r.json"} <= set(manifest["beside"])
    assert not any("private" in name for name in manifest["beside"])
    assert (public["report"], private["report"]) == ("public", "private")
    assert public["file"]["sha256"] == manifest["sha256"]
    assert public["reached"]["smallest_group"] == manifest["measures"]["smallest_group"]


def test_report_is_written_with_the_release_or_not_at_all(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O05, C02: where the gate says no, there is no report either."""
    people(tmp_path)
    before = folder_of(tmp_path)
    refusal = verification.Verdict(False, 5, 0, 0, 0, ("broken",))
    monkeypatch.setattr(verification, "gate", lambda *a, **o: refusal)
    ended = shoal(
        "anonymize", tmp_path / "data.csv", "-o", tmp_path / "out.csv", "-k", 5, "--report", tmp_path / "r.html", *ASKED
    )
    assert ended.code == 5
    assert folder_of(tmp_path) == before


def test_fault_in_the_report_leaves_no_release(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """O05."""
    people(tmp_path)
    before = folder_of(tmp_path)
    monkeypatch.setattr("shoal.report.as_html", lambda content: 1 / 0)
    ended = shoal(
        "anonymize", tmp_path / "data.csv", "-o", tmp_path / "out.csv", "-k", 5, "--report", tmp_path / "r.html", *ASKED
    )
    assert ended.code == 1
    assert folder_of(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("-o", "out.csv", "--report", "r.txt"), 2, "ends in .html"),
        (("-o", "out.csv", "--report", "no/r.html"), 6, "no such folder"),
        (("-o", "out.csv", "--report", "there.html"), 6, "exists already"),
        (("-o", "-", "--report", "r.html"), 2, "a report goes with a file"),
        (("-o", "out.csv", "--report", "out.csv.manifest.html"), 2, "is a file of another output"),
        (("-o", "out.csv", "--report", "r.html", "--signoff", "shoe=9"), 2, "the report has no line"),
    ],
)
def test_reports_that_cannot_be_written_are_refused(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, told: str
) -> None:
    """O02, O06: before the work begins."""
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    Path("there.json").write_text("mine")
    before = folder_of(tmp_path)
    ended = shoal("anonymize", "data.csv", *words, "-k", 5, *ASKED)
    assert (ended.code, told in ended.err) == (code, True), ended.err
    assert folder_of(tmp_path) == before


def test_dry_run_writes_no_report(shoal: Shoal, tmp_path: Path) -> None:
    people(tmp_path)
    ended = shoal("anonymize", tmp_path / "data.csv", "--dry-run", "-k", 5, "--report", tmp_path / "r.html", *ASKED)
    assert ended.code == 0, ended.err
    assert set(folder_of(tmp_path)) == {"data.csv"}


def test_report_in_another_folder(shoal: Shoal, tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "reports").mkdir()
    out, page = tmp_path / "out.csv", tmp_path / "reports" / "r.html"
    assert shoal("anonymize", tmp_path / "data.csv", "-o", out, "-k", 5, "--report", page, *ASKED).code == 0
    assert {path.name for path in (tmp_path / "reports").iterdir()} == set(PARTS)


# What the public part must not say.


def counts(content: Any, names: tuple[str, ...] = ("rows", "other_rows", "one_value", "broken_rows")) -> list[Any]:
    """Return every count of rows in a report."""
    if isinstance(content, dict):
        here = [
            value for key, value in content.items() if key.startswith(("rows", *names)) and not isinstance(value, list)
        ]
        return here + [found for value in content.values() for found in counts(value, names)]
    if isinstance(content, list):
        return [found for value in content for found in counts(value, names)]
    return []


@pytest.mark.parametrize("n", [10, 11, 21, 120])
def test_public_part_counts_nothing_below_k(shoal: Shoal, tmp_path: Path, n: int) -> None:
    """R06: with a cell size of 11, on a table too small and on ones that are not."""
    people(tmp_path, n)
    out, page = tmp_path / "out.csv", tmp_path / "r.html"
    ended = shoal("anonymize", tmp_path / "data.csv", "-o", out, "-k", 11, "--report", page, *ASKED)
    assert ended.code == (4 if n < 11 else 0)
    if n < 11:
        assert not page.exists()
        return
    public = json.loads((tmp_path / "r.json").read_text())
    found = counts(public)
    assert len(found) > 5
    assert all(value == "<k" or value == 0 or value >= 11 for value in found), found


def test_rows_left_out_are_not_counted_in_public(shoal: Shoal, tmp_path: Path) -> None:
    """C21, R06: neither their number, nor the original's, nor a loss that would tell it; the private part says all."""
    lines = [f"P{i},{30 + i % 2},F,Town0,d{i % 3}" for i in range(40)] + ["Q,99,M,Elsewhere,d1", "R,98,M,Elsewhere,d1"]
    (tmp_path / "data.csv").write_text("\n".join(["name,age,sex,town,disease", *lines]) + "\n")
    words = (*ASKED, "--method", "mondrian", "--suppression-limit", "0.1")
    public, private = reported(shoal, tmp_path, *words)
    assert public["reached"]["rows_left_out"] == "<k"
    assert public["reached"]["loss"] == 0
    assert private["reached"]["rows_left_out"] == private["source"]["left_out"] == 2
    assert private["source"]["rows"] == 42
    page = (tmp_path / "r.html").read_text() + (tmp_path / "r.json").read_text()
    assert not re.search(r"\b(42|Elsewhere|98|99)\b", page.replace("sha256", ""))
    assert "Elsewhere" in (tmp_path / "r.private.html").read_text()
    assert "distinct" not in " ".join(row["why"] for row in public["loss"])


def test_public_part_holds_no_removed_value_and_no_end_of_the_table(shoal: Shoal, tmp_path: Path) -> None:
    """L13: names, ends of the numbers, values that are hidden in sets no one sees, rare sensitive values."""
    people(tmp_path)
    reported(shoal, tmp_path, *ASKED)
    source = pl.read_csv(tmp_path / "data.csv")
    page = (tmp_path / "r.html").read_text() + (tmp_path / "r.json").read_text()
    body = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    shown = (tmp_path / "out.csv").read_text()
    assert "Person" not in page
    assert "rare" not in page
    assert str(tmp_path) not in page
    assert "data.csv" not in page
    for age in (source["age"].min(), source["age"].max()):
        assert not re.search(rf"(?<![\w.,-]){age}(?![\w.,%]|-)", re.sub(r'"smallest"|"largest"', "", body)), age
    for town in source["town"].unique():
        assert town not in page or town in shown


def test_rules_lose_their_values_in_public(shoal: Shoal, tmp_path: Path) -> None:
    """L13."""
    people(tmp_path)
    (tmp_path / "shoal.toml").write_text(
        'k = 5\n[[rules]]\ncolumn = "town"\napart = ["Nowhere", "Town0"]\nimportance = 3\n'
        '[[rules]]\ncolumn = "age"\nbase = 2\n'
    )
    public, private = reported(shoal, tmp_path, *ASKED, "--config", tmp_path / "shoal.toml")
    assert [rule["rule"] for rule in public["rules"]] == ["column 'town': apart"]
    assert "Nowhere" in private["rules"][0]["rule"]
    assert "apart" in private["repeat"]["config"]
    assert "apart" not in public["repeat"]["config"]
    assert (public["rules"][0]["kept"], public["rules"][0]["broken_rows"]) == (None, None)
    assert private["rules"][0]["kept"] in (True, False)
    manifest = (tmp_path / "out.csv.manifest.json").read_text()
    assert json.loads(manifest)["rules"] == ["column 'town': apart"]
    assert "Nowhere" not in manifest


# What it says.


def test_remedies_speak_the_language_of_the_caller(shoal: Shoal, tmp_path: Path) -> None:
    """Options in a report of the command line, keywords in one of Python."""
    rows = [f"{20 + i % 4},{'flu' if i % 4 == 0 else f'd{i % 3}'}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["age,disease", *rows]) + "\n")
    by_command = reported(shoal, tmp_path, "--qi", "age", "--sensitive", "disease")
    release = library.anonymize(tmp_path / "data.csv", qi=["age"], sensitive=["disease"], k=5)
    release.write(tmp_path / "p.csv", report=tmp_path / "p.html")
    by_python = [json.loads((tmp_path / name).read_text()) for name in ("p.json", "p.private.json")]
    for part in by_command:
        assert part["warnings"][0]["cure"] == "Ask for --l 2 or more."
    for part in by_python:
        assert part["warnings"][0]["cure"] == "Ask for l=2 or more."


def test_groups_that_share_a_value_are_told_on_the_terminal(shoal: Shoal, tmp_path: Path) -> None:
    """A01: in the notes of the command and of Python, once; a model on the column silences them."""
    rows = [f"{20 + i % 4},{'flu' if i % 4 == 0 else f'd{i % 3}'},{i % 5},{'yes'}" for i in range(60)]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["age,disease,cost,treated", *rows]) + "\n")
    words = ("anonymize", data, "-k", 5, "--qi", "age", "--dry-run", "--sensitive")
    ended = shoal(*words, "disease,cost,treated")
    assert ended.code == 0, ended.err
    told = [line for line in ended.err.splitlines() if "share one value" in line]
    assert told == [
        "shoal: column 'treated': 60 rows are in groups that share one value (100% of the rows), so whoever finds the "
        "group learns the value; the same holds for 1 other sensitive column; ask for --l 2 or more"
    ]
    notes = library.anonymize(data, qi=["age"], sensitive=["disease"], others="drop", k=5).notes
    assert any("15 rows are in groups that share one value (25% of the rows)" in note for note in notes)
    assert any(note.endswith("ask for l=2 or more") for note in notes)
    silent = shoal(*words, "cost", "--others", "drop", "--l", 2)
    assert "share one value" not in silent.err


def test_dropped_columns_are_called_dropped(shoal: Shoal, tmp_path: Path) -> None:
    people(tmp_path)
    public, _ = reported(shoal, tmp_path, *ASKED)
    assert [row for row in public["columns"] if row["name"] == "name"] == [
        {"name": "name", "role": "identifier", "kind": "", "released": "dropped"}
    ]
    page = (tmp_path / "r.html").read_text()
    assert "<td>name</td><td>dropped</td><td></td><td>dropped</td>" in page
    assert "<td>identifier</td>" not in page


def test_shares_are_percentages_and_one_is_one(shoal: Shoal, tmp_path: Path) -> None:
    """No 0.1934, no "1 rows", no mask over a percentage."""
    people(tmp_path)
    public, private = reported(shoal, tmp_path, *ASKED, "--method", "mondrian", "--suppression-limit", "0.03")
    for name in ("r.html", "r.private.html"):
        words = re.sub(r"<style>.*?</style>|<[^>]*>", " ", (tmp_path / name).read_text(), flags=re.DOTALL)
        assert not re.search(r"\b1 (rows|groups|cells|people|values|ends|columns)\b", words)
        assert not re.search(r"<\d+ ?%|fewer than \d+ ?%", words)
        assert not re.search(r"\d %", words)
    assert public["risk"]["prosecutor"]["max"].endswith("%")
    assert public["checks"][1]["what"] == "at most 3% of the rows suppressed"
    assert public["reached"]["left_out_words"] == "fewer than 5"
    assert private["reached"]["left_out_words"] == str(private["source"]["left_out"])


def test_a_column_that_no_model_protects_is_not_called_protected(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"age": [20 + i % 4 for i in range(40)], "a": [f"a{i // 4 % 3}" for i in range(40)], "b": ["same"] * 40}
    )
    models = [library.LDiversity("a", l=2)]
    release = library.anonymize(frame, qi=["age"], sensitive=["a", "b"], models=models, k=5)
    release.write(tmp_path / "out.csv", report=tmp_path / "r.html")
    public = json.loads((tmp_path / "r.json").read_text())
    assert "a sensitive value that a whole group shares" in public["meaning"][-1]
    assert public["criteria"][2]["answer"] == "remains"
    assert "'b'" in public["criteria"][2]["words"]
    assert "Every group also meets distinct l-diversity of a with l = 2." in public["verdict"]


def test_warnings_come_with_cures(shoal: Shoal, tmp_path: Path) -> None:
    """A01, C16, C19: groups of one disease, ends of one row (which only the owner may know), one row for one person."""
    rows = [f"P{i},{20 + i * 3},F,Town0,{'flu' if i < 30 else f'd{i % 4}'}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["name,age,sex,town,disease", *rows]) + "\n")
    public, private = reported(shoal, tmp_path, *ASKED)
    told = {warning["text"]: warning["cure"] for warning in public["warnings"]}
    homogeneous = next(text for text in told if "share one value" in text)
    assert "--l 2" in told[homogeneous]
    assert re.search(r"'disease': (\d+) rows", homogeneous)
    assert any("Each row counts as one person" in sentence for sentence in public["meaning"])
    assert not any("exact value" in text for text in told)  # shoaling moves such ends
    assert all(told.values())
    assert not any("exact value" in warning["text"] for warning in private["warnings"])
    limited, owned = reported(shoal, tmp_path, *ASKED, "--l", 2, "--force", "--method", "mondrian")
    assert not any("share one value" in warning["text"] for warning in limited["warnings"])
    exact = next(warning for warning in owned["warnings"] if "exact value" in warning["text"])
    assert "--ends safe" in exact["cure"]
    assert not any("exact value" in warning["text"] for warning in limited["warnings"])
    assert limited["criteria"][2]["answer"] == "limited"
    assert ["whole group shares" in part["meaning"][-1] for part in (public, limited)] == [True, False]
    assert "in the table at all" in limited["meaning"][-1]  # A16


def test_owner_learns_what_ends_and_sets_show_of_single_rows(shoal: Shoal, tmp_path: Path) -> None:
    """C16: the public part names the choice; the private part counts rows by column and states the cost."""
    people(tmp_path)
    public, private = reported(shoal, tmp_path, *ASKED)
    assert set(public["ends"]) == {"choice", "words"}
    assert public["ends"]["choice"] == "safe"
    assert "fewer than 5 rows or people" in public["ends"]["words"]
    ends = private["ends"]
    assert (ends["moved_ends"] > 0, ends["rows_at_rare_ends"]) == (True, 0)
    assert ends["ncp_exact"] + ends["cost"] == pytest.approx(private["measures"]["ncp"])
    assert ends["rows_alone_in_sets"] >= max(column["rows_alone_in_sets"] for column in ends["columns"].values())
    assert "whose value is an end of their range, and nobody else has it" in (tmp_path / "r.private.html").read_text()
    assert "nobody else has it" not in (tmp_path / "r.html").read_text()
    _, exact = reported(shoal, tmp_path, *ASKED, "--ends", "exact", "--force")
    assert exact["ends"]["rows_at_rare_ends"] == exact["ends"]["columns"]["age"]["rows_at_rare_ends"] > 0
    assert (exact["ends"]["moved_ends"], exact["ends"]["cost"]) == (0, 0)


def test_accepted_column_and_missed_roles_are_repeated(shoal: Shoal, tmp_path: Path) -> None:
    """L09, R10."""
    rows = [f"P{i},{20 + i % 9},F,Town0,d{i % 4},{i * 37}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["name,age,sex,town,disease,weight", *rows]) + "\n")
    public, _ = reported(shoal, tmp_path, *ASKED, "--insensitive", "weight", "--accept-unique", "weight")
    assert any("'weight'" in warning["text"] and "accepted" in warning["text"] for warning in public["warnings"])
    assert "'weight'" in public["mistakes"][0]["words"]


def test_page_and_twin_say_the_same(shoal: Shoal, tmp_path: Path) -> None:
    people(tmp_path)
    for part in reported(shoal, tmp_path, *ASKED, "--l", 2, "--method", "mondrian"):
        page = html.unescape((tmp_path / ("r.html" if part["report"] == "public" else "r.private.html")).read_text())
        said = [part["verdict"], *part["meaning"], *(row["why"] for row in part["loss"])]
        said += [row[key] for row in part["warnings"] for key in ("text", "cure")]
        said += [row[key] for row in part["checks"] for key in ("what", "found")]
        said += [row["words"] for key in ("criteria", "mistakes", "conventions") for row in part[key]]
        said += [part["repeat"]["command"], part["file"]["sha256"], *part["repeat"]["config"].splitlines()]
        assert [words for words in said if words not in page] == []


@pytest.mark.parametrize("k", [2, 5, 11])
def test_public_counts_of_random_tables(tmp_path: Path, seed: int, k: int) -> None:
    """R06, C21, A18: no count below k in any table of the public part, whatever was left out."""
    from random import Random

    draw = Random(seed)
    n = draw.randrange(12, 60)
    frame = pl.DataFrame(
        {
            "a": [str(draw.randrange(4)) for _ in range(n)],
            "b": [draw.randrange(30) for _ in range(n)],
            "s": [f"s{draw.randrange(5)}" for _ in range(n)],
        }
    )
    release = library.anonymize(
        frame, qi=["a", "b"], sensitive=["s"], categorical=["a"], k=k, suppression_limit=0.2, method="mondrian"
    )
    release.write(tmp_path / "out.csv", report=tmp_path / "r.html")
    public = json.loads((tmp_path / "r.json").read_text())
    most = n if release.measures.rows == n else release.measures.rows // 4
    assert public["reached"].pop("rows_left_out") in {"<k", *(f"<={i}" for i in range(k, most + 1))}
    assert all(value == "<k" or value == 0 or value >= k for value in counts(public))
    assert (
        sum(each["rows"] for each in public["groups"]) + public["reached"]["rows_shown_as_stars"]
        == release.measures.rows
    )
    for column in public["cells"]:
        assert sum(each["rows"] for each in column["cells"]) + column["other_rows"] in (0, release.measures.rows)


def test_signoff_lines_are_blank_or_as_given(shoal: Shoal, tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "shoal.toml").write_text('k = 5\n[signoff]\nwho = "Dr Example"\npurpose = "study 7"\n')
    public, _ = reported(shoal, tmp_path, *ASKED, "--config", tmp_path / "shoal.toml")
    assert public["signoff"] == {
        "who": "Dr Example",
        "when": "",
        "purpose": "study 7",
        "legal_basis": "",
        "reviewer": "",
    }
    given, _ = reported(shoal, tmp_path, *ASKED, "--signoff", "reviewer=Board", "--force")
    assert given["signoff"]["reviewer"] == "Board"
    assert "Board" in (tmp_path / "r.html").read_text()


def test_risk_agrees_with_the_command(shoal: Shoal, tmp_path: Path) -> None:
    """R01, R03."""
    people(tmp_path)
    public, _ = reported(shoal, tmp_path, *ASKED)
    found = json.loads(shoal("risk", tmp_path / "out.csv", "--qi", "age,sex,town", "--json").out)
    for words, share in (("prosecutor", found["prosecutor"]["max"]), ("marketer", found["marketer"])):
        told = public["risk"][words] if words == "marketer" else public["risk"][words]["max"]
        assert share <= float(told.removesuffix("%")) / 100 <= share + 0.001
    assert public["attacks"] == []
    assert "No attack was tried" in (tmp_path / "r.html").read_text()


def test_starred_rows_are_in_no_group(tmp_path: Path) -> None:
    """R11: rows that show nothing are counted apart."""
    frame = pl.DataFrame({"a": [""] * 6 + [str(i % 2) for i in range(20)], "d": ["x", "y"] * 13})
    release = library.anonymize(frame, qi=["a"], sensitive=["d"], k=5, categorical=["a"])
    stars = release.text.with_columns(a=pl.when(pl.col("a") == "").then(pl.lit("*")).otherwise("a"))
    from dataclasses import replace

    from shoal.report import Written, gather, public_part
    from shoal.tables.table import Table

    starred = replace(release, table=Table(stars))
    found = public_part(gather(starred, Written("o", "0", "m", 26, 3, 6)))
    assert found["reached"]["rows_shown_as_stars"] == 6
    assert sum(each["rows"] for each in found["groups"]) == 20


# The same again.


def test_same_bytes_for_any_order_of_rows_and_threads(shoal: Shoal, tmp_path: Path) -> None:
    """D01, D02, D03: the report too."""
    source = people(tmp_path)
    reported(shoal, tmp_path, *ASKED, "--threads", 1)
    first = {name: (tmp_path / name).read_bytes() for name in PARTS}
    head, *rows = source.read_text().splitlines()
    source.write_text("\n".join([head, *reversed(rows)]) + "\n")
    reported(shoal, tmp_path, *ASKED, "--threads", 2, "--force")
    assert {name: (tmp_path / name).read_bytes() for name in PARTS} == first


REPEATS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "models": ("--method", "mondrian", "--l", "2", "--model", "entropy-l disease l=1.5", "--suppression-limit", "0.05"),
    "options": ("--method", "mondrian", "--option", "variant=relaxed", "--seed", "7"),
    "weights": ("--weights", "age=2,town=0.5", "--effort", "fast", "--seed", "3"),
    "snap": ("--snap", "--grid", "age=5", "--cells", "bounds", "--spreadsheet-safe"),
    "ends": ("--ends", "safe", "--method", "mondrian"),
    "hierarchies": ("--hierarchy", "town=town.csv", "--method", "optimal", "--objective", "dm"),
    "auto": ("--weights", "auto", "--hierarchy", "town=town.csv", "--suppression-limit", "0.05", "--seed", "3"),
    "order": ("--keep-order", "--missing", "d9,?"),
}


@pytest.mark.parametrize("case", REPEATS)
@pytest.mark.parametrize("part", ["r.json", "r.private.json"])
def test_release_is_made_again_from_its_report(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, part: str
) -> None:
    """R09, D04: the text and the command in the report give the same bytes."""
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    levels = [
        f"{town},{'big' if town < 'Town2' else 'small'},*" for town in ("Nowhere", *(f"Town{i}" for i in range(5)))
    ]
    Path("town.csv").write_text("\n".join(levels).replace(",", ";") + "\n")
    reported(shoal, tmp_path, *ASKED, *REPEATS[case])
    told = json.loads(Path(part).read_text())["repeat"]
    again = tmp_path / "again"
    again.mkdir()
    (again / "shoal.toml").write_text(told["config"])
    (again / "town.csv").write_bytes(Path("town.csv").read_bytes())
    (again / "data.csv").write_bytes(Path("data.csv").read_bytes())
    monkeypatch.chdir(again)
    command = told["command"].split()
    source = command[2] if part == "r.private.json" else "data.csv"
    ended = shoal(*[source if i == 2 else word for i, word in enumerate(command)][1:])
    assert ended.code == 0, ended.err
    assert (again / "out.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


RULED = """k = 5
seed = 3
weights = "auto"
suppression_limit = 0.05
others = "drop"
[options]
alpha = 0.3
[columns.age]
role = "qi"
[columns.sex]
role = "qi"
[columns.town]
role = "qi"
hierarchy = "town.csv"
[columns.disease]
role = "sensitive"
[[rules]]
column = "age"
inflection = [39, 40]
importance = 25
[[rules]]
column = "sex"
apart = ["F", "M"]
ban = true
"""


def test_release_under_rules_is_made_again_from_the_private_report(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R09: rules, bans, derived weights, options, a hierarchy, a limit, a seed; losses are told with those weights."""
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    towns = ("Nowhere", *(f"Town{i}" for i in range(5)))
    Path("town.csv").write_text("".join(f"{town};{'big' if town < 'Town2' else 'small'};*\n" for town in towns))
    Path("asked.toml").write_text(RULED)
    words = ("anonymize", "data.csv", "-o", "out.csv", "--config", "asked.toml", "--report", "r.html")
    ended = shoal(*words)
    assert ended.code == 0, ended.err
    public, private = (json.loads(Path(name).read_text()) for name in ("r.json", "r.private.json"))
    before = Path("out.csv").read_bytes()
    Path("shoal.toml").write_text(private["repeat"]["config"])
    ended = shoal(*private["repeat"]["command"].split()[1:], "--force")
    assert ended.code == 0, ended.err
    assert Path("out.csv").read_bytes() == before
    assert [row["rule"] for row in public["rules"]] == ["column 'age': inflection", "column 'sex': ban, apart"]
    manifest = json.loads(Path("out.csv.manifest.json").read_text())
    assert manifest["weights"] == "auto"  # they are derived from the original
    weights = private["weights"]
    assert "weights" not in public
    lost = {row["column"]: weights[row["column"]] * row["loss"] for row in private["loss"]}
    for row in private["loss"]:
        assert row["share"] == pytest.approx(lost[row["column"]] / sum(lost.values()))


def test_key_signs_the_input_in_the_report(shoal: Shoal, tmp_path: Path) -> None:
    """D04, R09."""
    people(tmp_path)
    (tmp_path / "key").write_bytes(b"a secret of 24 bytes...")
    public, _ = reported(shoal, tmp_path, *ASKED, "--key-file", tmp_path / "key")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert public["repeat"]["input_hmac_sha256"] == manifest["input_hmac_sha256"]
    assert public["repeat"]["input_hmac_sha256"] in (tmp_path / "r.html").read_text()


# Strange tables.


class Tags(HTMLParser):
    """Collects the tags of a page, and refuses attributes that could act."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in ("src", "href", "srcset", "style", "action"), name
            assert value is None or "javascript:" not in value


def test_names_and_cells_cannot_act(tmp_path: Path) -> None:
    """W07, W10: markup, very long and turned texts in names, cells, file names, rules and sign-off."""
    name, turned, long = f"q{MARKS}", "a\u202eb\u2066c", "x" * 5000
    frame = pl.DataFrame(
        {
            name: [f"{MARKS}{i % 2}" for i in range(20)],
            turned: [f"\u202e{i % 3}" for i in range(20)],
            long: [long + str(i % 2) for i in range(20)],
            "secret": [f"{MARKS}s{i % 4}" for i in range(20)],
        }
    )
    release = library.anonymize(frame, qi=[name, turned, long], sensitive=["secret"], k=4)
    release.write(tmp_path / "out <b>.csv", report=tmp_path / "r.html")
    for part in ("r.html", "r.private.html"):
        page = (tmp_path / part).read_text()
        parser = Tags()
        parser.feed(page)
        assert "script" not in parser.tags
        assert "img" not in parser.tags
        assert "b" not in parser.tags or "<b>.csv" not in page
        assert "\u202e" not in page
        assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        assert len(page) < 400_000
        json.loads((tmp_path / part).with_suffix(".json").read_text())
    assert f"{MARKS}s" not in (tmp_path / "r.json").read_text()


def test_report_of_people_counts_people(shoal: Shoal, tmp_path: Path) -> None:
    """C18: a group of rows of few people is small."""
    rows = [f"{i // 2},{20 + i // 2 % 5},F,Town0,d{i // 2 % 5}" for i in range(80)]
    (tmp_path / "data.csv").write_text("\n".join(["person,age,sex,town,disease", *rows]) + "\n")
    public, private = reported(
        shoal, tmp_path, "--qi", "age,sex,town", "--sensitive", "disease", "--person", "person", "--method", "mondrian"
    )
    assert public["risk"]["counts"] == "persons"
    assert sum(each["rows"] for each in private["groups"]) == 40
    assert "5 people" in private["verdict"]
    assert private["checks"][0]["found"] == "smallest group: 8 people"
    assert "the rows of at least 8 people that match" in private["meaning"][0]
    assert "smallest group has 8 people" in private["criteria"][0]["words"]
    assert "The smallest group has 8 people" in (tmp_path / "r.private.html").read_text()
    # The release does not show persons, so the public part says what is certain: k.
    assert sum(each["rows"] for each in public["groups"]) == 80
    assert public["checks"][0]["found"] == "smallest group: at least 5 people"
    assert "the rows of at least 5 people that match" in public["meaning"][0]
    assert "smallest group has at least 5 people" in public["criteria"][0]["words"]
    assert "The smallest group has 16 rows; the release required 5 people" in (tmp_path / "r.html").read_text()
    assert public["risk"]["prosecutor"]["max"] == "20%"
    assert "80 rows are in groups that share one value (100%" in public["warnings"][0]["text"]
    assert private["source"]["average_group_before"] == private["source"]["average_group_after"] == 8


def test_report_of_an_untouched_table(shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("name,age,sex,zip,disease\n" + "A,1,F,2,x\nB,1,F,2,y\n" * 5)
    public, _ = reported(shoal, tmp_path, *ROLES, k=2)
    assert public["reached"]["loss"] == 0
    assert "lost no detail" in public["meaning"][1]


def test_report_of_missing_cells_and_dates(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "born": [None if i % 9 == 0 else f"{1950 + i}-01-0{i % 9 + 1}" for i in range(40)],
            "town": [None if i % 5 == 0 else f"t{i % 6}" for i in range(40)],
            "score": [i / 7 for i in range(40)],
        }
    )
    release = library.anonymize(frame, qi=["born", "town", "score"], k=4, dates=["born"])
    assert release.schema.qi[0].kind is Kind.DATE
    release.write(tmp_path / "out.csv", report=tmp_path / "r.html", signoff={"who": "Me"})
    assert json.loads((tmp_path / "r.json").read_text())["signoff"]["who"] == "Me"
    with pytest.raises(library.ShoalError, match="the report has no line 'shoe'"):
        release.write(tmp_path / "out2.csv", report=tmp_path / "r2.html", signoff={"shoe": "9"})
    private = json.loads((tmp_path / "r.private.json").read_text())
    for column in private["before_after"]:
        assert sum(row["before"] for row in column["rows"]) == pytest.approx(40)
        assert sum(row["after"] for row in column["rows"]) == pytest.approx(40)


def test_engines_give_the_same_public_figures(shoal: Shoal, tmp_path: Path) -> None:
    """W18, S02 in spirit: counted where the data lies, reported the same."""
    people(tmp_path)
    words = ("--qi", "sex,town", "--sensitive", "disease", "--others", "drop", "--method", "datafly", "--l", "2")
    memory, _ = reported(shoal, tmp_path, *words, "--suppression-limit", "0.2")
    duck, _ = reported(shoal, tmp_path, *words, "--suppression-limit", "0.2", "--engine", "duckdb", "--force")
    for key in ("reached", "loss", "groups", "cells", "sensitive", "risk", "criteria", "conventions"):
        assert duck[key] == memory[key], key


def test_demo_writes_the_report(shoal: Shoal, tmp_path: Path) -> None:
    ended = shoal("demo", "--folder", tmp_path)
    assert ended.code == 0, ended.err
    assert {"report.html", "report.json", "report.private.html"} <= {path.name for path in tmp_path.iterdir()}
    assert "report.html" in ended.out
    assert (tmp_path / "report.html").stat().st_size < 400_000


def test_weighted_losses_say_so_and_never_stand_alone(shoal: Shoal, tmp_path: Path) -> None:
    """A report said 2.5 % lost where `measure`, without weights, said 5.3 %."""
    people(tmp_path)
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    asked = ("-k", 5, *ASKED, "--weights", "age=9", "--report", tmp_path / "r.html")
    ended = shoal("anonymize", data, "-o", out, *asked)
    assert ended.code == 0, ended.err
    assert re.search(r"loss \(NCP\)[^\n]* \d+\.\d\d% \(\d+\.\d\d% weighted\)", ended.out)
    measured = json.loads(shoal("measure", data, out, "--no-manifest", "--qi", "age,sex,town", "--json").out)
    for part in ("r.json", "r.private.json"):
        content = json.loads((tmp_path / part).read_text())
        reached = content["reached"]
        assert reached["weighted"]
        assert "weighted)" in reached["loss_words"]
        assert "of the weighted loss" in " ".join(content["meaning"])
        assert reached["loss"] != reached["loss_unweighted"]
        assert reached["exact_rows"] == pytest.approx(measured["measures"]["exact_rows"], abs=0.01)
        page = html.unescape((tmp_path / part.replace(".json", ".html")).read_text())
        assert reached["mean_cells_words"] in page
    assert reached["loss_unweighted"] == pytest.approx(measured["measures"]["ncp"])
    figures = json.loads((tmp_path / "out.csv.manifest.json").read_text())["measures"]
    # What is published takes the ends as written: [20, 30) is 10 wide, though its integers are 9 apart.
    assert figures["columns"]["age"]["mean_width"] == pytest.approx(measured["columns"]["age"]["mean_width"], abs=1.0)
    assert (figures["columns"]["age"]["mean_values"], figures["columns"]["age"]["unit"]) == (None, "")
