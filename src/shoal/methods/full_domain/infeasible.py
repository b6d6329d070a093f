"""The error if no vector passes: it names the nearest vector that does, and its loss."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from shoal.errors import InfeasibleError
from shoal.methods.full_domain.base import LatticeProblem
from shoal.methods.full_domain.levels import Vector, ladders
from shoal.methods.full_domain.objectives import ByLevels, by_vector, objective, vector_loss
from shoal.methods.full_domain.search import find_best

__all__ = ["refuse", "refuse_suppression"]


def refuse(problem: LatticeProblem) -> InfeasibleError:
    """Return the error of a goal that no allowed vector meets, with the nearest levels that do and their loss."""
    promises = " and ".join(model.describe() for model in problem.models)
    judged = problem.judge(problem.top)
    n_rows = problem.sets.n_rows
    share = _share(judged.failing_rows, n_rows)
    message = (
        f"{promises} cannot be met: at the highest allowed levels, {judged.failing_rows:,} of {n_rows:,} rows are in "
        f"groups that fail, and {problem.most_suppressed:,} may be suppressed."
    )
    wider = _unbounded(problem)
    nearest = find_best(wider, _excess(problem, wider)) if wider.shape != problem.shape else None
    cures = [f"a suppression limit of {share}"] if judged.released_rows else []
    if nearest is not None:
        raised = {
            ladder.name: level
            for ladder, level in zip(problem.ladders, wider.levels(nearest).values(), strict=True)
            if level >= ladder.first + ladder.n_levels
        }
        maximum = ", ".join(f"{name}={level}" for name, level in raised.items())
        message += f" The nearest levels that pass: {_in_words(wider, nearest)}."
        cures.insert(0, f"a maximum of {maximum}")
    if not cures:
        return InfeasibleError(f"{message} No other level helps. Weaken the goal.")
    return InfeasibleError(f"{message} Allow {', or '.join(cures)}.")


def refuse_suppression(problem: LatticeProblem, method: str, rows: int) -> InfeasibleError:
    """Return the error of a method that must suppress more rows than allowed, with an alternative."""
    n_rows = problem.sets.n_rows
    text = (
        f"method {method!r} would suppress {rows:,} of {n_rows:,} rows, and {problem.most_suppressed:,} may be. Allow "
        f"a suppression limit of {_share(rows, n_rows)}"
    )
    nearest = find_best(problem, objective("ncp", problem))
    if nearest is None or rows >= n_rows:
        return InfeasibleError(f"{text}.")
    return InfeasibleError(f"{text}, or use optimal, which passes with the levels {_in_words(problem, nearest)}.")


def _in_words(problem: LatticeProblem, vector: Vector) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in problem.levels(vector).items())
    return f"{levels}; loss (NCP) {vector_loss(problem, vector):.4f}"


def _share(rows: int, n_rows: int) -> str:
    """Return the share of rows, rounded up to four digits."""
    return f"{-(-rows * 10_000 // n_rows) / 10_000:g}"


def _unbounded(problem: LatticeProblem) -> LatticeProblem:
    """Return the problem without maximum levels."""
    attributes = [ladder.attribute for ladder in problem.ladders]
    rungs = ladders(attributes, {ladder.name: ladder.first for ladder in problem.ladders})
    return replace(
        problem, sets=problem.sets.narrowed((0,) * len(rungs), rungs), n_tests=0, judged_vectors={}, rows_below={}
    )


def _excess(problem: LatticeProblem, wider: LatticeProblem) -> ByLevels:
    """Return an objective that counts the levels above the allowed ones, then the loss."""
    losses = objective("ncp", wider)
    assert isinstance(losses, ByLevels)
    full_loss = losses.full * problem.sets.n_rows
    values = [
        [
            Fraction(2 * max(0, place - ladder.n_levels + 1)) + Fraction(int(loss), full_loss)
            for place, loss in enumerate(costs)
        ]
        for ladder, costs in zip(problem.ladders, losses.levels, strict=True)
    ]
    return by_vector(values)
