"""Whether every sentence of a report is true of the report.

Simulated tables of all kinds (orders, circles, ties, sides, counts, times or none, few games or
many, few items or more) are fitted, and what a report says is held against its own numbers.

    python -m benchmarks.consistency            300 tables
    python -m benchmarks.consistency 0.1        a tenth of them
"""

import re
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.special import expit

import intransit as it
from intransit.answer import Answer
from intransit.arrays import FloatArray
from intransit.report import Findings, gather
from intransit.report.page import write_page
from intransit.report.wording import LONGEST, brief, cut_short

N_TABLES = 300
WORKERS = 2
CLOSE = 1e-9
LEADS = 0.95  # weight of an item in the mixture, from which on it leads in nearly all draws
INTERVAL = re.compile(  # after a number: of what is uncertain there is none, and 90 % is its level
    r"([\d.]+) %(?! interval)[^%]{0,60}?(?:interval )?\(?(?:90 % interval )?([\d.]+) to ([\d.]+) %"
)
TAGS = re.compile(r"<script.*?</script>|<style.*?</style>|<[^>]*>", re.DOTALL)


def contradictions(answer: Answer, found: Findings) -> list[str]:
    """Return what a report says that is not true of it, one line each."""
    said = [
        *_of_cycles(found),
        *_of_shares(found),
        *_of_edges(answer, found),
        *_of_leaders(answer, found),
        *_of_intervals(found),
        *_of_counts(found),
        *_of_one_value(answer, found),
    ]
    text = TAGS.sub(" ", write_page(found)).replace("&nbsp;", " ").replace("\xa0", " ")
    text = re.sub(r"\s+", " ", text)
    return said + _of_words(answer, found, text)


def _of_cycles(found: Findings) -> list[str]:
    verdict, cycles, ranking = found.verdict, found.cycles, found.ranking
    told, out = " ".join(found.sentences), []
    if verdict.has_cycles:
        if found.n_items < 3:
            out.append("cycles of fewer than three items")
        if not len(cycles) and not ranking.n_upsets:
            out.append("cycles, and neither one listed nor a pair against the ranking")
        if not len(cycles) and "No single cycle is certain" not in told:
            out.append("no cycle listed, and no word of it")
        top = max((share.weight for share in ranking.equilibrium), default=0.0)
        if top > LEADS and "In place of a best item" in told:
            out.append(f"a mixture in place of an item that has {top:.3f} of it")
        if len(cycles) and (cycles.found[0].probability < cycles.level) == (
            cycles.note.find("no single one has") < 0
        ):
            out.append("a cycle is told as surer, or less sure, than it is listed")
    else:
        if len(cycles):
            out.append(f"{len(cycles)} cycles listed where the verdict is {verdict.verdict!r}")
        if "In place of a best item" in told or found.discs:
            out.append("a mixture or discs without cycles")
    again = verdict.n_series - verdict.n_pairs
    never = "hardly any pair has more" in verdict.sentence or "must meet again" in told
    if verdict.verdict == "too little data" and never and again > 0.1 * verdict.n_pairs:
        out.append(f"hardly any pair met again: {again} series are of pairs that had met")
    return out


def _of_shares(found: Findings) -> list[str]:
    """What is beyond a single scale suits the verdict."""
    verdict, told = found.verdict, found.sentences[0]
    if verdict.verdict == "not one scale" and re.match(r"A single scale leaves 0(\.0)? % ", told):
        return ["not one scale, and nothing beyond one"]
    if verdict.verdict == "no evidence" and verdict.share_low > max(verdict.detectable, 0.0):
        return (
            [] if "another curve" in told else ["more is beyond a single scale than would be found"]
        )
    return []


def _of_edges(answer: Answer, found: Findings) -> list[str]:
    """The chances of listed cycles are those that the answer gives."""
    return [
        f"{one} beats {two}: {chance} listed, {asked} asked"
        for cycle in found.cycles
        for one, two, chance in zip(
            cycle.items, (*cycle.items[1:], cycle.items[0]), cycle.chances, strict=True
        )
        if abs((asked := float(answer.probability(one, two))) - chance) > CLOSE
    ]


