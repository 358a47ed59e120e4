"""The building blocks of the page: sections, figures, tables, lists."""

from collections.abc import Iterable, Sequence

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


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str) -> str:
    """Return a table that scrolls in its own box; titles that begin with # are of numbers."""
    numeric = [title.startswith("#") for title in titles]
    kinds = [' class="number"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{title.removeprefix("#")}</th>'
        for kind, title in zip(kinds, titles, strict=True)
    )
    body = "\n".join(
        f'<tr><th scope="row"{kinds[0]}>{row[0]}</th>'
        + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds[1:], row[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>"
        "</table></div>"
    )


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
