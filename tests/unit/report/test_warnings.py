"""Warnings of a report: the public part redacts by field, whatever the wording of a note."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.errors import Note, file_path, setting
from shoal.report.figures import Evidence, Written, gather
from shoal.report.warnings import warnings_of

K = 5


@pytest.fixture(scope="module")
def release() -> shoal.Release:
    frame = pl.DataFrame({"age": [20 + i % 7 for i in range(40)], "disease": [f"d{i % 4}" for i in range(40)]})
    return shoal.anonymize(frame, qi=["age"], sensitive=["disease"], k=K)


def evidence_of(release: shoal.Release, *notes: str) -> Evidence:
    written = Written("out.csv", "0" * 64, "out.csv.manifest.json", 40, 7, K)
    return gather(replace(release, notes=notes), written)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wording",
    [
        "{n} rows stand out",
        "only {n}",
        "rows={n}",
        "'{n}' is how many",
        "of 100 rows, {n}% are not {n}, x{n}y",
        "a table of\n{n}\nlines",
    ],
)
def test_counts_below_k_are_redacted_whatever_the_wording(release: shoal.Release, wording: str) -> None:
    """C21, R06."""
    note = Note("column 'a 4'", wording, "see page 4", {"n": 3})
    evidence = evidence_of(release, note)
    (public,), (private,) = (warnings_of(evidence, private=private) for private in (False, True))
    assert "3" not in public["text"] + public["cure"]
    assert "fewer than 5" in public["text"]
    assert "3" in private["text"]
    assert public["cure"] == "See page 4."
    assert public["text"].startswith("Column 'a 4': "), "a number in a name is not a count"


def test_counts_of_k_and_more_are_shown(release: shoal.Release) -> None:
    (warning,) = warnings_of(evidence_of(release, Note("", "{n} rows stand out", counts={"n": K})), private=False)
    assert warning == {"text": "5 rows stand out.", "cure": ""}


def test_plain_strings_are_private(release: shoal.Release) -> None:
    """Nobody knows which counts a plain string mentions."""
    evidence = evidence_of(release, "3 people stand out")
    assert warnings_of(evidence, private=False) == []
    assert warnings_of(evidence, private=True) == [{"text": "3 people stand out.", "cure": ""}]


def test_folders_are_private(release: shoal.Release) -> None:
    note = Note(file_path("/home/ann/zip.csv"), "its labels are long", f"use {setting('snap', True)}")
    evidence = evidence_of(release, note)
    assert warnings_of(evidence, private=False) == [{"text": "zip.csv: its labels are long.", "cure": "Use snap=True."}]
    assert warnings_of(evidence, private=True)[0]["text"] == "/home/ann/zip.csv: its labels are long."
