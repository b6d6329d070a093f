"""Anonymisation methods, each a class with its options as fields; `methods.named("mondrian")` finds one by name."""

from shoal.methods.base import Method, Run
from shoal.methods.clustering.bottom_up import BottomUp
from shoal.methods.clustering.euclidean import Euclidean
from shoal.methods.clustering.kaca import KACA
from shoal.methods.clustering.mnqia import MNQIA
from shoal.methods.clustering.sbca import SBCA
from shoal.methods.clustering.top_down import TopDown
from shoal.methods.clustering.utility_driven import UtilityDriven
from shoal.methods.full_domain.datafly import Datafly
from shoal.methods.full_domain.incognito import Incognito
from shoal.methods.full_domain.optimal import Optimal
from shoal.methods.mondrian import Mondrian
from shoal.methods.registry import infos, named
from shoal.methods.research_value.methods import RVGlobal, RVHybrid, RVLocal
from shoal.methods.shoaling.search import Shoaling

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
