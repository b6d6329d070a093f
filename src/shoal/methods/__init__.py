"""Anonymisation methods, each a class with its options as fields; `methods.named("mondrian")` finds one by name."""

from shoal.methods.base import Method, Run, infos, named
from shoal.methods.kaca import KACA
from shoal.methods.mondrian import Mondrian
from shoal.methods.sbca import SBCA
from shoal.methods.shoaling import Shoaling

__all__ = ["KACA", "SBCA", "Method", "Mondrian", "Run", "Shoaling", "infos", "named"]
