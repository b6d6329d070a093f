"""What needs scikit-learn, and says so where it is missing."""

from __future__ import annotations

import importlib
from typing import Any

from shoal.errors import UsageError

__all__ = ["sklearn_module"]


def sklearn_module(name: str) -> Any:
    """Return a module of scikit-learn, or say how to install it."""
    try:
        return importlib.import_module(f"sklearn.{name}")
    except ModuleNotFoundError:
        raise UsageError(
            "learners and trees need scikit-learn, which is not installed: pip install 'shoal[evaluate]'"
        ) from None
