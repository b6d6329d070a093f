"""Frequency sets of a table that is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.encoding import Attribute, Encoded
from shoal.frequency.base import FrequencySet

__all__ = ["MemoryEngine"]


@dataclass(frozen=True)
class MemoryEngine:
    """Counts an encoded table."""

    encoded: Encoded

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers in the order of the schema, with their hierarchies."""
        return self.encoded.attributes

    def finest(self, sensitive: Sequence[str] = ()) -> FrequencySet:
        """Count the table by its quasi-identifiers and these sensitive columns."""
        encoded = self.encoded
        names = [attribute.name for attribute in encoded.attributes]
        cards = [len(attribute.texts) for attribute in encoded.attributes]
        if not sensitive:  # the tuples are distinct and sorted as they are
            return FrequencySet(tuple(names), len(names), tuple(cards), encoded.tuples, encoded.counts)
        ranks = [encoded.others[name].ranks[encoded.order] for name in sensitive]
        codes = np.column_stack([encoded.tuples[encoded.row_tuple], *ranks]).astype(np.int32)
        cards += [len(encoded.others[name].texts) for name in sensitive]
        counts = np.ones(len(codes), dtype=np.int64) if encoded.weights is None else encoded.weights
        return FrequencySet.counted([*names, *sensitive], len(names), cards, codes, counts)

    def texts(self, sensitive: str) -> tuple[str, ...]:
        """Return the text behind each code of a sensitive column."""
        return tuple(self.encoded.others[sensitive].texts.to_list())
