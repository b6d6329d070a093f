"""Groups inside planned windows, which keep to all limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.windows import plan_windows
from shoal.methods.base import Run, group_in_windows
from shoal.methods.mondrian import Mondrian
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.limits.together import by_combinations, count_limited
from shoal.methods.shoaling.problem import Problem
from shoal.methods.suppression import spread
from shoal.models import Basis, PrivacyModel

__all__ = ["have_room", "in_windows"]


def have_room(
    encoded: Encoded, stays: NDArray[np.bool_], limits: Sequence[Limited], models: Sequence[PrivacyModel]
) -> NDArray[np.bool_]:
    """Say of each row whether a plan of windows has room for it; stays: which rows it is for."""
    k = max((model.minimum_size for model in models), default=1)
    part = encoded if stays.all() else encoded.part(stays)
    if not by_combinations(encoded, limits, models):
        return spread(plan_windows(part, limits, k), stays) >= 0
    counted, combination = count_limited(part, limits)
    return spread(plan_windows(counted, limits, k)[combination], stays) >= 0


def in_windows(encoded: Encoded, problem: Problem, models: tuple[PrivacyModel, ...], run: Run) -> Grouping | None:
    """Return the groups of Mondrian's strict cuts inside windows that keep to the limits; None if no plan is found."""
    if not run.limits:
        return None
    labels = np.empty(len(encoded.order), dtype=np.int32)
    order = np.arange(len(labels))
    if problem.is_section:  # rows that the search cannot tell apart are not in the same order in every engine
        order = np.argsort(problem.row_tuple, kind="stable")
    ordered = replace(
        encoded,
        row_tuple=encoded.row_tuple[order],
        people=None if encoded.people is None else encoded.people[order],
        weights=None if encoded.weights is None else encoded.weights[order],
    )
    labels[order] = plan_windows(ordered, run.limits, problem.k)
    if (labels < 0).any():
        return None
    plain = replace(run, progress=lambda share: None, limits=(), suppression_limit=Fraction(0))
    size = tuple(model for model in models if model.basis is Basis.SIZE)
    return Grouping.from_rows(problem, group_in_windows(Mondrian(), encoded, labels, size, plain).labels)
