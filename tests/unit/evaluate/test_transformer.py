"""The transformer among scikit-learn's own: its checks, pipelines, clones, names."""

from __future__ import annotations

import warnings

import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from shoal.evaluate import ReleaseEncoder

CELLS = {"age": ["[20, 30]", "40", "*", "20"], "sex": ["{F, M}", "M", "F", "F"]}


def test_transformer_passes_the_checks_of_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped for want of other libraries
        found = check_estimator(ReleaseEncoder(), on_fail=None)
    assert [each["check_name"] for each in found if each["status"] == "failed"] == []
    assert len(found) > 30


@pytest.mark.parametrize("frame", [pl.DataFrame(CELLS), pd.DataFrame(CELLS), pl.DataFrame(CELLS).to_arrow()])
def test_frames_of_all_libraries_are_taken(frame: object) -> None:
    encoder = ReleaseEncoder().fit(frame)
    assert list(encoder.get_feature_names_out()) == ["age", "sex=F", "sex=M"]
    assert encoder.transform(frame).tolist() == [[25, 0.5, 0.5], [40, 0, 1], [85 / 3, 1, 0], [20, 1, 0]]


def test_model_of_a_release_is_used_on_originals() -> None:
    model = make_pipeline(ReleaseEncoder(numeric=["age"]), LogisticRegression())
    model.fit(pd.DataFrame(CELLS), ["low", "high", "low", "low"])
    told = model.predict(pd.DataFrame({"age": [21, 41], "sex": ["F", "M"]}))
    assert told.tolist() == ["low", "high"]


def test_options_survive_cloning() -> None:
    encoder = ReleaseEncoder(categorical=["age"], missing=["?"], labels={"sex": {"any": frozenset({"F", "M"})}})
    assert clone(encoder).get_params() == encoder.get_params()
    assert "age=40" in clone(encoder).fit(pl.DataFrame(CELLS)).get_feature_names_out()
    with pytest.raises(NotFittedError):
        clone(encoder).transform(pl.DataFrame(CELLS))
