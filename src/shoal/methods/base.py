"""What a method is, what a run carries, and the checks that every method makes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.partition import Entries, Partition, tight_partition
from shoal.encoding.windows import parts_of
from shoal.errors import InfeasibleError, UsageError, join_problems, setting
from shoal.methods.registry import METHODS, info_of
from shoal.metrics.association import Twin
from shoal.models import Basis, Groups, PrivacyModel
from shoal.rules import Rule
from shoal.tables.watch import Watch

__all__ = [
    "Method",
    "Run",
    "check_honours",
    "check_models",
    "check_rows_left",
    "check_run",
    "check_support",
    "failing_groups",
    "group_in_windows",
    "needs_search",
]


@dataclass(frozen=True)
class Run(Watch):
    """What belongs to one run and not to the method, with the callbacks of whoever watches it.

    Attributes:
        seed: Seed for methods that use random numbers.
        suppression_limit: The largest share of the rows that a method may suppress (label -1).
        rules: Data constraint rules: values that groups should not mix.
        weights: The weights of quasi-identifiers by name; 1 for the others.
        derive_weights: Whether the weights are still to be derived from the table.
        threads: The number of threads to use.
        limits: What the cells of each group must keep to.
        twins: Hidden ranges that the search prices beside the cells, if the release is made for a target.
        table: The table where it lies (a `CountedTable`), if full-domain methods count each level vector there.
    """

    seed: int = 0
    suppression_limit: Fraction = Fraction(0)
    rules: tuple[Rule, ...] = ()
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    derive_weights: bool = False
    threads: int = 1
    limits: tuple[Limited, ...] = ()
    twins: tuple[Twin, ...] = ()
    table: object = field(default=None, repr=False, compare=False)

    def most_suppressed(self, n_rows: int) -> int:
        """Return how many rows of a table may be suppressed."""
        return int(self.suppression_limit * n_rows)


class Method(Protocol):
    """Anything that forms groups; its options are its fields."""

    name: ClassVar[str]

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models."""


def needs_search(method: Method) -> bool:
    """Say whether the options of a method ask for more than the goal: a table that meets the goal is then searched."""
    return bool(getattr(method, "needs_search", False))


def check_run(method: str, names: Sequence[str], run: Run) -> None:
    """Check the rules and weights of a run.

    Args:
        method: The name of the method.
        names: The quasi-identifiers.
        run: The run.

    Raises:
        UsageError: The method does not support the rules, bans or weights, or a weight names no quasi-identifier.
    """
    info = info_of(method)
    bans = [rule for rule in run.rules if rule.ban]
    for what, values in (("rules", run.rules), ("bans", bans), ("weights", run.weights), ("limits", run.limits)):
        if values and info and what not in info.takes:
            able_methods = ", ".join(info.name for info in METHODS if what in info.takes)
            raise UsageError(f"method {method!r} does not support {what}. Methods that do: {able_methods}.")
    unknown_names = [name for name in run.weights if name not in names]
    if unknown_names:
        listed = ", ".join(map(repr, names))
        raise UsageError(f"weight for {unknown_names[0]!r}: not a quasi-identifier. Quasi-identifiers: {listed}.")


def check_support(method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...]) -> None:
    """Check that a method can honour the models on a table, and count its people if it has a column of them.

    Args:
        method: The method. Its Info says which models it honours. Where its options change that, it has an attribute
            `size_only` or `counts_people`, or refuses the table in `check_table(encoded)`.
        encoded: The table.
        models: The models.

    Raises:
        UsageError: The method cannot honour a model or count people, or its options do not fit the table.
    """
    if hasattr(method, "check_table"):
        method.check_table(encoded)
    if encoded.people is not None and not getattr(method, "counts_people", True):
        others = ", ".join(info.name for info in METHODS if info.name != method.name)
        raise UsageError(
            f"method {method.name!r} cannot count people ({setting('person')}) with these options. Mondrian does if it "
            f"is strict or relaxed and has no domains, and so do {others}."
        )
    check_honours(method, models)


