"""From a table of results to an answer, with nothing to set."""

from dataclasses import replace

import numpy as np

from intransit.answers.answer import Answer
from intransit.answers.encoding import Encoding
from intransit.answers.forecast import Tried
from intransit.answers.recipe import Chosen, Model, Report, choose
from intransit.answers.seen import Seen
from intransit.answers.transitive import Evidence, examine
from intransit.answers.verdict import LEVEL, Transitivity, judge
from intransit.core.inputs import as_whole
from intransit.errors import InputError
from intransit.tables import Games, read
from intransit.tables.reading import plural
from intransit.threads import one_thread


@one_thread
def fit(
    games: object,
    *,
    factors: int | None = None,
    pairs: bool | None = None,
    drifting: bool | None = None,
    model: Model | None = None,
    rng: int = 0,
    report: Report = lambda _: None,
) -> Answer:
    """Find out who beats whom, how it changes, and how sure that is.

    Drift, prior, effects of pairs, number of factors, cuts between ties and levels of victory, and
    what a side is worth all come from the data; the answer tells what was chosen and why.

    Parameters
    ----------
    games
        What `read` returned, or anything that `read` takes.
    factors, pairs, drifting
        Leave open (None), or say how many cyclic factors there are, whether every pair has an
        effect of its own, and whether strengths change over time.
    model
        A whole model, such as ``answer.model`` of another answer; nothing is then chosen.
    rng
        Seed.
    report
        Called with a few words at every stage of long work.

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
    if len(table) == 0:
        raise InputError("games: there is no game to learn from; check the filter that was given.")
    if factors is not None:
        factors = as_whole("factors", factors, least=0)
    encoding = Encoding.of(table)
    data = encoding.timeline(table)
    report("testing for cycles")
    evidence = examine(table, encoding, rng=rng)
    if pairs is None and not evidence.is_measured:
        pairs = False  # no pair met again: what is its own cannot be told from luck
    if model is not None:
        report(f"fitting {model.name}")
        chosen = Chosen(model, model.fit(data, encoding.loss, rng), ())
    else:
        chosen = choose(
            data,
            encoding.loss,
            factors=factors,
            pairs=pairs,
            drifting=drifting,
            p_value=evidence.p_value,
            rng=rng,
            report=report,
        )
    return Answer(
        names=table.names,
        model=chosen.model,
        path=chosen.path,
        clock=table.clock,
        encoding=replace(encoding, still=not chosen.model.drifting),
        tried=chosen.tried,
        story=tuple(_story(table, encoding, chosen)),
        source=table.report.source,
        seen=Seen.of(table),
        transitive=_judge(evidence, chosen, float(table.counts.sum())),
        reading=table.report,
        games=table,
    )


def _judge(evidence: Evidence, chosen: Chosen, n_games: float) -> Transitivity:
    """Return the verdict; where pairs never met again, the model says how cyclic they are."""
    modelled = None
    if not evidence.is_measured and (chosen.model.factors or chosen.model.pairs):
        modelled = chosen.path.cyclic_share(level=LEVEL)
    gain = chosen.gain if chosen.model.factors or evidence.gain is None else evidence.gain
    return judge(evidence, n_games, gain, modelled)


def _story(games: Games, encoding: Encoding, chosen: Chosen) -> list[str]:
    """Return what was chosen, and why, line by line."""
    path = chosen.path
    said = [f"{plural(int(games.counts.sum()), 'game')} as {_outcomes(encoding)}."]
    said.append(f"Model: {chosen.model.name}.{_because(chosen.tried)}")
    if encoding.step and chosen.model.drifting:
        said.append(f"Times are told apart to {encoding.step:.3g} days.")
    if path.law.cuts and path.law.cuts[0] > 0:
        said.append(f"Between equals {path.law.ties_of_equals():.0%} of games are ties.")
    if encoding.sided:
        edge = float(path.law.plain(np.zeros(1), np.ones(1), path.scales.noise_scale)[0])
        said.append(f"The better side is worth {path.law.advantage:+.2f}: {edge:.0%} for equals.")
    return [*said, *path.doubts]


def _outcomes(encoding: Encoding) -> str:
    if encoding.edges:
        sizes = ", ".join(f"{edge:g}" for edge in encoding.edges)
        return f"levels of victory (clearer from {sizes})"
    return "wins, ties and losses" if encoding.loss == "ordered" else "wins and losses"


def _because(tried: tuple[Tried, ...]) -> str:
    if not tried:
        return ""
    parts = [
        f"{t.name} {t.gain:+.4f} ± {t.gain_error:.4f}{'' if t.kept else ' (left out)'}"
        for t in tried[1:]
    ]
    if not parts:
        return ""
    return " Gain in log loss of the latest games: " + "; ".join(parts) + "."
