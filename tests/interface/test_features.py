"""What a release can be asked for beyond k: people, rare columns, grids, bounds, spreadsheets, hierarchies, marks."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import Shoal


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, *lines: str, name: str = "in.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_person_counts_people_not_rows(shoal: Shoal, tmp_path: Path) -> None:
    """C18: five rows of one person are one look-alike."""
    data = write(tmp_path, "id,age", *[f"p{i},30" for i in range(5)], *["busy,70"] * 5)
    by_people = shoal("anonymize", data, "-o", tmp_path / "people.csv", "-k", 5, "--qi", "age", "--person", "id")
    assert by_people.code == 0, by_people.err
    # One person has the upper end, so it moves outwards.
    assert {row["age"] for row in read(tmp_path / "people.csv")} == {"[30, 100)"}
    by_rows = shoal("anonymize", data, "-o", tmp_path / "rows.csv", "-k", 5, "--qi", "age", "--drop", "id")
    assert {row["age"] for row in read(tmp_path / "rows.csv")} == {"30", "70"}
    assert "rows: each row counts as one person" in by_rows.out
    assert "people, by the column 'id'" in by_people.out


def test_a_method_that_forgets_people_is_stopped(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C02, C18: the gate counts people on its own."""
    from shoal.methods import mondrian

    whole = mondrian.prepare
    monkeypatch.setattr(mondrian, "prepare", lambda codes, counts, attributes, people: whole(codes, counts, attributes))
    data = write(tmp_path, "id,age", *[f"p{i},30" for i in range(5)], *["busy,70"] * 5)
    words = ("--qi", "age", "--person", "id", "--method", "mondrian")
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "-k", 5, *words)
    assert ended.code == 5
    assert not (tmp_path / "out.csv").exists()


def test_a_method_that_cannot_count_people_says_so(shoal: Shoal, tmp_path: Path) -> None:
    data = write(tmp_path, "id,age", *[f"p{i},{i}" for i in range(20)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 5, "--qi", "age", "--person", "id")
    ended = shoal(*words, "--method", "mondrian", "--option", "variant=single-dimensional")
    assert ended.code == 2
    assert "cannot count people" in ended.err
    assert all(name in ended.err for name in ("shoaling", "sbca", "bottom-up", "optimal"))


def test_fewer_people_than_k(shoal: Shoal, tmp_path: Path) -> None:
    """B03: people, not rows, must reach k."""
    data = write(tmp_path, "id,age", *[f"p{i % 3},{i}" for i in range(30)])
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "-k", 5, "--qi", "age", "--person", "id")
    assert ended.code == 4
    assert "rows of only 3 people" in ended.err


