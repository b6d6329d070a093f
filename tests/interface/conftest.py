"""Fixtures of the command line, a database for it, and what passes between DuckDB and Python."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.tables.sources.duck_session import DuckSession
from tests.command import data, shoal
from tests.postgres import server

__all__ = ["data", "heights", "server", "shoal"]


@pytest.fixture
def heights(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of everything that Python fetches from DuckDB or gives it."""
    found: list[int] = []
    fetch, load = DuckSession.fetch, DuckSession.load

    def fetched(self: DuckSession, query: str) -> pl.DataFrame:
        frame = fetch(self, query)
        found.append(frame.height)
        return frame

    def loaded(self: DuckSession, name: str, frame: pl.DataFrame) -> None:
        found.append(frame.height)
        load(self, name, frame)

    monkeypatch.setattr(DuckSession, "fetch", fetched)
    monkeypatch.setattr(DuckSession, "load", loaded)
    return found
