"""Releases on Apache Spark: the same rows as in memory, for tables that no single machine holds.

It needs the extra: pip install 'shoal[spark]', and Java 17 or later.

>>> import shoal.spark
>>> callable(shoal.spark.anonymize)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.spark.engine import SparkRelease, anonymize
    from shoal.spark.examining import measure, risk, verify
    from shoal.spark.session import open_session

__all__ = ["SparkRelease", "anonymize", "measure", "open_session", "risk", "verify"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: pyspark is heavy, and an extra."""
    from importlib import import_module

    rooms = {"SparkRelease": "engine", "anonymize": "engine", "open_session": "session"}
    rooms |= dict.fromkeys(("measure", "risk", "verify"), "examining")
    if name not in rooms:
        raise AttributeError(f"module 'shoal.spark' has no attribute {name!r}")
    return getattr(import_module(f"shoal.spark.{rooms[name]}"), name)
