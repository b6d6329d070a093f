"""Counts of the distinct rows of a table: all that a full-domain method needs to know of it."""

from shoal.frequency.base import Counted, FrequencyEngine, FrequencySet
from shoal.frequency.memory import MemoryEngine

__all__ = ["Counted", "FrequencyEngine", "FrequencySet", "MemoryEngine"]
