"""Answers to tables of results: fitted, kept, and asked by name."""

from intransit.answers.answer import Answer
from intransit.answers.fit import fit
from intransit.answers.forecast import Forecast, Standing

__all__ = ["Answer", "Forecast", "Standing", "fit"]
