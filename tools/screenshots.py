"""Take pictures of the report in Chromium: those of the documents, or one of every size and theme.

    python -m tools.screenshots [--to FOLDER]
    python -m tools.screenshots --sizes 8 20 60 200 2000 --to FOLDER

Without `--sizes` the bundled metagame is fitted, and FOLDER is docs/images.  With it, simulated
tables of so many items are: each is shown light and dark, on a desktop and on a phone, at its top,
at its leaderboard, at its matrix, and whole.  Needs Chromium on the PATH.  Pictures have few
colours, so a palette of 256 keeps them small.
"""

import argparse
import io
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from intransit import Answer, Games, fit
from intransit.datasets import metagame, simulate_games

FOLDER = Path(__file__).parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # as in the Makefile
TITLE = "A simulated metagame"
COLOURS = 256
HEADER = 44  # pixels that the bar at the top covers
SECONDS = 10.0  # to draw for, of a simulated table
FIRST = "amber brave crimson dusty eager frosty gentle hollow ivory jolly keen lucky misty"
SECOND = "adder badger crane drake egret falcon gecko heron ibis jackal koala lynx marten"


class Shot(NamedTuple):
    """One picture: its name, the size and the theme of the window, and where it begins."""

    name: str
    width: int
    height: int
    theme: str
    begin: str  # what is scrolled to the top; nothing for the whole page


SHOTS = (
    Shot("report-light", 1180, 1560, "light", "header"),
    Shot("report-dark", 1180, 1560, "dark", "#discs"),
    Shot("report-phone", 390, 1640, "light", "header"),
)


def every_kind(n_items: int) -> Iterator[Shot]:
    """Return the pictures of a simulated table."""
    for theme in ("light", "dark"):
        for device, width, height in (("desktop", 1280, 800), ("phone", 390, 844)):
            for part in ("header", "#board", "#matrix", ""):
                place = part.removeprefix("#").replace("header", "top") or "whole"
                yield Shot(f"{n_items}-{device}-{theme}-{place}", width, height, theme, part)


def main() -> None:
    """Read what is asked for, and take the pictures."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("--to", type=Path, default=None, help="folder for the pictures")
    reader.add_argument("--sizes", type=int, nargs="+", default=[], help="numbers of items")
    asked = reader.parse_args()
    if asked.sizes and asked.to is None:
        reader.error("--sizes: say with --to where the pictures go.")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit(f"Pictures are taken in Chromium: put one of {', '.join(BROWSERS)} on the PATH.")
    folder = asked.to or FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for n_items in asked.sizes:
            answer = fit(simulate_table(n_items), seconds=SECONDS, rng=0)
            take_all(browser, answer, f"A league of {n_items:,}", every_kind(n_items), folder)
        if not asked.sizes:
            take_all(browser, fit(metagame()[0], rng=0), TITLE, SHOTS, folder)
        browser.close()


def simulate_table(n_items: int) -> Games:
    """Return games of items with names of two words: the more items, the fewer games of a pair."""
    n_games = min(100 * n_items, 20 * n_items + 10_000)
    cyclic = 0.0 if n_items in {60, 2000} else 0.5
    games, _ = simulate_games(n_items, n_games, cyclic=cyclic, ties=0.1, rng=n_items)
    both = [f"{one.title()} {two.title()}" for one in FIRST.split() for two in SECOND.split()]
    order = np.random.default_rng(n_items).permutation(len(both))
    turns = [""] + [f" {turn}" for turn in range(2, n_items // len(both) + 2)]
    names = [both[k] + turn for turn in turns for k in order]
    return replace(games, names=tuple(names[:n_items]))


def take_all(
    browser: Browser, answer: Answer, title: str, shots: Iterable[Shot], folder: Path
) -> None:
    """Write the report of an answer, and take pictures of it."""
    with TemporaryDirectory() as place:
        page = answer.report(Path(place) / "page.html", title=title)
        for shot in shots:
            write_small(take(browser, page, shot), folder / f"{shot.name}.png")


def take(browser: Browser, page: Path, shot: Shot) -> bytes:
    """Return what a window of this size and theme shows."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme=shot.theme,
        reduced_motion="reduce",
    )
    window: Page = context.new_page()
    window.goto(page.as_uri())
    if shot.begin:
        window.locator(shot.begin).first.evaluate(
            f"part => window.scrollTo(0, part.getBoundingClientRect().top - {HEADER})"
        )
    window.wait_for_timeout(300)
    picture = window.screenshot(full_page=not shot.begin)
    context.close()
    return picture


def write_small(picture: bytes, place: Path) -> None:
    """Write a picture with a palette, which is a third of its size."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(place, optimize=True)
    sys.stdout.write(f"{place.name}: {place.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
