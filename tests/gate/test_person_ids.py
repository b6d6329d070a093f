"""Ids of people: one person counts once, however the id is written, for the maker and for every gate."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import VerificationError
from shoal.schema import Kind, Role, Schema
from shoal.tables.sources.duck.people import MetIds
from shoal.tables.values.people import person_codes
from shoal.verification import SourceTable, gate, gate_dealt
from shoal.verification.gate_streamed import tallies
from shoal.verification.gate_streamed.groups import GroupCount, examine_groups
from shoal.verification.gate_streamed.tallies import PERSON, SIZE

SPELLINGS = ["P1", "P1 ", " P1", "\tP1"]
ABSENT = ["", "NA", "?", " NA "]
SCHEMA = Schema.build(
    ["age", "pid"], {Role.QI: ["age"], Role.PERSON: ["pid"]}, missing=["NA", "?"], kinds={"age": Kind.NUMERIC}
)


def ids_of(first: list[str]) -> list[str]:
    return [*first, *(f"Q{i}" for i in range(6))]


@pytest.mark.parametrize(
    ("ids", "codes"),
    [
        (["", "a", "b c", "z"], [0, 1, 2, 3]),
        (["", "NA", "a"], [0, 0, 1]),
        ([" a", "A", "a", "a\u00a0"], [0, 1, 0, 0]),
        (["e\u0301", "\u00e9"], [0, 0]),
        (["NA", "a"], [0, 1]),
    ],
)
def test_codes_of_people(ids: list[str], codes: list[int]) -> None:
    assert person_codes(pl.Series(ids), ["NA"]).tolist() == codes


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("first", [SPELLINGS, ABSENT], ids=["spellings", "absent"])
def test_one_person_is_no_group(first: list[str], engine: str, tmp_path: Path) -> None:
    """Four rows of one person, whose id is written in four ways, would be a group of k = 4 people."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    pl.DataFrame({"pid": ids_of(first), "age": [30] * 4 + [50] * 6}).write_csv(path)
    release = shoal.anonymize(path, qi=["age"], person="pid", missing=["NA", "?"], k=4, engine=engine)
    release.write(out)
    assert "30\n" not in out.read_text()
    assert shoal.verify(out, original=path, person="pid", missing=["NA", "?"], k=4).ok
    plain = tmp_path / "plain.csv"
    pl.DataFrame({"age": [30] * 4 + [50] * 6}).write_csv(plain)
    with pytest.raises(VerificationError, match="1 person"):
        shoal.verify(plain, original=path, qi=["age"], person="pid", missing=["NA", "?"], k=4)


@pytest.mark.parametrize("first", [SPELLINGS, ABSENT], ids=["spellings", "absent"])
def test_gates_count_people(first: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a wrong maker states one id as two, if ids come with their rows, and if pairs go to files."""
    ages, ids, out = ["30"] * 4 + ["50"] * 6, ids_of(first), tmp_path / "out.csv"
    pl.DataFrame({"age": ages}).write_csv(out)
    claims = {"rows": 10, "groups": 2, "smallest_group": 4, "suppressed_rows": 0}
    assert not gate(out, SCHEMA, 4, {"age": ages, "pid": ids}, range(10), claims).ok
    assert gate(out, SCHEMA, 1, {"age": ages, "pid": ids}, range(10), claims).ok
    for texts, ok in ((ids, False), (["P1"] * 4 + ids[4:], False), ([*"abcd", *ids[4:]], True)):
        codes = [np.array([0] * 4 + [1] * 6, dtype=np.int32), np.arange(10, dtype=np.int32)]
        stated = SimpleNamespace(texts=[["30", "50"], texts], chunks=iter([codes]), left_out=iter(()))
        verdict = gate_dealt(out, SCHEMA, 4, SourceTable(iter([(ages, texts)])), stated, claims)
        assert verdict.ok is ok, verdict.violations
        with monkeypatch.context() as patch:
            patch.setattr(tallies, "MOST_RUNS", 2)
            met, groups = MetIds(), np.array([0] * 4 + [1] * 6, dtype=np.int32)
            chunks = ([groups[rows], met.places(pl.Series(texts[rows]))] for rows in (slice(0, 3), slice(3, 10)))
            gathered = SimpleNamespace(texts=[["30", "50"], met], chunks=chunks, left_out=iter(()))
            assert gate_dealt(out, SCHEMA, 4, SourceTable(iter([(ages, texts)])), gathered, claims) == verdict
        counts = [GroupCount((age,), PERSON, text, 1) for age, text in zip(ages, texts, strict=True)]
        counts += [GroupCount((age,), SIZE, "", 1) for age in ages]
        assert (examine_groups(counts, SCHEMA, 4, {}).small == 0) is ok
