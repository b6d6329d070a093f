"""The whole way through the web app in a real browser, from the table to the download."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.datasets import patients_path
from tests.interface.web.driving import Tab, table_of

PAGES = ("load", "columns", "hierarchies", "goal", "run", "result", "compare", "download")
READY = {
    "columns": "#uniques",
    "hierarchies": "#forecast .tile",
    "goal": "#forecast .tile",
    "run": "#see",
    "result": "#verdict",
    "compare": "table",
    "download": "#command",
}


def test_patients_from_load_to_download(tab: Tab, tmp_path: Path) -> None:
    """W09, W10: nothing from elsewhere, no cell stays in the browser; each setting shows at once, and can be undone."""
    page = tab.page
    tab.send(patients_path())
    assert "5,000 rows, 10 columns" in page.inner_text("#load-area")

    tab.go("columns", "#uniques")
    assert "5,000 rows are unique" in page.inner_text("#uniques")
    page.focus("#row-2")
    page.keyboard.press("d")  # birth_date is dropped
    page.wait_for_function("!document.getElementById('uniques').textContent.includes('5,000')")
    page.check("#row-3")
    page.check("#row-4")
    page.click("#make-sensitive")
    page.wait_for_function("document.getElementById('role-4').value === 'sensitive'")
    page.click("#undo")
    page.wait_for_function("document.getElementById('role-4')?.value === 'qi'")
    assert page.input_value("#role-3") == "qi"
    assert page.input_value("#role-2") == "identifier"
    page.click("#undo")
    page.wait_for_function("document.getElementById('role-2')?.value === 'qi'")

    tab.go("hierarchies", "#width-0")
    page.locator("#width-0").fill("10")
    page.wait_for_function("document.getElementById('live').textContent.includes('10 years')")
    page.locator("summary").nth(2).click()
    page.wait_for_selector(".tree li")

    tab.go("goal", "#k")
    page.locator("#k").fill("10")
    page.wait_for_function("document.getElementById('k-meaning').textContent.includes('1 in 10')")
    page.select_option("#model-0", "l")
    page.wait_for_selector("#amount-0")
    low, value, high = tab.estimate()
    assert 0 < low < value < high < 100

    tab.go("run", "#start")
    tab.run()
    page.click("#see")
    page.wait_for_selector("#verdict")
    assert "at least 10 rows" in page.inner_text("#verdict")
    assert low <= float(page.inner_text(".tile b").rstrip("%")) <= high
    page.click("#rows-on")
    page.wait_for_function("document.body.innerText.includes('Rows 13 to 24')")
    assert page.locator("td.changed").count() > 0

    tab.go("compare", "table")
    assert page.locator("tbody tr").count() == 1
    tab.go("download", "#command")
    with page.expect_download() as started:
        page.click("text=Download >> nth=1")  # after the step of this name
    released = tmp_path / started.value.suggested_filename
    started.value.save_as(released)
    assert released.name == "released.csv"
    assert len(released.read_text().splitlines()) == 5001
    assert "--config shoal.toml" in page.inner_text("#command")
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert not [cell for cell in patients_path().read_text().splitlines()[1].split(",")[:3] if cell in kept]  # W09
    assert tab.problems == []


def test_every_page_is_accessible_in_all_colours_and_languages_and_fits_a_tablet(tab: Tab, tmp_path: Path) -> None:
    """No serious finding of axe on any page, 1280 and 820 pixels wide, light and dark, English and German."""
    project = tab.send(table_of(tmp_path))
    tab.page.goto(f"{project}/run")
    tab.page.wait_for_selector("#start")
    tab.run()
    for language in ("en", "de"):
        tab.use(language, "light")
        for step in ("", *PAGES):
            tab.page.goto(f"{project}/{step}" if step else tab.base)
            assert tab.serious(READY.get(step, "h1")) == [], step
            assert not tab.sticks_out(), step
            assert tab.page.evaluate("document.documentElement.lang").startswith(language), step
            tab.wear("dark" if language == "de" else "light")
            tab.picture(f"{language}-{step or 'home'}")


def test_keyboard_alone_goes_the_whole_way(tab: Tab, tmp_path: Path) -> None:
    page, keys = tab.page, tab.page.keyboard
    # Listen before the focus moves: Chromium has to know that the dialog is ours before Enter arrives.
    page.on("filechooser", lambda chooser: chooser.set_files(str(table_of(tmp_path))))
    tab.tab_to("file")
    keys.press("Enter")
    page.wait_for_url("**/load")
    page.wait_for_selector("#next")

    def on(step: str, wait: str) -> None:
        tab.tab_to("next")
        keys.press("Enter")
        page.wait_for_url(f"**/{step}*")
        page.wait_for_selector(wait)

    on("columns", "#uniques")
    tab.tab_to("row-0")
    keys.press("ArrowDown")
    keys.press("s")  # town, and back
    page.wait_for_function("document.getElementById('role-1').value === 'sensitive'")
    keys.press("q")
    page.wait_for_function("document.getElementById('role-1').value === 'qi'")
    assert page.evaluate("document.activeElement.id") == "row-1"
    on("hierarchies", "#width-0")
    on("goal", "#k")
    tab.tab_to("k")
    keys.press("ArrowLeft")
    page.wait_for_function("document.getElementById('k-meaning').textContent.includes('1 in 4')")
    keys.press("Control+z")
    page.wait_for_function("document.getElementById('k-meaning')?.textContent.includes('1 in 5')")
    on("run", "#start")
    tab.tab_to("start")
    keys.press("Enter")
    page.wait_for_selector("#see")
    tab.tab_to("see")
    keys.press("Enter")
    page.wait_for_selector("#verdict")
    on("compare", "table")
    on("download", "#command")
    page.evaluate("document.querySelector('a[download]').id = 'first'")
    tab.tab_to("first")
    with page.expect_download():
        keys.press("Enter")
    assert tab.problems == []


@pytest.mark.slow
def test_large_table_can_be_cancelled_and_run_again(tab: Tab, tmp_path: Path) -> None:
    """W16: the button ends the run at once, and the page stays alive meanwhile."""
    import numpy as np

    draw = np.random.default_rng(22)
    columns = [draw.integers(18, 90, 200_000), draw.integers(0, 2, 200_000), draw.integers(10000, 10400, 200_000)]
    path = tmp_path / "large.csv"
    rows = "\n".join(
        f"{age},{'mf'[sex]},{zip},d{i % 9}" for i, (age, sex, zip) in enumerate(zip(*columns, strict=True))
    )
    path.write_text(f"age,sex,zip,disease\n{rows}\n")
    project = tab.send(path)
    page = tab.page
    assert "200,000 rows" in page.inner_text("#load-area")
    page.goto(f"{project}/goal")
    page.check("#effort-fast")
    page.wait_for_function("document.getElementById('live').textContent.includes('Saved')")
    tab.go("run", "#start")
    page.click("#start")
    page.click("#cancel")
    page.wait_for_selector("text=Nothing was written")
    tab.run()
    page.click("#see")
    page.wait_for_selector("#verdict")
    assert "of 200,000" in page.inner_text("#content")
    assert tab.problems == []
