"""Learners: classifiers that are fitted on features and classes and predict the classes of other rows."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.evaluate.extra import extra_module

__all__ = ["LEARNERS", "check_learners", "fit_learner"]

LEARNERS = ("zero-r", "logistic", "tree", "boosting")
SMALLEST_LEAF = 20  # rows in each leaf of the tree, so that it does not memorise single rows
Classes = NDArray[np.object_]


class ZeroR:
    """Predicts the most frequent class for every row and ignores the features."""

    def __init__(self, classes: Classes) -> None:
        counts = Counter(classes.tolist())
        self.class_name = min(counts, key=lambda name: (-counts[name], name))

    def predict(self, features: NDArray[np.float64]) -> Classes:
        """Return the predicted class of each row."""
        return np.full(len(features), self.class_name, dtype=object)


def check_learners(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without duplicates.

    Raises:
        UsageError: A name is unknown, or there is none.
    """
    unknown_names = [name for name in names if name not in LEARNERS]
    if unknown_names or not names:
        problem = f"learner {unknown_names[0]!r} is unknown" if unknown_names else "no learner is named"
        raise UsageError(f"{problem}. Learners: {', '.join(LEARNERS)}.")
    return tuple(dict.fromkeys(names))


def fit_learner(name: str, features: NDArray[np.float64], classes: Classes, seed: int) -> Any:
    """Fit a learner; it becomes ZeroR if there is only one class, or no feature.

    - zero-r: the most frequent class.
    - logistic: logistic regression on standardised features.
    - tree: a decision tree by entropy, with at least 20 rows in each leaf.
    - boosting: gradient boosted trees on histograms.

    It runs in one thread, so that floats are always added in the same order.
    """
    if name == "zero-r" or features.shape[1] == 0 or len(set(classes.tolist())) == 1:
        return ZeroR(classes)
    model = _model(name, seed)
    with warnings.catch_warnings(), _one_thread():
        warnings.simplefilter("ignore", extra_module("sklearn.exceptions").ConvergenceWarning)
        return model.fit(features, classes)


def _one_thread() -> Any:
    return extra_module("threadpoolctl").threadpool_limits(1)


def _model(name: str, seed: int) -> Any:
    if name == "logistic":
        steps = (
            extra_module("sklearn.preprocessing").StandardScaler(),
            extra_module("sklearn.linear_model").LogisticRegression(max_iter=500),
        )
        return extra_module("sklearn.pipeline").make_pipeline(*steps)
    if name == "tree":
        return extra_module("sklearn.tree").DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=SMALLEST_LEAF, random_state=seed
        )
    return extra_module("sklearn.ensemble").HistGradientBoostingClassifier(random_state=seed)
