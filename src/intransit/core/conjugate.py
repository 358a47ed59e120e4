"""Preconditioned conjugate gradients, for arrays of any shape."""

from collections.abc import Callable

import numpy as np

from intransit.arrays import FloatArray
from intransit.core.vector_kernels import advance, dot, turn


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    towards: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    *,
    accuracy: float,
    most: int,
) -> FloatArray:
    """Solve product(step) = right until the residual's energy has fallen by accuracy².

    `towards` applies the preconditioner.  Directions along which the matrix vanishes to rounding
    end the search: what has been found by then is as good as it gets.
    """
    residual = np.ascontiguousarray(right).copy()
    step = np.zeros_like(residual)
    ahead = towards(residual)
    direction = ahead.copy()
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
