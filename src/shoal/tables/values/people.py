"""Which ids of people mean the same person."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.tables import values
from shoal.tables.sorting import number_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NORMAL", "People", "absent_ids", "person_codes", "persons_of"]

NORMAL = "^[!-~]([ -~]*[!-~])?$"  # ASCII without outer blanks: such an id is its own normal form


class People(NamedTuple):
    """A column of people whose ids an engine codes itself.

    Attributes:
        name: The column.
        missing: The texts that mean a missing id, besides the empty one.
    """

    name: str
    missing: tuple[str, ...]


def absent_ids(missing: Collection[str]) -> list[str]:
    """Return the normal forms of missing ids."""
    return sorted({"", *map(values.normalise, missing)})


def persons_of(ids: pl.Series, missing: Collection[str]) -> pl.Series:
    """Return the person of each id: its normal form, or the empty text if it is missing.

    Ids that differ only in outer blanks or in the form of their Unicode are one person, and so are all missing ones: a
    person must not count twice because an id is written in two ways.

    Args:
        ids: The ids.
        missing: The texts that mean a missing id, besides the empty one.
    """
    import polars as pl

    odd = (~ids.str.contains(NORMAL)).arg_true()
    normal = pl.Series([values.normalise(text) for text in ids.gather(odd).to_list()], dtype=pl.String)
    people = ids.clone().scatter(odd, normal) if len(odd) else ids
    return people.replace(absent_ids(missing), "")


def person_codes(ids: pl.Series, missing: Collection[str]) -> NDArray[np.int32]:
    """Return a code for the person of each distinct id, in the order of ids; arguments as for `persons_of`."""
    is_absent = ids.is_in(absent_ids(missing))
    if int(is_absent.sum()) < 2 and bool((ids.str.contains(NORMAL) | (ids == "")).all()):
        return np.arange(len(ids), dtype=np.int32)
    return number_texts(persons_of(ids, missing).to_list()).astype(np.int32)
