"""What each control of the pages sets, seen in the text of the settings; tables from workbooks and databases."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from tests.interface.web.driving import Tab

DISEASES = ("flu", "asthma", "gout", "angina")
PEOPLE = pl.DataFrame(
    {
        "age": [20 + i * 7 % 41 for i in range(120)],
        "income": [("low", "middle", "high")[i % 3] for i in range(120)],
        "town": [("Aachen", "Bonn", "Ulm")[i // 5 % 3] for i in range(120)],
        "born": [f"{1950 + i % 50}-0{1 + i % 9}-1{i % 10}" for i in range(120)],
        "disease": [DISEASES[i // 3 % 4] for i in range(120)],
    }
)
VALUES = "[...document.querySelectorAll('#orders .order-value')].map(each => each.textContent).join()"


def settings_of(tab: Tab, project: str) -> dict[str, Any]:
    """Return the settings as the page of the goal shows them as text."""
    tab.page.goto(f"{project}/goal")
    tab.page.wait_for_selector("#settings", state="attached")
    return tomllib.loads(tab.page.input_value("#settings"))


def test_every_control_sets_what_it_shows(tab: Tab, tmp_path: Path) -> None:
    """Order, intervals and widths by slider, hierarchies edited and sent, weights, rules, and all settings as text."""
    page = tab.page
    PEOPLE.write_csv(tmp_path / "people.csv")
    project = tab.send(tmp_path / "people.csv")

    page.goto(f"{project}/columns")
    page.wait_for_selector("#uniques")
    page.select_option("#role-1", "qi")
    page.wait_for_function("document.getElementById('live').textContent.includes('Quasi-identifier')")
    page.select_option("#kind-1", "ordered")
    page.wait_for_function(f"{VALUES} === 'high,low,middle'")
    page.focus("#order-0-down-0")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{VALUES} === 'low,high,middle'")
    page.wait_for_function("document.activeElement.id === 'order-0-down-0'")  # the focus follows the value
    page.keyboard.press("Enter")
    page.wait_for_function(f"{VALUES} === 'low,middle,high'")
    assert page.input_value("#kind-1") == "ordered"

    page.goto(f"{project}/hierarchies")
    page.wait_for_selector("#hierarchy-0")
    page.select_option("#hierarchy-0", "intervals")
    page.wait_for_selector("#step-0")
    page.locator("#step-0").fill("5")
    page.wait_for_function("document.getElementById('live').textContent === 'age: 10'")
    assert (page.input_value("#hierarchy-0"), page.input_value("#step-0")) == ("intervals", "5")
    page.locator("#width-3").fill("10")
    page.wait_for_function("document.getElementById('live').textContent.includes('at most 10 years')")
    page.locator("summary").nth(2).click()  # town
    page.wait_for_selector(".tree li")
    page.click("text=Edit as text")
    page.fill("#edit-2", "Aachen;Rhine;*\nBonn;Rhine;*\nUlm;Danube;*")
    page.click("text=Save this hierarchy")
    page.wait_for_function("document.getElementById('hierarchy-2')?.value === 'town.csv'")

    page.goto(f"{project}/goal")
    page.wait_for_selector("#weight-0")
    page.locator("#weight-0").fill("4")
    page.wait_for_function("document.getElementById('live').textContent.includes('Saved')")
    page.click("text=Add a rule")
    page.select_option("#rule-column", "town")
    page.select_option("#rule-these", ["Aachen", "Bonn"])
    page.select_option("#rule-those", "Ulm")
    page.check("#rule-must")
    page.click("#rule-add")
    page.wait_for_selector("text=town: Aachen, Bonn | Ulm")

    found = settings_of(tab, project)
    assert found["columns"]["income"]["order"] == ["low", "middle", "high"]
    assert found["columns"]["age"]["intervals"] == {"widths": [10, 20, 40]}
    assert found["weights"] == {"age": 4}
    assert found["columns"]["born"]["max_width"] == "10y"
    assert found["columns"]["town"]["hierarchy"] == "files/town.csv"
    assert found["rules"] == [{"column": "town", "apart": [["Aachen", "Bonn"], ["Ulm"]], "ban": True}]

    page.click("text=All settings as text >> nth=0")
    text = page.input_value("#settings")
    page.fill("#settings", text.replace("k = 5", "kk = 5"))
    page.click("#settings-save")
    page.wait_for_selector("#problems >> text=kk")
    page.fill("#settings", text.replace("k = 5", "k = 3").replace('max_width = "10y"', 'max_width = "60y"'))
    page.click("#settings-save")
    page.wait_for_function("document.getElementById('k')?.value === '3'")
    tab.go("run", "#start")
    tab.run()
    assert "Done and checked" in page.inner_text("#run-area")
    assert tab.problems == []


def test_a_workbook_offers_its_sheets_and_a_database_is_read_by_its_address(tab: Tab, tmp_path: Path) -> None:
    page, workbook = tab.page, tmp_path / "two.xlsx"
    import xlsxwriter

    with xlsxwriter.Workbook(workbook) as book:
        PEOPLE.write_excel(book, "people")
        PEOPLE.select("town").head(7).with_columns(n=pl.lit(1)).write_excel(book, "<b>towns")
    tab.send(workbook)
    assert "120 rows, 5 columns" in page.inner_text("#load-area")
    page.select_option("#sheet", "<b>towns")  # W07: the name of a sheet is text
    page.wait_for_selector("text=7 rows, 2 columns")
    assert page.input_value("#sheet") == "<b>towns"

    place = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(place)) as database:
        PEOPLE.write_csv(tmp_path / "people.csv")
        database.execute(f"CREATE TABLE people AS FROM read_csv('{tmp_path / 'people.csv'}')")
    page.goto(tab.base)
    page.fill("#url", "postgresql://<img src=x onerror=alert(1)>")
    page.click("#load-url")
    page.wait_for_selector("#problems .notice, #failed")
    page.goto(tab.base)
    page.fill("#url", f"duckdb:///{place}?table=people")
    page.click("#load-url")
    page.wait_for_url("**/load")
    page.wait_for_selector("#next")
    assert "120 rows, 5 columns" in page.inner_text("#load-area")
    assert tab.problems == []


def test_the_tour_guides_through_the_built_in_table(tab: Tab) -> None:
    page = tab.page
    page.click("#tour-patients")
    page.wait_for_url("**/load")
    page.wait_for_selector("#next")
    assert "step 1 of 8" in page.inner_text(".tour")
    tab.go("columns", "#uniques")
    assert "drop birth_date" in page.inner_text(".tour")
    page.click("text=End the tour")
    page.wait_for_function("!document.querySelector('.tour')")
    assert tab.problems == []
