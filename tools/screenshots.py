"""Take the pictures of the report that the documents show, from the bundled metagame.

    python tools/screenshots.py [FOLDER]

Needs Chromium on the PATH.  Pictures have few colours, so a palette of 256 keeps them small; FOLDER
is docs/images unless said.
"""

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from intransit import fit
from intransit.datasets import metagame

FOLDER = Path(__file__).parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # as in the Makefile
TITLE = "A simulated metagame"
COLOURS = 256


class Shot(NamedTuple):
    """One picture: its name, the size and the theme of the window, and where it begins."""

    name: str
    width: int
    height: int
    theme: str
    begin: str  # what is scrolled to the top


SHOTS = (
    Shot("report-light", 1180, 2020, "light", "header"),
    Shot("report-dark", 1180, 1560, "dark", "#discs"),
    Shot("report-phone", 390, 2060, "light", "header"),
)


def main(folder: Path) -> None:
    """Write the report of the metagame, and take every picture of it."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit(f"Pictures are taken in Chromium: put one of {', '.join(BROWSERS)} on the PATH.")
    with TemporaryDirectory() as place, sync_playwright() as playwright:
        page = fit(metagame()[0], rng=0).report(Path(place) / "page.html", title=TITLE)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for shot in SHOTS:
            write_small(take(browser, page, shot), folder / f"{shot.name}.png")
        browser.close()


def take(browser: Browser, page: Path, shot: Shot) -> bytes:
    """Return what a window of this size and theme shows."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme=shot.theme,
        reduced_motion="reduce",
    )
    window: Page = context.new_page()
    window.goto(page.as_uri())
    window.locator(shot.begin).evaluate(
        "part => window.scrollTo(0, part.getBoundingClientRect().top - 44)"
    )
    window.wait_for_timeout(300)
    picture = window.screenshot()
    context.close()
    return picture


def write_small(picture: bytes, place: Path) -> None:
    """Write a picture with a palette, which is a third of its size."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(place, optimize=True)
    sys.stdout.write(f"{place.name}: {place.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
