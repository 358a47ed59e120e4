"""From a table of results to an answer, with nothing to set: who beats whom, when, how sure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from intransit.analysis import FittedTable, Item, numbered_after, standings
from intransit.analysis.cycles import find_cycles, find_ranking
from intransit.analysis.standings import find_changes
from intransit.analysis.transitivity import Evidence, discount, examine, likeness
from intransit.analysis.verdict import (
    DOUBTED,
    EDGE,
    Transitivity,
    as_edge,
    at_edge,
    judge,
    look_for_cycles,
)
from intransit.arrays import LEVEL, FloatArray, described, mean_and_interval
from intransit.checks import (
    as_path,
    check_report,
    open_place,
    open_rng,
    open_seed,
    replacing,
    shown,
    write_whole,
)
from intransit.data import read
from intransit.data.games import Covariate, Games, check_games
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.observations import Encoding, Seen, check_model, model_for, n_moments
from intransit.inference.posterior import Posterior, Summary
from intransit.inference.sampling import Effort, Report
from intransit.inference.table_posterior import draw_posterior, update_posterior
from intransit.model import Levels, Model, OutcomeLaw, Readings, Scores, Side, Wins
from intransit.model.terms import Term
from intransit.percent import estimate, percent, signed
from intransit.study import decompose
from intransit.tasks import check_ray, one_thread

if TYPE_CHECKING:
    from intransit.inference.shards.workers import Placement

SHOWN = 12  # items in a summary
MOST_SHARED = 100  # items, and draws, for the model's own share of cycles
ROUNDING = 1e-6  # of the number of games
SPREAD = (0.05, 0.5, 0.95)  # quantiles: an interval of 90 %, and the middle
# Low end over the middle of a size that may be 0, at most.  In 16 tables of scores that stood still
# it was 0.19 to 0.49; of scores that moved by 1 it was above in 11 of 16, the others small ones.
UNMOVED = 0.5
ANYTHING = 10.0  # sizes of the scores that they may drift by: with more nothing is known of it
UNEVEN = 1.0  # jumps from which on paths differ in what they cover by as much as its mean
EFFORT = Effort()
OF_FIGURES = """
Returns
-------
matplotlib.figure.Figure
    The figure.

Raises
------
InputError
    {}
MissingDependencyError
    If matplotlib is not installed.
