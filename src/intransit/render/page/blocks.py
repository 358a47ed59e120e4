"""The building blocks of the page: sections, figures, tables, lists."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from intransit.render.page.sheets import Sheet, link
from intransit.render.page.words import sentence


def section(place: str, title: str, body: Iterable[str]) -> str:
    """Return a section with its heading; empty parts are left out."""
    inner = "\n".join(part for part in body if part)
    return (
        f'<section id="{place}" aria-labelledby="{place}-title">\n'
        f'<h2 id="{place}-title">{title}</h2>\n{inner}\n</section>'
    )


def lead(*texts: str) -> str:
    """Return paragraphs that open a section; the words are ours or already escaped."""
    return "".join(f'<p class="lead">{text}</p>' for text in texts if text)


def figure(picture: str, caption: str, *, live: str = "") -> str:
    """Return a picture in a box of its own; a script may put a livelier one in its place."""
    hook = f' data-live="{live}"' if live else ""
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure><div class="picture"{hook}>{picture}</div>{words}</figure>'


class Keyed(NamedTuple):
    """A cell of a table with what the script sorts, filters or draws it by."""

    key: str
    html: str


def table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str | Keyed]],
    *,
    caption: str,
    sheet: Sheet,
    kind: str = "",
) -> str:
    """Return a table that scrolls in its own box, and the link that saves it.

    Titles that begin with # are of numbers.
    """
    kinds = [' class="number"' if title.startswith("#") else "" for title in titles]
    head = "".join(
        f'<th scope="col"{kind}>{title.removeprefix("#")}</th>'
        for kind, title in zip(kinds, titles, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(map(_cell, ("th", *["td"] * len(row)), row, kinds)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="sheet {kind}"><div class="save-bar">{link(sheet)}</div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>"
        "</table></div></div>"
    )


def _cell(tag: str, cell: str | Keyed, kind: str) -> str:
    scope = ' scope="row"' if tag == "th" else ""
    if isinstance(cell, Keyed):
        return f'<{tag}{scope}{kind} data-key="{cell.key}">{cell.html}</{tag}>'
    return f"<{tag}{scope}{kind}>{cell}</{tag}>"


def more(summary: str, body: str) -> str:
    """Return something that opens on demand, without a script."""
    return f"<details><summary>{summary}</summary>\n{body}\n</details>"


def bullets(texts: Iterable[str]) -> str:
    """Return sentences as a list."""
    items = "".join(f"<li>{sentence(text)}</li>" for text in texts)
    return f'<ul class="facts">{items}</ul>' if items else ""


def note(text: str) -> str:
    """Return a remark set apart; empty if there is none."""
    return f'<p class="note">{sentence(text)}</p>' if text else ""
