"""Models that judge all groups together, which the kernels cannot steer by.

A limit on the number of groups becomes a charge for each group, which is raised until enough groups are given up. For
any other such model the search runs without it, and groups that fail are merged. That always succeeds for a closed
model: at worst, all rows are one group. The last candidate is Mondrian's cuts under all models, so the loss is never
above theirs.
"""

from __future__ import annotations

from collections.abc import Callable

from shoal.encoding.attributes import Encoded
from shoal.errors import InfeasibleError
from shoal.methods.base import Run, failing_groups
from shoal.methods.shoaling.grouping import Grouping, repair
from shoal.methods.shoaling.problem import Problem
from shoal.models import AverageRisk, Basis, PrivacyModel

__all__ = ["UNSTEERED", "Excess", "Found", "search_under"]

UNSTEERED = frozenset({Basis.TABLE})

# The problem that a search solved, and its groups.
Found = tuple[Problem, Grouping]
# Returns the number of groups over the number that is allowed.
Excess = Callable[[Problem, Grouping], float]


def search_under(
    encoded: Encoded,
    models: tuple[PrivacyModel, ...],
    run: Run,
    search: Callable[[Excess | None], Found],
    cut: Callable[[Problem], Grouping],
) -> Found:
    """Search for groups that pass all models, and return the cheaper of two candidates.

    Args:
        encoded: The table.
        models: All models; some of them do not steer.
        run: Asked whether to cancel.
        search: Searches under the models that steer, with as few groups as it is told.
        cut: Returns Mondrian's cuts under all models.

    Raises:
        InfeasibleError: No candidate passes, which a model that is not closed may cause.
    """
    problem, grouping = search(_limit_groups(models))
    candidates = [cut(problem)]
    try:
        candidates.append(repair(encoded, problem, models, grouping, run))
    except InfeasibleError:
        pass
    passing = [each for each in candidates if not failing_groups(encoded, models, each.labels(problem)).any()]
    if not passing:
        goal = " and ".join(model.describe() for model in models)
        raise InfeasibleError(f"shoaling found no groups that pass {goal}. Weaken the goal.")
    return problem, min(passing, key=lambda each: each.cost(problem))


def _limit_groups(models: tuple[PrivacyModel, ...]) -> Excess | None:
    """Return how the limits on the average risk restrict the number of groups."""
    limits = [model for model in models if isinstance(model, AverageRisk)]

    def excess(problem: Problem, grouping: Grouping) -> float:
        total = int(grouping.people(problem).sum())
        return len(grouping.members) / max(1, min(model.most_groups(total) for model in limits))

    return excess if limits else None
