"""Fixtures of the contract tests."""

from tests.command import shoal
from tests.postgres import server

__all__ = ["server", "shoal"]
