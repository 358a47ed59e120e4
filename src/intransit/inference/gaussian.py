"""The posterior around a solution of Newton's method, and that of a filter, as draws.

Both are Gaussian in the states.  Margins of draws are to first order around the mean,

    X  =  (s + δs) q  +  s δq,      less the same with the items exchanged

as products of two steps would add noise along directions that the data hold together but hardly
each alone.  In a draw that is two planes for each factor, (s + δs, q) and (s, δq).
"""

import numpy as np

from intransit.arrays import FloatArray


def steps_of(score: float, strength: float, exposure: float, r: int, n: int) -> FloatArray:
    """Return deviations of steps by column, (n, 1 + 4 r): those of S and of Q, where they move."""
    columns = [score, *[strength] * r, *[0.0] * (2 * r), *[exposure] * r]
    return np.tile(columns, (n, 1))


def first_order(
    scores: FloatArray,  # (n_draws, n_states, 0 or 1)
    S: FloatArray,  # (n_draws, n_states, r)
    Q: FloatArray,
    mean_S: FloatArray,  # (n_states, r)
    mean_Q: FloatArray,
) -> FloatArray:  # (n_draws, n_states, 1 + 4 r)
    """Return states whose margins are those of S and Q to first order around their means."""
    n, size, r = S.shape
    out: FloatArray = np.zeros((n, size, 1 + 4 * r), np.float32)
    if scores.shape[2]:
        out[:, :, 0] = scores[:, :, 0]
    out[:, :, 1 : 1 + r], out[:, :, 1 + r : 1 + 2 * r] = S, mean_S
    out[:, :, 1 + 2 * r : 1 + 3 * r], out[:, :, 1 + 3 * r :] = mean_Q, Q - mean_Q
    return out
