"""Models that counts of a group do not express: they look at a population, or judge all groups together.

The kernels cannot steer by these. A limit on the number of groups becomes a charge for each group, which is raised
until enough groups are given up. Under a limit on lone rows, groups of two are formed first; then the most expensive
ones are given up as far as the limit allows. For a population, the search runs without the model, then a few times
more with larger groups where groups failed; groups that still fail are merged. That always succeeds for a closed
model: at worst, all rows are one group. The last candidate is Mondrian's cuts under all models, so the loss is never
above theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.errors import InfeasibleError
from shoal.methods.base import Run, failing_groups
from shoal.methods.merge_failing import merge_failing
from shoal.methods.shoaling.grouping import Grouping, repair
from shoal.methods.shoaling.problem import Problem
from shoal.models import AverageRisk, Basis, Cover, Groups, PrivacyModel, Uniqueness

__all__ = ["NO_WISH", "UNSTEERED", "Found", "Wish", "search_under"]

UNSTEERED = frozenset({Basis.POPULATION, Basis.TABLE})
ROUNDS = 4  # further searches with larger groups for models whose shortfall is known
BLIND_ROUNDS = 1  # the same for other models of a population
GROWTH = 1.1  # by this factor, a group that fails was too small, if nothing better is known
COVER_POWER = 0.6  # cells cover more than in proportion to their rows

# The problem that a search solved, and its groups.
Found = tuple[Problem, Grouping]


@dataclass(frozen=True)
class Wish:
    """What a search should do beside passing the models that steer it.

    Attributes:
        floors: For each tuple of codes, the size of the group that its rows ask for.
        too_many: Says whether there are too many groups.
        least: The size that every group should have.
    """

    floors: NDArray[np.int64] | None = None
    too_many: Callable[[Problem, Grouping], bool] | None = None
    least: int = 1


NO_WISH = Wish()


def search_under(
    encoded: Encoded,
    models: tuple[PrivacyModel, ...],
    run: Run,
    k: int,
    search: Callable[[Wish], Found],
    cut: Callable[[Problem], Grouping],
) -> Found:
    """Search for groups that pass all models, and return the cheapest of several candidates.

    Args:
        encoded: The table.
        models: All models; some of them do not steer.
        run: Asked whether to cancel.
        k: The least group size.
        search: Searches under the models that steer.
        cut: Returns Mondrian's cuts under all models.

    Raises:
        InfeasibleError: No candidate passes, which a model that is not closed may cause.
    """
    wish = _limit_groups(models)
    lone = _lone_limits(encoded, models, k)
    first = found = search(replace(wish, least=2) if lone else wish)
    if lone:
        found = leave_alone(found, lone)
    floors = np.full(len(encoded.tuples), k, dtype=np.int64)
    passing = []
    rounds = 0
    if any(model.basis is Basis.POPULATION for model in models):
        rounds = ROUNDS if any(isinstance(model, Cover) for model in models) else BLIND_ROUNDS
    for number in range(rounds + 1):
        failing = failing_groups(encoded, models, found[1].labels(found[0]))
        passing.append(_pass(encoded, models, run, found))
        if number == rounds or not failing.any():
            break
        floors = np.maximum(floors, _larger_floors(encoded, models, k, found, failing))
        found = search(replace(wish, floors=floors))
    candidates = [each for each in passing if each is not None]
    cuts = first[0], cut(first[0])
    if not failing_groups(encoded, models, cuts[1].labels(cuts[0])).any():
        candidates.append(cuts)
    if not candidates:
        goal = " and ".join(model.describe() for model in models)
        raise InfeasibleError(f"shoaling found no groups that pass {goal}. Weaken the goal.")
    return min(candidates, key=lambda each: each[1].cost(each[0]))


def _limit_groups(models: tuple[PrivacyModel, ...]) -> Wish:
    """Wish for as few groups as the limits on the average risk demand."""
    limits = [model for model in models if isinstance(model, AverageRisk)]

    def too_many(problem: Problem, grouping: Grouping) -> bool:
        total = int(grouping.people(problem).sum())
        return len(grouping.members) > min(model.most_groups(total) for model in limits)

    return Wish(too_many=too_many) if limits else NO_WISH


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


def _larger_floors(
    encoded: Encoded, models: tuple[PrivacyModel, ...], k: int, found: Found, failing: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return for each tuple of codes the size that a group needs to pass, guessed from the groups that fail."""
    problem, grouping = found
    groups = Groups.of(encoded, grouping.labels(problem))
    factors = np.full(len(failing), GROWTH)
    for model in models:
        if isinstance(model, Cover):
            factors = np.maximum(factors, (model.least_covered / np.maximum(groups.population, 1)) ** COVER_POWER)
    sizes = grouping.people(problem)
    most = int(sizes.sum()) if encoded.people is None else len(np.unique(encoded.people))
    wanted = np.minimum(np.ceil(sizes * factors).astype(np.int64), most)
    floors = np.full(len(encoded.tuples), k, dtype=np.int64)
    entries = np.flatnonzero(failing[grouping.groups])
    np.maximum.at(floors, problem.of_codes[grouping.tuples[entries]], wanted[grouping.groups[entries]])
    return floors


def _pass(encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, found: Found) -> Found | None:
    """Merge groups until all pass; None if some still fail."""
    problem, grouping = found
    labels = grouping.labels(problem)
    if not failing_groups(encoded, models, labels).any():
        return found
    try:
        if problem.bans.shape[1]:
            return problem, repair(encoded, problem, models, grouping)
        return problem, Grouping.from_rows(problem, merge_failing(encoded, labels, models, run))
    except InfeasibleError:
        return None
