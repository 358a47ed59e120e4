"""All matrices at all times, jointly: the front door to the engine.

    minimise  Σ_cells loss(X_ij(t), y)  +  drift  +  prior,       X(t) = S(t) Qᵀ - Q S(t)ᵀ (+ E)

over the states of S, Q and E at once; see docs/model.md.
"""

import logging
import warnings
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from intransit.checks import LARGEST, as_number, as_whole, check_known, check_option, open_rng
from intransit.data.measurements import Measurements
from intransit.data.timeline import Timeline, as_timeline, check_outcomes
from intransit.errors import ConvergenceWarning, InputError
from intransit.inference.assembly import Columns
from intransit.inference.joint_fit import Fitted, Given, fit_model, plain_columns
from intransit.inference.trajectory import Trajectory
from intransit.tasks import one_thread

Loss = Literal["squared", "logistic", "ordered"]
Auto = Literal["auto"]

_log = logging.getLogger(__name__)


@one_thread
def smooth(
    measurements: Measurements | Timeline,
    *,
    n_factors: int = 0,
    scores: bool | Auto = "auto",
    loss: Loss = "squared",
    noise_scale: float | Auto = "auto",
    drift_scale: float | Auto = "auto",
    prior_scale: float | Auto = "auto",
    exposure_drift_scale: float | Auto = 0.0,
    score_drift_scale: float | Auto | None = None,
    score_prior_scale: float | Auto | None = None,
    pair_scale: float | Auto = 0.0,
    pair_drift_scale: float | Auto = 0.0,
    strengths: ArrayLike | None = None,
    exposures: ArrayLike | None = None,
    advantage: float | Auto = "auto",
    weights: ArrayLike | None = None,
    tolerance: float = 1e-4,
    max_steps: int = 300,
    rng: np.random.Generator | int | None = None,
) -> Trajectory:
    """Recover the margins of all items at all times, from all comparisons together.

    An item's past and future tell about its present; cycles are kept, not averaged away.

    Parameters
    ----------
    measurements
        Periods (`Measurements`, one unit of time apart), or comparisons at times of their own
        (`Timeline`).
    n_factors
        Columns of S and Q whose exposures are to be found.  0 leaves plain scores.
    scores
        Whether there is, before the factors, a column of plain scores (exposures 1).
        ``"auto"``: when n_factors is 0.
    loss
        ``"squared"``: outcomes are readings of margins.  ``"logistic"``: outcomes are shares of
        games won by the first item, its margin the log odds.  ``"ordered"``: whole numbers, 0 a
        tie, 1 a win, 2 and more clearer wins, -1 a loss, and so on; where the levels lie is found.
    noise_scale, drift_scale, prior_scale
        Standard deviations of a reading about its margin, of the step of an entry of S in one
        unit of time, and of the first state of an entry of S and of Q.  ``"auto"`` estimates
        them; a drift_scale of 0 keeps S as it is.
    exposure_drift_scale
        The same as drift_scale for Q: 0 (the paper's model), a number, or ``"auto"``.
    score_drift_scale, score_prior_scale
        For columns with known exposures; by default what drift_scale and prior_scale are.
    pair_scale, pair_drift_scale
        Standard deviation of each pair's own deviation from the low rank, and of its step: 0 for
        none, a number, or ``"auto"``.
    strengths, exposures
        What is known of S and Q, (n_items, n_factors); columns of NaN are to be found.
    advantage
        What the better side adds to a margin, where the comparisons say who had it (`sides` of a
        Timeline): a number, or ``"auto"``.
    weights
        One for each period, or for each comparison of a Timeline: multiplies its count.
    tolerance
        Stop when less than this of log posterior is left to gain.
    max_steps
        Most Newton steps.
    rng
        Seed or generator for random starts and draws.  The answer keeps the seed.

    Returns
    -------
    Trajectory
        ``margins``, ``interval``, ``probability``, ``sample``, ``update``, and more.

    Warns
    -----
    ConvergenceWarning
        The solver stopped at its step limit; says what to change.

    Examples
    --------
    >>> import intransit as it
    >>> sim = it.simulate(n_items=12, n_factors=1, n_periods=4, n_outcomes=90, rng=0,
    ...                   noise_scale=0.05, drift_scale=0.05)
    >>> path = it.smooth(sim.measurements, n_factors=1, noise_scale=0.05, drift_scale=0.05,
    ...                  prior_scale=1.0, rng=0)
    >>> bool(abs(path.margins - sim.margins).max() < 0.4)
    True
    >>> low, high = path.interval(0, 1, at=5.5, level=0.9)  # a forecast
    >>> bool(low < path.margin(0, 1, at=5.5) < high)
    True
    """
    check_option("loss", loss, get_args(Loss))
    data = as_timeline(measurements, weights=weights)
    check_outcomes(data.rows, loss)
    generator, seed = open_rng(rng)
    tolerance = as_number("tolerance", tolerance, least=0.0, strict=True)
    max_steps = as_whole("max_steps", max_steps, least=1)
    given = Given(
        noise_scale=_scale("noise_scale", noise_scale, strict=True) if loss == "squared" else 1.0,
        drift_scale=_scale("drift_scale", drift_scale),
        prior_scale=_scale("prior_scale", prior_scale, strict=True),
        exposure_drift_scale=_scale("exposure_drift_scale", exposure_drift_scale),
        score_drift_scale=_scale("score_drift_scale", score_drift_scale, drift_scale),
        score_prior_scale=_scale("score_prior_scale", score_prior_scale, prior_scale, strict=True),
        pair_scale=_scale("pair_scale", pair_scale),
        pair_drift_scale=_scale("pair_drift_scale", pair_drift_scale),
        loss=loss,
        advantage=_advantage(advantage),
        tolerance=tolerance,
        max_steps=max_steps,
        seed=int(generator.integers(2**32)) if seed is None else seed,
    )
    columns = _columns(data.n_items, n_factors, scores, strengths, exposures)
    fitted = fit_model(given.collapse(data.rows, data.n_items), columns, given)
    path = trajectory_of(columns, fitted, given, seed)
    if not path.converged:
        warnings.warn(f"smooth: {path.status}", ConvergenceWarning, stacklevel=2)
    if _log.isEnabledFor(logging.INFO):
        _log.info("smooth: %s", path.status)
    return path


