"""Fixtures of the golden tests."""

from tests.command import shoal

__all__ = ["shoal"]
