"""Which ids of people mean the same person, by the verifier's own reading.

Ids that differ only in outer blanks or in the form of their Unicode are one person, and so are all missing ones.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from shoal.schema import Role, Schema
from shoal.verification.cells import normalise
from shoal.verification.matching.packing import merged_column
from shoal.verification.reading.coded import CodedTable

__all__ = ["person_of", "with_people"]


def person_of(text: str, missing: Collection[str]) -> str:
    """Return the person that an id means; missing: the normal texts that mean a missing id, besides the empty one."""
    text = normalise(text)
    return "" if text in missing else text


def with_people(source: CodedTable, schema: Schema) -> CodedTable:
    """Return a source whose column of people has one text for each person."""
    people, absent = schema.names(Role.PERSON), frozenset(map(normalise, schema.missing))
    columns = [
        merged_column([person_of(text, absent) for text in column.texts], column) if name in people else column
        for name, column in zip(source.names, source.columns, strict=True)
    ]
    return replace(source, columns=columns)
