"""One server and one browser for the tests of a file; a new session for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from scripts.browser import find_chromium, launch
from tests.interface.web.driving import Server, Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = find_chromium()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("no Chromium on PATH: apt-get install chromium")
    if found is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    with launch(found) as launched:
        yield launched


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("home"))
    yield started
    started.stop()


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[Tab]:
    opened = Tab(browser, server)
    yield opened
    opened.close()
