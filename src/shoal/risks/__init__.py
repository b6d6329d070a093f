"""Re-identification risk: the probability that a row is found, in the table and in the population."""

from shoal.risks.estimate import Exposure, Risk, estimate, risk

__all__ = ["Exposure", "Risk", "estimate", "risk"]
