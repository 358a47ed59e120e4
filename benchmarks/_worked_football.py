"""Tables and sentences of the worked study on football, each from the numbers of the run.

A function fills the hole of its name in worked_template.md.  `scope` has what the page's own Python
named (`modern`, `football`, ...), and `said` what its commands printed.  Which sentence stands
there is decided by the numbers.
"""

import re
from datetime import date, timedelta

import intransit as it
from benchmarks._worked_text import (
    Scope,
    gain,
    in_words,
    interval,
    is_clear,
    listed,
    percent,
    prose,
    table,
)

TOP = 6  # teams that are shown


def answer_of(scope: Scope) -> it.Answer:
    """Return the answer to football, from the file that a command of the page wrote."""
    if "football" not in scope:
        scope["football"] = it.Answer.load("football.intransit")
    answer: it.Answer = scope["football"]
    return answer


def football_begin(scope: Scope) -> str:
    """Return the year of the first match."""
    football = answer_of(scope)
    return football.clock.to_text(football.seen.begin)[:4]


def football_sentences(scope: Scope) -> str:
    """Return what the verdict on football means."""
    told = scope["football"].transitivity()
    if told.verdict != "no evidence":
        return prose(f"The verdict is “{told.verdict}”.", told.sentence)
    worth = "Earlier results of single pairs do not help to forecast either"
    if is_clear(told):
        worth = "Earlier results of single pairs help to forecast all the same"
    return prose(
        "There is no evidence of cycles, and not for lack of data: a lasting cyclic share of "
        f"{percent(told.detectable)} would have been found four times out of five. {worth} "
        f"({gain(told)} in log loss of a held-out match). If some teams are particularly good "
        "against certain others, the effect is too rare or too brief to show."
    )


def year_before(scope: Scope) -> str:
    """Return the day a year before the last match."""
    football = answer_of(scope)
    end = football.clock.to_text(football.seen.end)
    return str(date.fromisoformat(end[:10]) - timedelta(days=365))


def leaders(scope: Scope, n: int = TOP) -> list[str]:
    """Return the teams that lead, of those that played in the last year."""
    football = answer_of(scope)
    since = football.clock.to_number(year_before(scope))
    shown = [
        s.name for s in football.rank() if football.seen.last[football.number(s.name)] >= since
    ]
    return shown[:n]


def first_two(scope: Scope) -> str:
    """Return the two that lead, as Python reads them."""
    return ", ".join(f'"{name}"' for name in leaders(scope, 2))


def leader_sentence(scope: Scope) -> str:
    """Return whether the leader is told apart from the next."""
    football = answer_of(scope)
    standings = {s.name: s for s in football.rank()}
    first, *rest = (standings[name] for name in leaders(scope))
    near = sum(other.high >= first.low for other in rest)
    which = "all" if near == len(rest) else in_words(near)
    tail = f"the intervals of {which} of the next {in_words(len(rest))} overlap with its own."
    return prose(
        f"{first.name} comes first, but {tail}"
        if near
        else f"{first.name} leads, apart from all others.",
    )


def ladder(scope: Scope) -> dict[str, tuple[float, str]]:
    """Return log loss and gain on the row above, of every model that the backtest printed."""
    text = next(said for line, said in scope["said"].items() if " backtest " in line)
    pattern = r"^(\S.*?)\s{2,}(\d\.\d+) ± \d\.\d+\s+([+-]\d\.\d+ ± \d\.\d+)?"
    found = re.finditer(pattern, text, re.MULTILINE)
    return {row[1]: (float(row[2]), row[3] or "") for row in found}


def ladder_sentences(scope: Scope) -> str:
    """Return what the ladder of models says."""
    rows = ladder(scope)
    names = list(rows)
    said = []
    if names.index("drifting scores") == names.index("static scores") + 1:
        said.append(f"Letting scores drift gains {rows['drifting scores'][1]} over static ones.")
    if names.index("drifting scores + pair effects") == names.index("drifting scores") + 1:
        said.append("Pair effects, which can express any cycle, gain "
                    f"{rows['drifting scores + pair effects'][1]} more.")  # fmt: skip
    factors, scores, elo = (rows[k][0] for k in ("drifting factors", "drifting scores", "Elo"))
    said.append(
        f"Drifting factors, which can express cycles of low rank, have {factors:.4f}, plain "
        f"drifting scores {scores:.4f}, and Elo {elo:.4f}. `--quick` takes three long blocks, "
        "which is enough to compare the rows; leave it out for exact figures."
    )
    return prose(*said)


def football_conclusion(scope: Scope) -> str:
    """Return what was found of football."""
    football = answer_of(scope)
    told = football.transitivity()
    side = next((line for line in football.story if "side is worth" in line), "")
    rows = ladder(scope)
    what = {
        "no evidence": "A ranking that drifts explains who beats whom in these results.",
        "cycles": "A ranking does not say all that these results say.",
        "too little data": "Whether a ranking says it all cannot be told from these results.",
    }[told.verdict]
    better = [name for name in rows if rows[name][0] < rows["drifting scores"][0] - 0.001]
    most = listed(better)
    return prose(
        what,
        f"The 90 % interval of the cyclic share ends at {percent(told.share_high)}.",
        f"On later matches {most} did better than drifting scores by more than 0.001." if better
        else "On later matches no model did better than drifting scores by more than 0.001.",
        f"Home advantage: {side[0].lower()}{side[1:]}" if side else "",
        "A caveat: squads and form change within a season, and who was on the pitch is not in the "
        "table.",
    )  # fmt: skip


def contrast_table(scope: Scope) -> str:
    """Return both tables side by side."""
    pair = (scope["modern"], scope["football"])
    told = [answer.transitivity() for answer in pair]
    rows = [
        ["verdict", *(t.verdict for t in told)],
        ["share that no ranking explains", *(interval(t) for t in told)],
        ["share that would be found", *(percent(t.detectable) for t in told)],
        ["gain in log loss of a held-out game", *(gain(t) for t in told)],
        ["cycles listed", *(str(answer.cycles().n_found) for answer in pair)],
    ]
    return table(["", "Magic, Modern", "football"], rows)


def contrast_sentences(scope: Scope) -> str:
    """Return what follows from both."""
    magic, football = (scope[name].transitivity() for name in ("modern", "football"))
    if not (magic.has_cycles and football.verdict == "no evidence"):
        return prose("The two verdicts are as above; read each beside what it could have found.")
    times = magic.share / max(football.detectable, 1e-6)
    return prose(
        "The same commands with the same settings give opposite verdicts. Modern's cyclic share is "
        f"{times:.0f} times what would have been found in football, so the difference lies in the "
        "games, not in the number of games. It is what one would expect: a deck is built to beat "
        "certain other decks. “No evidence” means something only together with the share that "
        "would have been found."
    )
