"""The page put together: head with a policy that lets nothing in or out, body, data, script."""

import base64
import hashlib
from importlib.resources import files

from intransit.findings.content import Findings
from intransit.render.page.board import write_board
from intransit.render.page.data import embed
from intransit.render.page.opening import write_opening
from intransit.render.page.palette import write_themes
from intransit.render.page.sections import (
    write_cycles,
    write_discs,
    write_duel,
    write_matrix,
    write_strengths,
)
from intransit.render.page.tables import write_changes, write_data, write_ladder, write_ranking
from intransit.render.page.words import plain, sentence

STYLES = ("page.css", "parts.css")
# In this order, in one scope: each may use what those before it define.
SCRIPTS = (
    "data.js",
    "tools.js",
    "board.js",
    "chart.js",
    "matrix.js",
    "strengths.js",
    "discs.js",
    "cycles.js",
    "duel.js",
    "start.js",
)
CONTENTS = (
    ("board", "Leaderboard"),
    ("matrix", "Matrix"),
    ("strengths", "Over time"),
    ("discs", "Counters"),
    ("cycles", "Cycles"),
    ("duel", "Head to head"),
    ("changes", "Changes"),
    ("ranking", "Ranking"),
    ("ladder", "Predictions"),
    ("data", "Data"),
)
READING = (
    "A chance is the probability that one item beats another in a game, a tie as half a win. "
    "Intervals and bands hold the truth with a probability of 90 % unless they say otherwise. "
    "An item that was not being compared about a time is drawn faint there. "
    "In a CSV, a name that a spreadsheet would take for a formula begins with an apostrophe. "
    "Everything is in this file: nothing is loaded and nothing is sent."
)


def write_page(findings: Findings) -> str:
    """Return the report as one HTML file: the same findings give the same text."""
    style = "\n".join([write_themes(), *map(_asset, STYLES)])
    script = "\n".join(['(() => {\n"use strict";', *map(_asset, SCRIPTS), "})();"])
    body = _body(findings)
    title = f"{findings.source}: who beats whom" if findings.source else "Who beats whom"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{sentence(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'{_header(findings, body)}\n<main id="main">\n{body}\n</main>\n'
        f"<footer><h2>How to read it</h2><p>{READING}</p>"
        "<p>Made with intransit.</p></footer>\n"
        f'<script type="application/json" id="findings">{embed(findings)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _header(findings: Findings, body: str) -> str:
    """Return the bar at the top: where the data came from, and what the page holds.

    A narrow screen has the contents in a list that opens, a wide one beside each other.
    """
    links = "".join(
        f'<a href="#{place}">{title}</a>'
        for place, title in CONTENTS
        if f'<section id="{place}"' in body
    )
    return (
        '<a class="skip" href="#main">Skip to the findings</a>\n<header><p class="source">'
        f'<bdi title="{plain(findings.source)}">{plain(findings.source)}</bdi></p>'
        f'<nav class="wide" aria-label="Contents">{links}</nav><details class="menu"><summary>'
        f'Contents</summary><nav aria-label="Contents">{links}</nav></details></header>'
    )


def _body(findings: Findings) -> str:
    """Return all sections; those that follow the time slider stand together."""
    timed = [
        write_matrix(findings),
        write_strengths(findings),
        write_discs(findings),
        write_cycles(findings),
        write_duel(),
    ]
    still = [
        write_changes(findings),
        write_ranking(findings),
        write_ladder(findings),
        write_data(findings),
    ]
    inner = "\n".join(timed)
    return "\n".join(
        [
            write_opening(findings),
            write_board(findings),
            f'<div class="timed" id="timed">\n{inner}\n</div>',
            *still,
        ]
    )


def _policy(style: str, script: str) -> str:
    """Return a policy under which only this page's own style and script run."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    """Return the hash by which a policy knows an inline style or script."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _asset(name: str) -> str:
    """Return one of the files that lie beside this module."""
    return (files("intransit.render.page") / "assets" / name).read_text(encoding="utf-8")
