"""Anonymisation methods, each a class with its options as fields; `methods.named("mondrian")` finds one by name."""

from shoal.methods.base import Method, Run, infos, named
from shoal.methods.mondrian import Mondrian

__all__ = ["Method", "Mondrian", "Run", "infos", "named"]
