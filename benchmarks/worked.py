"""Write docs/worked-study.md: the Magic formats and football, from table to conclusion.

python -m benchmarks.worked DATA        runs every command and all Python of the page on the tables
                                        in that folder, and writes the page and its pictures

The words are in worked_template.md.  Lines after ``$`` are run by a shell and lines after ``>>>``
by Python, in order, in a folder that has the tables; what they print is put behind them, of the
first command of a fence only its ``lines`` if it says which.  Names in double braces are filled by
functions of `_worked_magic` and `_worked_football`, which choose sentences by the numbers.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import intransit as it
from benchmarks import _worked_football, _worked_magic

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
TABLES = ("magic.csv.gz", "football_intl.csv.gz")
FENCE = re.compile(
    r"^```(console|pycon)(?: lines=(\d+)-(\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
HOLE = re.compile(r"\{\{(\w+)\}\}")
WIDTH = 120  # letters of a line of output
DOTS = 90  # of a picture, an inch


def main() -> None:
    """Run all that the page shows, then write the page and its pictures."""
    warnings.simplefilter("ignore", it.ConvergenceWarning)
    os.environ.update(OPENBLAS_NUM_THREADS="1", NO_COLOR="1")
    data = Path(sys.argv[1]).resolve()
    template = (HERE / "worked_template.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {"said": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES:
            (Path(folder) / name).symlink_to(data / name)
        with contextlib.chdir(folder):
            page = FENCE.sub(lambda fence: run_fence(fence, scope), template)
            scope["halves"] = run_halves(data)
            page = fill(page, scope)
            draw(scope)
    (DOCS / "worked-study.md").write_text(page, encoding="utf-8")
    print(f"docs/worked-study.md: {len(page.splitlines())} lines.")


def run_fence(fence: re.Match[str], scope: dict[str, Any]) -> str:
    """Return a fence with what its lines print."""
    kind, begin, end, text = fence.groups()
    text = fill(text, scope)
    parts = list(run_commands(text, scope) if kind == "console" else run_python(text, scope))
    if begin is not None:
        parts[1] = chosen(parts[1], int(begin), int(end))
    lines = [line.rstrip() for part in parts for line in wrapped(part)]
    return "\n".join([f"```{kind}", *lines, "```"])


def chosen(text: str, begin: int, end: int) -> str:
    """Return some lines of a text, counted from 1, with dots where others are left out."""
    lines = text.splitlines()
    before, after = ["..."] * (begin > 1), ["..."] * (end < len(lines))
    return "\n".join([*before, *lines[begin - 1 : end], *after])


def run_commands(text: str, scope: dict[str, Any]) -> Iterator[str]:
    """Give every command and what it prints, as a terminal shows it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in text.splitlines():
        print(line, flush=True)
        run = subprocess.run(
            line.removeprefix("$ "),
            shell=True,  # a line of our own template
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if run.returncode:
            sys.exit(run.stdout)
        scope["said"][line.removeprefix("$ ")] = run.stdout
        yield line
        yield run.stdout


def run_python(text: str, scope: dict[str, Any]) -> Iterator[str]:
    """Give every statement and what it prints, as Python's prompt shows it."""
    for example in doctest.DocTestParser().get_examples(text):
        print(">>>", example.source, end="", flush=True)
        code = compile(example.source, "<page>", "single")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(code, scope)
        first, *rest = example.source.splitlines()
        yield "\n".join([f">>> {first}", *(f"... {line}" for line in rest)])
        yield said.getvalue()


def wrapped(text: str) -> Iterator[str]:
    """Give the lines of a text, those that are too long for the page broken between words."""
    for line in text.splitlines():
        if len(line) <= WIDTH:
            yield line
        else:
            yield from textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def run_halves(data: Path) -> list[list[str]]:
    """Return the rows of the table that `benchmarks.halves` prints."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.halves", str(data)],
        cwd=HERE.parent,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def fill(text: str, scope: dict[str, Any]) -> str:
    """Return a text with its holes filled."""
    words = {**vars(_worked_magic), **vars(_worked_football)}
    return HOLE.sub(lambda hole: words[hole[1]](scope), text)


def draw(scope: dict[str, Any]) -> None:
    """Write the pictures of the page."""
    modern, football = scope["modern"], scope["football"]
    surest = scope["cycles"].found[: _worked_magic.ROWS]
    inside = dict.fromkeys(name for cycle in surest for name in cycle.items)
    figures = {
        "cycles": modern.figure_cycles(),
        "matrix": modern.figure_matrix(items=list(inside) or None),
        "football": football.figure_strengths(
            _worked_football.leaders(scope, _worked_football.TOP)
        ),
    }
    for name, figure in figures.items():
        figure.savefig(DOCS / "images" / f"worked-{name}.png", dpi=DOTS)


if __name__ == "__main__":
    main()