def test_rare_insensitive_values_block_unless_accepted(shoal: Shoal, tmp_path: Path) -> None:
    """L09: a weight that is nearly unique singles people out."""
    data = write(tmp_path, "age,weight,flag", *[f"{20 + i % 4},{1000 + 7 * i},{i % 2}" for i in range(40)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 5, "--qi", "age", "--insensitive", "weight,flag")
    ended = shoal(*words)
    assert ended.code == 4
    assert "column 'weight': has 40 values in fewer than k=5 rows" in ended.err
    assert "flag" not in ended.err
    ended = shoal(*words, "--accept-unique", "weight")
    assert ended.code == 0, ended.err
    assert "as you accepted" in ended.err
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["accepted_unique_columns"] == ["weight"]
    assert shoal(*words, "--accept-unique", "age", "--force").code == 2


def test_snap_hides_the_ends_of_ranges(shoal: Shoal, tmp_path: Path) -> None:
    """C16: with exact ends a warning, with --snap no end that is not on the grid."""
    data = write(tmp_path, "age,born", *[f"{a},{1900 + a}-03-17" for a in (23, 45, 91, 24, 47, 52)])
    words = ("anonymize", data, "-k", 3, "--qi", "age,born")
    plain = shoal(*words, "-o", tmp_path / "plain.csv", "--ends", "exact")
    assert "4 rows show their exact values" in plain.err
    assert "--ends safe" in plain.err
    ended = shoal(*words, "-o", tmp_path / "snap.csv", "--snap", "--grid", "age=10", "--grid", "born=decade")
    assert ended.code == 0, ended.err
    for row in read(tmp_path / "snap.csv"):
        ends = [int(end) for end in row["age"].strip("[)").split(", ")]
        assert all(end % 10 == 0 for end in ends)
        first, last = row["born"].strip("[]").split(", ")
        assert first.endswith("0-01-01")
        assert last.endswith("9-12-31")
    assert shoal(*words, "-o", tmp_path / "x.csv", "--snap", "--grid", "age=-1").code == 2
    assert shoal(*words, "-o", tmp_path / "y.csv", "--snap").code == 0, "a round grid is found where none is given"


def test_bounds_are_two_columns(shoal: Shoal, tmp_path: Path) -> None:
    data = write(tmp_path, "age,sex", *[f"{20 + i},{'fm'[i % 2]}" for i in range(12)])
    out = tmp_path / "out.csv"
    ended = shoal("anonymize", data, "-o", out, "-k", 3, "--qi", "age,sex", "--cells", "bounds")
    assert ended.code == 0, ended.err
    rows = read(out)
    assert list(rows[0]) == ["age_min", "age_max", "sex"]
    assert all(int(row["age_min"]) <= int(row["age_max"]) for row in rows)
    assert any(row["age_min"] != row["age_max"] for row in rows)
    assert [tuple(row.values()) for row in rows] == sorted(tuple(row.values()) for row in rows)


FORMULAS = ["=1+1", "+1+1", "-5+cmd", "@SUM(A1)", "\uff1d1+1", "-5", "+7", "plain", "'quoted"]


def test_spreadsheet_safe_cells_are_harmless(shoal: Shoal, tmp_path: Path) -> None:
    """O11: a quote before formulas, plain numbers kept; raw CSV by default."""
    data = write(tmp_path, "age,=note", *[f"{i % 3},{FORMULAS[i % len(FORMULAS)]}" for i in range(18)])
    words = ("anonymize", data, "-k", 2, "--qi", "age", "--sensitive", "=note")
    assert shoal(*words, "-o", tmp_path / "raw.csv").code == 0
    assert {row["=note"] for row in read(tmp_path / "raw.csv")} == set(FORMULAS)
    ended = shoal(*words, "-o", tmp_path / "safe.csv", "--spreadsheet-safe")
    assert ended.code == 0, ended.err
    shown = {row["'=note"] for row in read(tmp_path / "safe.csv")}
    assert shown == {"'=1+1", "'+1+1", "'-5+cmd", "'@SUM(A1)", "'\uff1d1+1", "-5", "+7", "plain", "'quoted"}


def test_escaped_cells_and_names_stay_different(shoal: Shoal, tmp_path: Path) -> None:
    """O11: the names =a and '=a, and their cells, do not become one by escaping."""
    cells = ["=1", "'=1", "''=1", "'-5", "-5", "'", "''"]
    data = write(tmp_path, "age,=a,'=a", *[f"{i % 3},{cell},{cell}" for i, cell in enumerate(cells * 6)])
    words = ("anonymize", data, "-k", 2, "--qi", "age", "--sensitive", "=a,'=a", "--spreadsheet-safe")
    ended = shoal(*words, "-o", tmp_path / "safe.csv")
    assert ended.code == 0, ended.err
    rows = read(tmp_path / "safe.csv")
    assert set(rows[0]) == {"age", "'=a", "''=a"}
    assert {row["'=a"] for row in rows} == {"'=1", "''=1", "'''=1", "''-5", "-5", "'", "''"}


HIERARCHY = "02138;0213*;021**;*\n02139;0213*;021**;*\n02140;0214*;021**;*\n10001;1000*;100**;*\n"


def test_hierarchy_gives_the_labels(shoal: Shoal, tmp_path: Path) -> None:
    zips = ["02138", "02139", "02140", "10001"]
    data = write(tmp_path, "zip,disease", *[f"{zips[i % 4 if i < 40 else 0]},d{i}" for i in range(41)])
    (tmp_path / "zip.csv").write_text(HIERARCHY)
    words = ("anonymize", data, "-k", 11, "--qi", "zip", "--sensitive", "disease", "--json")
    words += ("--accept-unique", "disease")
    for variant in ("strict", "relaxed"):
        out = tmp_path / f"{variant}.csv"
        given = ("--hierarchy", f"zip={tmp_path / 'zip.csv'}", "--method", "mondrian", "--option", f"variant={variant}")
        ended = shoal(*words, "-o", out, *given)
        assert ended.code == 0, ended.err
        assert {row["zip"] for row in read(out)} <= {*zips, "0213*", "0214*", "021**", "1000*", "100**", "*"}
        scored = shoal(
            "measure", data, out, "--qi", "zip", "--hierarchy", f"zip={tmp_path / 'zip.csv'}", "-k", 11, "--json"
        )
        made, measured = (json.loads(each.out)["measures"] for each in (ended, scored))
        assert measured | {"sse": made["sse"]} == made  # two files do not show the groups as the method formed them
        true = ("--original", data, "--hierarchy", f"zip={tmp_path / 'zip.csv'}", "--sensitive", "disease")
        assert shoal("verify", out, "-k", 11, "--qi", "zip", *true).code == 0


def test_value_that_the_hierarchy_lacks(shoal: Shoal, tmp_path: Path) -> None:
    """B18: column, how many values, first row; --unknown top suppresses it."""
    data = write(tmp_path, "zip", "02138", "99999", "02139", "02138")
    (tmp_path / "zip.csv").write_text(HIERARCHY)
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, "--qi", "zip")
    given = ("--hierarchy", f"zip={tmp_path / 'zip.csv'}")
    ended = shoal(*words, *given)
    assert ended.code == 3
    assert "column 'zip': 1 value" in ended.err
    assert "(first at row 2)" in ended.err
    assert "99999" not in ended.err
    assert shoal(*words, *given, "--unknown", "top").code == 0


