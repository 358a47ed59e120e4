"""One page of all figures, settings and claims: Markdown beside its figures, HTML on its own.

The HTML holds its figures and its style and asks the network for nothing.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from intransit.experiments.experiment import Claim, Experiment, Gain

MARKS = {"holds": "✔ holds", "holds in part": "◐ holds in part", "does not hold": "✘ does not hold"}

GAINS = "What joint estimation gains"
GAIN_COLUMNS = ("where", "the paper's best", "joint", "limit", "gain")

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfc; --line: #d8d8d4;
  --soft: #5c5c5c; --good: #006d4f; --part: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e3; --paper: #17181a;
  --line: #3a3c40; --soft: #a9a7a3; --good: #5fd0a5; --part: #f0b65a; --bad: #ff8a80; } }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 3rem; font-size: 1.3rem; }
a { color: inherit; } .soft { color: var(--soft); }
figure { margin: 1rem 0; overflow-x: auto; background: #fff; border-radius: 8px;
  border: 1px solid var(--line); }
figure img { display: block; width: 100%; min-width: 34rem; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem .4rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th, td:first-child { overflow-wrap: normal; } th { font-weight: 600; }
.claim { border-left: 4px solid var(--line); margin: 1rem 0; padding: .1rem 0 .1rem .9rem; }
.claim p { margin: .2rem 0; } .claim ul { margin: .3rem 0; padding-left: 1.2rem; }
.verdict { font-weight: 600; } .holds { color: var(--good); } .part { color: var(--part); }
.not { color: var(--bad); } .claim.holds, .claim.part, .claim.not { color: inherit; }
.claim.holds { border-color: var(--good); } .claim.part { border-color: var(--part); }
.claim.not { border-color: var(--bad); } summary { cursor: pointer; }
"""


@dataclass(frozen=True)
class Shown:
    """One finished experiment, ready to be shown."""

    experiment: Experiment
    n_trials: int
    claims: Sequence[Claim]
    gains: Sequence[Gain]
    svg: bytes


def to_markdown(facts: Mapping[str, object], shown: Sequence[Shown]) -> str:
    """Return the page as Markdown, beside which the figures lie as NAME.png."""
    lines = ["# The paper's experiments, run again", "", _sentence(facts), ""]
    lines += [
        "| experiment | claims | hold | in part | do not hold |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in shown:
        n = _counted(one.claims)
        lines.append(
            f"| [{one.experiment.name}](#{one.experiment.name}) | {len(one.claims)} | "
            f"{n['holds']} | {n['holds in part']} | {n['does not hold']} |"
        )
    for one in shown:
        lines += _section(one)
    return "\n".join(lines) + "\n"


def _section(one: Shown) -> list[str]:
    experiment = one.experiment
    lines = ["", f"## {experiment.name}", "", f"{experiment.title}: {experiment.figure}. "]
    lines[-1] += f"{_trials(one.n_trials)}. Numbers: [table]({experiment.name}.csv), "
    lines[-1] += f"[summary and claims]({experiment.name}.json)."
    lines += ["", f"![{experiment.title}]({experiment.name}.png)", "", "### Claims"]
    for claim in one.claims:
        lines += ["", f"**{MARKS[claim.verdict]}** ({_whose(claim)}): {claim.statement}", ""]
        lines += [f"- {'yes' if c.passed else 'no'}: {_plain(c.measured)}" for c in claim.checks]
    if one.gains:
        lines += ["", f"### {GAINS}", "", f"| {' | '.join(GAIN_COLUMNS)} |"]
        lines.append(f"|{' --- |' * len(GAIN_COLUMNS)}")
        lines += [f"| {' | '.join(_plain(cell) for cell in _cells(gain))} |" for gain in one.gains]
    lines += ["", "### Settings", "", "| setting | value |", "| --- | --- |"]
    lines += [f"| {name} | {_plain(str(value))} |" for name, value in experiment.settings.items()]
    lines += ["", "### Notes", ""] + [f"- {_plain(note)}" for note in experiment.notes]
    return lines


def to_html(facts: Mapping[str, object], shown: Sequence[Shown]) -> str:
    """Return the page as one HTML file that needs no other."""
    rows = []
    for one in shown:
        n = _counted(one.claims)
        name = escape(one.experiment.name)
        rows.append(
            f'<tr><td><a href="#{name}">{name}</a></td><td>{escape(one.experiment.title)}</td>'
            f'<td class="holds">{n["holds"]}</td><td class="part">{n["holds in part"]}</td>'
            f'<td class="not">{n["does not hold"]}</td></tr>'
        )
    sections = "".join(_html_section(one) for one in shown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper's experiments, run again</title><style>{STYLE}</style></head><body>"
        f"<h1>The paper's experiments, run again</h1><p>{escape(_sentence(facts))}</p>"
        '<div class="wide"><table><thead><tr><th>experiment</th><th>what</th><th>hold</th>'
        f"<th>in part</th><th>do not hold</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"</div>{sections}</body></html>\n"
    )


def _html_section(one: Shown) -> str:
    experiment = one.experiment
    image = base64.b64encode(one.svg).decode()
    settings = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in experiment.settings.items()
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in experiment.notes)
    return (
        f'<section id="{escape(experiment.name)}"><h2>{escape(experiment.title)}</h2>'
        f'<p class="soft">{escape(experiment.name)}: {escape(experiment.figure)}. '
        f"{_trials(one.n_trials)}.</p>"
        f'<figure><img src="data:image/svg+xml;base64,{image}" alt="{escape(experiment.title)}">'
        f"</figure>{_html_gains(one.gains)}"
        f"{''.join(_html_claim(claim) for claim in one.claims)}"
        f'<details><summary>Settings and notes</summary><div class="wide"><table>{settings}'
        f"</table></div><ul>{notes}</ul></details></section>"
    )


def _html_gains(gains: Sequence[Gain]) -> str:
    if not gains:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in GAIN_COLUMNS)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(gain))}</tr>" for gain in gains
    )
    return (
        f'<h3>{GAINS}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cells(gain: Gain) -> tuple[str, ...]:
    return gain.where, gain.paper, gain.joint, gain.limit, gain.gain


def _html_claim(claim: Claim) -> str:
    kind = {"holds": "holds", "holds in part": "part", "does not hold": "not"}[claim.verdict]
    checks = "".join(
        f"<li>{'yes' if check.passed else 'no'}: {escape(check.measured)}</li>"
        for check in claim.checks
    )
    return (
        f'<div class="claim {kind}"><p>{escape(claim.statement)}</p>'
        f'<p><span class="verdict {kind}">{MARKS[claim.verdict]}</span> '
        f'<span class="soft">{_whose(claim)}</span></p><ul>{checks}</ul></div>'
    )


def _sentence(facts: Mapping[str, object]) -> str:
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    return (
        f"Run: {told}. Lines are means over trials, bands run from the 10 % to the 90 % quantile; "
        "numbers in brackets are 95 % bootstrap intervals over trials."
    )


def _counted(claims: Sequence[Claim]) -> dict[str, int]:
    return {word: sum(claim.verdict == word for claim in claims) for word in MARKS}


def _whose(claim: Claim) -> str:
    return "the paper's claim" if claim.source == "paper" else "our own"


def _trials(n_trials: int) -> str:
    return "1 trial" if n_trials == 1 else f"{n_trials} trials"


def _plain(text: str) -> str:
    """Return text in which Markdown sees no markup."""
    for sign in ("\\", "|", "*", "_", "`", "<"):
        text = text.replace(sign, "\\" + sign)
    return text
