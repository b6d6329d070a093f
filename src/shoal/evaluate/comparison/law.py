"""How loss and risk change with the number of rows: the law by which a forecast goes from samples to the table.

The odds of the loss fall with a power of the number of rows, and with a power of the open share: the share of rows
whose quasi-identifiers fewer than k rows have. The first power is fitted to the samples, the second is the same for
all tables, and the open share of the table is counted, not estimated. Groups are those of the combinations that k rows
share, which stay as they are, and those that the open rows form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.encoding.attributes import Encoded

__all__ = ["Crowd", "Estimate", "Point", "forecast_loss", "forecast_risk"]

# Fitted to runs on tables of the benchmark; `benchmarks/forecast.py` shows how often the intervals hold.
OPEN_POWER = 0.3  # the power of the open share in the odds of the loss
STEEPEST, FLATTEST = -1.5, 0.0  # powers of the number of rows
# The logarithm of the odds is uncertain by the first of these, by the second for each e-fold of rows beyond samples, by
# the third for each e-fold of the open share, and by a multiple of the scatter of the samples around the law.
LOSS_DOUBT, LOSS_DOUBT_BEYOND, LOSS_DOUBT_OPEN, LOSS_DOUBT_SCATTER = 0.06, 0.08, 0.10, 1.5
RISK_DOUBT, RISK_DOUBT_BEYOND = 0.12, 0.04  # of the logarithm of the risk
LEAST = 1e-7  # a smaller loss counts as this one


class Estimate(NamedTuple):
    """A figure with the interval that should hold it in 9 of 10 cases."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Crowd:
    """How far a table meets k as it is. Sizes are numbers of rows, or of people if the table has a person column.

    Attributes:
        n_rows: The number of rows.
        safe_groups: The number of combinations of quasi-identifiers whose size is at least k.
        safe: Their size together.
        open: The size of all other combinations together.
    """

    n_rows: int
    safe_groups: int
    safe: int
    open: int

    @classmethod
    def of(cls, encoded: Encoded, k: int) -> Crowd:
        """Count the combinations of a table."""
        sizes = encoded.counts
        if encoded.people is not None:
            n_people = int(encoded.people.max(initial=0)) + 1
            pairs = np.unique(encoded.row_tuple.astype(np.int64) * n_people + encoded.people)
            sizes = np.bincount(pairs // n_people, minlength=len(encoded.tuples))
        is_safe = sizes >= k
        return cls(encoded.n_rows, int(is_safe.sum()), int(sizes[is_safe].sum()), int(sizes[~is_safe].sum()))

    @property
    def open_share(self) -> float:
        """The share that is not safe; never 0."""
        return max(self.open, 1) / max(self.open + self.safe, 1)


class Point(NamedTuple):
    """The figures of one sample: its crowd, its loss, its number of groups and their size together."""

    crowd: Crowd
    loss: float
    groups: int
    size: int


def forecast_loss(points: Sequence[Point], table: Crowd, ratio: float, doubt: float) -> Estimate:
    """Return the expected loss of a table.

    Args:
        points: The samples, of at least two numbers of rows unless one of them is the whole table.
        table: The table.
        ratio: The loss of the run over that of the same run with the method of the samples.
        doubt: A factor of the interval.
    """
    rows = np.log([point.crowd.n_rows for point in points])
    odds = np.array([_log_odds(point.loss) - OPEN_POWER * math.log(point.crowd.open_share) for point in points])
    weights = np.sqrt([point.crowd.n_rows for point in points])  # large samples vary less
    slope = 0.0
    if len(set(rows.tolist())) > 1:
        slope = float(np.polyfit(rows, odds, 1, w=weights)[0])
    slope = min(max(slope, STEEPEST), FLATTEST)
    level = float(np.average(odds - slope * rows, weights=weights**2))
    center = level + slope * math.log(table.n_rows) + OPEN_POWER * math.log(table.open_share) + math.log(ratio)
    largest = max((point.crowd for point in points), key=lambda crowd: crowd.n_rows)
    beyond = math.log(table.n_rows / largest.n_rows)
    opened = abs(math.log(largest.open_share / table.open_share))
    scatter = float(np.sqrt(np.mean((odds - level - slope * rows) ** 2)))
    own = LOSS_DOUBT + LOSS_DOUBT_SCATTER * scatter
    margin = doubt * (own + LOSS_DOUBT_BEYOND * beyond + LOSS_DOUBT_OPEN * opened)
    value, low, high = (_share(center + shift) for shift in (0.0, -margin, margin))
    return Estimate(value, 0.0 if low <= 2 * LEAST else low, high)


def forecast_risk(points: Sequence[Point], table: Crowd, k: int, doubt: float) -> Estimate:
    """Return the expected mean risk of a row or person: the number of groups over their size together.

    Args:
        points: The samples.
        table: The table.
        k: The least size of a group, which bounds the risk.
        doubt: A factor of the interval.
    """
    largest = max(points, key=lambda point: point.crowd.n_rows)
    crowd = largest.crowd
    # What the open rows of the sample form. A person with rows in several combinations of a group counts once there.
    groups = max(largest.groups - crowd.safe_groups, 0)
    size = max(largest.size - crowd.safe, 0)
    shrunk = size / crowd.open if crowd.open and size else 1.0
    own = table.open * shrunk
    mean = size / groups if groups and size else largest.size / max(largest.groups, 1)
    value = (table.safe_groups + own / max(mean, k)) / max(table.safe + own, 1)
    value = min(value, 1 / k)
    margin = doubt * (RISK_DOUBT + RISK_DOUBT_BEYOND * math.log(table.n_rows / crowd.n_rows))
    return Estimate(value, value * math.exp(-margin), min(value * math.exp(margin), 1 / k))


def _log_odds(share: float) -> float:
    share = min(max(share, LEAST), 1 - LEAST)
    return math.log(share / (1 - share))


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -50.0), 50.0)))
