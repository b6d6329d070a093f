"""Which ids of people mean the same person."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.tables import values

if TYPE_CHECKING:
    import polars as pl

__all__ = ["person_codes"]

NORMAL = "^[!-~]([ -~]*[!-~])?$"  # ASCII without outer blanks: such an id is its own normal form


def person_codes(ids: pl.Series, missing: Collection[str]) -> NDArray[np.int32]:
    """Return a code for the person of each distinct id.

    Ids that differ only in outer blanks or in the form of their Unicode are one person, and so are all missing ones: a
    person must not count twice because an id is written in two ways.

    Args:
        ids: The distinct ids.
        missing: The texts that mean a missing id, besides the empty one.
    """
    absent = {"", *map(values.normalise, missing)}
    n_absent = int(ids.is_in(list(absent)).sum())
    if n_absent < 2 and bool((ids.str.contains(NORMAL) | (ids == "")).all()):
        return np.arange(len(ids), dtype=np.int32)
    code_of: dict[str, int] = {}
    normal = (values.normalise(text) for text in ids.to_list())
    people = ["" if text in absent else text for text in normal]
    return np.array([code_of.setdefault(text, len(code_of)) for text in people], dtype=np.int32)
