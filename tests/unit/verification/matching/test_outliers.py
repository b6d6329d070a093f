"""The gate recodes the original itself: a wrong bound, label or cell is found."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import VerificationError
from shoal.release.gate import Gate

FRAME = pl.DataFrame(
    {
        "age": [str(age) for age in (*range(20, 50), 95, 97, 99)],
        "job": ["a"] * 16 + ["b"] * 15 + ["c", "d"],
        "gain": [str(n * n) for n in range(33)],
    }
)
SETTINGS = {"qi": ["age", "job"], "insensitive": ["gain"], "accept_unique": ["gain"], "k": 3}
RECODE = {"age": "top:60", "job": "rare:5", "gain": "top:90%"}


def test_a_changed_cell_bound_or_label_is_found(tmp_path: Path) -> None:
    """Every change of a released file, or of what its manifest says about the recoding, is a violation."""
    release = shoal.anonymize(FRAME, **SETTINGS, recode=RECODE)  # type: ignore[arg-type]
    path = tmp_path / "out.csv"
    manifest = release.write(path)
    FRAME.write_csv(tmp_path / "data.csv")
    assert Gate(release).check_file(path).ok
    assert shoal.verify(path, original=tmp_path / "data.csv").ok
    content = path.read_text()
    bound = release.schema.columns[2].codings[0].text
    for old, new in ((f",{bound}\n", ",1024\n"), ("other", "c")):
        assert old in content
        path.write_text(content.replace(old, new, 1))
        with pytest.raises(VerificationError):
            Gate(release).check_file(path)
    path.write_text(content)
    facts = json.loads(manifest.read_text())
    for place, key, value in ((0, "text", "70"), (1, "text", "rest"), (2, "text", "5"), (0, "given", "70")):
        changed = json.loads(json.dumps(facts))
        changed["columns"][place]["recode"][0][key] = value
        manifest.write_text(json.dumps(changed))
        with pytest.raises(VerificationError):
            shoal.verify(path, original=tmp_path / "data.csv")


def test_without_the_original_no_cell_lies_beyond_a_bound(tmp_path: Path) -> None:
    release = shoal.anonymize(FRAME, **SETTINGS, recode=RECODE)  # type: ignore[arg-type]
    path = tmp_path / "out.csv"
    manifest = release.write(path)
    facts = json.loads(manifest.read_text())
    facts["columns"][2]["recode"][0]["text"] = "10"
    manifest.write_text(json.dumps(facts))
    with pytest.raises(VerificationError, match="above the bound of its recoding"):
        shoal.verify(path)


def test_a_recoded_cell_counts_with_all_that_it_may_mean(tmp_path: Path) -> None:
    """Measured from the partition or from the file, against the original; not as an exact value."""
    frame = pl.DataFrame({"age": ["20"] * 4 + ["60"] * 2 + ["100"] * 2, "job": ["a"] * 4 + ["b", "c", "b", "c"]})
    recode = {"age": "top:60", "job": "rare:3"}
    release = shoal.anonymize(frame, qi=["age", "job"], k=4, recode=recode)
    assert release.measures.per_attribute == {"age": pytest.approx(0.5 * 40 / 80), "job": pytest.approx(0.5 * 2 / 3)}
    again = shoal.measure(frame, release.text, qi=["age", "job"], k=4, recode=recode)
    assert again.ncp == release.measures.ncp
