"""Who beats whom, by how much, how it changes, and where the cycles are."""

from intransit import study, theory
from intransit.core.operators import Combinations, Entries, Matrices
from intransit.core.weights import optimal_weights
from intransit.errors import (
    ConvergenceWarning,
    InputError,
    IntransitError,
    IntransitWarning,
    MissingDependencyError,
)
from intransit.measurements import Measurements
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

__version__ = "0.1.0"

__all__ = [
    "Combinations",
    "ConvergenceWarning",
    "Entries",
    "InputError",
    "IntransitError",
    "IntransitWarning",
    "Matrices",
    "Measurements",
    "MissingDependencyError",
    "Recovery",
    "Simulation",
    "circular_factors",
    "gaussian_matrices",
    "optimal_weights",
    "planted_cycles",
    "recover",
    "simulate",
    "study",
    "theory",
    "transitive_factors",
    "uniform_entries",
    "uniform_pairs",
]
