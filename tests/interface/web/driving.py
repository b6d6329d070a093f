"""A server of `shoal serve` and a browser to drive it, for the tests of the pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["PICTURES", "SECONDS", "Server", "Tab", "table_of"]

SECONDS = 240.0  # timeout of a step; workers yield to everything else, so a busy machine may take minutes
RUN_SECONDS = 400.0  # timeout of a run
PICTURES = Path(os.environ.get("SHOAL_SCREENSHOTS") or Path(__file__).parents[3] / "build" / "screenshots")
AXE = "axe.run(document, {resultTypes: ['violations'], ...%s})"
CONTRAST = "{runOnly: ['color-contrast']}"
FIGURE = re.compile(r"([\d.]+)% to ([\d.]+)%\s*about ([\d.]+)%")


class Server:
    """A server in a folder of its own.

    Attributes:
        address: The address with its token, which opens one session.
        base: The address without it.
        cookies: The session that the token opened; it works once, so every tab shares the session.
    """

    def __init__(self, folder: Path, port: int = 0, *further: str) -> None:
        """Start the server, with further options, and wait for its address."""
        self._folder = folder
        self.cookies: list[Any] = []
        words = [sys.executable, "-m", "shoal", "serve", "--no-browser", "--port", str(port), "--folder", str(folder)]
        self._process = subprocess.Popen(
            [*words, *further], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address.startswith("http"), "the server did not start"
        self.base = re.split(r"[/#]+", self.address)[0] + "//" + re.split(r"[/#]+", self.address)[1]

    def restart(self) -> Server:
        """End the server and start another one in the same folder on the same port."""
        port = int(self.base.rsplit(":", 1)[1])
        self.stop()
        return Server(self._folder, port)

    def stop(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.communicate(timeout=SECONDS)


class Tab:
    """One tab of a browser with a session of its own: goes from page to page, and hears everything that goes wrong.

    Attributes:
        page: The tab.
        problems: Errors of scripts and of the console, dialogs, and requests to other machines.
    """

    def __init__(self, browser: Browser, server: Server, *, width: int = 1280, scheme: Any = "light") -> None:
        """Open the first page of a server."""
        self._context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale="en-GB", accept_downloads=True
        )
        self._context.set_default_timeout(SECONDS * 1000)
        self.base = server.base
        self.problems: list[str] = []
        self.page = self.new_page()
        if server.cookies:
            self._context.add_cookies(server.cookies)
        self.page.goto(server.base if server.cookies else server.address)
        self.page.wait_for_selector("#drop")
        server.cookies = self._context.cookies()
        self.problems = [each for each in self.problems if "401" not in each]  # without a session at first

    def new_page(self) -> Page:
        """Open a second tab of the same session."""
        page = self._context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        page.on("console", lambda message: message.type == "error" and self.problems.append(f"console: {message.text}"))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self._hear(request.url))
        return page

    def close(self) -> None:
        """Close the tab and forget its session."""
        self._context.close()

    def use(self, language: str = "en", theme: str = "auto") -> None:
        """Choose a language and colours, as the lists of the header do."""
        cookies = {"shoal_language": language, "shoal_theme": theme}
        self._context.add_cookies([{"name": name, "value": value, "url": self.base} for name, value in cookies.items()])

    def send(self, path: Path) -> str:
        """Load a file and wait until it is read; return the address of the project."""
        self.page.set_input_files("#file", str(path))
        self.page.wait_for_url("**/load")
        self.page.wait_for_selector("#next, #failed")
        return self.page.url.removesuffix("/load")

    def go(self, step: str, wait: str) -> None:
        """Go to the next step with the button at the end of the page."""
        self.page.click("#next")
        self.page.wait_for_url(f"**/{step}*")
        self.page.wait_for_selector(wait)

    def run(self) -> None:
        """Start a run and wait for its end."""
        self.page.click("#start")
        self.page.wait_for_selector("#see, #failed", timeout=RUN_SECONDS * 1000)

    def estimate(self) -> tuple[float, float, float]:
        """Wait for the estimate of the page; return the low end, the value and the high end of the loss in per cent."""
        self.page.wait_for_selector("#forecast .tile")
        tiles = self.page.locator("#forecast .tile").evaluate_all("tiles => tiles.map(each => each.textContent)")
        found = FIGURE.search(tiles[0])
        assert found is not None, tiles
        low, high, value = map(float, found.groups())
        return low, value, high

    def serious(self, wait: str) -> list[str]:
        """Return what axe finds on the page, except for trifles: at its width and at 820 pixels, light and dark.

        Args:
            wait: What the page has when it is complete. axe keeps the page busy, so on a slow machine it may lose its
                connection and be loaded again; then axe starts again too.
        """
        from playwright.sync_api import Error

        for _ in range(5):
            self.page.wait_for_selector(wait)
            try:
                found = self._violations()
                break
            except Error as error:
                if "context was destroyed" not in str(error):
                    raise
        else:
            raise AssertionError("the page never stays")
        return [
            f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in ("serious", "critical")
        ]

    def _violations(self) -> list[Any]:
        import axe_playwright_python

        script = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
        self.page.evaluate(f"{script};0")
        found: list[Any] = []
        for width in (1280, 820):
            self.page.set_viewport_size({"width": width, "height": 900})
            found += self.page.evaluate(AXE % "{}")["violations"]
            self.wear("dark")  # other colours, and nothing else
            found += self.page.evaluate(AXE % CONTRAST)["violations"]
            self.wear("light")
        return found

    def wear(self, theme: str) -> None:
        """Show the page in other colours, without loading it again."""
        others = [f"theme-{each}" for each in ("auto", "light", "dark")]
        self.page.evaluate(
            "([all, one]) => { const worn = document.querySelector(all.map(e => '.' + e).join());"
            "worn.classList.remove(...all); worn.classList.add(one); }",
            [others, f"theme-{theme}"],
        )

    def picture(self, name: str) -> None:
        """Keep a picture of the page."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    def sticks_out(self) -> bool:
        """Whether the page is wider than the window."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def tab_to(self, id: str, most: int = 150) -> None:
        """Move the focus to an element with the Tab key alone."""
        for _ in range(most):
            if self.page.evaluate("document.activeElement.id") == id:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {id}")

    def _hear(self, url: str) -> None:
        if not url.startswith((self.base, self.base.replace("http", "ws"), "data:", "blob:")):
            self.problems.append(f"request: {url}")


def table_of(folder: Path, name: str = "people.csv", n_rows: int = 60) -> Path:
    """Write a small table of people; every combination of its columns that others know is rare."""
    towns, diseases = ("Aachen", "Bonn", "Ulm"), ("flu", "asthma", "gout", "angina")
    lines = [f"{20 + i * 7 % 41},{towns[i % 3]},{'mf'[i % 2]},{diseases[i // 3 % 4]}" for i in range(n_rows)]
    path = folder / name
    path.write_text("\n".join(["age,town,sex,disease", *lines]) + "\n", encoding="utf-8")
    return path
