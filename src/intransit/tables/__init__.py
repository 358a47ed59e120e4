"""Tables of results into games: what is recognised, what cannot be used, and why."""

from intransit.tables.clock import Clock
from intransit.tables.covariates import Covariate
from intransit.tables.games import Games
from intransit.tables.reader import describe, read
from intransit.tables.reading import Column, Reading, Unused

__all__ = ["Clock", "Column", "Covariate", "Games", "Reading", "Unused", "describe", "read"]
