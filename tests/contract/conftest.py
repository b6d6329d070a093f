"""Fixtures of the contract tests. A method that may find nothing keeps the contract whenever it finds something."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from shoal.errors import InfeasibleError
from tests.command import shoal
from tests.postgres import server

__all__ = ["server", "shoal"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Skip a test of rv-local in which it finds nothing but the string that suppresses every cell."""
    try:
        yield
    except InfeasibleError as error:
        if "rv-local" in item.name and str(error).startswith("rv-local found nothing"):
            pytest.skip("rv-local finds nothing here")
        raise
