"""What the labels of a hierarchy cover, as numbers: each label is read once, and searches work with the figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import InternalError
from shoal.metrics.released_cells import OrderedReader, reader

__all__ = ["LabelFigures", "read_labels"]


@dataclass(frozen=True)
class LabelFigures:
    """The figures of each node of an attribute's tree.

    Attributes:
        losses: The loss (NCP) of a cell that shows the node's label, as the measures read it.
        low: The least number that the label declares; NaN for a category, or if it cannot be read as a range.
        high: The greatest number that the label declares.
    """

    losses: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def read_labels(attribute: Attribute) -> LabelFigures:
    """Read the labels of an attribute's tree.

    Raises:
        InternalError: The attribute has no tree, or does not say how its cells are read.
    """
    if attribute.tree is None or attribute.column is None:
        raise InternalError(f"attribute {attribute.name!r} has no labels to read.")
    n_codes, labels = len(attribute.texts), attribute.tree.labels
    markers = (attribute.texts[attribute.missing],) if attribute.missing >= 0 else ()
    cells = reader(attribute.column, dict.fromkeys(attribute.texts, 1), None, markers, attribute.hierarchy)
    losses = np.zeros(len(labels))  # a code, which is a value, loses nothing
    low, high = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for node in range(n_codes, len(labels)):
        label = labels[node]
        loss = 0.0 if label in markers else cells.loss(label)
        losses[node] = 1.0 if loss is None else loss
        if isinstance(cells, OrderedReader) and (bounds := cells.bounds(label)) is not None:
            low[node], high[node] = bounds
    return LabelFigures(losses, low, high)
