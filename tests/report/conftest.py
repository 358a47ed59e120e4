"""A browser for the tests of the page, and a way to open pages that notices what goes wrong."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from intransit.report.page import write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # as in the Makefile


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all tests; without one they fail, as the page is untested."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(f"The page is tested in Chromium: put one of {', '.join(BROWSERS)} on the PATH")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def open_page(open_text):
    """Return a function that opens the page of some findings; see `open_text`."""
    return lambda findings, **settings: open_text(write_page(findings), **settings)


@pytest.fixture
def open_text(browser, tmp_path):
    """Return a function that opens a page; whatever goes wrong fails the test.

    Wrong are: an error on the console or in a script, a dialog, a request for anything else.
    """
    troubles, contexts = [], []

    def watch(page, own):
        page.on("console", lambda said: said.type in {"error", "warning"} and note(said.text))
        page.on("pageerror", lambda error: note(f"error in the script: {error}"))
        page.on(
            "request",
            lambda asked: asked.url.split("#")[0] in {own, "about:srcdoc"} or note(asked.url),
        )
        page.on("dialog", lambda dialog: (note("a dialog"), dialog.dismiss()))

    def note(trouble):
        troubles.append(trouble)

    def opened(text, *, address="", width=1100, height=800, **settings):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(text, encoding="utf-8", newline="\n")
        context = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **settings
        )
        contexts.append(context)
        page = context.new_page()
        watch(page, path.as_uri())
        page.goto(path.as_uri() + address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
