"""Questions put to a margins matrix: how far it is from a ranking, and where its cycles are."""

from intransit.skew import check_margins
from intransit.study.decompositions import (
    CyclicSplit,
    Decomposition,
    PairDecomposition,
    Plane,
    canonical_planes,
    decompose,
    decompose_pairs,
    factor_planes,
    split_cyclic,
)
from intransit.study.digraph import (
    Consistency,
    Cycle,
    consistency,
    count_triangles,
    strong_groups,
    strongest_cycle_through,
    strongest_cycles,
)

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
