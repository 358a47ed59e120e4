"""Answers to tables of results: fitted, kept, and asked by name."""

from intransit.answers.answer import Answer
from intransit.answers.fit import fit
from intransit.answers.forecast import Forecast, Standing, Tried
from intransit.answers.recipe import Model

__all__ = ["Answer", "Forecast", "Model", "Standing", "Tried", "fit"]
