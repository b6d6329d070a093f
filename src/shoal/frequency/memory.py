"""Frequency sets of a table that is in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding import Attribute, Encoded
from shoal.frequency.base import NOTHING, Counted, FrequencySet
from shoal.sensitive import Sensitive

__all__ = ["MemoryEngine"]


@dataclass(frozen=True)
class MemoryEngine:
    """Counts an encoded table."""

    encoded: Encoded

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers in the order of the schema, with their hierarchies."""
        return self.encoded.attributes

    def finest(self, counted: Counted = NOTHING) -> FrequencySet:
        """Count the table by its quasi-identifiers and what the models need."""
        encoded = self.encoded
        names = [attribute.name for attribute in encoded.attributes]
        cards = [len(attribute.texts) for attribute in encoded.attributes]
        if counted == NOTHING:  # the tuples are distinct and sorted as they are
            return FrequencySet(tuple(names), len(names), tuple(cards), encoded.tuples, encoded.counts)
        more: list[tuple[str, NDArray[Any], int]] = [
            (name, self.sensitive(name).codes, len(self.sensitive(name).texts)) for name in counted.sensitive
        ]
        if counted.personal_k and encoded.personal_k is not None:
            more.append(("k", encoded.personal_k, int(encoded.personal_k.max()) + 1))
        if counted.people and encoded.people is not None:
            more.append(("person", encoded.people, int(encoded.people.max()) + 1))
        codes = np.column_stack([encoded.tuples[encoded.row_tuple], *(column for _, column, _ in more)])
        rows = np.ones(len(codes), dtype=np.int64) if encoded.weights is None else encoded.weights
        columns = [*names, *(name for name, _, _ in more)]
        return FrequencySet.counted(
            columns, len(names), [*cards, *(card for _, _, card in more)], codes.astype(np.int32), rows
        )

    def sensitive(self, name: str) -> Sensitive:
        """Return what the codes of a sensitive column mean."""
        return next(column for column in self.encoded.sensitive if column.name == name)
