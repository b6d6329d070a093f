"""The terms of the models as arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.models import Basis, Distributions, PrivacyModel, Term, TermKind

__all__ = ["Requirement", "find_requirement"]

COVERING = frozenset({TermKind.COVERED, TermKind.PRESENCE})


@dataclass(frozen=True)
class Requirement:
    """What the models require of a group beyond k rows, as the kernels read it.

    A kernel keeps one array of counts for each group, the tally: the histograms of all terms, one after another.

    Attributes:
        classes: The class of each canonical row; models cannot tell the rows of one class apart.
        positions: The places of each class in the tally, one for each histogram.
        terms: For each term its kind, first place, number of places, place of missing values or -1, and the two
            thresholds.
        facts: Two numbers for each place of the tally.
        steps: For each step of the terms that follow an order, the rows of the table up to there, and the sum of these
            over all steps before.
        size_only: Whether every group of k rows passes all models.
        covers: Whether the population rows that the cells of a group cover decide.
    """

    classes: NDArray[np.int64]
    positions: NDArray[np.int32]
    terms: NDArray[np.float64]
    facts: NDArray[np.float64]
    steps: NDArray[np.int64]
    size_only: bool
    covers: bool = False

    @property
    def plain(self) -> bool:
        """Whether the kernels look at numbers of rows only."""
        return not len(self.terms)


def find_requirement(
    encoded: Encoded, models: tuple[PrivacyModel, ...], whole: Distributions | None = None
) -> Requirement:
    """Collect what the models require of a group beyond k rows.

    A model that declares no terms does not steer the kernels. The rows that it tells apart still get classes of their
    own, so that a group can be judged by its counts.

    Args:
        encoded: The rows that are searched.
        models: The models.
        whole: The distributions of the whole table; by default those of `encoded`.
    """
    from shoal.kernels.shoaling.prices import TERM_KINDS

    whole = whole or Distributions.of(encoded)
    codes = {column.name: column.codes for column in encoded.sensitive}
    places: list[NDArray[np.int64]] = []  # of each canonical row, one array for each histogram
    silent: list[NDArray[np.int64]] = []  # codes that models without terms tell apart
    rows: list[tuple[float, ...]] = []
    covers = False
    facts: list[NDArray[np.float64]] = []
    steps: list[NDArray[np.int64]] = []
    begin = n_steps = 0
    for model in models:
        terms = model.terms(whole)
        if terms is None:
            silent += _counted(encoded, model)
        for term in terms or ():
            places += [place + begin for place in _places(encoded, term, codes)]
            rows.append((TERM_KINDS[term.kind], begin, len(term.facts), term.missing, *term.threshold))
            facts.append(term.facts + np.array([n_steps if len(term.steps) else 0, 0]))
            steps.append(term.steps)
            n_steps += len(term.steps)
            begin += len(term.facts)
            covers |= term.kind in COVERING
    size_only = all(model.size_only for model in models)
    columns = [*places, *silent]
    distinct, classes = np.zeros((1, 0), dtype=np.int64), np.zeros(len(encoded.order), dtype=np.int64)
    if columns:
        distinct, classes = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return Requirement(
        classes.ravel().astype(np.int64),
        np.ascontiguousarray(distinct[:, : len(places)], dtype=np.int32),
        np.array(rows, dtype=np.float64).reshape(-1, 6),
        np.concatenate([np.zeros((0, 2)), *facts]),
        np.concatenate([np.zeros((0, 2), dtype=np.int64), *steps]),
        size_only,
        covers,
    )


def _places(encoded: Encoded, term: Term, codes: dict[str, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
    """Return the place of each canonical row in each histogram of a term."""
    if not len(term.facts):
        return []
    if term.column:
        return [places[codes[term.column]].astype(np.int64) for places in term.places]
    return [np.searchsorted(term.facts[:, 0], encoded.personal_k).astype(np.int64)]  # type: ignore[arg-type]


def _counted(encoded: Encoded, model: PrivacyModel) -> list[NDArray[np.int64]]:
    """Return what a model tells rows apart by, one code for each canonical row."""
    counted = [column.codes.astype(np.int64) for column in encoded.sensitive if column.name in model.columns]
    if model.basis is Basis.PERSONAL_K and encoded.personal_k is not None:
        counted.append(encoded.personal_k)
    return counted
