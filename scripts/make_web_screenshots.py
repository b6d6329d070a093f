"""Capture the README's pictures of the web app with Debian's Chromium: columns, goal and result of the patients table.

python scripts/make_web_screenshots.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from browser import find_chromium, launch

from shoal.datasets import patients_path

FOLDER = Path(__file__).parents[1] / "docs" / "images"
LARGEST = 200_000  # bytes of a picture
SIZE = {"width": 1200, "height": 1000}


def main() -> None:
    """Write the pictures."""
    path = find_chromium()
    if path is None:
        sys.exit("make_web_screenshots: no Chromium on PATH. Install Debian's: apt-get install chromium")
    with tempfile.TemporaryDirectory() as home:
        words = [sys.executable, "-m", "shoal", "serve", "--no-browser", "--port", "0", "--folder", home]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            capture(path, server.stdout.readline().strip())
        finally:
            server.terminate()
            server.communicate()


def capture(path: str, address: str) -> None:
    """Go the way with the patients table, and keep a picture of three pages."""
    with launch(path) as browser:
        page = browser.new_page(viewport=SIZE, color_scheme="light", locale="en-GB")  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        page.goto(address)
        page.set_input_files("#file", str(patients_path()))
        for step, wait in (("columns", "#uniques"), ("hierarchies", "#width-0"), ("goal", "#k")):
            page.click("#next")
            page.wait_for_url(f"**/{step}")
            page.wait_for_selector(wait)
            if step == "columns":
                page.select_option("#role-9", "identifier")
                page.wait_for_selector("#forecast .tile")
                page.wait_for_timeout(6000)  # the message at the foot goes away
                keep(page.screenshot(), "web-columns")
        page.select_option("#model-0", "l")
        page.wait_for_selector("#amount-0")
        page.wait_for_selector("#forecast .tile")
        page.wait_for_timeout(500)
        keep(page.screenshot(), "web-goal")
        page.click("#next")
        page.click("#start")
        page.click("#see")
        page.wait_for_selector("#verdict")
        page.wait_for_timeout(500)
        keep(page.screenshot(), "web-result")


def keep(picture: bytes, name: str) -> None:
    """Write a picture, unless it is too large."""
    if len(picture) > LARGEST:
        sys.exit(f"{name}: {len(picture)} bytes, more than {LARGEST}")
    (FOLDER / f"{name}.png").write_bytes(picture)
    print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
