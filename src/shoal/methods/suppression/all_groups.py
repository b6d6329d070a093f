"""Models that judge all groups together, where the sections of a table are searched one by one.

The limits of average risk and of sample uniqueness are shares of the rows: a table keeps them if each section does, as
a table of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries
from shoal.models import AverageRisk, Basis, Groups, PopulationUniqueness, PrivacyModel, SampleUniqueness, Uniqueness

__all__ = [
    "IN_SECTIONS",
    "are_too_many",
    "check_sample",
    "judge_sections",
    "least_section",
    "never_exceed",
    "spare_rows",
]

# What judges a group by itself, wherever the other groups are.
IN_SECTIONS = frozenset({Basis.SIZE, Basis.HISTOGRAM, Basis.PERSONAL_K, Basis.POPULATION})


def judge_sections(models: Sequence[PrivacyModel], k: int) -> bool:
    """Say whether the groups of a table pass if those of each section do, as a table of its own.

    Args:
        models: The models.
        k: The least group size. No estimate of uniques is made without lone rows.
    """
    together = [model for model in models if model.basis not in IN_SECTIONS]
    shared = (AverageRisk, SampleUniqueness, PopulationUniqueness) if k > 1 else (AverageRisk, SampleUniqueness)
    return all(isinstance(model, shared) for model in together)


def check_sample(models: Sequence[PrivacyModel], n_rows: int) -> None:
    """Raise a UsageError if the population of an estimate is smaller than the table, which a section does not tell."""
    rows = np.array([n_rows])
    for model in models:
        if isinstance(model, PopulationUniqueness):
            model.holds(rows, rows)


def never_exceed(models: Sequence[PrivacyModel], n_rows: int) -> bool:
    """Say whether the people of groups are never more than the population of an estimate, however rows are grouped."""
    return all(n_rows <= model.population for model in models if isinstance(model, PopulationUniqueness))


def are_too_many(models: Sequence[PrivacyModel], n_rows: int, n_groups: int, n_lone: int) -> bool:
    """Say whether groups, or lone rows among them, are too many for average risk or sample uniqueness.

    Args:
        models: The models.
        n_rows: The number of rows in groups.
        n_groups: The number of groups.
        n_lone: How many of them have one row.
    """
    most_groups = [model.most_groups(n_rows) for model in models if isinstance(model, AverageRisk)]
    most_alone = [model.most_alone(n_rows) for model in models if isinstance(model, SampleUniqueness)]
    return n_groups > min(most_groups, default=n_rows) or n_lone > min(most_alone, default=n_rows)


def least_section(models: Sequence[PrivacyModel]) -> int:
    """Return the least rows, or people, that pass the models of all groups as one group."""
    least = [-(-model.limit.denominator // model.limit.numerator) for model in models if isinstance(model, AverageRisk)]
    return max(least + [2 for model in models if isinstance(model, Uniqueness)], default=1)


def spare_rows(encoded: Encoded, models: tuple[PrivacyModel, ...], groups: Entries | NDArray[np.int32]) -> int | None:
    """Return how many rows may leave before groups or lone rows are too many; None if no model limits them."""
    limits = [model for model in models if isinstance(model, AverageRisk | SampleUniqueness)]
    if not limits:
        return None
    judged = Groups.of(encoded, groups.labels(encoded.weights) if isinstance(groups, Entries) else groups)
    most = []
    for model in limits:
        is_lone = isinstance(model, SampleUniqueness)
        limited = int(judged.rows[judged.sizes == 1].sum()) if is_lone else judged.n_groups
        least = -(-limited * model.limit.denominator // model.limit.numerator) if limited else 0
        most.append(int((judged.rows if is_lone else judged.sizes).sum()) - least)
    return max(0, min(most))
