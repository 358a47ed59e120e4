"""What is asked of shards, and how far a solve has come."""

from dataclasses import dataclass, field

from intransit.core.assembly import Scales
from intransit.core.law import Kind
from intransit.inference.shard_links import Shape


@dataclass(frozen=True)
class Question:
    """What is asked of the shards."""

    kind: Kind
    n_factors: int
    scales: Scales
    seeks_side: bool = False
    tolerance: float = 1e-2
    max_steps: int = 300
    seed: int = 0

    @property
    def shape(self) -> Shape:
        """Which sides there are, and which of them drift."""
        s = self.scales
        return Shape(
            self.n_factors,
            s.drift_scale > 0 or s.score_drift_scale > 0,
            s.exposure_drift_scale > 0 and self.n_factors > 0,
            s.pair_scale > 0,
            s.pair_drift_scale > 0,
        )


@dataclass
class Progress:
    """How far a solve has come: what a driver must know to go on."""

    finished: list[str] = field(default_factory=list)  # stages
    stage: str = ""
    kept: str = ""  # name of the states that are kept
    with_factors: bool = False
    cuts: list[float] = field(default_factory=list)
    advantage: float = 0.0
    held: float = 1.0  # prior scale of exposures
    damping: float = -1.0
    objectives: list[float] = field(default_factory=list)  # of this stage
    n_steps: int = 0
    n_products: int = 0
    n_losses: int = 0  # of workers
    converged: bool = True
