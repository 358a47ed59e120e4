"""Draw the figures of docs/gallery.md by running the page.

    python -m tools.gallery [--to FOLDER]

Every block of code that leaves a `figure` is followed on the page by the picture of it; that is the
file it is written to.  A palette of 256 colours keeps pictures small.
"""

import argparse
import io
import re
import sys
from pathlib import Path
from typing import Any

from PIL import Image

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "gallery.md"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n!\[[^\]]*\]\((?P<picture>images/gallery/[^)]+)\))?",
    re.MULTILINE | re.DOTALL,
)
DOTS = 90
COLOURS = 256


def main() -> None:
    """Read where the pictures go, run the page, and write them."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reader.add_argument("--to", type=Path, default=DOCS, help="folder that holds images/gallery")
    folder: Path = reader.parse_args().to
    scope: dict[str, Any] = {"__name__": "gallery"}
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        exec(compile(block["code"], str(PAGE), "exec"), scope)
        if block["picture"]:
            place = folder / block["picture"]
            place.parent.mkdir(parents=True, exist_ok=True)
            write(scope.pop("figure"), place)


def write(figure: Any, place: Path) -> None:
    """Write a figure of matplotlib as a small picture."""
    whole = io.BytesIO()
    figure.savefig(whole, format="png", dpi=DOTS, bbox_inches="tight")
    image = Image.open(whole).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(place, optimize=True)
    sys.stdout.write(f"{place.name}: {place.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
