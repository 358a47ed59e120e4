"""Example findings for tests of the page: a cyclic truth with drift, from a seed."""

from dataclasses import replace

import numpy as np

from intransit.analysis.cycles import Cycles, ItemCycle, Ranking, Share, Upset
from intransit.analysis.standings import Changes, ItemChange, MatchupChange, Standing
from intransit.analysis.verdict import Transitivity
from intransit.report import Disc, Findings, Step
from intransit.report.wording import Fact

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "constructor",
    "__proto__",
    "\"quoted\" & 'apostrophed'",
    "🦊 fox 👩‍👩‍👧‍👦",
    "שלום עולם",
    "right \u202e to left",
    "x" * 500,
    "a\u2028b\u2029c",
    "javascript:alert(3)",
    "${alert(4)} {{7*7}}",
)


def build_findings(n_items=12, n_times=8, *, seed=0, names=None, n_future=3):
    """Return findings of items around a circle that turns slowly, some stronger than others."""
    rng = np.random.default_rng(seed)
    if names is None:
        names = tuple(f"item {place:02d}" for place in range(n_items))
    n_items = len(names)
    total = n_times + n_future
    angle = 2 * np.pi * np.arange(n_items) / n_items + rng.normal(0, 0.2, n_items)
    angle = angle + np.cumsum(rng.normal(0, 0.12, (total, n_items)), axis=0)
    out = rng.uniform(0.3, 1.4, n_items)
    points = np.stack([out * np.cos(angle), out * np.sin(angle)], axis=2)
    score = rng.normal(0, 0.35, n_items) + np.cumsum(rng.normal(0, 0.06, (total, n_items)), axis=0)
    margins = score[:, :, None] - score[:, None, :]
    margins += points[:, :, None, 0] * points[:, None, :, 1]
    margins -= points[:, :, None, 1] * points[:, None, :, 0]
    doubt = 0.25 + 0.25 * np.abs(margins) * 0.3 + np.linspace(0, 0.3, total)[:, None, None]
    chances, low, high = (1 / (1 + np.exp(-m)) for m in (margins, margins - doubt, margins + doubt))
    games = np.triu(rng.poisson(20, (n_items, n_items)) * rng.integers(0, 2, (n_items, n_items)), 1)
    games = (games + games.T).astype(float)
    ties = np.triu(np.minimum(games, 2.0), 1)
    ties = ties + ties.T
    wins = np.rint((games - ties) * chances[n_times - 1])
    wins = np.triu(wins, 1) + np.tril(games - ties - wins.T, -1)
    present = np.ones((n_times, n_items), dtype=bool)
    present[: n_times // 2, -1] = False
    strengths = (chances.sum(axis=2) - 0.5).T / (n_items - 1)
    dated = n_times > 1
    labels = tuple(f"{2022 + k // 12}-{k % 12 + 1:02d}" for k in range(total)) if dated else ("",)
    now = slice(0, n_times)
    return Findings(
        source="battles.csv",
        headline="There are cycles: no ranking explains these results.",
        sentences=(
            f"A quarter of the matrix is beyond any ranking, and {names[0]} is part of it.",
            "The strongest item beats the others 71 % of the time, and still loses to two of them.",
            "Three items became stronger since the start, and two matchups turned round.",
        ),
        facts=(
            Fact("No ranking explains", "26 %", "of the differences (90 % interval 21 to 32 %)"),
            Fact("A cycle", f"{names[0]} › {names[-1]}", "97 % sure"),
            Fact("In place of a best item", f"{names[0]} 48 %", "a mixture that nothing beats"),
        ),
        verdict=build_verdict("cycles"),
        standings=build_standings(names, strengths[:, n_times - 1], dated=dated),
        still=tuple(k % 7 != 6 for k in range(n_items)),
        names=tuple(names),
        n_items=n_items + 5,
        why_shown=f"Shown are the {n_items} items with the most games of {n_items + 5}.",
        times=labels[now],
        moments=np.array(labels if dated else ["2022"], "datetime64[D]").astype(float),
        chances=chances[now],
        low=low[now],
        high=high[now],
        future=labels[n_times:] if dated else (),
        future_chances=chances[n_times:] if dated else chances[:0],
        future_low=low[n_times:] if dated else low[:0],
        future_high=high[n_times:] if dated else high[:0],
        present=present,
        games=games,
        wins=wins,
        ties=ties,
        together=np.zeros(n_items, dtype=np.int64),
        strengths=strengths[:, now],
        strengths_low=np.clip(strengths[:, now] - 0.05, 0, 1),
        strengths_high=np.clip(strengths[:, now] + 0.05, 0, 1),
        discs=(
            Disc(share=0.61, points=points[now]),
            Disc(share=0.22, points=points[now][:, :, ::-1] * 0.4),
        ),
        cycles=_cycles(names, chances[now], labels[now]),
        changes=_changes(names, labels[now]) if dated else None,
        ranking=_ranking(names, chances[n_times - 1], labels[n_times - 1]),
        ladder=(
            Step("always a half", 0.6931, 0.0, float("nan"), float("nan"), 0.5, ""),
            Step("scores that stand still", 0.6712, 0.0031, 0.0219, 0.0030, 0.561, ""),
            Step("scores that drift", 0.6688, 0.0032, 0.0024, 0.0011, 0.572, ""),
            Step("all of it", 0.6391, 0.0035, 0.0297, 0.0028, 0.631, "the model taken"),
        ),
        ladder_notes=("4,000 games were held back, the latest ones.",),
        data=("12,345 rows, 12,301 of them used.", "44 rows have no result and were not used."),
        story=("12,301 games as wins and losses.", "One factor was taken, as it predicts better."),
    )


def build_standings(names, strengths, *, dated=True):
    """Return items by strength, with intervals of a twentieth either way."""
    order = np.argsort(-strengths, kind="stable")
    n = len(names)
    return tuple(
        Standing(
            rank=rank,
            rank_low=max(rank - 2, 1),
            rank_high=min(rank + 3, n),
            name=names[k],
            strength=float(strengths[k]),
            low=float(max(strengths[k] - 0.05, 0.0)),
            high=float(min(strengths[k] + 0.05, 1.0)),
            rating=1500.0 + 900.0 * float(strengths[k] - 0.5),
            rating_low=1450.0 + 900.0 * float(strengths[k] - 0.5),
            rating_high=1550.0 + 900.0 * float(strengths[k] - 0.5),
            games=float(10 * (k + 1)),
            last="2022-08-01" if dated else "",
        )
        for rank, k in enumerate(order.tolist(), 1)
    )


def build_verdict(kind):
    """Return a verdict of a kind, with numbers that fit it."""
    cyclic = kind == "cycles"
    return Transitivity(
        verdict=kind,
        p_value=0.0004 if cyclic else 0.41,
        gain=0.0297 if cyclic else -0.0004,
        gain_error=0.0028 if cyclic else 0.0011,
        share=0.26 if cyclic else 0.01,
        share_low=0.21 if cyclic else 0.0,
        share_high=0.32 if cyclic else 0.04,
        level=0.9,
        detectable=0.03 if kind != "too little data" else 0.6,
        n_games=12301.0,
        n_pairs=66,
        n_series=830,
    )


def calm(findings):
    """Return the findings of a table without cycles."""
    return replace(
        findings,
        headline="No evidence of cycles: one ranking explains these results.",
        verdict=build_verdict("no evidence"),
        cycles=replace(findings.cycles, found=(), n_found=0, note="No cycle is sure enough."),
        discs=(),
    )


def _cycles(names, chances, times):
    """Return the triangles among the first items at the last time, the surest first."""
    n = min(len(names), 12)
    found = []
    for i in range(n):
        for j in range(n):
            for k in range(n):
                edges = chances[:, [i, j, k], [j, k, i]]
                if i < min(j, k) and j != k and edges[-1].min() > 0.55:
                    sure = 1 / (1 + np.exp(-20 * (edges - 0.5)))
                    found.append(
                        ItemCycle(
                            items=(names[i], names[j], names[k]),
                            probability=float(sure[-1].prod()),
                            edges=tuple(sure[-1].tolist()),
                            chances=tuple(edges[-1].tolist()),
                            weakest=int(edges[-1].argmin()),
                            since=times[len(times) // 2],
                            history=tuple(sure.prod(axis=1).tolist()),
                        )
                    )
    found.sort(key=lambda cycle: -cycle.probability)
    return Cycles(times[-1], 0.9, tuple(found[:25]), len(found), 0.04, tuple(times), "")


def _changes(names, times):
    """Return changes of some items, one of them sure to be stronger and one weaker."""
    sizes = [0.12, -0.09, 0.05, -0.03, 0.01][: len(names)]
    items = tuple(
        ItemChange(name, size, size - 0.04, size + 0.04, 0.999 - 0.1 * place, place < 3)
        for place, (name, size) in enumerate(zip(names, sizes, strict=False))
    )
    matchups = (
        MatchupChange(names[0], names[1], 0.21, 0.11, 0.30, 0.998, True),
        MatchupChange(names[1], names[2], -0.08, -0.19, 0.02, 0.88, False),
    )
    return Changes(times[0], times[-1], 0.9, 0.1, items, matchups, 0.34, 0.22, 0.47, "")


def _ranking(names, chances, at):
    """Return the items by mean chance, and the pairs that go against that order."""
    order = np.argsort(-chances.sum(axis=1), kind="stable")
    upsets = [
        Upset(names[low], names[high], float(chances[low, high]), 0.97)
        for place, high in enumerate(order)
        for low in order[place + 1 :]
        if chances[low, high] > 0.5
    ]
    upsets.sort(key=lambda upset: -upset.chance)
    shares = tuple(
        Share(names[item], weight, max(0.0, weight - 0.1), weight + 0.1, 0.95)
        for item, weight in zip(order[:3], (0.48, 0.31, 0.21), strict=False)
    )
    n_pairs = len(names) * (len(names) - 1) // 2
    return Ranking(
        at=at,
        order=tuple(names[item] for item in order),
        upsets=tuple(upsets),
        n_pairs=n_pairs,
        n_upsets=len(upsets),
        wrong=len(upsets) / n_pairs,
        cost=0.041,
        equilibrium=shares,
        level=0.9,
    )
