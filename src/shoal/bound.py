"""A lower bound on the loss of every k-anonymous release: how far a result can be from the best there is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encoding import Attribute, Encoded

__all__ = ["lower_bound"]

MOST_ATTRIBUTES = 10
MOST_ROWS = 10**6
# Steps over all tuples: about a minute of one processor. Each tuple has its share of them, up to a limit.
MOST_STEPS = 10**10
MOST_STEPS_OF_A_TUPLE = 2 * 10**6


def lower_bound(encoded: Encoded, k: int) -> float | None:
    if len(encoded.attributes) > MOST_ATTRIBUTES or not k <= encoded.n_rows <= MOST_ROWS:
        return None
    if any(attribute.tree is not None for attribute in encoded.attributes):
        return None
    order, tuples = prepare(encoded)
    counts = encoded.counts[order]
    live = int((counts < k).sum())
    if not live:
        return 0.0
    m = len(counts)
    known = np.zeros(m)
    floors = np.zeros(m)
    patience = min(MOST_STEPS_OF_A_TUPLE, MOST_STEPS // live)
    import time
    for _ in range(1):
        t = time.process_time()
        steps = tuples.find(k, patience, known, 0, m, floors)
        print(m, live, f"steps {steps:.3e}", f"{time.process_time()-t:.2f}s", 100 * float((floors * counts).sum() / counts.sum() / len(encoded.attributes)))
        known = floors.copy()
    import os
    lam=float(os.environ.get("LAM","2")); P=float(os.environ.get("P","1")); rounds=int(os.environ.get("ROUNDS","3"))
    levels=int(os.environ.get("LEVELS","16"))
    caps=floors*lam
    duals=floors.copy()
    weights=floors**P
    for _ in range(rounds):
        t = time.process_time()
        raised=np.zeros(m)
        steps=tuples.share(k,patience,levels,floors,caps,weights,duals,raised)
        print("share",f"steps {steps:.3e}", f"{time.process_time()-t:.2f}s", 100 * float((raised * counts).sum() / counts.sum() / len(encoded.attributes)))
        weights=np.where(raised>duals, weights, 0.)
        duals=raised
    return float((duals * counts).sum() / counts.sum() / len(encoded.attributes)) * (1 - 1e-12)


def prepare(encoded: Encoded):
    from shoal.kernels.bound import Floors

    attributes = encoded.attributes
    places = sorted(range(len(attributes)), key=lambda a: (attributes[a].ordered, attributes[a].span, a))
    codes = encoded.tuples[:, places]
    order = np.lexsort(codes.T[::-1])
    codes = np.ascontiguousarray(codes[order])
    chosen = [attributes[a] for a in places]
    values = [a.values if a.ordered else np.zeros(len(a.texts)) for a in chosen]
    m = len(codes)
    skips = np.empty((len(chosen), m), dtype=np.int32)
    begins = np.zeros(m, dtype=bool)
    begins[0] = True
    for a in range(len(chosen)):
        begins[1:] |= codes[1:, a] != codes[:-1, a]
        starts = np.flatnonzero(begins)
        skips[a] = np.append(starts[1:], m)[np.cumsum(begins) - 1]
    return order, Floors(codes, np.ascontiguousarray(encoded.counts[order]), np.array([a.ordered for a in chosen], dtype=np.uint8),
        np.array([a.span for a in chosen]), np.array([a.missing for a in chosen], dtype=np.int32),
        np.concatenate(values), np.cumsum([0, *map(len, values)], dtype=np.int64), skips)
