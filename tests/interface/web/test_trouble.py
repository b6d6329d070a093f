"""What goes wrong in the web app: bad files, goals out of reach, restarts, two tabs, hostile texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.interface.web.driving import SECONDS, Server, Tab, table_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAYLOAD = "<img src=x onerror=alert(1)>"


def test_file_that_is_no_table_is_refused_with_its_reason(tab: Tab, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,4,5\n")
    tab.send(bad)
    assert "line 3" in tab.page.inner_text("#failed")
    tab.page.goto(tab.base)
    empty = tmp_path / "empty.csv"
    empty.touch()
    tab.page.set_input_files("#file", str(empty))
    tab.page.wait_for_selector("#refused:not([hidden])")
    assert "empty" in tab.page.inner_text("#refused")


def test_goal_out_of_reach_says_so_and_leads_back(tab: Tab, tmp_path: Path) -> None:
    project = tab.send(table_of(tmp_path, n_rows=40))
    tab.page.goto(f"{project}/goal")
    tab.page.locator("#k").fill("80")
    tab.page.wait_for_function("document.getElementById('k-meaning').textContent.includes('1 in 80')")
    tab.go("run", "#start")
    tab.run()
    assert "k <= 40" in tab.page.inner_text("#failed")
    tab.page.click("text=Change the goal")
    tab.page.wait_for_selector("#k")


def test_two_tabs_see_each_others_settings_and_mix_no_projects(tab: Tab, tmp_path: Path) -> None:
    """W08: each address names its project; a second tab of one project says that it is out of date."""
    first = tab.send(table_of(tmp_path, "first.csv"))
    tab.page.goto(tab.base)
    other = tab.send(table_of(tmp_path, "second.csv"))
    assert first != other
    second = tab.new_page()
    second.goto(f"{other}/goal")
    second.wait_for_selector("#k")
    tab.page.goto(f"{other}/goal")
    tab.page.wait_for_selector("#k")
    tab.page.locator("#k").fill("7")
    second.wait_for_selector("#renew")
    second.click("#renew")
    second.wait_for_function("document.getElementById('k')?.value === '7'")
    second.goto(f"{first}/goal")
    second.wait_for_selector("#k")
    assert second.input_value("#k") == "5"
    assert tab.problems == []


def test_settings_survive_a_restart_and_data_does_not(browser: Browser, tmp_path: Path) -> None:
    """W06: after the server has ended, the settings are there and the table is gone."""
    server = Server(tmp_path / "home")
    tab = Tab(browser, server)
    project = tab.send(table_of(tmp_path))
    tab.page.goto(f"{project}/goal")
    tab.page.locator("#k").fill("6")
    tab.page.wait_for_function("document.getElementById('k-meaning').textContent.includes('1 in 6')")
    again = server.restart()
    tab.page.goto(f"{project}/goal")
    assert not tab.page.query_selector("#k")  # the session ended with the server
    tab.page.goto(again.address)
    tab.page.wait_for_selector("#drop")
    tab.page.goto(f"{project}/goal")
    tab.page.wait_for_selector("text=not its table")
    tab.send(table_of(tmp_path))
    tab.page.goto(f"{project}/goal")
    tab.page.wait_for_selector("#k")
    assert tab.page.input_value("#k") == "6"
    tab.close()
    again.stop()


def test_logging_out_in_one_tab_takes_the_data_from_the_other(browser: Browser, tmp_path: Path) -> None:
    """W15: the password opens a session, the button ends it, and no page goes on showing what it showed."""
    (tmp_path / "password").write_text("correct horse battery\n")
    server = Server(tmp_path / "home", 0, "--password-file", str(tmp_path / "password"))
    context = browser.new_context()
    context.set_default_timeout(SECONDS * 1000)
    first, second = context.new_page(), context.new_page()
    first.goto(server.address)
    first.fill("#password", "correct horse battery")
    first.click("text=Log in")
    first.wait_for_selector("#drop")
    second.goto(server.address)
    second.wait_for_selector("#drop")
    second.wait_for_function("window.socket?.connected")
    first.click("#log-out")
    for page in (first, second):
        page.wait_for_selector("#password")
        assert not page.query_selector("#drop")
    context.close()
    server.stop()


def test_hostile_texts_are_shown_and_never_act(tab: Tab, tmp_path: Path) -> None:
    """W07: markup in names of files and columns and in cells is text on every page."""
    rows = "\n".join(f"{20 + i % 9},{PAYLOAD}{i % 2},d{i % 4}" for i in range(60))
    path = tmp_path / f"{PAYLOAD}.csv".replace("/", "")
    path.write_text(f"age,town {PAYLOAD},disease\n{rows}\n")
    project = tab.send(path)
    tab.page.goto(f"{project}/columns")
    tab.page.wait_for_selector("#role-1")
    tab.page.select_option("#role-1", "qi")
    tab.page.wait_for_selector("#uniques")
    tab.page.goto(f"{project}/run")
    tab.page.wait_for_selector("#start")
    tab.run()
    for step in ("load", "columns", "hierarchies", "goal", "run", "result", "compare", "download"):
        tab.page.goto(f"{project}/{step}")
        tab.page.wait_for_selector("h1")
        if step == "hierarchies":
            tab.page.wait_for_function("window.socket?.connected && window.did_handshake")
            tab.page.locator("summary").last.click()
            tab.page.wait_for_selector(".tree, .notice")
        assert tab.page.evaluate("document.querySelectorAll('img, #content script').length") == 0, step
        assert "onerror" in tab.page.content(), step
    assert tab.problems == []
