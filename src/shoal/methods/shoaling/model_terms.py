"""What the models ask of a group, as counts that a search keeps up to date when rows come and go.

The kernels judge with floats and steer by that; who has the last word on the groups that are made are the models.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal import models as known
from shoal.encoding.attributes import Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.errors import InternalError
from shoal.models import PrivacyModel

__all__ = ["Needs", "find_needs"]

# Kinds of terms, as in kernels/ripe.pxd.
DISTINCT, LARGEST, ENTROPY, RECURSIVE, CLOSE, ORDERED, SHARES, ASKED = range(8)
JUST = 1e-12  # by how much floats may miss a threshold


@dataclass(frozen=True)
class Needs:
    """What the kernels are told of the models.

    classes: the class of each canonical row; rows of a class are alike in all that models count. positions: where each
    class stands in the histograms of a group, which lie in one array. terms: kind, first place, number of places, place
    of the missing value or -1, and two thresholds each. facts: two for each place.
    """

    classes: NDArray[np.int64]
    positions: NDArray[np.int32]
    terms: NDArray[np.float64]
    facts: NDArray[np.float64]

    @property
    def plain(self) -> bool:
        """Whether rows alone decide."""
        return not len(self.terms)


@dataclass
class _Draft:
    """Histograms as they are added, one after the other."""

    codes: list[NDArray[np.int64]] = field(default_factory=list)  # place of each canonical row
    terms: list[tuple[float, ...]] = field(default_factory=list)
    facts: list[NDArray[np.float64]] = field(default_factory=list)
    n_places: int = 0

    def add_places(self, codes: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> int:
        """Add a histogram with two facts for each place; return where it begins."""
        begin = self.n_places
        self.codes.append(codes.astype(np.int64) + begin)
        self.facts.append(np.column_stack([first, second]).astype(np.float64))
        self.n_places += len(first)
        return begin

    def add_term(self, kind: int, begin: int, missing: int, x: float, y: float) -> None:
        """Ask something of the places from one on to the end."""
        self.terms.append((kind, begin, self.n_places - begin, missing, x, y))


def find_needs(encoded: Encoded, models: tuple[PrivacyModel, ...]) -> Needs:
    """Return what the models ask beyond rows."""
    draft = _Draft()
    columns = {column.name: column for column in encoded.sensitive}
    for model in models:
        if isinstance(model, known.PersonalK):
            assert encoded.personal_k is not None
            asked, codes = np.unique(encoded.personal_k, return_inverse=True)
            draft.add_term(ASKED, draft.add_places(codes, asked, asked), -1, 0, 0)
        elif isinstance(model, known.TCloseness):
            _add_closeness(draft, model, columns[model.column])
        elif not model.size_only:
            _add_model(draft, model, columns[model.columns[0]])
    if not draft.terms:
        nothing = np.zeros((1, 0), dtype=np.int32)
        return Needs(np.zeros(encoded.n_rows, dtype=np.int64), nothing, np.zeros((0, 6)), np.zeros((0, 2)))
    places, classes = np.unique(np.column_stack(draft.codes), axis=0, return_inverse=True)
    return Needs(
        classes.ravel().astype(np.int64),
        np.ascontiguousarray(places, dtype=np.int32),
        np.array(draft.terms, dtype=np.float64),
        np.concatenate(draft.facts),
    )


def _add_model(draft: _Draft, model: PrivacyModel, column: Sensitive) -> None:
    n_values = len(column.texts)
    rows = np.bincount(column.codes, minlength=n_values)
    shares = rows / rows.sum()
    low, high = np.zeros(n_values), np.ones(n_values)
    if isinstance(model, known.DeltaDisclosure):
        factor = 2.0 ** float(model.delta)
        low, high = shares / factor * (1 + JUST), shares * factor * (1 - JUST)
    elif isinstance(model, known.BetaLikeness):
        gains = np.full(n_values, float(model.beta))
        if model.enhanced:
            gains = np.minimum(gains, -np.log(np.maximum(shares, JUST)))
        high = shares * (1 + gains) * (1 + JUST)
    begin = draft.add_places(column.codes, low, high)
    kind, x, y = _threshold(model)
    draft.add_term(kind, begin, column.missing, x, y)


def _threshold(model: PrivacyModel) -> tuple[int, float, float]:
    """Return kind and thresholds of a model of the values of one column."""
    match model:
        case known.LDiversity():
            return DISTINCT, model.l, 0
        case known.PSensitiveK():
            return DISTINCT, model.p, 0
        case known.AlphaK():
            return LARGEST, model.alpha.numerator, model.alpha.denominator
        case known.EntropyLDiversity():
            return ENTROPY, float(np.log(float(model.l))), 0
        case known.RecursiveLDiversity():
            return RECURSIVE, float(model.c), model.l
        case known.DeltaDisclosure() | known.BetaLikeness():
            return SHARES, 0, 0
    raise InternalError(f"no search knows how to honour {model.describe()}.")


def _add_closeness(draft: _Draft, model: known.TCloseness, column: Sensitive) -> None:
    """Add the values of a column, or the nodes above them, or the values in their order."""
    n_values = len(column.texts)
    t = model.t
    if model.ground(column) == "ordered":
        places = np.empty(n_values, dtype=np.int64)
        places[np.argsort(model.ranks(column), kind="stable")] = np.arange(n_values)
        codes = places[column.codes]
        rows = np.bincount(codes, minlength=n_values)
        present = np.flatnonzero(rows)  # values that do not occur are no steps
        codes = np.searchsorted(present, codes)
        begin = draft.add_places(codes, rows[present], np.full(len(present), rows.sum()))
        draft.add_term(ORDERED, begin, -1, t.numerator * max(1, len(present) - 1), t.denominator)
        return
    levels: list[NDArray[Any]] = [np.arange(n_values)]
    if model.ground(column) == "hierarchical" and column.tree is not None:
        levels = list(column.tree.nodes[:-1])
    begin = draft.n_places
    for level in levels:
        codes = level[column.codes]
        rows = np.bincount(codes, minlength=int(level.max()) + 1)
        draft.add_places(codes, rows, np.full(len(rows), rows.sum()))
    draft.add_term(CLOSE, begin, -1, 2 * len(levels) * t.numerator, t.denominator)