def test_hierarchy_for_a_column_that_is_not_there(shoal: Shoal, tmp_path: Path) -> None:
    """B20."""
    data = write(tmp_path, "zip", "02138", "02139")
    (tmp_path / "zip.csv").write_text(HIERARCHY)
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, "--qi", "zip")
    assert shoal(*words, "--hierarchy", f"plz={tmp_path / 'zip.csv'}").code == 2
    assert shoal(*words, "--hierarchy", "zip").code == 2


def test_hierarchies_in_the_config(shoal: Shoal, tmp_path: Path) -> None:
    data = write(tmp_path, "age,zip", *[f"{20 + i},{['02138', '02139', '10001'][i % 3]}" for i in range(30)])
    (tmp_path / "zip.csv").write_text(HIERARCHY)
    config = tmp_path / "shoal.toml"
    config.write_text(
        'k = 5\nmethod = "mondrian"\n[columns.age]\nrole = "qi"\nintervals = { widths = [5, 10] }\n'
        '[columns.zip]\nrole = "qi"\nhierarchy = "zip.csv"\n'
    )
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "--config", config)
    assert ended.code == 0, ended.err
    assert any(row["age"].startswith("[") and row["age"].endswith(")") for row in read(tmp_path / "out.csv"))
    config.write_text('k = 5\n[columns.age]\nrole = "qi"\nintervals = { width = 5 }\n[columns.zip]\nrole = "qi"\n')
    ended = shoal("anonymize", data, "-o", tmp_path / "out2.csv", "--config", config)
    assert ended.code == 2
    assert "columns.age.intervals" in ended.err


