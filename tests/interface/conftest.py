"""Fixtures of the command line, and a database for it."""

from tests.command import data, shoal
from tests.postgres import server

__all__ = ["data", "server", "shoal"]
