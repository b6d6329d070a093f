"""Privacy models: each decides for every group whether it passes."""

from shoal.models.base import Basis, Groups, Histogram, PrivacyModel
from shoal.models.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.models.diversity import AlphaK, EntropyLDiversity, LDiversity, PSensitiveK, RecursiveLDiversity
from shoal.models.presence import DeltaPresence, KMap
from shoal.models.registry import MODELS, model_from, parse_model
from shoal.models.size import AverageRisk, KAnonymity, MaximalRisk, PersonalK
from shoal.models.terms import Distribution, Distributions, Term, TermKind

__all__ = [
    "MODELS",
    "AlphaK",
    "AverageRisk",
    "Basis",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "Distribution",
    "Distributions",
    "EntropyLDiversity",
    "Groups",
    "Histogram",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "MaximalRisk",
    "PSensitiveK",
    "PersonalK",
    "PrivacyModel",
    "RecursiveLDiversity",
    "TCloseness",
    "Term",
    "TermKind",
    "model_from",
    "parse_model",
]
