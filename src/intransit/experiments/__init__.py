"""The paper's figures, run again: one file a figure, over one small runner.

``EXPERIMENTS`` lists them; docs/experiments.md shows how to add one's own.
"""

from intransit.experiments import (
    cell_counting,
    complexity_bound,
    housing,
    price_game,
    recovery_error,
    sample_ratio,
)
from intransit.experiments.experiment import (
    Check,
    Claim,
    Experiment,
    Options,
    Point,
    Run,
    Table,
    TrialValue,
    axis,
    half_decades,
    run_all,
    run_here,
)

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        recovery_error,
        sample_ratio,
        complexity_bound,
        price_game,
        cell_counting,
        housing,
    )
}

__all__ = [
    "EXPERIMENTS",
    "Check",
    "Claim",
    "Experiment",
    "Options",
    "Point",
    "Run",
    "Table",
    "TrialValue",
    "axis",
    "half_decades",
    "run_all",
    "run_here",
]
