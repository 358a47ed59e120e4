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
    from intransit.answers import Answer, Forecast, Groups, fit_each
    from intransit.answers.fit import fit
    from intransit.core.assembly import Scales
    from intransit.core.operators import Combinations, Entries, Matrices
    from intransit.core.weights import optimal_weights
    from intransit.draws import Summary, TrajectoryDraws
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
        "intransit.answers": "Answer Forecast Groups fit fit_each",
        "intransit.core.assembly": "Scales",
        "intransit.core.operators": "Combinations Entries Matrices",
        "intransit.core.weights": "optimal_weights",
        "intransit.draws": "TrajectoryDraws Summary",
        "intransit.filter": "Filter",
        "intransit.inference.posterior": "Posterior",
        "intransit.measurements": "Measurements",
        "intransit.model": "By Drift Factors HalfCauchy Levels Model PairEffects Readings Scores "
        "Side Still Wins",
        "intransit.recover": "Recovery recover",
        "intransit.simulate": "Simulation circular_factors gaussian_matrices planted_cycles "
        "simulate transitive_factors uniform_entries uniform_pairs",
        "intransit.smooth": "smooth",
        "intransit.tables": "Games read",
        "intransit.timeline": "Timeline",
        "intransit.trajectory": "Trajectory",
    },
)
