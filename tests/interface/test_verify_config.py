"""`shoal verify --config` applies every setting of the shoal.toml that made a release, or refuses the file."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
import zstandard

from tests.command import Shoal

HEADER = ["id", "name", "own", "age", "zip", "ward", "disease"]
TOML = """k = 2
method = "mondrian"
[columns.id]
role = "person"
[columns.name]
role = "identifier"
[columns.own]
role = "k"
[columns.age]
role = "qi"
[columns.zip]
role = "qi"
kind = "categorical"
[columns.ward]
role = "insensitive"
[columns.disease]
role = "sensitive"
"""
PEOPLE = ["p1", "p2", "p3", "p4", "p5", "p6"]
ORIGINAL = [
    ["p3", "n1", "2", "30", "02139", "A", "flu"],
    ["p4", "n2", "2", "31", "02139", "B", "gout"],
    ["p1", "n3", "2", "20", "02138", "A", "flu"],
    ["p2", "n4", "2", "21", "02138", "A", "cold"],
    ["p5", "n5", "2", "40", "02140", "B", "flu"],
    ["p6", "n6", "2", "41", "02140", "B", "flu"],
]
RELEASED = [
    ["[20, 21]", "02138", "A", "cold"],
    ["[20, 21]", "02138", "A", "flu"],
    ["[30, 31]", "02139", "A", "flu"],
    ["[30, 31]", "02139", "B", "gout"],
    ["[40, 41]", "02140", "B", "flu"],
    ["[40, 41]", "02140", "B", "flu"],
]
NAMES = ["age", "zip", "ward", "disease"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("data.csv", [HEADER, *ORIGINAL])
    write("out.csv", [NAMES, *RELEASED])
    Path("shoal.toml").write_text(TOML)


def write(name: str, rows: list[list[str]]) -> None:
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


CONFIG = ("verify", "out.csv", "--config", "shoal.toml")
BOTH = (*CONFIG, "--original", "data.csv")


def test_true_release_passes_with_and_without_the_original(shoal: Shoal) -> None:
    ended = shoal(*BOTH)
    assert ended.code == 0, ended.err
    assert "each of which can belong to 2 people or more" in ended.out
    assert "every group passes each row's own k, and every row is true to the original" in ended.out
    ended = shoal(*CONFIG)
    assert ended.code == 0, ended.err
    left_open = "not checked without the original: whether the rows are true to the original, how many rows were "
    assert left_open in ended.err
    assert "whether every group has rows of k people, each row's own k" in ended.err


@pytest.mark.parametrize("words", [CONFIG, BOTH])
@pytest.mark.parametrize(
    ("name", "role"), [("id", "person"), ("name", "identifier"), ("own", "k")], ids=["person", "identifier", "own k"]
)
def test_columns_that_must_not_be_released(shoal: Shoal, words: tuple[str, ...], name: str, role: str) -> None:
    write("out.csv", [[*NAMES, name], *([*row, "n1"] for row in RELEASED)])
    ended = shoal(*words)
    assert ended.code == 5
    assert f"columns: '{name}' ({role}) must not be released" in ended.err


@pytest.mark.parametrize("words", [CONFIG, BOTH])
def test_columns_that_the_file_does_not_name(shoal: Shoal, words: tuple[str, ...]) -> None:
    write("out.csv", [[*NAMES, "canary"], *([*row, "x"] for row in RELEASED)])
    ended = shoal(*words)
    assert ended.code == 5
    assert "columns: 1 not in the table (position 5)" in ended.err


def test_column_that_only_the_original_names(shoal: Shoal) -> None:
    write("data.csv", [[*HEADER, "extra"], *([*row, "x"] for row in ORIGINAL)])
    assert shoal(*BOTH).code == 0, "it is not released"
    write("out.csv", [[*NAMES, "extra"], *([*row, "x"] for row in RELEASED)])
    assert "'extra' (identifier) must not be released" in shoal(*BOTH).err
    Path("shoal.toml").write_text('others = "insensitive"\n' + TOML)
    assert shoal(*BOTH).code == 0
    ended = shoal(*CONFIG)
    assert ended.code == 0
    assert "columns without a role: 'extra'; not checked; use --original" in ended.err


@pytest.mark.parametrize("words", [CONFIG, BOTH])
def test_columns_that_are_missing_or_turned(shoal: Shoal, words: tuple[str, ...]) -> None:
    write("out.csv", [NAMES[:3], *(row[:3] for row in RELEASED)])
    ended = shoal(*words)
    assert ended.code == 5
    assert "'disease' is not in the file" in ended.err
    write("out.csv", [NAMES[1:], *(row[1:] for row in RELEASED)])
    ended = shoal(*words)
    assert ended.code == 5
    assert "'age' is not in the file" in ended.err


def test_people_are_counted(shoal: Shoal) -> None:
    """Both rows of the last group belong to one person."""
    write("data.csv", [HEADER, *ORIGINAL[:5], ["p5", *ORIGINAL[5][1:]]])
    ended = shoal(*BOTH)
    assert ended.code == 5
    assert "k=2: 1 of 3 groups is smaller; the smallest group has 1 person" in ended.err
    typed = ("-k", 2, "--qi", "age,zip", "--no-manifest", "--original", "data.csv")
    assert shoal("verify", "out.csv", *typed).code == 0
    assert shoal("verify", "out.csv", *typed, "--person", "id").code == 5


def test_own_k_is_counted(shoal: Shoal) -> None:
    write("data.csv", [HEADER, ["p3", "n1", "3", *ORIGINAL[0][3:]], *ORIGINAL[1:]])
    ended = shoal(*BOTH)
    assert ended.code == 5
    assert "1 of 6 cannot be matched, one to one, with original rows whose personal k their group reaches" in ended.err


def test_suppression_limit(shoal: Shoal) -> None:
    write("out.csv", [NAMES, *RELEASED[:4]])
    ended = shoal(*BOTH)
    assert ended.code == 5
    assert "2 of 6 source rows are not in the release; at most 0 may be suppressed" in ended.err
    assert shoal(*BOTH, "--suppression-limit", "0.4").code == 0
    Path("shoal.toml").write_text("suppression_limit = 0.3\n" + TOML)
    assert shoal(*BOTH).code == 5
    typed = ("verify", "out.csv", "-k", 2, "--qi", "age,zip", "--original", "data.csv")
    assert shoal(*typed).code == 0
    assert shoal(*typed, "--suppression-limit", "0.1").code == 5


def test_order_of_the_original(shoal: Shoal) -> None:
    """L01."""
    kept = [RELEASED[n] for n in (2, 3, 1, 0, 4, 5)]
    write("out.csv", [NAMES, *kept])
    ended = shoal(*BOTH)
    assert ended.code == 5
    assert "order: the rows are still in the order of the original" in ended.err
    assert shoal(*BOTH, "--keep-order").code == 0
    write("out.csv", [NAMES, *(kept[n] for n in (3, 0, 1, 2, 4, 5))])
    assert shoal(*BOTH).code == 0, "another order that says nothing"
    assert "not in the order of the original" in shoal(*BOTH, "--keep-order").err


def test_order_of_the_original_with_suppressed_rows(shoal: Shoal) -> None:
    write("out.csv", [NAMES, RELEASED[2], RELEASED[3], RELEASED[1], RELEASED[0]])
    limit = ("--suppression-limit", "0.5")
    assert "still in the order of the original" in shoal(*BOTH, *limit).err
    assert shoal(*BOTH, *limit, "--keep-order").code == 0
    ended = shoal("verify", "out.csv", "-k", 2, "--qi", "age,zip", "--original", "data.csv")
    assert ended.code == 0
    assert "still in the order of the original" in ended.err


@pytest.mark.parametrize("kinds", [(), ("--categorical", "zip")])
def test_codes_are_not_numbers(shoal: Shoal, kinds: tuple[str, ...]) -> None:
    """02139 is not 2139, whether the kind is declared or detected."""
    write("out.csv", [NAMES, *([row[0], row[1].lstrip("0"), *row[2:]] for row in RELEASED)])
    ended = shoal("verify", "out.csv", "-k", 2, "--qi", "age,zip", "--original", "data.csv", *kinds)
    assert ended.code == 5
    assert "column 'zip': the cells of 6 rows cover no value of the original" in ended.err
    assert (
        shoal("verify", "out.csv", "-k", 2, "--qi", "age,zip", "--original", "data.csv", "--numeric", "zip").code == 0
    )


def test_numbers_are_numbers(shoal: Shoal) -> None:
    """1 and 1.0 are one number, and two categories."""
    write("data.csv", [["n"], ["1"], ["1"], ["2"], ["2"]])
    write("out.csv", [["n"], ["1.0"], ["1.0"], ["2.0"], ["2.0"]])
    typed = ("verify", "out.csv", "-k", 2, "--qi", "n", "--original", "data.csv")
    assert shoal(*typed).code == 0
    assert shoal(*typed, "--categorical", "n").code == 5


def test_rules_that_are_bans(shoal: Shoal) -> None:
    ban = '[[rules]]\ncolumn = "{}"\n{}\nban = true\n'
    groups = [
        ("zip", 'apart = ["02138", "02139"]', True),
        ("zip", 'groupings = [["02138", "02139"], ["02140"]]', True),
        ("age", "inflection = [25, 30]", True),
        ("age", "inflection = [30, 31]", False),
        ("age", "range = [30, 40]", False),
        ("age", "range = [30, 31]", True),
    ]
    for column, form, is_kept in groups:
        Path("shoal.toml").write_text(TOML + ban.format(column, form))
        ended = shoal(*BOTH)
        assert ended.code == (0 if is_kept else 5), (form, ended.err)
        if not is_kept:
            assert f"column '{column}': 1 group must mix values that a rule keeps apart" in ended.err
        assert "the data constraint rules" in shoal(*CONFIG).err
    Path("shoal.toml").write_text(
        TOML + ban.format("age", "inflection = [30, 31]").replace("ban = true", "importance = 2")
    )
    assert shoal(*BOTH).code == 0, "a rule that is not a ban may be broken"


def test_unnamed_columns_are_compared_and_listed(shoal: Shoal) -> None:
    typed = ("verify", "out.csv", "-k", 2, "--qi", "age,zip")
    assert "columns without a role: 'ward', 'disease'; not checked; use --original" in shoal(*typed).err
    ended = shoal(*typed, "--original", "data.csv")
    assert ended.code == 0
    assert "columns without a role: 'ward', 'disease'; compared with the original" in ended.err
    write("out.csv", [NAMES, *RELEASED[:5], [*RELEASED[5][:2], "Z", "flu"]])
    assert shoal(*typed, "--original", "data.csv").code == 5


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv.zst"])
def test_files_of_other_tools_in_every_format(shoal: Shoal, suffix: str) -> None:
    frame = pl.DataFrame(RELEASED, schema=NAMES, orient="row")
    typed = ("-k", 2, "--qi", "age,zip", "--original", "data.csv")
    for released, code in ((frame, 0), (frame.slice(1), 5)):
        if suffix == "csv.zst":
            Path("other.csv.zst").write_bytes(zstandard.compress(released.write_csv().encode()))
        else:
            (released.write_parquet if suffix == "parquet" else released.write_ipc)(f"other.{suffix}")
        ended = shoal("verify", f"other.{suffix}", *typed)
        assert ended.code == code, ended.err


def test_hidden_parts_are_looked_at_for_every_file(shoal: Shoal) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (NAMES, *RELEASED):
        book.active.append(row)
    book.save("plain.xlsx")
    typed = ("-k", 2, "--qi", "age,zip")
    assert shoal("verify", "plain.xlsx", *typed).code == 0
    book.create_sheet("originals").sheet_state = "hidden"
    book.save("hidden.xlsx")
    ended = shoal("verify", "hidden.xlsx", *typed)
    assert ended.code == 5
    assert "sheet" in ended.err
