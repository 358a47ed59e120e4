"""Newton's method: damped steps for any problem, and the equations of the joint one.

*Steps* (Levenberg-Marquardt).  Each solves (H + λ I) step = -gradient, where H is large by
conjugate gradients.  λ shrinks when the quadratic model predicted the decrease and grows when it
did not, so that the objective never increases; near the solution λ vanishes and convergence is
quadratic when the readings are exact.

*The joint problem*, dense or matrix-free by its size.  The curvature is the loss's own in the
margins (exact for the logistic loss), carried to the states by the first-order map J.  A step
solves

    (Jᵀ C J + prior + damping) step = right-hand side

With a `twist`, the slopes of the loss, the matrix is the whole Hessian: the margins' own second
derivative is added, without which the last steps are slow where factors are weakly held.

Small systems are factored.  Large ones are solved matrix-free by conjugate gradients; the
preconditioner is each item's own block-tridiagonal matrix over time, its data blocks plus its
random walk, for S and for Q.  Given S and Q, each pair's effects are a chain of their own: that
part of the system is solved exactly, and what remains is a system in S and Q alone with curvature

    C - C R (Rᵀ C R + prior of E)⁻¹ Rᵀ C,      R the map from states of pairs to cells

Both ways give the same step.  Vectors of large problems are work space, taken once for all products
of a descent: memory that is asked of the system anew must be mapped, page by page, and cleared.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from intransit.arrays import FloatArray
from intransit.inference.cell_kernels import (
    chain_marginals,
    factor_chains,
    gather,
    normal_cells,
    pull_cells,
    push_cells,
    push_pull_cells,
    solve_chains,
    state_blocks,
)
from intransit.inference.gauge import balance, rotations
from intransit.inference.joint_problem import FactorStates, Joint
from intransit.kernels import advance, dot, turn


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    towards: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    *,
    accuracy: float,
    most: int,
    dot: Callable[[FloatArray, FloatArray], float] = dot,
    room: tuple[FloatArray, FloatArray] | None = None,  # for residual and direction
    out: FloatArray | None = None,  # where the solution is written
) -> FloatArray:
    """Solve product(step) = right until the residual's energy has fallen by accuracy².

    `towards` applies the preconditioner; it and the product may return the same room every time.
    Directions along which the matrix vanishes to rounding end the search: what has been found by
    then is as good as it gets.
    """
    residual, direction = room or (np.empty(right.shape), np.empty(right.shape))
    residual[:] = right
    step = np.empty_like(residual) if out is None else out
    step.fill(0.0)
    ahead = towards(residual)
    direction[:] = ahead
    energy = dot(residual, ahead)
    goal = accuracy**2 * energy
    for _ in range(most):
        if energy <= goal or energy <= 0.0:
            break
        image = product(direction)
        curve = dot(direction, image)
        if curve <= 0.0:
            break
        advance(energy / curve, direction, image, step, residual)
        ahead = towards(residual)
        energy, before = dot(residual, ahead), energy
        turn(energy / before, ahead, direction)
    return step


GIVE_UP_DAMPING, LEAST_DAMPING = 1e14, 1e-12
SLOW = 0.05  # of the gain before
LONGEST_BEND = 1.5  # of the first-order step


class Equations(Protocol):
    """The linear system of one step."""

    @property
    def scale(self) -> float:
        """Mean of the diagonal: what damping is measured against."""

    def solve(
        self, right: FloatArray, damping: float, *, accuracy: float = ...
    ) -> FloatArray | None:
        """Solve, or return None when the damping is too small for rounding."""


PlaceT = TypeVar("PlaceT", bound="Place")


class Place(Protocol):
    """A point, with all that is needed to leave it for a lower one."""

    @property
    def value(self) -> float:
        """The objective here."""

    @property
    def downhill(self) -> FloatArray:
        """Minus its gradient in what moves."""

    def equations(self, exact: bool) -> Equations:
        """Return the linear system of a step from here.

        Exact, with second derivatives that are otherwise left out for being indefinite far from
        a minimum, if there are such.
        """

    def bend(self, step: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return what the second derivative along the step adds to the gradient; None if nothing.

        Half a step solved for this follows a curved valley instead of leaving it (the geodesic
        acceleration of Transtrum and Sethna).
        """
        return None

    def moved(self: PlaceT, step: FloatArray) -> PlaceT:
        """Return the place a step away, which may take over the array of the step."""

    def again(self: PlaceT) -> PlaceT:
        """Return this place once a step from it was of no use: anew if the step took its room."""
        return self

    def settled(self: PlaceT) -> PlaceT:
        """Return a place as low or lower that is better to go on from: often this one."""
        return self

    def is_enough(self, gains: list[float]) -> bool:
        """Return whether so little is left to gain, judging by the gains so far, that we are done.

        The gains begin with infinity, as nothing is known before the first step.
        """


