"""Debian's Chromium, controlled by playwright: to inspect, capture and print pages, and to drive the web app."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["FileBrowser", "find_chromium", "launch"]

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
SECONDS = 240  # timeout of the start and of an answer, on a busy machine


def find_chromium() -> str | None:
    """Return the path of the browser, or None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def launch(path: str) -> Iterator[Browser]:
    """Start a browser that reaches this machine only; `path` is its executable."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS), timeout=SECONDS * 1000)
        try:
            yield browser
        finally:
            browser.close()


class FileBrowser:
    """A browser with one page, scripts disabled, for files; a context manager.

    Attributes:
        requests: Every address that the page requested.
        complaints: Everything that the page wrote to the console.
    """

    def __init__(self, path: str) -> None:
        """Prepare a browser; `path` is its executable."""
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._launched = launch(path)

    def __enter__(self) -> Self:
        """Start the browser."""
        browser = self._launched.__enter__()
        self.page = browser.new_page(java_script_enabled=False)
        self.page.set_default_timeout(SECONDS * 1000)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the browser."""
        self._launched.__exit__(kind, error, trace)

    def open(
        self, page: Path, *, scheme: Literal["light", "dark"] = "light", width: int = 860, height: int = 1160
    ) -> None:
        """Open a file in a window of this size, in a light or dark colour scheme, and wait until it is loaded."""
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(page.resolve().as_uri())

    def picture(self) -> bytes:
        """Return a screenshot of the window as PNG."""
        return self.page.screenshot()

    def printed(self) -> bytes:
        """Return the page as PDF, in the paper size that it declares."""
        return self.page.pdf(prefer_css_page_size=True, print_background=True)

    def ask(self, expression: str) -> Any:
        """Evaluate a JavaScript expression in the page; its own scripts stay disabled."""
        return self.page.evaluate(expression)
