"""How easily people are found in a release: the chance of a row, in the table and in the population."""

from shoal.risks.estimate import Exposure, Risk, estimate, risk

__all__ = ["Exposure", "Risk", "estimate", "risk"]