"""
F = TypeVar("F", bound=Callable[..., Any])


def _figures() -> Any:
    """Return what draws; it loads when a picture is asked for."""
    from intransit.report import figures  # noqa: PLC0415

    return figures


def _figure(refused: str) -> Callable[[F], F]:
    """Say in the docstring of a method what every figure returns, and what this one refuses."""

    def document(method: F) -> F:
        method.__doc__ = f"{cleandoc(method.__doc__ or '')}\n{OF_FIGURES.format(refused)}"
        return method

    return document


@described
@dataclass(frozen=True, eq=False)
class Answer(FittedTable):
    """What `fit` found: forecasts, and whatever else can be asked of a fitted table.

    Items go by name or number, times by date or number, as in the table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import intransit as it
    >>> games = it.Games.from_arrays(["rock", "paper", "scissors"] * 20,
    ...                              ["scissors", "rock", "paper"] * 20, [1] * 60)
    >>> answer = it.fit(games, effective=10, seconds=2)
    >>> answer.names, answer.n_games
    (('paper', 'rock', 'scissors'), 60.0)
    >>> answer.matrix().shape
    (3, 3)
    >>> bool(answer.probability("rock", "scissors").low > 0.5)
    True
    >>> print(answer.transitivity().title)
    There are cycles
    >>> answer.summary().splitlines()[0]
    'arrays: 3 items'

    Further games, and a file that keeps the answer:

    >>> further = answer.update(it.Games.from_arrays(["rock"], ["well"], [0]))
    >>> further.names, further.n_games
    (('paper', 'rock', 'scissors', 'well'), 61.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = it.Answer.load(further.save(Path(folder) / "rounds.fit"))
    >>> again.names == further.names
    True
    """

    rank = standings.find_standings
    only = standings.choose_part
    most_played = standings.most_played
    cycles = find_cycles
    changes = find_changes
    ranking = find_ranking
    matrix_frame = standings.matrix_frame
    rank_frame = standings.rank_frame
    path_frame = standings.path_frame
    to_arviz = standings.to_arviz
    _repr_html_ = standings.html

    @_figure("If the time cannot be read.")
    def figure_cycles(self, at: object = None) -> Any:
        """Draw the surest cycles as a graph.

        Arrows go from who is favoured, with the chance of winning; at most six cycles and twelve
        items.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        """
        return _figures().draw_cycles(self.cycles(at))

    @_figure("If the time cannot be read, or there are too many items for a matrix.")
    def figure_discs(self, at: object = None) -> Any:
        """Draw who counters whom, beyond what strengths say.

        Each item is favoured over those anticlockwise of it, most over those a quarter turn ahead.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        """
        return _figures().draw_discs(self, at)

    @_figure("If all games are at one time, or `since` is not before `until`.")
    def figure_changes(self, since: object = None, until: object = None) -> Any:
        """Draw what changed between two times, with intervals.

        Parameters
        ----------
        since, until
            The times, by default the first and the last one of the table.
        """
        return _figures().draw_changes(self.changes(since, until))

    @_figure("If the time cannot be read.")
    def figure_equilibrium(self, at: object = None) -> Any:
        """Draw the mixture that nothing beats, with intervals.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        """
        return _figures().draw_equilibrium(self.ranking(at))

    @_figure("If an item does not occur, fewer than two were given, or the time cannot be read.")
    def figure_matrix(self, at: object = None, items: Sequence[Item] | None = None) -> Any:
        """Draw who beats whom as a heat map.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        items
            Items by name or number; by default the 20 of most assured strength.
        """
        return _figures().draw_matrix(self, at, items)

    @_figure("If all games are at one time, an item does not occur, or none was given.")
    def figure_strengths(self, items: Sequence[Item] | None = None) -> Any:
        """Draw strengths over time, with bands.

        Parameters
        ----------
        items
            Items by name or number; by default the eight of most assured strength.
        """
        return _figures().draw_strengths(self, items)

    @_figure("If all games are at one time, an item does not occur, or both are the same.")
    def figure_head_to_head(self, first: Item, second: Item) -> Any:
        """Draw the history of two items, and what to expect.

        Parameters
        ----------
        first, second
            The two items, by name or number.
        """
        return _figures().draw_head_to_head(self, first, second)

    def report(
        self, place: str | Path, *, backtest: Any = None, title: str | None = None, rng: int = 0
    ) -> Path:
        """Write what was found as one page of HTML, whole or not at all, and return where it is.

        Parameters
        ----------
        place
            The file to write.
        backtest
            What `intransit.backtest.backtest` found; without it a quick look back is made, if the
            answer still has its games.
        title
            What the page calls the table; by default the name of its file.
        rng
            Seed.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            If `place` is a folder or lies in none, or `title` or `backtest` is of another kind.
        """
        from intransit.backtest import Backtest  # noqa: PLC0415  (all load when a page is asked for)
        from intransit.report import gather  # noqa: PLC0415
        from intransit.report.page import write_page  # noqa: PLC0415

        where = open_place(place)
        if title is not None and not isinstance(title, str):
            raise InputError(f"title: {shown(title)} was given; give a text.")
        if backtest is not None and not isinstance(backtest, Backtest):
            raise InputError(
                f"backtest: {shown(backtest)} was given; give what `backtest` returned."
            )
        rng = open_seed(rng)
        findings = gather(self.most_played(), ladder=backtest, title=title, rng=rng)
        write_whole(where, write_page(findings).encode())
        return where

    def transitivity(self, *, edge: float | None = None) -> Transitivity:
        """Return whether there are cycles, in words and numbers; ``print`` it.

        It was tested when the answer was fitted; games of an `update` are not in it.

        Parameters
        ----------
        edge
            Chance that every step of a cycle must exceed, at least a half; by default that of the
            fit.  Another one is asked of the draws, in a second or two.

        Returns
        -------
        Transitivity
            ``verdict``, ``sentence``, ``p_value``, ``share``, and more.

        Raises
        ------
        InputError
            If `edge` does not lie from 0.5 to below 1.
        """
        cycle = self.transitive.cycle
        edge = None if edge is None else as_edge(edge)
        if edge is None or cycle is None or edge == cycle.edge:
            return self.transitive
        few = self.most_played()
        again = look_for_cycles(
            few.posterior,
            standings.present_at_the_end(few),
            self.seen.end,
            edge=edge,
            dispersion=cycle.dispersion,
        )
        return at_edge(self.transitive, again)

    def _check_whole(self, what: str) -> None:
        if self.part is not None:
            raise InputError(
                f"{what}: this is about {self.n_items:,} of {self.part.n_items:,} items; "
                f"{what} the whole answer."
            )

    def update(self, games: Games, *, rng: int = 0, report: Report = lambda _: None) -> "Answer":
        """Return the answer with further games, of old and new items.

        The draws are weighted by how well they predict the new games, while enough of them count;
        otherwise the chains go on from where they are.  The last line of `story` says which.

        Parameters
        ----------
        games
            Further games, as `read` returned them, with the covariates of the first ones.
        rng
            Seed.
        report
            Called with a few words at every stage of long work.

        Returns
        -------
        Answer
            The new answer; this one stays as it is.

        Raises
        ------
        InputError
            If there are no games, their times are of another kind, a covariate or a kind of result
            is not that of the answer, or the answer is about a part of the items.
        """
        check_games(games)
        check_report(report)
        self._check_whole("update")
        clock = self.clock.joined(games.clock)
        if len(games) == 0:
            raise InputError("games: there is no further game; check the filter that was given.")
        again = replace(games, by=self._same_covariates(games))
        known = numbered_after(again, self.names, self.numbers)
        more = self.encoding.observations(discount(known, self.encoding))
        posterior, how = update_posterior(self.posterior, more, rng=open_rng(rng)[0], report=report)
        seen = self.seen.plus(Seen.of(known))
        n, until = plural(int(games.counts.sum()), "further game"), clock.to_text(seen.end)
        line = f"Updated with {n}" + ("" if self.clock.kind == "none" else f", to {until}")
        line += f": {how} The verdict on cycles is still that of the fit."
        story = (*self.story, line, *self._not_learnt(games))
        return replace(
            self,
            names=known.names,
            posterior=posterior,
            clock=clock,
            seen=seen,
            story=story,
            games=None,
            board=None,
        )

    def _not_learnt(self, games: Games) -> list[str]:
        """Say what further games tell that the answer has no term for."""
        said = []
        if self.encoding.loss == "logistic" and games.has_ties:
            said.append("Ties among them count as half a win; a new fit of all games learns them.")
        if not self.encoding.sided and games.sides is not None and games.sides.any():
            said.append("Who had the side is not used; a new fit of all games learns its worth.")
        return said

    def _same_covariates(self, games: Games) -> tuple[Covariate, ...]:
        """Return the covariates in the order of the answer, new values at the end."""
        found = []
        for name, values in self.posterior.layout.seen.values:
            one = next((one for one in games.by if one.name == name), None)
            if one is None:
                raise InputError(
                    f"games: the first table was read with the column {name!r} and this one was "
                    f'not; read it with by="{name}".'
                )
            wide = (*values, *(value for value in one.values if value not in values))
            place = np.array([wide.index(value) for value in one.values] + [-1])
            found.append(Covariate(name, wide, place[one.codes]))
        return tuple(found)

    def save(self, path: str | Path) -> Path:
        """Write the answer to one file, whole or not at all, and return where it is.

        One of very many items, or draws, is written so that it can be asked without being loaded.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            If `path` is a folder or lies in none, or the answer is about a part of the items.
        """
        from intransit.analysis.saving import is_large, write_answer  # noqa: PLC0415  (rare)

        place = open_place(path)
        self._check_whole("save")
        with replacing(place) as file:
            write_answer(file, self, large=self.board is not None or is_large(self))
        return place

    @classmethod
    def load(cls, path: str | Path, *, check: bool | None = None) -> "Answer":
        """Read an answer that `save` wrote; a file that was cut short or altered is refused.

        A large one is not read but opened: what a question needs is read when it is asked.

        Parameters
        ----------
        path
            The file.
        check
            Whether to compare a large file with its checksum, which reads all of it; by default
            those of up to 256 MB.  Small ones always are.

        Returns
        -------
        Answer
            The answer, without its games.

        Raises
        ------
        InputError
            If there is no such file, it may not be read, or it is not what `save` wrote.

        Examples
        --------
        >>> Answer.load("nowhere.fit")
        Traceback (most recent call last):
        intransit.errors.InputError: nowhere.fit: there is no such file.
        """
        from intransit.analysis.saving import read_answer  # noqa: PLC0415  (rare)

        return cls(**read_answer(as_path(path), check=check))

    def summary(self) -> str:
        """Return the answer in a few lines: are there cycles, what was fitted, who leads.

        Returns
        -------
        str
            The lines; the twelve strongest items stand at the end.
        """
        said = (self.transitive.sentence, *self.story)
        lines = [f"{self.source}: {self.n_items} items", *(f"  {line}" for line in said)]
        leading = self.rank(most=SHOWN)
        width = max(len(s.name) for s in leading)
        lines.append("Mean probability of beating the others, with 90 % intervals:")
        lines += [
            f"  {s.rank:>3}  {s.name:<{width}}  {s.strength:.3f}  ({s.low:.3f} to {s.high:.3f})"
            for s in leading
        ]
        return "\n".join(lines)


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
        victory where the table has ties or margins, as many as agree with who wins, else wins.
    edge
        Chance that every step of a cycle must exceed for the verdict to be "cycles"; another one
        can be asked of the answer, ``answer.transitivity(edge=0.55)``.
    effective
        Effective draws that the chance of every pair is to have.
    seconds
        Most seconds to draw for.  A table that would need more is drawn from Newton's solution on,
        with the terms that matter in a part of it; the answer says so.
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

    Raises
    ------
    InputError
        If the table cannot be read or has no game, the model does not fit it, or a setting is out
        of its range.

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
    report("testing for cycles")
    levels = None if table.margins is None else _levels_for(table, rng)
    fine = Encoding.of(table, law=levels)
    counted = discount(table, fine, likeness(table, fine, rng=rng))
    evidence = examine(counted, fine, rng=rng)
    told = levels if law is None else law
    encoding = Encoding.of(table, law=told, finest=n_moments(table, evidence.speed, told))
    if not encoding.sided and len(chosen.terms) > 1:
        chosen = chosen.without(Side)
    posterior = draw_posterior(
        encoding.observations(counted),
        chosen,
        encoding.law if law is None else law,
        effort,
        rng=np.random.default_rng(rng),
        report=report,
        placement=placement,
    )
    answer = Answer(
        names=table.names,
        posterior=posterior,
        clock=table.clock,
        encoding=encoding,
        story=tuple(tell(table, encoding, posterior, levels if law is None else None)),
        source=table.report.source,
        seen=Seen.of(table),
        transitive=_judge(evidence, posterior, float(table.counts.sum())),
        reading=table.report,
        games=table,
    )
    if evidence.p_value >= DOUBTED or not chosen.is_cyclic:
        return answer
    report("looking for cycles")
    cycle = look_for_cycles(
        posterior,
        standings.present_at_the_end(answer),
        float(answer.seen.end),
        edge=edge,
        dispersion=evidence.dispersion,
        rng=rng,
    )
    return replace(answer, transitive=at_edge(answer.transitive, cycle))


def _levels_for(table: Games, rng: int) -> Levels:
    from intransit.backtest.levels import levels_for  # noqa: PLC0415  tables with margins only

    return levels_for(table, rng=rng)


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


def _judge(evidence: Evidence, posterior: Posterior, n_games: float) -> Transitivity:
    """Return the verdict; where pairs never met again, the model says how cyclic they are."""
    modelled = None
    if not evidence.is_measured and posterior.layout.model.is_cyclic:
        modelled = cyclic_share(posterior, LEVEL)
    return judge(evidence, n_games, modelled)


def cyclic_share(posterior: Posterior, level: float) -> Summary:
    """Return the share of the margins' mean square at the end that no ranking explains."""
    few = posterior.thinned(MOST_SHARED)
    items = np.arange(few.n_items)
    if len(items) > MOST_SHARED:
        items = np.sort(np.argsort(-few.layout.seen.played, kind="stable")[:MOST_SHARED])
    drawn = few.matrices(items, float(few.axis[-1]))
    values = np.array([1.0 - decompose(X).transitive_share for X in drawn])
    return Summary.of(values, float(values.mean()), level)


def tell(
    games: Games, encoding: Encoding, posterior: Posterior, levels: Levels | None = None
) -> list[str]:
    """Return what was fitted, and how, line by line; `levels` are those that agree with wins."""
    n = int(games.counts.sum())
    said = [f"{plural(n, 'game')} as {_outcomes(encoding)}."]
    if levels is not None and levels.most < Levels().most:
        so = "sizes of wins are left out" if levels.most == 1 else "fewer sizes are told apart"
        said.append(
            f"How large wins are makes forecasts of who wins worse, or changed in time, so {so}."
        )
    if posterior.layout.seen.has_bare_rates:
        said = [f"{plural(n, 'win rate')}, each as one game."]
    told = posterior.layout.seen.counts.sum() / games.counts.sum()
    if told < 1.0 - ROUNDING:
        total = f"all games count as much as {told * games.counts.sum():,.0f} independent ones."
        if encoding.orders or games.report.worth < 1.0:
            said.append(f"Games of one order, or of one choice, are not independent: {total}")
        elif (games.counts % 1.0).any():
            said.append(
                "Results of large weight vary as those of fewer games would, or consecutive games "
                f"of a pair are alike, so that {total}"
            )
        elif (games.counts > 1.0).any():
            said.append(f"Results of a pair vary more than luck makes them, so that {total}")
        else:
            said.append(
                f"Consecutive games of a pair are so alike that {total} If games are listed more "
                "than once, remove the copies."
            )
    said.append(f"Model: {posterior.layout.model}.")
    unit = "in units of the readings" if encoding.loss == "squared" else "in log odds"
    said += [posterior.story, *tell_scales(posterior, unit)]
    if encoding.step and posterior.layout.model.moves:
        said.append(f"Time resolution: {games.clock.length(encoding.step)}.")
    if encoding.loss == "ordered" and posterior.draws.cuts[:, 0].any():
        ties = mean_and_interval(np.tanh(0.5 * posterior.draws.cuts[:, :1]))
        middle, low, high = (float(end[0]) for end in ties)
        share, between = estimate(middle, low, high)
        said.append(f"Equally strong items tie in {share} of games (90 % interval {between}).")
    for term in posterior.layout.model.by:
        said.append(
            f"Chances and ranks are averaged over {term.column} as in the games, unless a value "
            "is given."
        )
    if encoding.sided and posterior.layout.model.term(Side) is not None:
        worth = posterior.side_worth(posterior.axis[-1:])[:, 0]
        wins = float(posterior.results(worth[:, None]).mean())
        low, high = np.quantile(worth, [SPREAD[0], SPREAD[-1]])
        now = " at the end" if posterior.layout.model.moves else ""
        halves = ", a tie as half a win" if encoding.loss == "ordered" else ""
        said.append(
            f"The better side is worth {signed(worth.mean(), 2)} {unit}{now} (90 % interval "
            f"{signed(low, 2)} to {signed(high, 2)}): between equals, the item that has it wins "
            f"{percent(wins)}{halves}. Chances and ranks are without it."
        )
    return said


def tell_scales(posterior: Posterior, unit: str) -> list[str]:
    """Say how large each part of a margin is, and how much it moves."""
    d, root = posterior.draws, np.sqrt(posterior.layout.span)
    parts = [f"scores {np.median(posterior.widths[:, 0]):.2f}"]
    if posterior.layout.model.term(Scores) is None:
        parts = []
    planes = np.median(np.sort(d.scales[:, 1:] ** 2, axis=1)[:, ::-1], axis=0)
    parts += [f"factor {k + 1} {size:.2f}" for k, size in enumerate(planes)]
    for k, one in enumerate(posterior.layout.numbers):
        if not isinstance(one.term, Side):
            name = str(one.term).removeprefix("drifting ")
            parts.append(f"{name} {np.median(d.number_scales[:, k]):.2f}")
    said = [f"Typical size of each part, {unit}: {', '.join(parts)}."]
    drifting = posterior.layout.model.moves and len(posterior.axis) > 1
    if drifting and posterior.layout.model.term(Scores) is not None:
        kept = np.exp(-d.reversions[:, 0] * posterior.layout.span)
        low, moved, high = np.quantile(_moved(d.walks[:, 0], d.scales[:, 0], kept, root), SPREAD)
        if low >= UNMOVED * moved:
            said.append(
                f"Scores drift by about {moved:.2f} {unit} from the first time to the last (90 % "
                f"interval {low:.2f} to {high:.2f})."
            )
        elif high > ANYTHING * np.median(posterior.widths[:, 0]):
            said.append("How much scores drift cannot be told from these games.")
        else:
            said.append(
                "Scores may not drift at all: with a probability of 95 %, the typical drift from "
                f"the first time to the last is below {high:.2f} {unit}. Single items may move "
                "more."
            )
        if np.quantile(kept, 0.9) < 0.5:  # hardly any draw keeps half of a lead to the end
            share = percent(float(np.median(kept)))
            said.append(
                f"They revert to the mean: {share} of a lead at the start would be left at the end."
            )
        if low >= UNMOVED * moved and np.quantile(d.jumps, 0.1) > UNEVEN:
            said.append("Drift is uneven: a few items or moments account for most of it.")
    if posterior.layout.newcomer.any() and not posterior.layout.newcomer.all():
        low, high = np.quantile(d.newcomers, [0.05, 0.95])
        said.append(
            f"Newcomers start at {signed(d.newcomers.mean(), 2)} {unit}, relative to items there "
            f"from the start (90 % interval {signed(low, 2)} to {signed(high, 2)})."
        )
    scores, tiered = posterior.layout.model.term(Scores), (d.tiers > 0.0).any()
    if tiered and scores is not None and scores.wide:
        said.append(
            "Items mostly met others of like strength, as on a ladder: parts of the field that "
            "hardly meet are much further apart than the items within them. So scores are not "
            "shrunk towards each other, and chances between items far apart are less certain."
        )
    elif tiered:
        said.append(
            "Parts of the field meet rarely, as on a ladder or in leagues: how far apart they are "
            "is estimated too, and known less well than differences within them."
        )
    return said


def _moved(walk: FloatArray, first: FloatArray, kept: FloatArray, root: float) -> FloatArray:
    """Return by how much scores differ at the end from what they were at first, by draw.

    A walk that returns to the mean goes less far than its steps add up to, and forgets where it
    began; `kept` is what it keeps of that.
    """
    back = -np.log(np.clip(kept, 1e-9, 1.0))
    # (1 - kept²) / (2 back), which is 1 where nothing returns
    reach = np.divide(1.0 - kept**2, 2.0 * back, out=np.ones_like(back), where=back > 1e-9)
    return np.asarray(np.sqrt((walk * root) ** 2 * reach + (first * (1.0 - kept)) ** 2))


def _outcomes(encoding: Encoding) -> str:
    if encoding.loss == "squared":
        return "readings of margins"
    if encoding.edges:
        sizes = ", ".join(f"{edge:g}" for edge in encoding.edges)
        return f"levels of victory (clearer from {sizes})"
    return "wins, ties and losses" if encoding.loss == "ordered" else "wins and losses"