def _of_leaders(answer: Answer, found: Findings) -> list[str]:
    return _of_who_leads(found) + _of_how_clearly(answer, found)


def _of_how_clearly(answer: Answer, found: Findings) -> list[str]:
    """Who leads is first in the range of its own rank, but for those it was never compared with."""
    groups = answer.posterior.groups
    told = re.search(r"^(?:Of [^,]*, )?(.*) leads,", found.sentences[1])
    says = [told.group(1)] if told else []
    says += [fact.value for fact in found.facts if fact.title == "Leads"]
    worst = {
        name: one.rank_high - one.rank - int(np.sum(groups != groups[answer.number(one.name)]))
        for one in found.standings
        for name in (brief(one.name), cut_short(one.name, LONGEST))
    }
    return [
        f"{name} leads, and may be {worst[name]} lower" for name in says if worst.get(name, 0) > 0
    ]


def _of_who_leads(found: Findings) -> list[str]:
    told = re.search(
        r"^(?:Of [^,]*, )?(.*) (?:leads|comes first).*ahead of (.*) with", found.sentences[1]
    )
    if told is None:
        return []
    kept = [one.name for one, still in zip(found.standings, found.still, strict=True) if still]
    if "largest group" in found.sentences[1] and told.group(1) in found.names:
        group = dict(zip(found.names, found.together.tolist(), strict=True))
        kept = [name for name in kept if group.get(name) == group[told.group(1)]]
        if list(told.groups()) != kept[:2]:
            return [f"{told.groups()} are said to come first and second of a group; {kept[:2]} do"]
        return []
    if len(kept) > 1 and found.n_items == len(kept) and list(told.groups()) != kept[:2]:
        return [f"{told.groups()} are said to come first and second; listed are {kept[:2]}"]
    return []


def _of_intervals(found: Findings) -> list[str]:
    v, out = found.verdict, []
    parts: list[tuple[str, FloatArray, FloatArray, FloatArray]] = [
        ("chances", found.chances, found.low, found.high),
        ("strengths", found.strengths, found.strengths_low, found.strengths_high),
        ("share", *(np.array([x]) for x in (v.share, v.share_low, v.share_high))),
        (
            "standings",
            *(
                np.array(x)
                for x in zip(*((s.strength, s.low, s.high) for s in found.standings), strict=True)
            ),
        ),
    ]
    if found.changes is not None and found.changes.items:
        columns = zip(*((c.change, c.low, c.high) for c in found.changes.items), strict=True)
        parts.append(("changes", *(np.array(column) for column in columns)))
    for name, middle, low, high in parts:
        if (low > middle + CLOSE).any() or (middle > high + CLOSE).any():
            out.append(f"{name}: an interval does not hold its own value")
    return out


def _of_counts(found: Findings) -> list[str]:
    counted = found.wins + found.wins.T + found.ties
    return [] if np.allclose(counted, found.games) else ["wins and ties do not add up to games"]


def _of_one_value(answer: Answer, found: Findings) -> list[str]:
    """Strength on the page, in `rank` and over time are the same number."""
    ranked = {one.name: one.strength for one in answer.rank()}
    page = [(one.name, one.strength) for one in found.standings]
    page += zip(found.names, found.strengths[:, -1].tolist(), strict=True)
    return [
        f"{name}: strength {strength} on the page, {ranked[name]} by rank"
        for name, strength in page
        if abs(ranked[name] - strength) > CLOSE
    ]


