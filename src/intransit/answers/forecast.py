"""What an answer says in words and numbers: forecasts and standings."""

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
