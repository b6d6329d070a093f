"""The benchmarks of what releases are good for: splits, learners and their page. No figure of theirs is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from benchmarks import downstream
from benchmarks.learning import boosting, half_interval, interval, split_rows


def test_splits_release_two_thirds_and_test_on_the_rest() -> None:
    frame = pl.DataFrame({"age": [str(i) for i in range(60)], "rich": ["no"] * 30 + ["yes"] * 30})
    split = split_rows(frame, {"age": "numeric"}, "rich", seed=1, n_rows=30)
    assert split.train.height == 20
    assert split.held_out.shape == (10, 1)
    assert not {*split.train["age"]} & {str(int(age)) for age in split.held_out[:, 0]}
    assert split_rows(frame, {"age": "numeric"}, "rich", seed=1, n_rows=30).train.equals(split.train)
    score = split.score(split.train, boosting(max_iter=2, min_samples_leaf=2))
    assert score.accuracy > 0.8
    assert 0 < score.log_loss < 0.7


def test_intervals_are_those_of_t() -> None:
    assert half_interval([1.0, 2.0, 3.0]) == pytest.approx(4.303 / 3**0.5)
    assert interval([0.5]) == "+0.50000"


def test_downstream_script_writes_its_figures_and_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downstream, "KS", (5,))
    monkeypatch.setattr(downstream, "TREES", 2)
    out = tmp_path / "figures.json"
    downstream.main(["--tables", "patients", "--splits", "1", "--rows", "120", "--queries", "5", "--out", str(out)])
    [split] = json.loads(out.read_text("utf-8"))["tables"]["patients"]
    assert len(split) == 1 + len(downstream.METHODS) * len(downstream.FORMS)
    assert split["original"]["queries"] == 0
    assert split["original"]["deviation"] == pytest.approx(1)
    assert all(figures.keys() == downstream.FIGURES.keys() for figures in split.values())
    page = out.with_suffix(".md").read_text("utf-8")
    assert f"{split['kaca 5 center']['boosting']:.1%} |" in page
    out.with_suffix(".md").unlink()
    downstream.main(["--page", "--out", str(out)])
    assert out.with_suffix(".md").read_text("utf-8") == page
