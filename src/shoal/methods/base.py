"""What a method is, what a run carries, and the list of methods by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from shoal.encoding import Encoded
from shoal.errors import InfeasibleError, UsageError
from shoal.models import PrivacyModel
from shoal.partition import Partition

__all__ = ["COUNTS_PEOPLE", "DEFAULT", "Info", "Method", "Run", "check_models", "infos", "named"]

DEFAULT = "shoaling"
COUNTS_PEOPLE = "mondrian"  # the default where a person may have several rows


@dataclass(frozen=True)
class Run:
    """What belongs to one run and not to the method: seed, threads, who watches and who may cancel it.

    stage is told what begins, progress the share of it that is done, in [0, 1]; cancelled is asked between steps, and
    true ends the run.
    """

    seed: int = 0
    threads: int = 1
    stage: Callable[[str], None] = lambda name: None
    progress: Callable[[float], None] = lambda share: None
    cancelled: Callable[[], bool] = lambda: False


class Method(Protocol):
    """Anything that forms groups; its options are its fields."""

    name: ClassVar[str]

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models."""


@dataclass(frozen=True)
class Info:
    """One line on a method; known without loading it."""

    name: str
    summary: str
    paper: str
    place: str  # module:class


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
    size_only: bool,
    counts_people: bool = False,
) -> int:
    """Return the least group size, or refuse models that the method cannot honour or the table cannot meet."""
    if encoded.people is not None and not counts_people:
        raise UsageError(f"method {method!r} cannot count people. Use mondrian, strict or relaxed, with --person.")
    for model in models:
        if size_only and not model.size_only:
            raise UsageError(f"method {method!r} cannot honour {model.describe()}. Choose another method.")
    least = max((model.minimum_size for model in models), default=1)
    if encoded.n_rows < least:
        raise InfeasibleError(
            f"k={least} cannot be met: the table has {encoded.n_rows} rows. Use k <= {encoded.n_rows}."
        )
    return least
