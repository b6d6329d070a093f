"""The packages of the `evaluate` extra, imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from shoal.errors import UsageError

__all__ = ["extra_module"]

PACKAGES = {"scipy": "scipy", "sklearn": "scikit-learn", "threadpoolctl": "threadpoolctl"}


def extra_module(name: str) -> Any:
    """Import a module of the extra, such as "sklearn.tree".

    Raises:
        UsageError: The package is not installed; the text says how to install it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        package = PACKAGES[name.split(".")[0]]
        raise UsageError(
            f"learners and trees need {package}, which is not installed: pip install 'shoal[evaluate]'"
        ) from None