def _of_words(answer: Answer, found: Findings, text: str) -> list[str]:
    out = []
    spoken = " ".join([found.headline, *found.sentences, *found.story, *found.data])
    if answer.clock.kind == "none" and re.search(r"\bdrift", spoken.replace("Nothing drifts", "")):
        out.append("drift in a table without times")
    patterns = (
        r"(?<![\d.,])1 (?:games|pairs|items|rows|cycles)\b",
        r"\d%",
        r"[+−-]?0\.0000 ± 0\.0000",
        r"\bnan\b",
        r"\binf\b",
        r"\bNone\b",
    )
    hits = [hit for pattern in patterns if (hit := re.search(pattern, text)) is not None]
    out += [f"{text[max(hit.start() - 30, 0) : hit.end() + 30]!r}" for hit in hits]
    less = [one for one in found.cycles if one.probability < found.cycles.level]
    if less and "each with a probability of at least" in text:
        out.append(f"{len(less)} cycles are less sure than is said")
    if found.verdict.verdict == "too little data" and "100.0 to 100.0 %" in text:
        out.append("100.0 to 100.0 % beside too little data")
    for value, low, high in INTERVAL.findall(text):
        if not float(low) <= float(value) <= float(high):
            out.append(f"{value} % is not within {low} to {high} %")
    return out


def table(seed: int) -> it.Games:
    """A table of any kind."""
    rng = np.random.default_rng([seed, 17])
    n = int(rng.choice([2, 3, 4, 6, 9, 14]))
    m = max(int(rng.choice([1, 4, 15, 60]) * n * (n - 1) / 2), 3)
    first = rng.integers(n, size=m)
    second = (first + rng.integers(1, n, size=m)) % n
    shape = str(rng.choice(["all", "all", "chain", "islands", "gone"]))
    if shape == "chain":
        second = np.where(first + 1 < n, first + 1, first - 1)
    elif shape == "islands" and n > 3:
        second = first % 2 + 2 * ((first // 2 + 1 + second) % (n // 2))
        first, second = first[first != second], second[first != second]
        m = len(first)
    score = rng.normal(size=n) * rng.choice([0.0, 0.7, 2.0])
    angle = rng.uniform(0, 2 * np.pi, n)
    x = score[first] - score[second]
    x = x + rng.choice([0.0, 0.0, 1.5]) * np.sin(angle[second] - angle[first])
    kind = str(rng.choice(["wins", "ties", "shares", "lopsided", "counts"]))
    won = (rng.random(m) < expit(x)).astype(float)
    counts = None
    if kind == "ties":
        won = np.where(rng.random(m) < 0.3, 0.5, won)
    elif kind == "shares":
        won = np.round(expit(x + 0.1 * rng.normal(size=m)), 2)
    elif kind == "lopsided":
        won = (x > 0).astype(float)
    elif kind == "counts":
        counts = rng.integers(1, 30, m).astype(float)
    times = None if rng.random() < 0.4 else rng.integers(int(rng.choice([1, 4, 200])), size=m) * 1.0
    if shape == "gone" and times is not None:
        times = np.where((first == 0) | (second == 0), 0.2 * times, times)
    sides = rng.choice([-1.0, 1.0], m) if rng.random() < 0.3 else None
    names = np.array([f"item {k}" for k in range(n)])
    return it.Games.from_arrays(
        names[first].tolist(), names[second].tolist(), won, times, counts=counts, sides=sides
    )


def check(seed: int) -> tuple[int, str, list[str]]:
    """Fit and check one table."""
    warnings.simplefilter("ignore")
    answer = it.fit(table(seed), effective=5, seconds=5, rng=seed)
    return seed, answer.transitive.verdict, contradictions(answer, gather(answer))


def main(scale: float = 1.0) -> None:
    verdicts: Counter[str] = Counter()
    wrong = 0
    with ProcessPoolExecutor(WORKERS) as pool:
        for seed, verdict, said in pool.map(check, range(max(int(scale * N_TABLES), 1))):
            verdicts[verdict] += 1
            wrong += bool(said)
            for line in said:
                print(f"table {seed}: {line}")
    print(
        f"{wrong} of {verdicts.total()} reports contradict themselves; verdicts: {dict(verdicts)}"
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
