"""Privacy models: each says of every group whether it passes."""

from shoal.models.base import Groups, PrivacyModel
from shoal.models.size import KAnonymity

__all__ = ["Groups", "KAnonymity", "PrivacyModel"]
