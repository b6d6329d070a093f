"""Models that judge all groups together, which the kernels cannot steer by.

A limit on the number of groups becomes a charge for each group, which is raised until enough groups are given up. Under
a limit on lone rows, groups of two are formed first; then the most expensive ones are given up as far as the limit
allows. For any other such model the search runs without it, and groups that fail are merged. That always succeeds for a
closed model: at worst, all rows are one group. The last candidate is Mondrian's cuts under all models, so the loss is
never above theirs.

In a table of several sections, each is searched as a table of its own and keeps its share of a limit on groups or lone
rows. Groups of two sections that show the same cells are one in the release, which has fewer of both then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import breaches
from shoal.errors import InfeasibleError
from shoal.methods.base import Run, failing_groups
from shoal.methods.merge_failing import merge_failing
from shoal.methods.shoaling.grouping import Grouping, no_groups, repair
from shoal.methods.shoaling.limits.planned import in_windows
from shoal.methods.shoaling.problem import Problem
from shoal.models import AverageRisk, Basis, PrivacyModel, Uniqueness

__all__ = ["Excess", "Found", "search_under", "steering"]

UNSTEERED = frozenset({Basis.TABLE})

# The problem that a search solved, and its groups.
Found = tuple[Problem, Grouping]
# Returns the number of groups over the number that is allowed.
Excess = Callable[[Problem, Grouping], float]


def steering(models: tuple[PrivacyModel, ...]) -> tuple[PrivacyModel, ...]:
    """Return the models that the kernels can steer by."""
    return tuple(model for model in models if model.basis not in UNSTEERED)


def search_under(
    encoded: Encoded,
    models: tuple[PrivacyModel, ...],
    run: Run,
    k: int,
    search: Callable[[int, Excess | None], Found],
    cut: Callable[[Problem], Grouping],
) -> Found:
    """Search for groups that pass all models, and return the cheaper of two candidates.

    Args:
        encoded: The table.
        models: All models; some of them do not steer.
        run: Asked whether to cancel.
        k: The least group size.
        search: Searches under the models that steer, for groups of a least size, and not too many.
        cut: Returns Mondrian's cuts under all models.

    Raises:
        InfeasibleError: No candidate passes, which a model that is not closed may cause.
    """
    lone = _lone_limits(encoded, models, k)
    found = search(max(k, 2) if lone else k, _limit_groups(models))
    problem, grouping = leave_alone(found, lone) if lone else found

    def keeps_limits(each: Grouping) -> bool:
        return not breaches(encoded, run.limits, problem.of_codes[each.tuples], each.groups).any()

    cuts: Grouping | None = cut(problem)
    if cuts and problem.bans.shape[1]:  # cuts do not know bans
        cuts = _merge(encoded, models, run, problem, cuts)
    candidates = [each for each in (_merge(encoded, models, run, problem, grouping), cuts) if each]
    passing = [each for each in candidates if keeps_limits(each)]
    passing = [each for each in passing if not failing_groups(encoded, models, each.labels(problem)).any()]
    if not passing and problem.limits:  # merging and cuts do not know limits
        repaired = repair(encoded, problem, models, grouping, in_windows(encoded, problem, models, run))
        passing = [repaired] if repaired else []
    if not passing:
        raise InfeasibleError(no_groups(models))
    return problem, min(passing, key=lambda each: each.cost(problem))


def _merge(
    encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, problem: Problem, grouping: Grouping
) -> Grouping | None:
    """Merge groups until all pass; None if some still fail."""
    try:
        if problem.bans.shape[1]:
            return repair(encoded, problem, models, grouping)
        labels = grouping.labels(problem)
        merged = merge_failing(encoded, labels, models, run)
    except InfeasibleError:
        return None
    return grouping if merged is labels else Grouping.from_rows(problem, merged)


def _limit_groups(models: tuple[PrivacyModel, ...]) -> Excess | None:
    """Return how the limits on the average risk restrict the number of groups."""
    limits = [model for model in models if isinstance(model, AverageRisk)]

    def excess(problem: Problem, grouping: Grouping) -> float:
        total = int(grouping.people(problem).sum())
        return len(grouping.members) / max(1, min(model.most_groups(total) for model in limits))

    return excess if limits else None


def _lone_limits(encoded: Encoded, models: tuple[PrivacyModel, ...], k: int) -> list[Uniqueness]:
    """Return the limits on lone rows, if some rows may be alone and sizes decide about everything else."""
    others = [model for model in models if not isinstance(model, Uniqueness)]
    most = encoded.n_rows if encoded.people is None else len(np.unique(encoded.people))
    if k > 1 or most < 2 or not all(model.size_only for model in others):
        return []
    return [model for model in models if isinstance(model, Uniqueness)]


def leave_alone(found: Found, limits: Sequence[Uniqueness]) -> Found:
    """Give up as many groups as the limits on lone rows allow, the most expensive first: their tuples become groups.

    Args:
        found: Groups of at least two rows or people.
        limits: The limits on lone rows.
    """
    problem, grouping = found
    prices = grouping.prices(problem)
    order = np.argsort(-prices, kind="stable")[: int((prices > 0).sum())]

    def without(n_groups: int) -> Grouping:
        labels = grouping.groups.copy()
        given_up = np.isin(labels, order[:n_groups])
        labels[given_up] = len(prices) + np.arange(int(given_up.sum()), dtype=np.int32)
        return Grouping.joined([(grouping.tuples, grouping.rows, labels)])

    low, high = 0, len(order) + 1
    while high - low > 1:
        middle = (low + high) // 2
        trial = without(middle)
        if all(model.holds(trial.sizes(), trial.people(problem)) for model in limits):
            low = middle
        else:
            high = middle
    return problem, without(low)
