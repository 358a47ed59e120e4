"""Several pages in one, in Chromium: tabs show them, links stay in them, nothing leaves them."""

import pytest

from intransit.report import Group
from intransit.report.page import write_page
from intransit.report.page.tabs import write_tabs
from tests.report.findings import HOSTILE, build_findings

LINES = [
    Group("clay", 9, 120.0, "There are cycles.", "x", 0.7, 0.6, 0.8),
    Group(HOSTILE[0], 9, 120.0, "No evidence of cycles.", HOSTILE[1], 0.7, 0.6, 0.8),
    Group("ice", 2, 3.0, "Too few games to fit.", "", None, None, None),
]


@pytest.fixture(scope="module")
def text():
    page = write_page(build_findings())
    return write_tabs("matches.csv", "surface", LINES, {"clay": page, HOSTILE[0]: page})


def test_tabs_show_their_pages_and_links_stay_in_them(open_text, text):
    page = open_text(text)
    assert page.locator("main.first tbody tr").count() == 3
    assert not page.locator("iframe").first.is_visible()
    page.locator("td label").first.click()
    frame = page.frame_locator("iframe").first
    frame.locator("#headline").wait_for()
    assert not page.locator("main.first").is_visible()
    frame.get_by_label("Time shown").wait_for()  # its script has run
    frame.locator("nav a:visible", has_text="Ranking").click()
    frame.locator("#ranking").wait_for()
    assert frame.locator("iframe").count() == 0
    page.locator(".tabs label", has_text="All").click()
    assert page.locator("main.first").is_visible()


def test_tabs_work_without_script_and_by_keys(open_text, text):
    page = open_text(text, java_script_enabled=False)
    page.locator("#tab-0").focus()
    page.keyboard.press("ArrowRight")
    page.frame_locator("iframe").first.locator("#headline").wait_for()


def test_every_tab_has_an_address(open_text, text):
    page = open_text(text, address="#clay")
    page.frame_locator("iframe").first.locator("#headline").wait_for()
    page.locator(".tabs label").nth(2).click()
    assert page.evaluate("decodeURIComponent(location.hash)") == f"#{HOSTILE[0]}"
    page.go_back()
    assert page.locator("#tab-1").is_checked()
    for nothing in ("#nowhere", "#%E0%A4"):
        page = open_text(text, address=nothing)
        assert page.locator("main.first").is_visible()


def test_the_same_pages_give_the_same_text(text):
    page = write_page(build_findings())
    again = write_tabs("matches.csv", "surface", LINES, {"clay": page, HOSTILE[0]: page})
    assert again == text


def test_nothing_on_a_phone_is_wider_than_it(open_text, text):
    page = open_text(text, width=390)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
