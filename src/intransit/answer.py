"""The answer to a table of results: who beats whom, when, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from intransit.analysis.changes import find_changes
from intransit.analysis.chosen_items import choose_part
from intransit.analysis.cycles import find_cycles
from intransit.analysis.fitted_table import FittedTable
from intransit.analysis.ranking import (
    MOST_ITEMS,
    N_GAMES,
    connected_at_the_end,
    find_ranking,
    find_standings,
)
from intransit.analysis.results import Changes, Cycles, Ranking, Standing
from intransit.analysis.saving import (
    as_path,
    is_large,
    open_place,
    read_answer,
    replacing,
    write_answer,
    write_whole,
)
from intransit.analysis.strict_order import as_edge, look_for_cycles
from intransit.analysis.verdict import Transitivity, at_edge
from intransit.checks import as_whole, check_report, open_rng, open_seed, shown
from intransit.data.games import Covariate, Games, check_games
from intransit.data.reading import plural
from intransit.errors import InputError
from intransit.inference.draws import reach_of
from intransit.inference.observations import Seen
from intransit.inference.sampling import Report
from intransit.inference.table_posterior import update_posterior

SHOWN = 12  # items in a summary

Item = str | int


def _figures() -> Any:
    """Return what draws; it loads when a picture is asked for."""
    from intransit.report import figures  # noqa: PLC0415

    return figures


def _frames() -> Any:
    """Return what makes frames; it loads when one is asked for."""
    from intransit.analysis import frames  # noqa: PLC0415

    return frames


@dataclass(frozen=True, eq=False)
class Answer(FittedTable):
    """What `fit` found: forecasts, and whatever else can be asked of a fitted table."""

    def rank(
        self, at: object = None, *, level: float = 0.9, begin: int = 1, most: int | None = None
    ) -> list[Standing]:
        """Return all items by their strength, the mean probability of beating the others.

        Against those only that comparisons connect them with, best first; with ratings on a scale
        like Elo's, and the range of each rank.  Where there are cycles this order says less than
        the matrix does.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        level
            Of the intervals.
        begin, most
            A page: from this rank on, and how many; by default all.
        """
        reach_of(level)
        begin = as_whole("begin", begin, least=1)
        most = None if most is None else as_whole("most", most, least=1)
        return find_standings(self, self.when(at), level, begin=begin, most=most)

    def only(
        self,
        items: Sequence[Item] = (),
        *,
        played: int = 0,
        top: int = 0,
    ) -> "Answer":
        """Return the answer about some of the items: those named, the busiest, the strongest.

        Everything can be asked of it that can be asked of an answer: ranks and strengths are then
        among these items, chances are those of the whole, and the verdict on cycles is that of the
        whole table.  It is small, however large the answer is.

        Parameters
        ----------
        items
            Items by name or number.
        played
            How many of those that played most.
        top
            How many of the strongest, at the end.
        """
        return choose_part(self, items, played=played, top=top)

    def most_played(self) -> "Answer":
        """Return the answer, or of one that is asked where it lies those that played most."""
        if self.board is None or self.n_items <= MOST_ITEMS:
            return self
        return self.only(played=MOST_ITEMS)

    def _check_whole(self, what: str) -> None:
        if self.part is not None:
            raise InputError(
                f"{what}: this is about {self.n_items:,} of {self.part.n_items:,} items; "
                f"{what} the whole answer."
            )

    def cycles(
        self,
        at: object = None,
        *,
        level: float = 0.9,
        longest: int = 5,
        most: int = 50,
        gate: bool = True,
    ) -> Cycles:
        """Return the cycles at a time, each with the probability that it is real.

        Of items that comparisons connect and that were being compared about then: from a tenth of
        the table's span before their first game to a tenth after their last.  A cycle is listed
        when all its edges point its way with a probability of `level` or more.  Of more than 400
        items those are searched that played most.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        level
            Probability that a cycle needs to be listed.  Where the verdict is that there are
            cycles and none reaches it, the likeliest is listed, and `note` says so.
        longest
            Items of the longest cycle.  Of those with more than three, only those with no sure edge
            across, which a shorter cycle would tell.
        most
            How many to list, the surest.
        gate
            Whether to list none where the test of transitivity does not find cycles.
        """
        return find_cycles(
            self.most_played(), at, level=level, longest=longest, most=most, gate=gate
        )

    def changes(
        self,
        since: object = None,
        until: object = None,
        *,
        level: float = 0.9,
        rate: float = 0.1,
        most: int = 30,
        rng: int = 0,
    ) -> Changes:
        """Return who became stronger between two times, and which matchups changed.

        Of items that were being compared about both times, against the same opponents.  An item
        becomes stronger against the others: where all improve alike, nobody does.

        Parameters
        ----------
        since, until
            The times, by default the first and the last one of the table.
        level
            Of the intervals.
        rate
            Expected share of false ones among those that are called sure: a wrong sign is false.
        most
            How many matchups to list, the surest.
        rng
            Seed of the panel that everybody is measured against, where there are many items.
        """
        seed = open_seed(rng)
        few = self.most_played()
        return find_changes(few, since, until, level=level, rate=rate, most=most, rng=seed)

    def ranking(
        self, at: object = None, *, level: float = 0.9, n: int = N_GAMES, rng: int = 0
    ) -> Ranking:
        """Return the nearest ranking, what it loses, and the mixture that nothing beats.

        The nearest ranking pays least for the pairs against it, each at its chance above a half.
        Of items that were being compared about then, the largest group that comparisons connect;
        of more than 400 those that played most.

        Parameters
        ----------
        at
            The time, by default the last one of the table.
        level
            Of the intervals of the weights.
        n, rng
            Draws for which the mixture is worked out, fewer for more than 100 items; the seed.
        """
        return find_ranking(self.most_played(), at, level=level, n=n, rng=open_seed(rng))

    def figure_cycles(self, at: object = None) -> Any:
        """Draw the surest cycles as a graph."""
        return _figures().draw_cycles(self.cycles(at))

    def figure_discs(self, at: object = None) -> Any:
        """Draw who counters whom, beyond what strengths say."""
        return _figures().draw_discs(self, at)

    def figure_changes(self, since: object = None, until: object = None) -> Any:
        """Draw what changed between two times, with intervals."""
        return _figures().draw_changes(self.changes(since, until))

    def figure_equilibrium(self, at: object = None) -> Any:
        """Draw the mixture that nothing beats, with intervals."""
        return _figures().draw_equilibrium(self.ranking(at))

    def report(
        self, place: str | Path, *, backtest: Any = None, title: str | None = None, rng: int = 0
    ) -> Path:
        """Write what was found as one page of HTML, whole or not at all, and return where it is.

        `backtest` is what `intransit.backtest.backtest` found; without it a quick look back is
        made, if the answer still has its games.  `title` stands in the place of the table's name.
        """
        from intransit.report.gather import gather  # noqa: PLC0415  (loads when a page is asked for)
        from intransit.report.page import write_page  # noqa: PLC0415

        where = open_place(place)
        if title is not None and not isinstance(title, str):
            raise InputError(f"title: {shown(title)} was given; give a text.")
        if backtest is not None and not hasattr(backtest, "nested"):
            raise InputError(
                f"backtest: {shown(backtest)} was given; give what `backtest` returned."
            )
        rng = open_seed(rng)
        findings = gather(self.most_played(), ladder=backtest, title=title, rng=rng)
        write_whole(where, write_page(findings).encode())
        return where

    def matrix_frame(self, at: object = None) -> object:
        """Return the win probabilities as a data frame, of pandas or else of polars."""
        return _frames().matrix_frame(self, at)

    def rank_frame(self, at: object = None) -> object:
        """Return the standings as a data frame."""
        return _frames().rank_frame(self, at)

    def path_frame(self, items: Sequence[Item] | None = None) -> object:
        """Return strengths over time as a data frame, a row for every item and time."""
        return _frames().path_frame(self, items)

    def figure_matrix(self, at: object = None, items: Sequence[Item] | None = None) -> Any:
        """Draw who beats whom as a heat map."""
        return _figures().draw_matrix(self, at, items)

    def figure_strengths(self, items: Sequence[Item] | None = None) -> Any:
        """Draw strengths over time, with bands."""
        return _figures().draw_strengths(self, items)

    def figure_head_to_head(self, first: Item, second: Item) -> Any:
        """Draw the history of two items, and what to expect."""
        return _figures().draw_head_to_head(self, first, second)

    def _repr_html_(self) -> str:
        return str(_frames().html(self))

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ takes them: scales, and chances of pairs at the last time.

        Needs ArviZ: ``pip install 'intransit[arviz]'``.
        """
        return _frames().to_arviz(self.posterior, tuple(self.names))

    def transitivity(self, *, edge: float | None = None) -> Transitivity:
        """Return whether there are cycles, in words and numbers; ``print`` it.

        It was tested when the answer was fitted; games of an `update` are not in it.

        Parameters
        ----------
        edge
            Chance that every step of a cycle must exceed, at least a half; by default that of the
            fit.  Another one is asked of the draws, in a second or two.
        """
        cycle = self.transitive.cycle
        edge = None if edge is None else as_edge(edge)
        if edge is None or cycle is None or edge == cycle.edge:
            return self.transitive
        few = self.most_played()
        again = look_for_cycles(
            few.posterior,
            connected_at_the_end(few),
            self.seen.end,
            edge=edge,
            dispersion=cycle.dispersion,
        )
        return at_edge(self.transitive, again)

    def update(self, games: Games, *, rng: int = 0, report: Report = lambda _: None) -> "Answer":
        """Return the answer with further games, of old and new items.

        The draws are weighted by how well they predict the new games, while enough of them count;
        otherwise the chains go on from where they are.  The last line of `story` says which.
        """
        check_games(games)
        check_report(report)
        self._check_whole("update")
        clock = self.clock.joined(games.clock)
        if len(games) == 0:
            raise InputError("games: there is no further game; check the filter that was given.")
        names = (*self.names, *(name for name in games.names if name not in self.numbers))
        place = {name: k for k, name in enumerate(names)}
        there = np.array([place[name] for name in games.names])
        by = self._same_covariates(games)
        known = replace(
            games, names=names, first=there[games.first], second=there[games.second], by=by
        )
        more = self.encoding.observations(known)
        posterior, how = update_posterior(self.posterior, more, rng=open_rng(rng)[0], report=report)
        seen = self.seen.plus(Seen.of(known))
        n, until = plural(int(games.counts.sum()), "further game"), clock.to_text(seen.end)
        line = f"Updated with {n}" + ("" if self.clock.kind == "none" else f", to {until}")
        story = (*self.story, f"{line}: {how}")
        return replace(
            self,
            names=names,
            posterior=posterior,
            clock=clock,
            seen=seen,
            story=story,
            games=None,
            board=None,
        )

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
        """
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
        """
        return cls(**read_answer(as_path(path), check=check))

    def summary(self) -> str:
        """Return the answer in a few lines: are there cycles, what was fitted, who leads."""
        said = (self.transitive.sentence, *self.story)
        lines = [f"{self.source}: {self.n_items} items", *(f"  {line}" for line in said)]
        standings = self.rank(most=SHOWN)
        width = max(len(s.name) for s in standings)
        lines.append("Mean probability of beating the others, with 90 % intervals:")
        lines += [
            f"  {s.rank:>3}  {s.name:<{width}}  {s.strength:.3f}  ({s.low:.3f} to {s.high:.3f})"
            for s in standings
        ]
        return "\n".join(lines)
