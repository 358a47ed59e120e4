"""`intransit simulate`: a table of games whose truth is known, to try everything on."""

from pathlib import Path
from typing import Annotated

import numpy as np

from intransit.arrays import rows_of
from intransit.checks import as_whole, open_place, write_whole
from intransit.cli.inputs import Flag, quoted
from intransit.cli.output import Output, chosen, facts, to_csv, working
from intransit.data.games import Games
from intransit.datasets import Truth, simulate_games
from intransit.errors import InputError
from intransit.percent import percent

EVERY = 7.0  # days between the moments of a file of truth
TIES = 0.25  # of games between equals, with --ties


def simulate(
    *,
    out: Path | None = None,
    truth: Path | None = None,
    items: int = 20,
    games: int = 10_000,
    days: int = 365,
    cyclic: float = 0.5,
    ties: Annotated[bool, Flag] = False,
    memory: float = 365.0,
    seed: int = 0,
    force: Annotated[bool, Flag] = False,
    output: Output | None = None,
) -> None:
    """Write a table of simulated games, between items that drift and beat each other in cycles.

    Parameters
    ----------
    out
        CSV file for the games: date, first, second, outcome.
    truth
        CSV file for the true probabilities of every pair, week by week.
    items
        How many items there are.
    games
        How many games they play.
    days
        Over how many days, from 2025-01-01 on.
    cyclic
        Share of the margins that no ranking explains, from 0 to 1.
    ties
        Some games end in a tie, a quarter of those between equals.
    memory
        Days after which strengths have mostly changed; less is a faster drift.
    seed
        The same seed gives the same table.
    force
        Replace files that are there already.
    """
    output = chosen(output)
    if out is None and not output.for_machines:
        raise InputError("simulate: say where to write the games, as in --out games.csv.")
    for option, place in (("--out", out), ("--truth", truth)):
        there = place is not None and open_place(place, f"give a file with {option}").exists()
        if there and not force:
            raise InputError(f"{place}: it is there already; choose another place, or add --force.")
    with working(f"simulating {games:,} games"):
        played, known = simulate_games(
            as_whole("--items", items, least=2),
            as_whole("--games", games, least=1),
            n_days=as_whole("--days", days, least=1),
            cyclic=cyclic,
            ties=TIES if ties else 0.0,
            memory=memory,
            rng=as_whole("--seed", seed, least=0),
        )
        rows = game_rows(played)
        if out is not None:
            write_whole(out, to_csv(rows).encode())
        if truth is not None:
            write_whole(truth, to_csv(truth_rows(known)).encode())
    if out is None:
        output.show(rows, rows)
        return
    data: dict[str, object] = {
        "out": str(out),
        "truth": None if truth is None else str(truth),
        "n_items": played.n_items,
        "n_games": len(rows),
        "cyclic": known.cyclic_share,
        "seed": seed,
    }
    told = [("games", f"{len(rows):,} between {played.n_items} items over {days:,} days")]
    share = percent(known.cyclic_share)
    told += [("cyclic", f"{share} of the differences, which no ranking explains")]
    told += [("file", str(out))] + ([("truth", str(truth))] if truth else [])
    told += [("try", quoted("intransit", "fit", out))]
    output.show(data, [data], lambda console: console.print(facts(told)))


def game_rows(games: Games) -> list[dict[str, object]]:
    """Return a row for each game, in order of time."""
    each = np.repeat(np.arange(len(games)), games.counts.astype(np.int64))
    days = {day: games.clock.to_text(day) for day in np.unique(games.times).tolist()}
    return [
        {"date": days[t], "first": games.names[i], "second": games.names[j], "outcome": y}
        for t, i, j, y in rows_of(
            *(column[each] for column in (games.times, games.first, games.second, games.outcomes))
        )
    ]


def truth_rows(truth: Truth) -> list[dict[str, object]]:
    """Return the true probability of every pair at the beginning of each week, and at the end."""
    moments = np.unique(np.append(np.arange(truth.days[0], truth.days[-1], EVERY), truth.days[-1]))
    first, second = np.triu_indices(len(truth.names), 1)
    return [
        {
            "date": truth.clock.to_text(day),
            "first": truth.names[i],
            "second": truth.names[j],
            "probability": p,
        }
        for day in moments.tolist()
        for i, j, p in rows_of(first, second, truth.probabilities(day)[first, second])
    ]
