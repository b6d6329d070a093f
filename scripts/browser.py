"""Drive Debian's Chromium over a pipe, with the standard library alone: open a page, look, take a picture, print it."""

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
SECONDS = 120  # to wait for an answer, on a busy machine


def find_chromium() -> str | None:
    """Return the path of the browser, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A browser with one page, scripts off, in a profile of its own; a context manager.

    requests: every address that the page asked for. complaints: what it wrote on the console.
    """

    def __init__(self, path: str) -> None:
        """path: of the browser."""
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
        hear, their_write = os.pipe()
        their_read, say = os.pipe()
        words = [self._path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        # The browser reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{their_read} 4>&{their_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, *words], pass_fds=(their_read, their_write), stderr=subprocess.DEVNULL
        )
        os.close(their_read)
        os.close(their_write)
        self._hear, self._say = hear, say
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
        os.close(self._hear)
        os.close(self._say)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, page: Path, *, scheme: str = "light", width: int = 860, height: int = 1160) -> None:
        """Open a file in a window of this size, in a light or dark colour scheme, and wait until it is there."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self._loaded = False
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self._loaded:
            self._note(self._message())

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def printed(self) -> bytes:
        """Return the page on paper, as PDF, of the size that it asks for."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(answer["data"])

    def ask(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript in the page; its own scripts stay off."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._say, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event.get("method") in ("Runtime.consoleAPICalled", "Log.entryAdded", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(told))
        elif event.get("method") == "Page.loadEventFired":
            self._loaded = True

    def _message(self) -> dict[str, Any]:
        """Wait for the next message."""
        end = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._hear], [], [], max(0.0, end - time.monotonic()))
            block = os.read(self._hear, 1 << 16) if ready else b""
            if not block:
                raise RuntimeError("the browser does not answer")
            self._rest += block
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message
