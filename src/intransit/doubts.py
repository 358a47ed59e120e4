"""What an answer leaves open: which factors give the same margins, which margins are unsettled."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from intransit.arrays import FloatArray, IntArray
from intransit.core.normal import DENSE_LIMIT, NormalEquations
from intransit.core.problem import Problem

NULL = 1e-12  # of the largest eigenvalue of the normal matrix


@dataclass(frozen=True)
class Freedom:
    """How many directions in the factors change no margin, and which, in words."""

    dimension: int
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def find_freedom(problem: Problem) -> Freedom:
    """Say what is free: of U = [S Q], the changes U G, G symplectic, that keep known columns."""
    r, f = problem.n_factors, int(problem.free.sum())
    dimension = f * (f + 1) // 2
    only_strengths = problem.free[:r].all() and not problem.free[r:].any()
    if only_strengths and r == 1 and np.ptp(problem.known[:, 1]) == 0:
        return Freedom(1, "One constant may be added to all scores; they are given with mean 0.")
    if only_strengths:
        return Freedom(
            dimension,
            "S may change by Q B for any symmetric B "
            f"({_directions(dimension)}); the S of least norm is given.",
        )
    if problem.all_free:
        return Freedom(
            dimension,
            "S and Q may change together by any symplectic change of basis "
            f"({_directions(dimension)}); the canonical factors are given, one plane a column.",
        )
    return Freedom(
        dimension,
        f"The {f} recovered columns may change by symplectic changes of basis that keep the "
        f"known ones ({_directions(dimension)}).",
    )


def find_doubts(problem: Problem, factors: FloatArray) -> tuple[str, ...]:
    """Say which margins the comparisons do not settle, whatever their noise."""
    pairs = problem.pairs
    n, f = problem.n_items, int(problem.free.sum())
    i, j = pairs.T
    partners = np.bincount(pairs.ravel(), minlength=n)
    doubts = []
    absent = np.flatnonzero(partners == 0)
    if len(absent):
        whose = "its" if len(absent) == 1 else "their"
        doubts.append(f"{_items(absent)} never compared: {whose} margins mean nothing.")
    graph = coo_array((np.ones(len(pairs)), (i, j)), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    groups = np.unique(labels[partners > 0])
    if len(groups) > 1:
        doubts.append(
            f"The items form {len(groups)} groups with no comparison between them: margins "
            "across groups are not settled by the data."
        )
    few = np.flatnonzero((partners > 0) & (partners < min(f, n - 1)))
    if len(few) and f > 1:
        doubts.append(
            f"{_items(few)} compared with fewer than {f} others, the number of unknowns of an "
            f"item: {'its' if len(few) == 1 else 'their'} other margins are not settled."
        )
    curvature = problem.loss.curvature(np.zeros(len(pairs)))
    n_seen = int(np.count_nonzero(curvature.diagonal))
    n_seen += 0 if curvature.mixed is None else len(curvature.mixed.targets)
    if n_seen < problem.degrees_of_freedom:
        doubts.append(
            f"{n_seen} distinct readings are fewer than the {problem.degrees_of_freedom} degrees "
            "of freedom of the matrix: many matrices fit equally well."
        )
    n_open = count_open(problem, factors)
    if n_open:
        doubts.append(
            f"The matrix may change along {_directions(n_open)} without changing any reading: "
            "some margins are not settled."
        )
    return tuple(doubts)


def count_open(problem: Problem, factors: FloatArray) -> int:
    """Return along how many directions X may change while all readings stay, to first order.

    Of the null space of the readings' Jacobian, what the symmetry does not account for.  Asked
    only of problems small enough to be factored; 0 for larger ones.
    """
    moved = problem.moved("both")
    if problem.n_items * len(moved) > DENSE_LIMIT:
        return 0
    partners = problem.partners(factors, moved)
    curvature = problem.loss.curvature(problem.margins(factors))
    values = NormalEquations(partners, problem.pairs, curvature, dense=True).eigenvalues()
    null = int(np.sum(values <= NULL * values[-1])) if values[-1] > 0 else len(values)
    return max(0, null - find_freedom(problem).dimension)


def _items(which: IntArray) -> str:
    shown = ", ".join(str(k) for k in which[:5]) + (", ..." if len(which) > 5 else "")
    return f"Item {shown} was" if len(which) == 1 else f"{len(which)} items ({shown}) were"


def _directions(dimension: int) -> str:
    return "1 direction" if dimension == 1 else f"{dimension} directions"
