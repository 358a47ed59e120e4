"""Tables of results into games: what is recognised, what cannot be used, and why."""

from intransit.data.games import Clock, Covariate, Games
from intransit.data.reader import describe, read
from intransit.data.reading import Column, Reading, Unused

__all__ = ["Clock", "Column", "Covariate", "Games", "Reading", "Unused", "describe", "read"]
