"""Groups inside planned windows, which keep to all limits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from shoal.encoding.attributes import Encoded
from shoal.encoding.windows import plan_windows
from shoal.methods.base import Run, group_in_windows
from shoal.methods.mondrian import Mondrian
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.problem import Problem
from shoal.models import Basis, PrivacyModel

__all__ = ["in_windows"]


def in_windows(encoded: Encoded, problem: Problem, models: tuple[PrivacyModel, ...], run: Run) -> Grouping | None:
    """Return the groups of Mondrian's strict cuts inside windows that keep to the limits; None if no plan is found."""
    if not run.limits:
        return None
    labels = plan_windows(encoded, run.limits, problem.k)
    if (labels < 0).any():
        return None
    plain = replace(run, progress=lambda share: None, limits=(), suppression_limit=Fraction(0))
    size = tuple(model for model in models if model.basis is Basis.SIZE)
    return Grouping.from_rows(problem, group_in_windows(Mondrian(), encoded, labels, size, plain).labels)
