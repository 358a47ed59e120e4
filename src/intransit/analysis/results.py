"""What is asked of an answer, as plain data: forecasts, standings, cycles, changes, rankings."""

from collections.abc import Iterator
from dataclasses import dataclass

from intransit.percent import estimate, percent


@dataclass(frozen=True)
class Forecast:
    """What to expect when two items meet."""

    first: str
    second: str
    at: str
    probability: float  # that first wins, a tie as half a win
    low: float  # of the probability, with `level`
    high: float
    level: float
    win: float
    tie: float
    loss: float
    margin: float | None  # expected size of the win, in the table's own unit, where it has one
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.probability

    def __str__(self) -> str:
        at = f", {self.at}" if self.at else ""
        chance, between = estimate(self.probability, self.low, self.high, 1)
        said = (
            f"{self.first} against {self.second}{at}: {chance} ({percent(self.level)} interval "
            f"{between})"
        )
        return said + "".join(f"; {note}" for note in self.notes)


@dataclass(frozen=True)
class Standing:
    """How one item stands against all the others it can be compared with."""

    rank: int
    rank_low: int  # best and worst rank that it may have, with `level`
    rank_high: int
    name: str
    strength: float  # mean probability of beating each of the others
    low: float
    high: float
    rating: float  # the same on a scale like Elo's: 1500 is average, 400 more odds of ten to one
    rating_low: float
    rating_high: float
    games: float
    last: str  # when it was last compared


@dataclass(frozen=True)
class ItemCycle:
    """Items of which each is favoured over the next, and the last over the first."""

    items: tuple[str, ...]
    probability: float  # that all its edges point that way
    edges: tuple[float, ...]  # probability that items[k] is favoured over items[k + 1]
    chances: tuple[float, ...]  # probability that items[k] beats items[k + 1] in a game
    weakest: int  # the edge that is least sure, by its place
    since: str  # since when it has been more likely there than not, up to the time asked for
    history: tuple[float, ...]  # probability at each of `Cycles.times`

    def __str__(self) -> str:
        return " > ".join((*self.items, self.items[0]))


@dataclass(frozen=True)
class Cycles:
    """Cycles at a time, the surest first; listed so that few of them are false."""

    at: str
    level: float  # probability that a cycle needs to be listed
    found: tuple[ItemCycle, ...]
    n_found: int  # how many there are; `found` may be fewer
    false_share: float  # expected share of false ones among all that were found
    times: tuple[str, ...]  # of the histories
    note: str  # why there are none, or what the list leaves out; often empty

    def __len__(self) -> int:
        return len(self.found)

    def sure(self, cycle: ItemCycle) -> str:
        """Return the probability of a cycle as text, below the level if it is."""
        text = percent(cycle.probability)
        return percent(cycle.probability, 1) if text == percent(self.level) else text

    def __iter__(self) -> Iterator[ItemCycle]:
        return iter(self.found)


@dataclass(frozen=True)
class ItemChange:
    """How much stronger or weaker an item became."""

    name: str
    change: float  # of the mean probability of beating the others
    low: float
    high: float
    probability: float  # that the change has this sign
    sure: bool  # listed under control of false discoveries


@dataclass(frozen=True)
class MatchupChange:
    """How much two items' chances changed beyond what their strengths explain."""

    first: str
    second: str
    change: float  # of the probability that first beats second, strengths held
    low: float
    high: float
    probability: float
    sure: bool


@dataclass(frozen=True)
class Changes:
    """What changed between two times: items that became stronger, and matchups."""

    since: str
    until: str
    level: float
    rate: float  # of false discoveries among those that are `sure`
    items: tuple[ItemChange, ...] = ()  # all, the surest first
    matchups: tuple[MatchupChange, ...] = ()  # the surest ones
    matchup_share: float = 0.0  # of the mean square of the change: what no strengths explain
    matchup_share_low: float = 0.0
    matchup_share_high: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Upset:
    """A pair that goes against the ranking: the lower item is favoured."""

    lower: str
    higher: str
    chance: float  # that lower beats higher
    probability: float  # that lower is favoured


@dataclass(frozen=True)
class Share:
    """An item's weight in the mixture that nothing beats on average."""

    name: str
    weight: float  # mean over what is not known
    low: float
    high: float
    probability: float  # that it belongs to the mixture at all


@dataclass(frozen=True)
class Ranking:
    """The nearest ranking, what it loses, and what a cyclic table has in place of a best item."""

    at: str
    order: tuple[str, ...]  # best first
    upsets: tuple[Upset, ...]  # pairs against the order, the clearest first
    n_pairs: int
    n_upsets: int
    wrong: float  # share of the pairs whose favourite the ranking puts lower
    cost: float  # mean loss of winning chances, over all pairs, from trusting the ranking
    equilibrium: tuple[Share, ...]  # weights that are not negligible, the largest first
    level: float
    note: str = ""  # what is left out; often empty


@dataclass(frozen=True)
class Group:
    """One line on a group: how much there was, the verdict, and who leads."""

    value: str
    n_items: int
    n_games: float
    verdict: str  # in one sentence; or why nothing was fitted
    leader: str  # the strongest item; empty where nothing was fitted
    strength: float | None  # its mean chance of beating the others, with its interval
    low: float | None
    high: float | None
