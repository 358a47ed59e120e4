"""Who beats whom, by how much, how it changes, and where the cycles are."""

import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from intransit.errors import (
    ConvergenceWarning,
    InputError,
    IntransitError,
    IntransitWarning,
    MissingDependencyError,
)

if TYPE_CHECKING:  # for readers and type checkers; at run time they load when used
    from intransit import datasets, study, theory
    from intransit.analysis import Forecast
    from intransit.answer import Answer, fit
    from intransit.data import read
    from intransit.data.cells import Timeline
    from intransit.data.games import Games
    from intransit.data.measurements import Combinations, Entries, Matrices, Measurements
    from intransit.groups import Groups, fit_each
    from intransit.inference.draws import TrajectoryDraws
    from intransit.inference.filter import Filter
    from intransit.inference.joint_problem import Scales
    from intransit.inference.posterior import Posterior, Summary
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

# Public names load the module they live in when they are first used, so that ``import intransit``
# takes no longer than what is used of it.
_MODULES = {"backtest", "data", "datasets", "study", "theory"}  # names that are modules
_HOMES = {name: f"intransit.{name}" for name in _MODULES} | {
    name: home
    for home, names in {
        "intransit.analysis": "Forecast",
        "intransit.answer": "Answer fit",
        "intransit.data.games": "Games",
        "intransit.data.measurements": "Combinations Entries Matrices Measurements",
        "intransit.data": "read",
        "intransit.data.cells": "Timeline",
        "intransit.groups": "Groups fit_each",
        "intransit.inference.joint_problem": "Scales",
        "intransit.inference.draws": "TrajectoryDraws",
        "intransit.inference.filter": "Filter",
        "intransit.inference.posterior": "Posterior Summary",
        "intransit.inference.recover": "Recovery recover",
        "intransit.inference.trajectory": "Trajectory smooth",
        "intransit.model": "By Drift Factors HalfCauchy Levels Model PairEffects Readings "
        "Scores Side Still Wins",
        "intransit.model.simulate": "Simulation circular_factors gaussian_matrices "
        "planted_cycles simulate transitive_factors uniform_entries uniform_pairs",
        "intransit.theory": "optimal_weights",
    }.items()
    for name in names.split()
}


class _LazyPackage(ModuleType):
    """A package whose names are looked up in their modules on first use, and kept."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = import_module(_HOMES[name])
        value = module if name in _MODULES else getattr(module, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Loading a module must not put it where a function of its name is looked for.
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        return sorted({*self.__dict__, *_HOMES})


sys.modules[__name__].__class__ = _LazyPackage
