"""From a table of results to an answer, with nothing to set."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from intransit.analysis.ranking import connected_at_the_end
from intransit.analysis.strict_order import EDGE, Cyclicity, as_edge, look_for_cycles
from intransit.analysis.transitivity import Evidence, examine
from intransit.analysis.verdict import DOUBTED, LEVEL, Transitivity, judge
from intransit.answer import Answer
from intransit.checks import check_report, open_seed, shown
from intransit.data.games import Games
from intransit.data.reader import read
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.draws import Summary
from intransit.inference.observations import MOMENTS, Encoding, Seen, check_model, model_for
from intransit.inference.posterior import Posterior
from intransit.inference.sampling import Effort, Report
from intransit.inference.table_posterior import draw_posterior
from intransit.model import Levels, Model, OutcomeLaw, Readings, Scores, Side, Wins
from intransit.model.terms import Term
from intransit.percent import percent
from intransit.study import decompose
from intransit.tasks import check_ray, one_thread

if TYPE_CHECKING:
    from intransit.inference.shards.workers import Placement

MOST_SHARED = 100  # items, and draws, for the model's own share of cycles
EFFORT = Effort()


@one_thread
def fit(
    games: object,
    *,
    model: Model | Term | None = None,
    law: OutcomeLaw | None = None,
    edge: float = EDGE,
    effective: float = EFFORT.effective,
    seconds: float = EFFORT.seconds,
    chains: int = EFFORT.chains,
    rng: int = 0,
    report: Report = lambda _: None,
    on: str | None = None,
    workers: int | None = None,
    keep: str | Path | None = None,
) -> Answer:
    """Find out who beats whom, how it changes, and how sure that is.

    One model with every term (scores, factors, effects of pairs, what a side is worth, all of them
    drifting) is drawn from its whole posterior; a term that the data do not need shrinks away.

    Parameters
    ----------
    games
        What `read` returned, or anything that `read` takes.
    model
        A sum of terms, such as ``Scores() + PairEffects()``; by default every term that the table
        can have, with a `By` for every covariate it was read with.
    law
        How results follow from margins: `Wins`, `Levels` or `Readings`; by default levels of
        victory where the table has ties or margins, else wins.
    edge
        Chance that every step of a cycle must exceed for the verdict to be "cycles"; another one
        can be asked of the answer, ``answer.transitivity(edge=0.55)``.
    effective
        Effective draws that the chance of every pair is to have.
    seconds
        Most seconds to draw for.  A table that would need more has its scales from a part of the
        items and its states by Newton's method; the answer says so.
    chains
        Number of chains, side by side on the cores.
    rng
        Seed.  The same seed gives the same answer, unless time ends the drawing.
    report
        Called with a few words at every stage of long work.
    on
        Where states are found: here by default, or by workers of Ray, ``"ray"`` on this machine or
        ``"ray://host:port"`` (``pip install 'intransit[ray]'``; see docs/scale.md).
    workers
        How many workers, with `on`; by default one for each processor that Ray has.
    keep
        Folder for what workers need, with `on`.  A fit that was stopped goes on from there when it
        is asked for again.

    Returns
    -------
    Answer
        ``probability``, ``matrix``, ``rank``, ``update``, ``save``, ``summary``, and more.

    Examples
    --------
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["rock", "paper", "scissors"] * 20,
    ...                              ["scissors", "rock", "paper"] * 20, [1, 1, 1] * 20)
    >>> answer = it.fit(games)
    >>> float(answer.probability("paper", "rock")) > 0.8
    True
    """
    table = games if isinstance(games, Games) else read(games)
    if law is not None and not isinstance(law, Wins | Levels | Readings):
        raise InputError(f"law: {shown(law)} was given; give Wins(), Levels() or Readings().")
    edge, rng = as_edge(edge), open_seed(rng)
    check_report(report)
    placement = _placement(on, workers, keep)
    if len(table) == 0:
        raise InputError("games: there is no game to learn from; check the filter that was given.")
    effort = Effort(effective, seconds, chains)
    chosen = model_for(table) if model is None else model
    if isinstance(chosen, Term):
        chosen = Model((chosen,))
    check_model(chosen, table)
    fine = Encoding.of(table)
    report("testing for cycles")
    evidence = examine(table, fine, rng=rng)
    encoding = Encoding.of(table, law=law, finest=MOMENTS)
    if not encoding.sided and len(chosen.terms) > 1:
        chosen = chosen.without(Side)
    posterior = draw_posterior(
        encoding.observations(table),
        chosen,
        encoding.law if law is None else law,
        effort,
        rng=np.random.default_rng(rng),
        report=report,
        placement=placement,
    )
    n_games = float(table.counts.sum())
    answer = Answer(
        names=table.names,
        posterior=posterior,
        clock=table.clock,
        encoding=encoding,
        story=tuple(tell(table, encoding, posterior)),
        source=table.report.source,
        seen=Seen.of(table),
        transitive=_judge(evidence, posterior, n_games, None),
        reading=table.report,
        games=table,
    )
    if evidence.p_value >= DOUBTED or not chosen.is_cyclic:
        return answer
    report("looking for cycles")
    cycle = look_for_cycles(
        posterior,
        connected_at_the_end(answer),
        float(answer.seen.end),
        edge=edge,
        dispersion=evidence.dispersion,
        rng=rng,
    )
    return replace(answer, transitive=_judge(evidence, posterior, n_games, cycle))


def _placement(on: str | None, workers: int | None, keep: str | Path | None) -> "Placement | None":
    """Return where states are to be found; None for here."""
    if on is not None:
        check_ray(on)
        from intransit.inference.shards.workers import Placement  # noqa: PLC0415  loaded if asked for

        placement = Placement(on, workers, None if keep is None else Path(keep))
        placement.n_shards()  # connects, so that what cannot be is said before any work
        return placement
    if workers is not None or keep is not None:
        name = "workers" if workers is not None else "keep"
        raise InputError(f'{name}: it belongs to on="ray", which was not given; give both or none.')
    return None


def _judge(
    evidence: Evidence, posterior: Posterior, n_games: float, cycle: Cyclicity | None
) -> Transitivity:
    """Return the verdict; where pairs never met again, the model says how cyclic they are."""
    modelled = None
    if not evidence.is_measured and posterior.layout.model.is_cyclic:
        modelled = cyclic_share(posterior, LEVEL)
    return judge(evidence, n_games, evidence.gain, modelled, cycle)


def cyclic_share(posterior: Posterior, level: float) -> Summary:
    """Return the share of the margins' mean square at the end that no ranking explains."""
    few = posterior.thinned(MOST_SHARED)
    items = np.arange(few.n_items)
    if len(items) > MOST_SHARED:
        games = np.bincount(few.layout.seen.pairs.ravel(), np.repeat(few.layout.seen.counts, 2))
        items = np.sort(np.argsort(-games, kind="stable")[:MOST_SHARED])
    drawn = few.matrices(items, float(few.axis[-1]))
    values = np.array([1.0 - decompose(X).transitive_share for X in drawn])
    return Summary.of(values, float(values.mean()), level)


