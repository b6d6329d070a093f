"""The learners: fitted on features and classes, they tell the class of other rows."""

from __future__ import annotations

import importlib
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.evaluate.sklearn import sklearn_module

__all__ = ["LEARNERS", "check_learners", "fit_learner"]

LEARNERS = ("zero-r", "logistic", "tree", "boosting")
SMALLEST_LEAF = 20  # rows of a leaf of the tree, so that it does not learn single rows by heart
Classes = NDArray[np.object_]


class ZeroR:
    """Tells everybody the most frequent class; the features do not matter."""

    def __init__(self, classes: Classes) -> None:
        counts = Counter(classes.tolist())
        self.told = min(counts, key=lambda name: (-counts[name], name))

    def predict(self, features: NDArray[np.float64]) -> Classes:
        """Return the class of each row."""
        return np.full(len(features), self.told, dtype=object)


def check_learners(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names if all are known, each of them once."""
    strange = [name for name in names if name not in LEARNERS]
    if strange or not names:
        found = f"learner {strange[0]!r} is not known" if strange else "no learner is named"
        raise UsageError(f"{found}. Learners: {', '.join(LEARNERS)}.")
    return tuple(dict.fromkeys(names))


def fit_learner(name: str, features: NDArray[np.float64], classes: Classes, seed: int) -> Any:
    """Return a learner fitted on these rows; with one class alone, or no feature, all learners are ZeroR.

    zero-r: the most frequent class. logistic: logistic regression on standardised features. tree: a decision tree by
    entropy with leaves of 20 rows or more. boosting: gradient boosted trees on histograms. One thread, so that sums of
    floats have one order.
    """
    if name == "zero-r" or features.shape[1] == 0 or len(set(classes.tolist())) == 1:
        return ZeroR(classes)
    model = _model(name, seed)
    with warnings.catch_warnings(), _one_thread():
        warnings.simplefilter("ignore", sklearn_module("exceptions").ConvergenceWarning)
        return model.fit(features, classes)


def _one_thread() -> Any:
    return importlib.import_module("threadpoolctl").threadpool_limits(1)  # comes with scikit-learn


def _model(name: str, seed: int) -> Any:
    if name == "logistic":
        steps = (
            sklearn_module("preprocessing").StandardScaler(),
            sklearn_module("linear_model").LogisticRegression(max_iter=500),
        )
        return sklearn_module("pipeline").make_pipeline(*steps)
    if name == "tree":
        return sklearn_module("tree").DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=SMALLEST_LEAF, random_state=seed
        )
    return sklearn_module("ensemble").HistGradientBoostingClassifier(random_state=seed)
