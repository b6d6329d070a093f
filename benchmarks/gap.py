"""The gap between a method and the optimum, on samples small enough to compute the optimum exactly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.encoding.encode import encode
from shoal.methods import Method, Run
from shoal.models import KAnonymity
from shoal.schema import Schema
from shoal.tables.table import Table, from_frame
from tests.losses import total_loss

__all__ = ["GAP_KS", "SAMPLES", "measure_gaps"]

SAMPLES = 20
FEWEST, MOST = 24, 40  # rows of a sample
GAP_KS = (2, 3)
SEED = 1


def measure_gaps(table: Table, schema: Schema, method: Method) -> Iterator[float]:
    """Yield, for each sample and k, the loss over the smallest possible loss, minus 1.

    The optimum comes from the oracle of the tests, which solves a set partitioning problem and needs scipy.
    """
    from tests.naive.optimum import columns_of, least_total

    generator = np.random.default_rng(SEED)
    for n_rows in np.linspace(FEWEST, MOST, SAMPLES).astype(int).tolist():
        sample = generator.choice(table.frame.height, n_rows, replace=False)
        encoded = encode(from_frame(table.frame[sample]), schema)
        for k in GAP_KS:
            optimum = least_total(columns_of(encoded), n_rows, k)
            loss = total_loss(encoded, method.partition(encoded, (KAnonymity(k),), Run()))
            yield loss / optimum - 1 if optimum else 0.0
