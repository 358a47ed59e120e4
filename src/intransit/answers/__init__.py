"""Answers to tables of results: fitted, kept, and asked by name."""

from intransit.answers.finding import Answer
from intransit.answers.fit import fit
from intransit.answers.forecast import Forecast, Standing
from intransit.answers.found import Group
from intransit.answers.groups import Groups, fit_each

__all__ = ["Answer", "Forecast", "Group", "Groups", "Standing", "fit", "fit_each"]
