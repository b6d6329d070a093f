"""A release under differential privacy: who draws the sample, what is refused, and what the verifier sees."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError, UsageError, VerificationError
from shoal.methods.full_domain.sampling import draw_rows
from shoal.methods.registry import infos
from shoal.tables.table import from_frame

MODEL = shoal.DifferentialPrivacy(epsilon=1, delta="0.01")  # a share of 0.632, groups of 21
AGES = {str(age): (f"[{age // 10 * 10}, {age // 10 * 10 + 10})", "*") for age in range(20, 80)}
N_ROWS = 3000


def people(n_rows: int = N_ROWS) -> pl.DataFrame:
    draw = random.Random(5)
    ages = [str(min(79, max(20, int(draw.gauss(45, 12))))) for _ in range(n_rows)]
    return pl.DataFrame({"age": ages, "sex": [draw.choice("fm") for _ in range(n_rows)]})


OPTIONS: dict[str, Any] = {
    "qi": ["age", "sex"],
    "hierarchies": {"age": shoal.hierarchy.from_dict(AGES)},
    "categorical": ["age"],
    "k": 1,
    "models": [MODEL],
    "method": "optimal",
    "options": {"levels": "age=1,sex=0"},
}


def release(frame: Any, **changes: Any) -> shoal.Release:
    return shoal.anonymize(frame, **(OPTIONS | changes))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_bytes(b"a secret of more than 16 bytes")
    path.chmod(0o600)
    return path


def test_sample_has_the_share_and_levels_are_fixed() -> None:
    made = release(people())
    drawn = made.measures.rows + made.measures.suppressed_rows
    assert abs(drawn / N_ROWS - 0.632) < 0.06, "more than six deviations"
    assert made.measures.smallest_group >= MODEL.minimum_size
    assert made.levels == {"age": 1, "sex": 0}
    assert set(made.text["sex"]) == {"f", "m"}
    assert any("another run gives another sample" in str(note) for note in made.notes)


def test_system_draws_anew_and_a_key_draws_again(key: Path) -> None:
    """The seed is not used: it protects nothing."""
    frame = people()
    assert len({release(frame, seed=7).text.write_csv() for _ in range(3)}) == 3
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    texts = {release(each, key_file=key, seed=seed).text.write_csv() for seed, each in enumerate((frame, shuffled))}
    assert len(texts) == 1
    key.write_bytes(b"another secret of 16 bytes or more")
    assert release(frame, key_file=key).text.write_csv() not in texts


@pytest.mark.parametrize("more", [{}, {"roll_up": "database"}, {"recode": {"age": "rare:30"}}], ids=str)
def test_duckdb_draws_the_rows_of_memory(
    more: dict[str, Any], key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision depends on all cells of a row, and on the equal ones before it; a block of the file is no border."""
    monkeypatch.setattr("shoal.tables.formats.blocks.BLOCK_BYTES", 3_000)
    path, given = tmp_path / "in.csv", {"key_file": key, "drop": ["visit"], "unknown": "top"} | more
    people().with_columns(visit=pl.Series([str(n % 3) for n in range(N_ROWS)])).write_csv(path)
    duck = release(path, engine="duckdb", **given)
    given.pop("roll_up", None)
    memory = release(path, **given)
    assert duck.measures == memory.measures
    assert [str(note) for note in duck.notes] == [str(note) for note in memory.notes]
    for made, name in ((duck, "duck.csv"), (memory, "memory.csv")):
        made.write(tmp_path / name)
    assert (tmp_path / "duck.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()


def test_duckdb_draws_anew_without_a_key(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    people().write_csv(path)
    assert len({release(path, engine="duckdb").frame.write_csv() for _ in range(2)}) == 2
    people(10).write_csv(path)
    with pytest.raises(InfeasibleError, match="the sample has"):
        release(path, engine="duckdb")


def test_equal_rows_are_drawn_apart() -> None:
    rows = draw_rows(from_frame(pl.DataFrame({"a": ["x"] * 4000})), MODEL.share, b"k" * 16)
    assert abs(len(rows) / 4000 - 0.632) < 0.05


def test_frame_of_each_library_is_returned() -> None:
    made = release(pd.DataFrame(people().to_dict(as_series=False)))
    assert isinstance(made.frame, pd.DataFrame)
    assert len(made.frame) == made.measures.rows


def written(tmp_path: Path, key: Path) -> tuple[Path, Path]:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    people().write_csv(source)
    release(source, key_file=key).write(out)
    return source, out


def test_release_passes_gate_and_verifier(tmp_path: Path, key: Path) -> None:
    """A row that was not drawn is not a suppressed one: nothing published counts it."""
    source, out = written(tmp_path, key)
    content = json.loads(Path(f"{out}.manifest.json").read_text())
    assert content["suppressed_rows"] == "not limited"
    labels = {"age": {label: [age for age in AGES if AGES[age][0] == label] for label, _ in AGES.values()}}
    for original in (None, source):
        verdict = shoal.verify(out, qi=["age", "sex"], models=[MODEL], original=original, labels=labels)
        assert verdict.ok
        assert any("drawn at random" in str(note) for note in verdict.unchecked)


def test_group_that_lost_rows_is_found(tmp_path: Path, key: Path) -> None:
    _, out = written(tmp_path, key)
    Path(f"{out}.manifest.json").unlink()
    lines = out.read_text().splitlines(keepends=True)
    labels = {"age": {label: [age for age in AGES if AGES[age][0] == label] for label, _ in AGES.values()}}
    terms: dict[str, Any] = {"qi": ["age", "sex"], "k": 1, "models": [MODEL], "labels": labels}
    out.write_text("".join([lines[0], *(line for line in lines[1:] if line != lines[1]), *[lines[1]] * 20]))
    with pytest.raises(VerificationError, match=r"differential-privacy epsilon=1 delta=0\.01: 1 of"):
        shoal.verify(out, **terms)


def test_file_of_all_rows_is_no_sample(tmp_path: Path) -> None:
    """A k-anonymous file cannot pass for a sample if the original is at hand."""
    plain = release(people(), models=[], k=MODEL.minimum_size, suppression_limit=1)
    source, out = tmp_path / "in.csv", tmp_path / "all.csv"
    people().write_csv(source)
    plain.write(out)
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    content["models"].append(MODEL.describe())
    content["requirements"].append(MODEL.spec())
    manifest.write_text(json.dumps(content))
    labels = {"age": {label: [age for age in AGES if AGES[age][0] == label] for label, _ in AGES.values()}}
    assert shoal.verify(out, qi=["age", "sex"], labels=labels).ok, "nothing shows in the file alone"
    with pytest.raises(VerificationError, match=r"a sample with a share of 0\.6321 has fewer"):
        shoal.verify(out, qi=["age", "sex"], original=source, labels=labels)


def test_manifest_that_promises_more_is_found(tmp_path: Path, key: Path) -> None:
    _, out = written(tmp_path, key)
    manifest = Path(f"{out}.manifest.json")
    text = manifest.read_text().replace('"delta": "1/100"', '"delta": "1/1000000000000"')
    manifest.write_text(text.replace("delta = 0.01", "delta = 1e-12"))
    with pytest.raises(VerificationError, match="differential-privacy"):
        shoal.verify(out)


def test_column_that_groups_do_not_count_is_found(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["a"] * 30, "ill": ["flu"] * 30})
    with pytest.raises(VerificationError, match="'ill' released, which no group counts"):
        shoal.verify(frame, qi=["age"], sensitive=["ill"], k=1, models=[MODEL])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"options": {}},
            "'age', 'sex' have none. Use the option levels of the method (options=), such as levels=age=1,sex=1",
        ),
        ({"options": {"levels": "age=1"}}, "'sex' has none"),
        ({"options": {"minimum": "age=0,sex=0", "maximum": "age=1,sex=0"}}, "'age' has none"),
        ({"qi": ["age"], "sensitive": ["sex"]}, "'sex' would stay unchanged"),
        ({"qi": ["age"], "insensitive": ["sex"], "accept_unique": ["sex"]}, "'sex' would stay unchanged"),
        ({"qi": ["age"], "person": "sex"}, "protects rows"),
        ({"keep_order": True}, "sorts the rows"),
        ({"hierarchies": {"age": "auto"}}, "a hierarchy of 'age' would be proposed from the data"),
        ({"suppression_limit": 0.1}, "suppresses every group that is too small"),
        ({"models": [MODEL, shoal.AverageRisk(0.1)]}, "cannot be combined with average risk"),
        ({"models": [MODEL, MODEL]}, "given twice"),
    ],
)
def test_what_breaks_the_argument_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=re.escape(reason)):
        release(people(200), **changes)


@pytest.mark.parametrize("method", [info.name for info in infos() if info.name not in ("optimal", "incognito")])
def test_other_methods_refuse(method: str) -> None:
    with pytest.raises(UsageError, match="Methods that can: incognito, optimal"):
        release(people(100), method=method, options={})


def test_incognito_releases_the_same_rows(key: Path) -> None:
    texts = {release(people(), method=method, key_file=key).text.write_csv() for method in ("optimal", "incognito")}
    assert len(texts) == 1


def test_comparison_refuses() -> None:
    with pytest.raises(UsageError, match="runs cannot be compared"):
        shoal.compare(people(100), qi=["age"], k=[2], models=[MODEL], methods=["optimal"], jobs=1)


def test_sample_that_is_too_small_is_refused() -> None:
    with pytest.raises(InfeasibleError, match=r"the sample has \d+ rows, and every group needs 21"):
        release(people(15))


def test_other_sizes_may_be_required_too(key: Path) -> None:
    made = release(people(), key_file=key, models=[MODEL, shoal.MaximalRisk("0.02")])
    assert made.measures.smallest_group >= 50
