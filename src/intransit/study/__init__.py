"""Questions put to a margins matrix: how far it is from a ranking, and where its cycles are."""

from intransit.skew import check_margins
from intransit.study.digraph import (
    Consistency,
    Cycle,
    consistency,
    count_triangles,
    strong_groups,
    strongest_cycle_through,
    strongest_cycles,
)
from intransit.study.hodge import (
    CyclicSplit,
    Decomposition,
    PairDecomposition,
    decompose,
    decompose_pairs,
    split_cyclic,
)
from intransit.study.planes import Plane, canonical_planes, factor_planes

__all__ = [
    "Consistency",
    "Cycle",
    "CyclicSplit",
    "Decomposition",
    "PairDecomposition",
    "Plane",
    "canonical_planes",
    "check_margins",
    "consistency",
    "count_triangles",
    "decompose",
    "decompose_pairs",
    "factor_planes",
    "split_cyclic",
    "strong_groups",
    "strongest_cycle_through",
    "strongest_cycles",
]
