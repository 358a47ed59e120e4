"""Tables and sentences of the worked study on Magic, each from the numbers of the run.

A function fills the hole of its name in worked_template.md.  `scope` has what the page's own Python
named (`answers`, `legacy`, `cycles`, ...), `said` what its commands printed, and `halves` the rows
of that benchmark.  Which sentence stands there is decided by the numbers.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import intransit as it
from benchmarks._worked_text import (
    CLEAR,
    Scope,
    bullet,
    gain,
    in_words,
    interval,
    is_clear,
    listed,
    p_value,
    percent,
    prose,
    signed,
    span,
    table,
    very,
)

ROWS = 4  # of a table of findings


def formats_table(scope: Scope) -> str:
    """Return the verdicts on all formats."""
    header = ["format", "games", "verdict", "p", "share (90 % interval)", "gain", "detectable",
              "cycles listed"]  # fmt: skip
    rows = []
    for name, answer in scope["answers"].items():
        told = answer.transitivity()
        rows.append([
            name, f"{told.n_games:,.0f}", told.verdict, p_value(told), interval(told), gain(told),
            percent(told.detectable), str(answer.cycles().n_found),
        ])  # fmt: skip
    return table(header, rows)


def formats_sentences(scope: Scope) -> str:
    """Return what the verdicts have in common, and where they differ."""
    answers = scope["answers"]
    told = {name: answer.transitivity() for name, answer in answers.items()}
    cyclic = [name for name in told if told[name].has_cycles]
    gains = [name for name in cyclic if is_clear(told[name])]
    if len(cyclic) == len(told):
        said = [f"All {in_words(len(told))} formats have cycles."]
    else:
        said = [
            f"There are cycles in {listed(cyclic) or 'none of them'}; elsewhere none is proven."
        ]
    if gains:
        said.append(f"Knowing them clearly helps to predict held-out games in {listed(gains)}.")
    weak = [name for name in cyclic if name not in gains]
    if weak:
        said.append(
            f"In {listed(weak)} the gain is within two standard errors of zero: what the test "
            "finds there is too weak, or comes up too seldom, to help a forecast."
        )
    bare = [name for name in cyclic if answers[name].cycles().n_found == 0]
    if bare:
        said.append(
            f"{listed(bare)} {'shows' if len(bare) == 1 else 'show'} that there are cycles without "
            "any single one being sure enough to be listed."
        )
    return prose(*said)


def both_cards(scope: Scope) -> str:
    """Return what is said of names that begin alike."""
    firsts = Counter(first_card(name) for name in scope["modern"].names)
    return ", or both where the first is shared" if max(firsts.values()) > 1 else ""


def fitted_share(scope: Scope) -> str:
    """Return the cyclic share of the fitted matrix."""
    return percent(it.study.decompose(scope["modern"].margins()).cyclic_share)


def cycles_sentences(scope: Scope) -> str:
    """Return how many cycles there are, how long, and how many may be false."""
    cycles = scope["cycles"]
    if not cycles.found:
        return prose(f"In Modern no cycle is listed. {cycles.note}")
    lengths = Counter(len(cycle.items) for cycle in cycles)
    parts = [f"{n} have {in_words(length)} archetypes" for length, n in sorted(lengths.items())]
    few = f"The {in_words(min(ROWS, len(cycles)))} surest:" if len(cycles) > 1 else "It is:"
    return prose(
        f"In Modern {cycles.n_found} cycles have a probability of {percent(cycles.level)} or more "
        f"at the end of the table, {cycles.at}, and {percent(cycles.false_share)} of them are "
        f"expected to be false. Of the {len(cycles)} that are listed, {listed(parts)}. {few}"
    )


def cycles_table(scope: Scope) -> str:
    """Return the surest cycles."""
    name = namer(scope)
    rows = []
    for cycle in scope["cycles"].found[:ROWS]:
        round_trip = (*cycle.items, cycle.items[0])
        k = cycle.weakest
        rows.append([
            " > ".join(name(item) for item in round_trip), very(cycle.probability),
            ", ".join(percent(chance) for chance in cycle.chances),
            f"{name(round_trip[k])} > {name(round_trip[k + 1])}, {very(cycle.edges[k])}",
            cycle.since,
        ])  # fmt: skip
    header = ["cycle", "probability", "chances to win", "weakest edge", "since"]
    return table(header, rows) if rows else ""


def surest_edges(scope: Scope) -> list[tuple[str, str, int, float, float, float]]:
    """Return edges of the surest cycle: items, games, raw share won, chance, probability."""
    if not scope["cycles"].found:
        return []
    cycle, games = scope["cycles"].found[0], scope["modern"].games
    found = []
    pairs = zip(cycle.items, (*cycle.items[1:], cycle.items[0]), strict=True)
    for (a, b), chance, sure in zip(pairs, cycle.chances, cycle.edges, strict=True):
        i, j = games.names.index(a), games.names.index(b)
        ahead = (games.first == i) & (games.second == j)
        behind = (games.first == j) & (games.second == i)
        n = games.counts[ahead | behind].sum()
        won = games.counts[ahead] @ games.outcomes[ahead]
        won += games.counts[behind] @ (1.0 - games.outcomes[behind])
        found.append((a, b, int(n), float(won / n) if n else float("nan"), chance, sure))
    return found


def edges_table(scope: Scope) -> str:
    """Return what the surest cycle rests on, beside plain counting."""
    name, edges = namer(scope), surest_edges(scope)
    if not edges:
        return ""
    header = [
        "favoured",
        "over",
        "games",
        "won",
        "chance by the model",
        "probability of being favoured",
    ]
    rows = [
        [name(a), name(b), f"{n:,}", percent(won), percent(chance), very(sure)]
        for a, b, n, won, chance, sure in edges
    ]
    nearer = sum(abs(chance - 0.5) < abs(won - 0.5) for _, _, _, won, chance, _ in edges)
    which = "all" if nearer == len(edges) else f"{in_words(nearer)} of the"
    before = prose(
        "The probability of a cycle is that all its edges point its way at once; *since* is when "
        "that became more likely than not. What the surest cycle rests on can be counted in the "
        "table itself, a tie as half a win:"
    )
    after = prose(
        f"In {which} {in_words(len(edges))} pairs the model's chance is closer to a half than the "
        "share that was won: results of few games are shrunk."
    )
    return f"{before}\n\n{table(header, rows)}\n\n{after}"


def changes_sentences(scope: Scope) -> str:
    """Return who became stronger, and whether matchups changed."""
    changes, name = scope["changes"], namer(scope, "legacy")
    if not changes.items:
        return prose(f"In Legacy: {changes.note}")
    sure = sum(change.sure for change in changes.items)
    matchups = sum(change.sure for change in changes.matchups)
    nearest = [
        f"{name(c.name)} by {signed(100 * c.change, 1)} points (90 % interval "
        f"{signed(100 * c.low, 1)} to {signed(100 * c.high, 1)})"
        for c in changes.items[:2]
    ]
    which = in_words(sure) if sure else "none"
    return prose(
        f"In Legacy, between {changes.since} and {changes.until}, {which} of {len(changes.items)} "
        f"archetypes and {in_words(matchups)} matchups clearly changed (`legacy.changes()`). "
        f"The surest changes in mean win chance are {listed(nearest)}.",
        changes.note,
    )


def ranking_sentences(scope: Scope) -> str:
    """Return the nearest ranking, and what it loses."""
    ranking, name = scope["ranking"], namer(scope)
    leading = [name(item) for item in ranking.order[:ROWS]]
    return prose(
        f"The nearest ranking of Modern (`modern.ranking()`) begins with {listed(leading)}. "
        f"It has the wrong favourite in {ranking.n_upsets} of {ranking.n_pairs:,} pairs "
        f"({percent(ranking.wrong)}). Following it costs {100 * ranking.cost:.2f} percentage "
        "points of win chance, averaged over all pairs. The clearest pairs against it:"
    )


def upsets_table(scope: Scope) -> str:
    """Return the clearest pairs against the ranking."""
    ranking, name = scope["ranking"], namer(scope)
    place = {item: k for k, item in enumerate(ranking.order, 1)}
    rows = [
        [f"{name(u.lower)} ({place[u.lower]})", f"{name(u.higher)} ({place[u.higher]})",
         percent(u.chance), very(u.probability)]
        for u in ranking.upsets[:3]
    ]  # fmt: skip
    header = ["favoured (place)", "over (place)", "chance to win", "probability of being favoured"]
    return table(header, rows)


def equilibrium_table(scope: Scope) -> str:
    """Return the mixture that nothing beats."""
    name = namer(scope)
    rows = [
        [name(s.name), percent(s.weight), f"{percent(s.low)} to {percent(s.high)}",
         percent(s.probability)]
        for s in scope["ranking"].equilibrium[:ROWS]
    ]  # fmt: skip
    return table(["archetype", "weight", "90 % interval", "probability of being in it"], rows)


def equilibrium_sentence(scope: Scope) -> str:
    """Return how well the mixture is known."""
    shares = scope["ranking"].equilibrium
    known = sum(share.low > 0 for share in shares)
    rest = percent(1.0 - sum(share.weight for share in shares[:ROWS]))
    doubt = "Every interval begins at zero: no archetype is certain to belong to the mixture."
    if known:
        doubt = f"Intervals that begin above zero: {in_words(known)} in all."
    return prose(f"The other {rest} are spread over many.", doubt)


def halves_rows(scope: Scope) -> list[list[str]]:
    """Return rows of formats with cycles to try."""
    return [row for row in scope["halves"] if row[2] != "0"]


def halves_table(scope: Scope) -> str:
    """Return how many edges and whole cycles held."""
    rows = [[*row[:3], *row[4:]] for row in halves_rows(scope)]
    header = ["format", "listed at", "cycles", "edges tried", "held", "expected",
              "whole cycles tried", "held", "expected"]  # fmt: skip
    return table(header, rows)


def beyond(row: Sequence[str], place: int) -> float | None:
    """Return by how many deviations more held than was expected; None if nothing was tried."""
    if row[place] == "0":
        return None
    held = float(row[place + 1].strip("% "))
    mean, deviation = (float(part.strip("% ")) for part in row[place + 2].split("±"))
    return (held - mean) / max(deviation, 0.5)  # deviations are rounded


def halves_sentences(scope: Scope) -> str:
    """Return whether what was listed held."""
    rows, said = halves_rows(scope), []
    for what, place in (("edges", 4), ("whole cycles", 7)):
        by = {f"{row[0]} at {row[1]}": beyond(row, place) for row in rows}
        told = {name: z for name, z in by.items() if z is not None}
        below = sum(z < 0 for z in told.values())
        short = [name for name, z in told.items() if z < -CLEAR]
        rest = f"by more than two deviations in {listed(short)}" if short else "none clearly"
        said.append(
            f"Of {what}, fewer held than expected in {in_words(below)} of {in_words(len(told))} "
            f"rows, {rest}."
        )
        if short:
            said.append(
                f"There the first half promises more than it keeps: read probabilities of {what} "
                "as too high. One reason may be that decks of one name change."
            )
    tried = {row[0] for row in rows}
    absent = list(dict.fromkeys(row[0] for row in scope["halves"] if row[0] not in tried))
    if absent:
        said.append(f"In {listed(absent)} the first half alone lists no cycle to try.")
    said.append("The rows at 0.9 are part of those at 0.8, and cycles share edges, so rows are not "
                "separate trials.")  # fmt: skip
    return prose(*said)


def magic_conclusion(scope: Scope) -> str:
    """Return what was found, as a list."""
    told = {name: answer.transitivity() for name, answer in scope["answers"].items()}
    cyclic = [name for name in told if told[name].has_cycles]
    gains = [t.gain for t in told.values() if t.gain is not None]
    cycles, ranking = scope["cycles"], scope["ranking"]
    shares = [told[name].share for name in cyclic]
    first = "* No format is proven to be cyclic."
    if cyclic:
        first = (
            f"* {listed(cyclic)}: there are cycles, and no ranking explains {span(shares)} of the "
            "lasting differences between archetypes."
        )
    worth = (
        f"* That improves forecasts by {min(gains):+.4f} to {max(gains):+.4f} of log loss a game, "
        "where a coin has 0.6931: most of what decides a match is not in the table."
    )
    single = (
        f"* In Modern {in_words(cycles.n_found)} single cycles are listed, and the nearest "
        f"ranking is wrong about {percent(ranking.wrong)} of the pairs. Some of the cycles listed "
        "are false; see above how such lists fared."
    )
    return "\n".join(bullet(line) for line in (first, worth, single))


def namer(scope: Scope, which: str = "modern") -> Callable[[str], str]:
    """Return a function that shortens an archetype's name to its first card, if that is unique."""
    firsts = Counter(first_card(name) for name in scope[which].names)
    return lambda name: first_card(name) if firsts[first_card(name)] == 1 else name


def first_card(name: str) -> str:
    """Return the first card of a name, without its title."""
    return re.split(r"[+,]", name, maxsplit=1)[0]
