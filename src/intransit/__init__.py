"""Who beats whom, by how much, how it changes, and where the cycles are."""

from intransit import datasets, study, theory
from intransit.answers import Answer, Forecast, fit
from intransit.core.assembly import Scales
from intransit.core.operators import Combinations, Entries, Matrices
from intransit.core.weights import optimal_weights
from intransit.draws import Draws, Summary
from intransit.errors import (
    ConvergenceWarning,
    InputError,
    IntransitError,
    IntransitWarning,
    MissingDependencyError,
)
from intransit.filter import Filter
from intransit.inference.posterior import Posterior
from intransit.measurements import Measurements
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
from intransit.recover import Recovery, recover
from intransit.simulate import (
    Simulation,
    circular_factors,
    gaussian_matrices,
    planted_cycles,
    simulate,
    transitive_factors,
    uniform_entries,
    uniform_pairs,
)
from intransit.smooth import smooth
from intransit.tables import Games, read
from intransit.timeline import Timeline
from intransit.trajectory import Trajectory

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "By",
    "Combinations",
    "ConvergenceWarning",
    "Draws",
    "Drift",
    "Entries",
    "Factors",
    "Filter",
    "Forecast",
    "Games",
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
    "Wins",
    "circular_factors",
    "datasets",
    "fit",
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