@pytest.mark.parametrize(("decimal", "thousands"), [(",", "."), (",", " "), (",", "\u202f")])
def test_german_and_french_numbers(shoal: Shoal, tmp_path: Path, decimal: str, thousands: str) -> None:
    """B10: marks of numbers by declaration or as they are found; exact ends of ranges are as in the source."""
    cells = [f"{1 + i}{thousands}{100 + i * 37}{decimal}5" for i in range(12)]
    data = write(tmp_path, "pay;sex", *[f"{cell};{'fm'[i % 2]}" for i, cell in enumerate(cells)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 3, "--qi", "pay,sex")
    marks = ("--decimal", decimal, "--thousands", thousands)
    ended = shoal(*words, *marks, "--numeric", "pay", "--ends", "exact")
    assert ended.code == 0, ended.err
    ranges = {row["pay"] for row in read(tmp_path / "out.csv")}
    assert all(cell.startswith("[") for cell in ranges)
    assert {end for cell in ranges for end in cell.strip("[]").split(", ")} <= set(cells)
    declared = (tmp_path / "out.csv").read_bytes()
    assert shoal(*words, "--ends", "exact", "--force").code == 0, "only one reading fits"
    assert (tmp_path / "out.csv").read_bytes() == declared


def test_german_dates(shoal: Shoal, tmp_path: Path) -> None:
    """B14: the declared format."""
    data = write(tmp_path, "born", *[f"{i + 1:02d}.0{i % 9 + 1}.19{50 + i}" for i in range(12)])
    ended = shoal("anonymize", data, "-o", tmp_path / "out.csv", "-k", 3, "--qi", "born", "--date", "born=%d.%m.%Y")
    assert ended.code == 0, ended.err
    assert all(row["born"].startswith("[") for row in read(tmp_path / "out.csv"))


def test_odd_texts_and_columns_are_named_without_their_cells(shoal: Shoal, tmp_path: Path) -> None:
    """C14, B16, L10: look-alikes, undeclared markers and a column that gives another away."""
    schools = ["Bachelors", "bachelors", "HS-grad", "?"]
    rows = [f"{schools[i % 4]},{i % 4},{i % 9}" for i in range(200)]
    data = write(tmp_path, "education,education-num,disease", *rows)
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 60, "--qi", "education")
    ended = shoal(
        *words, "--sensitive", "disease", "--insensitive", "education-num", "--accept-unique", "education-num"
    )
    assert ended.code == 0, ended.err
    assert "column 'education': 2 values differ from another one only in case" in ended.err
    assert "column 'education': 50 cells look like missing values" in ended.err
    assert "column 'education-num': reveals quasi-identifier 'education'" in ended.err
    assert "Bachelors" not in ended.err


def test_data_dictionary_stands_beside_the_release(shoal: Shoal, tmp_path: Path) -> None:
    """L13: roles, kinds and forms of cells; no count from 1 to k - 1, no cell."""
    rows = [f"{20 + i % 17},{'' if i == 3 else 'Canary' + str(i)}" for i in range(60)]
    data = write(tmp_path, "age,note|x", *rows)
    ended = shoal(
        "anonymize",
        data,
        "-o",
        tmp_path / "out.csv",
        "-k",
        5,
        "--qi",
        "age",
        "--sensitive",
        "note|x",
        "--accept-unique",
        "note|x",
    )
    assert ended.code == 0, ended.err
    content = json.loads((tmp_path / "out.csv.dictionary.json").read_text())
    assert [(c["name"], c["role"], c["missing"]) for c in content["columns"]] == [
        ("age", "qi", 0),
        ("note|x", "sensitive", "<k"),
    ]
    page = (tmp_path / "out.csv.dictionary.md").read_text()
    assert "| age | qi | numeric |" in page
    assert "note\\|x" in page
    assert "Canary" not in page + json.dumps(content)
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert set(manifest["beside"]) == {"out.csv.dictionary.json", "out.csv.dictionary.md"}


