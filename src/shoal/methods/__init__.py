"""Anonymisation methods, each a class with its options as fields; `methods.named("mondrian")` finds one by name."""

from shoal.methods.base import Method, Run, infos, named
from shoal.methods.datafly import Datafly
from shoal.methods.incognito import Incognito
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal import Optimal
from shoal.methods.rv import RVGlobal, RVHybrid, RVLocal
from shoal.methods.shoaling import Shoaling

__all__ = [
    "Datafly",
    "Incognito",
    "Method",
    "Mondrian",
    "Optimal",
    "RVGlobal",
    "RVHybrid",
    "RVLocal",
    "Run",
    "Shoaling",
    "infos",
    "named",
]