def trajectory_of(
    columns: Columns,
    fitted: Fitted,
    given: Given,
    seed: int | None,
) -> Trajectory:
    """Return a fit as the answer that users see."""
    return Trajectory(
        n_items=columns.n_items,
        n_factors=int((~columns.are_scores).sum()),
        scores=bool(columns.are_scores.any()),
        loss=given.loss,
        times=fitted.problem.loss.cells.axis,
        scales=fitted.scales,
        estimated=fitted.estimated,
        starts=tuple((start.name, start.solution.objective) for start in fitted.starts),
        seed=seed,
        settings=given,
        problem=fitted.problem,
        solution=fitted.solution,
        columns=columns,
        pairs=fitted.pairs,
        scales_converged=fitted.scales_converged,
    )


def _scale(
    name: str,
    value: float | Auto | None,
    otherwise: float | Auto = "auto",
    *,
    strict: bool = False,
) -> float | Auto:
    if value is None:
        value = otherwise
    if isinstance(value, str):
        check_option(name, value, ("auto",))
        return "auto"
    return as_number(name, value, least=0.0, strict=strict)


def _advantage(value: float | Auto) -> float | Auto:
    if isinstance(value, str):
        check_option("advantage", value, ("auto",))
        return "auto"
    return as_number("advantage", value, least=-LARGEST)


def _columns(
    n_items: int,
    n_factors: int,
    scores: bool | Auto,
    strengths: ArrayLike | None,
    exposures: ArrayLike | None,
) -> Columns:
    """Return the columns of S and Q, known or free."""
    n_factors = as_whole("n_factors", n_factors, least=0)
    if not isinstance(scores, bool):
        check_option("scores", scores, ("auto",))
        scores = n_factors == 0
    if n_factors == 0:
        if not scores:
            raise InputError("n_factors is 0 and scores is False; nothing is left to be found.")
        if strengths is not None or exposures is not None:
            raise InputError(
                "strengths, exposures: columns were given for n_factors=0; set n_factors to their "
                "number."
            )
        return plain_columns(n_items, 0, scores=True)
    known = check_known(strengths, exposures, n_items, n_factors)
    S, Q = known[:, :n_factors], known[:, n_factors:]
    if 2 * int(np.isnan(Q).all(axis=0).sum()) > n_items:
        raise InputError(
            f"n_factors is {n_factors} for {n_items} items; a matrix of {n_items} items has at "
            f"most {n_items // 2} factors, and fewer are needed to find anything."
        )
    if scores:
        S = np.hstack([np.full((n_items, 1), np.nan), S])
        Q = np.hstack([np.ones((n_items, 1)), Q])
    return Columns(S, Q)
