"""What a method is, what a run carries, and the list of methods by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, Partition
from shoal.errors import InfeasibleError, UsageError, join_problems
from shoal.models import Basis, Groups, PrivacyModel
from shoal.rules import Rule

__all__ = [
    "COUNTS_PEOPLE",
    "DEFAULT",
    "HONOURS_ALL",
    "Info",
    "Method",
    "Run",
    "check_models",
    "check_run",
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
    true ends the run. suppression_limit: the largest share of the rows that a method may leave out (label -1). rules:
    what groups should not mix. weights: of the quasi-identifiers, by name; 1 where none is given. derive_weights: they
    are still to be taken from the table.
    """

    seed: int = 0
    suppression_limit: Fraction = Fraction(0)
    rules: tuple[Rule, ...] = ()
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    derive_weights: bool = False
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
    """One line on a method; known without loading it.

    honours: what may decide in the models that it takes. takes: what else of a run it heeds, "rules", "bans" or
    "weights".
    """

    name: str
    summary: str
    paper: str
    place: str  # module:class
    honours: frozenset[Basis] = frozenset({Basis.SIZE})
    takes: frozenset[str] = frozenset()


RESEARCH_VALUE = "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, thesis"
# What full-domain methods can judge on counts.
FULL_DOMAIN = frozenset({Basis.SIZE, Basis.PERSONAL_K, Basis.HISTOGRAM, Basis.TABLE})
# What a method can honour that merges groups until each of them passes.
MERGEABLE = frozenset(Basis) - {Basis.TABLE}

