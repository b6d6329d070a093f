"""Privacy models: each decides for every group whether it passes."""

from shoal.models.base import Basis, Groups, Histogram, PrivacyModel
from shoal.models.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.models.diversity import (
    AlphaK,
    EntropyLDiversity,
    GrassbergerLDiversity,
    LDiversity,
    PSensitiveK,
    RecursiveLDiversity,
)
from shoal.models.presence import Cover, DeltaPresence, KMap
from shoal.models.profit import JournalistProfit, ProsecutorProfit
from shoal.models.registry import MODELS, model_from, parse_model
from shoal.models.sampling import DifferentialPrivacy
from shoal.models.size import AverageRisk, KAnonymity, MaximalRisk, PersonalK
from shoal.models.terms import Distribution, Distributions, Term, TermKind
from shoal.models.uniqueness import PopulationUniqueness, SampleUniqueness, Uniqueness

__all__ = [
    "MODELS",
    "AlphaK",
    "AverageRisk",
    "Basis",
    "BetaLikeness",
    "Cover",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "Distribution",
    "Distributions",
    "EntropyLDiversity",
    "GrassbergerLDiversity",
    "Groups",
    "Histogram",
    "JournalistProfit",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "MaximalRisk",
    "PSensitiveK",
    "PersonalK",
    "PopulationUniqueness",
    "PrivacyModel",
    "ProsecutorProfit",
    "RecursiveLDiversity",
    "SampleUniqueness",
    "TCloseness",
    "Term",
    "TermKind",
    "Uniqueness",
    "model_from",
    "parse_model",
]
