"""Several pages in one: a tab for each, and a first tab with a line on every one of them.

Each page stands in a frame of its own, as it is, and is opened when its tab is; tabs are radio
buttons, so that they work without script.  With it, each has an address: page.html#Legacy.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape

from intransit.report import Group
from intransit.report.page.blocks import (
    count,
    digest,
    estimate,
    name,
    plain,
    read_assets,
    sentence,
    with_small,
    write_document,
)


def write_tabs(title: str, column: str, lines: Sequence[Group], pages: Mapping[str, str]) -> str:
    """Return one HTML file with all pages: the same pages give the same text."""
    style = read_assets("themes.css", "tabs.css") + _switches(len(pages))
    script = read_assets("tabs.js")
    number = {value: k for k, value in enumerate(pages, 1)}
    picks = "".join(
        f'<input class="pick" type="radio" name="tab" id="tab-{k}"{" checked" if k == 0 else ""} '
        f'data-at="{escape(label) if k else ""}" aria-label="{plain(label)}">'
        for k, label in enumerate(["All", *pages])
    )
    tabs = "".join(
        f'<label for="tab-{k}">{label}</label>'
        for k, label in enumerate(["All", *(name(value) for value in pages)])
    )
    frames = "".join(
        f'<section class="panel" id="panel-{number[value]}"><iframe loading="lazy" '
        f'title="{plain(value)}" srcdoc="{_framed(page)}"></iframe></section>\n'
        for value, page in pages.items()
    )
    heading = f"{title}, by {column}" if title else f"By {column}"
    return write_document(
        heading,
        style,
        _policy(style, script, pages),
        f'{picks}<nav class="tabs" aria-label="Groups">{tabs}</nav>\n'
        f'<section class="panel" id="panel-0">{_overview(heading, lines, number)}</section>\n'
        f'{frames}<script type="application/json" id="findings">{_data(lines)}</script>\n'
        f"<script>{script}</script>",
    )


def _framed(page: str) -> str:
    """Return a page as the text of a frame, its links leading to places in the frame.

    A bare #place in a frame without an address of its own would lead to the page around it.
    """
    body, mark, rest = page.partition("<script")
    return escape(re.sub(r'(<a\b[^>]*\bhref=")#', r"\1about:srcdoc#", body) + mark + rest)


def _data(lines: Sequence[Group]) -> str:
    """Return the lines for machines; nothing in them can end the element they stand in."""
    text = json.dumps([asdict(line) for line in lines], ensure_ascii=True)
    return text.replace("<", "\\u003c")


def _overview(heading: str, lines: Sequence[Group], number: Mapping[str, int]) -> str:
    """Return the first tab: a line on every group."""
    rows = "".join(_row(line, number.get(line.value)) for line in lines)
    return (
        f'<main class="first"><h1>{sentence(heading)}</h1>'
        '<p class="about">Each group was fitted on its own. The leader is the item with the '
        "highest mean chance of beating the others of its group, with its 90\u00a0% interval; "
        "where there are cycles, the group's matrix says more.</p>"
        '<div class="scroll"><table><thead><tr><th>group</th><th class="number">games</th>'
        '<th class="number">items</th><th>verdict</th><th>leader</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></main>"
    )


def _row(line: Group, tab: int | None) -> str:
    called = name(line.value)
    cells = f'<td class="number">{count(line.n_games)}</td><td class="number">{line.n_items:,}</td>'
    if tab is None:
        return (
            f'<tr class="left-out"><td>{called}</td>{cells}'
            f'<td colspan="2">{sentence(line.verdict)}</td></tr>'
        )
    leader = ""
    if line.strength is not None and line.low is not None and line.high is not None:
        doubt = "" if line.clear else " (not clearly)"
        interval = with_small(*estimate(line.strength, line.low, line.high))
        leader = f"{name(line.leader)}{doubt} {interval}"
    return (
        f'<tr><td><label for="tab-{tab}">{called}</label></td>{cells}'
        f"<td>{sentence(line.verdict)}</td><td>{leader}</td></tr>"
    )


def _switches(n: int) -> str:
    """Return the rules by which the tab that is chosen shows its panel."""
    places = range(n + 1)
    panels = ",".join(f"#tab-{k}:checked~#panel-{k}" for k in places)
    labels = ",".join(f'#tab-{k}:checked~.tabs label[for="tab-{k}"]' for k in places)
    seen = ",".join(f'#tab-{k}:focus-visible~.tabs label[for="tab-{k}"]' for k in places)
    return (
        f"{panels}{{display:block}}\n{labels}{{background:var(--paper);color:var(--ink);"
        "border-color:var(--line);font-weight:600}\n"
        f"{seen}{{outline:2px solid var(--accent);outline-offset:-2px}}\n"
    )


def _policy(style: str, script: str, pages: Mapping[str, str]) -> str:
    """Return a policy that lets in this page's own style, and what the pages in it let in.

    A frame obeys the policy of the page around it beside its own.
    """
    allowed: dict[str, list[str]] = {"style-src": [digest(style)], "script-src": [digest(script)]}
    for page in pages.values():
        for kind, listed in allowed.items():
            inner = re.search(rf"{kind} ('sha256-[^;]+')", page)
            listed.extend(inner[1].split() if inner else [])
    parts = (
        f"{kind} {' '.join(dict.fromkeys(listed))}" for kind, listed in allowed.items() if listed
    )
    return f"{'; '.join(parts)}; img-src data:; frame-src 'self'"
