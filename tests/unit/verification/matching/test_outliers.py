"""The gate recodes the original itself: a wrong bound, label or cell is found."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.main import run
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


@pytest.mark.parametrize("coding", [("top", "cold", "cold"), ("top", "90%", ""), ("bottom", "zzz", "zzz")], ids=str)
def test_texts_have_no_bound(tmp_path: Path, coding: tuple[str, str, str]) -> None:
    """A forged manifest cannot call one disease the bound of another, or blank them all."""
    frame = pl.DataFrame({"age": ["20", "30"] * 4, "disease": ["flu"] * 4 + ["hiv"] * 4})
    frame.write_csv(tmp_path / "data.csv")
    path = tmp_path / "out.csv"
    release = frame.with_columns(pl.lit(coding[2]).alias("disease"))
    manifest = shoal.anonymize(release, qi=["age"], sensitive=["disease"], k=4).write(path)
    facts = json.loads(manifest.read_text())
    facts["columns"][1]["recode"] = [dict(zip(("form", "given", "text"), coding, strict=True))]
    manifest.write_text(json.dumps(facts))
    with pytest.raises(VerificationError, match="cannot be matched"):
        shoal.verify(path, original=tmp_path / "data.csv")


def test_a_recoded_column_with_a_unit_is_read_in_its_form_with_settings_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"income": [f"${n},000" for n in range(20, 60)]})
    frame.write_csv(tmp_path / "data.csv")
    settings = tmp_path / "shoal.toml"
    for bound in ("$50,000", "50000", "90%"):
        shoal.anonymize(frame, qi=["income"], k=5, recode={"income": f"top:{bound}"}).write(
            tmp_path / "out.csv", force=True
        )
        settings.write_text(f'k = 5\n[recode]\nincome = "top:{bound}"\n[columns.income]\nrole = "qi"\n')
        for more in ([], ["--original", str(tmp_path / "data.csv")]):
            with pytest.raises(SystemExit) as ended:
                run(["verify", str(tmp_path / "out.csv"), "--config", str(settings), *more])
            assert ended.value.code == 0


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
