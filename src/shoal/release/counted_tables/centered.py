"""Centres of groups that are not in memory: what they show, over a stand-in of the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.partition import SUPPRESSION
from shoal.release.cells.centers import Centers
from shoal.release.release import Request
from shoal.schema import Schema
from shoal.tables.sources.base import Dealing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Centered", "stand_in_centers", "text_ranks"]


@runtime_checkable
class Centered(Protocol):
    """Groups that show their centres."""

    @property
    def shown(self) -> Sequence[tuple[pl.Series, NDArray[np.int64]]]:
        """For each attribute, and then for the spread of each, the distinct texts and the rows that show each."""


def stand_in_centers(found: Centered, places: Sequence[NDArray[np.int64]], schema: Schema, request: Request) -> Centers:
    """Return the centres of the groups of a stand-in, each a row of it.

    Args:
        found: The groups.
        places: For each column that they show, the place of the text of each row of the stand-in. A place after the
            last text is that of rows that are left out.
        schema: The columns.
        request: What the user requested.
    """
    names = [column.name for column in schema.qi]
    shown = [(known, np.minimum(own, len(known) - 1)) for (known, _), own in zip(found.shown, places, strict=True)]
    texts = [known.gather(own).to_list() for known, own in shown]
    spread = dict(zip(names, texts[len(names) :], strict=True)) if request.spread else {}
    every = np.arange(len(places[0]))
    return Centers(dict(zip(names, texts, strict=False)), spread, every, every.astype(np.int32))


def text_ranks(
    dealing: Dealing, n_columns: int
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.bool_]], list[NDArray[np.bool_]]]:
    """Return the ranks of texts that groups show, which are in order already.

    Args:
        dealing: The release.
        n_columns: The number of quasi-identifiers.

    Returns:
        The ranks of each column; for each quasi-identifier, which texts show one value, namely none, and which are "*".
    """
    texts = [texts for texts, _ in dealing.cells.values()]
    ranks = [np.arange(len(each), dtype=np.int32) for each in texts]
    exact = [np.zeros(len(each), dtype=bool) for each in texts[:n_columns]]
    return ranks, exact, [(each == SUPPRESSION).to_numpy() for each in texts[:n_columns]]
