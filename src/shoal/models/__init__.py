"""Privacy models: each says of every group whether it passes."""

from shoal.models.base import Basis, Groups, Histogram, PrivacyModel
from shoal.models.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.models.diversity import AlphaK, EntropyLDiversity, LDiversity, PSensitiveK, RecursiveLDiversity
from shoal.models.presence import DeltaPresence, KMap
from shoal.models.registry import MODELS, model_from, parse_model
from shoal.models.size import AverageRisk, KAnonymity, MaximalRisk, PersonalK

__all__ = [
    "MODELS",
    "AlphaK",
    "AverageRisk",
    "Basis",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
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
    "model_from",
    "parse_model",
]
