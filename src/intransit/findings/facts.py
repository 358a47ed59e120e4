"""The three facts that are told first, beside the verdict; made from records, a line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from intransit.answers.answer import FittedTable
from intransit.answers.forecast import Standing
from intransit.answers.found import Changes, Cycles, Ranking
from intransit.answers.items import largest_group, present
from intransit.answers.standings import find_standings
from intransit.answers.verdict import HOPELESS, Transitivity
from intransit.findings.content import Fact
from intransit.findings.wording import Strength, brief
from intransit.percent import estimate, percent, points
from intransit.tables.reading import plural

NAMED = 3  # items of a mixture
LEAST_WEIGHT = 0.05  # of an item in a mixture, to be named
SURE_WEIGHT = 0.95  # from which a mixture is one item


@dataclass(frozen=True)
class Board:
    """All items by strength at the end, and who of them may be said to lead."""

    standings: tuple[Standing, ...]
    still: tuple[bool, ...]  # whether each was still being compared
    leaders: tuple[Standing, ...]  # those still compared, and connected by comparisons
    among: str  # who the leaders are, in words, where the first two are not the first two of all

    @classmethod
    def of(cls, answer: FittedTable, level: float) -> "Board":
        """Rank everybody."""
        there = present(answer, answer.seen.end)
        group = largest_group(answer, there)
        names = {answer.names[k] for k in group} if len(group) > 1 else set()
        standings = find_standings(answer, answer.when(), level)
        leaders = [one for one in standings if one.name in names]
        among = ""
        if standings[:2] != leaders[:2]:
            apart = len(np.unique(answer.posterior.groups)) > 1
            among = (
                "Of the largest group that comparisons connect"
                if apart
                else "Of those still being compared"
            )
        still = tuple(bool(there[answer.number(one.name)]) for one in standings)
        return cls(tuple(standings), still, tuple(leaders), among)

    @property
    def clear(self) -> bool:
        """Whether the first leader is first beyond doubt: it has no worse rank than its own."""
        return len(self.leaders) > 1 and self.leaders[0].rank_high <= self.leaders[0].rank

    @property
    def strengths(self) -> dict[str, Strength]:
        """Strengths of the leaders with their intervals, by name, the strongest first."""
        return {one.name: (one.strength, one.low, one.high) for one in self.leaders}


def tell_facts(
    verdict: Transitivity,
    cycles: Cycles,
    ranking: Ranking,
    changes: Changes | None,
    leaders: Sequence[Standing],
    *,
    clear: bool = False,
) -> tuple[Fact, Fact, Fact]:
    """Return the three facts: of cycles where there are some, else of who leads.

    `clear` is whether the first of the leaders is first beyond doubt.
    """
    if verdict.has_cycles:
        return _share(verdict), _surest(cycles), _mixture(ranking)
    third = _games(verdict) if verdict.verdict == "too little data" else _share(verdict)
    return _leader(leaders, clear), _changed(changes) or _closest(leaders), third


def _share(verdict: Transitivity) -> Fact:
    share, between = estimate(verdict.share, verdict.share_low, verdict.share_high)
    return Fact(
        "No single scale explains",
        share,
        f"of the differences between items ({percent(verdict.level)} interval {between})",
    )


def _surest(cycles: Cycles) -> Fact:
    if not len(cycles):
        return Fact("Single cycles", "none is sure", "though there are some: see the heat map")
    best = cycles.found[0]
    way = " › ".join(brief(name) for name in (*best.items, best.items[0]))
    n = cycles.n_found
    listed = "the only one listed" if n == 1 else f"the surest of {n:,}"
    if best.probability < cycles.level:
        listed = "the likeliest"
    return Fact("A cycle", way, f"probability {cycles.sure(best)}, {listed}; › is “beats”")


def _mixture(ranking: Ranking) -> Fact:
    shares = [share for share in ranking.equilibrium if share.weight >= LEAST_WEIGHT][:NAMED]
    if not shares:
        return Fact("In place of a best item", "a mixture of many", "that nothing beats on average")
    if shares[0].weight > SURE_WEIGHT:
        return Fact(
            "Best all the same", brief(shares[0].name), "nothing beats it on average, nearly surely"
        )
    named = ", ".join(f"{brief(share.name)} {percent(share.weight)}" for share in shares)
    rest = 1.0 - sum(share.weight for share in shares)
    more = f"; {percent(rest)} are others" if rest >= LEAST_WEIGHT else ""
    return Fact("In place of a best item", named, f"a mixture that nothing beats on average{more}")


def _leader(leaders: Sequence[Standing], clear: bool) -> Fact:
    if not leaders:
        return Fact("Nobody leads", "–", "no two items are connected by comparisons")
    best = leaders[0]
    value, between = estimate(best.strength, best.low, best.high)
    return Fact(
        "Leads" if clear else "Comes first, not clearly",
        brief(best.name),
        f"beats the others with a mean chance of {value} (90 % interval {between})",
    )


def _closest(leaders: Sequence[Standing]) -> Fact:
    if len(leaders) < 2:
        return Fact("Second", "–", "there is nobody else to compare")
    second = leaders[1]
    value, between = estimate(second.strength, second.low, second.high)
    return Fact("Second", brief(second.name), f"with {value} (90 % interval {between})")


def _changed(changes: Changes | None) -> Fact | None:
    sure = [] if changes is None else [item for item in changes.items if item.sure]
    if changes is None or not sure:
        return None
    best = sure[0]
    change, between = points(best.change, best.low, best.high)
    more = f"; {len(sure) - 1} more changed" if len(sure) > 1 else ""
    return Fact(
        f"Changed most surely since {changes.since}",
        f"{brief(best.name)} {change}",
        f"points of mean chance (90 % interval {between}){more}",
    )


def _games(verdict: Transitivity) -> Fact:
    each = verdict.n_games / verdict.n_pairs if verdict.n_pairs else np.nan
    told = f"{each:,.1f} for each of the {plural(verdict.n_pairs, 'pair')} that met"
    if verdict.n_pairs == 1:
        told = "of the one pair that met"
    if isfinite(verdict.detectable) and verdict.detectable < HOPELESS:
        told += f"; cycles might be missed below {percent(verdict.detectable)} of the differences"
    return Fact("What there is", plural(round(verdict.n_games), "game"), told)
