"""What a method is, what a run carries, and the list of methods by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding import Encoded
from shoal.errors import InfeasibleError, UsageError, join_problems
from shoal.models import Basis, Groups, PrivacyModel
from shoal.partition import Partition

__all__ = [
    "COUNTS_PEOPLE",
    "DEFAULT",
    "HONOURS_ALL",
    "Info",
    "Method",
    "Run",
    "check_models",
    "failing_groups",
    "infos",
    "named",
]

DEFAULT = "shoaling"
COUNTS_PEOPLE = "mondrian"  # the default where a person may have several rows
HONOURS_ALL = "mondrian"  # the default where the other one cannot honour a model


@dataclass(frozen=True)
class Run:
    """What belongs to one run and not to the method: seed, threads, who watches and who may cancel it.

    stage is told what begins, progress the share of it that is done, in [0, 1]; cancelled is asked between steps, and
    true ends the run. suppression_limit: the largest share of the rows that a method may leave out (label -1).
    """

    seed: int = 0
    suppression_limit: Fraction = Fraction(0)
    threads: int = 1
    stage: Callable[[str], None] = lambda name: None
    progress: Callable[[float], None] = lambda share: None
    cancelled: Callable[[], bool] = lambda: False

    def most_suppressed(self, n_rows: int) -> int:
        """Return how many rows of a table may be left out."""
        return int(self.suppression_limit * n_rows)


class Method(Protocol):
    """Anything that forms groups; its options are its fields."""

    name: ClassVar[str]

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models."""


@dataclass(frozen=True)
class Info:
    """One line on a method; known without loading it. honours: what may decide in the models that it takes."""

    name: str
    summary: str
    paper: str
    place: str  # module:class
    honours: frozenset[Basis] = frozenset({Basis.SIZE})


METHODS = (
    Info(
        "shoaling",
        "grows groups of the nearest rows, then lets rows move and change places as long as that pays",
        "shoal's own",
        "shoal.methods.shoaling:Shoaling",
    ),
    Info(
        "mondrian",
        "cuts the table in two at the median of its widest attribute, again and again",
        "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006",
        "shoal.methods.mondrian:Mondrian",
        honours=frozenset(Basis),
    ),
)


def infos() -> tuple[Info, ...]:
    """List the methods."""
    return METHODS


def named(name: str, **options: object) -> Method:
    """Return the method of this name with these options.

    >>> named("mondrian", variant="relaxed").name
    'mondrian'
    """
    import difflib

    for info in METHODS:
        if info.name == name:
            module, _, kind = info.place.partition(":")
            make = getattr(importlib.import_module(module), kind)
            unknown = set(options).difference(make.__dataclass_fields__)
            if unknown:
                allowed = ", ".join(make.__dataclass_fields__) or "none"
                raise UsageError(f"method {name!r} has no option {min(unknown)!r}. Its options: {allowed}.")
            method: Method = make(**options)
            return method
    known = [info.name for info in METHODS]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"method {name!r} is not known. {hint}Methods: {', '.join(known)}.")


def check_models(
    method: str,
    encoded: Encoded,
    models: tuple[PrivacyModel, ...],
    *,
    size_only: bool = False,
    counts_people: bool = False,
) -> int:
    """Return the least group size, or refuse models that the method cannot honour or the table cannot meet.

    What a method can honour stands in its Info. size_only: as called, sizes are all that it can. Where unions of
    passing groups pass, a goal can be met just if all rows as one group meet it.
    """
    if encoded.people is not None and not counts_people:
        raise UsageError(f"method {method!r} cannot count people. Use mondrian, strict or relaxed, with --person.")
    info = next((info for info in METHODS if info.name == method), None)
    honours = info.honours if info and not size_only else frozenset({Basis.SIZE})
    for model in models:
        if model.basis not in honours:
            able = [info.name for info in METHODS if model.basis in info.honours and info.name != method]
            raise UsageError(
                f"method {method!r} cannot honour {model.describe()}, which depends on {model.basis}. "
                f"Methods that can: {', '.join(able) or 'none'}."
            )
    whole = Groups.of(encoded, np.zeros(encoded.n_rows, dtype=np.int32))
    obstacles = [reason for model in models if model.closed and (reason := model.obstacle(whole))]
    if obstacles:
        raise InfeasibleError(join_problems(obstacles))
    return max((model.minimum_size for model in models), default=1)


def failing_groups(encoded: Encoded, models: tuple[PrivacyModel, ...], labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Say of each group whether it fails one of the models; labels: one for each canonical row, -1 suppressed.

    Whether these are all groups of the release matters to models that compare with its distribution of values.
    """
    groups = Groups.of(encoded, labels)
    failing = np.zeros(groups.n_groups, dtype=bool)
    for model in models:
        failing |= model.failing(groups)
    return failing
