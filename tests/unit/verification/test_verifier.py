"""The verifier: what a cell covers, what the gate stops, how verify judges any table."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import pickle
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

from shoal.errors import FileError, InputError, UsageError, VerificationError
from shoal.models.registry import MODELS, model_from
from shoal.schema import Column, Dialect, Kind, Role, Schema
from shoal.verification import Verdict, Violation, check, gate, read_original, verify
from shoal.verification.cells import Cells
from shoal.verification.matching.rows import Matching, Rows
from shoal.verification.models.plain_values import NEEDED, can_be_judged, model_words
from shoal.verification.reading.coded import code_cells

# ---- what a released cell covers


@pytest.mark.parametrize(
    ("kind", "source", "cell", "expected"),
    [
        ("numeric", "30", "30", True),
        ("numeric", "30", "30.0", True),
        ("numeric", "1", "1.0", True),
        ("numeric", "-0.0", "0", True),  # C08
        ("numeric", "0", "-0.0", True),  # C08
        ("numeric", "1e5", "100000", True),
        ("numeric", "9007199254740993", "9007199254740992", False),  # C12: no rounding to a double
        ("numeric", "1.0000000000000002", "1", False),  # C11
        ("numeric", " 30 ", "30", True),
        ("numeric", "25", "[25, 40]", True),
        ("numeric", "40", "[25, 40]", True),
        ("numeric", "40.00000000000000000001", "[25, 40]", False),
        ("numeric", "24", "[25, 40]", False),
        ("numeric", "40", "[25, 40)", False),  # C15: a half-open label of an interval hierarchy
        ("numeric", "25", "[25, 40)", True),
        ("numeric", "25", "[25, 25)", False),
        ("numeric", "30", "[40, 25]", False),
        ("numeric", "-3", "[-5, -1]", True),
        ("numeric", "1e400", "[1, 2e400]", True),  # B13
        ("numeric", "nan", "[1, 2]", False),
        ("numeric", "1_0", "10", False),
        ("numeric", "٣", "3", False),
        ("numeric", "1e99999999999999999999", "1e99999999999999999999", True),
        ("numeric", "1e99999999999999999999", "[0, 1]", False),
        ("numeric", "30", "{30, 31}", False),
        ("numeric", "30", "*", True),
        ("numeric", "30", "", False),
        ("numeric", "", "", True),
        ("numeric", "?", "", True),
        ("numeric", "", "?", True),
        ("numeric", "?", "[1, 2]", False),  # a range states that there is a value
        ("numeric", "", "*", True),
        ("categorical", "Male", "Male", True),
        ("categorical", "Male", "Female", False),
        ("categorical", "Male", "{Female, Male}", True),
        ("categorical", "Other", "{Female, Male}", False),
        ("categorical", "Male", "male", False),
        ("categorical", "1", "1.0", False),
        ("categorical", "30", "[25, 40]", False),
        ("categorical", "Jose\u0301", "Jos\u00e9", True),  # C14
        ("categorical", "Jose\u0301", "{Anna, Jos\u00e9}", True),
        ("categorical", " Male\u00a0", "Male", True),
        ("categorical", "", "", True),
        ("categorical", "?", '{"", a}', True),
        ("categorical", "", "{?, a}", True),
        ("categorical", "", "{a, b}", False),
        ("categorical", "a", '{"", a}', True),
        ("categorical", "a", "", False),
        ("categorical", "a, b", '{"a, b", c}', True),
        ("categorical", "a", '{"a, b", c}', False),
        ("categorical", 'a"b', '{"a""b", c}', True),
        ("categorical", "{x", '{"{x", c}', True),
        ("categorical", "a\nb", '{"a\nb", c}', True),
        ("categorical", "*", "*", True),  # C22
        ("categorical", "[10-20)", "[10-20)", True),  # C22
        ("categorical", "{a, b}", "{a, b}", True),  # C22: a value that looks like a set is itself
        ("categorical", "{a, b}", '{"{a, b}", c}', True),
        ("date", "2020-02-29", "[2020-01-01, 2020-12-31]", True),
        ("date", "2021-01-01", "[2020-01-01, 2020-12-31]", False),
        ("date", "2020-02-29", "2020-02-29", True),
        ("date", "2023-02-29", "[2023-01-01, 2023-12-31]", False),  # B14: no such day
        ("date", "0001-01-01", "[0001-01-01, 9999-12-31]", True),
        ("date", "", "[2020-01-01, 2020-12-31]", False),
        (None, "30", "[25, 40]", True),
        (None, "02139", "2139", False),  # a single value of an unknown kind is a text
        (None, "02139", "02139", True),
        (None, "a", "{a, b}", True),
        (None, "2020-02-29", "[2020-01-01, 2020-12-31]", True),
        (None, "30", "[2020-01-01, 2020-12-31]", False),
        (None, "a", "[25, 40]", False),
    ],
)
def test_covers(kind: str | None, source: str, cell: str, expected: bool) -> None:
    """C03: a released cell is true of its source, or the verifier rejects it."""
    cells = Cells(kind, missing=("", "?"))
    assert cells.covers(source, cell) is expected
    rows = [Rows([code_cells([text])], [], 1) for text in (cell, source)]
    assert Matching([cells], *rows).count_unmatched() == (not expected)


@pytest.mark.parametrize(
    "cell",
    ["{a,b}", "{a, b", "a, b}", "{}", "{a}b}", '{"a}', '{"a"b}', "{a, }", "{, a}", '{a, "b"c}', '{a"b}', "{{a}}"],
)
def test_covers_nothing_but_itself_if_not_written_as_a_set(cell: str) -> None:
    cells = Cells("categorical")
    assert cells.covers(cell, cell)
    assert not any(cells.covers(source, cell) for source in ("a", "b", "a, b", ""))


def test_covers_dates_in_a_format_that_contains_the_separator() -> None:
    cells = Cells("date", "%b %d, %Y")
    assert cells.covers("Mar 05, 2020", "[Jan 01, 2020, Dec 31, 2020]")
    assert not cells.covers("Mar 05, 2021", "[Jan 01, 2020, Dec 31, 2020]")


def test_a_date_with_a_zone_is_a_text() -> None:
    """B14: a range that leaves out the zone could be true of one zone and false of another."""
    assert not Cells("date", "%Y-%m-%d %z").covers("2020-01-02 +0100", "[2020-01-01 +0000, 2020-01-03 -0500]")


# ---- the gate

SCHEMA = Schema(
    (
        Column("age", Role.QI, Kind.NUMERIC),
        Column("name", Role.IDENTIFIER),
        Column("city", Role.QI, Kind.CATEGORICAL),
        Column("note", Role.INSENSITIVE),
        Column("disease", Role.SENSITIVE),
    ),
    missing=("", "?"),
)
HEADER = ["age", "city", "note", "disease"]
# Every cell is a canary: none may appear in any text.
ORIGINAL = {
    "age": ["7031", "7045", "7050", "7062", "?"],
    "name": ["canaryAnn", "canaryBob", "canaryCyd", "canaryDee", "canaryEve"],
    "city": ["canaryUlm", "canaryBonn", "canaryUlm", "canaryKöln", "canaryKöln"],
    "note": ["canary, note", 'canary "note"', "canary\nnote", " canary ", ""],
    "disease": ["canaryflu", "canarycold", "canaryflu", "canarygout", "canarycold"],
}
ROWS = [
    ["*", "{canaryBonn, canaryKöln}", "", "canarycold"],
    ["*", "{canaryBonn, canaryKöln}", " canary ", "canarygout"],
    ["*", "{canaryBonn, canaryKöln}", 'canary "note"', "canarycold"],
    ["[7031, 7050]", "canaryUlm", "canary\nnote", "canaryflu"],
    ["[7031, 7050]", "canaryUlm", "canary, note", "canaryflu"],
]
WITNESS = [4, 3, 1, 2, 0]
CLAIMS = {"rows": 5, "groups": 2, "smallest_group": 2, "suppressed_rows": 0}


def written(rows: Sequence[Sequence[str]], header: Sequence[str] = HEADER) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def run_gate(path: Path, content: bytes, **changes: Any) -> Verdict:
    target = path / "release.csv"
    target.write_bytes(content)
    arguments: dict[str, Any] = {"k": 2, "original": ORIGINAL, "source_rows": WITNESS, "claims": CLAIMS} | changes
    verdict = gate(target, SCHEMA, **arguments)
    text = "\n".join(verdict.violations)
    for cell in {c for column in ORIGINAL.values() for c in column if c} - {"?"}:
        assert cell.strip() not in text
    assert "canary" not in text
    assert verdict.ok is (verdict.violations == ())
    assert len(verdict.violations) <= 10
    return verdict


def changed(row: int, column: int, cell: str) -> list[list[str]]:
    rows = [list(r) for r in ROWS]
    rows[row][column] = cell
    return rows


def test_gate_opens_for_a_true_release(tmp_path: Path) -> None:
    verdict = run_gate(tmp_path, written(ROWS))
    assert verdict == Verdict(True, 2, 5, 2, 2, ())
    assert verdict.as_dict() == {"ok": True, "k": 2, "rows": 5, "groups": 2, "smallest_group": 2, "violations": []}


def test_gate_opens_for_carriage_returns_inside_cells(tmp_path: Path) -> None:
    original = ORIGINAL | {"note": ["canary, note", 'canary "note"', "canary\r\nnote", " canary ", ""]}
    assert run_gate(tmp_path, written(changed(3, 2, "canary\r\nnote")), original=original).ok


def test_gate_accepts_cells_of_ten_megabytes(tmp_path: Path) -> None:
    """B12: a long cell is read, not refused."""
    long = "x" * 10_000_000
    original = ORIGINAL | {"note": [*ORIGINAL["note"][:4], long]}
    rows = sorted(changed(0, 2, long))
    assert run_gate(tmp_path, written(rows), original=original, source_rows=[3, 1, 4, 2, 0]).ok


def test_gate_accepts_any_sequence_of_numbers(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    original = {name: tuple(cells) for name, cells in ORIGINAL.items()}
    assert run_gate(tmp_path, written(ROWS), source_rows=numpy.array(WITNESS), original=original).ok


def test_gate_opens_for_rows_in_source_order_only_on_request(tmp_path: Path) -> None:
    """L01: rows are released in sorted order unless keep_order is set."""
    order = sorted(range(5), key=WITNESS.__getitem__)
    content, witness = written([ROWS[n] for n in order]), list(range(5))
    assert run_gate(tmp_path, content, source_rows=witness, keep_order=True).ok
    assert "order: the rows are not sorted by their cells (first at row 2)" in str(
        run_gate(tmp_path, content, source_rows=witness).violations
    )
    unordered = run_gate(tmp_path, written(ROWS), keep_order=True)
    assert unordered.violations == ("order: the rows are not in the order of the source (first at row 2).",)


def test_gate_opens_for_suppressed_rows_within_the_limit(tmp_path: Path) -> None:
    """C30: the limit is a share, exactly met."""
    rows, witness = ROWS[:3], WITNESS[:3]
    claims = {"rows": 3, "groups": 1, "smallest_group": 3, "suppressed_rows": 2}
    assert run_gate(tmp_path, written(rows), source_rows=witness, claims=claims, suppression_limit=0.4).ok
    refused = run_gate(tmp_path, written(rows), source_rows=witness, claims=claims, suppression_limit=0.39)
    assert refused.violations == (
        "suppression: 2 of 5 source rows are not in the release; at most 1 may be suppressed.",
    )


TRUE = written(ROWS)
SWAPPED = [[row[1], row[0], *row[2:]] for row in ROWS]
FAULTS: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "index column": (
        written([[str(n), *row] for n, row in enumerate(ROWS)], ["", *HEADER]),
        {},
        r"columns: 1 not in the table \(position 1\)",
    ),
    "identifier column": (
        written([[*row, "canaryAnn"] for row in ROWS], [*HEADER, "name"]),
        {},
        r"columns: 'name' \(identifier\) must not be released",
    ),
    "missing column": (written([row[:3] for row in ROWS], HEADER[:3]), {}, "columns: 'disease' is not in the file"),
    "doubled column": (written([[*r, r[3]] for r in ROWS], [*HEADER, "disease"]), {}, "'disease' occurs 2 times"),
    "reordered columns": (written(SWAPPED, ["city", "age", "note", "disease"]), {}, "not in the order of the table"),
    "no header": (TRUE.split(b"\n", 1)[1], {}, "columns: 'age' is not in the file"),
    "byte order mark": (b"\xef\xbb\xbf" + TRUE, {}, "begins with a byte order mark"),
    "CR LF": (TRUE.replace(b"\n", b"\r\n"), {}, "carriage return outside a quoted cell"),
    "lone CR": (TRUE.replace(b"disease\n", b"disease\r"), {}, "carriage return outside a quoted cell"),
    "NUL": (written(changed(0, 2, "\0")), {}, "contains a NUL byte"),
    "no last line end": (TRUE[:-1], {}, "does not end with a line feed"),
    "blank line": (
        TRUE.replace(b"disease\n", b"disease\n\n"),
        {},
        r"1 blank line \(first at row 1\)",
    ),
    "blank last line": (TRUE + b"\n", {}, r"1 blank line \(first at row 6\)"),
    "short row": (written([*ROWS[:4], ROWS[4][:3]]), {}, r"1 row without exactly 4 cells \(first at row 5\)"),
    "long row": (
        written([[*ROWS[0], "canary"], *ROWS[1:]]),
        {},
        r"1 row without exactly 4 cells \(first at row 1\)",
    ),
    "open quote": (TRUE[:-1] + b',"\n', {}, "line 7: a quoted cell is not closed"),
    "text after quote": (
        TRUE.replace(b'Ulm,"canary, note"', b'Ulm,"canary, note"x'),
        {},
        "a quoted cell is not closed",
    ),
    "bare quote": (TRUE.replace(b'"canary ""note"""', b'canary "note"'), {}, "in a cell that is not quoted"),
    "needless quotes": (TRUE.replace(b",canarycold", b',"canarycold"', 1), {}, "quotes around a cell that needs none"),
    "quoted names": (TRUE.replace(b"age,", b'"age",', 1), {}, "quotes around a cell that needs none"),
    "undecodable": (TRUE.replace("ö".encode(), b"\xf6"), {}, "not valid utf-8 text"),
    "empty file": (b"", {}, "no data rows"),
    "no rows": (written([]), {}, "no data rows"),
    "row lost": (written(ROWS[:4]), {}, "rows: the file has 4, but 5 should have been written"),
    "row doubled": (written([ROWS[0], *ROWS]), {}, "rows: the file has 6, but 5 should have been written"),
    "witness too high": (
        TRUE,
        {"source_rows": [4, 3, 1, 2, 5]},
        r"1 reference to a row that does not exist \(first at row 5\)",
    ),
    "witness negative": (
        TRUE,
        {"source_rows": [-1, 3, 1, 2, 0]},
        r"1 reference to a row that does not exist \(first at row 1\)",
    ),
    "witness twice": (TRUE, {"source_rows": [4, 3, 1, 0, 0]}, "1 reference to a row that is already in use"),
    "witness swapped": (TRUE, {"source_rows": [2, 3, 1, 4, 0]}, "column 'city': the cells of 2 rows do not cover"),
    "suppression": (
        written(ROWS[:3]),
        {"source_rows": WITNESS[:3]},
        "2 of 5 source rows are not .* at most 0",
    ),
    "k": (
        TRUE,
        {"k": 3},
        r"k=3: 1 of 2 groups is smaller; the smallest group has 2 rows \(first at row 4\)",
    ),
    "claimed rows": (TRUE, {"claims": {"rows": 6}}, "claim 'rows': 6 stated, 5 counted"),
    "claimed groups": (TRUE, {"claims": {"groups": 3}}, "claim 'groups': 3 stated, 2 counted"),
    "claimed size": (TRUE, {"claims": {"smallest_group": 3}}, "claim 'smallest_group': 3 stated, 2 counted"),
    "claimed suppression": (TRUE, {"claims": {"suppressed_rows": 1}}, "claim 'suppressed_rows': 1 stated, 0 counted"),
    "unknown claim": (TRUE, {"claims": {"l": 3}}, "claim 'l': 3 stated, none counted"),
    "untrue range": (written(changed(4, 0, "[7032, 7050]")), {}, r"'age': .* 1 row do not cover .*\(first at row 5\)"),
    "untrue value": (written(changed(3, 1, "canaryBonn")), {}, r"'city': .* 1 row do not cover .*\(first at row 4\)"),
    "missing in a range": (written(changed(0, 0, "[7031, 7062]")), {}, r"'age': .* 1 row do not cover"),
    "value made missing": (written(changed(3, 0, "?")), {}, r"'age': .* 1 row do not cover"),
    "changed sensitive": (written(changed(2, 3, "canaryflu")), {}, r"'disease': .* 1 row differ .*\(first at row 3\)"),
    "stripped cell": (
        written(changed(1, 2, "canary")),
        {},
        r"'note': .* 1 row differ from their source \(first at row 2",
    ),
    "unsorted": (written([ROWS[1], ROWS[0], *ROWS[2:]]), {}, r"not sorted by their cells \(first at row 2\)"),
    "source column gone": (TRUE, {"original": {"age": ORIGINAL["age"]}}, "source: column 'city' is missing"),
    "source uneven": (TRUE, {"original": ORIGINAL | {"age": ["7031"]}}, "source: its columns differ in length"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_gate_stops(fault: str, tmp_path: Path) -> None:
    """C01, C02, C03, L01, L02, L14: every fault is stopped and named, and no text contains a cell."""
    content, changes, expected = FAULTS[fault]
    verdict = run_gate(tmp_path, content, **changes)
    assert not verdict.ok
    assert any(re.search(expected, text) for text in verdict.violations), verdict.violations


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("fault", FAULTS)
def test_gate_says_the_same_in_chunks_of_any_size(
    fault: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.verification.reading import tables

    content, changes, _ = FAULTS[fault]
    unchunked = run_gate(tmp_path, content, **changes)
    monkeypatch.setattr(tables.chunks, "__defaults__", (size,))
    chunked = run_gate(tmp_path, content, **changes)
    if "quote" not in fault and fault != "undecodable":  # how much was counted before depends on the chunk
        assert chunked == unchunked
    assert chunked.violations == unchunked.violations


def test_violations_keep_their_parts(tmp_path: Path) -> None:
    """Nobody has to parse the text for the column or the row."""
    (violation,) = run_gate(tmp_path, written(changed(4, 0, "[7032, 7050]")), claims={}, k=1).violations
    assert isinstance(violation, Violation)
    assert (violation.where, violation.row) == ("column 'age'", 5)
    assert violation.text == "the cells of 1 row do not cover their source"
    again = pickle.loads(pickle.dumps(violation))
    assert (again, again.row) == (violation, violation.row)


@pytest.mark.parametrize(
    "spec",
    [
        {"name": "distinct-l", "column": "c", "l": 3},
        {"name": "entropy-l", "column": "c", "l": "2.5"},
        {"name": "recursive-l", "column": "c", "c": "1/3", "l": 2},
        {"name": "alpha-k", "column": "c", "alpha": "0.25", "k": 4},
        {"name": "alpha-k", "column": "c", "alpha": "0.25"},
        {"name": "p-sensitive", "column": "c", "p": 2, "k": 5},
        {"name": "t-closeness", "column": "c", "t": "0.123456789"},
        {"name": "t-closeness", "column": "c", "t": "0.2", "distance": "equal"},
        {"name": "delta-disclosure", "column": "c", "delta": "1.5"},
        {"name": "beta-likeness", "column": "c", "beta": "1"},
        {"name": "beta-likeness", "column": "c", "beta": "1", "enhanced": True},
        {"name": "k-map", "k": 7},
        {"name": "delta-presence", "low": "0", "high": "0.5"},
        {"name": "maximal-risk", "limit": "0.3"},
        {"name": "average-risk", "limit": "1/7"},
        {"name": "grassberger-l", "column": "c", "l": "2.25"},
        {"name": "sample-uniqueness", "limit": "0"},
        {"name": "population-uniqueness", "limit": "0.001", "population": 300_000_000, "estimator": "snb"},
        {"name": "prosecutor-profit", "cost": "0.3", "gain": "10"},
        {"name": "prosecutor-profit", "cost": "4", "gain": "1", "payout": "0.5"},
        {"name": "journalist-profit", "cost": "0", "gain": "300", "payout": "1/3"},
        {"name": "differential-privacy", "epsilon": "0.5", "delta": "0.000001"},
    ],
    ids=lambda spec: "-".join(spec),
)
def test_words_of_a_model_are_those_of_the_model(spec: dict[str, Any]) -> None:
    """The verifier words the plain values of a manifest by itself; the words are those that a manifest has."""
    model = model_from(spec)
    plain = json.loads(json.dumps(model.spec()))
    assert can_be_judged(plain)
    assert model_words(plain) == model.describe()
    assert {spec["name"] for spec in (plain,)} <= set(MODELS)


def test_every_model_is_worded() -> None:
    assert set(MODELS) <= set(NEEDED)


def test_verify_has_the_arguments_of_check() -> None:
    assert inspect.signature(verify) == inspect.signature(check)


def test_gate_reports_all_faults_together_and_at_most_ten(tmp_path: Path) -> None:
    rows = [["1", "x", "y", "z"], *ROWS[:1], ["2", "x", "y", "z"]]
    verdict = run_gate(
        tmp_path, b"\xef\xbb\xbf" + written(rows).replace(b"\n", b"\r\n")[:-1], k=9, source_rows=[0, 0, 7, 1]
    )
    assert len(verdict.violations) == 10
    assert verdict.violations[-1].startswith("... and ")
    for text in ("byte order mark", "carriage return", "already in use", "does not exist", "k=9"):
        assert text in str(verdict.violations)


def test_gate_stops_a_missing_value_that_is_alone(tmp_path: Path) -> None:
    """C05: {30, 30, 30, missing} with k = 2: the missing value is one ordinary text, never ignored."""
    schema = Schema((Column("age", Role.QI, Kind.NUMERIC),))
    path = tmp_path / "release.csv"
    path.write_bytes(b'age\n""\n30\n30\n30\n')
    verdict = gate(path, schema, 2, {"age": ["30", "30", "30", ""]}, [3, 0, 1, 2], {})
    assert verdict.violations == ("k=2: 1 of 2 groups is smaller; the smallest group has 1 row (first at row 1).",)


def test_gate_accepts_zero_with_and_without_sign_as_one_value(tmp_path: Path) -> None:
    """C08: 0.0 and -0.0 printed alike are one group; printed apart they are two."""
    schema = Schema((Column("x", Role.QI, Kind.NUMERIC),))
    path = tmp_path / "release.csv"
    path.write_bytes(b"x\n0.0\n0.0\n")
    assert gate(path, schema, 2, {"x": ["0.0", "-0.0"]}, [0, 1], {}).ok
    path.write_bytes(b"x\n-0.0\n0.0\n")
    assert not gate(path, schema, 2, {"x": ["0.0", "-0.0"]}, [1, 0], {}).ok


def test_gate_needs_a_quasi_identifier(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_bytes(b"x\n1\n")
    schema = Schema((Column("x", Role.SENSITIVE),))
    assert "no quasi-identifier" in gate(path, schema, 1, {"x": ["1"]}, [0], {}).violations[0]


@pytest.mark.parametrize("limit", [-0.1, 1.1, 5, float("nan"), float("inf"), "much"])
def test_gate_refuses_a_limit_that_is_not_a_share(limit: Any, tmp_path: Path) -> None:
    """B05: a percentage is not a share."""
    with pytest.raises(UsageError, match=r"suppression_limit=.* is not a share\. Use a number from 0 to 1"):
        run_gate(tmp_path, TRUE, suppression_limit=limit)


def test_gate_names_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"gone\.csv: cannot be read: No such file"):
        gate(tmp_path / "gone.csv", SCHEMA, 2, ORIGINAL, WITNESS, CLAIMS)


# ---- reading


def test_read_original_of_the_adult_kind(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_text("39, State-gov, ?\n50, Private, x\n\n")
    columns = read_original(path, Dialect(header=False, initial_space=True)).texts()
    assert columns == {"column1": ["39", "50"], "column2": ["State-gov", "Private"], "column3": ["?", "x"]}


def test_read_original_keeps_text_as_it_is(tmp_path: Path) -> None:
    """C12, C13: a cell stays text, also NA and numbers; a byte order mark is not part of the first name."""
    path = tmp_path / "t.csv"
    path.write_bytes('\ufeffzip;country\n02139;NA\n\n" 1e5 ";"a;""b""\r\nc"\n'.encode())
    assert read_original(path, Dialect(delimiter=";")).texts() == {
        "zip": ["02139", " 1e5 "],
        "country": ["NA", 'a;"b"\r\nc'],
    }


def test_read_original_holds_equal_texts_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "".join(f"{n % 7}\n" for n in range(5000)))
    column = read_original(path, Dialect()).column("a")
    assert len(column.texts) == 7
    assert column.cells() == [str(n % 7) for n in range(5000)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a,b\n1,2\n\n1,canary,3\n", r"line 4: the row does not have 2 cells"),
        (b'a,b\n"x\ny",2\n1\n', r"line 4: the row does not have 2 cells"),
        (b'a,b\n1,2\n1,"canary\n2,3\n', r"line 3: a quoted cell is not closed"),
        (b'a,b\n1,"x"canary\n', r"line 2: a quoted cell is not closed"),
        (b"a,b,a\n1,2,3\n", r"the column at position 3 has the name of an earlier column"),
        (b"a,b\n1,\xff\n", r"not valid utf-8 text"),
    ],
)
def test_read_original_refuses(content: bytes, problem: str, tmp_path: Path) -> None:
    """B02, B07, B08, B09, B11: where and what, never the cell."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught:
        read_original(path, Dialect())
    assert "canary" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_read_original_with_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a\nKöln\n".encode("utf-16"))
    assert read_original(path, Dialect(encoding="utf-16")).texts() == {"a": ["Köln"]}
    with pytest.raises(UsageError, match="encoding 'utf-99' is not known"):
        read_original(path, Dialect(encoding="utf-99"))
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        read_original(tmp_path, Dialect())


# ---- any table

PAIRWISE = [  # every pair of columns has three rows of each combination or none; one triple is alone
    *[("a", "a", "a")],
    *[("a", "a", "b")] * 2,
    *[("a", "b", "a")] * 2,
    *[("b", "a", "a")] * 2,
    *[("a", "b", "b")] * 3,
    *[("b", "a", "b")] * 3,
    *[("b", "b", "a")] * 3,
    *[("b", "b", "b")] * 3,
]


def save(path: Path, rows: Sequence[Sequence[str]], header: Sequence[str], **how: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n", **how).writerows([header, *rows])
    return path


def test_verify_counts_jointly(tmp_path: Path) -> None:
    """C04: all pairs have three rows or more, one triple is unique: refused."""
    path = save(tmp_path / "out.csv", PAIRWISE, ["x", "y", "z"])
    for pair in (["x", "y"], ["y", "z"], ["x", "z"]):
        assert verify(path, qi=pair, k=3).ok
    with pytest.raises(VerificationError, match=r"k=3: 4 of 8 groups are smaller; the smallest group has 1 row \("):
        verify(path, qi=["x", "y", "z"], k=3)


def missing_by_library() -> list[tuple[str, Any]]:
    return [
        ("pandas", pandas.DataFrame({"age": [30, 30, 30, None]})),
        ("pandas Int64", pandas.DataFrame({"age": pandas.array([30, 30, 30, None], dtype="Int64")})),
        ("pandas NaT", pandas.DataFrame({"age": pandas.to_datetime(["2020-01-01"] * 3 + [None])})),
        ("polars", polars.DataFrame({"age": [30, 30, 30, None]})),
        ("pyarrow", pyarrow.table({"age": [30, 30, 30, None]})),
    ]


@pytest.mark.parametrize(("library", "frame"), missing_by_library(), ids=[name for name, _ in missing_by_library()])
def test_verify_counts_a_missing_value_in_a_frame(library: str, frame: Any) -> None:
    """C05: {30, 30, 30, missing} has a group of one row in every library."""
    verdict = check(frame, qi=["age"], k=2)
    assert (verdict.ok, verdict.groups, verdict.smallest_group) == (False, 2, 1)
    with pytest.raises(VerificationError, match=r"the smallest group has 1 row \(first at row 4\)\.$"):
        verify(frame, qi=["age"], k=2)


def test_verify_treats_all_kinds_of_missing_as_one_text() -> None:
    """C06: None, NaN, NA, NaT and the empty text are one group."""
    frame = pandas.DataFrame({"x": pandas.Series([None, float("nan"), pandas.NA, pandas.NaT, ""], dtype=object)})
    assert verify(frame, qi=["x"], k=5).groups == 1


def test_verify_passes_frames_of_every_library() -> None:
    table = {"age": ["[1, 2]"] * 2, "zip": ["02139"] * 2}
    for frame in (pandas.DataFrame(table), polars.DataFrame(table), pyarrow.table(table)):
        assert verify(frame, qi=["age", "zip"], k=2, original=frame).ok


def test_verify_refuses_a_table_without_rows(tmp_path: Path) -> None:
    """B02: no rows, no release."""
    path = save(tmp_path / "out.csv", [], ["x"])
    with pytest.raises(VerificationError, match="no data rows"):
        verify(path, qi=["x"], k=1)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_verify_finds_the_delimiter(delimiter: str, tmp_path: Path) -> None:
    path = save(tmp_path / "out.csv", [["1", "a;b,c|d"]] * 2, ["age", "the city"], delimiter=delimiter)
    assert verify(path, qi=["age", "the city"], k=2).groups == 1
    path.write_text(path.read_text().replace(delimiter, delimiter + " "))
    assert verify(os.fspath(path), qi=["the city", "age"], k=2).groups == 1


def test_verify_reads_files_in_their_dialect(tmp_path: Path) -> None:
    released = tmp_path / "out.txt"
    released.write_bytes("Köln;1\nKöln;1\n".encode("latin-1"))
    original = save(tmp_path / "in.csv", [["Köln", "1"]] * 2, ["column1", "column2"])
    dialect = Dialect(delimiter=";", encoding="latin-1", header=False)
    assert verify(released, qi=["column1", "column2"], k=2, dialect=dialect, original=original).ok
    assert verify(original, qi=["column1"], k=2, original=released, original_dialect=dialect).ok


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"k": 0}, "k=0 is not a positive integer"),
        ({"k": 1.5}, "k=1.5 is not a positive integer"),
        ({"k": True}, "k=True is not a positive integer"),
        ({"qi": []}, "there is no quasi-identifier"),
        ({"qi": "age"}, "qi='age' is a text. Give a list"),
        ({"qi": ["aeg"]}, "column 'aeg' is not in the released table. It has 2 columns"),
        ({"qi": ["age", "xyz"]}, "column 'xyz' is not in the released table. It has 2 columns"),
        ({"sensitive": ["diseas"]}, "column 'diseas' is not in the released table. It has 2 columns"),
        ({"sensitive": "disease"}, "sensitive='disease' is a text"),
        ({"sensitive": ["age"]}, "column 'age' is named twice"),
        ({"kinds": {"age": "number"}}, "kind 'number' of column 'age' is not known. Use one of numeric, categorical"),
        ({"kinds": {"ag": "numeric"}}, "column 'ag' is not in the released table. It has 2 columns"),
        ({"date_formats": {"ag": "%Y"}}, "column 'ag' is not in the released table. It has 2 columns"),
        ({"original": {"age": [1]}}, "a dict is not a table"),
    ],
)
def test_verify_refuses_wrong_arguments(arguments: dict[str, Any], problem: str, tmp_path: Path) -> None:
    """B04, B17: what is wrong, what is allowed."""
    path = save(tmp_path / "out.csv", [["canary1", "canary2"]] * 2, ["age", "disease"])
    with pytest.raises(UsageError, match=re.escape(problem)) as caught:
        verify(path, **({"qi": ["age"], "k": 2} | arguments))
    assert "canary" not in str(caught.value)


def test_verify_names_a_column_that_the_original_lacks(tmp_path: Path) -> None:
    path = save(tmp_path / "out.csv", [["1"]], ["age"])
    original = save(tmp_path / "in.csv", [["1"]], ["Age"])
    with pytest.raises(UsageError, match=r"column 'age' is not in the original table\. It has 1 column"):
        verify(path, qi=["age"], k=1, original=original)


def test_verify_names_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"gone\.csv: cannot be read: No such file"):
        verify(tmp_path / "gone.csv", qi=["age"], k=2)
    broken = tmp_path / "broken.csv"
    broken.write_text('age,x\n1,2\n1,"2\n')
    with pytest.raises(InputError, match=r"broken\.csv: line 3: a quoted cell is not closed"):
        verify(broken, qi=["age"], k=2)


# ---- against an original, without a witness

SOURCE_HEADER = ["name", "age", "city", "disease"]
SOURCE = [
    ["Ann", "31", "Ulm", "flu"],
    ["Bob", "45", "Bonn", "cold"],
    ["Cyd", "50", "Ulm", "flu"],
    ["Dee", "62", "Köln", "gout"],
    ["Eve", "?", "Köln", "cold"],
]
RELEASED = [
    ["*", "{Bonn, Köln}", "cold"],
    ["*", "{Bonn, Köln}", "cold"],
    ["*", "{Bonn, Köln}", "gout"],
    ["[31, 50]", "Ulm", "flu"],
    ["[31, 50]", "Ulm", "flu"],
]


def run_check(path: Path, rows: Sequence[Sequence[str]], header: Sequence[str] = ("age", "city", "disease")) -> Verdict:
    released = save(path / "out.csv", rows, header)
    original = save(path / "in.csv", SOURCE, SOURCE_HEADER)
    kinds = {"age": "numeric", "city": Kind.CATEGORICAL}
    return check(
        released, qi=["age", "city"], k=2, sensitive=["disease"], original=original, kinds=kinds, missing=["?"]
    )


def edited(change: Callable[[list[list[str]]], Any]) -> list[list[str]]:
    rows = [list(row) for row in RELEASED]
    change(rows)
    return rows


def test_check_finds_the_assignment(tmp_path: Path) -> None:
    assert run_check(tmp_path, RELEASED).violations == ()
    assert run_check(tmp_path, RELEASED[:3]).violations == ()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            edited(lambda r: [row.__setitem__(0, "[31, 49]") for row in r[3:]]),
            "rows: 1 of 5 cannot be matched",
        ),
        (
            edited(lambda r: [row.__setitem__(0, "[1, 9]") for row in r[3:]]),
            "column 'age': the cells of 2 rows cover no",
        ),
        (edited(lambda r: r[0].__setitem__(2, "gout")), "rows: 1 of 5 cannot be matched"),
        (edited(lambda r: r[0].__setitem__(2, "measles")), "rows: 1 of 5 cannot be matched"),
        (edited(lambda r: r.append(r[-1])), "rows: the release has 6, the original only 5"),
        (edited(lambda r: r.append(r[-1])), "rows: 1 of 6 cannot be matched"),
        (
            edited(lambda r: [row.__setitem__(0, "[45, 62]") for row in r[:3]]),
            "rows: 1 of 5 cannot be matched",
        ),
    ],
)
def test_check_refuses_what_no_assignment_explains(rows: list[list[str]], expected: str, tmp_path: Path) -> None:
    """C03: without a row map, the rows must still fit one to one."""
    verdict = run_check(tmp_path, rows)
    assert not verdict.ok
    assert any(text.startswith(expected) for text in verdict.violations), verdict.violations
    assert not any(cell in str(verdict.violations) for cell in ("Ulm", "Bonn", "flu", "cold", "gout", "31"))


def test_check_names_columns_that_the_original_lacks(tmp_path: Path) -> None:
    """L02: an index column is noticed."""
    rows = [[str(n), *row] for n, row in enumerate(RELEASED)]
    verdict = run_check(tmp_path, rows, ["index", "age", "city", "disease"])
    assert verdict.violations == ("columns: 1 of 4 columns is not in the original ('index').",)


def test_check_compares_every_shared_column(tmp_path: Path) -> None:
    rows = [[*row, name] for row, name in zip(RELEASED, ["Eve", "Bob", "Dee", "Cyd", "Ann"], strict=True)]
    assert run_check(tmp_path, rows, ["age", "city", "disease", "name"]).ok
    rows[0][3] = "Bob"
    assert not run_check(tmp_path, rows, ["age", "city", "disease", "name"]).ok


def test_check_revises_its_choices() -> None:
    """A chain in which each released row has two candidates and only one assignment places all of them."""
    n = 400
    original = polars.DataFrame({"x": [str(i) for i in range(n)]})
    released = polars.DataFrame({"x": ["0", *(f"[{i - 1}, {i}]" for i in range(1, n))]})
    assert check(released, qi=["x"], k=1, original=original, kinds={"x": "numeric"}).ok
    released = polars.DataFrame({"x": ["0", "0", *(f"[{i - 1}, {i}]" for i in range(2, n))]})
    verdict = check(released, qi=["x"], k=1, original=original, kinds={"x": "numeric"})
    assert verdict.violations == (f"rows: 1 of {n} cannot be matched, one to one, with original rows.",)


def test_check_reads_dates_by_their_format() -> None:
    original = polars.DataFrame({"born": ["05.03.1980", "07.11.1979"]})
    released = polars.DataFrame({"born": ["[07.11.1979, 05.03.1980]"] * 2})
    assert check(released, qi=["born"], k=2, original=original, date_formats={"born": "%d.%m.%Y"}).ok
    assert check(released, qi=["born"], k=2, original=original, kinds={"born": "date"}).ok  # the format is found
    assert not check(released, qi=["born"], k=2, original=original, date_formats={"born": "%d/%m/%Y"}).ok


def test_no_limit_of_the_process_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + f"1,{'x' * 200_000}\n" * 1500)
    before = csv.field_size_limit()
    assert {len(cell) for cell in read_original(path, Dialect()).texts()["b"]} == {200_000}
    assert csv.field_size_limit() == before


def test_limits_and_recodings_are_keywords() -> None:
    """Bands, widths and levels of a hierarchy; and the recoding that the gate applies to the original itself."""
    original = polars.DataFrame({"age": ["20", "24", "33", "97"], "zip": ["0211", "0213", "0211", "0213"]})
    released = polars.DataFrame({"age": ["[20, 25)", "[20, 25)", "[30, 90]", "[30, 90]"], "zip": ["021*"] * 4})
    paths = {"zip": {"0211": ("021*", "*"), "0213": ("021*", "*")}}
    labels = {"zip": {"021*": ["0211", "0213"]}}
    options: Any = {"qi": ["age", "zip"], "k": 2, "original": original, "labels": labels, "paths": paths}
    recode = {"age": "top:90"}
    assert not check(released, **options).ok
    assert check(released, **options, recode=recode).ok
    assert check(released, **options, recode=recode, max_width={"age": 60}, coarsest={"zip": 1}).ok
    for limit in (
        {"max_width": {"age": 59}},
        {"uniform": {"age": 5}},
        {"finest": {"zip": 2}},
        {"coarsest": {"zip": 0}},
    ):
        verdict = check(released, **options, recode=recode, **limit)
        assert any("the limit" in text or "the bands" in text for text in verdict.violations), limit
    with pytest.raises(UsageError, match=r"max_width.* age=wide: use a number"):
        check(released, **options, max_width={"age": "wide"})
    with pytest.raises(UsageError, match="is not a recoding"):
        check(released, **options, recode={"age": "90"})
    with pytest.raises(UsageError, match="'numbers' is not a keyword of this function"):
        check(released, **options, numbers=["age"])
