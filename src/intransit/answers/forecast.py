"""What an answer says in words and numbers: forecasts and standings."""

from dataclasses import dataclass


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
        said = (
            f"{self.first} against {self.second}, {self.at}: {self.probability:.1%} "
            f"({self.level:.0%} interval {self.low:.1%} to {self.high:.1%})"
            if self.at
            else f"{self.first} against {self.second}: {self.probability:.1%} "
            f"({self.level:.0%} interval {self.low:.1%} to {self.high:.1%})"
        )
        return said + "".join(f"; {note}" for note in self.notes)


@dataclass(frozen=True)
class Standing:
    """How one item stands against all the others it can be compared with."""

    rank: int
    name: str
    strength: float  # mean probability of beating each of the others
    low: float
    high: float
    games: float
    last: str  # when it was last compared
