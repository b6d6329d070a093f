"""Releases made for a question about a column that groups do not count: the engine counts it beside each category."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.dictionary import Distinct
from shoal.encoding.sensitive import sensitive_dictionary
from shoal.metrics.association import Beside, Twin, twins_beside
from shoal.schema import Schema
from shoal.tables.sources.base import Source
from shoal.tables.table import RankedTable

__all__ = ["twins_in"]


def twins_in(source: Source, schema: Schema, target: str | None) -> Callable[[Encoded], tuple[Twin, ...]] | None:
    """Return what finds the twins of the categories of a source, once it is encoded; None if no target is named.

    Args:
        source: The table.
        schema: All of its columns.
        target: The target.
    """
    if target is None:
        return None
    column = next(column for column in schema.columns if column.name == target)

    def find(encoded: Encoded) -> tuple[Twin, ...]:
        counted = source.count([target])
        table = RankedTable(counted.factors, counted.counts, dialect=source.dialect)
        dictionary = sensitive_dictionary(column, Distinct.of(table, target), schema.missing)
        code_of = dict(zip(dictionary.distinct.texts.to_list(), dictionary.values.tolist(), strict=True))
        meaning = dictionary.meaning
        rows = np.bincount(dictionary.codes(table.factor(target)), counted.counts, len(meaning.texts)).astype(np.int64)

        def beside(place: int) -> Beside:
            own = encoded.dictionaries[place]
            own_code_of = dict(zip(own.distinct.texts.to_list(), own.values.tolist(), strict=True))
            pairs = source.count([own.name, target])
            codes = [
                np.array([known[text] for text in factor.texts.to_list()], dtype=np.int32)[factor.ranks]
                for known, factor in zip((own_code_of, code_of), pairs.factors.values(), strict=True)
            ]
            return Beside(codes[0], codes[1], pairs.counts)

        return twins_beside(encoded.attributes, meaning, rows, beside)

    return find
