"""Fixtures of the command line."""

from tests.command import data, shoal

__all__ = ["data", "shoal"]
