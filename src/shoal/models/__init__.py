"""Privacy models: each says of every group whether it passes."""

from shoal.models.base import Basis, Groups, Histogram, PrivacyModel
from shoal.models.size import KAnonymity, PersonalK

__all__ = ["Basis", "Groups", "Histogram", "KAnonymity", "PersonalK", "PrivacyModel"]
