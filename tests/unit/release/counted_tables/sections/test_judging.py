"""Regions that are known from counts are judged as groups of their rows are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.population import Population
from shoal.methods.base import failing_groups
from shoal.models import AlphaK, KMap, LDiversity, PersonalK, PrivacyModel, TCloseness
from shoal.release.counted_tables.searcher import Regions
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.tables.sorting import Packing, number_rows
from tests.unit.methods.shoaling.test_model_terms import table

MODELS: dict[str, list[tuple[PrivacyModel, ...]]] = {
    "one column": [(LDiversity("disease", l=l),) for l in (2, 3, 4, 5)],
    "the distribution of the table": [(TCloseness("pay", t=Fraction(t, 10)),) for t in (1, 3, 5, 9)],
    "two columns, own k": [(AlphaK("sex", Fraction(a, 10), 2), PersonalK()) for a in (5, 7, 9)],
    "a population": [(LDiversity("sex", l=2), KMap(k)) for k in (3, 20, 60)],
}


def cut_at_random(encoded: Encoded, draw: np.random.Generator) -> list[NDArray[np.int32]]:
    """Return the part of each code, by attribute."""
    n_codes = [len(attribute.texts) for attribute in encoded.attributes]
    return [np.sort(draw.integers(0, 3, n)).astype(np.int32) for n in n_codes]


def counted(encoded: Encoded, regions: Regions, judge: PartJudge) -> tuple[Packing, pl.DataFrame]:
    """Return the rows of regions by what is judged, packed and sorted."""
    codes = [encoded.tuples[encoded.row_tuple, a] for a in range(len(encoded.attributes))]
    parts = [own[codes[a]] for a, own in enumerate(regions.parts)]
    assert encoded.personal_k is not None
    beside = [column.codes for column in encoded.sensitive]
    columns = [*codes, *beside, np.unique(encoded.personal_k, return_inverse=True)[1]]
    units = Packing.of([int(own.max()) + 1 for own in columns], len(codes))
    packing, frames = regions.packing(units, judge.judged), []
    for number, places in enumerate(judge.judged):
        own = [columns[len(codes) + place] for place in places]
        own += [np.zeros(len(codes[0]), dtype=np.int32)] * (len(packing.cards) - len(codes) - 1 - len(own))
        packed = packing.pack([*parts, np.full(len(codes[0]), number), *own])
        frame = pl.DataFrame(dict(zip(packing.names, packed, strict=True)))
        frames.append(frame.group_by(packing.names).agg(pl.len().cast(pl.Int64).alias("n")))
    return packing, pl.concat(frames).sort(packing.names)


@pytest.mark.parametrize("name", MODELS)
def test_regions_pass_as_groups_of_rows_do(name: str) -> None:
    """Blocks end anywhere; each region is judged with all of its counts."""
    draw, found = np.random.default_rng(3), set()
    for seed in range(6):
        encoded = table(seed)
        scales = [2 if attribute.ordered else 1 for attribute in encoded.attributes]
        encoded = replace(encoded, population=Population(encoded.tuples.astype(np.int64) * scales, encoded.counts))
        parts = cut_at_random(encoded, draw)
        columns = [own[encoded.tuples[encoded.row_tuple, a]] for a, own in enumerate(parts)]
        labels = number_rows(columns, [3] * len(parts)).astype(np.int32)
        for models in MODELS[name]:
            judge = PartJudge.of(encoded, models)
            packing, frame = counted(encoded, Regions(parts), judge)
            step = int(draw.integers(1, frame.height + 1))

            def blocks(frame: pl.DataFrame = frame, step: int = step) -> Iterator[pl.DataFrame]:
                for first in range(0, frame.height, step):
                    yield frame.slice(first, step)

            passes = judge.passes_blocks(packing, packing.whole_tuples(blocks()))
            assert passes == (not failing_groups(encoded, models, labels).any())
            found.add(passes)
    assert found == {False, True}
