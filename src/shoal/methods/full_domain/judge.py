"""Decide which groups of a frequency set fail the models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.sensitive import Sensitive
from shoal.methods.full_domain.frequency import NOTHING, Counted, FrequencyEngine, FrequencySet
from shoal.models import Basis, Groups, PrivacyModel

__all__ = ["Judge"]


@dataclass(frozen=True)
class Judge:
    """The models, and what they need to know about the columns that they count.

    Attributes:
        models: The models.
        counted: The columns of the frequency sets beside the quasi-identifiers.
        sensitive: The meaning of the codes of sensitive columns.
    """

    models: tuple[PrivacyModel, ...]
    counted: Counted = NOTHING
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: FrequencyEngine, models: tuple[PrivacyModel, ...], *, people: bool = False) -> Judge:
        """Get from an engine what the models count; people: sizes count people."""
        names = tuple(dict.fromkeys(name for model in models for name in model.columns))
        personal = any(model.basis is Basis.PERSONAL_K for model in models)
        return cls(models, Counted(names, personal, people), {name: engine.sensitive(name) for name in names})

    @property
    def least_size(self) -> int | None:
        """The size below which a group fails, if sizes alone decide."""
        if self.counted.people or not all(model.size_only for model in self.models):
            return None
        return max((model.minimum_size for model in self.models), default=0)

    def failing(self, frequencies: FrequencySet) -> NDArray[np.bool_]:
        """Return for each group whether it fails and would be suppressed.

        A model may compare a group with the whole release, so the remaining groups are judged again after suppression.
        """
        if self.least_size is not None:
            return frequencies.sizes < self.least_size
        labels = np.repeat(
            np.arange(frequencies.n_groups, dtype=np.int32),
            np.diff(np.append(frequencies.starts, len(frequencies.counts))),
        )
        groups = self._groups(frequencies, labels)
        failing = np.zeros(frequencies.n_groups, dtype=bool)
        while True:
            newly = np.zeros(frequencies.n_groups - int(failing.sum()), dtype=bool)
            for model in self.models:
                newly |= model.failing(groups)
            failing[np.flatnonzero(~failing)[newly]] = True
            final = all(model.monotone and model.basis is not Basis.TABLE for model in self.models)
            if not newly.any() or failing.all() or final:
                return failing
            kept_labels = np.where(failing, -1, np.cumsum(~failing) - 1).astype(np.int32)
            groups = self._groups(frequencies, kept_labels[labels])

    def _groups(self, frequencies: FrequencySet, labels: NDArray[np.int32]) -> Groups:
        n_qi, names = frequencies.n_qi, self.counted.sensitive
        columns = {
            name: replace(self.sensitive[name], codes=frequencies.codes[:, n_qi + i]) for i, name in enumerate(names)
        }
        other_columns = [frequencies.codes[:, i] for i in range(n_qi + len(names), frequencies.codes.shape[1])]
        personal = other_columns.pop(0).astype(np.int64) if self.counted.personal_k else None
        return Groups(
            labels, frequencies.counts, columns, personal, other_columns.pop(0) if self.counted.people else None
        )
