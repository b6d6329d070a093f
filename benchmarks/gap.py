"""How far a method ends above the least possible loss, on samples so small that the least one can be computed."""

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
    """Yield the loss over the least possible one, less 1, of each sample and k.

    The optimum comes from the oracle of the tests, which solves a set partitioning problem and needs scipy.
    """
    from tests.naive.optimum import columns_of, least_total

    draw = np.random.default_rng(SEED)
    for n_rows in np.linspace(FEWEST, MOST, SAMPLES).astype(int).tolist():
        chosen = draw.choice(table.frame.height, n_rows, replace=False)
        encoded = encode(from_frame(table.frame[chosen]), schema)
        for k in GAP_KS:
            least = least_total(columns_of(encoded), n_rows, k)
            found = total_loss(encoded, method.partition(encoded, (KAnonymity(k),), Run()))
            yield found / least - 1 if least else 0.0
