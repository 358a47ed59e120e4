"""Damped Newton steps (Levenberg-Marquardt), and conjugate gradients.

A step solves (H + λ I) step = -gradient, where H is large by conjugate gradients.  λ shrinks when
the quadratic model predicted the decrease and grows when it did not, so that the objective never
increases; near the solution λ vanishes and convergence is quadratic when the readings are exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from intransit.arrays import FloatArray
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
) -> FloatArray:
    """Solve product(step) = right until the residual's energy has fallen by accuracy².

    `towards` applies the preconditioner; it and the product may return the same room every time.
    Directions along which the matrix vanishes to rounding end the search: what has been found by
    then is as good as it gets.
    """
    residual, direction = room or (np.empty(right.shape), np.empty(right.shape))
    residual[:] = right
    step = np.zeros_like(residual)
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
    def gradient(self) -> FloatArray:
        """Its gradient in what moves."""

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
        """Return the place a step away."""

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
        gradient = place.gradient
        size = float(np.sqrt(dot(gradient, gradient)))
        first_size = first_size or size
        # Slow in spite of a good model: what the model leaves out is what is missing.
        exact = eager or (len(gains) > 2 and gains[-1] > SLOW * gains[-2])
        equations = place.equations(exact)
        if damping < 0:
            damping = start_damping * equations.scale
        # Loose while far away, tight near the end: the usual inexact Newton bargain.
        accuracy = min(loosest, max(tightest, size / first_size)) if first_size else loosest
        while True:
            step = equations.solve(-gradient, damping, accuracy=accuracy)
            if step is None and exact:  # not convex here: back to the model that always is
                exact, equations = False, place.equations(exact=False)
                continue
            if step is not None:
                if not (eager and exact):
                    more = _correction(place, equations, step, damping, accuracy)
                    trial = place.moved(step + more)
                else:  # near enough for the model to be all there is
                    trial = place.moved(step)
                if trial.value < objectives[-1]:
                    break
            damping, growth = damping * growth, growth * 2.0
            if not damping <= GIVE_UP_DAMPING * equations.scale:
                # Nothing lowers the objective: the minimum, to the last digit.
                return place, Descent(np.array(objectives), converged=True)
        predicted = 0.5 * (damping * dot(step, step) - dot(step, gradient))
        gain = (objectives[-1] - trial.value) / predicted if predicted > 0 else 0.0
        damping *= max(0.1, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
        damping = max(damping, LEAST_DAMPING * equations.scale)
        growth = 2.0
        place = trial.settled()
        objectives.append(place.value)
        gains.append(objectives[-2] - objectives[-1])
        is_last = place.is_enough(gains) or (exact and predicted <= enough)
        so_far = Descent(np.array(objectives), converged=is_last, damping=damping)
        keep(place, so_far)
        if is_last:
            return place, so_far
        del equations, gradient, step, trial  # of the place that was left: room for the next one
    return place, Descent(np.array(objectives), converged=False)


def _correction(
    place: Place, equations: Equations, step: FloatArray, damping: float, accuracy: float
) -> FloatArray | float:
    """Return half the second-order step, or 0 where it is not small beside the first."""
    bend = place.bend(step)
    if bend is None:
        return 0.0
    second = equations.solve(-bend, damping, accuracy=accuracy)
    if second is None or not dot(second, second) <= LONGEST_BEND**2 * dot(step, step):
        return 0.0
    return 0.5 * second
