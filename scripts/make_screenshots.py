"""Capture the README's pictures of a report with Debian's Chromium: the public part of the demo, light and dark.

python scripts/make_screenshots.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Literal

from browser import FileBrowser, find_chromium

from shoal.cli.main import run

FOLDER = Path(__file__).parents[1] / "docs" / "images"
LARGEST = 200_000  # bytes of a picture


def main() -> None:
    """Write both pictures."""
    path = find_chromium()
    if path is None:
        sys.exit("make_screenshots: no Chromium on PATH. Install Debian's: apt-get install chromium")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, FileBrowser(path) as browser:
        try:
            run(["demo", "--folder", folder])
        except SystemExit as end:
            if end.code:
                raise
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            picture = FOLDER / f"report-{scheme}.png"
            browser.open(Path(folder) / "report.html", scheme=scheme)
            picture.write_bytes(browser.picture())
            if picture.stat().st_size > LARGEST:
                sys.exit(f"{picture}: {picture.stat().st_size} bytes, more than {LARGEST}")
            print(picture)


if __name__ == "__main__":
    main()
