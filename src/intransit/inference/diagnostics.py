"""How well chains have mixed: split R-hat, and the number of effective draws.

As in Gelman et al., *Bayesian Data Analysis*, 3rd ed., section 11.4 and 11.5: every chain is cut in
half; W is the mean variance within a half, V the variance of all draws; R-hat is √(V / W), and the
number of effective draws is  m n / (1 + 2 Σ ρ_t),  autocorrelations added up in pairs for as long
as the pairs are positive and falling (Geyer, 1992).
"""

import numpy as np

from intransit.arrays import FloatArray

CONSTANT = 1e-12  # relative spread below which a number does not vary


def mixing(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R-hat and the number of effective draws of every quantity.

    Parameters
    ----------
    values
        Draws, (n_chains, n_draws, n_quantities).

    Returns
    -------
    r_hat, effective
        (n_quantities,) each.  What does not vary has an R-hat of 1 and all draws.
    """
    half = values.shape[1] // 2
    if half < 4:
        size = values.shape[2]
        return np.full(size, np.inf), np.ones(size)
    split = np.concatenate([values[:, :half], values[:, -half:]]).astype(float)
    m, n, _ = split.shape
    means = split.mean(axis=1)
    centred = split - means[:, None]
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    between = means.var(axis=0, ddof=1) if m > 1 else np.zeros(within.shape)
    whole = within * (n - 1) / n + between
    size = np.abs(split).max(axis=(0, 1))
    still = whole <= (CONSTANT * size) ** 2
    whole, within = np.where(still, 1.0, whole), np.where(still, 1.0, within)
    rho = 1.0 - (within - covariance * n / (n - 1)) / whole
    rho[0] = 1.0
    n_pairs = n // 2
    pairs = rho[0 : 2 * n_pairs : 2] + rho[1 : 2 * n_pairs : 2]
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    falling = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = np.maximum(2.0 * falling.sum(axis=0) - 1.0, 1.0 / np.log10(m * n))
    r_hat, effective = np.sqrt(whole / within), m * n / time
    return np.where(still, 1.0, r_hat), np.where(still, float(m * n), effective)