def test_direct_identifiers_need_to_be_accepted(shoal: Shoal, tmp_path: Path) -> None:
    """L11: what looks like e-mail addresses does not leave unnoticed, whatever role it was given."""
    data = write(tmp_path, "age,contact", *[f"{20 + i % 4},canary{i}@example.org" for i in range(40)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 5, "--qi", "age", "--sensitive", "contact")
    ended = shoal(*words)
    assert ended.code == 4
    assert "column 'contact': looks like" in ended.err
    assert "canary" not in ended.err
    assert shoal(*words, "--accept-unique", "contact").code == 0


def test_repeated_identifiers_are_named(shoal: Shoal, tmp_path: Path) -> None:
    """C19: one row is taken for one person, and a column that says otherwise is named."""
    data = write(tmp_path, "email,age", *[f"p{i % 15}@x.org,{20 + i % 4}" for i in range(60)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 20, "--qi", "age", "--drop", "email")
    ended = shoal(*words)
    assert ended.code == 0, ended.err
    assert "rows: each row counts as one person" in ended.out
    assert "column 'email': the rows belong to 15 people, as it seems, but k counts rows: " in ended.err
    assert "fewer than 20 people" in ended.err
    assert "--person email" in ended.err
    every = write(tmp_path, "email,age", *[f"p{i}@x.org,{20 + i % 4}" for i in range(40)])
    ended = shoal("anonymize", every, "-o", tmp_path / "one.csv", "-k", 11, "--qi", "age", "--drop", "email")
    assert "--person" not in ended.err


def test_identifiers_are_dropped_not_hashed(shoal: Shoal, tmp_path: Path) -> None:
    """L12: no hash of an identifier is in any output, for a hash of a short number can be turned round."""
    import hashlib

    data = write(tmp_path, "phone,age", *[f"0{700000000 + i},{20 + i % 4}" for i in range(40)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 5, "--qi", "age", "--drop", "phone")
    assert shoal(*words).code == 0
    written = b"".join(path.read_bytes() for path in tmp_path.glob("out.csv*"))
    for i in range(40):
        phone = f"0{700000000 + i}".encode()
        for name in ("md5", "sha1", "sha256", "blake2b"):
            assert hashlib.new(name, phone).hexdigest().encode() not in written
        assert phone not in written


def test_few_suppressed_rows_are_not_counted_in_public() -> None:
    """C21: what is published follows from the suppression limit; no figure depends on the rows that were left out."""
    import polars as pl

    import shoal as library
    from shoal.release.files.manifest import manifest_of

    def manifest(ages: list[int], limit: str) -> dict[str, Any]:
        frame = pl.DataFrame({"age": ages})
        release = library.anonymize(frame, qi=["age"], k=5, method="mondrian", suppression_limit=limit)
        assert release.measures.rows == 60
        assert release.measures.suppressed_rows == len(ages) - 60
        return manifest_of(release, "x", None, None)

    ages = [30, 31] * 30
    assert manifest(ages, "0")["suppressed_rows"] == 0
    for limit, shown in (("0.06", "<k"), ("0.2", "<=15")):
        complete = manifest(ages, limit)
        assert complete["suppressed_rows"] == shown
        assert manifest([*ages, 98, 99], limit) == complete


def test_lower_bound_is_told_unless_refused_or_of_another_method(shoal: Shoal, tmp_path: Path) -> None:
    data = write(tmp_path, "age", *[str(i * i) for i in range(30)])
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 3, "--qi", "age", "--force")
    content = json.loads(shoal(*words, "--json").out)
    assert 0 < content["lower_bound"] <= content["measures"]["ncp"]
    told = "no k-anonymous local recoding of this table loses less"
    assert told in shoal(*words).out
    assert told in shoal(*words, "--method", "mondrian", "--bound").out
    assert told not in shoal(*words, "--no-bound").out
    assert "lower_bound" not in json.loads(shoal(*words, "--method", "mondrian", "--json").out)


def test_more_effort_loses_less_and_an_unknown_one_is_refused(shoal: Shoal, tmp_path: Path) -> None:
    rows = [f"{i * i % 97},{i * 7 % 23},{'abcde'[i * i % 5]}" for i in range(400)]
    data = write(tmp_path, "age,zip,sex", *rows)
    words = ("anonymize", data, "--dry-run", "-k", 5, "--qi", "age,zip,sex", "--json", "--effort")
    fast, high = (json.loads(shoal(*words, effort).out) for effort in ("fast", "high"))
    assert fast["method"] == high["method"] == "shoaling"
    assert high["measures"]["ncp"] < fast["measures"]["ncp"]
    wrong = shoal(*words, "slow")
    assert wrong.code == 2
    assert "fast, normal or high" in wrong.err
    none = shoal(*words, "high", "--method", "mondrian")
    assert none.code == 2
    assert "no option 'effort'" in none.err


def test_every_row_suppressed_is_out_of_reach(shoal: Shoal, tmp_path: Path) -> None:
    """A release has rows, or nothing is written and the exit code is 4."""
    data = write(tmp_path, "age,sex", "20,f", "35,m", "50,f", "70,m")
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, "--qi", "age,sex", "--method", "kaca")
    ended = shoal(*words, "--option", "threshold=0.5", "--suppression-limit", 1)
    assert ended.code == 4
    assert "would suppress every one of the 4 rows" in ended.err
    assert "--suppression-limit" in ended.err
    assert not (tmp_path / "out.csv").exists()
