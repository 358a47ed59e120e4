"""The public names and where they live: `__init__.py` reads this list, and type checkers do.

A name that is imported as itself is public; two packages can be reached, and are not listed.
"""

from intransit import backtest, data  # noqa: F401
from intransit import datasets as datasets, study as study, theory as theory
from intransit.analysis import Forecast as Forecast
from intransit.answer import Answer as Answer, fit as fit
from intransit.data import read as read
from intransit.data.cells import Timeline as Timeline
from intransit.data.games import Games as Games
from intransit.data.measurements import (
    Combinations as Combinations,
    Entries as Entries,
    Matrices as Matrices,
    Measurements as Measurements,
)
from intransit.errors import (
    ConvergenceWarning as ConvergenceWarning,
    InputError as InputError,
    IntransitError as IntransitError,
    IntransitWarning as IntransitWarning,
    MissingDependencyError as MissingDependencyError,
)
from intransit.groups import Groups as Groups, fit_each as fit_each
from intransit.inference.draws import TrajectoryDraws as TrajectoryDraws
from intransit.inference.filter import Filter as Filter
from intransit.inference.joint_problem import Scales as Scales
from intransit.inference.posterior import Posterior as Posterior, Summary as Summary
from intransit.inference.recover import Recovery as Recovery, recover as recover
from intransit.inference.trajectory import Trajectory as Trajectory, smooth as smooth
from intransit.model import (
    By as By,
    Drift as Drift,
    Factors as Factors,
    HalfCauchy as HalfCauchy,
    Levels as Levels,
    Model as Model,
    PairEffects as PairEffects,
    Readings as Readings,
    Scores as Scores,
    Side as Side,
    Still as Still,
    Wins as Wins,
)
from intransit.model.simulate import (
    Simulation as Simulation,
    circular_factors as circular_factors,
    gaussian_matrices as gaussian_matrices,
    planted_cycles as planted_cycles,
    simulate as simulate,
    transitive_factors as transitive_factors,
    uniform_entries as uniform_entries,
    uniform_pairs as uniform_pairs,
)
from intransit.theory import optimal_weights as optimal_weights

__version__: str
