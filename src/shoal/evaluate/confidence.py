"""Confidence intervals; each docstring states what the interval assumes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shoal.evaluate.extra import extra_module

__all__ = ["CONFIDENCE", "of_folds", "of_mean", "of_share"]

CONFIDENCE = 0.95
NORMAL = 1.959964  # the quantile of the normal distribution for this confidence


def of_folds(scores: Sequence[float], n_folds: int) -> tuple[float, float]:
    """Return the interval of a mean accuracy over the folds of repeated cross-validation.

    Student's t with the corrected variance of Nadeau and Bengio (2003): folds share training rows, so the variance of
    the mean is (1/scores + test rows/training rows) times that of the scores, instead of 1/scores times.
    """
    if len(scores) < 2:
        return 0.0, 1.0
    quantile = float(extra_module("scipy.stats").t.ppf(0.5 + CONFIDENCE / 2, len(scores) - 1))
    mean, variance = float(np.mean(scores)), float(np.var(scores, ddof=1))
    half = quantile * math.sqrt((1 / len(scores) + 1 / (n_folds - 1)) * variance)
    return max(0.0, mean - half), min(1.0, mean + half)


def of_share(share: float, n_rows: int) -> tuple[float, float]:
    """Return Wilson's interval of a share among independent rows."""
    if n_rows == 0:
        return 0.0, 1.0
    square = NORMAL**2 / n_rows
    middle = (share + square / 2) / (1 + square)
    half = NORMAL * math.sqrt(share * (1 - share) / n_rows + square / n_rows / 4) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def of_mean(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the normal interval of the mean of at least two independent, non-negative numbers."""
    mean = float(np.mean(numbers))
    half = NORMAL * float(np.std(numbers, ddof=1)) / math.sqrt(len(numbers))
    return max(0.0, mean - half), mean + half
