"""Who beats whom, by how much, how it changes, and where the cycles are."""

from typing import TYPE_CHECKING

from intransit.errors import (
    ConvergenceWarning,
    InputError,
    IntransitError,
    IntransitWarning,
    MissingDependencyError,
)
from intransit.lazy import load_when_used

if TYPE_CHECKING:  # for readers and type checkers; at run time they load when used
    from intransit import datasets, study, theory
    from intransit.analysis.results import Forecast
    from intransit.answer import Answer, fit
    from intransit.data.cells import Timeline
    from intransit.data.games import Games
    from intransit.data.measurements import Combinations, Entries, Matrices, Measurements
    from intransit.data.reader import read
    from intransit.groups import Groups, fit_each
    from intransit.inference.assembly import Scales
    from intransit.inference.draws import Summary, TrajectoryDraws
    from intransit.inference.filter import Filter
    from intransit.inference.posterior import Posterior
    from intransit.inference.recover import Recovery, recover
    from intransit.inference.trajectory import Trajectory, smooth
    from intransit.model import (
        By,
        Drift,
        Factors,
        HalfCauchy,
        Levels,
        Model,
        PairEffects,
        Readings,
        Scores,
        Side,
        Still,
        Wins,
    )
    from intransit.model.simulate import (
        Simulation,
        circular_factors,
        gaussian_matrices,
        planted_cycles,
        simulate,
        transitive_factors,
        uniform_entries,
        uniform_pairs,
    )
    from intransit.theory import optimal_weights

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "By",
    "Combinations",
    "ConvergenceWarning",
    "Drift",
    "Entries",
    "Factors",
    "Filter",
    "Forecast",
    "Games",
    "Groups",
    "HalfCauchy",
    "InputError",
    "IntransitError",
    "IntransitWarning",
    "Levels",
    "Matrices",
    "Measurements",
    "MissingDependencyError",
    "Model",
    "PairEffects",
    "Posterior",
    "Readings",
    "Recovery",
    "Scales",
    "Scores",
    "Side",
    "Simulation",
    "Still",
    "Summary",
    "Timeline",
    "Trajectory",
    "TrajectoryDraws",
    "Wins",
    "circular_factors",
    "datasets",
    "fit",
    "fit_each",
    "gaussian_matrices",
    "optimal_weights",
    "planted_cycles",
    "read",
    "recover",
    "simulate",
    "smooth",
    "study",
    "theory",
    "transitive_factors",
    "uniform_entries",
    "uniform_pairs",
]

load_when_used(
    __name__,
    {
        "intransit.analysis.results": "Forecast",
        "intransit.answer": "Answer fit",
        "intransit.data.games": "Games",
        "intransit.data.measurements": "Combinations Entries Matrices Measurements",
        "intransit.data.reader": "read",
        "intransit.data.cells": "Timeline",
        "intransit.groups": "Groups fit_each",
        "intransit.inference.assembly": "Scales",
        "intransit.inference.draws": "Summary TrajectoryDraws",
        "intransit.inference.filter": "Filter",
        "intransit.inference.posterior": "Posterior",
        "intransit.inference.recover": "Recovery recover",
        "intransit.inference.trajectory": "Trajectory smooth",
        "intransit.model": "By Drift Factors HalfCauchy Levels Model PairEffects Readings "
        "Scores Side Still Wins",
        "intransit.model.simulate": "Simulation circular_factors gaussian_matrices "
        "planted_cycles simulate transitive_factors uniform_entries uniform_pairs",
        "intransit.theory": "optimal_weights",
    },
)
