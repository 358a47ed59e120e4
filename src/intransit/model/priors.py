"""Priors of scales: a scale is drawn under a prior, or is a number that is taken for known."""

from dataclasses import dataclass

from intransit.core.inputs import as_number


@dataclass(frozen=True)
class HalfCauchy:
    """A scale above 0, as often below `scale` as above it, with a heavy tail."""

    scale: float

    def __post_init__(self) -> None:
        as_number("HalfCauchy: scale", self.scale, least=0.0, strict=True)


Scale = HalfCauchy | float


def check_scale(name: str, scale: Scale) -> None:
    """Refuse a scale that is neither a prior nor a number above 0."""
    if not isinstance(scale, HalfCauchy):
        as_number(name, scale, least=0.0, strict=True)


def prior_scale(scale: Scale) -> float:
    """Return the scale of the prior; 0 where the scale itself is known."""
    return scale.scale if isinstance(scale, HalfCauchy) else 0.0


def start_value(scale: Scale) -> float:
    """Return a value to begin with: the one that is known, or a likely one."""
    return 0.7 * scale.scale if isinstance(scale, HalfCauchy) else float(scale)
