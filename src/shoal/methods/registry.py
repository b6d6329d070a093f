"""The methods by name, known without loading any of them."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from shoal.errors import UsageError
from shoal.models import Basis

if TYPE_CHECKING:
    from shoal.methods.base import Method

__all__ = ["DEFAULT", "METHODS", "Info", "info_of", "infos", "named"]

DEFAULT = "shoaling"


@dataclass(frozen=True)
class Info:
    """One line on a method.

    Attributes:
        name: The name, as users write it.
        summary: What the method does.
        paper: Where it was published.
        place: Where its class is, as module:class.
        honours: What may decide in the models that it honours.
        takes: What else of a run it supports: "rules", "bans", "weights", "limits", "target".
        climbs: Whether it generalises only along hierarchies; a column without one is released as it is or as "*".
    """

    name: str
    summary: str
    paper: str
    place: str
    honours: frozenset[Basis] = frozenset({Basis.SIZE})
    takes: frozenset[str] = frozenset()
    climbs: bool = False


RESEARCH_VALUE = "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, thesis"
# What full-domain methods can evaluate on counts.
FULL_DOMAIN = frozenset({Basis.SIZE, Basis.PERSONAL_K, Basis.HISTOGRAM, Basis.TABLE})
# What a method honours that merges groups until each of them passes.
MERGEABLE = frozenset(Basis) - {Basis.TABLE, Basis.SAMPLE}
# What a method honours that fixes no levels.
ANY_TABLE = frozenset(Basis) - {Basis.SAMPLE}

METHODS = (
    Info(
        "shoaling",
        "grows groups of the nearest rows, then moves and swaps rows while that reduces the loss",
        "shoal's own",
        "shoal.methods.shoaling.search:Shoaling",
        honours=ANY_TABLE,
        takes=frozenset({"rules", "bans", "weights", "limits", "target"}),
    ),
    Info(
        "mondrian",
        "cuts the table in two at the median of its widest attribute, recursively",
        "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006",
        "shoal.methods.mondrian:Mondrian",
        honours=ANY_TABLE,
        takes=frozenset({"limits"}),
    ),
    Info(
        "datafly",
        "generalises the attribute with most distinct values level by level, then suppresses the remaining rows",
        "Sweeney: Datafly, a system for providing anonymity in medical data, 1998",
        "shoal.methods.full_domain.datafly:Datafly",
        honours=FULL_DOMAIN,
        takes=frozenset({"limits"}),
        climbs=True,
    ),
    Info(
        "incognito",
        "finds all minimal vectors of hierarchy levels that pass, and uses the lowest",
        "LeFevre, DeWitt, Ramakrishnan: Incognito, efficient full-domain k-anonymity, SIGMOD 2005",
        "shoal.methods.full_domain.incognito:Incognito",
        honours=FULL_DOMAIN | {Basis.SAMPLE},
        takes=frozenset({"rules", "weights", "limits"}),
        climbs=True,
    ),
    Info(
        "optimal",
        "finds the vector of hierarchy levels that passes with the least loss, by any of seven measures",
        "Kohlmayer, Prasser, Eckert, Kemper, Kuhn: Flash, efficient, stable and optimal k-anonymity, 2012",
        "shoal.methods.full_domain.optimal:Optimal",
        honours=FULL_DOMAIN | {Basis.SAMPLE},
        takes=frozenset({"rules", "weights", "limits"}),
        climbs=True,
    ),
    Info(
        "rv-global",
        "binary search over all vectors of levels, ordered by research value, for the highest that passes",
        RESEARCH_VALUE,
        "shoal.methods.research_value.methods:RVGlobal",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights", "limits"}),
        climbs=True,
    ),
    Info(
        "rv-local",
        "binary search in all attributes at once: about a dozen tests, no guarantee",
        RESEARCH_VALUE,
        "shoal.methods.research_value.methods:RVLocal",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights", "limits"}),
        climbs=True,
    ),
    Info(
        "rv-hybrid",
        "the local search for research value, then the global one on the remaining vectors",
        RESEARCH_VALUE,
        "shoal.methods.research_value.methods:RVHybrid",
        honours=FULL_DOMAIN,
        takes=frozenset({"rules", "weights", "limits"}),
        climbs=True,
    ),
    Info(
        "sbca",
        "groups the first remaining row with the k-1 nearest; categories are compared by frequency",
        "Sarrafi Aghdam, Sonehara: High data utility k-anonymization using similarity-based clustering, IEICE 2016",
        "shoal.methods.clustering.sbca:SBCA",
        honours=MERGEABLE,
        takes=frozenset({"limits"}),
    ),
    Info(
        "mdav",
        "groups the row farthest from the average with the k-1 nearest, over standardised columns",
        "Domingo-Ferrer, Mateo-Sanz: Practical data-oriented microaggregation, IEEE TKDE 2002; Domingo-Ferrer, Torra: "
        "Ordinal, continuous and heterogeneous k-anonymity through microaggregation, DMKD 2005",
        "shoal.methods.clustering.mdav:MDAV",
        honours=MERGEABLE,
        takes=frozenset({"weights", "limits"}),
    ),
    Info(
        "kaca",
        "merges classes of equal rows with the nearest class in the attributes' hierarchies",
        "Li, Wong, Fu, Pei: Achieving k-anonymity by clustering in attribute hierarchical structures, DaWaK 2006",
        "shoal.methods.clustering.kaca:KACA",
        honours=MERGEABLE,
        takes=frozenset({"limits"}),
        climbs=True,
    ),
    Info(
        "bottom-up",
        "merges the smallest group with the one that gives the tightest union",
        "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
        "shoal.methods.clustering.bottom_up:BottomUp",
        honours=MERGEABLE,
        takes=frozenset({"weights", "limits"}),
    ),
    Info(
        "top-down",
        "splits groups in two around distant rows, then repairs those that became too small",
        "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
        "shoal.methods.clustering.top_down:TopDown",
        honours=MERGEABLE,
        takes=frozenset({"weights", "limits"}),
    ),
    Info(
        "euclidean",
        "merges the smallest group with the one that gives the smallest sum of plain ranges: a baseline",
        "the baseline of utility-driven clustering; see there",
        "shoal.methods.clustering.euclidean:Euclidean",
        honours=MERGEABLE,
        takes=frozenset({"limits"}),
    ),
    Info(
        "utility-driven",
        "merges the smallest group where most research value remains, under data constraint rules",
        "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, thesis",
        "shoal.methods.clustering.utility_driven:UtilityDriven",
        honours=MERGEABLE,
        takes=frozenset({"rules", "weights", "limits"}),
    ),
    Info(
        "mnqia",
        "fills each group with rows of different buckets, by quasi-identifiers or by sensitive values",
        "Multiple numerical quasi-identifier anonymisation by bucketization and MMDCF, IJARTET 4(4), 2017",
        "shoal.methods.clustering.mnqia:MNQIA",
        honours=MERGEABLE,
    ),
)


def infos() -> tuple[Info, ...]:
    """List the methods."""
    return METHODS


def info_of(name: str) -> Info | None:
    """Return the line on a method; None for a method that is not registered."""
    return next((info for info in METHODS if info.name == name), None)


def named(name: str, **options: object) -> Method:
    """Return a method with its options.

    Args:
        name: The name of the method.
        **options: The values of its fields.

    Raises:
        UsageError: The method or one of its options is unknown.

    >>> named("mondrian", variant="relaxed").name
    'mondrian'
    """
    info = info_of(name)
    if info is None:
        names = [info.name for info in METHODS]
        close_names = difflib.get_close_matches(name, names, n=1)
        hint = f"Did you mean {close_names[0]!r}? " if close_names else ""
        raise UsageError(f"method {name!r} is not known. {hint}Methods: {', '.join(names)}.")
    module, _, class_name = info.place.partition(":")
    make = getattr(importlib.import_module(module), class_name)
    allowed = [field.name for field in fields(make)]
    unknown_options = set(options).difference(allowed)
    if unknown_options:
        raise UsageError(
            f"method {name!r} has no option {min(unknown_options)!r}. Its options: {', '.join(allowed) or 'none'}."
        )
    try:
        method: Method = make(**options)
    except (AttributeError, TypeError, ValueError, OverflowError):  # an option reads a value of another type
        listed = ", ".join(f"{option}={value!r:.60}" for option, value in options.items())
        raise UsageError(f"method {name!r}: an option has a value of the wrong form: {listed}.") from None
    return method