def tell(games: Games, encoding: Encoding, posterior: Posterior) -> list[str]:
    """Return what was fitted, and how, line by line."""
    said = [f"{plural(int(games.counts.sum()), 'game')} as {_outcomes(encoding)}."]
    said.append(f"Model: {posterior.layout.model}.")
    said += [posterior.story, *tell_scales(posterior)]
    if encoding.step and posterior.layout.model.moves:
        said.append(f"Times are told apart to {encoding.step:.3g} days.")
    if encoding.loss == "ordered" and posterior.draws.cuts[:, 0].any():
        ties = np.tanh(0.5 * posterior.draws.cuts[:, 0]).mean()
        said.append(f"Between equals {percent(float(ties))} of games are ties.")
    if encoding.sided and posterior.layout.model.term(Side) is not None:
        worth = posterior.side_worth(posterior.axis[-1:])[:, 0]
        edge = float(posterior.results(worth[:, None]).mean())
        said.append(f"The better side is worth {worth.mean():+.2f}: {percent(edge)} for equals.")
    return said


def tell_scales(posterior: Posterior) -> list[str]:
    """Say how large each part is, and how much it moves."""
    d, root = posterior.draws, np.sqrt(posterior.layout.span)
    parts = [f"scores {np.median(d.scales[:, 0]):.2f}"]
    if posterior.layout.model.term(Scores) is None:
        parts = []
    planes = np.median(np.sort(d.scales[:, 1:] ** 2, axis=1)[:, ::-1], axis=0)
    parts += [f"factor {k + 1} {size:.2f}" for k, size in enumerate(planes)]
    for k, one in enumerate(posterior.layout.numbers):
        if not isinstance(one.term, Side):
            name = str(one.term).removeprefix("drifting ")
            parts.append(f"{name} {np.median(d.number_scales[:, k]):.2f}")
    said = [f"Size of each part, in units of a margin: {', '.join(parts)}."]
    if posterior.layout.model.moves and posterior.layout.model.term(Scores) is not None:
        moved = float(np.median(d.walks[:, 0])) * root
        said.append(f"Scores move by about {moved:.2f} over the whole time.")
        kept = np.exp(-d.reversions[:, 0] * posterior.layout.span)
        if np.quantile(kept, 0.9) < 0.5:  # hardly any draw keeps half of a lead to the end
            share = percent(float(np.median(kept)))
            said.append(f"They return to the mean: of a lead {share} would be left at the end.")
    if posterior.layout.newcomer.any() and not posterior.layout.newcomer.all():
        low, high = np.quantile(d.newcomers, [0.05, 0.95])
        said.append(
            f"Newcomers are worth {d.newcomers.mean():+.2f} beside those there from the start "
            f"(90 % interval {low:+.2f} to {high:+.2f})."
        )
    return said


def _outcomes(encoding: Encoding) -> str:
    if encoding.loss == "squared":
        return "readings of margins"
    if encoding.edges:
        sizes = ", ".join(f"{edge:g}" for edge in encoding.edges)
        return f"levels of victory (clearer from {sizes})"
    return "wins, ties and losses" if encoding.loss == "ordered" else "wins and losses"
