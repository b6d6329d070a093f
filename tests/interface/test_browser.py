"""The report in a real browser: it opens without script and network, in light and dark, and prints."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from scripts.browser import FileBrowser, find_chromium

MARKS = "<script>document.title='owned'</script><img src='http://example.com/x.png'>"


@pytest.fixture
def browser() -> Iterator[FileBrowser]:
    found = find_chromium()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("no Chromium on PATH: apt-get install chromium")
    if found is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    with FileBrowser(found) as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The private part of a report, which holds all that the public part does; its texts would act if they could."""
    import polars as pl

    folder = tmp_path_factory.mktemp("report")
    frame = pl.DataFrame(
        {
            "age": [20 + i * 7 % 31 for i in range(60)],
            f"town {MARKS}": [f"{MARKS}{i % 3}" for i in range(60)],
            "disease": [f"d{i % 4}" for i in range(60)],
        }
    )
    release = shoal.anonymize(frame, qi=["age", f"town {MARKS}"], sensitive=["disease"], k=5)
    release.write(folder / "out.csv", report=folder / "r.html")
    return folder / "r.private.html"


def first_pixel(picture: bytes) -> tuple[int, ...]:
    """Return the colour of the upper left corner of a PNG: no filter changes the first pixel of the first line."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(picture):
        size, kind = struct.unpack(">I4s", picture[at : at + 8])
        packed += picture[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    return tuple(zlib.decompress(packed)[1:4])


def test_page_opens_without_network_script_or_complaint(browser: FileBrowser, page: Path) -> None:
    """W07, W10: the file is all that it asks for, and nothing in it acts."""
    browser.open(page)
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.complaints == []
    assert browser.ask("document.title") == "Release report: out.csv"
    assert browser.ask("document.querySelectorAll('script, img, iframe, link, object').length") == 0
    assert MARKS in browser.ask("document.body.textContent")


def test_browser_hears_and_sees_what_a_page_does(browser: FileBrowser, tmp_path: Path) -> None:
    """The test above can fail: a page that asks for an image against its own rules is heard."""
    bad = tmp_path / "bad.html"
    rules = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
    bad.write_text(f"{rules}<img src='http://example.com/x.png'>")
    browser.open(bad)
    assert browser.complaints


def test_page_has_no_script_to_miss(browser: FileBrowser, page: Path) -> None:
    """Its tables can be opened without one, and its charts have names for those who hear them."""
    browser.open(page)
    assert browser.ask("document.querySelector('details').open") is False
    browser.ask("document.querySelector('summary').click()")
    assert browser.ask("document.querySelector('details').open") is True
    assert browser.ask("document.querySelectorAll('svg').length") >= 4
    assert browser.ask("document.querySelectorAll('svg:not([role=img]), svg:not(:has(> title))').length") == 0


def test_dark_page_is_dark_and_light_page_is_light(browser: FileBrowser, page: Path) -> None:
    browser.open(page, scheme="light")
    light = sum(first_pixel(browser.picture()))
    bar = "getComputedStyle(document.querySelector('svg .fill-1')).fill"
    blue = browser.ask(bar)
    browser.open(page, scheme="dark")
    assert light > 3 * 240
    assert sum(first_pixel(browser.picture())) < 3 * 60
    assert browser.ask(bar) != blue


@pytest.mark.parametrize("width", [360, 860])
def test_nothing_sticks_out_of_the_page(browser: FileBrowser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert browser.ask("document.documentElement.scrollWidth") <= width


def test_sign_off_is_on_the_first_page(browser: FileBrowser, tmp_path: Path) -> None:
    """However much there is to consider: on A4, everything up to the signature ends above the first break."""
    import polars as pl

    names = [f"a_rather_long_name_of_a_quasi_identifier_{i:02d}" for i in range(14)]
    frame = pl.DataFrame(
        {name: ["abc"[(i + j) % 3] for i in range(90)] for j, name in enumerate(names)} | {"disease": ["flu"] * 90}
    )
    release = shoal.anonymize(
        frame, qi=names, sensitive=["disease"], accept_unique=["disease"], k=2, keep_order=True, method="mondrian"
    )
    release.write(tmp_path / "out.csv", report=tmp_path / "r.html")
    browser.open(tmp_path / "r.html", width=680, height=994)  # the printed area of A4 at 96 dots per inch
    assert browser.ask("document.querySelectorAll('.warnings li').length") >= 4
    browser.page.emulate_media(media="print")
    assert 400 < browser.ask("document.querySelector('.signoff').getBoundingClientRect().bottom") < 994


def test_page_prints_on_a4(browser: FileBrowser, page: Path) -> None:
    browser.open(page, scheme="dark")
    printed = browser.printed()
    assert printed.startswith(b"%PDF-")
    boxes = {part.split(b"]")[0] for part in printed.split(b"/MediaBox [")[1:]}
    assert boxes
    for box in boxes:
        assert [float(side) for side in box.split()] == pytest.approx([0, 0, 595, 842], abs=2)  # points
