"""Anonymisation methods, each a class with its options as fields; `methods.named("mondrian")` finds one by name.

A method is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shoal.methods.base import Method, Run
from shoal.methods.registry import METHODS, infos, named

if TYPE_CHECKING:
    from shoal.methods.clustering.bottom_up import BottomUp
    from shoal.methods.clustering.euclidean import Euclidean
    from shoal.methods.clustering.kaca import KACA
    from shoal.methods.clustering.mdav import MDAV
    from shoal.methods.clustering.mnqia import MNQIA
    from shoal.methods.clustering.sbca import SBCA
    from shoal.methods.clustering.top_down import TopDown
    from shoal.methods.clustering.utility_driven import UtilityDriven
    from shoal.methods.full_domain.datafly import Datafly
    from shoal.methods.full_domain.incognito import Incognito
    from shoal.methods.full_domain.optimal import Optimal
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.research_value.methods import RVGlobal, RVHybrid, RVLocal
    from shoal.methods.shoaling.search import Shoaling

__all__ = [
    "KACA",
    "MDAV",
    "MNQIA",
    "SBCA",
    "BottomUp",
    "Datafly",
    "Euclidean",
    "Incognito",
    "Method",
    "Mondrian",
    "Optimal",
    "RVGlobal",
    "RVHybrid",
    "RVLocal",
    "Run",
    "Shoaling",
    "TopDown",
    "UtilityDriven",
    "infos",
    "named",
]

_MODULES = {name: module for module, _, name in (info.place.partition(":") for info in METHODS)}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
