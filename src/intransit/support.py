"""What a set of comparisons reaches: which items it connects, and when."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import BoolArray, FloatArray, IntArray
from intransit.core.cells import Cells
from intransit.core.joint_newton import JointSolution


@dataclass(frozen=True, eq=False)
class Support:
    """Groups of items connected by comparisons, and the times at which each was compared."""

    n_items: int
    cells: Cells

    @cached_property
    def groups(self) -> IntArray:  # (n_items,)
        """Number of the group that each item belongs to."""
        i, j = self.cells.pairs.T
        graph = coo_array((np.ones(len(i)), (i, j)), shape=(self.n_items, self.n_items))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)

    @cached_property
    def seen(self) -> tuple[FloatArray, FloatArray]:
        """First and last time at which each item was compared; never: an empty range."""
        low, high = np.full(self.n_items, np.inf), np.full(self.n_items, -np.inf)
        for side in (0, 1):
            np.minimum.at(low, self.cells.pairs[:, side], self.cells.times)
            np.maximum.at(high, self.cells.pairs[:, side], self.cells.times)
        return low, high

    def extrapolates(self, first: IntArray, second: IntArray, times: FloatArray) -> BoolArray:
        """Return whether each margin rests on the prior, being out of reach."""
        low, high = self.seen
        outside = np.zeros(len(first), bool)
        for items in (first, second):
            outside |= (times < low[items]) | (times > high[items])
        apart = self.groups[first] != self.groups[second]
        return np.asarray((apart | outside) & (first != second))

    def doubts(self) -> Iterator[str]:
        """Say what is out of reach altogether."""
        compared = np.isfinite(self.seen[0])
        absent = np.flatnonzero(~compared)
        if len(absent):
            yield (
                f"{len(absent)} of {self.n_items} items were never compared (the first is item "
                f"{absent[0]}): their margins are the prior's."
            )
        n_groups = len(np.unique(self.groups[compared]))
        if n_groups > 1:
            yield (
                f"The items form {n_groups} groups with no comparison between them: margins "
                "across groups are the prior's; see `groups` and `extrapolated`."
            )


def tell_status(solution: JointSolution, scales_converged: bool) -> str:
    """Return what happened, in a sentence."""
    steps = solution.n_steps
    if not solution.converged:
        return (
            f"Stopped after {steps} steps before the optimum was reached; raise max_steps or "
            "lower n_factors."
        )
    if not scales_converged:
        return (
            "Reached an optimum, but the scales had not settled; give drift_scale or "
            "prior_scale, or fewer factors."
        )
    return (
        f"Reached an optimum in {steps} step{'' if steps == 1 else 's'}, gradient "
        f"{solution.gradient_size:.1e}."
    )
