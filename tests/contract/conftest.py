"""Fixtures of the contract tests."""

from tests.postgres import server

__all__ = ["server"]
