"""When each item was compared, and how often: as the table says it, before times become moments."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from intransit.arrays import FloatArray
from intransit.tables import Games


@dataclass(frozen=True, eq=False)
class Seen:
    """Of every item: its first and last time, and its number of games."""

    first: FloatArray  # (n_items,), infinite where an item was never compared
    last: FloatArray  # (n_items,), minus infinite there
    games: FloatArray  # (n_items,)

    @classmethod
    def of(cls, games: Games) -> "Seen":
        """Look through a table."""
        n = games.n_items
        seen = cls(np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n))
        for who in (games.first, games.second):
            np.minimum.at(seen.first, who, games.times)
            np.maximum.at(seen.last, who, games.times)
            np.add.at(seen.games, who, games.counts)
        return seen

    def plus(self, more: "Seen") -> "Seen":
        """Return both together; `more` may know further items at the end."""
        wide = len(more.games) - len(self.games)
        return Seen(
            np.minimum(np.pad(self.first, (0, wide), constant_values=np.inf), more.first),
            np.maximum(np.pad(self.last, (0, wide), constant_values=-np.inf), more.last),
            np.pad(self.games, (0, wide)) + more.games,
        )

    @cached_property
    def begin(self) -> float:
        """The first time of all."""
        return float(self.first.min())

    @cached_property
    def end(self) -> float:
        """The last time of all."""
        return float(self.last.max())
