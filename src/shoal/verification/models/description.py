"""Which privacy models a release reaches: the strongest parameters that all its groups pass, found with the judges.

Parameters that are not integers are multiples of 0.0001, rounded to the side that passes: a release passes a model with
the value given here and fails with the next stronger one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from shoal.errors import Note
from shoal.verification.models.judges import JUDGES, ORDERED, Evidence
from shoal.verification.verdict import Group

__all__ = ["Description", "ReachedModels", "describe_groups"]

STEPS = 10_000  # in 1
MOST_L = 6  # the largest l of recursive diversity that is searched
Values = tuple[Mapping[Group, Counter[Any]], str | None, Mapping[Any, Any]]


@dataclass(frozen=True)
class ReachedModels:
    """The models that the groups pass for one sensitive column; None where no parameter is enough.

    Attributes:
        column: The sensitive column.
        l: Distinct values in every group: distinct l-diversity, and p of p-sensitivity.
        entropy_l: The l of entropy l-diversity.
        recursive_c: By l, the c of recursive (c, l)-diversity.
        alpha: The largest share of a value in a group: (alpha, k)-anonymity.
        t: The largest distance of a group from the release: t-closeness.
        distance: The distance that t is measured by: "ordered", "hierarchical" or "equal".
        delta: The delta of delta-disclosure privacy; None if a group lacks a value.
        beta: The beta of basic beta-likeness.
        enhanced_beta: The beta of enhanced beta-likeness.
    """

    column: str
    l: int
    entropy_l: float
    recursive_c: Mapping[int, float]
    alpha: float
    t: float
    distance: str
    delta: float | None
    beta: float
    enhanced_beta: float | None

    def models(self, k: int) -> list[dict[str, Any]]:
        """Return the models as plain values, as `verify` accepts them."""
        specs: list[dict[str, Any]] = [
            {"name": "distinct-l", "l": self.l},
            {"name": "entropy-l", "l": self.entropy_l},
            *({"name": "recursive-l", "c": c, "l": l} for l, c in self.recursive_c.items()),
            {"name": "alpha-k", "alpha": self.alpha, "k": k},
            {"name": "p-sensitive", "p": self.l, "k": k},
            {"name": "t-closeness", "t": self.t},
            *([] if self.delta is None else [{"name": "delta-disclosure", "delta": self.delta}]),
            {"name": "beta-likeness", "beta": self.beta},
            *(
                []
                if self.enhanced_beta is None
                else [{"name": "beta-likeness", "beta": self.enhanced_beta, "enhanced": True}]
            ),
        ]
        return [{"name": spec.pop("name"), "column": self.column, **spec} for spec in specs]

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters by name."""
        return {
            "l": self.l,
            "entropy_l": self.entropy_l,
            "recursive_c": {str(l): c for l, c in self.recursive_c.items()},
            "alpha": self.alpha,
            "p": self.l,
            "t": self.t,
            "t_distance": self.distance,
            "delta": self.delta,
            "beta": self.beta,
            "enhanced_beta": self.enhanced_beta,
        }


@dataclass(frozen=True)
class Description:
    """What the groups of a release reach.

    Attributes:
        k: The rows of the smallest group.
        rows: The number of rows.
        groups: The number of groups.
        columns: The models that they pass for each sensitive column.
        notes: What else was noticed: columns that seem to name people.
    """

    k: int
    rows: int
    groups: int
    columns: tuple[ReachedModels, ...] = field(default=())
    notes: tuple[Note, ...] = ()

    @property
    def models(self) -> list[dict[str, Any]]:
        """The models that the release passes, as plain values."""
        return [spec for column in self.columns for spec in column.models(self.k)]

    def as_dict(self) -> dict[str, Any]:
        """Return the description as plain values for JSON."""
        return {
            "k": self.k,
            "rows": self.rows,
            "groups": self.groups,
            "smallest_group": self.k,
            "sensitive": {column.column: column.as_dict() for column in self.columns},
            "models": self.models,
            "notes": list(self.notes),
        }


