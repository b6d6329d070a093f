"""Anonymisation methods, each a class with its options as fields; `methods.named("mondrian")` finds one by name."""

from shoal.methods.base import Method, Run, infos, named
from shoal.methods.bottom_up import BottomUp
from shoal.methods.datafly import Datafly
from shoal.methods.euclidean import Euclidean
from shoal.methods.incognito import Incognito
from shoal.methods.kaca import KACA
from shoal.methods.mnqia import MNQIA
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.methods.rv import RVGlobal, RVHybrid, RVLocal
from shoal.methods.sbca import SBCA
from shoal.methods.shoaling import Shoaling
from shoal.methods.top_down import TopDown
from shoal.methods.utility_driven import UtilityDriven

__all__ = [
    "KACA",
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
