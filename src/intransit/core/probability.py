"""Win probabilities averaged over what is not known of a margin."""

import numpy as np
from scipy.special import expit, logit, ndtr

from intransit.arrays import FloatArray

WIDE = 2.0  # standard deviation above which the logistic is the narrower of the two curves
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_POINTS, _SHARES = np.polynomial.legendre.leggauss(100)


def average_logistic(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return E[1 / (1 + exp(-x))] for normal x; the value for -mean is exactly 1 minus that.

    Narrow normals are integrated over their own nodes.  Wide ones over those of the logistic,
    ∫ Φ((mean + logit p) / sd) dp, p from 0 to 1, which is then the smoother way.
    """
    size, sd = np.abs(mean), np.sqrt(variance)
    above = np.empty_like(size)
    narrow = sd <= WIDE
    nodes = size[narrow, None] + sd[narrow, None] * _NODES
    above[narrow] = np.sum(expit(nodes) * (_WEIGHTS / _WEIGHTS.sum()), axis=-1)
    levels = logit(0.5 + 0.5 * _POINTS)
    wide = ndtr((size[~narrow, None] + levels) / sd[~narrow, None])
    above[~narrow] = np.sum(wide * (0.5 * _SHARES), axis=-1)
    above = np.where(mean == 0, 0.5, np.minimum(above, 1.0))
    return np.asarray(np.where(mean < 0, 1.0 - above, above))
