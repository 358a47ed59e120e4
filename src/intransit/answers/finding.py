"""Questions to an answer beyond forecasts: cycles, changes, rankings, pages, frames, figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from intransit.answers import frames
from intransit.answers.changing import find_changes
from intransit.answers.cycling import find_cycles
from intransit.answers.found import Changes, Cycles, Ranking
from intransit.answers.ranking import N_GAMES, find_ranking
from intransit.answers.saving import open_place, write_whole
from intransit.core.inputs import shown
from intransit.errors import InputError
from intransit.extras import above, drawing
from intransit.inference.arviz import to_arviz
from intransit.seeds import open_seed

if TYPE_CHECKING:
    from intransit.answers.answer import Answer


Item = str | int


class Finding:
    """What `Answer` can be asked besides forecasts."""

    @property
    def _answer(self) -> "Answer":
        return cast("Answer", self)

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
        return find_cycles(self._answer, at, level=level, longest=longest, most=most, gate=gate)

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
        return find_changes(self._answer, since, until, level=level, rate=rate, most=most, rng=seed)

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
        return find_ranking(self._answer, at, level=level, n=n, rng=open_seed(rng))

    def figure_cycles(self, at: object = None) -> Any:
        """Draw the surest cycles as a graph."""
        return drawing("found").draw_cycles(self, at)

    def figure_discs(self, at: object = None) -> Any:
        """Draw who counters whom, beyond what strengths say."""
        return drawing("found").draw_discs(self, at)

    def figure_changes(self, since: object = None, until: object = None) -> Any:
        """Draw what changed between two times, with intervals."""
        return drawing("found").draw_changes(self, since, until)

    def figure_equilibrium(self, at: object = None) -> Any:
        """Draw the mixture that nothing beats, with intervals."""
        return drawing("found").draw_equilibrium(self, at)

    def report(
        self, place: str | Path, *, backtest: Any = None, title: str | None = None, rng: int = 0
    ) -> Path:
        """Write what was found as one page of HTML, whole or not at all, and return where it is.

        `backtest` is what `intransit.backtest.backtest` found; without it a quick look back is
        made, if the answer still has its games.  `title` stands in the place of the table's name.
        """
        where = open_place(place)
        if title is not None and not isinstance(title, str):
            raise InputError(f"title: {shown(title)} was given; give a text.")
        if backtest is not None and not hasattr(backtest, "nested"):
            raise InputError(
                f"backtest: {shown(backtest)} was given; give what `backtest` returned."
            )
        rng = open_seed(rng)
        findings = above("findings.gather").gather(
            self._answer, ladder=backtest, title=title, rng=rng
        )
        write_whole(where, above("render.page").write_page(findings).encode())
        return where

    def matrix_frame(self, at: object = None) -> object:
        """Return the win probabilities as a data frame, of pandas or else of polars."""
        return frames.matrix_frame(self._answer, at)

    def rank_frame(self, at: object = None) -> object:
        """Return the standings as a data frame."""
        return frames.rank_frame(self._answer, at)

    def path_frame(self, items: Sequence[Item] | None = None) -> object:
        """Return strengths over time as a data frame, a row for every item and time."""
        return frames.path_frame(self._answer, items)

    def figure_matrix(self, at: object = None, items: Sequence[Item] | None = None) -> Any:
        """Draw who beats whom as a heat map."""
        return drawing("answers").draw_matrix(self, at, items)

    def figure_strengths(self, items: Sequence[Item] | None = None) -> Any:
        """Draw strengths over time, with bands."""
        return drawing("answers").draw_strengths(self, items)

    def figure_head_to_head(self, first: Item, second: Item) -> Any:
        """Draw the history of two items, and what to expect."""
        return drawing("answers").draw_head_to_head(self, first, second)

    def _repr_html_(self) -> str:
        return frames.html(self._answer)

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ takes them: scales, and chances of pairs at the last time.

        Needs ArviZ: ``pip install 'intransit[arviz]'``.
        """
        return to_arviz(self._answer.posterior, self._answer.names)