@dataclass(frozen=True, eq=False)
class Descent:
    """How a descent went."""

    objectives: FloatArray  # (n_steps + 1,), from the start on, never increasing
    converged: bool
    damping: float = field(default=-1.0, kw_only=True)  # of the next step; below 0 before the first
    start: str = field(default="", kw_only=True)  # the name of the start that led there

    @property
    def objective(self) -> float:
        """The objective reached."""
        return float(self.objectives[-1])

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return len(self.objectives) - 1


def descend(
    place: PlaceT,
    *,
    start_damping: float,  # against the mean of the diagonal
    max_steps: int,
    loosest: float = 0.1,  # accuracy of the first step's solve
    tightest: float = 1e-8,
    eager: bool = False,  # whether steps are exact from the first on
    enough: float = 0.0,  # an exact step that promises less than this is the last
    so_far: Descent | None = None,  # what led to this place, to go on from it
    keep: Callable[[PlaceT, Descent], None] = lambda _, __: None,  # told of every step
    dot: Callable[[FloatArray, FloatArray], float] = dot,
) -> tuple[PlaceT, Descent]:
    """Walk downhill until a step gains nothing that counts."""
    if so_far is None:
        so_far = Descent(np.array([place.value]), converged=False)
    objectives, damping = so_far.objectives.tolist(), so_far.damping
    gains = [np.inf, *(-np.diff(so_far.objectives)).tolist()]
    if not np.isfinite(objectives[-1]) or so_far.converged:
        return place, so_far
    growth, first_size = 2.0, 0.0
    for _ in range(max_steps - len(objectives) + 1):
        downhill = place.downhill
        size = float(np.sqrt(dot(downhill, downhill)))
        first_size = first_size or size
        # Slow in spite of a good model: what the model leaves out is what is missing.
        exact = eager or (len(gains) > 2 and gains[-1] > SLOW * gains[-2])
        equations = place.equations(exact)
        if damping < 0:
            damping = start_damping * equations.scale
        # Loose while far away, tight near the end: the usual inexact Newton bargain.
        accuracy = min(loosest, max(tightest, size / first_size)) if first_size else loosest
        while True:
            step = equations.solve(downhill, damping, accuracy=accuracy)
            if step is None and exact:  # not convex here: back to the model that always is
                exact, equations = False, place.equations(exact=False)
                continue
            if step is not None:
                predicted = 0.5 * (damping * dot(step, step) + dot(step, downhill))
                if not (eager and exact):  # else near enough for the model to be all there is
                    step = step + _correction(place, equations, step, damping, accuracy)
                trial = place.moved(step)
                if trial.value < objectives[-1]:
                    break
                if (back := place.again()) is not place:
                    place, equations = back, back.equations(exact)
            damping, growth = damping * growth, growth * 2.0
            if not damping <= GIVE_UP_DAMPING * equations.scale:
                # Nothing lowers the objective: the minimum, to the last digit.
                return place, Descent(np.array(objectives), converged=True)
        gain = (objectives[-1] - trial.value) / predicted if predicted > 0 else 0.0
        damping *= max(0.1, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
        damping = max(damping, LEAST_DAMPING * equations.scale)
        growth = 2.0
        place = trial
        del equations, downhill, step, trial  # of the place that was left: room for the next one
        place = place.settled()
        objectives.append(place.value)
        gains.append(objectives[-2] - objectives[-1])
        is_last = place.is_enough(gains) or (exact and predicted <= enough)
        so_far = Descent(np.array(objectives), converged=is_last, damping=damping)
        keep(place, so_far)
        if is_last:
            return place, so_far
    return place, Descent(np.array(objectives), converged=False)


def _correction(
    place: Place, equations: Equations, step: FloatArray, damping: float, accuracy: float
) -> FloatArray | float:
    """Return half the second-order step, or 0 where it is not small beside the first.

    It follows a curved valley instead of leaving it (geodesic acceleration, Transtrum and Sethna).
    """
    bend = place.bend(step)
    if bend is None:
        return 0.0
    second = equations.solve(-bend, damping, accuracy=accuracy)
    if second is None or not dot(second, second) <= LONGEST_BEND**2 * dot(step, step):
        return 0.0
    return 0.5 * second


# The joint problem --------------------------------------------------------------------------------

CG_LIMIT = 2_000
KNOWN_WIDTHS = (1, 2, 3, 4)
DENSE_LIMIT = 1_000  # unknowns
START_DAMPING = 1e-3
WARM_DAMPING = 1e-5
CONVEX_DAMPING = 1e-9
ACCURACY = 0.1  # of conjugate gradients: each step leaves a hundredth of what it could gain
WARM_ACCURACY = 0.02  # where a step costs more than the products of its solve
LINEAR_ACCURACY = 1e-8  # where one step is all there is to do


def cholesky(matrix: FloatArray, damping: float) -> FloatArray | None:
    """Return L with L Lᵀ = matrix + damping I, from the upper triangle; None if not definite."""
    damped = matrix.copy()
    damped.ravel()[:: len(damped) + 1] += damping
    # The upper triangle in C order is the lower one in LAPACK's order.
    factor, failed = dpotrf(damped.T, lower=1, clean=1, overwrite_a=1)
    return None if failed else np.asarray(factor)


class DenseEquations:
    """All unknowns at once, by Cholesky.  Vectors are over z; what is known stays 0."""

    def __init__(
        self,
        problem: Joint,
        z: FloatArray,
        curvature: FloatArray,
        twist: FloatArray | None = None,
    ) -> None:
        self.problem = problem
        self._free = np.flatnonzero(problem.free)
        self.matrix = information(problem, z, curvature, twist)
        self._last: tuple[float, FloatArray | None] = (np.nan, None)

    @cached_property
    def scale(self) -> float:
        """Mean of the diagonal."""
        return float(self.matrix.diagonal().mean()) or 1.0

    def _factored(self, damping: float) -> FloatArray | None:
        if self._last[0] != damping:
            self._last = (damping, cholesky(self.matrix, damping))
        return self._last[1]

    def solve(
        self, right: FloatArray, damping: float, *, accuracy: float = 0.0
    ) -> FloatArray | None:
        """Return the step, or None when the damping is too small for rounding."""
        del accuracy  # always to rounding
        factor = self._factored(damping)
        if factor is None:
            return None
        step = np.zeros_like(right)
        step[self._free] = dpotrs(factor, right[self._free], lower=1)[0]
        return step

    @cached_property
    def root(self) -> FloatArray:  # (n_free, n_free), lower
        """L with L Lᵀ the information; a touch of damping where rounding needs it."""
        damping = 0.0
        while True:
            factor = self._factored(damping)
            if factor is not None:
                return factor
            damping = max(10.0 * damping, 1e-14 * self.scale)

    def half_solve(self, rows: FloatArray) -> FloatArray:  # (n_free, n_rows)
        """Return L⁻¹ rowsᵀ: its squared columns are variances of linear functions of z."""
        return np.asarray(dtrtrs(self.root, rows[:, self._free].T, lower=1)[0])

    def draw(self, noise: FloatArray) -> FloatArray:  # (n_z, n_draws)
        """Return L⁻ᵀ noise: exact draws of the Gaussian whose precision this is."""
        out = np.zeros((len(self.problem.free), noise.shape[1]))
        out[self._free] = dtrtrs(self.root, noise, lower=1, trans=1)[0]
        return out


def information(
    problem: Joint, z: FloatArray, curvature: FloatArray, twist: FloatArray | None = None
) -> FloatArray:
    """Return the whole Newton matrix over the free entries of z, dense."""
    S, Q, _ = problem.split(z)
    matrix, at = np.zeros((len(z), len(z))), problem.places
    slopes, effects = np.empty(0) if twist is None else twist, problem.effects is not None
    normal_cells(S, Q, at, problem.pair_at, effects, curvature, slopes, matrix)
    if twist is not None:
        turns = rotations(problem, z)  # along them the objective does not change: held by the prior
        stiffness = float(np.mean(1.0 / problem.exposures.prior[problem.exposures.free] ** 2))
        matrix += stiffness * (turns @ turns.T)
    begin = 0
    for side in problem.sides:
        n, width = side.shape
        here = begin + np.arange(n * width).reshape(n, width)
        matrix[here, here] += side.diagonal
        now, before = here[side.steps], here[side.chains.before[side.steps]]
        matrix[now, before] -= side.links[side.steps]
        matrix[before, now] -= side.links[side.steps]
        begin += n * width
    if problem.rise is not None:
        at, along = problem.strengths.firsts * S.shape[1], problem.rise.along
        less = problem.rise.given_way(float(problem.strengths.prior[0]), power=2)
        matrix[np.ix_(at, at)] -= along * less @ along.T
    free = np.flatnonzero(problem.free)
    return matrix if len(free) == len(z) else matrix[np.ix_(free, free)]


@dataclass(frozen=True, eq=False)
class Buffers:
    """Room for the products of one solve."""

    steps: list[FloatArray]  # where loops over cells read the direction, of S and Q
    sums: list[FloatArray]  # where they add up what goes into the vector
    vector: FloatArray  # (n_S + n_Q,)
    residual: FloatArray
    direction: FloatArray

    @classmethod
    def of(cls, problem: Joint) -> "Buffers":
        """Return room for the products of a problem."""
        (direction, steps), (vector, sums) = problem.vector(), problem.vector()
        return cls(steps, sums, vector, np.empty_like(vector), direction)


@dataclass(eq=False)
class WorkSpace:
    """What the steps of one descent share: room, and how many products were made."""

    n_products: int = 0
    spare: list[Buffers] = field(default_factory=list)  # of solves that ended
    kept: dict[tuple[str, int], FloatArray] = field(default_factory=dict)

    def take(self, problem: Joint) -> Buffers:
        """Return room that nobody uses; solves may run side by side."""
        try:
            return self.spare.pop()
        except IndexError:
            return Buffers.of(problem)

    def room(self, name: str, turn: int, n: int) -> FloatArray:
        """Return the one array over cells or states of this name and turn."""
        if (name, turn) not in self.kept:
            self.kept[name, turn] = np.empty(n)
        return self.kept[name, turn]


class SparseEquations:
    """S and Q by preconditioned conjugate gradients, effects of pairs eliminated.

    Rotations are not held, as in the dense system, along which a gradient has no part: started
    from 0, conjugate gradients do not go there either.
    """

    def __init__(
        self,
        problem: Joint,
        z: FloatArray,
        curvature: FloatArray,
        twist: FloatArray | None = None,
        work: WorkSpace | None = None,  # shared by the steps of one descent
        near: tuple[FloatArray, FloatArray] | None = None,  # the problem's at z, if it is there
        steps_to: FloatArray | None = None,  # room of every step that is solved for
    ) -> None:
        self.problem, self.curvature, self._twist = problem, curvature, twist
        self._steps_to = steps_to
        self.work = WorkSpace() if work is None else work
        self.S, self.Q, _ = problem.split(z)
        self.both = problem.moves_exposures
        self._width = known_width(self.S.shape[1])
        self._z = z
        # Not cached properties, which hold a lock in Python 3.11: shards of one process would wait
        # for each other while they meet.
        self._scale: float | None = None
        self._at_z = near
        self._blocks: tuple[FloatArray, FloatArray] | None = None
        self._inverses: tuple[float, list[FloatArray]] | None = None
        if problem.effects is not None:
            own = np.zeros(problem.effects.shape[0])
            gather(curvature, problem.pair_at, own)
            own += problem.effects.diagonal[:, 0]
            self._own = own
            self._pair_inverse = own[:, None, None].copy()
            effects = problem.effects
            factor_chains(self._pair_inverse, effects.links, effects.chains.before, (1,))

    def blocks(self) -> tuple[FloatArray, FloatArray]:
        """Return each state's own block of what remains once effects are eliminated."""
        problem, left, r = self.problem, self.curvature, self.S.shape[1]
        if problem.effects is not None:
            left = left * (1.0 - left / self._own[problem.pair_at])
        n_S, n_Q = self.S.size * r, self.Q.size * r
        room_of = self.work.room("blocks", 0, n_S + n_Q)  # those before are not needed any more
        out = room_of[:n_S].reshape(-1, r, r), room_of[n_S:].reshape(-1, r, r)
        room, both = self.work.take(problem), self.both
        # With one column a block is a number, for which there is room.
        sums = [s.reshape(-1, 1, 1) for s in room.sums] if r == 1 else problem.room(out)
        for part in (*sums, out[1]):
            part.fill(0.0)
        state_blocks(*self._near, problem.at, left, both, self._width, *sums)
        problem.bring_back(sums[: 1 + both], out)
        self.work.spare.append(room)
        return out

    @property
    def scale(self) -> float:
        """Mean of the diagonal over S and Q."""
        if self._scale is None:
            self._blocks = self.blocks()  # which are wanted next
            self._scale = self._scale_of(self._blocks)
        return self._scale

    def _scale_of(self, blocks: tuple[FloatArray, FloatArray]) -> float:
        found = np.zeros(2)
        for side, own in zip(self.problem.sides, blocks, strict=False):
            if side.free.any():
                diagonal = np.einsum("nkk->k", own)[side.free].sum()
                found += float(diagonal + side.trace), side.shape[0] * int(side.free.sum())
        total, n = self.problem.total(found)
        return float(total / max(n, 1)) or 1.0

    def solve_effects(self, right: FloatArray) -> FloatArray:  # (n_pair_states,)
        """Return the effects of pairs that answer a right-hand side, states held."""
        effects = self.problem.effects
        assert effects is not None
        out = np.empty((len(right), 1))
        chains = effects.links, effects.chains.before
        solve_chains(self._pair_inverse, *chains, right[:, None], out, np.empty(1), (1,))
        return out[:, 0]

    def product(
        self, step: FloatArray, damping: float, room: Buffers | None = None
    ) -> FloatArray:  # (n_S + n_Q,)
        """Return the reduced system times a step in S and Q, which stands in the room given."""
        self.work.n_products += 1
        out = self._data_product(step, Buffers.of(self.problem) if room is None else room)
        for side, part, result in zip(
            self.problem.sides, self._two(step), self._two(out), strict=False
        ):
            side.hold(result)
            side.add_product(part, result, damping)
        self.problem.give_way(self._two(step)[0], self._two(out)[0])
        return out

    def _data_product(self, step: FloatArray, room: Buffers) -> FloatArray:  # (n_S + n_Q,)
        """Return what the cells alone say of a step, in known columns as well."""
        problem, at, near, both = self.problem, self.problem.at, self._near, self.both
        dS, dQ = self._two(step)
        steps = problem.carry(dS, dQ if both else None, room.steps)
        sums = room.sums
        for part in sums[: 1 + both]:
            part.fill(0.0)
        if problem.effects is None:
            twist = np.empty(0) if self._twist is None else self._twist
            push_pull_cells(*near, at, self.curvature, twist, *steps, both, self._width, *sums)
        else:
            change = np.empty(len(at))
            push_cells(*near, at, *steps, both, change)
            change *= self.curvature
            total = np.zeros(problem.effects.shape[0])
            gather(change, problem.pair_at, total)
            change -= self.curvature * self.solve_effects(total)[problem.pair_at]
            pull_cells(*near, at, change, both, *sums)
            if self._twist is not None:  # the same sums, the step in the place of the factors
                pull_cells(*steps, at, self._twist, True, *sums)
        out_S, out_Q = self._two(room.vector)
        problem.bring_back(sums[: 1 + both], (out_S, out_Q))
        if not both:
            out_Q.fill(0.0)
        return room.vector

    @property
    def _near(self) -> tuple[FloatArray, FloatArray]:
        """S and Q as the loops over cells want them; S only where exposures move."""
        if self._at_z is None:
            self._at_z = self.problem.near(self._z)
        return self._at_z

    def _two(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = self.S.size
        return vector[:n].reshape(self.S.shape), vector[n:].reshape(self.Q.shape)

    def precondition(self, residual: FloatArray, damping: float, room: Buffers) -> FloatArray:
        """Return what the preconditioner makes of a residual; it stands in the room given."""
        work = np.empty(self.S.shape[1])
        for side, inverse, right, result in zip(
            self.problem.sides,
            self._preconditioner(damping),
            self._two(residual),
            self._two(room.vector),
            strict=False,
        ):
            if side.free.any():
                chains = side.links, side.chains.before
                solve_chains(inverse, *chains, right, result, work, self._width)
                side.hold(result)
            else:
                result.fill(0.0)
        return room.vector

    def _preconditioner(self, damping: float) -> list[FloatArray]:
        if self._inverses is None or self._inverses[0] != damping:
            blocks, self._blocks = self._blocks or self.blocks(), None
            self._scale = self._scale_of(blocks) if self._scale is None else self._scale
            sides = zip(blocks, self.problem.sides, strict=False)
            self._inverses = (damping, [factor_side(own, side, damping) for own, side in sides])
        return self._inverses[1]

    def covariances(self) -> tuple[FloatArray, FloatArray]:
        """Return each state's covariance given all other items: from its own chain alone."""
        out = []
        for side, inverse in zip(self.problem.sides, self._preconditioner(0.0), strict=False):
            spread, work = np.empty_like(inverse), np.empty(inverse.shape[1:])
            chain_marginals(inverse, side.links, side.chains.before, spread, work)
            out.append(spread * (side.free[:, None] & side.free))
        return out[0], out[1]

    def prepare(self) -> None:
        """Factor what undamped solves need, so that several may run side by side."""
        self._preconditioner(0.0)
        assert self._near

    def solve(self, right: FloatArray, damping: float, *, accuracy: float = 1e-8) -> FloatArray:
        """Return the step.  Effects are not damped: they are solved exactly."""
        problem, n = self.problem, self.S.size + self.Q.size
        reduced = right[:n]
        if problem.effects is not None:  # what the effects take over leaves the right-hand side
            taken = self.curvature * self.solve_effects(right[n:])[problem.pair_at]
            reduced = reduced - problem.pull(self._z, taken, self._near)[:n]
        self._preconditioner(damping)
        room = self.work.take(problem)
        step = conjugate_gradients(
            lambda v: self.product(v, damping, room),
            lambda v: self.precondition(v, damping, room),
            reduced,
            accuracy=accuracy,
            most=CG_LIMIT,
            dot=problem.dot,
            room=(room.residual, room.direction),
            out=self._steps_to,
        )
        self.work.spare.append(room)
        if problem.effects is not None:
            step = np.append(step, np.zeros(len(right) - n))
            change = self.curvature * problem.push(self._z, step)
            total = np.zeros(len(right) - n)
            gather(change, problem.pair_at, total)
            step[n:] = self.solve_effects(right[n:] - total)
        return step


def known_width(n_columns: int) -> tuple[int, ...]:
    """Return what tells the loops their number of columns, for the few that each is compiled for.

    A loop of known length is up to twice as quick; a loop for every length would be compiled anew.
    """
    return (1,) * n_columns if n_columns in KNOWN_WIDTHS else ()


def factor_side(blocks: FloatArray, side: FactorStates, damping: float) -> FloatArray:
    """Overwrite one side's blocks by the inverses that `solve_chains` needs, and return them."""
    side.add_diagonal(blocks, damping)
    factor_chains(blocks, side.links, side.chains.before, known_width(blocks.shape[1]))
    return blocks


# Steps ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JointSolution(Descent):
    """Where the solver stopped."""

    z: FloatArray
    gradient_size: float
    n_products: int  # of conjugate gradients; 0 when dense


class _States:
    """States as a place to descend from.

    Places take turns with two arrays of curvatures: a trial's stands beside that of its origin,
    and is overwritten by the next one's.  So do slopes, where more than the gradient needs them.
    Where a problem is convex hardly any step is of no use: a trial takes the room of its origin's
    curvatures, and states, whose steps are solved for one at a time, take turns.
    """

    def __init__(
        self,
        problem: Joint,
        z: FloatArray,
        tolerance: float,
        accuracy: float,  # of solves; 0 where they are exact
        work: WorkSpace,
        turn: int = 0,
        loss: tuple[float, FloatArray, FloatArray] | None = None,  # value, slope, curvature
    ) -> None:
        self.problem, self.z, self.tolerance, self.accuracy = problem, z, tolerance, accuracy
        self.work, self.turn = work, turn
        self._downhill: FloatArray | None = None
        self._near: tuple[FloatArray, FloatArray] | None = None
        self.loss = self._look() if loss is None else loss
        self.value = float(problem.total(self.loss[0] + problem.penalty(z)))

    def _look(self) -> tuple[float, FloatArray, FloatArray]:
        """Return value, slopes and curvatures of the loss; states that were brought are kept."""
        problem, work, n = self.problem, self.work, len(self.problem.at)
        S, Q, _ = problem.split(self.z)
        if problem.moves_exposures:
            carried = self._near = problem.carry(S, Q)
        else:  # derivatives read no strengths
            room = work.take(problem)
            carried = problem.carry(S, Q, (room.steps[0], None))
            self._near = problem.nothing, carried[1]
            work.spare.append(room)
        turn = 0 if problem.is_convex else self.turn
        x = problem.margins(self.z, work.room("slope", turn, n), carried)
        return problem.loss.all_of(x, work.room("curvature", turn, n))

    @property
    def near(self) -> tuple[FloatArray, FloatArray]:
        if self._near is None:
            self._near = self.problem.near(self.z)
        return self._near

    @property
    def downhill(self) -> FloatArray:
        if self._downhill is None:
            problem, work = self.problem, self.work
            out = work.room("downhill", 0, len(self.z))  # that of the place before is not needed
            room = work.take(problem)
            problem.pull(self.z, self.loss[1], self.near, room.sums, out)
            work.spare.append(room)
            problem.add_prior(self.z, out)
            self._downhill = np.negative(out, out=out)
            if problem.is_convex:  # slopes are used nowhere else, and take room
                self.loss = (self.loss[0], np.empty(0), self.loss[2])
        return self._downhill

    def equations(self, exact: bool) -> DenseEquations | SparseEquations:
        _, slope, curvature = self.loss
        twist = slope if exact and not self.problem.is_convex else None
        if not self.accuracy:
            return DenseEquations(self.problem, self.z, curvature, twist)
        steps_to = None
        if self.problem.is_convex and self.problem.effects is None:
            steps_to = self.work.room("states", 1 - self.turn, len(self.z))
        return SparseEquations(
            self.problem, self.z, curvature, twist, self.work, self.near, steps_to
        )

    def _at(
        self, z: FloatArray, loss: tuple[float, FloatArray, FloatArray] | None = None
    ) -> "_States":
        turn = 1 - self.turn if loss is None else self.turn
        return _States(self.problem, z, self.tolerance, self.accuracy, self.work, turn, loss)

    def bend(self, step: FloatArray) -> FloatArray | None:
        if self.problem.is_convex:
            return None
        dS, dQ, _ = self.problem.split(step)
        slopes = 2.0 * self.loss[2] * self.problem.products(dS, dQ)
        return self.problem.pull(self.z, slopes, self.near)

    def moved(self, step: FloatArray) -> "_States":
        step += self.z
        return self._at(step)

    def again(self) -> "_States":
        if not self.problem.is_convex:
            return self
        return _States(self.problem, self.z, self.tolerance, self.accuracy, self.work, self.turn)

    def settled(self) -> "_States":
        z = balance(self.problem, self.z)
        if z is self.z:
            return self
        self._near = None  # room
        # The gauge leaves margins alone.  Shards go on from what they keep, to the last digit.
        other = self._at(z, self.loss if self.problem.is_whole else None)
        return other if other.value < self.value else self

    def is_enough(self, gains: list[float]) -> bool:
        # A curved valley may hide behind one small step: two in a row are asked for.
        last = 1 if self.problem.is_convex else 2
        return len(gains) > last and all(
            self._left(gains[k], gains[k - 1]) <= self.tolerance for k in range(-last, 0)
        )

    def _left(self, gain: float, before: float) -> float:
        """Return what later steps would add, were each to shrink as this one did.

        A step leaves at least what its solve does.
        """
        ratio = max(gain / before, self.accuracy**2) if np.isfinite(before) else 0.5
        return gain * ratio / (1.0 - ratio) if ratio < 1.0 else np.inf


def solve_joint(
    problem: Joint,
    start: FloatArray,  # (n_z,)
    *,
    tolerance: float = 1e-4,
    max_steps: int = 200,
    dense: bool | None = None,
    warm: bool = False,
    so_far: Descent | None = None,
    keep: Callable[[FloatArray, Descent, int], None] = lambda *_: None,
) -> JointSolution:
    """Minimise from a start; stops when less than `tolerance` of log posterior is left to gain.

    A warm start is near the minimum: steps are hardly damped.  `keep` is given the states after
    every step, how the descent went, and the number of products; with that as `so_far`, the
    descent goes on from there.
    """
    dense = is_small(problem) if dense is None else dense
    z = np.ascontiguousarray(start) if so_far else balance(problem, np.ascontiguousarray(start))
    work = WorkSpace()
    linear = problem.is_convex and problem.law.kind == "squared"
    accuracy = WARM_ACCURACY if warm and problem.is_convex else ACCURACY
    if linear:
        accuracy = min(LINEAR_ACCURACY, float(np.sqrt(tolerance)))
    warm = warm and not dense
    nonconvex = WARM_DAMPING if warm else START_DAMPING

    exact = 0.0 if dense else accuracy
    end, descent = descend(
        _States(problem, z, tolerance, exact, work),  # not held here: it takes room
        start_damping=CONVEX_DAMPING if problem.is_convex else nonconvex,
        max_steps=max_steps,
        loosest=accuracy,
        tightest=accuracy,
        eager=problem.is_convex or not dense,
        enough=tolerance if warm or problem.is_convex else 0.0,
        so_far=so_far,
        keep=lambda place, descent: keep(place.z, descent, work.n_products),
        dot=problem.dot,
    )
    size = float(np.sqrt(problem.dot(end.downhill, end.downhill)))
    work.spare.clear()
    work.kept.clear()
    return JointSolution(descent.objectives, descent.converged, end.z, size, work.n_products)


def is_small(problem: Joint) -> bool:
    """Return whether the dense path is the quicker one; shards are large."""
    return problem.is_whole and int(np.count_nonzero(problem.free)) <= DENSE_LIMIT