METHODS = (
    Info(
        "shoaling",
        "grows groups of the nearest rows, then lets rows move and change places as long as that pays",
        "shoal's own",
        "shoal.methods.shoaling.search:Shoaling",
        honours=frozenset({Basis.SIZE, Basis.PERSONAL_K, Basis.HISTOGRAM}),
        takes=frozenset({"rules", "bans", "weights"}),
    ),
    Info(
        "mondrian",
        "cuts the table in two at the median of its widest attribute, again and again",
        "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006",
        "shoal.methods.mondrian:Mondrian",
        honours=frozenset(Basis),
    ),
    Info(
        "datafly",
        "raises the attribute with most values level by level, and suppresses the few rows that are left",
        "Sweeney: Datafly, a system for providing anonymity in medical data, 1998",
        "shoal.methods.full_domain.datafly:Datafly",
        honours=FULL_DOMAIN,
    ),
    Info(
        "incognito",
        "finds all minimal vectors of hierarchy levels that pass, and takes the lowest of them",
        "LeFevre, DeWitt, Ramakrishnan: Incognito, efficient full-domain k-anonymity, SIGMOD 2005",
        "shoal.methods.full_domain.incognito:Incognito",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights"}),
    ),
    Info(
        "optimal",
        "finds the vector of hierarchy levels that passes and loses least, by any of seven measures",
        "Kohlmayer, Prasser, Eckert, Kemper, Kuhn: Flash, efficient, stable and optimal k-anonymity, 2012",
        "shoal.methods.full_domain.optimal:Optimal",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights"}),
    ),
    Info(
        "rv-global",
        "halves the list of all vectors of levels in order of research value, for the highest that passes",
        RESEARCH_VALUE,
        "shoal.methods.research_value.methods:RVGlobal",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights"}),
    ),
    Info(
        "rv-local",
        "halves every attribute between its root and its values, all together: a dozen tests, no promise",
        RESEARCH_VALUE,
        "shoal.methods.research_value.methods:RVLocal",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights"}),
    ),
    Info(
        "rv-hybrid",
        "the local search for research value first, then the global one on what is left",
        RESEARCH_VALUE,
        "shoal.methods.research_value.methods:RVHybrid",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights"}),
    ),
    Info(
        "sbca",
        "takes the first row that is left and the k-1 nearest to it; categories are near by how often they occur",
        "Sarrafi Aghdam, Sonehara: High data utility k-anonymization using similarity-based clustering, IEICE 2016",
        "shoal.methods.clustering.sbca:SBCA",
        honours=MERGEABLE,
    ),
    Info(
        "kaca",
        "merges classes of equal rows with the nearest class in the attributes' hierarchies",
        "Li, Wong, Fu, Pei: Achieving k-anonymity by clustering in attribute hierarchical structures, DaWaK 2006",
        "shoal.methods.clustering.kaca:KACA",
        honours=MERGEABLE,
    ),
    Info(
        "bottom-up",
        "merges the smallest group with the one that makes the tightest union",
        "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
        "shoal.methods.clustering.bottom_up:BottomUp",
        honours=MERGEABLE,
        takes=frozenset({"weights"}),
    ),
    Info(
        "top-down",
        "splits groups in two around far rows, then mends those that became too small",
        "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
        "shoal.methods.clustering.top_down:TopDown",
        honours=MERGEABLE,
        takes=frozenset({"weights"}),
    ),
    Info(
        "euclidean",
        "merges the smallest group with the one that makes the least sum of plain ranges: a baseline",
        "the baseline of utility-driven clustering; see there",
        "shoal.methods.clustering.euclidean:Euclidean",
        honours=MERGEABLE,
    ),
    Info(
        "utility-driven",
        "merges the smallest group where most research value is left, under data constraint rules",
        "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, thesis",
        "shoal.methods.clustering.utility_driven:UtilityDriven",
        honours=MERGEABLE,
        takes=frozenset({"rules", "weights"}),
    ),
    Info(
        "mnqia",
        "deals rows of unlike buckets to each group, by quasi-identifiers or by sensitive values",
        "Multiple numerical quasi-identifier anonymisation by bucketization and MMDCF, IJARTET 4(4), 2017",
        "shoal.methods.clustering.mnqia:MNQIA",
        honours=MERGEABLE,
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
            known = [each.name for each in fields(make)]
            unknown = set(options).difference(known)
            if unknown:
                allowed = ", ".join(known) or "none"
                raise UsageError(f"method {name!r} has no option {min(unknown)!r}. Its options: {allowed}.")
            method: Method = make(**options)
            return method
    known = [info.name for info in METHODS]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"method {name!r} is not known. {hint}Methods: {', '.join(known)}.")


def check_run(method: str, encoded: Encoded, run: Run) -> None:
    """Refuse rules and weights that the method does not heed, or that name no quasi-identifier."""
    info = next((info for info in METHODS if info.name == method), None)
    bans = [rule for rule in run.rules if rule.ban]
    for what, given in (("rules", run.rules), ("bans", bans), ("weights", run.weights)):
        if given and info and what not in info.takes:
            able = ", ".join(info.name for info in METHODS if what in info.takes)
            raise UsageError(f"method {method!r} takes no {what}. Methods that do: {able}.")
    names = [attribute.name for attribute in encoded.attributes]
    strange = [name for name in run.weights if name not in names]
    if strange:
        raise UsageError(f"weight for {strange[0]!r}: not a quasi-identifier. They are: {', '.join(map(repr, names))}.")


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
    whole = Groups.of(encoded, np.zeros(len(encoded.order), dtype=np.int32))
    obstacles = [reason for model in models if model.closed and (reason := model.obstacle(whole))]
    if obstacles:
        raise InfeasibleError(join_problems(obstacles))
    return max((model.minimum_size for model in models), default=1)


def failing_groups(
    encoded: Encoded, models: tuple[PrivacyModel, ...], members: Entries | NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return for each group whether it fails one of the models.

    Models that compare a group with the distribution of the release need all groups of the release.

    Args:
        encoded: The table as codes.
        models: The requirements.
        members: Entries, or the group of each canonical row (-1 if it is suppressed). Rows are only looked at if
            persons are counted or a model counts more than rows.
    """
    if not isinstance(members, Entries):
        groups = Groups.of(encoded, members)
    elif encoded.people is None and all(model.basis is Basis.SIZE for model in models):
        groups = Groups.of_entries(members.groups, members.rows, {})
    else:
        groups = Groups.of(encoded, members.labels(encoded.weights))
    failing = np.zeros(groups.n_groups, dtype=bool)
    for model in models:
        failing |= model.failing(groups)
    return failing
