"""What models say of parts of a table that are known from counts alone: those of a cut, or regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.population import Population, covered_rows
from shoal.encoding.sensitive import Sensitive
from shoal.models import Basis, Groups, PrivacyModel
from shoal.release.counted_tables.sections.plan import PartCounts
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PartJudge"]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class PartJudge:
    """Judges parts by the models that look at each of them by itself. It can be pickled.

    Attributes:
        models: The models that judge more than sizes.
        attributes: The quasi-identifiers of the table.
        sensitive: The sensitive columns that models count, with the totals that parts are compared with.
        personal_ks: The distinct values of the personal k, ascending.
        population: The population that models compare parts with.
    """

    models: tuple[PrivacyModel, ...]
    attributes: tuple[Attribute, ...]
    sensitive: tuple[Sensitive, ...]
    personal_ks: NDArray[np.int64]
    population: Population | None = None

    @classmethod
    def of(cls, encoded: Encoded, models: Sequence[PrivacyModel]) -> Self:
        """Return the judge of a table.

        Args:
            encoded: Rows with the counts of each column of the table.
            models: All models of the run.
        """
        return cls(
            tuple(model for model in models if not model.size_only),
            encoded.attributes,
            tuple(replace(column, totals=column.count(encoded.weights)) for column in encoded.sensitive),
            np.empty(0, dtype=np.int64) if encoded.personal_k is None else np.unique(encoded.personal_k),
            encoded.population,
        )

    @property
    def judged(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each model counts; at last each quasi-identifier, if models look at the cells of a part."""
        places = {column.name: place for place, column in enumerate(self.sensitive)}
        own_k = len(places)
        counted = [
            (*(places[name] for name in model.columns), *([own_k] if model.basis is Basis.PERSONAL_K else []))
            for model in self._counting
        ]
        shown = range(-len(self.attributes), 0) if self._covering else ()
        return (*counted, *((place,) for place in shown))

    @property
    def _counting(self) -> list[PrivacyModel]:
        """The models that count rows of each part."""
        return [model for model in self.models if model.basis not in (Basis.POPULATION, Basis.TABLE)]

    @property
    def _covering(self) -> list[PrivacyModel]:
        """The models that compare the cells of each part with a population."""
        return [model for model in self.models if model.basis is Basis.POPULATION]

    def passes(self, counted: Iterable[PartCounts], people: Counts | None = None) -> bool:
        """Say whether every part passes the models.

        Args:
            counted: For each entry of `judged`, the rows of the parts.
            people: The people of each part, if they are counted.
        """
        columns, counted = {column.name: column for column in self.sensitive}, iter(counted)
        for model, (parts, codes, rows) in zip(self._counting, counted, strict=False):
            own = {name: replace(columns[name], codes=codes[:, i]) for i, name in enumerate(model.columns)}
            own_k = self.personal_ks[codes[:, -1]] if model.basis is Basis.PERSONAL_K else None
            if model.failing(Groups(parts, rows, own, own_k, n_people=people)).any():
                return False
        if not self._covering:
            return True
        shown = list(counted)
        groups = Groups(shown[0].parts, shown[0].rows, matches=lambda: self._covered_rows(shown), n_people=people)
        return not any(model.failing(groups).any() for model in self._covering)

    def passes_blocks(self, packing: Packing, blocks: Iterable[pl.DataFrame]) -> bool:
        """Say whether regions pass.

        Args:
            packing: How rows of regions are packed: parts, the number of an entry of `judged`, and its codes.
            blocks: Such rows, each with its count n, sorted; all of a region are in one block.
        """
        for block in blocks:
            codes, rows = packing.codes(block), block["n"].to_numpy().astype(np.int64)
            begins = np.ones(len(codes), dtype=bool)
            begins[1:] = (codes[1:, : packing.n_keys] != codes[:-1, : packing.n_keys]).any(axis=1)
            regions, asked = (np.cumsum(begins) - 1).astype(np.int32), codes[:, packing.n_keys]
            counted = []
            for number, places in enumerate(self.judged):
                own = asked == number
                beside = codes[own, packing.n_keys + 1 : packing.n_keys + 1 + len(places)]
                counted.append(PartCounts(regions[own], beside, rows[own]))
            if not self.passes(counted):
                return False
        return True

    def _covered_rows(self, shown: Sequence[PartCounts]) -> Counts:
        """Return the rows of the population that the cells of each part cover; shown: codes by quasi-identifier."""
        present = [_codes_of_parts(own) for own in shown]
        # Rows that have every code of a part in every column show the same cells.
        heights = [max(map(len, codes)) for codes in zip(*present, strict=True)]
        tuples = np.column_stack(
            [
                np.concatenate([np.resize(own, height) for own, height in zip(codes, heights, strict=True)])
                for codes in present
            ]
        )
        every = np.arange(len(tuples))
        table = Encoded(
            self.attributes,
            tuples.astype(np.int32),
            np.ones(len(tuples), dtype=np.int64),
            every.astype(np.int32),
            every,
            population=self.population,
        )
        return covered_rows(table, np.repeat(np.arange(len(heights), dtype=np.int32), heights))


def _codes_of_parts(counted: PartCounts) -> list[NDArray[np.int32]]:
    """Return the codes that each part has of a column."""
    order = np.argsort(counted.parts, kind="stable")
    starts = np.flatnonzero(np.diff(counted.parts[order]))
    return np.split(counted.codes[order, 0], starts + 1)