def describe_groups(rows: Mapping[Group, int], columns: Mapping[str, Values]) -> Description:
    """Return what groups reach.

    Args:
        rows: The rows of each group.
        columns: For each sensitive column, the rows of each value in each group, its kind and its hierarchy.
    """
    k = min(rows.values(), default=0)
    reached = tuple(_Search(name, rows, values, k).models() for name, values in columns.items()) if rows else ()
    return Description(k, sum(rows.values()), len(rows), reached)


class _Search:
    """Searches the parameters that all groups pass for one sensitive column."""

    def __init__(self, column: str, rows: Mapping[Group, int], values: Values, k: int) -> None:
        self._column, self._k = column, k
        case = Evidence({}, rows, rows, {}, *values)
        # Every model here judges a group by the rows of its values alone, so one of several alike is enough.
        alike = {frozenset(counts.items()): group for group, counts in case.values.items()}
        self._case = case._replace(values={group: case.values[group] for group in alike.values()}, whole=case.table())
        self._most = sum(rows.values())

    def models(self) -> ReachedModels:
        """Return the strongest models that all groups pass."""
        l = self._largest("distinct-l", lambda l: {"l": l}, len(self._case.table().values))
        entropy = self._largest("entropy-l", lambda n: {"l": _share(n)}, (l + 1) * STEPS, least=STEPS)
        case = self._case
        ordered = "ordered" if case.kind in ORDERED else "equal"
        alpha = self._least("alpha-k", lambda n: {"alpha": _share(n), "k": self._k}, STEPS)
        t = self._least("t-closeness", lambda n: {"t": _share(n)}, STEPS)
        beta = self._least("beta-likeness", lambda n: {"beta": _share(n)}, self._most * STEPS)
        enhanced = lambda n: {"beta": _share(n), "enhanced": True}  # noqa: E731
        delta = self._least("delta-disclosure", lambda n: {"delta": _share(n)}, 64 * STEPS, least=1)
        assert alpha is not None
        assert t is not None
        assert beta is not None
        return ReachedModels(
            self._column,
            l=l,
            entropy_l=entropy / STEPS,
            recursive_c={l_: c for l_ in range(2, min(l, MOST_L) + 1) if (c := self._recursive(l_)) is not None},
            alpha=alpha,
            t=t,
            distance="hierarchical" if case.paths else ordered,
            delta=delta,
            beta=beta,
            enhanced_beta=self._least("beta-likeness", enhanced, self._most * STEPS),
        )

    def _recursive(self, l: int) -> float | None:
        return self._least("recursive-l", lambda n: {"c": _share(n), "l": l}, (self._most + 1) * STEPS, least=1)

    def _least(self, name: str, spec: Callable[[int], dict[str, Any]], most: int, least: int = 0) -> float | None:
        """Return the smallest parameter that all groups pass; None if some fail even the largest."""
        if self._failing(name, spec(most), self._case):
            return None
        low, high, case = least - 1, most, self._case
        while high - low > 1:
            middle = (low + high) // 2
            if failing := self._failing(name, spec(middle), case):
                low, case = middle, self._narrow(failing)
            else:
                high = middle
        return high / STEPS

    def _largest(self, name: str, spec: Callable[[int], dict[str, Any]], most: int, least: int = 1) -> int:
        """Return the largest parameter that all groups pass; they all pass the least."""
        low, high, case = least, most + 1, self._case
        while high - low > 1:
            middle = (low + high) // 2
            if failing := self._failing(name, spec(middle), case):
                high, case = middle, self._narrow(failing)
            else:
                low = middle
        return low

    def _failing(self, name: str, spec: Mapping[str, Any], case: Evidence) -> list[Group]:
        return JUDGES[name](case._replace(spec={"name": name, "column": self._column, **spec}))

    def _narrow(self, groups: list[Group]) -> Evidence:
        """Return the case of some groups: the only ones that can fail a weaker parameter."""
        return self._case._replace(values={group: self._case.values[group] for group in groups})


def _share(n: int) -> Fraction:
    return Fraction(n, STEPS)
