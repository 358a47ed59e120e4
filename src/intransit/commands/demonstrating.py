"""`intransit demo`: two tables with a known truth, what is found in them, and a report."""

from pathlib import Path

from intransit.answers.saving import write_whole
from intransit.commands.files import quoted
from intransit.commands.output import Output, open_console, to_csv, working
from intransit.commands.simulating import game_rows
from intransit.core.inputs import as_whole
from intransit.datasets import metagame


def demo(*, out: Path = Path("demo"), seed: int = 0) -> None:
    """Recover the Pokémon type chart from a part of it, and report on a metagame of known truth.

    Parameters
    ----------
    out
        Folder for the table, the picture and the page; made if missing.
    seed
        Seed of what is hidden of the chart, of its noise, and of the fits.
    """
    from intransit.render.demo import recover_chart, report_metagame  # noqa: PLC0415  when needed

    seed = as_whole("--seed", seed, least=0)
    out.mkdir(parents=True, exist_ok=True)
    output, console = Output(), open_console()
    with working("recovering the type chart"):
        recover_chart(out / "pokemon.png", console, seed=seed)
    games, truth = metagame()
    table, page = out / "metagame.csv", out / "metagame.html"
    write_whole(table, to_csv(game_rows(games)).encode())
    n_games, end = int(games.counts.sum()), games.clock.to_text(games.times[-1])
    output.say(
        "",
        f"A simulated metagame: {n_games:,} matches of {games.n_items} decks to {end}, in {table}.",
    )
    with working("fitting the metagame"):
        found = report_metagame(table, page, truth, console, seed=seed)
    output.say(*found.sentences)
    output.say(f"The page is {page}; try {quoted('intransit', 'fit', table)} too.")
