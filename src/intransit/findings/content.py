"""The content of a report: words, numbers and arrays, nothing of how they are shown."""

from dataclasses import dataclass

from intransit.answers.forecast import Standing
from intransit.answers.found import Changes, Cycles, Ranking
from intransit.answers.verdict import Transitivity
from intransit.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Step:
    """One rung of the ladder of models, and how well it predicted the latest games."""

    name: str
    log_loss: float
    log_loss_error: float
    gain: float  # over the rung that it is measured by
    gain_error: float
    accuracy: float
    note: str


@dataclass(frozen=True)
class Fact:
    """One of the three that are told first: what it is about, the answer, and how sure it is."""

    title: str
    value: str
    detail: str


@dataclass(frozen=True, eq=False)
class Disc:
    """One plane of what strengths do not explain, over time: who counters whom, as points.

    The part of the margins beyond strengths is the sum over planes of x_i y_j - y_i x_j.
    """

    share: float  # of what strengths do not explain, as mean square of margins at the last time
    points: FloatArray  # (n_times, n_shown, 2); each is favoured over those anticlockwise of it


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report says.  Items that are shown come in an order that brings out structure."""

    source: str
    headline: str  # the verdict in one sentence
    sentences: tuple[str, ...]  # what was found, three of them
    facts: tuple[Fact, ...]  # the three most useful ones
    verdict: Transitivity
    standings: tuple[Standing, ...]  # of all items at the end, the strongest first
    still: tuple[bool, ...]  # whether each of them was still being compared at the end
    names: tuple[str, ...]  # shown items, in order of structure
    n_items: int  # all of them
    why_shown: str  # which items are shown; empty if all are
    times: tuple[str, ...]  # of the slider, oldest first; one empty text if the table has no times
    chances: FloatArray  # (n_times, n_shown, n_shown): row beats column; a half on the diagonal
    low: FloatArray  # (n_times, n_shown, n_shown): 90 % interval of the chance
    high: FloatArray
    future: tuple[str, ...]  # later times
    future_chances: FloatArray  # (n_future, n_shown, n_shown)
    future_low: FloatArray
    future_high: FloatArray
    present: BoolArray  # (n_times, n_shown): whether an item was being compared about then
    games: FloatArray  # (n_shown, n_shown): games of each pair
    wins: FloatArray  # (n_shown, n_shown): of them won by the row
    ties: FloatArray  # (n_shown, n_shown): of them tied; where ties are not kept apart, half a win
    together: IntArray  # (n_shown,): number of the group that comparisons connect an item with
    strengths: FloatArray  # (n_shown, n_times): mean probability of beating the others
    strengths_low: FloatArray
    strengths_high: FloatArray
    discs: tuple[Disc, ...]
    cycles: Cycles
    changes: Changes | None  # None where there is one time, or none
    ranking: Ranking
    ladder: tuple[Step, ...]
    ladder_notes: tuple[str, ...]
    data: tuple[str, ...]  # what was in the table: rows used and not, columns, span, pools, ...
    story: tuple[str, ...]  # what was chosen, and why
    discs_note: str = ""  # what the discs show, or why there are none
