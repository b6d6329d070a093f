"""How useful a release still is: learners, decision trees, range queries and summary statistics.

`utility` runs all of them on an original and its release:

- `learn`, `learn_from_release`, `learn_from_files`, `accuracy`: classification accuracy before and after.
- `grow`: recursive partitioning, and which of its buckets the release preserves.
- `ask_queries`: relative errors of random range queries.
- `compare_moments`: marginals, means, variances and associations.
- `forecast`: the loss and risk that a run would have, from quick runs on samples.
- `ReleaseEncoder`: the encoding of released cells as a scikit-learn transformer.

Learners and trees need the extra: pip install 'shoal[evaluate]'.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.evaluate.assessment import Utility, utility
    from shoal.evaluate.classify import LEARNERS, Accuracy, accuracy, learn, learn_from_files, learn_from_release
    from shoal.evaluate.comparison.forecast import Forecast, forecast
    from shoal.evaluate.moments import Moments, compare_moments
    from shoal.evaluate.queries import QueryErrors, ask_queries
    from shoal.evaluate.transformer import ReleaseEncoder
    from shoal.evaluate.trees import Tree, grow

__all__ = [
    "LEARNERS",
    "Accuracy",
    "Forecast",
    "Moments",
    "QueryErrors",
    "ReleaseEncoder",
    "Tree",
    "Utility",
    "accuracy",
    "ask_queries",
    "compare_moments",
    "forecast",
    "grow",
    "learn",
    "learn_from_files",
    "learn_from_release",
    "utility",
]

_MODULES = {
    "LEARNERS": "classify",
    "Accuracy": "classify",
    "Forecast": "comparison.forecast",
    "Moments": "moments",
    "QueryErrors": "queries",
    "ReleaseEncoder": "transformer",
    "Tree": "trees",
    "Utility": "assessment",
    "accuracy": "classify",
    "ask_queries": "queries",
    "compare_moments": "moments",
    "forecast": "comparison.forecast",
    "grow": "trees",
    "learn": "classify",
    "learn_from_files": "classify",
    "learn_from_release": "classify",
    "utility": "assessment",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"shoal.evaluate.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'shoal.evaluate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
