"""Windows of limits are separated by the codes of single columns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.windows import plan_windows
from shoal.methods.sections import TupleSection
from shoal.release.counted_tables.sections.windows import CodeWindows
from shoal.schema import Kind

N_CODES = (12, 9, 4)


def planned(seed: int) -> tuple[CodeWindows, NDArray[np.int32]]:
    """Return the windows of a random table, in which one column has classes and one no limit; and its tuples."""
    draw = np.random.default_rng(seed)
    tuples = np.unique(np.stack([draw.integers(0, n, 200) for n in N_CODES], axis=1).astype(np.int32), axis=0)
    every = np.arange(len(tuples))
    attributes = tuple(
        Attribute(f"a{i}", Kind.NUMERIC, tuple(map(str, range(n))), np.arange(float(n)), -1)
        for i, n in enumerate(N_CODES)
    )
    table = Encoded(attributes, tuples, np.ones(len(tuples), dtype=np.int64), every.astype(np.int32), every)
    walls = np.sort(draw.integers(0, 2, N_CODES[1]))
    last = np.array([np.flatnonzero(walls == wall)[-1] for wall in walls])
    limits = [
        Limited(0, np.arange(12), np.minimum(np.arange(12) + 4, 11), np.zeros(12, dtype=np.int64)),
        Limited(1, np.arange(9), np.minimum(np.arange(9) + 2, last), walls),
    ]
    labels = plan_windows(table, limits, 2)
    assert labels.min() == 0
    return CodeWindows((0, 1), tuples[:, :2], np.ones(len(tuples), dtype=np.int64), labels), tuples


@pytest.mark.parametrize("number", range(4))
def test_cuts_separate_windows(number: int) -> None:
    """Every window is a section in the end, and sections of several windows tell them apart."""
    windows, tuples = planned(number)
    waiting = [TupleSection(tuples, N_CODES, np.arange(len(tuples)))]
    found = []
    while waiting:
        section = waiting.pop()
        inside = tuples[section.tuples]
        assert windows.of(inside).tolist() == windows.labels[section.tuples].tolist()
        cut = windows.first_cut(section.histograms())
        if cut is None:
            found.append(set(windows.of(inside).tolist()))
            continue
        assert cut.is_settled
        left, right = section.halves(cut.division())
        assert windows.of(tuples[left.tuples]).max() < windows.of(tuples[right.tuples]).min()
        waiting += [right, left]
    assert found == [{window} for window in range(windows.labels.max() + 1)]
