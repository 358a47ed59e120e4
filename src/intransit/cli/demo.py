"""`intransit demo`: two tables whose truth is known, what is found, and how near it comes."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from rich.table import Table

from intransit.analysis.cycles import ItemCycle
from intransit.answer import fit
from intransit.arrays import FloatArray
from intransit.checks import as_whole, write_whole
from intransit.cli.inputs import quoted
from intransit.cli.output import Output, to_csv, working
from intransit.cli.simulate import game_rows
from intransit.datasets import Hidden, Truth, hide, metagame, pokemon_types
from intransit.errors import MissingDependencyError
from intransit.inference.observations import Observations
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Effort
from intransit.inference.table_posterior import draw_posterior
from intransit.inference.trajectory import smooth
from intransit.model import PairEffects, Readings, Scores
from intransit.percent import estimate, percent
from intransit.plotting import load_pyplot
from intransit.report import Findings, gather
from intransit.report.page import write_page
from intransit.study import canonical_planes, count_triangles

SHOWN, NOISE = 0.3, 0.5  # of the type chart
HIDINGS = 5  # ways to hide it that intervals are checked by: one may be lucky


def recover_chart(picture: Path, output: Output, *, seed: int) -> None:
    """Hide most of the type chart, recover it, and say how near that comes to the truth."""
    hidden = hide(pokemon_types(), SHOWN, noise_scale=NOISE, rng=seed)
    chart = hidden.chart
    output.say(
        f"The Pokémon type chart: {len(chart.names)} types, {len(chart.dates)} generations, "
        f"{chart.dates[0][:4]} to {chart.dates[-1][:4]}. {percent(SHOWN)} of the pairs of each "
        f"generation are read, with noise {NOISE:g}; the rest is hidden.",
    )
    path = _recovered(hidden, seed)
    t, i, j = chart.cells.T
    when = t.astype(float)
    drawn = path.margins(i, j, when)
    found = drawn.mean(axis=0)
    ranked = smooth(hidden.timeline, n_factors=0, rng=seed).margin(i, j, when)
    guesses = {
        "nothing, every pair even": np.zeros(len(found)),
        "a ranking: drifting scores alone": ranked,
        "the pair's nearest reading": hidden.nearest_readings(),
        "all readings of all generations": found,
    }
    table = Table("Hidden pairs, from", title_justify="left")
    table.add_column("error", justify="right")
    table.add_column("right favourite", justify="right")
    for name, margins in guesses.items():
        score = hidden.score(margins)
        table.add_row(name, f"{score.error:.2f}", percent(score.favourites))
    output.console.print(table)
    inside = [_inside(hidden, drawn)]
    for other in range(seed + 1, seed + HIDINGS):
        again = hide(chart, SHOWN, noise_scale=NOISE, rng=other)
        inside.append(_inside(again, _recovered(again, other).margins(i, j, when)))
    near, never = (hidden.score(found, k).error for k in (hidden.read_elsewhere, hidden.never_read))
    output.say(
        f"Pairs read in another generation: error {near:.2f}. Pairs never read: {never:.2f}, as "
        f"other pairs do not tell them. 90 % intervals hold {percent(inside[0])} of the hidden "
        f"margins; hidden anew in {HIDINGS} ways, {percent(float(np.mean(inside)))}.",
    )
    _draw(hidden, path, picture, output)


def _recovered(hidden: Hidden, seed: int) -> Posterior:
    """Return the posterior of a chart of which a part was read.

    Effects of pairs, no factors: 18 types are too few for their pairs to tell of each other.
    """
    data = hidden.timeline
    return draw_posterior(
        Observations.of(data.rows, "squared", data.n_items),
        Scores() + PairEffects(),
        Readings(),
        Effort(),
        rng=np.random.default_rng(seed),
    )


def _inside(hidden: Hidden, drawn: FloatArray) -> float:
    """Return the share of 90 % intervals that hold a hidden margin."""
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    truth = hidden.chart.truth
    return float(((low <= truth) & (truth <= high))[~hidden.shown].mean())


def _draw(hidden: Hidden, path: Posterior, picture: Path, output: Output) -> None:
    """Draw the last generation: what was read of it, its truth, and what was recovered."""
    try:
        plt = load_pyplot()
    except MissingDependencyError as error:
        output.say(f"There is no picture: {error}")
        return
    names, last, truth = hidden.chart.names, len(hidden.chart.dates) - 1, hidden.chart.margins[-1]
    seen = np.zeros(truth.shape, dtype=bool)
    _, i, j = hidden.chart.cells[hidden.shown & (hidden.chart.cells[:, 0] == last)].T
    seen[i, j] = seen[j, i] = True
    recovered = path.matrices(np.arange(len(names)), float(last)).mean(axis=0)
    order = np.argsort(canonical_planes(truth, 1)[0].angles)
    ordered = [names[k] for k in order]
    figure, axes = plt.subplots(1, 4, figsize=(15, 4.1), layout="constrained")
    limit = float(np.abs(truth).max())
    panels = {
        "pairs read in the last period": np.where(seen, truth, np.nan),
        "true margins, last period": truth,
        "recovered from all periods": recovered,
    }
    for axis, (title, margins) in zip(axes, panels.items(), strict=False):
        axis.set_title(title, fontsize=11)
        axis.set_facecolor("#eeeeee")
        axis.set_xticks(range(len(names)), ordered, rotation=90, fontsize=7)
        axis.set_yticks(range(len(names)), ordered, fontsize=7)
        image = axis.imshow(margins[np.ix_(order, order)], cmap="RdBu", vmin=-limit, vmax=limit)
    figure.colorbar(image, ax=axes[:3], shrink=0.85, label="margin of row over column")
    upper = np.triu_indices(len(truth), 1)
    read = seen[upper]
    for which, label, colour in ((read, "read", "#777777"), (~read, "not read", "#c1440e")):
        axes[3].plot(truth[upper][which], recovered[upper][which], ".", color=colour, label=label)
    axes[3].axline((0, 0), slope=1, color="black", linewidth=0.8)
    axes[3].set(xlabel="true margin", ylabel="recovered margin")
    axes[3].set_title("all pairs", fontsize=11)
    axes[3].legend(title="in the last period", frameon=False)
    axes[3].set_aspect("equal")
    figure.savefig(picture, dpi=110)
    output.say(f"The picture is {picture}.")


def _truth_table(found: Findings, truth: Truth) -> Table:
    """Compare chances at all moments of the report, and cycles at the last one, with the truth."""
    order = np.array([truth.names.index(name) for name in found.names])
    true = np.array([truth.probabilities(at)[np.ix_(order, order)] for at in found.times])
    off = ~np.eye(len(order), dtype=bool)
    error, even = (
        100 * float(np.sqrt(np.mean((guess - true)[:, off] ** 2))) for guess in (found.chances, 0.5)
    )
    right = float(((found.chances > 0.5) == (true > 0.5))[:, off].mean())
    inside = float(((found.low <= true) & (true <= found.high))[:, off].mean())
    verdict, cycles, X = found.verdict, found.cycles, truth.margins(found.cycles.at)
    n_real = sum(_is_real(cycle, X, truth.names) for cycle in cycles)
    share = "{} ({})".format(*estimate(verdict.share, verdict.share_low, verdict.share_high))
    listed = f"{cycles.n_found} sure, {n_real} of the {len(cycles)} listed real"
    table = Table("", "truth", "found")
    table.add_row("verdict", "cycles", verdict.verdict)
    table.add_row("share that no ranking explains", percent(truth.cyclic_share), share)
    told = f"{error:.1f} ({even:.1f} if all were held even)"
    table.add_row("error of win chances, in points", "", told)
    table.add_row("right favourite", "", percent(right))
    table.add_row("90 % intervals that hold the true chance", percent(0.9), percent(inside))
    table.add_row(f"cycles on {cycles.at}", f"{count_triangles(X):,} of three", listed)
    return table


def _is_real(cycle: ItemCycle, margins: FloatArray, names: Sequence[str]) -> bool:
    """Return whether every edge of a cycle points that way in the truth too."""
    items = [names.index(name) for name in (*cycle.items, cycle.items[0])]
    return all(margins[i, j] > 0 for i, j in pairwise(items))


def demo(*, out: Path = Path("demo"), seed: int = 0) -> None:
    """Recover the Pokémon type chart from a part of it, and report on a metagame of known truth.

    Parameters
    ----------
    out
        Folder for the table, the picture and the page; made if missing.
    seed
        Seed of what is hidden of the chart, of its noise, and of the fits.
    """
    seed = as_whole("--seed", seed, least=0)
    out.mkdir(parents=True, exist_ok=True)
    output = Output()
    with working("recovering the type chart"):
        recover_chart(out / "pokemon.png", output, seed=seed)
    games, truth = metagame()
    table, page = out / "metagame.csv", out / "metagame.html"
    write_whole(table, to_csv(game_rows(games)).encode())
    n_games, end = int(games.counts.sum()), games.clock.to_text(games.times[-1])
    output.say(
        "",
        f"A simulated metagame: {n_games:,} matches of {games.n_items} decks to {end}, in {table}.",
    )
    with working("fitting the metagame"):
        found = gather(fit(table, rng=seed), rng=seed)
        write_whole(page, write_page(found).encode())
        output.console.print(_truth_table(found, truth))
    output.say(*found.sentences)
    output.say(f"The page is {page}; try {quoted('intransit', 'fit', table)} too.")
