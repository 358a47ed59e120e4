"""What eight tables are answered with, kept and compared: that moving code has moved no answer.

    python -m tools.goldens keep FILE      before a change
    python -m tools.goldens compare FILE   after it: what differs, and the ratio of the times

Answers are compared on one machine: another processor may round otherwise, and chains then part.
"""

import hashlib
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import intransit as it

CLOSE = 1e-9


def tables():
    """Yield a name and the games of each table."""
    rng = np.random.default_rng(7)
    yield "metagame", it.datasets.metagame(rng=3)[0]
    names = np.array(["rock", "paper", "scissors"])
    yield "three in a circle", played(rng, names[[0, 1, 2] * 60], names[[2, 0, 1] * 60], 0.75)
    classes = np.repeat(np.arange(3), 3)
    i, j = np.triu_indices(9, 1)
    ahead = (classes[j] - classes[i]) % 3
    chance = np.repeat(np.select([ahead == 1, ahead == 2], [0.7, 0.3], 0.5), 20)
    yield "nine in classes", played(rng, np.repeat(i, 20), np.repeat(j, 20), chance)
    first, second, days = meetings(rng, 12, 3_000)
    scores = rng.normal(size=12)
    plain = 1 / (1 + np.exp(scores[second] - scores[first]))
    yield "one scale", played(rng, first, second, plain, days)
    moving = scores[:, None] + np.cumsum(rng.normal(size=(12, 100)) * 0.15, axis=1)
    gap = moving[first, days] - moving[second, days]
    yield "a drifting scale", played(rng, first, second, 1 / (1 + np.exp(-gap)), days)
    drawn = np.clip(np.round(gap + rng.logistic(size=len(gap))), -3, 3)
    yield (
        "margins and ties",
        it.Games.from_arrays(
            named(first), named(second), (np.sign(drawn) + 1) / 2, days, margins=drawn
        ),
    )
    home = 1 / (1 + np.exp(-gap - 0.5))
    yield "a better side", played(rng, first, second, home, days, sides=np.ones(len(days)))
    few = slice(0, 40)
    yield "few games", played(rng, first[few], second[few], plain[few], days[few])


def meetings(rng, n_items, n_games):
    """Return who met whom on which of 100 days."""
    first = rng.integers(n_items, size=n_games)
    second = (first + rng.integers(1, n_items, size=n_games)) % n_items
    return first, second, np.sort(rng.integers(100, size=n_games))


def named(items):
    """Return numbers as names."""
    return [str(item) for item in items]


def played(rng, first, second, chance, days=None, **more):
    """Return games whose results are drawn."""
    won = (rng.uniform(size=len(first)) < chance).astype(float)
    if days is not None:
        more["times"] = days
    return it.Games.from_arrays(named(first), named(second), won, **more)


def answer(games):
    """Return what is kept of the answer to a table."""
    begin = time.process_time()
    found = it.fit(games, seconds=600, effective=60, rng=5)
    fitted = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        page = found.report(Path(folder) / "page.html", rng=5).read_text(encoding="utf-8")
    said = found.transitivity()
    visible = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return {
        "verdict": said.verdict,
        "p_value": said.p_value,
        "chances": found.matrix().ravel().tolist(),
        "strengths": [one.strength for one in found.rank()],
        "leader": found.rank()[0].name,
        "cycles": [str(cycle) for cycle in found.cycles().found],
        "page": hashlib.sha256(" ".join(visible.split()).encode()).hexdigest(),
        "seconds": [fitted - begin, time.process_time() - fitted],
    }


def compare(kept, now):
    """Return what differs, in words."""
    differs = []
    for key, old in kept.items():
        new = now[key]
        if key == "seconds":
            continue
        if isinstance(old, float) or (isinstance(old, list) and old and isinstance(old[0], float)):
            far = np.abs(np.subtract(old, new)).max() if np.shape(old) == np.shape(new) else np.inf
            if far > CLOSE:
                differs.append(f"{key} by {far:.2g}")
        elif old != new:
            differs.append(f"{key}: {old} is now {new}")
    return differs


def main(way, file):
    """Keep or compare; end with 1 where something differs."""
    kept = {} if way == "keep" else json.loads(Path(file).read_text(encoding="utf-8"))
    differ = 0
    it.fit(next(iter(tables()))[1], seconds=1)  # compiles
    for name, games in tables():
        now = answer(games)
        if way == "keep":
            kept[name] = now
            print(f"{name}: {now['verdict']}, {now['seconds'][0]:.1f} s")
            continue
        differs = compare(kept[name], now)
        differ += bool(differs)
        ratio = [new / old for new, old in zip(now["seconds"], kept[name]["seconds"], strict=True)]
        print(
            f"{name}: {'; '.join(differs) or 'the same'}; "
            f"fit {ratio[0]:.2f}, page {ratio[1]:.2f} times as long"
        )
    if way == "keep":
        Path(file).write_text(json.dumps(kept), encoding="utf-8")
    return int(differ > 0)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in {"keep", "compare"}:
        sys.exit("python -m tools.goldens keep|compare FILE")
    sys.exit(main(*sys.argv[1:]))
