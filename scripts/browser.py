"""Control Debian's Chromium over a pipe with the standard library: open, inspect, capture and print a page."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)
SECONDS = 120  # timeout for an answer, on a busy machine


def find_chromium() -> str | None:
    """Return the path of the browser, or None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A browser with one page, scripts disabled, in a profile of its own; a context manager.

    Attributes:
        requests: Every address that the page requested.
        complaints: Everything that the page wrote to the console.
    """

    def __init__(self, path: str) -> None:
        """Prepare a browser; `path` is its executable."""
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._path = path
        self._number = 0
        self._session = ""
        self._rest = b""
        self._loaded = False

    def __enter__(self) -> Self:
        """Start the browser."""
        self._profile = tempfile.mkdtemp()
        read_end, browser_write_end = os.pipe()
        browser_read_end, write_end = os.pipe()
        words = [self._path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        # The browser reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{browser_read_end} 4>&{browser_write_end}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, *words], pass_fds=(browser_read_end, browser_write_end), stderr=subprocess.DEVNULL
        )
        os.close(browser_read_end)
        os.close(browser_write_end)
        self._read_end, self._write_end = read_end, write_end
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the browser and remove its profile."""
        self._process.kill()
        self._process.wait()
        os.close(self._read_end)
        os.close(self._write_end)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, page: Path, *, scheme: str = "light", width: int = 860, height: int = 1160) -> None:
        """Open a file in a window of this size, in a light or dark colour scheme, and wait until it is loaded."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self._loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self._loaded:
            self._note(self._message())

    def picture(self) -> bytes:
        """Return a screenshot of the window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def printed(self) -> bytes:
        """Return the page as PDF, in the paper size that it declares."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(answer["data"])

    def ask(self, expression: str) -> Any:
        """Evaluate a JavaScript expression in the page; its own scripts stay disabled."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event.get("method") in ("Runtime.consoleAPICalled", "Log.entryAdded", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(parameters))
        elif event.get("method") == "Page.loadEventFired":
            self._loaded = True

    def _message(self) -> dict[str, Any]:
        """Wait for the next message."""
        end = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            readable, _, _ = select.select([self._read_end], [], [], max(0.0, end - time.monotonic()))
            block = os.read(self._read_end, 1 << 16) if readable else b""
            if not block:
                raise RuntimeError("the browser does not answer")
            self._rest += block
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message
