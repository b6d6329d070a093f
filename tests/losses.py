"""The loss of a partition, for tests that compare methods."""

from __future__ import annotations

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, cell_losses


def total_loss(encoded: Encoded, partition: Partition) -> float:
    """Return the NCP summed over all rows and attributes, with the hierarchies of the table."""
    rows = np.bincount(partition.labels, minlength=partition.n_groups)
    losses = (cell_losses(a, cells)[cells.index] for a, cells in zip(encoded.attributes, partition.cells, strict=True))
    return float(sum((loss * rows).sum() for loss in losses))
