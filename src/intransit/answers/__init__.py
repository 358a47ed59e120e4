"""Answers to tables of results: fitted, kept, and asked by name."""

from intransit.answers.answer import Answer
from intransit.answers.fit import fit
from intransit.answers.forecast import Forecast, Standing, Tried

__all__ = ["Answer", "Forecast", "Standing", "Tried", "fit"]
