"""What is believed: a model is a sum of terms, and a law of outcomes; both are values."""

from intransit.model.laws import Levels, OutcomeLaw, Readings, Wins
from intransit.model.terms import (
    By,
    Drift,
    Factors,
    HalfCauchy,
    Model,
    PairEffects,
    Scores,
    Side,
    Still,
    Term,
    Walk,
    default_model,
)

__all__ = [
    "By",
    "Drift",
    "Factors",
    "HalfCauchy",
    "Levels",
    "Model",
    "OutcomeLaw",
    "PairEffects",
    "Readings",
    "Scores",
    "Side",
    "Still",
    "Term",
    "Walk",
    "Wins",
    "default_model",
]