def check_honours(method: Method, models: tuple[PrivacyModel, ...]) -> None:
    """Raise a UsageError if a method cannot honour a model."""
    info = info_of(method.name)
    if info is None:  # a method of the caller's own knows itself what it can do
        return
    honours = frozenset({Basis.SIZE}) if getattr(method, "size_only", False) else info.honours
    for model in models:
        if model.basis not in honours:
            able_methods = [info.name for info in METHODS if model.basis in info.honours and info.name != method.name]
            raise UsageError(
                f"method {method.name!r} cannot honour {model.describe()}, which depends on {model.basis}. "
                f"Methods that can: {', '.join(able_methods) or 'none'}."
            )


def check_models(method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...]) -> int:
    """Check that a method can honour the models and that the table can meet them.

    For a closed model the goal is feasible if and only if the table as one group meets it.

    Args:
        method: The method.
        encoded: The table.
        models: The models.

    Returns:
        The smallest group size that can pass.

    Raises:
        UsageError: The method cannot honour a model, or cannot count people.
        InfeasibleError: No grouping of the table passes a model.
    """
    check_support(method, encoded, models)
    one_group = Groups.of(encoded, np.zeros(len(encoded.order), dtype=np.int32))
    if encoded.counted_people is not None:
        one_group = replace(one_group, n_people=np.array([encoded.counted_people.n_people]))
    obstacles = [reason for model in models if model.closed and (reason := model.obstacle(one_group))]
    if obstacles:
        raise InfeasibleError(join_problems(obstacles))
    return max((model.minimum_size for model in models), default=1)


def check_rows_left(method: str, labels: NDArray[np.int32]) -> None:
    """Refuse a release without rows.

    Args:
        method: The name of the method.
        labels: The group of each canonical row, -1 for a suppressed row.

    Raises:
        InfeasibleError: Every row is suppressed.
    """
    if not (labels >= 0).any():
        raise InfeasibleError(
            f"method {method!r} would suppress every one of the {len(labels):,} rows; nothing would be left to "
            f"release. Lower {setting('suppression_limit')}, weaken the goal, or change the options of the method."
        )


def failing_groups(
    encoded: Encoded, models: tuple[PrivacyModel, ...], members: Entries | NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Say of each group whether it fails one of the models.

    Args:
        encoded: The table.
        models: The models. Some compare a group with the whole release, so `members` must cover all of its groups.
        members: The entries of the groups, or the group of each canonical row, -1 for a suppressed row. Entries are
            judged without their rows unless persons are counted or a model counts more than rows.
    """
    if not isinstance(members, Entries):
        groups = Groups.of(encoded, members)
    elif encoded.people is None and all(model.basis is Basis.SIZE for model in models):
        groups = Groups(members.groups, members.rows)
    else:
        groups = Groups.of(encoded, members.labels(encoded.weights))
    failing = np.zeros(groups.n_groups, dtype=bool)
    for model in models:
        failing |= model.failing(groups)
    return failing


def group_in_windows(
    method: Method,
    encoded: Encoded,
    labels: NDArray[np.int32],
    models: tuple[PrivacyModel, ...],
    run: Run,
) -> Partition:
    """Group the rows of each window by a method, and release each group by its own values.

    Args:
        method: The method.
        encoded: The table.
        labels: The window of each canonical row, -1 for a row that is left out.
        models: The privacy models.
        run: The run, without limits and suppression.
    """
    found = np.full(len(labels), -1, dtype=np.int32)
    n_groups = 0
    kept = np.flatnonzero(labels >= 0)
    for part in parts_of(labels[kept]):
        rows = kept[part]
        own = method.partition(encoded.take(rows), models, run).labels
        found[rows] = np.where(own >= 0, own + n_groups, -1)
        n_groups += int(own.max(initial=-1)) + 1
    used = np.unique(found[found >= 0])
    dense = np.full(n_groups + 1, -1, dtype=np.int32)
    dense[used] = np.arange(len(used), dtype=np.int32)
    return tight_partition(encoded, np.where(found >= 0, dense[found], -1).astype(np.int32))
