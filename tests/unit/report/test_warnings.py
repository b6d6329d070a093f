"""Warnings of a report: the public part redacts by field, whatever the wording of a note."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.errors import Note, file_path, setting
from shoal.report.figures import Evidence, Written, gather
from shoal.report.warnings import about_settings, warnings_of
from shoal.report.words import center_sentences

K = 5


@pytest.fixture(scope="module")
def release() -> shoal.Release:
    frame = pl.DataFrame({"age": [20 + i % 7 for i in range(40)], "disease": [f"d{i % 4}" for i in range(40)]})
    return shoal.anonymize(frame, qi=["age"], sensitive=["disease"], k=K)


def evidence_of(release: shoal.Release, *notes: str) -> Evidence:
    written = Written("out.csv", "0" * 64, "out.csv.manifest.json", 40, 7, K)
    return gather(replace(release, notes=notes), written)  # type: ignore[arg-type]


def test_notes_on_the_original_are_private(release: shoal.Release) -> None:
    """C21, R06, L13: neither their counts nor their existence is published."""
    note = Note("column 'age'", "{n} rows stand out", "see page 4", {"n": 30})
    evidence = evidence_of(release, note, "3 people stand out")
    public, private = (warnings_of(evidence, private=private) for private in (False, True))
    assert not any("stand out" in warning["text"] for warning in public)
    assert private == [
        {"text": "Column 'age': 30 rows stand out.", "cure": "See page 4."},
        {"text": "3 people stand out.", "cure": ""},
    ]


def test_notes_on_the_settings_are_public(release: shoal.Release) -> None:
    """C01, C19, L09: whatever the notes of the run say."""
    request = replace(release.request, k=2, common_k=2, keep_order=True, accept_unique=("disease",))
    warnings = warnings_of(evidence_of(replace(release, request=request)), private=False)
    assert [warning["text"].split(",")[0] for warning in warnings] == [
        "A k of 2 protects little.",
        "Rows keep their order",
        "Column 'disease': is released unchanged although some of its values may be rare",
    ]
    assert all(warning["cure"] for warning in warnings)


def test_counts_of_the_release_are_public() -> None:
    """A01: rows in groups that share one value; there are at least k of them."""
    frame = pl.DataFrame({"age": [20] * 6 + [30] * 6, "disease": ["flu"] * 6 + ["flu", "cold"] * 3})
    release = shoal.anonymize(frame, qi=["age"], sensitive=["disease"], k=K)
    warning, *_ = warnings_of(evidence_of(release), private=False)
    assert warning["text"].startswith("Column 'disease': 6 rows are in groups that share one value (15% of")
    assert "l=2" in warning["cure"]


def test_folders_are_private() -> None:
    note = Note(file_path("/home/ann/zip.csv"), "its labels are long", f"use {setting('snap', True)}")
    assert note.sentences(K) == ("zip.csv: its labels are long.", "Use snap=True.")
    assert note.sentences() == ("/home/ann/zip.csv: its labels are long.", "Use snap=True.")


@pytest.mark.parametrize("wording", ["{n} rows stand out", "only {n}", "'{n}' is how many", "of 100 rows, {n}% x{n}y"])
def test_counts_below_k_are_redacted_whatever_the_wording(wording: str) -> None:
    """C21, R06."""
    text, cure = Note("column 'a 4'", wording, "see page 4", {"n": 3}).sentences(K)
    assert "3" not in text
    assert "fewer than 5" in text
    assert text.startswith("Column 'a 4': "), "a number in a name is not a count"
    assert cure == "See page 4."


@pytest.mark.parametrize("spread", [False, True])
def test_a_spread_gives_away_one_more_value(spread: bool, release: shoal.Release) -> None:
    """Mean and standard deviation are two equations for two unknown values."""
    request = replace(release.request, cells="center", center="mean", spread=spread)
    assert any("the last two" in note.text for note in about_settings(request, K)) is spread
    assert any("the last two" in sentence for sentence in center_sentences(request, None, "age", "5")) is spread
